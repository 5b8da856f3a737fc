"""Arguments as tensors of the numbers that a function takes, and errors about them in one form."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import plain_namespace
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError
from wengert.ops import elementwise as ew
from wengert.ops.batching import all_values, innermost, is_visible, on_device, rebatched
from wengert.ops.shapes import tensor


def floating(x: Any, name: str) -> Tensor:
    """Return an argument as a tensor of floating or complex numbers; integers become float64."""
    x = tensor(x, name)
    if backends.is_inexact(x.dtype):
        return x
    return ew.astype(x, backends.namespace_of(x._raw).float64)


def real(x: Any, name: str, what: str = "x") -> Tensor:
    """Return an argument as a tensor of real floating numbers; integers become float64."""
    if type(x) is Tensor and backends.kind_of(x._raw.dtype) == "f":  # the usual case
        return x
    x = floating(x, name)
    if backends.kind_of(x.dtype) != "f":
        raise DtypeError(
            f"{name}: {what} has dtype {x.dtype}; expected real numbers, such as wg.real({what})"
        )
    return x


def ordered(x: Any, name: str) -> Tensor:
    """Return an argument as a tensor of numbers that have an order."""
    x = tensor(x, name)
    if backends.kind_of(x.dtype) in "cb":
        raise DtypeError(f"{name}: got {x.dtype}; expected real numbers, which have an order")
    return x


def integers(values: Any, name: str, what: str) -> Any:
    """Return positions as a NumPy array of integers that nobody else can write to.

    Those that differ between the examples of a vmap are a `Batched` of such an array. Those on a
    device stay there, as arrays of their library.
    """
    given = values if type(values) is np.ndarray else tensor(values, name)._raw
    if backends.kind_of(given.dtype) not in "iu" and 0 not in given.shape:
        raise DtypeError(
            f"{name}: {what} of {given.dtype}; expected integers, as of wg.astype({what}, wg.int64)"
        )
    if not is_visible(given):
        return rebatched(on_device(innermost(given)), given)
    return rebatched(all_values(given).astype(np.intp), given)


def all_below(values: np.ndarray, count: int) -> bool:
    """Return whether all integers are from 0 up to and without `count`."""
    if not values.size:
        return True
    if values.dtype == np.intp:
        return bool(np.maximum.reduce(values.view(np.uintp), axis=None) < count)  # -1 is large
    return bool(values.min() >= 0 and values.max() < count)


def array_like(array: Any, model: Any, dtype: Any = None) -> Any:
    """Return an array as a raw array of the library, and on the device, of another."""
    xp: Any = plain_namespace(model)
    if xp is backends.NUMPY:
        return np.asarray(array, dtype)
    if xp is not None and backends.namespace_of(array) is xp:
        return array if dtype is None or array.dtype == dtype else xp.astype(array, dtype)
    return xp.asarray(array, dtype=dtype)


def like(array: Any, x: Tensor) -> Tensor:
    """Return numbers, batched or not, as a tensor of the library, the device and the dtype of x."""
    values = all_values(array) if is_visible(array) else innermost(array)
    return wrap(rebatched(array_like(values, x._raw, x.dtype), array))


def misfit(name: str, expected: str, **given: Any) -> ShapeError:
    """Return the error that arguments, given by their names, do not have the expected shapes."""
    shapes = ", ".join(f"{what} of shape {tuple(x.shape)}" for what, x in given.items())
    return ShapeError(f"{name}: {shapes}; expected {expected}")


def check_option(name: str, what: str, value: Any, options: tuple[Any, ...]) -> None:
    """Raise unless the value of an argument is one of the options."""
    if value not in options:
        *others, last = map(repr, options)
        raise ValueError(f"{name}: {what} is {value!r}; expected {', '.join(others)} or {last}")


def broadcasts_to(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether an array of a shape broadcasts to another shape."""
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False
