"""The task `relations`: binary relations."""
