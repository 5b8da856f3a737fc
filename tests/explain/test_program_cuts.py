"""What cut the path to a value, read off the text of a program."""

from __future__ import annotations

import sys
from typing import Any

from wengert.explain.program_cuts import Cuts


class Live:
    """Stands for a value that gradients come from."""

    value = 1.0

    def frozen(self) -> float:
        return self.value


CUTS = Cuts(
    functions={"frozen"},
    makers={"made"},
    attributes={"value"},
    modes={"paused"},
    is_live=lambda value: isinstance(value, Live),
)


def cut_of(value: Any) -> str:
    """Return what cut the path to a value of the function that asks."""
    frame = sys._getframe(1)
    found = CUTS.found_at(frame, value)
    return "" if found is None else str(found).rpartition(":")[0].replace(__file__, "here")


def test_a_method_an_attribute_and_a_number() -> None:
    x = Live()
    y = x.frozen()
    assert cut_of(y) == "frozen() at here"
    z = 2 * x.value
    assert cut_of(z) == ".value at here"
    is_equal = x == y
    assert cut_of(is_equal) == "a comparison at here"


def test_the_nearest_cut_is_told() -> None:
    x = Live()
    first = x.frozen()
    second = first + x.value
    assert cut_of(second) == ".value at here"


def test_a_cut_inside_of_a_called_function() -> None:
    def inner(a: Live) -> float:
        b = a.frozen()
        return b * 2

    x = Live()
    y = inner(x)
    assert cut_of(y) == "frozen() at here"


def test_nothing_is_told_without_a_cut() -> None:
    y = 1.0 + 2.0
    assert cut_of(y) == ""
