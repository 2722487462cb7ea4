"""Measurements against other scorers; `python -m benchmarks.NAME` runs one group."""
