"""Speaker turns."""
