"""The task `amr`: graphs of meaning."""
