"""The task `roles`: role-filler entities."""
