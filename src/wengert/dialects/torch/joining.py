"""Tensors joined along an axis, split into parts, and broadcast against each other."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Quick, named
from wengert.dialects.torch import dtypes
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.copies import in_order
from wengert.dialects.torch.devices import Size, sized
from wengert.dialects.torch.table import as_is, as_view, both, direct, guarded, offered, put, view
from wengert.dialects.torch.tensors import Native, Tensor, astype, fast, ns, wrap_native
from wengert.dialects.torch.viewing import RESHAPED
from wengert.dialects.torch.views import along, expand, reshape
from wengert.ops import joining

# -- splits ----------------------------------------------------------------------------------------


_ALL = slice(None)
#: What makes views: for each of them, what it selects along each axis.
Parts = list[tuple[Any, ...]]


@view("unbind")
def unbind(input: K.Viewed, dim: K.Axis = 0) -> Parts:
    """Return the parts along an axis, which they lack."""
    shape = input._raw.shape
    if not shape:
        raise IndexError("a single number has no axis 0; write x.reshape(1) first")
    return [along(input, dim, k) for k in range(shape[dim])]


def _length(x: Any, axis: int, count: int = 1) -> int:
    """Return the length of the axis that is split, into a number of parts or parts of a size."""
    if not x._raw.shape:
        raise RuntimeError("a single number has no axis to split; write x.reshape(1) first")
    length: int = x._raw.shape[axis]
    if count < 0 or (not count and length):
        raise RuntimeError(f"an axis of {length} elements is split by {count}; give 1 or more")
    return length


def _split(x: Any, axis: int, sizes: Iterable[int]) -> Parts:
    before, after = (_ALL,) * axis, (_ALL,) * (len(x._raw.shape) - axis - 1)
    parts: Parts = []
    start = 0
    for size in sizes:
        parts.append((*before, slice(start, start + size), *after))
        start += size
    return parts


def _even(length: int, size: int) -> list[int]:
    return [min(size, length - k) for k in range(0, length, size or 1)] or [0]


def _split_label(tensor: Any, sizes: Any, dim: Any) -> str:
    return f"Split{'WithSizes' if isinstance(sizes, (tuple, list)) else ''}Backward0"


@view(*both("split", "split_with_sizes"), label=_split_label)
def split(tensor: K.Viewed, split_size_or_sections: K.IntOrInts, dim: K.Axis = 0) -> Parts:
    """Return parts of one size along an axis, the last perhaps shorter, or of given sizes."""
    if not isinstance(split_size_or_sections, tuple):
        length = _length(tensor, dim, split_size_or_sections)
        return _split(tensor, dim, _even(length, split_size_or_sections))
    sizes, length = split_size_or_sections, _length(tensor, dim)
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise misfit("split", f"sizes that add up to {length}", sizes=sizes, dim=dim)
    return _split(tensor, dim, sizes)


@view("chunk", label="SplitBackward0")
def chunk(input: K.Viewed, chunks: K.Int, dim: K.Axis = 0) -> Parts:
    """Return at most so many parts along an axis, of one size but for the last."""
    if chunks <= 0:
        raise RuntimeError(f"chunk: chunks is {chunks}; give 1 or more")
    length = _length(input, dim)
    return _split(input, dim, _even(length, -(-length // chunks)) if length else [0] * chunks)


def _parts(x: Any, given: Any, axis: int) -> Parts:
    """Return so many parts along an axis, or those between given positions."""
    length = _length(x, axis)
    if isinstance(given, tuple):
        bounds = [slice(a, b).indices(length) for a, b in itertools.pairwise([0, *given, length])]
        return [along(x, axis, slice(a, max(a, b))) for a, b, _ in bounds]
    if given <= 0:
        raise RuntimeError(f"tensor_split: got {given} sections; give 1 or more")
    return _split(x, axis, [length // given + (k < length % given) for k in range(given)])


@view("tensor_split", label="SliceBackward0", several=False)
def tensor_split(input: K.Viewed, indices_or_sections: K.IntOrInts, dim: K.Axis = 0) -> Parts:
    """Return so many parts along an axis, or those between given positions."""
    return _parts(input, indices_or_sections, dim)


def _split_along(name: str, least: int, axis: int) -> None:
    @view(name, label="SliceBackward0", several=False)
    @named(name, f"Return the parts along axis {axis}, so many or between given positions.")
    def split(input: K.Viewed, indices_or_sections: K.IntOrInts) -> Parts:
        shape = input._raw.shape
        if len(shape) < least:
            raise RuntimeError(f"{name}: the tensor has {len(shape)} axes; give {least} or more")
        given, at = indices_or_sections, 0 if len(shape) == 1 else axis
        if not isinstance(given, tuple) and shape[at] % max(given, 1):
            raise RuntimeError(
                f"{name}: axis {at} has {shape[at]} elements, which {given} parts do not "
                "divide; give a list of indices"
            )
        return _parts(input, given, at)


_split_along("hsplit", 1, 1)
_split_along("vsplit", 2, 0)
_split_along("dsplit", 3, 2)


# -- joins -----------------------------------------------------------------------------------------


def _at_once(operation: Any, label: str, new: int) -> Quick:
    """Return the short cut of a join of tensors of one dtype, by which they get some new axes."""
    join = fast(operation.op, lambda *_: NotImplemented, "biufc", 3, label=label, errors=None)

    def call(tensors: Any, dim: Any) -> Any:
        if type(tensors) not in (list, tuple) or not tensors or type(dim) is not int:
            return NotImplemented
        if dim < 0 and isinstance(tensors[0], Tensor):
            dim += len(tensors[0]._raw.shape) + new
        try:  # NumPy finds what is wrong, and the body has the words for it
            found = join(*tensors, axis=dim)
        except (IndexError, ValueError):
            return NotImplemented
        if found is not NotImplemented and not found._raw.flags.c_contiguous:
            found._raw = np.ascontiguousarray(found._raw)
        return found

    return Quick(call, None, {}, 2)


def _of_one_dtype(tensors: Sequence[Native], name: str) -> list[Native]:
    if not tensors:
        raise RuntimeError(f"{name}: got no tensors; give one at least")
    first = tensors[0]._raw.dtype
    others = [t._raw.dtype for t in tensors if t._raw.dtype is not first]
    if not others:
        return list(tensors)
    kind = functools.reduce(dtypes.joined, others, first)
    return [astype(x, kind) for x in tensors]


def _joined(tensors: Sequence[Native], dim: Any) -> Native:
    parts = _of_one_dtype(tensors, "cat")
    kept = [x for x in parts if x.shape != (0,)] or parts  # an empty list of numbers fits all
    for x in kept:
        if x.ndim != kept[0].ndim or not x.ndim:
            raise RuntimeError(
                f"cat: a tensor has {x.ndim} axes, and the first one {kept[0].ndim}; give them as "
                "many, and one at least; for numbers write torch.stack"
            )
    return in_order(ns.concat(kept, axis=K.axis_of(dim, kept[0], "cat")))


_cat = _at_once(joining.concat_along, "CatBackward0", 0)
_stack = _at_once(joining.stack_along, "StackBackward0", 1)


@offered("cat", "concat", "concatenate", method=False, label="CatBackward0", quick=_cat)
def cat(tensors: K.Tensors, dim: Any = 0) -> Native:
    """Return tensors joined along an axis."""
    if not tensors:
        raise as_is(ValueError("cat: got no tensors; give one at least"))
    return _joined(tensors, dim)


@offered("stack", method=False, quick=_stack)
def stack(tensors: K.Tensors, dim: Any = 0) -> Native:
    """Return tensors of one shape joined along a new axis."""
    parts = _of_one_dtype(tensors, "stack")
    for x in parts:
        if x.shape != parts[0].shape:
            raise misfit("stack", "one shape", first=parts[0], another=x)
    return in_order(ns.stack(parts, axis=K.axis_of(dim, parts[0], "stack", new=1)))


def _at_least(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Return a shape of at least so many axes."""
    if len(shape) >= ndim:
        return shape
    if ndim < 3:
        return (1,) * (ndim - len(shape)) + shape
    return (*shape, 1) if len(shape) == 2 else (1, *(shape or (1,)), 1)


