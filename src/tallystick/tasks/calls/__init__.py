"""Tool calls: which functions a model called, with which arguments."""
