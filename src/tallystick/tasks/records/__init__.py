"""The task `records`: your own records, JSON that a model wrote."""
