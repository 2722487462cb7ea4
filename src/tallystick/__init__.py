"""tallystick evaluates structured predictions."""

__version__ = "0.1.0"
