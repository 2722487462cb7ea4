"""The named metrics, one module a task, each a few readable expressions."""
