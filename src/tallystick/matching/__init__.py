"""Σ: the best total similarity over matched pairs of two collections, and the solvers behind it."""
