"""Files to typed structures or columns. A reader never scores."""
