"""N: from sums to figures. Tallies, averages, results, and why a score is what it is."""
