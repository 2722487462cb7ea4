"""Settings for all tests: heavy modules load on first use, so a first example may be slow."""

from hypothesis import settings

settings.register_profile("tallystick", deadline=None)
settings.load_profile("tallystick")
