"""The tasks, one folder each: formats to structures, metrics as expressions, drawings, and the declaration."""
