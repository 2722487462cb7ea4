"""The task `hierarchies`: events with subevents and members."""
