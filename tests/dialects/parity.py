"""A program's result described as data, and compared with what the real library answers.

`compare(program)` of tests/dialects/<dialect>/parity.py runs a program on our dialect. What the
real library answers to it is recorded in the folder `recorded` beside the test's file: a plain
`pytest` reads it there, `pytest -m peers` also asks the library, and `pytest -m peers --record`
writes what changed. A description is made of what JSON has: None, booleans, numbers, texts, and
for all else a dictionary with a `kind`.
"""

from __future__ import annotations

import functools
import gzip
import importlib
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

Program = Callable[[Any], Any]
Describe = Callable[[Any], Any]

#: How far values may be apart, relative to the largest of an array, by dtype.
TOLERANCE = {
    "bfloat16": 1.6e-2,
    "float16": 2e-3,
    "float32": 2e-5,
    "float64": 1e-11,
    "complex64": 2e-5,
    "complex128": 1e-11,
}
#: How far Python's own numbers may be apart, relative to the number.
NUMBER_TOLERANCE = 2e-5
#: Arrays of more elements are described by some of them and by sums.
MOST_ELEMENTS = 500
SAMPLED = 16
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


class Printed(str):
    """What a program printed: its numbers may differ in their last digits, words may not."""

    __slots__ = ()


# -- describing -----------------------------------------------------------------------------------


def describe(value: Any, special: Callable[[Any, Describe], Any] | None = None) -> Any:
    """Return a result of a program as data that JSON can hold.

    Parameters
    ----------
    value
        What a program returned, or the exception that it raised.
    special
        A function that describes what only one library has; it takes a value and the function
        that describes parts of it, and returns None for what is not special.
    """

    def of(part: Any) -> Any:
        found = None if special is None else special(part, of)
        return _plain(part, of) if found is None else found

    return of(value)


