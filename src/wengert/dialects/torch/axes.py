"""What functions along axes share: kinds of numbers, shapes, elements along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import backends
from wengert.dialects.torch import dtypes
from wengert.dialects.torch.tensors import Native, mark, ns
from wengert.ops.ranks import taken


def kind_of(x: Native) -> str:
    """Return the letter of a tensor's kind of numbers: b, i, u, f or c."""
    letter: str = backends.kind_of(x._raw.dtype)
    return letter


def type_name(x: Native) -> str:
    """Return what PyTorch's errors call a tensor's dtype."""
    return dtypes.TYPES[x._raw.dtype.name]


def unable(name: str, x: Native) -> NotImplementedError:
    """Return the error for numbers that a function is not there for."""
    return NotImplementedError(
        f"{name} does not take a {type_name(x)}; convert the tensor first, as x.float()"
    )


def misfit(
    name: str, expected: str, error: Callable[[str], Exception] = RuntimeError, /, **given: Any
) -> Exception:
    """Return the error for arguments that do not fit: what was given, and what to give."""
    texts = [
        f"{what} of shape {list(value.shape)}" if hasattr(value, "shape") else f"{what}={value!r}"
        for what, value in given.items()
    ]
    return error(f"{name}(): got {', '.join(texts)}; give {expected}")


def lines_of(x: Native) -> Native:
    """Return a tensor with at least one axis."""
    return x if x.ndim else ns.reshape(x, (1,))


def labelled(x: Native, label: str) -> Native:
    """Return a tensor whose node has PyTorch's name for it."""
    if x._node is not None:
        mark(x._node, label)
    return x


def check_same(*tensors: Any, name: str = "") -> None:
    """Raise unless tensors have one dtype."""
    kind = tensors[0]._raw.dtype
    if any(x._raw.dtype != kind for x in tensors):
        kinds = " and ".join(map(type_name, tensors))
        raise RuntimeError(
            f"{name}: tensors of different dtypes, {kinds}; convert, as y.to(x.dtype)"
        )


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """Return the shape of what is left of a shape without some axes."""
    if keepdim:
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def check_some(x: Native, axes: tuple[int, ...], name: str) -> None:
    """Raise if there is nothing along an axis."""
    for a in axes:
        if not x.shape[a]:
            raise IndexError(f"{name}(): axis {a} has no elements to choose from")


# -- elements along an axis ------------------------------------------------------------------------


def picked(x: Native, indices: Any, axis: int, keepdim: bool, kind: Any, shape: Any) -> Any:
    """Return one element of each line of x and its index: the derivative goes there.

    `indices` has the axis that lines are along, of length 1; `shape` is that of the given tensor.
    """
    left = kept_shape(shape, (axis,), keepdim)
    values = taken(x, indices, axis, left)
    return kind(values, indices if indices.shape == left else ns.reshape(indices, left))
