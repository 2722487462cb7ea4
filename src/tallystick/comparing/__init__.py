"""Several systems, or several metrics, side by side."""
