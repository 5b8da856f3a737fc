"""What every test runs under: the same examples each time, no clock, and poisoned memory."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.poison import poisoned

settings.register_profile("wengert", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("wengert")


@pytest.fixture(scope="session", autouse=True)
def memory_that_nobody_wrote() -> Iterator[None]:
    """Fill what `np.empty` returns, so that reading it is wrong on every machine."""
    with poisoned():
        yield