def _plain(value: Any, of: Describe) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return {"kind": "array", **array_fields(np.asarray(value))}
    if isinstance(value, Printed):
        return {"kind": "printed", "text": re.sub("0x[0-9a-f]+", "0x", value)}
    for simple in (bool, int, float, str):
        if isinstance(value, simple):
            return simple(value)
    if value is None:
        return None
    if isinstance(value, complex):
        return {"kind": "complex", "parts": [value.real, value.imag]}
    if isinstance(value, Exception):
        return {"kind": "raises", "class": type(value).__name__}
    if isinstance(value, dict):
        return {"kind": "dict", "items": [[of(k), of(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "parts": [of(part) for part in value]}
    if isinstance(value, (set, frozenset)):
        return {"kind": "set", "parts": sorted(map(repr, value))}
    if isinstance(value, np.dtype):
        return {"kind": "dtype", "text": value.name}
    if isinstance(value, type):
        return {"kind": "class", "name": value.__name__}
    if isinstance(value, (bytes, slice, range, type(...), type(NotImplemented))):
        return {"kind": type(value).__name__, "text": repr(value)}
    raise TypeError(f"a result of {type(value)} has no description; return its parts instead")


def array_fields(values: np.ndarray) -> dict[str, Any]:
    """Return an array's dtype, its shape, and its elements or, of many, some and their sums."""
    fields = {"dtype": values.dtype.name, "shape": list(values.shape)}
    flat = values.reshape(-1)
    if flat.dtype.kind in "OSU":
        return {**fields, "dtype": "text", "values": [_text(part) for part in flat.tolist()]}
    if flat.dtype.kind in "biu":
        if flat.size > MOST_ELEMENTS:
            return {**fields, "crc": zlib.crc32(flat.astype("<i8").tobytes())}
        return {**fields, "values": flat.tolist()}
    if flat.size > MOST_ELEMENTS:
        return {**fields, "digest": _digest(flat)}
    return {**fields, "values": _numbers(flat)}


def _text(part: Any) -> str:
    return part.decode("utf-8", "backslashreplace") if isinstance(part, bytes) else str(part)


def _numbers(flat: np.ndarray) -> list[float]:
    """Return real numbers, or the pairs of complex ones, in as many digits as are compared."""
    if flat.dtype.kind == "c":
        flat = np.ascontiguousarray(flat).view(flat.real.dtype)
    if flat.dtype.kind != "f":  # bfloat16 and its kin
        flat = flat.astype(np.float64)
    if flat.dtype == np.float64:
        return [float(f"{number:.14g}") for number in flat.tolist()]
    return [float(str(number)) for number in flat]


def _digest(flat: np.ndarray) -> dict[str, Any]:
    numbers = np.stack([flat.real, flat.imag], axis=-1) if flat.dtype.kind == "c" else flat
    numbers = numbers.reshape(-1).astype(np.float64)
    kinds = np.isnan(numbers) + 2 * np.isposinf(numbers) + 3 * np.isneginf(numbers)
    finite = np.where(kinds == 0, numbers, 0.0)
    weights = [np.cos(np.arange(finite.size)), np.cos(np.sqrt(np.arange(finite.size)))]
    places = np.linspace(0, finite.size - 1, SAMPLED).astype(int)
    return {
        "not_finite": zlib.crc32(kinds.astype(np.uint8).tobytes()),
        "largest": float(np.abs(finite).max()),
        "sample": finite[places].tolist(),
        "sums": [float(finite @ weight) for weight in weights],
    }


# -- comparing ------------------------------------------------------------------------------------


def assert_same(
    got: Any,
    expected: Any,
    tolerances: dict[str, float] = TOLERANCE,
    rtol: float | None = None,
    where: str = "result",
) -> None:
    """Assert that one description says what another one says, but for rounding.

    Parameters
    ----------
    got, expected
        Descriptions of ours and of the real library's.
    tolerances
        How far numbers may be apart, by dtype.
    rtol
        The same for every dtype.
    """

    def same(got: Any, expected: Any, where: str) -> None:
        different = f"{where}: got {got!r:.500}, expected {expected!r:.500}"
        assert kind_of(got) == kind_of(expected), different
        if isinstance(expected, float):
            assert _close(got, expected, rtol or NUMBER_TOLERANCE), different
        elif not isinstance(expected, dict):
            assert got == expected, different
        elif expected["kind"] == "complex":
            mine, theirs = complex(*got["parts"]), complex(*expected["parts"])
            assert _close(mine, theirs, rtol or NUMBER_TOLERANCE), different
        elif expected["kind"] == "printed":
            assert_same_text(got["text"], expected["text"], where)
        elif expected["kind"] == "dict":
            assert len(got["items"]) == len(expected["items"]), different
            for mine, theirs in zip(got["items"], expected["items"], strict=True):
                same(mine[0], theirs[0], f"{where}, keys")
                same(mine[1], theirs[1], f"{where}[{theirs[0]!r}]")
        elif expected["kind"] in ("list", "tuple", "slices"):
            count = len(expected["parts"])
            assert len(got["parts"]) == count, f"{where}: {len(got['parts'])} parts, not {count}"
            for i, pair in enumerate(zip(got["parts"], expected["parts"], strict=True)):
                same(*pair, f"{where}[{i}]")
        else:
            assert got.keys() == expected.keys(), different
            for name in expected:
                if name in ("values", "digest"):
                    _assert_close(got, expected, tolerances, rtol, where)
                else:
                    same(got[name], expected[name], f"{where}.{name}")

    same(got, expected, where)


def kind_of(description: Any) -> str:
    """Return the kind of thing that a description is of."""
    return description["kind"] if isinstance(description, dict) else type(description).__name__


def _close(got: complex, expected: complex, rtol: float) -> bool:
    close = got == expected or abs(got - expected) <= rtol * abs(expected)
    return close or (got != got and expected != expected)


def _assert_close(
    got: dict[str, Any],
    expected: dict[str, Any],
    tolerances: dict[str, float],
    rtol: float | None,
    where: str,
) -> None:
    """Assert that two arrays of one shape and dtype have the same elements, but for rounding."""
    dtype = expected["dtype"]
    tolerance = rtol or tolerances.get(dtype, 0.0)
    if "digest" in expected:
        mine, theirs = got["digest"], expected["digest"]
        assert mine["not_finite"] == theirs["not_finite"], f"{where}: other infinities and NaNs"
        allowed = tolerance * max(theirs["largest"], 1e-30)
        # Errors of single elements do not add up with one sign: their sum grows as a root.
        sums_allowed = 8 * allowed * np.prod(expected["shape"]) ** 0.5
        for name, atol in (("largest", 2 * allowed), ("sample", allowed), ("sums", sums_allowed)):
            np.testing.assert_allclose(
                mine[name], theirs[name], rtol=tolerance, atol=atol, err_msg=f"{where}, {name}"
            )
        return
    if got["values"] == expected["values"]:
        return
    assert dtype not in ("text", "string", "bool"), (
        f"{where}: {got['values']}, not {expected['values']}"
    )
    mine, theirs = (np.asarray(numbers) for numbers in (got["values"], expected["values"]))
    if dtype.startswith("complex"):
        mine, theirs = (pairs[::2] + 1j * pairs[1::2] for pairs in (mine, theirs))
    largest = np.max(np.abs(theirs), initial=0.0, where=np.isfinite(theirs))
    np.testing.assert_allclose(
        mine, theirs, rtol=tolerance, atol=tolerance * max(float(largest), 1e-30), err_msg=where
    )


def assert_same_text(got: str, expected: str, where: str = "printed") -> None:
    """Assert that two texts differ in space and the last digits of numbers at most."""
    if got == expected:
        return
    one, other = (re.sub(r"\s+", " ", _NUMBER.sub("#", text)) for text in (got, expected))
    assert one == other, f"{where}: got\n{got}\nexpected\n{expected}"
    for mine, theirs in zip(_NUMBER.findall(got), _NUMBER.findall(expected), strict=True):
        close = abs(float(mine) - float(theirs)) <= 2e-4 * max(1, abs(float(theirs)))
        assert close, f"{where}: {mine}, not {theirs}"


# -- recorded answers -----------------------------------------------------------------------------


class Recorded:
    """The answers of a real library to the programs of one file of tests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changed = False
        self.versions: dict[str, str] = {}
        self.answers: dict[str, list[Any]] = {}
        if path.exists():
            held = json.loads(gzip.decompress(path.read_bytes()))
            self.versions, self.answers = held["versions"], held["answers"]

    def keep(self, tests: set[str]) -> None:
        """Forget the answers of all but some tests."""
        if gone := self.answers.keys() - tests:
            self.answers = {name: found for name, found in self.answers.items() if name not in gone}
            self.changed = True

    def save(self) -> None:
        """Write the answers to the file, or delete it if there are none."""
        if not self.answers:
            self.path.unlink(missing_ok=True)
            return
        held = {"versions": self.versions, "answers": self.answers}
        text = json.dumps(held, sort_keys=True, separators=(",", ":"))
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


@functools.cache
def recorded(tests: Path) -> Recorded:
    """Return the recorded answers to the programs of a file of tests."""
    return Recorded(tests.parent / "recorded" / f"{tests.stem}.json.gz")


class Asker:
    """Asks for the answers to the programs of one test, one after the other."""

    def __init__(self, path: Path, test: str, live: bool, record: bool) -> None:
        self.recorded = recorded(path)
        self.test, self.live, self.record = test, live, record
        self.asked = 0
        self.complaints: list[str] = []

    def answer(self, dialect: Dialect, program: Program, rtol: float | None) -> Any:
        """Return the description of what the real library answers to a program."""
        answers = self.recorded.answers.get(self.test, [])
        number, self.asked = self.asked, self.asked + 1
        if number >= len(answers):
            why = f"no answer to program {number} of {self.test} is in {self.recorded.path.name}"
        elif not self.live:
            return answers[number]
        else:
            why = ""
        if not self.live:
            raise AssertionError(
                f"{why}: install {dialect.theirs}, run `pytest -m peers --record` on this file "
                "and commit the file of answers"
            )
        answer = dialect.described(program, dialect.real())
        if not why:
            try:
                assert_same(answers[number], answer, dialect.tolerances, rtol)
                return answer
            except AssertionError as difference:
                versions = self.recorded.versions
                why = f"{dialect.theirs} answers otherwise than recorded ({versions}): {difference}"
        self.complaints.append(why)
        if self.record:
            self.recorded.answers[self.test] = [*answers[:number], answer, *answers[number + 1 :]]
            self.recorded.versions = dialect.versions()
            self.recorded.changed = True
        return answer

    def finish(self) -> None:
        """Complain about answers that were missing or have changed."""
        answers = self.recorded.answers.get(self.test, [])
        if self.record and len(answers) > self.asked:
            self.recorded.answers[self.test] = answers[: self.asked]
            self.recorded.changed = True
        if self.complaints:
            done = "recorded anew" if self.record else "`pytest -m peers --record` records it anew"
            raise AssertionError("; ".join(self.complaints) + f" ({done})")


class LiveAsker:
    """Asks the real library, and leaves what is recorded alone."""

    def answer(self, dialect: Dialect, program: Program, rtol: float | None) -> Any:
        """Return the description of what the real library answers to a program."""
        return dialect.described(program, dialect.real())

    def finish(self) -> None:
        """Have nothing to complain about."""


#: Who asks for the test that is running; tests/dialects/conftest.py sets it.
_asker: Asker | LiveAsker | None = None


@contextmanager
def asking(asker: Asker | LiveAsker) -> Iterator[None]:
    """Let `compare` ask for one test."""
    global _asker
    _asker = asker
    try:
        yield
    finally:
        _asker = None


# -- programs -------------------------------------------------------------------------------------


class Programs(dict[str, Program]):
    """Programs by their names. As a decorator, it adds a function by its name."""

    def __call__(self, function: Program) -> Program:
        assert function.__name__ not in self, f"there is a program {function.__name__}"
        self[function.__name__] = function
        return function


class Dialect:
    """What the harness must know of a library: its two modules, its tensors, its tolerances.

    Parameters
    ----------
    theirs
        The name of the real library's module; it is imported only when it is asked.
    ours
        Our module, or a function that makes what programs are given of a module.
    special
        A function that describes what only this library has; see `describe`.
    run
        A function that runs a program on a module, under the settings that both begin with.
    """

    def __init__(
        self,
        theirs: str,
        ours: Any,
        special: Callable[[Any, Describe], Any],
        run: Callable[[Program, Any], Any] = lambda program, module: program(module),
        tolerances: dict[str, float] = TOLERANCE,
    ) -> None:
        self.theirs, self.ours, self.special = theirs, ours, special
        self.run, self.tolerances = run, tolerances

    def real(self) -> Any:
        """Return the real library's module."""
        return importlib.import_module(self.theirs)

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that answers depend on."""
        real = importlib.import_module(self.theirs.partition(".")[0])
        return {self.theirs: real.__version__, "numpy": np.__version__}

    def outcome(self, program: Program, module: Any) -> Any:
        """Return what a program returns, or the exception that it raises."""
        try:
            return self.run(program, module)
        except Exception as error:
            return error

    def assert_same(
        self, got: Any, expected: Any, rtol: float | None = None, where: str = "result"
    ) -> None:
        """Assert that a result of ours says what one of the real library says."""
        mine, theirs = (describe(result, self.special) for result in (got, expected))
        assert_same(mine, theirs, self.tolerances, rtol, where)

    def described(self, program: Program, module: Any) -> Any:
        """Return the description of a program's outcome."""
        return describe(self.outcome(program, module), self.special)

    def answer(self, program: Program, rtol: float | None = None) -> Any:
        """Return the description of what the real library answers to a program."""
        if _asker is None:
            raise RuntimeError("answers are for tests marked pytest.mark.parity or peers")
        return _asker.answer(self, program, rtol)

    def compare(self, program: Program, rtol: float | None = None) -> Any:
        """Assert that our outcome of a program is the real library's, and return its description.

        Values, dtypes, shapes, containers, None and classes of exceptions must agree, and what
        the dialect's `special` describes of tensors.
        """
        expected = self.answer(program, rtol)
        got = self.outcome(program, self.ours)
        try:
            assert_same(describe(got, self.special), expected, self.tolerances, rtol)
        except AssertionError as difference:
            if isinstance(got, Exception):
                raise AssertionError(f"{difference}; ours raised {got!r:.500}") from got
            raise
        return expected
