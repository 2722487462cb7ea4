"""The named metrics, a few modules for each task."""
