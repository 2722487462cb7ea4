"""The version, which every signature and every file that is written carries."""

__version__ = "1.0.0rc1"
