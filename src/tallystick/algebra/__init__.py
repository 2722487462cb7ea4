"""φ: how alike two values are, over whole columns."""
