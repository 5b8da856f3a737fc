"""Views: other shapes of the same memory, other orders of its axes, and parts of it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import named
from wengert.dialects.torch import dtypes, memory, viewing
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.table import as_view, both, direct, guarded, in_place_view, put, view
from wengert.dialects.torch.tensors import Native, Tensor, made, ns, wrap_native
from wengert.dialects.torch.viewing import PERMUTED, RESHAPED, SLICED, VIEWED, VIEWED_AS
from wengert.ops.copies import View

_ALL = slice(None)

# -- other shapes of the same elements -------------------------------------------------------------


@functools.partial(as_view, label="ViewBackward0", of=VIEWED)
def view_(self: K.Viewed, *size: K.Sizes) -> tuple[int, ...]:
    """Return the same memory in another shape."""
    return size


def view_or_bits(self: Any, *size: Any, dtype: Any = None) -> Tensor:
    """Return the same memory in another shape, or as numbers of another dtype."""
    if len(size) == 1 and isinstance(size[0], dtypes.dtype):
        dtype = size[0]
    found: Tensor = view_(self, *size) if dtype is None else _bits(self, dtype)
    return found


put(("Tensor.view",), view_or_bits)


@view("Tensor.view_as", of=VIEWED_AS, label="ViewBackward0")
def view_as(self: K.Viewed, other: K.ShapeOf) -> tuple[int, ...]:
    """Return the same memory in the shape of another tensor."""
    return other


@direct()
def _bits(self: K.Given, dtype: K.Dtype) -> Tensor:
    try:
        return made(self._raw.view(dtype))
    except ValueError as error:
        raise RuntimeError(f"view: {error}") from error


_reshaping = functools.partial(view, of=RESHAPED, label="ViewBackward0")


@_reshaping(*both("reshape"))
def reshape(input: K.Viewed, *shape: K.Sizes) -> tuple[int, ...]:
    """Return the elements in another shape: the same memory where that is possible."""
    return shape


@direct(*both("flatten"))
def flatten(input: K.Given, start_dim: K.Axis = 0, end_dim: K.Axis = -1) -> Tensor:
    """Return a tensor with the axes from one to another made one."""
    if start_dim > end_dim:
        raise RuntimeError("flatten(): start_dim comes after end_dim; swap them")
    shape = input._raw.shape
    if start_dim == end_dim and shape:
        return input
    joined = math.prod(shape[start_dim : end_dim + 1])
    return reshape(input, (*shape[:start_dim], joined, *shape[end_dim + 1 :]))


@_reshaping("unflatten")
def unflatten(input: K.Viewed, dim: K.Axis, sizes: K.Ints) -> tuple[int, ...]:
    """Return a tensor with one axis made several."""
    if not sizes:
        raise RuntimeError("unflatten: sizes is empty; give one length at least")
    shape = input._raw.shape
    return (*shape[:dim], *sizes, *shape[dim + 1 :])


def _number_of_axes(input: Any, dim: Any, first: int = 0) -> str:
    number = 0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1
    return f"SqueezeBackward{first + number}"


@view("squeeze", of=RESHAPED, label=_number_of_axes)
def squeeze(input: K.Viewed, dim: K.NamedAxes | None = None) -> tuple[int, ...]:
    """Return a tensor without axes of length 1: all of them, or those named."""
    lengths = enumerate(input._raw.shape)
    return tuple([n for a, n in lengths if n != 1 or (dim is not None and a not in dim)])


@view("unsqueeze", of=RESHAPED)
def unsqueeze(input: K.Viewed, dim: K.NewAxis) -> tuple[int, ...]:
    """Return a tensor with a new axis of length 1."""
    shape = input._raw.shape
    return (*shape[:dim], 1, *shape[dim:])


# -- the order of axes -----------------------------------------------------------------------------


def exchanged(ndim: int, one: int, other: int) -> tuple[int, ...]:
    """Return the order of axes with two exchanged; of no axes, none."""
    order = list(range(ndim))
    if order:
        order[one], order[other] = other, one
    return tuple(order)


@view(*both("transpose", "swapaxes", "swapdims"), of=PERMUTED)
def transpose(input: K.Viewed, dim0: K.Axis, dim1: K.Axis) -> tuple[int, ...]:
    """Return a tensor with two axes exchanged."""
    return exchanged(len(input._raw.shape), dim0, dim1)


def _reversed(input: Any) -> tuple[int, ...]:
    return tuple(range(len(input._raw.shape))[::-1])


@view("t", of=PERMUTED, label="TBackward0")
def t(input: K.Viewed) -> tuple[int, ...]:
    """Return a matrix with its axes exchanged."""
    ndim = len(input._raw.shape)
    if ndim > 2:
        raise RuntimeError(f"t() is for matrices, and this tensor has {ndim} axes; write x.mT")
    return _reversed(input)


@functools.partial(as_view, label="PermuteBackward0", of=PERMUTED)
def _T(input: K.Viewed) -> tuple[int, ...]:
    return _reversed(input)


@functools.partial(as_view, label="TransposeBackward0", of=PERMUTED)
def _transposed(input: K.Viewed) -> tuple[int, ...]:
    ndim = len(input._raw.shape)
    if ndim < 2:
        raise RuntimeError("mT is for matrices, and this tensor has 1 axis; write x[None].mT")
    return exchanged(ndim, ndim - 2, ndim - 1)


def _mT(self: Tensor) -> Tensor:
    return _transposed(self) if self._raw.shape else self


@functools.partial(guarded, label="ConjBackward0")
def _conjugated(input: K.Input) -> Native:
    return ns.conj(ns.matrix_transpose(input) if input.ndim else input)


@direct(*both("adjoint"))
def adjoint(input: K.Given) -> Tensor:
    """Return matrices transposed and conjugated."""
    return (_conjugated if input._raw.dtype.kind == "c" else _mT)(input)


def _H(self: Tensor) -> Tensor:
    if len(self._raw.shape) not in (0, 2):
        raise RuntimeError(
            f".H is for matrices, and this tensor has {len(self._raw.shape)} axes; for batches "
            "of matrices write x.mH"
        )
    return adjoint(self)


for _name, _function in {"T": _T, "mT": _mT, "H": _H, "mH": adjoint}.items():
    put((f"Tensor.{_name}",), property(_function))


@view("permute", of=PERMUTED)
def permute(input: K.Viewed, *dims: K.SeveralAxes) -> tuple[int, ...]:
    """Return a tensor with its axes in another order."""
    if len(dims) != len(input._raw.shape):
        raise misfit("permute", "each axis once", input=input, dims=dims)
    return dims


@view(*both("movedim", "moveaxis"), label="PermuteBackward0")
def movedim(input: K.Viewed, source: K.NamedAxes, destination: K.NamedAxes) -> View:
    """Return a tensor with axes at `source` moved to `destination`."""
    return lambda x: ns.moveaxis(x, source, destination)


# -- shapes in place -------------------------------------------------------------------------------

_squeeze_label = functools.partial(_number_of_axes, first=3)
put(("Tensor.squeeze_",), in_place_view(squeeze, RESHAPED, _squeeze_label))
put(("Tensor.unsqueeze_",), in_place_view(unsqueeze, RESHAPED, "UnsqueezeBackward1"))
put(("Tensor.t_",), in_place_view(t, PERMUTED, "TBackward1", undoes_itself=True))
put(
    ("Tensor.transpose_", "Tensor.swapaxes_", "Tensor.swapdims_"),
    in_place_view(transpose, PERMUTED, "TransposeBackward1", undoes_itself=True),
)


# -- parts -----------------------------------------------------------------------------------------


def _writeable(x: Native) -> Native:
    """Return a tensor that NumPy lets only be read, to be written to as its memory can be."""
    raw = x._raw
    if type(raw) is np.ndarray and not raw.flags.writeable and memory.owner(raw).flags.writeable:
        raw.flags.writeable = True
    return x


@view("Tensor.expand", *both("broadcast_to"))
def expand(input: K.Viewed, *size: K.Sizes, implicit: Any = False) -> View:
    """Return a tensor repeated along axes of length 1, without a copy; -1 keeps a length."""
    mine = input._raw.shape
    old = (-1,) * (len(size) - len(mine)) + mine
    shape = [m if n == -1 else n for n, m in zip(size, old, strict=False)]
    return lambda x: _writeable(ns.broadcast_to(x, shape))


def _as_another(name: str, function: Callable[..., Any]) -> None:
    """Offer the method that gives a tensor the shape of another."""

    @direct(f"Tensor.{name}_as")
    @named(f"{name}_as", f"Do `{name}` with the shape of another tensor.")
    def method(self: K.Given, other: K.ShapeOf) -> Tensor:
        return function(self, other)


_as_another("reshape", reshape)
_as_another("expand", expand)


def along(x: Any, axis: int, part: Any) -> tuple[Any, ...]:
    """Return the parts that select of a tensor by one part along an axis, and all along others."""
    return (*(_ALL,) * axis, part, *(_ALL,) * (len(x._raw.shape) - axis - 1))


@view("narrow", of=SLICED, label="SliceBackward0")
def narrow(input: K.Viewed, dim: K.Axis, start: K.Int, length: K.Int) -> tuple[Any, ...]:
    """Return so many elements along one axis."""
    shape = input._raw.shape
    if not shape or length < 0:
        raise misfit("narrow", "a length of 0 or more, and an axis", input=input, length=length)
    n = shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"narrow(): start is {start}; give a number from {-n} to {n}")
    first = start + n if start < 0 else start
    if first + length > n:
        raise RuntimeError(f"narrow(): {length} elements from {first} on go beyond an axis of {n}")
    return along(input, dim, slice(first, first + length))


@view("select", of=SLICED)
def select(input: K.Viewed, dim: K.Axis, index: K.Int) -> tuple[Any, ...]:
    """Return the elements at one index of an axis, which they lack."""
    shape = input._raw.shape
    n = shape[dim] if shape else 0
    if not -n <= index < n:
        raise misfit("select", f"an index on axis {dim}", IndexError, input=input, index=index)
    return along(input, dim, index % n)


def diagonals(input: Native, offset: int, dim1: int, dim2: int) -> Native:
    """Return the diagonals of the matrices on two axes, as a new last axis."""
    check_different(dim1, dim2)
    return _writeable(ns.diagonal(input, offset=offset, axis1=dim1, axis2=dim2))


def check_different(dim1: int, dim2: int) -> None:
    """Raise if two axes are one."""
    if dim1 == dim2:
        raise RuntimeError(f"dim1 and dim2 are both axis {dim1}; give two different ones")


@view("diagonal")
def diagonal(input: K.Viewed, offset: K.Int = 0, dim1: K.Axis = 0, dim2: K.Axis = 1) -> View:
    """Return the diagonals of the matrices on two axes, as a new last axis."""
    return lambda x: diagonals(x, offset, dim1, dim2)


@view("Tensor.unfold")
def unfold(self: K.Viewed, dimension: K.Axis, size: K.Int, step: K.Int) -> View:
    """Return the windows of a size along an axis, every `step` elements, as a new last axis."""
    shape = self._raw.shape
    length = shape[dimension] if shape else 1
    if not 0 <= size <= length or step <= 0:
        raise misfit(
            "unfold", f"a size of {length} at most, a step of 1 or more", size=size, step=step
        )
    return lambda x: _windows(x, dimension, size, step)


def _windows(x: Native, axis: int, size: int, step: int) -> Native:
    shape = x.shape
    if not size:
        lengths = (*shape[:axis], (shape[axis] if shape else 1) // step + 1, *shape[axis + 1 :], 0)
        return wrap_native(np.zeros(lengths, x.dtype))

    def windows(array: np.ndarray) -> np.ndarray:
        if not array.shape:
            return array.reshape(1)
        found = np.lib.stride_tricks.sliding_window_view(array, size, axis, writeable=True)
        return found[(_ALL,) * axis + (slice(None, None, step),)]

    positions = windows(np.arange(x.size).reshape(shape))
    found = ns.gather_flat(x, shape=positions.shape, positions=positions)
    raw = x._raw
    return wrap_native(windows(raw), found._node) if type(raw) is np.ndarray else found


# -- any strides -----------------------------------------------------------------------------------


class Strides(NamedTuple):
    """A view with any strides: these, and the positions of its elements in the tensor it is of."""

    strides: tuple[int, ...]
    #: how far from the first element of the tensor it begins
    start: int
    #: the strides that the tensor had
    before: tuple[int, ...]
    positions: np.ndarray


def _strided(x: Native, view: Strides) -> Native:
    raw, shape = x._raw, view.positions.shape
    found = ns.gather_flat(x, shape=shape, positions=view.positions)
    if type(raw) is not np.ndarray or _in_elements(raw) != view.before:
        return found
    item, distance = raw.dtype.itemsize, abs(view.start)
    step = item if view.start >= 0 else -item
    # from the array itself, so that writes are counted with its own
    ahead = np.lib.stride_tricks.as_strided(raw, (distance + 1,), (step,))[distance:]
    steps = [s * item for s in view.strides]
    return wrap_native(np.lib.stride_tricks.as_strided(ahead, shape, steps), found._node)


def _in_elements(raw: np.ndarray) -> tuple[int, ...]:
    return tuple(s // raw.dtype.itemsize for s in raw.strides)


@direct(*both("as_strided"), differs="elements of the memory that are not the tensor's are refused")
def as_strided(
    input: K.Given, size: K.Ints, stride: K.Ints, storage_offset: K.Int | None = None
) -> Tensor:
    """Return a view of a tensor's elements with any strides in memory."""
    if len(size) != len(stride):
        raise misfit("as_strided", "a stride for each axis", size=size, stride=stride)
    raw = backends.to_numpy(input._raw)
    whole = memory.owner(raw)
    first: int = (raw.ctypes.data - whole.ctypes.data) // raw.dtype.itemsize
    begin = first if storage_offset is None else storage_offset
    places = begin + _offsets(size, stride)
    numbers = np.full(whole.nbytes // raw.dtype.itemsize, -1)
    numbers[first + _offsets(raw.shape, _in_elements(raw))] = np.arange(raw.size).reshape(raw.shape)
    inside = not places.size or (places.min() >= 0 and places.max() < numbers.size)
    positions = numbers[places] if inside else places
    if positions.size and (not inside or positions.min() < 0):
        raise misfit(
            "as_strided",
            f"a part of its {raw.size} elements",
            size=size,
            stride=stride,
            start=begin,
        )
    strides = Strides(stride, begin - first, _in_elements(raw), positions)
    return viewing.viewed(input, lambda x: _strided(x, strides), "AsStridedBackward0")


def _offsets(shape: Any, strides: Any) -> Any:
    """Return how far from the first one the elements of an array are in memory."""
    found = np.zeros(shape, np.intp)
    for axis, (n, step) in enumerate(zip(shape, strides, strict=True)):
        found += (np.arange(n) * step).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return found


# -- complex numbers -------------------------------------------------------------------------------


@direct("real")
def real(input: K.Given) -> Tensor:
    """Return the real parts, a view; a real tensor is its own."""
    if input._raw.dtype.kind != "c":
        return input
    return viewing.viewed(input, ns.real, "SelectBackward0")


@view("imag", label="SelectBackward0", method=False)
def imag(input: K.Complex) -> View:
    """Return the imaginary parts of a complex tensor, a view."""
    return ns.imag


def _assigned(part: Tensor, value: Any) -> None:
    part[...] = value


put(("Tensor.real",), property(real, lambda self, value: _assigned(real(self), value)))
put(("Tensor.imag",), property(imag, lambda self, value: _assigned(imag(self), value)))


@view("view_as_real", method=False)
def view_as_real(input: K.Complex) -> View:
    """Return complex numbers as pairs of real ones on a new last axis, a view."""
    return _pairs


def _pairs(x: Native) -> Native:
    found = ns.stack([ns.real(x), ns.imag(x)], axis=-1)
    raw = x._raw
    if type(raw) is not np.ndarray:
        return found
    half = np.dtype(f"f{raw.dtype.itemsize // 2}")
    return wrap_native(raw[..., None].view(half), found._node)


@view("view_as_complex", method=False)
def view_as_complex(input: K.Floating) -> View:
    """Return pairs of real numbers on the last axis as complex ones, a view."""
    if input.shape[-1:] != (2,):
        raise misfit("view_as_complex", "a last axis of 2 elements", input=input)
    return _joined_pairs


def _joined_pairs(x: Native) -> Native:
    found, raw = ns.complex(x[..., 0], x[..., 1]), x._raw
    if type(raw) is not np.ndarray:
        return found
    return wrap_native(raw.view(np.dtype(f"c{raw.dtype.itemsize * 2}"))[..., 0], found._node)
