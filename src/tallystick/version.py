"""The version, which every signature and every file that is written carries."""

__version__ = "0.1.0"
