"""What every test runs under: the same examples each time, and no clock."""

from hypothesis import settings

settings.register_profile("wengert", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("wengert")
