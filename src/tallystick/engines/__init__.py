"""The same evaluation on many processes or many machines, in bounded memory, and to be gone on with when it was killed."""

from tallystick.engines.processes import Processes

__all__ = ["Processes"]
