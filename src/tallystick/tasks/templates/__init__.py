"""The task `templates`: templates."""
