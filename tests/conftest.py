"""What every test runs under: the same examples and random numbers each time, no clock, and
poisoned memory.

With `--record`, tests also write down what real libraries answer; see tests/dialects/parity.py.
"""

import gc
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
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


#: The generators of random numbers that modules of tests have, and where they begin.
_generators: list[tuple[Any, dict[str, Any]]] = []


@pytest.fixture(autouse=True)
def numbers_that_are_the_same_alone() -> None:
    """Have generators begin anew, so that no test depends on those before it."""
    for generator, start in _generators:
        if generator.state != start:
            generator.state = start


def pytest_collection_finish() -> None:
    """Find generators; set tests and modules aside, which garbage collections would visit."""
    names = [name for name in sys.modules if name.startswith("tests.")]
    names.sort(key=lambda name: (name.split(".")[-1].startswith("test_"), name))
    seen = set()
    for name in names:  # first the modules that others import from
        for key, value in vars(sys.modules[name]).items():
            if isinstance(value, np.random.Generator) and value.bit_generator not in seen:
                seen.add(value.bit_generator)
                start = np.random.default_rng(zlib.crc32(f"{name}.{key}".encode()))
                _generators.append((value.bit_generator, start.bit_generator.state))
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record",
        action="store_true",
        help="with -m peers: write the answers of real libraries that are missing or have changed",
    )


def asks_for_peers(config: pytest.Config) -> bool:
    """Return whether a run is to ask real libraries."""
    chosen = config.getoption("markexpr")
    return "peers" in chosen and "not peers" not in chosen


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Record in one process, which alone writes the files of answers."""
    if config.getoption("record"):
        if not asks_for_peers(config):
            raise pytest.UsageError("--record asks the real libraries: pytest -m peers --record")
        config.option.numprocesses = 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have the tests that read recorded answers ask the libraries as well, for `-m peers`."""
    if asks_for_peers(config):
        for item in items:
            if item.get_closest_marker("parity"):
                item.add_marker("peers")
