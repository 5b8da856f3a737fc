"""What every test runs under: the same examples each time, no clock, and poisoned memory."""

import gc
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


def pytest_collection_finish() -> None:
    """Set tests and modules aside: they stay, and each collection would visit them."""
    gc.collect()
    gc.freeze()
