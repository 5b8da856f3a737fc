"""NumPy's floating-point warnings: at the user's line, with the operation's name, once."""

from __future__ import annotations

import inspect
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.explain import other_module
from tests.explain.float_programs import FLOATS
from tests.explain.program_table import Program

names = pytest.mark.parametrize("program", FLOATS.values(), ids=FLOATS)


def warned(call: Any) -> list[tuple[str, str]]:
    """Return texts and lines of the warnings that Python shows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        call()
    assert all(w.category is RuntimeWarning for w in caught)
    return [(str(w.message), f"{w.filename}:{w.lineno}") for w in caught]


def line_of(function: Any, mark: str) -> str | None:
    lines, first = inspect.getsourcelines(function)
    found = [first + i for i, line in enumerate(lines) if line.rstrip().endswith(mark)]
    return f"{inspect.getsourcefile(function)}:{found[0]}" if found else None


def check(found: list[tuple[str, str]], text: str, line: str | None) -> None:
    assert found[0] == (text, line)
    # 0 * inf may follow 1 / 0; each kind of error is told once
    assert {where for _, where in found} == {line}
    assert len({text.partition(" encountered")[0] for text, _ in found}) == len(found)


@names
def test_line(program: Program) -> None:
    check(warned(program.run), program.expected, program.location)


@names
def test_line_under_debug(program: Program) -> None:
    with wg.debug():
        found = warned(program.run)
    recorded = line_of(program.run, "# recorded")
    check(found, program.expected, recorded or program.location)


def test_functions_in_another_module() -> None:
    x = wg.asarray([1.0, 0.0])
    line = line_of(other_module.logarithm, "# here")
    assert warned(lambda: other_module.logarithm(x)) == [
        ("divide by zero encountered in log", line)
    ]
    with wg.debug():
        found = warned(lambda: wg.grad(lambda p: wg.sum(other_module.root(p)))(x))
    line = line_of(other_module.root, "# here")
    assert found == [("divide by zero encountered in the derivative of sqrt", line)]


def test_each_line_of_a_program_is_told() -> None:
    x = wg.asarray(0.0)
    found = warned(lambda: [wg.log(x), wg.log(x),
                            wg.log(x)])  # fmt: skip
    assert len(found) == 2
    assert len({where for _, where in found}) == 2


def test_threads() -> None:
    found: list[Any] = []

    def work() -> None:
        wg.log(wg.asarray([1.0, 0.0]))  # here

    threads = [threading.Thread(target=work) for _ in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found += [(str(w.message), f"{w.filename}:{w.lineno}") for w in caught]
    assert found == [("divide by zero encountered in log", line_of(work, "# here"))] * 4


def program() -> Any:
    x = wg.asarray([1.0, 0.0])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(wg.log(x))
    return tape.gradient(y, x)


def test_settings_of_the_program_ignore() -> None:
    with np.errstate(divide="ignore"):
        assert not warned(program)
    with np.errstate(all="ignore"):
        assert not warned(program)


def test_settings_of_the_program_raise() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        program()


@pytest.mark.parametrize("debug", [False, True])
def test_settings_of_the_program_call(debug: bool) -> None:
    seen: list[str] = []
    with np.errstate(divide="call", call=lambda kind, flag: seen.append(kind)):
        if debug:
            with wg.debug():
                assert not warned(program)
        else:
            assert not warned(program)
        # the other kinds still warn, at the user's line
        ((text, _),) = warned(lambda: wg.exp(wg.asarray(1000.0)))
    assert text == "overflow encountered in exp"
    assert seen
    assert set(seen) == {"divide by zero"}


def test_settings_of_the_program_log() -> None:
    class Log:
        lines: list[str] = []  # noqa: RUF012

        def write(self, line: str) -> None:
            self.lines.append(line)

    with np.errstate(divide="log", call=Log()):
        assert not warned(program)
    assert Log.lines
    assert all("divide by zero" in line for line in Log.lines)


def test_settings_are_what_they_were() -> None:
    before = np.geterr(), np.geterrcall()
    warned(program)
    assert (np.geterr(), np.geterrcall()) == before


def test_settings_in_a_users_rule_are_the_users() -> None:
    seen: dict[str, str] = {}

    @wg.custom_gradient
    def f(x: Any) -> Any:
        def rule(g: Any) -> Any:
            seen.update(np.geterr())
            return g

        return x * 1.0, rule

    with np.errstate(divide="ignore"):
        wg.grad(lambda x: wg.sum(f(x)))(wg.ones(2))
    assert seen["divide"] == "ignore"
