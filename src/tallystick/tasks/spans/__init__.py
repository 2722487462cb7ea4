"""The task `spans`: entities, chunks and other labelled segments."""
