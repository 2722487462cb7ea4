"""The tests are the same each time: hypothesis draws its examples from a fixed seed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", deadline=None, derandomize=True, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", parent=settings.get_profile("steady"), derandomize=False, max_examples=500)
settings.load_profile("steady")
