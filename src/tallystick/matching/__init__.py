"""Matchings: the best total similarity over matched pairs, with its proof. Solvers take arrays and give
arrays."""
