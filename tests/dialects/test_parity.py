"""The harness of the dialects: what it tells apart, what it lets pass, and how it records."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.dialects import parity
from tests.dialects.parity import Asker, Dialect, Printed, Programs, Recorded, assert_same, describe

MANY = np.cos(np.arange(2000.0))


def changed(values: np.ndarray, place: Any, by: Any) -> np.ndarray:
    found = values.copy()
    found[place] += by
    return found


SAME: dict[str, tuple[Any, Any]] = {
    "rounding": (np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-14])),
    "rounding in single precision": (np.float32([1.0, 3.0]), np.float32([1.000001, 3.0])),
    "not finite": (np.array([np.nan, np.inf, -np.inf]), np.array([np.nan, np.inf, -np.inf])),
    "numbers": ([1, 2.5, 1j, True, None], [1, 2.5 + 1e-7, 1j, True, None]),
    "many": (MANY, MANY * (1 + 1e-14)),
    "text with numbers": (Printed("loss 0.12345 at 0xff12"), Printed("loss  0.12346 at 0xab01")),
    "errors of one class": (ValueError("one text"), ValueError("another")),
    "names": ({"a": (1, "x"), "b": slice(3)}, {"a": (1, "x"), "b": slice(3)}),
    "bytes": (np.array([b"a", b"b"], object), np.array([b"a", b"b"], object)),
    "no elements": (np.zeros((0, 3)), np.zeros((0, 3))),
}
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "value": (np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9])),
    "dtype": (np.ones(2), np.ones(2, np.float32)),
    "shape": (np.ones(2), np.ones((2, 1))),
    "nan": (np.array([1.0, np.nan]), np.array([np.nan, 1.0])),
    "complex": (np.array([1 + 2j]), np.array([1 - 2j])),
    "number": (1.0, 1.001),
    "kind of number": (1.0, 1),
    "boolean": (True, 1),
    "none": (None, 0),
    "container": ([1, 2], (1, 2)),
    "parts": ([1, 2], [1, 2, 3]),
    "key": ({"a": 1}, {"b": 1}),
    "value of a key": ({"a": 1}, {"a": 2}),
    "text": ("one", "two"),
    "words": (Printed("loss 0.5"), Printed("cost 0.5")),
    "numbers of a text": (Printed("loss 0.5"), Printed("loss 0.6")),
    "class of an error": (ValueError("x"), TypeError("x")),
    "an error": (ValueError("x"), np.ones(2)),
    "array for a number": (np.float64(1.0), 1.0),
    "class": (int, float),
    "one of many": (changed(MANY, 777, 1e-6), MANY),
    "two of many": (MANY, MANY[np.r_[1, 0, 2:2000]]),
    "infinity among many": (changed(MANY, 3, np.inf), changed(MANY, 4, np.inf)),
    "one of many integers": (np.arange(1000), changed(np.arange(1000), 501, 1)),
    "object": (np.array([b"a"], object), np.array([b"b"], object)),
}


def as_recorded(value: Any) -> Any:
    """Return a description as it is read from a file."""
    return json.loads(json.dumps(describe(value)))


@pytest.mark.parametrize("name", SAME)
def test_same(name: str) -> None:
    got, expected = SAME[name]
    assert_same(describe(got), as_recorded(expected))


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str) -> None:
    got, expected = DIFFERENT[name]
    for pair in ((got, expected), (expected, got)):
        with pytest.raises(AssertionError):
            assert_same(describe(pair[0]), as_recorded(pair[1]))


def test_a_tolerance_that_is_given() -> None:
    got, expected = describe(np.array([1.0])), describe(np.array([1.0001]))
    assert_same(got, expected, rtol=1e-3)
    with pytest.raises(AssertionError):
        assert_same(got, expected, rtol=1e-5)


def test_large_arrays_take_little_space() -> None:
    assert len(json.dumps(describe(np.random.default_rng(0).normal(size=10**5)))) < 1000


def test_what_cannot_be_described_is_refused() -> None:
    with pytest.raises(TypeError, match="return its parts"):
        describe(object())


def test_a_program_is_added_once() -> None:
    programs = Programs()

    @programs
    def one(library: Any) -> Any: ...

    assert list(programs) == ["one"]
    with pytest.raises(AssertionError, match="there is a program one"):
        programs(one)


# -- recording ------------------------------------------------------------------------------------


class Library(Dialect):
    """A library whose real version is a namespace of this file."""

    def __init__(self, theirs: float, ours: float) -> None:
        super().__init__("json", SimpleNamespace(number=ours), lambda value, of: None)
        self.number = theirs

    def real(self) -> Any:
        return SimpleNamespace(number=self.number)

    def versions(self) -> dict[str, str]:
        return {"library": "1"}


def ask(folder: Path, library: Library, live: bool = True, record: bool = True) -> None:
    """Compare one program, as a test in a file of that folder would."""
    asker = Asker(folder / "test_one.py", "test_two", live, record)
    with parity.asking(asker):
        library.compare(lambda module: module.number)
    asker.finish()


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    parity.recorded.cache_clear()
    yield tmp_path
    parity.recorded.cache_clear()


def test_recording(folder: Path) -> None:
    with pytest.raises(AssertionError, match="pytest -m peers --record"):
        ask(folder, Library(1.5, 1.5), live=False, record=False)
    with pytest.raises(AssertionError, match="no answer"):
        ask(folder, Library(1.5, 1.5), record=False)
    with pytest.raises(AssertionError, match="recorded anew"):
        ask(folder, Library(1.5, 1.5))
    ask(folder, Library(1.5, 1.5))
    ask(folder, Library(7.0, 1.5), live=False, record=False)  # the library is not asked
    with pytest.raises(AssertionError, match="answers otherwise"):
        ask(folder, Library(7.0, 7.0), record=False)
    with pytest.raises(AssertionError, match="got 1.25, expected 1.5"):
        ask(folder, Library(1.5, 1.25))
    with pytest.raises(AssertionError, match="recorded anew"):
        ask(folder, Library(7.0, 7.0))
    ask(folder, Library(1.5, 7.0), live=False, record=False)


def test_answers_are_saved_for_tests_that_are_there(folder: Path) -> None:
    with pytest.raises(AssertionError, match="recorded anew"):
        ask(folder, Library(1.5, 1.5))
    found = parity.recorded(folder / "test_one.py")
    found.answers["test_gone"] = [1.0]
    found.keep({"test_two"})
    found.save()
    again = Recorded(found.path)
    assert again.answers == {"test_two": [1.5]}
    assert again.versions == {"library": "1"}
    before = found.path.read_bytes()
    found.save()
    assert found.path.read_bytes() == before
    found.keep(set())
    found.save()
    assert not found.path.exists()


def test_answers_are_for_tests_with_the_marker() -> None:
    with pytest.raises(RuntimeError, match="pytest.mark.parity"):
        Library(1.0, 1.0).compare(lambda module: module.number)


#: How many tests with recorded answers each dialect has at least.
FEWEST = {"torch": 9500, "tensorflow": 6600, "autograd": 240}


@pytest.mark.parametrize("dialect", FEWEST)
def test_answers_are_many(dialect: str) -> None:
    files = (Path(__file__).parent / dialect).rglob("recorded/*.json.gz")
    assert sum(len(Recorded(path).answers) for path in files) >= FEWEST[dialect]
