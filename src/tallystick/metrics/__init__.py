"""The named metrics, one module a task."""
