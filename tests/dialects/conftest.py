"""Tests marked `parity` compare with recorded answers, those marked `peers` with live ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import asks_for_peers
from tests.dialects import parity

TESTS = pytest.StashKey[dict[Path, set[str]]]()


def name_of(item: pytest.Item) -> str:
    """Return a test's name within its file."""
    return item.nodeid.partition("::")[2]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note the names of all tests, of which some may be left out of this run."""
    tests: dict[Path, set[str]] = {}
    for item in items:
        tests.setdefault(item.path, set()).add(name_of(item))
    config.stash[TESTS] = tests


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    asker: parity.Asker | parity.LiveAsker
    if item.get_closest_marker("parity"):
        live, record = asks_for_peers(item.config), item.config.getoption("record")
        asker = parity.Asker(item.path, name_of(item), live, record)
    elif item.get_closest_marker("peers"):
        asker = parity.LiveAsker()
    else:
        return (yield)
    with parity.asking(asker):
        result = yield
    asker.finish()
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the files of answers that have changed, without answers that no test asks for."""
    config = session.config
    if not config.getoption("record"):
        return
    whole_files = not any("::" in argument for argument in config.args)
    for path, tests in config.stash.get(TESTS, {}).items():
        found = parity.recorded(path)
        if whole_files:
            found.keep(tests)
        if found.changed:
            found.save()