def _stack_along(axis: int, ndim: int, *names: str) -> None:
    """Offer a function that joins tensors of at least so many axes; of 0, vectors as columns."""

    @offered(*names, method=False, label="CatBackward0")
    @named(names[0], f"Return tensors joined along axis {axis}; those with fewer axes get more.")
    def stack(tensors: K.Tensors) -> Native:
        parts = _of_one_dtype(tensors, names[0])
        parts = [ns.reshape(x, _at_least(x.shape, ndim)) if x.ndim < ndim else x for x in parts]
        if not ndim:
            parts = [x if x.ndim > 1 else ns.reshape(x, (x.size, 1)) for x in parts]
        return _joined(parts, min(axis, parts[0].ndim - 1))


_stack_along(1, 1, "hstack")
_stack_along(0, 2, "vstack", "row_stack")
_stack_along(2, 3, "dstack")
_stack_along(1, 0, "column_stack")


@offered("block_diag", method=False)
def block_diag(*tensors: K.Several) -> Native:
    """Return a matrix with matrices along its diagonal, and zeros elsewhere."""
    if not tensors:
        return wrap_native(np.zeros((1, 0), dtypes.default().numpy))
    if any(x.ndim > 2 for x in tensors):
        raise RuntimeError("block_diag: a tensor has more than 2 axes; give matrices")
    return in_order(ns.linalg.block_diag(*_of_one_dtype(tensors, "block_diag")))


