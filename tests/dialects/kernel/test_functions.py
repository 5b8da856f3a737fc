"""Arguments by position, by name and one by one; labels and options of functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest

from wengert.dialects.kernel.functions import Dialect, Function, Kind, Viewed, function
from wengert.dialects.kernel.readers import Readers


class Array:
    """A tensor of a framework that there is not."""

    def __init__(self, *shape: int) -> None:
        self._raw = np.zeros(shape)


READERS = Readers(TypeError, IndexError, ValueError, lambda value: value, least=1)
Tensor = Annotated[Any, Kind(lambda value, at, x=None: value, tensor=True)]
Axis = Annotated[int, Kind(READERS.axis)]
NewAxis = Annotated[int, Kind(READERS.new_axis)]
Sizes = Annotated[int, Kind(READERS.sizes)]
Axes = Annotated[int, Kind(READERS.several_axes)]
Length = Annotated[Any, Kind(READERS.one_or_several)]

DIRECT = Dialect(aliases={"axis": "dim", "x": "input"})
X = Array(2, 3, 4)


def _direct(body: Callable[..., Any]) -> Callable[..., Any]:
    return function(Function(body, body.__name__, DIRECT))


@_direct
def reshape(input: Tensor, *shape: Sizes) -> Any:
    return shape


@_direct
def permute(input: Tensor, *dims: Axes, note: Any = None) -> Any:
    return dims, note


@_direct
def narrow(input: Tensor, dim: Axis, length: Length) -> Any:
    return dim, length


@_direct
def unsqueeze(input: Tensor, dim: NewAxis) -> Any:
    return dim


def test_numbers_are_given_one_by_one_or_as_a_sequence_or_by_name() -> None:
    assert reshape(X, 4, 6) == reshape(X, (4, 6)) == reshape(X, [4, 6]) == (4, 6)
    assert reshape(X, shape=(4, 6)) == reshape(input=X, shape=(4, 6)) == (4, 6)
    assert reshape(X, ()) == ()
    assert permute(X, -1, 0, note=5) == permute(X, dims=(2, 0), note=5) == ((2, 0), 5)


def test_axes_are_counted_from_0_and_found_by_other_names() -> None:
    assert narrow(X, -1, 2) == narrow(X, axis=2, length=2) == narrow(x=X, dim=2, length=2) == (2, 2)
    assert narrow(X, 0, [1, 1]) == (0, (1, 1))
    assert unsqueeze(X, -1) == unsqueeze(X, 3) == 3


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: reshape(X), TypeError, "reshape(): shape is missing; give whole numbers"),
        (lambda: reshape(X, 2.0), TypeError, "reshape(): shape is 2.0; give a whole number"),
        (lambda: reshape(X, 2, (3,)), TypeError, "shape is (3,); give a whole number"),
        (lambda: reshape(X, size=3), TypeError, "unexpected keyword argument 'size'"),
        (lambda: permute(X, 0, 0), ValueError, "dims is [0, 0]; name each axis once"),
        (lambda: permute(X, 3), IndexError, "there is no axis 3 in shape [2, 3, 4]"),
        (lambda: unsqueeze(X, 4), IndexError, "dim counts from -4 to 3"),
        (lambda: narrow(X), TypeError, "narrow() is called without dim, length; give a value"),
    ],
)
def test_errors_say_which_argument(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        call()


def test_options_are_given_to_what_finishes() -> None:
    def finish(result: Any, out: Any, device: Any) -> Any:
        return result, out, device

    def read(dtype: Any, at: Any, out: Any) -> str:
        return f"{dtype} or that of {out}"

    kind = Annotated[Any, Kind(read, "{0} is out is None", beside="out")]
    creating = Dialect(finish=finish, options={"out": None, "device": "cpu"})

    def zeros(*size: Sizes, dtype: Any = None) -> Any:
        return size, dtype

    zeros.__annotations__["dtype"] = kind
    made = function(Function(zeros, "zeros", creating))
    assert made(2, 3) == (((2, 3), None), None, "cpu")
    assert made((2,), device="meta") == (((2,), None), None, "meta")
    assert made(size=(2,), out=Array) == (((2,), f"None or that of {Array}"), Array, "cpu")


def test_a_label_may_depend_on_the_arguments() -> None:
    labels = []

    def view(first: Any, step: Callable[[Any], Any], label: str) -> Any:
        labels.append(label)
        return step(first)

    def squeeze(input: Tensor, dim: Any = None) -> Any:
        return lambda x: x._raw.shape

    dialect = Dialect(
        enter=lambda: None,
        leave=lambda state: None,
        errors=(ArithmeticError,),
        translate=lambda error, function: error,
    )
    name = lambda input, dim: "all" if dim is None else "one"  # noqa: E731
    call = function(Function(squeeze, "squeeze", dialect, name, view=view))
    assert call(X) == call(X, 1) == (2, 3, 4)
    assert labels == ["all", "one"]


def test_a_view_is_made_by_its_operation_at_once_or_by_a_step() -> None:
    calls: list[Any] = []

    def call(x: Any, *, shape: tuple[int, ...]) -> Any:
        return NotImplemented if shape == (24,) else ("at once", shape)

    def noted(first: Any, result: Any, step: Callable[[Any], Any], label: str) -> Any:
        calls.append(("noted", label, step(first)))
        return result

    def view(first: Any, step: Callable[[Any], Any], label: str) -> Any:
        calls.append(("slowly", label))
        return step(first)

    def body(input: Tensor, *shape: Sizes) -> Any:
        if not all(shape):
            raise ArithmeticError("a length of 0")
        return shape

    dialect = Dialect(
        errors=(ArithmeticError,), translate=lambda error, function: LookupError(str(error))
    )
    viewed = Viewed(call, lambda x, *, shape: ("a step", shape), "shape", noted)
    reshape = function(Function(body, "reshape", dialect, "View", view=view, viewed=viewed))
    assert reshape(X, 4, 6) == ("at once", (4, 6))
    assert reshape(X, 24) == ("a step", (24,))
    assert calls == [("noted", "View", ("a step", (4, 6))), ("slowly", "View")]
    with pytest.raises(LookupError, match="a length of 0"):
        reshape(X, 0)
