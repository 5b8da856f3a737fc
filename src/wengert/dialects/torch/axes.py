"""What functions along axes share: which axes are meant, elements along them, and dtypes."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from wengert.dialects.torch import dtypes
from wengert.dialects.torch.tensors import Tensor, astype, convert, mark, ns, static
from wengert.engine.tensor import Tensor as Native


def axis_of(dim: Any, ndim: int, name: str = "dim") -> int:
    """Return one axis, from 0; a tensor without axes counts as having one."""
    if isinstance(dim, bool) or not hasattr(type(dim), "__index__"):
        if not hasattr(dim, "_raw") or isinstance(static(dim), (bool, float, complex, list)):
            raise TypeError(f"{name} is a {type(dim).__name__}; give a whole number")
        dim = static(dim)
    axis = operator.index(dim)
    limit = max(ndim, 1)
    if not -limit <= axis < limit:
        raise IndexError(
            f"there is no axis {axis} here; the axes count from {-limit} to {limit - 1}"
        )
    return axis % limit


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that are meant, from 0: all of them for None and for no axis."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    return given_axes(dim, ndim)


def given_axes(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes that a program names: one, or a sequence of them, which may be empty."""
    given = dim if isinstance(dim, (tuple, list)) else (dim,)
    found = tuple([axis_of(d, ndim) for d in given])
    if len(set(found)) < len(found):
        twice = next(a for a in found if found.count(a) > 1)
        raise RuntimeError(f"axis {twice} is given twice; name each axis once")
    return found if ndim else ()


def truth(value: Any, name: str = "keepdim") -> bool:
    """Return an argument that must be a truth value."""
    if type(value) is not bool:
        raise TypeError(f"{name} is a {type(value).__name__}; give True or False")
    return value


# -- numbers ---------------------------------------------------------------------------------------


def tensor_of(value: Any, what: str = "input") -> Native:
    """Return a tensor as Wengert's; numbers and arrays are refused."""
    if not isinstance(value, (Tensor, Native)):
        raise TypeError(f"{what} is a {type(value).__name__}; give a tensor")
    return convert(value)


def kind_of(x: Native) -> str:
    """Return the letter of a tensor's kind of numbers: b, i, u, f or c."""
    letter: str = x._raw.dtype.kind
    return letter


def type_name(x: Native) -> str:
    """Return what PyTorch's errors call a tensor's dtype."""
    return dtypes.TYPES[x._raw.dtype.name]


def unable(name: str, x: Native) -> NotImplementedError:
    """Return the error for numbers that a function is not there for."""
    return NotImplementedError(
        f"{name} does not take a {type_name(x)}; convert the tensor first, as x.float()"
    )


def accumulated(x: Native, dtype: Any) -> Native:
    """Return x in the dtype that its sums have: the one asked for, or int64 for whole numbers."""
    if dtype is not None:
        return astype(x, dtypes.to_numpy(dtype))
    return astype(x, np.dtype(np.int64)) if kind_of(x) in "biu" else x


def lines_of(x: Native, dim: Any) -> tuple[Native, int]:
    """Return a tensor with at least one axis, and which axis is meant."""
    axis = axis_of(dim, x.ndim)
    return (x if x.ndim else ns.reshape(x, (1,))), axis


def labelled(x: Native, label: str) -> Native:
    """Return a tensor whose node has PyTorch's name for it."""
    if x._node is not None:
        mark(x._node, label)
    return x


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """Return the shape of what is left of a shape without some axes."""
    if keepdim:
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def check_real(x: Native, name: str) -> None:
    """Raise if numbers have no order."""
    if kind_of(x) == "c":
        raise RuntimeError(f"{name}() takes no complex numbers; write x.real or x.abs()")


def check_some(x: Native, axes: tuple[int, ...], name: str) -> None:
    """Raise if there is nothing along an axis."""
    for a in axes:
        if not x.shape[a]:
            raise IndexError(f"{name}(): axis {a} has no elements to choose from")


# -- elements along an axis ------------------------------------------------------------------------


def part(x: Native, axis: int, start: int | None, stop: int | None) -> Native:
    """Return the elements from start to stop along an axis."""
    return x[(*[slice(None)] * axis, slice(start, stop))]


def taken(x: Native, places: Native, axis: int, shape: Any = None) -> Native:
    """Return the elements of x at places along an axis, perhaps in another shape.

    `places` has the lengths of x along all other axes.
    """
    shape = places.shape if shape is None else shape
    if type(x._raw) is not np.ndarray or type(places._raw) is not np.ndarray:
        found = ns.take_along_axis(x, places, axis=axis)
        return found if found.shape == shape else ns.reshape(found, shape)
    lengths = x.shape
    before, inner = math.prod(lengths[:axis]), math.prod(lengths[axis + 1 :])
    flat = places._raw.reshape(before, places.shape[axis], inner)
    flat = flat + np.arange(0, before * lengths[axis], lengths[axis] or 1).reshape(-1, 1, 1)
    if inner != 1:
        flat = flat * inner + np.arange(inner)
    return ns.gather_flat(x, shape=tuple(shape), positions=flat)


def picked(x: Native, places: Any, axis: int, keepdim: bool, kind: Any, shape: Any) -> Any:
    """Return one element of each line of x and its place: the derivative goes there.

    `places` has the axis that lines are along, of length 1; `shape` is that of the given tensor.
    """
    left = kept_shape(shape, (axis,), keepdim)
    values = taken(x, places, axis, left)
    return kind(values, places if places.shape == left else ns.reshape(places, left))