def _check_vectors(tensors: Sequence[Any], name: str, least: int = 1) -> None:
    """Raise unless tensors are vectors of one dtype."""
    kinds = {x._raw.dtype for x in tensors}
    if len(kinds) != 1 or any(not least <= len(x._raw.shape) <= 1 for x in tensors):
        given = ", ".join(f"{list(x._raw.shape)} of {x._raw.dtype}" for x in tensors)
        raise RuntimeError(f"{name}: got {given or 'no tensors'}; give vectors of one dtype")


@direct("cartesian_prod")
def cartesian_prod(*tensors: K.SeveralGiven) -> Tensor:
    """Return all combinations of elements of several vectors, as rows."""
    _check_vectors(tensors, "cartesian_prod")
    return tensors[0] if len(tensors) == 1 else _product(*tensors)


@functools.partial(guarded, label="StackBackward0")
def _product(*tensors: K.Several) -> Native:
    indices = np.indices([x.size for x in tensors]).reshape(len(tensors), -1)
    return ns.stack([ns.take(x, k) for x, k in zip(tensors, indices, strict=True)], axis=1)


@offered("combinations", label="StackBackward0")
def combinations(input: K.Input, r: K.Int = 2, with_replacement: K.Bool = False) -> Native:
    """Return all choices of r elements of a vector, as rows."""
    if input.ndim != 1 or r < 0:
        raise misfit("combinations", "a vector, and r of 0 or more", input=input, r=r)
    if not r:
        return wrap_native(np.zeros(0, input.dtype))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    indices = np.array(list(choose(range(input.size), r)), np.intp).reshape(-1, r)
    return ns.take(input, indices, axis=0)


# -- broadcasting ----------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of some shapes broadcast to."""
    try:
        return sized(np.broadcast_shapes(*shapes))
    except ValueError as error:
        raise RuntimeError(f"the shapes {list(shapes)} do not broadcast together") from error


put(("broadcast_shapes",), broadcast_shapes)


@direct("broadcast_tensors")
def broadcast_tensors(*tensors: K.SeveralGiven) -> tuple[Tensor, ...]:
    """Return views of tensors with the shape that they broadcast to."""
    shape = broadcast_shapes(*(x._raw.shape for x in tensors))
    return tuple([x if x._raw.shape == shape else expand(x, shape) for x in tensors])


@direct("meshgrid")
def meshgrid(*tensors: K.SeveralGiven, indexing: Any = None) -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, of vectors of the coordinates along each axis."""
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing is {indexing}; give 'ij' or 'xy'")
    _check_vectors(tensors, "meshgrid", least=0)
    order = list(range(len(tensors)))
    if indexing == "xy" and len(tensors) > 1:
        order[:2] = 1, 0
    shape = [math.prod(tensors[k]._raw.shape) for k in order]
    grids = []
    for x, axis in zip(tensors, order, strict=True):
        line = [n if a == axis else 1 for a, n in enumerate(shape)]
        grids.append(expand(reshape(x, line), shape))
    return tuple(grids)


def _at_least_views(ndim: int) -> None:
    def step(input: K.Viewed) -> tuple[int, ...]:
        return _at_least(tuple(input._raw.shape), ndim)

    step.__name__ = f"atleast_{ndim}d"
    viewed = as_view(step, "UnsqueezeBackward0" if ndim > 1 else "ViewBackward0", of=RESHAPED)

    at = Argument(step.__name__, "tensors")

    @named(step.__name__, f"Return tensors with at least {ndim} axes.")
    def call(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 else tensors
        if isinstance(given, (list, tuple)):
            return tuple([call(x) for x in given])
        x = K.read_given(given, at)
        return x if len(x._raw.shape) >= ndim else viewed(x)

    put((call.__name__,), call)


for _ndim in (1, 2, 3):
    _at_least_views(_ndim)
