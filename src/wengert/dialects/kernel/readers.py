"""Reading numbers, axes and truth values, which may be given as tensors or arrays.

Frameworks differ in the errors they raise, and in little else: `Readers` has one function for each
kind of argument, in the form that `Kind` takes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wengert.dialects.kernel.functions import Argument

#: All axes of a tensor by how many it has, and single axes.
_ALL = [tuple(range(ndim)) for ndim in range(65)]
_ONE = [(axis,) for axis in range(64)]


def shown(value: Any) -> str:
    """Return what an error says of a value."""
    text = repr(value)
    return text if len(text) < 40 else f"a {type(value).__name__}"


@dataclass(eq=False, repr=False)
class Readers:
    """How a framework reads arguments that are no tensors."""

    #: return the errors for a value of another type, an axis that is not there, and another value
    wrong_type: Callable[[str], Exception]
    out_of_range: Callable[[str], Exception]
    wrong_value: Callable[[str], Exception]
    #: return a value without tensors and arrays: numbers, and nested lists of them
    static: Callable[[Any], Any]
    #: how many axes a tensor has at least, for those who count them
    least: int = 0
    #: whether True is a whole number
    counts_truth: bool = False

    def integer(self, value: Any, at: Argument, x: Any = None) -> int:
        """Return a whole number."""
        given = value if type(value) is int else self.static(value)
        if type(given) is list and hasattr(type(value), "__index__"):  # perhaps of one element
            given = operator.index(value)
        refused = type(given) is bool and not self.counts_truth
        if refused or not hasattr(type(given), "__index__"):
            raise self.wrong_type(f"{at} is {shown(value)}; give a whole number")
        return operator.index(given)

    def integers(self, value: Any, at: Argument, x: Any = None) -> tuple[int, ...]:
        """Return whole numbers: a sequence of them, or one."""
        if _is_sequence(value) and {*map(type, value)} == {int}:  # quickly
            return tuple(value)
        given = self.static(value)
        return tuple([self.integer(n, at) for n in (given if _is_sequence(given) else (given,))])

    def sizes(self, values: tuple[Any, ...], at: Argument, x: Any = None) -> tuple[int, ...]:
        """Return lengths that are given one by one, or as one sequence."""
        if len(values) == 1 and _is_sequence(values[0]):
            values = tuple(values[0])
        elif not values:
            raise self.wrong_type(f"{at} is missing; give whole numbers, or a tuple of them")
        for n in values:
            if type(n) is not int:
                break
        else:
            return values
        return tuple([self.integer(n, at) for n in values])

    def several_axes(self, values: tuple[Any, ...], at: Argument, x: Any) -> tuple[int, ...]:
        """Return axes of x that are named one by one, or as one sequence."""
        return self._once([self.axis(a, at, x) for a in self.sizes(values, at)], at, x)

    def one_or_several(self, value: Any, at: Argument, x: Any = None) -> Any:
        """Return a whole number, or a tuple of them if a sequence is given."""
        given = value if _is_sequence(value) or type(value) is int else self.static(value)
        return self.integers(given, at) if _is_sequence(given) else self.integer(given, at)

    def number(self, value: Any, at: Argument, x: Any = None) -> Any:
        """Return a number of Python's."""
        given = value if type(value) in (int, float) else self.static(value)
        if isinstance(given, (list, tuple, str)) or given is None:
            raise self.wrong_type(f"{at} is {shown(value)}; give a number")
        return given

    def truth(self, value: Any, at: Argument, x: Any = None) -> bool:
        """Return a truth value."""
        if type(value) is not bool:
            raise self.wrong_type(f"{at} is {shown(value)}; give True or False")
        return value

    def axis(self, value: Any, at: Argument, x: Any, new: int = 0) -> int:
        """Return one axis of x, counted from 0, where x gets some new axes."""
        axis = value if type(value) is int else self.integer(value, at)
        limit = max(len(x._raw.shape) + new, self.least)
        if not -limit <= axis < limit:
            raise self.out_of_range(
                f"{at.function}(): there is no axis {axis} in shape {list(x._raw.shape)}; "
                f"{at.name} counts from {-limit} to {limit - 1}"
            )
        return axis % limit

    def new_axis(self, value: Any, at: Argument, x: Any) -> int:
        """Return the position of an axis that x gets, counted from 0."""
        return self.axis(value, at, x, 1)

    def named_axes(self, value: Any, at: Argument, x: Any) -> tuple[int, ...]:
        """Return the axes of x that are named: one, or a sequence of them, which may be empty."""
        if type(value) is int and -(ndim := len(x._raw.shape)) <= value < ndim:
            return _ONE[value % ndim]
        given = self.static(value)
        if not _is_sequence(given):
            return (self.axis(given, at, x),)[: len(x._raw.shape)]
        return self._once([self.axis(a, at, x) for a in given], at, x)

    def _once(self, axes: list[int], at: Argument, x: Any) -> tuple[int, ...]:
        if len(set(axes)) < len(axes):
            raise self.wrong_value(f"{at} is {axes}; name each axis once")
        return tuple(axes) if x._raw.shape else ()

    def axes(self, value: Any, at: Argument, x: Any) -> tuple[int, ...]:
        """Return the axes of x that are named; all of them for None."""
        return _ALL[len(x._raw.shape)] if value is None else self.named_axes(value, at, x)

    def one_of(self, *values: Any) -> Callable[..., Any]:
        """Return the reader of an argument that takes one of some values."""

        def read(value: Any, at: Argument, x: Any = None) -> Any:
            if value not in values:
                raise self.wrong_value(f"{at} is {shown(value)}; write {_listed(values)}")
            return value

        return read


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _listed(values: Sequence[Any]) -> str:
    return " or ".join(map(repr, values)) if len(values) < 4 else f"one of {tuple(values)}"
