"""The task `events`: triggers and arguments."""
