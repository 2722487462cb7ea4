"""Values of a whole corpus as columns; blocks that may meet; sparse pairs that do."""

from tallystick.engine.data import Bag, Index, Objects, Record

__all__ = ["Bag", "Index", "Objects", "Record"]
