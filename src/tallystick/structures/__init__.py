"""The data types of the tasks."""
