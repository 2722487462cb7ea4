"""The task `dependencies`: dependency parses, the UD evaluation."""
