"""The task `arguments`: event arguments beyond exact match."""
