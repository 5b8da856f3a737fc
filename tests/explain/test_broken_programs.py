"""Why there is no gradient: a table of programs, each with its reason and its line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import wengert as wg
from tests.explain.broken_paths import CUT
from tests.explain.broken_programs import NATIVE as ASKED
from tests.explain.broken_tensorflow import TENSORFLOW
from tests.explain.broken_torch import TORCH
from tests.explain.program_table import Program
from wengert import Explanation, Reason

NATIVE = ASKED | CUT
#: What PyTorch's error says for each reason.
WORDS = {
    Reason.DETACHED: "made a constant",
    Reason.PAUSED: "grad mode was off",
    Reason.ZERO_DERIVATIVE: "has no derivative",
    Reason.INTEGER: "cast to a dtype that has no derivative",
    Reason.CONVERTED: "took plain numbers",
    Reason.NOT_WATCHED: "requires grad",
}


def names(table: dict[str, Program]) -> Any:
    return pytest.mark.parametrize("program", table.values(), ids=table)


@pytest.fixture(autouse=True)
def quiet_conversions() -> Iterator[None]:
    """Let programs convert tensors: that is what many are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wg.CutPathWarning)
        warnings.simplefilter("ignore", wg.NoGradientWarning)
        yield


def told(program: Program) -> Explanation | RuntimeError:
    """Return the explanation that a program of a dialect is given: a warning, or an error."""
    with warnings.catch_warnings(record=True) as caught, wg.debug():
        warnings.simplefilter("always")
        try:
            program.run()
        except RuntimeError as error:
            return error
    (found,) = [w for w in caught if issubclass(w.category, wg.NoGradientWarning)]
    assert found.filename == program.run.__code__.co_filename
    assert isinstance(found.message, wg.NoGradientWarning)
    explanation = found.message.explanation
    assert str(explanation) in str(found.message)
    return explanation


@names(NATIVE)
def test_reason_and_line(program: Program) -> None:
    with wg.debug():
        found = program.run()
    assert (found.reason, found.location) == (program.expected, program.location)
    assert found.message
    assert bool(found.advice) == (found.reason is not Reason.CONNECTED)
    if program.location is not None:
        assert wg_line(program) in str(found)


def wg_line(program: Program) -> str:
    """Return the marked line as it stands in the program."""
    assert program.location is not None
    path, _, line = program.location.rpartition(":")
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()[int(line) - 1].strip()


@names(NATIVE)
def test_reason_without_debug(program: Program) -> None:
    found = program.run()
    assert found.reason in (program.expected, Reason.UNSEEN)
    # the text that is read for a pause names the `with`
    if found.location is not None and found.reason is not Reason.PAUSED:
        assert found.location == program.location


@names(TENSORFLOW)
def test_reason_and_line_in_tensorflow(program: Program) -> None:
    found = told(program)
    assert isinstance(found, Explanation)
    assert (found.reason, found.location) == (program.expected, program.location)
    assert "wg." not in found.advice.replace("wg.debug()", "")


@names(TORCH)
def test_reason_and_line_in_pytorch(program: Program) -> None:
    found = told(program)
    if isinstance(found, RuntimeError):
        assert WORDS[program.expected] in str(found)
        assert f"at {program.location}" in str(found)
    else:
        assert (found.reason, found.location) == (program.expected, program.location)
    assert "wg." not in str(found).replace("wg.debug()", "")


@pytest.mark.parametrize("program", [*TENSORFLOW.values(), *TORCH.values()], ids=lambda p: p.name)
def test_dialects_are_silent_without_debug(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", wg.NoGradientWarning)
        try:
            program.run()
        except RuntimeError as error:  # the program's text is read
            assert "does not require grad" in str(error)
            assert program.run.__code__.co_filename not in str(error) or (
                program.location in str(error) or program.expected is Reason.PAUSED
            )


def test_the_table_covers_every_reason() -> None:
    assert {p.expected for p in NATIVE.values()} == set(Reason)
    assert len(NATIVE) >= 45
    assert len(TENSORFLOW) >= 25
    assert len(TORCH) >= 20
