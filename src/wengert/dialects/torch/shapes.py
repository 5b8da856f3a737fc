"""Functions that move elements: views, joins, splits, repeats."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import weakref
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.dialects.torch import dtypes, memory
from wengert.dialects.torch.axes import axis_of, given_axes
from wengert.dialects.torch.devices import Size, sized
from wengert.dialects.torch.table import as_is, as_view, guarded, offered, plain, put, view
from wengert.dialects.torch.tensors import Tensor, convert, made, ns, static
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.copies import View


def both(*names: str) -> tuple[str, ...]:
    """Return names of functions that are methods as well."""
    return (*names, *(f"Tensor.{name}" for name in names))


def integers(given: tuple[Any, ...], name: str = "size") -> tuple[int, ...]:
    """Return whole numbers that a program gives one by one or as one sequence."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    return tuple([integer(n, name) for n in given])


def integer(value: Any, name: str = "size") -> int:
    """Return one whole number, which may be given as a tensor."""
    if type(value) is int:
        return value
    if hasattr(value, "_raw") and not value._raw.shape:
        value = static(value)
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name}: got a value of type {type(value).__name__}; give a whole number")
    return operator.index(value)


def filled_shape(sizes: tuple[int, ...], count: int, name: str = "view") -> tuple[int, ...]:
    """Return a shape for so many elements, in which one length may be -1."""
    if any(n < -1 for n in sizes):
        raise RuntimeError(
            f"the length {min(sizes)} in {list(sizes)} is negative; give 0 or more, or -1 once"
        )
    if -1 not in sizes:
        rest = math.prod(sizes)
    else:
        if sizes.count(-1) > 1:
            raise RuntimeError("more than one length is -1; write -1 once")
        rest = math.prod(n for n in sizes if n != -1)
        if not rest and not count:
            raise RuntimeError(
                f"reshape of a tensor without elements into {list(sizes)}: any length would do "
                "for -1; give the number"
            )
        if rest and not count % rest:
            sizes = tuple(count // rest if n == -1 else n for n in sizes)
            rest = count
    if rest != count:
        raise RuntimeError(
            f"{count} elements do not fit into shape {list(sizes)}; {name} keeps the number of "
            "elements"
        )
    return sizes


# -- other shapes of the same elements -------------------------------------------------------------


def _in_shape(input: Native, shape: tuple[int, ...]) -> Any:
    return ns.reshape(input, shape)


_view = as_view(_in_shape, "ViewBackward0")


def _reshaped(input: Any, sizes: tuple[int, ...], name: str = "reshape") -> Tensor:
    tensor = _tensor(input, name)
    found: Tensor = _view(tensor, filled_shape(sizes, math.prod(tensor._raw.shape), name))
    if found._base is None and found._node is not None:
        found._node.label = "UnsafeViewBackward0"
    return found


def _tensor(value: Any, name: str, what: str = "input") -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): {what} is a {type(value).__name__}; write torch.tensor(x)")
    return value


def _usable(value: Any, name: str) -> Tensor:
    """Return a tensor, of which an error comes first if it is a view that is of no more use."""
    tensor = _tensor(value, name)
    memory.check_usable(tensor)
    return tensor


@plain("Tensor.view")
def view_(self: Any, *size: Any, dtype: Any = None) -> Tensor:
    """Return the same memory in another shape, or as numbers of another dtype."""
    if dtype is not None or (len(size) == 1 and isinstance(size[0], dtypes.dtype)):
        return _view_dtype(self, dtype if dtype is not None else size[0])
    if not size:
        raise TypeError("view(): expected sizes or a dtype, such as x.view(2, 3)")
    found = _reshaped(self, integers(size), "view")
    if found._base is None and type(found._raw) is np.ndarray and found._raw.size:
        raise RuntimeError(
            f"the elements of shape {list(self._raw.shape)} are not in one piece of memory, so "
            "there is no such view; write .reshape(...) instead"
        )
    return found


def _view_dtype(tensor: Tensor, dtype: Any) -> Tensor:
    kind = dtypes.to_numpy(dtype)
    if not tensor._raw.shape and kind.itemsize != tensor._raw.dtype.itemsize:
        raise RuntimeError("a single number keeps its size; write x.reshape(1) first")
    try:
        return made(tensor._raw.view(kind))
    except ValueError as error:
        raise RuntimeError(f"view: {error}") from error


@plain(*both("reshape"))
def reshape(input: Any, *shape: Any, **options: Any) -> Tensor:
    """Return the elements in another shape: the same memory where that is possible."""
    return _reshaped(input, integers(_or_named(shape, options, "shape", "size")))


def _or_named(given: tuple[Any, ...], options: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """Return what is given by position, or else by one of some names."""
    for name in names:
        if name in options and not given:
            given = (options.pop(name),)
    if options:
        raise TypeError(f"there is no argument '{next(iter(options))}' here")
    if not given:
        raise TypeError(f"give the argument '{names[0]}'")
    return given


@plain("Tensor.view_as")
def view_as(self: Any, other: Any) -> Tensor:
    """Return the same memory in the shape of another tensor."""
    found: Tensor = view_(self, tuple(_tensor(other, "view_as", "other")._raw.shape))
    return found


@plain("Tensor.reshape_as")
def reshape_as(self: Any, other: Any) -> Tensor:
    """Return the elements in the shape of another tensor."""
    return _reshaped(self, tuple(_tensor(other, "reshape_as", "other")._raw.shape))


@plain(*both("flatten"))
def flatten(input: Any, start_dim: Any = 0, end_dim: Any = -1) -> Tensor:
    """Return a tensor with the axes from one to another made one."""
    shape = tuple(_tensor(input, "flatten")._raw.shape)
    first, last = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten(): start_dim comes after end_dim; swap them")
    if not shape:
        return _reshaped(input, (1,))
    if first == last:
        return input
    return _reshaped(
        input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
    )


@plain(*both("unflatten"))
def unflatten(input: Any, dim: Any, sizes: Any) -> Tensor:
    """Return a tensor with one axis made several."""
    shape = tuple(_tensor(input, "unflatten")._raw.shape)
    axis = axis_of(dim, len(shape))
    new = integers((sizes,) if isinstance(sizes, (tuple, list)) else (tuple(sizes),))
    if not new:
        raise RuntimeError("unflatten: sizes is empty; give one length at least")
    new = filled_shape(new, shape[axis], "unflatten")
    return _reshaped(input, (*shape[:axis], *new, *shape[axis + 1 :]))


@plain(*both("ravel"))
def ravel(input: Any) -> Tensor:
    """Return all elements on one axis."""
    _tensor(input, "ravel")
    return _reshaped(contiguous(input), (-1,) if input._raw.shape else (1,), "ravel")


def _without(input: Native, dims: tuple[int, ...]) -> Any:
    shape = input.shape
    return ns.reshape(input, tuple(n for a, n in enumerate(shape) if n != 1 or a not in dims))


_SQUEEZES = [as_view(_without, f"SqueezeBackward{k}") for k in range(3)]


def _squeezed(tensor: Tensor, dim: Any) -> tuple[int, tuple[int, ...]]:
    ndim = len(tensor._raw.shape)
    if dim is None:
        return 0, tuple(range(ndim))
    if isinstance(dim, (tuple, list)):
        return 2, given_axes(dim, ndim)
    return 1, (axis_of(dim, ndim),)


@plain(*both("squeeze"))
def squeeze(input: Any, dim: Any = None) -> Tensor:
    """Return a tensor without axes of length 1: all of them, or those named."""
    form, axes = _squeezed(_tensor(input, "squeeze"), dim)
    found: Tensor = _SQUEEZES[form](input, axes)
    return found


@view("unsqueeze")
def unsqueeze(input: Native, dim: Any) -> Any:
    """Return a tensor with a new axis of length 1."""
    return ns.expand_dims(input, axis=axis_of(dim, input.ndim + 1))


# -- the order of axes -----------------------------------------------------------------------------


def _exchanged(input: Native, one: int, other: int) -> Any:
    order = list(range(input.ndim))
    if order:
        order[one], order[other] = other, one
    return ns.permute_dims(input, tuple(order))


@view(*both("transpose", "swapaxes", "swapdims"))
def transpose(input: Native, dim0: Any, dim1: Any) -> Any:
    """Return a tensor with two axes exchanged."""
    return _exchanged(input, axis_of(dim0, input.ndim), axis_of(dim1, input.ndim))


@view("t", label="TBackward0")
def t(input: Native) -> Any:
    """Return a matrix with its axes exchanged."""
    if input.ndim > 2:
        raise RuntimeError(
            f"t() is for matrices, and this tensor has {input.ndim} axes; write x.mT"
        )
    return ns.permute_dims(input, tuple(reversed(range(input.ndim))))


@functools.partial(as_view, label="PermuteBackward0")
def _T(input: Native) -> Any:
    return ns.permute_dims(input, tuple(reversed(range(input.ndim))))


def _matrices_transposed(input: Native, name: str = "mT") -> Any:
    if not input.ndim:  # complex, and on the way to be conjugated
        return input
    if input.ndim < 2:
        raise RuntimeError(
            f".{name} swaps rows and columns, and this tensor has {input.ndim} axes; give a "
            "matrix, or a batch of matrices"
        )
    return _exchanged(input, input.ndim - 2, input.ndim - 1)


_mT = as_view(_matrices_transposed, "TransposeBackward0")


def _conjugate(input: Any, name: str) -> Any:
    return ns.conj(_matrices_transposed(convert(input), name))


_conjugated = guarded(_conjugate, "ConjBackward0")


def _adjoint(input: Any, name: str) -> Tensor:
    tensor = _tensor(input, name)
    if tensor._raw.dtype.kind == "c":
        found: Tensor = _conjugated(tensor, name)
        return found
    return _mT(tensor, name) if tensor._raw.shape else tensor


@plain(*both("adjoint"))
def adjoint(input: Any) -> Tensor:
    """Return matrices transposed and conjugated."""
    return _adjoint(input, "adjoint()")


def _H(self: Tensor) -> Tensor:
    if len(self._raw.shape) not in (0, 2):
        raise RuntimeError(
            f".H is for matrices, and this tensor has {len(self._raw.shape)} axes; for batches "
            "of matrices write x.mH"
        )
    return _adjoint(self, "H")


put(("Tensor.T",), property(_T))
put(("Tensor.mT",), property(lambda self: _mT(self) if self._raw.shape else self))
put(("Tensor.H",), property(_H))
put(("Tensor.mH",), property(lambda self: _adjoint(self, "mH")))


@functools.partial(as_view, label="PermuteBackward0")
def _permuted(input: Native, order: tuple[int, ...]) -> Any:
    return ns.permute_dims(input, order)


@plain(*both("permute"))
def permute(input: Any, *dims: Any, **options: Any) -> Tensor:
    """Return a tensor with its axes in another order."""
    ndim = len(_tensor(input, "permute")._raw.shape)
    given = integers(_or_named(dims, options, "dims"), "dims")
    if len(given) != ndim:
        raise RuntimeError(
            f"permute: {len(given)} axes are named, and the tensor has {ndim}; name each once"
        )
    found: Tensor = _permuted(input, given_axes(given, ndim))
    return found


@plain(*both("movedim", "moveaxis"))
def movedim(input: Any, source: Any, destination: Any) -> Tensor:
    """Return a tensor with axes at `source` moved to `destination`."""
    ndim = len(_tensor(input, "movedim")._raw.shape)
    start, end = given_axes(source, ndim), given_axes(destination, ndim)
    if len(start) != len(end):
        raise RuntimeError(
            f"movedim: {source} and {destination} differ in length; give pairs of axes"
        )
    order = [a for a in range(ndim) if a not in start]
    for to, axis in sorted(zip(end, start, strict=True)):
        order.insert(to, axis)
    found: Tensor = _permuted(input, tuple(order))
    return found


# -- parts -----------------------------------------------------------------------------------------


def in_order(x: Native) -> Native:
    """Return a new tensor with its elements in memory in their order, as PyTorch has them."""
    raw = x._raw
    if type(raw) is not np.ndarray or raw.flags.c_contiguous:
        return x
    return wrap_native(np.ascontiguousarray(raw), x._node)


def _writeable(raw: Any) -> Any:
    """Return an array that NumPy lets only be read, to be written to as its memory can be."""
    if type(raw) is np.ndarray and not raw.flags.writeable and memory.owner(raw).flags.writeable:
        raw.flags.writeable = True
    return raw


def expanded(input: Native, sizes: tuple[int, ...]) -> Any:
    """Return a tensor repeated along axes of length 1; -1 is for a length that stays."""
    lead = len(sizes) - input.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand: {len(sizes)} lengths {list(sizes)} for shape {list(input.shape)}, of "
            f"{input.ndim} axes; give one for each axis at least"
        )
    shape = []
    for place, n in enumerate(sizes):
        old = None if place < lead else input.shape[place - lead]
        if (n == -1 and old is None) or n < -1 or (n != -1 and old not in (None, 1, n)):
            raise RuntimeError(
                f"expand: the size {n} at dimension {place} does not fit shape "
                f"{list(input.shape)}; only lengths of 1 can grow, and -1 keeps a length"
            )
        shape.append(old if n == -1 else n)
    found = ns.broadcast_to(input, tuple(shape))
    return wrap_native(_writeable(found._raw), found._node)


_expand = as_view(expanded, "ExpandBackward0")


@plain("Tensor.expand")
def expand(self: Any, *size: Any, implicit: bool = False) -> Tensor:
    """Return a tensor repeated along axes of length 1, without a copy."""
    found: Tensor = _expand(self, integers(size))
    return found


@plain("Tensor.expand_as")
def expand_as(self: Any, other: Any) -> Tensor:
    """Return a tensor expanded to the shape of another."""
    found: Tensor = _expand(self, tuple(_tensor(other, "expand_as", "other")._raw.shape))
    return found


@plain(*both("broadcast_to"))
def broadcast_to(input: Any, *size: Any) -> Tensor:
    """Return a tensor expanded to a shape."""
    found: Tensor = _expand(input, integers(size))
    return found


def sliced(input: Native, axis: int, part: slice) -> Any:
    """Return a slice along one axis."""
    return input[(slice(None),) * axis + (part,)]


_slice = as_view(sliced, "SliceBackward0")


@plain(*both("narrow"))
def narrow(input: Any, dim: Any, start: Any, length: Any) -> Tensor:
    """Return so many places along one axis."""
    shape = _tensor(input, "narrow")._raw.shape
    if not shape:
        raise RuntimeError("narrow(): a single number has no axis")
    axis = axis_of(dim, len(shape))
    first, count, n = integer(start, "start"), integer(length, "length"), shape[axis]
    if count < 0:
        raise RuntimeError("narrow(): the length is negative; give 0 or more")
    if not -n <= first <= n:
        raise IndexError(f"narrow(): start is {first}; give a number from {-n} to {n}")
    first = first + n if first < 0 else first
    if first + count > n:
        raise RuntimeError(f"narrow(): {count} elements from {first} on go beyond an axis of {n}")
    found: Tensor = _slice(input, axis, slice(first, first + count))
    return found


def picked(input: Native, axis: int, place: int) -> Any:
    """Return the elements at one place of an axis, which they lack."""
    found = input[(slice(None),) * axis + (place,)]
    if type(input._raw) is np.ndarray and not found._raw.shape:
        return wrap_native(input._raw[(place, ...)], found._node)  # NumPy makes a number of it
    return found


_select = as_view(picked, "SelectBackward0")


def _place(shape: Any, dim: Any, index: Any, name: str) -> tuple[int, int]:
    if not shape:
        raise IndexError(f"{name}(): a single number has no axis")
    axis, place = axis_of(dim, len(shape)), integer(index, "index")
    if not -shape[axis] <= place < shape[axis]:
        raise IndexError(
            f"{name}(): there is no index {place} on axis {axis} of shape {list(shape)}"
        )
    return axis, place % shape[axis]


@plain(*both("select"))
def select(input: Any, dim: Any, index: Any) -> Tensor:
    """Return the elements at one place of an axis, which they lack."""
    axis, place = _place(_usable(input, "select")._raw.shape, dim, index, "select")
    found: Tensor = _select(input, axis, place)
    return found


def diagonals(input: Native, offset: int, dim1: int, dim2: int) -> Any:
    """Return the diagonals of the matrices on two axes, as a new last axis."""
    found = ns.diagonal(input, offset=offset, axis1=dim1, axis2=dim2)
    return wrap_native(_writeable(found._raw), found._node)


_diagonal = as_view(diagonals, "DiagonalBackward0")


def _two_axes(ndim: int, dim1: Any, dim2: Any, name: str) -> tuple[int, int]:
    if ndim < 2:
        axis_of(dim1, ndim)
        axis_of(dim2, ndim)
    one, two = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if one == two:
        raise RuntimeError(f"{name}: {dim1} and {dim2} are one axis; give two different ones")
    return one, two


@plain(*both("diagonal"))
def diagonal(input: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Tensor:
    """Return the diagonals of the matrices on two axes, as a new last axis."""
    axes = _two_axes(len(_usable(input, "diagonal")._raw.shape), dim1, dim2, "diagonal")
    found: Tensor = _diagonal(input, integer(offset, "offset"), *axes)
    return found


def _gathered(input: Native, positions: np.ndarray, raw: Any) -> Any:
    """Return the elements at flat positions, in memory that is there already if there is some."""
    found = ns.gather_flat(input, shape=positions.shape, positions=positions)
    return found if raw is None else wrap_native(raw, found._node)


def windows(input: Native, axis: int, size: int, step: int) -> Any:
    """Return the windows along an axis, with a new last axis for the places of each."""

    def of(array: np.ndarray) -> np.ndarray:
        if not array.shape:
            return array.reshape(1)[: max(size, 0)]
        found = np.lib.stride_tricks.sliding_window_view(array, size, axis, writeable=True)
        return found[(slice(None),) * axis + (slice(None, None, step),)]

    places = of(np.arange(input.size).reshape(input.shape))
    raw = of(input._raw) if type(input._raw) is np.ndarray else None
    return _gathered(input, places, raw)


_windows = as_view(windows, "UnfoldBackward0")


@plain("Tensor.unfold")
def unfold(self: Any, dimension: Any, size: Any, step: Any) -> Tensor:
    """Return the windows of a size along an axis, every `step` places."""
    shape = self._raw.shape
    axis = axis_of(dimension, len(shape), "dimension")
    length = shape[axis] if shape else 1
    size, step = integer(size), integer(step, "step")
    if size < 0 or size > length:
        raise RuntimeError(
            f"unfold: size {size} on axis {axis} of length {length}; give a smaller one"
        )
    if step <= 0:
        raise RuntimeError(f"unfold: step is {step}; give 1 or more")
    if not size:
        axes = (*shape[:axis], (length // step) + 1, *shape[axis + 1 :], 0)
        return made(np.zeros(axes, self._raw.dtype))
    found: Tensor = _windows(self, axis, size, step)
    return found


class Strides(NamedTuple):
    """A view of memory: how it lies there, and where its elements are in the tensor it is of."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    #: how far from the first element of the tensor it begins
    start: int
    #: the strides that the tensor had
    before: tuple[int, ...]
    #: flat positions in the tensor; -1 for an element of the memory that is not in it
    places: np.ndarray
    #: whether all of its elements are in the tensor, and a reference to the memory
    inside: bool
    home: Any


def _strided(input: Native, view: Strides) -> Any:
    raw = input._raw
    found = ns.gather_flat(input, shape=view.shape, positions=view.places)
    if type(raw) is not np.ndarray or _in_elements(raw) != view.before:
        return found
    if not view.inside and view.home() is not memory.owner(raw):
        return found  # what is around another array is not the tensor's memory
    item, apart = raw.dtype.itemsize, abs(view.start)
    step = item if view.start >= 0 else -item
    # from the array itself, so that writes are counted with its own
    ahead = np.lib.stride_tricks.as_strided(raw, (apart + 1,), (step,))[apart:]
    steps = [s * item for s in view.strides]
    return wrap_native(np.lib.stride_tricks.as_strided(ahead, view.shape, steps), found._node)


def _in_elements(raw: np.ndarray) -> tuple[int, ...]:
    return tuple(s // raw.dtype.itemsize for s in raw.strides)


_as_strided = as_view(_strided, "AsStridedBackward0")


@plain(*both("as_strided"))
def as_strided(input: Any, size: Any, stride: Any, storage_offset: Any = None) -> Tensor:
    """Return a view of a tensor's memory with any strides.

    Elements that are not the tensor's have no derivative.
    """
    view = _read_strides(_tensor(input, "as_strided"), size, stride, storage_offset)
    found: Tensor = _as_strided(input, view)
    if found._base is not None and found._base is not input:
        # after a write to the memory, it is a view of all of that
        whole = _read_strides(found._base, size, stride, _first(input, storage_offset))
        found._path = (functools.partial(_strided, view=whole),)
    return found


def _first(tensor: Tensor, offset: Any) -> int:
    """Return where in the memory a view begins that is taken of a tensor."""
    if offset is not None:
        return integer(offset, "storage_offset")
    raw = backends.to_numpy(tensor._raw)
    apart: int = raw.ctypes.data - memory.owner(raw).ctypes.data
    return apart // raw.dtype.itemsize


def _read_strides(tensor: Tensor, size: Any, stride: Any, offset: Any) -> Strides:
    shape, strides = integers((size,)), integers((stride,), "stride")
    if len(shape) != len(strides):
        raise RuntimeError(
            f"strides {list(strides)} do not fit shape {list(shape)}; give one for each axis"
        )
    raw = backends.to_numpy(tensor._raw)
    whole, item = memory.owner(raw), raw.dtype.itemsize
    first, begin = _first(tensor, None), _first(tensor, offset)
    places = begin + _offsets(shape, strides)
    if offset is None and places.size and not raw.size and tensor._base is not None:
        raise RuntimeError(
            "as_strided: the tensor is a view without elements, and where such a view begins in "
            "memory is not known; give storage_offset"
        )
    if places.size and (begin < 0 or places.max() >= whole.nbytes // item):
        raise RuntimeError(
            f"as_strided: size {list(shape)} with strides {list(strides)} from {begin} on goes "
            f"beyond the {whole.nbytes // item} elements of the memory"
        )
    numbers = np.full(whole.nbytes // item, -1)
    numbers[first + _offsets(raw.shape, _in_elements(raw))] = np.arange(raw.size).reshape(raw.shape)
    found = numbers[places]
    inside = not found.size or bool(found.min() >= 0)
    home = weakref.ref(whole)
    return Strides(shape, strides, begin - first, _in_elements(raw), found, inside, home)


def _offsets(shape: Any, strides: Any) -> Any:
    """Return how far from the first one the elements of an array are in memory."""
    found = np.zeros(shape, np.intp)
    for axis, (n, step) in enumerate(zip(shape, strides, strict=True)):
        found += (np.arange(n) * step).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return found


# -- complex numbers -------------------------------------------------------------------------------


@functools.partial(as_view, label="SelectBackward0")
def _real(input: Native) -> Any:
    return ns.real(input)


@functools.partial(as_view, label="SelectBackward0")
def _imag(input: Native) -> Any:
    return ns.imag(input)


@plain("real")
def real(input: Any) -> Tensor:
    """Return the real parts, a view; a real tensor is its own."""
    if _tensor(input, "real")._raw.dtype.kind != "c":
        return input
    found: Tensor = _real(input)
    return found


@plain("imag")
def imag(input: Any) -> Tensor:
    """Return the imaginary parts of a complex tensor, a view."""
    if _tensor(input, "imag")._raw.dtype.kind != "c":
        raise RuntimeError("imag: real numbers have no imaginary part; write torch.zeros_like(x)")
    found: Tensor = _imag(input)
    return found


put(("Tensor.real",), property(real, lambda self, value: _assigned(real(self), value)))
put(("Tensor.imag",), property(imag, lambda self, value: _assigned(imag(self), value)))


def _assigned(part: Tensor, value: Any) -> None:
    part[...] = value


def _as_real(input: Native) -> Any:
    found = ns.stack([ns.real(input), ns.imag(input)], axis=-1)
    raw = input._raw
    if type(raw) is not np.ndarray:
        return found
    half = np.dtype(f"f{raw.dtype.itemsize // 2}")
    return wrap_native(raw[..., None].view(half), found._node)


def _as_complex(input: Native) -> Any:
    found = ns.complex(input[..., 0], input[..., 1])
    raw = input._raw
    if type(raw) is not np.ndarray or raw.strides[-1] != raw.dtype.itemsize:
        return found
    return wrap_native(raw.view(np.dtype(f"c{raw.dtype.itemsize * 2}"))[..., 0], found._node)


@plain("view_as_real")
def view_as_real(input: Any) -> Tensor:
    """Return complex numbers as pairs of real ones on a new last axis, a view."""
    if _tensor(input, "view_as_real")._raw.dtype.kind != "c":
        raise RuntimeError("view_as_real: got real numbers; give a complex tensor")
    found: Tensor = _view_as_real(input)
    return found


@plain("view_as_complex")
def view_as_complex(input: Any) -> Tensor:
    """Return pairs of real numbers on the last axis as complex ones, a view."""
    raw = _tensor(input, "view_as_complex")._raw
    if raw.dtype.kind != "f":
        raise RuntimeError(
            f"view_as_complex: got a tensor of {input.dtype}; give float16, float32 or float64"
        )
    if not raw.shape or raw.shape[-1] != 2:
        raise RuntimeError(
            f"view_as_complex: got shape {list(raw.shape)}; the last axis must have 2 elements"
        )
    if type(raw) is np.ndarray and raw.size and raw.strides[-1] != raw.dtype.itemsize:
        raise RuntimeError("view_as_complex: the parts are not adjacent; write x.contiguous()")
    found: Tensor = _view_as_complex(input)
    return found


_view_as_real = as_view(_as_real, "ViewAsRealBackward0")
_view_as_complex = as_view(_as_complex, "ViewAsComplexBackward0")


# -- splits ----------------------------------------------------------------------------------------


def _rows(input: Native, axis: int) -> tuple[Any, ...]:
    return tuple(picked(input, axis, k) for k in range(input.shape[axis]))


_unbind = as_view(_rows, "UnbindBackward0")


@plain(*both("unbind"))
def unbind(input: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """Return the parts along an axis, which they lack."""
    shape = _usable(input, "unbind")._raw.shape
    if not shape:
        raise IndexError("a single number has no axis 0; write x.reshape(1) first")
    found: tuple[Tensor, ...] = _unbind(input, axis_of(dim, len(shape)))
    return found


def _between(input: Native, axis: int, bounds: tuple[tuple[int, int], ...]) -> tuple[Any, ...]:
    return tuple(sliced(input, axis, slice(*ends)) for ends in bounds)


_split = as_view(_between, "SplitBackward0")
_split_with_sizes = as_view(_between, "SplitWithSizesBackward0")
_tensor_split = as_view(_between, "SliceBackward0", several=False)


def _bounds(sizes: Any) -> tuple[tuple[int, int], ...]:
    ends = [0, *itertools.accumulate(sizes)]
    return tuple(itertools.pairwise(ends))


def _parts(input: Any, dim: Any, name: str) -> tuple[int, int]:
    """Return the axis that is split, and its length."""
    shape = _tensor(input, name)._raw.shape
    if not shape:
        raise RuntimeError(f"{name}: a single number has no axis to cut")
    axis = axis_of(dim, len(shape))
    return axis, shape[axis]


def _even(length: int, size: int) -> list[int]:
    if not length:
        return [0]
    return [min(size, length - k) for k in range(0, length, size)]


@plain(*both("split"))
def split(
    tensor: Any, split_size_or_sections: Any = None, dim: Any = 0, *, split_size: Any = None
) -> tuple[Tensor, ...]:
    """Return parts of one size along an axis, the last perhaps shorter, or of given sizes."""
    given = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(given, (tuple, list)):
        return split_with_sizes(tensor, given, dim)
    axis, length = _parts(tensor, dim, "split")
    size = integer(given, "split_size")
    if size < 0 or (not size and length):
        raise RuntimeError(f"split: split_size is {size}; give 0 or more")
    found: tuple[Tensor, ...] = _split(tensor, axis, _bounds(_even(length, size)))
    return found


@plain(*both("split_with_sizes"))
def split_with_sizes(input: Any, split_sizes: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """Return parts of given sizes along an axis."""
    axis, length = _parts(input, dim, "split_with_sizes")
    sizes = integers((split_sizes,), "split_sizes")
    if sum(sizes) != length or any(n < 0 for n in sizes):
        raise RuntimeError(
            f"split: the sizes {list(sizes)} do not add up to {length}, the length of axis {axis}"
        )
    found: tuple[Tensor, ...] = _split_with_sizes(input, axis, _bounds(sizes))
    return found


put(("unsafe_split", "Tensor.unsafe_split"), split)
put(("unsafe_split_with_sizes", "Tensor.unsafe_split_with_sizes"), split_with_sizes)


@plain(*both("chunk", "unsafe_chunk"))
def chunk(input: Any, chunks: Any, dim: Any = 0) -> tuple[Tensor, ...]:
    """Return at most so many parts along an axis, of one size but for the last."""
    axis, length = _parts(input, dim, "chunk")
    count = integer(chunks, "chunks")
    if count <= 0:
        raise RuntimeError(f"chunk: chunks is {count}; give 1 or more")
    size = -(-length // count)
    sizes = _even(length, size) if length else [0] * count
    found: tuple[Tensor, ...] = _split(input, axis, _bounds(sizes))
    return found


@plain(*both("tensor_split"))
def tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: Any = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Return so many parts along an axis, or those between given places."""
    given = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
    shape = _tensor(input, "tensor_split")._raw.shape
    if not shape:
        raise RuntimeError("tensor_split: a single number has no axis to cut")
    axis = axis_of(dim, len(shape))
    length = shape[axis]
    given = static(given)
    if isinstance(given, (tuple, list)):
        ends = [0, *integers((given,), "indices"), length]
        bounds = tuple(slice(a, b).indices(length)[:2] for a, b in itertools.pairwise(ends))
    else:
        count = integer(given, "sections")
        if count <= 0:
            raise RuntimeError(f"tensor_split: got {count} sections; give 1 or more")
        more = length % count
        bounds = _bounds([length // count + (k < more) for k in range(count)])
    found: tuple[Tensor, ...] = _tensor_split(input, axis, bounds)
    return found


def _split_along(name: str, least: int, axis: int) -> Any:
    def call(
        input: Any, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> tuple[Tensor, ...]:
        given = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
        shape = _tensor(input, name)._raw.shape
        if len(shape) < least:
            raise RuntimeError(f"{name}: the tensor has {len(shape)} axes; give {least} or more")
        at = 0 if len(shape) == 1 else axis
        if not isinstance(given, (tuple, list)) and shape[at] % max(integer(given), 1):
            raise RuntimeError(
                f"{name}: axis {at} has {shape[at]} elements, which {given} parts do not divide; "
                "give a list of indices"
            )
        return tensor_split(input, given, at)

    call.__name__ = name
    call.__doc__ = f"Return the parts along axis {axis}, so many or between given places."
    put(both(name), call)
    return call


hsplit, vsplit, dsplit = (
    _split_along("hsplit", 1, 1),
    _split_along("vsplit", 2, 0),
    _split_along("dsplit", 3, 2),
)


# -- in place --------------------------------------------------------------------------------------


@plain("Tensor.unsqueeze_")
def unsqueeze_(self: Any, dim: Any) -> Tensor:
    """Give a tensor a new axis of length 1."""
    axis = axis_of(dim, len(self._raw.shape) + 1)
    return memory.reshaped(
        self, lambda x: ns.expand_dims(x, axis=axis), _back_to(self), "UnsqueezeBackward1"
    )


def _back_to(tensor: Tensor) -> View:
    """Return what leads to the shape that a tensor has now, but for axes of length 1."""
    shape = tuple(tensor._raw.shape)
    return lambda x: ns.reshape(x, shape)


@plain("Tensor.squeeze_")
def squeeze_(self: Any, dim: Any = None) -> Tensor:
    """Take axes of length 1 away from a tensor."""
    form, axes = _squeezed(self, dim)
    label = f"SqueezeBackward{(3, 4, 5)[form]}"
    return memory.reshaped(self, lambda x: _without(x, axes), _back_to(self), label)


def _transpose_(self: Any, dim0: Any, dim1: Any) -> Tensor:
    """Exchange two axes of a tensor."""
    one, other = (axis_of(d, len(self._raw.shape)) for d in (dim0, dim1))

    def step(x: Native) -> Any:
        return _exchanged(x, one, other)

    return memory.reshaped(self, step, step, "TransposeBackward1")


for _name in ("transpose_", "swapaxes_", "swapdims_"):
    put((f"Tensor.{_name}",), _transpose_)


@plain("Tensor.t_")
def t_(self: Any) -> Tensor:
    """Exchange the axes of a matrix."""
    if len(self._raw.shape) > 2:
        raise RuntimeError(
            f"t_() is for matrices, and this tensor has {len(self._raw.shape)} axes; write x.mT"
        )

    def step(x: Native) -> Any:
        return ns.permute_dims(x, tuple(reversed(range(x.ndim))))

    return memory.reshaped(self, step, step, "TBackward1")


# -- copies ----------------------------------------------------------------------------------------


@offered("clone")
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """Return a copy, through which derivatives go."""
    return _copied(convert(_tensor(input, "clone")))


def _copied(x: Native) -> Native:
    """Return a copy of a tensor, also of truth values."""
    if x.dtype.kind == "b":
        return wrap_native(x._raw | False) if type(x._raw) is np.ndarray else x
    return ns.positive(x)


@plain("Tensor.contiguous")
def contiguous(self: Any, memory_format: Any = None) -> Tensor:
    """Return a tensor whose elements lie in memory in their order: itself, or a copy."""
    if type(self._raw) is not np.ndarray or self._raw.flags.c_contiguous:
        return self
    found: Tensor = clone(self)
    found._raw = np.ascontiguousarray(found._raw)
    return found


@offered("narrow_copy", label="SliceBackward0_copy")
def narrow_copy(input: Any, dim: Any, start: Any, length: Any) -> Any:
    """Return a copy of so many places along one axis."""
    return _copied(convert(narrow(input, dim, start, length)))


def _like(x: Native, src: Any, place: Native, name: str) -> Native:
    """Return what is written to a view, checked against it."""
    values = convert(_tensor(src, name, "src"))
    if values.shape != place.shape:
        raise RuntimeError(
            f"src has shape {list(values.shape)}, and the part that is replaced has "
            f"{list(place.shape)}; give it that shape"
        )
    return ns.astype(values, x.dtype) if values.dtype != x.dtype else values


@offered("slice_scatter")
def slice_scatter(
    input: Any, src: Any, dim: Any = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Any:
    """Return a tensor with other elements in a slice along one axis."""
    x = convert(_tensor(input, "slice_scatter"))
    axis = axis_of(dim, x.ndim)
    ends = (None if v is None else integer(v) for v in (start, end, step))
    part = functools.partial(sliced, axis=axis, part=slice(*ends))
    return memory.with_part(x, part, _like(x, src, part(x), "slice_scatter"))


@offered("select_scatter")
def select_scatter(input: Any, src: Any, dim: Any, index: Any) -> Any:
    """Return a tensor with other elements at one place of an axis."""
    x = convert(_tensor(input, "select_scatter"))
    axis, place = _place(x.shape, dim, index, "select_scatter")
    part = functools.partial(picked, axis=axis, place=place)
    return memory.with_part(x, part, _like(x, src, part(x), "select_scatter"))


@offered("diagonal_scatter")
def diagonal_scatter(input: Any, src: Any, offset: Any = 0, dim1: Any = 0, dim2: Any = 1) -> Any:
    """Return a tensor with other elements on the diagonals of two axes."""
    x = convert(_tensor(input, "diagonal_scatter"))
    one, two = _two_axes(x.ndim, dim1, dim2, "diagonal")
    part = functools.partial(diagonals, offset=integer(offset), dim1=one, dim2=two)
    return memory.with_part(x, part, _like(x, src, part(x), "diagonal_scatter"))


@offered("as_strided_scatter")
def as_strided_scatter(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: Any = None
) -> Any:
    """Return a tensor with other elements in a view of its memory with any strides."""
    x = convert(_tensor(input, "as_strided_scatter"))
    part = functools.partial(_strided, view=_read_strides(input, size, stride, storage_offset))
    return memory.with_part(x, part, _like(x, src, part(x), "as_strided_scatter"))


# -- joins -----------------------------------------------------------------------------------------


def _listed(tensors: Any, name: str) -> list[Any]:
    """Return the tensors of a sequence; anything else is a mistake."""
    if not isinstance(tensors, (list, tuple)):
        if isinstance(tensors, Tensor):
            return list(unbind(tensors))
        raise TypeError(
            f"{name}(): got a {type(tensors).__name__}; give a tuple or a list of tensors"
        )
    for k, tensor in enumerate(tensors):
        if not isinstance(tensor, (Tensor, Native)):
            raise TypeError(f"element {k} is a {type(tensor).__name__}; give tensors")
    return list(tensors)


def _joined(tensors: list[Any], dim: Any, name: str) -> Any:
    if not tensors:
        raise as_is(ValueError(f"{name}: got no tensors; give one at least"))
    for k, tensor in enumerate(tensors):
        if not tensor._raw.shape:
            raise RuntimeError(
                f"cat: tensor {k} is a single number, without an axis; write torch.stack"
            )
    parts = _of_one_dtype(tensors)
    kept = [x for x in parts if x.shape != (0,)] or parts  # an empty list of numbers fits all
    ndim = kept[0].ndim
    axis = axis_of(dim, ndim)
    for x in kept:
        if x.ndim != ndim:
            raise RuntimeError(f"cat: tensors of {ndim} and of {x.ndim} axes; give them as many")
    return in_order(ns.concat(kept, axis=axis))


def _of_one_dtype(tensors: list[Any]) -> list[Native]:
    kind = functools.reduce(dtypes.joined, [t._raw.dtype for t in tensors])
    return [x if x.dtype == kind else ns.astype(x, kind) for x in map(convert, tensors)]


@offered("cat", "concat", "concatenate", method=False, label="CatBackward0")
def cat(tensors: Any, dim: Any = 0) -> Any:
    """Return tensors joined along an axis."""
    return _joined(_listed(tensors, "cat"), dim, "torch.cat()")


@offered("stack", method=False)
def stack(tensors: Any, dim: Any = 0) -> Any:
    """Return tensors of one shape joined along a new axis."""
    parts = _listed(tensors, "stack")
    if not parts:
        raise RuntimeError("stack: got no tensors; give one at least")
    shape = parts[0]._raw.shape
    axis = axis_of(dim, len(shape) + 1)
    for k, part in enumerate(parts):
        if part._raw.shape != shape:
            raise RuntimeError(
                f"stack: tensor 0 has shape {list(shape)} and tensor {k} has "
                f"{list(part._raw.shape)}; give them one shape"
            )
    return in_order(ns.stack(_of_one_dtype(parts), axis=axis))


def _at_least(x: Native, ndim: int) -> Native:
    if x.ndim >= ndim:
        return x
    if ndim == 3 and x.ndim == 2:
        return ns.reshape(x, (*x.shape, 1))
    if ndim == 3:
        return ns.reshape(x, (1, *(x.shape or (1,)), 1))
    return ns.reshape(x, (1,) * (ndim - x.ndim) + x.shape)


def _stacked(tensors: Any, ndim: int, axis: int, name: str) -> Any:
    parts = [_at_least(x, ndim) for x in _of_one_dtype(_listed(tensors, name) or _none(name))]
    if name == "hstack" and parts[0].ndim == 1:
        axis = 0
    return _joined(parts, axis, name)


def _none(name: str) -> list[Any]:
    raise RuntimeError(f"{name}: got no tensors; give one at least")


@offered("hstack", method=False, label="CatBackward0")
def hstack(tensors: Any) -> Any:
    """Return tensors joined along the second axis; of those with one, along that."""
    return _stacked(tensors, 1, 1, "hstack")


@offered("vstack", "row_stack", method=False, label="CatBackward0")
def vstack(tensors: Any) -> Any:
    """Return tensors joined along the first axis; those with one axis are rows."""
    return _stacked(tensors, 2, 0, "vstack")


@offered("dstack", method=False, label="CatBackward0")
def dstack(tensors: Any) -> Any:
    """Return tensors joined along the third axis."""
    return _stacked(tensors, 3, 2, "dstack")


@offered("column_stack", method=False, label="CatBackward0")
def column_stack(tensors: Any) -> Any:
    """Return tensors joined along the second axis; those with at most one axis are columns."""
    parts = _of_one_dtype(_listed(tensors, "column_stack") or _none("column_stack"))
    columns = [x if x.ndim > 1 else ns.reshape(x, (x.size, 1)) for x in parts]
    return _joined(columns, 1, "column_stack")


@offered("block_diag", method=False)
def block_diag(*tensors: Any) -> Any:
    """Return a matrix with matrices along its diagonal, and zeros elsewhere."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if not tensors:
        return wrap_native(np.zeros((1, 0), dtypes.default().numpy))
    if any(len(x._raw.shape) > 2 for x in tensors):
        raise RuntimeError("block_diag: a tensor has more than 2 axes; give matrices")
    blocks = [_at_least(x, 2) for x in _of_one_dtype(list(tensors))]
    width = sum(x.shape[1] for x in blocks)
    rows, before = [], 0
    for x in blocks:
        after = width - before - x.shape[1]
        rows.append(ns.pad(x, ((0, 0), (before, after))))
        before += x.shape[1]
    return in_order(ns.concat(rows, axis=0))


@offered("cartesian_prod", method=False, label="StackBackward0")
def cartesian_prod(*tensors: Any) -> Any:
    """Return all combinations of elements of several lists, as rows."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if any(len(x._raw.shape) != 1 for x in tensors):
        raise RuntimeError("cartesian_prod: got other shapes than vectors; write x.flatten()")
    if len({x._raw.dtype for x in tensors}) > 1:
        raise RuntimeError("cartesian_prod: the vectors have different dtypes; convert them to one")
    if len(tensors) == 1:
        return tensors[0]
    parts = [convert(x) for x in tensors]
    places = np.indices([x.size for x in parts]).reshape(len(parts), -1)
    return ns.stack([ns.take(x, p) for x, p in zip(parts, places, strict=True)], axis=1)


@offered("combinations", method=False, label="StackBackward0")
def combinations(input: Any, r: Any = 2, with_replacement: bool = False) -> Any:
    """Return all choices of r elements of a list, as rows."""
    x = convert(input)
    if x.ndim != 1:
        raise RuntimeError(f"combinations: got shape {list(x.shape)}; give a vector")
    count = integer(r, "r")
    if count < 0:
        raise RuntimeError(f"combinations: r is {count}; give 0 or more")
    if not count:
        return wrap_native(np.zeros(0, x.dtype))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(x.size), count)), np.intp).reshape(-1, count)
    return ns.take(x, places, axis=0)


put(("Tensor.combinations",), combinations)


def _spread(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    found: Tensor = _expand(tensor, shape)
    return found


@plain("broadcast_tensors", "functional.broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return views of tensors with the shape that they broadcast to."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*(_tensor(x, "broadcast_tensors")._raw.shape for x in tensors))
    return tuple(x if x._raw.shape == shape else _spread(x, shape) for x in tensors)


@plain("broadcast_shapes", "functional.broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of some shapes broadcast to."""
    try:
        return sized(np.broadcast_shapes(*shapes))
    except ValueError as error:
        raise RuntimeError(f"the shapes {list(shapes)} do not broadcast together") from error


@plain("meshgrid", "functional.meshgrid")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, of lists of the places along each axis."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid: got no tensors; give one at least")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing is {indexing}; give 'ij' or 'xy'")
    for x in tensors:
        if len(_tensor(x, "meshgrid")._raw.shape) > 1:
            raise RuntimeError(f"meshgrid: got {x!r}; give vectors or numbers")
    if len({x._raw.dtype for x in tensors}) > 1:
        raise RuntimeError("meshgrid: the vectors have different dtypes; convert them to one")
    if indexing == "xy" and len(tensors) > 1:
        one, two, *rest = tensors
        found = [transpose(x, 0, 1) for x in _grids((two, one, *rest))]
        found[:2] = [transpose(x, 0, 1) for x in (found[1], found[0])]
        return tuple([transpose(x, 0, 1) if k > 1 else x for k, x in enumerate(found)])
    return tuple(_grids(tensors))


def _grids(tensors: Any) -> list[Tensor]:
    shape = tuple(math.prod(x._raw.shape) for x in tensors)
    lines = [
        _view(x, (1,) * k + (n,) + (1,) * (len(shape) - k - 1))
        for k, (x, n) in enumerate(zip(tensors, shape, strict=True))
    ]
    return [_spread(x, shape) for x in lines]


def _at_least_views(ndim: int) -> Any:
    def step(input: Native) -> Any:
        return _at_least(input, ndim)

    viewing = as_view(step, "UnsqueezeBackward0" if ndim > 1 else "ViewBackward0")

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            return tuple([call(x) for x in tensors[0]])
        if len(tensors) > 1:
            return tuple([call(x) for x in tensors])
        (x,) = tensors
        return x if len(_tensor(x, call.__name__)._raw.shape) >= ndim else viewing(x)

    call.__name__ = f"atleast_{ndim}d"
    call.__doc__ = f"Return tensors with at least {ndim} axes."
    put((call.__name__, f"functional.{call.__name__}"), call)
    return call


atleast_1d, atleast_2d, atleast_3d = map(_at_least_views, (1, 2, 3))


# -- repeats and moves -----------------------------------------------------------------------------


@offered("Tensor.repeat", label="RepeatBackward0")
def repeat(input: Any, *repeats: Any) -> Any:
    """Return a tensor repeated as a whole, so many times along each axis."""
    x, counts = convert(input), integers(repeats, "repeats")
    if len(counts) < x.ndim:
        raise RuntimeError(
            f"repeat: {list(counts)} for shape {list(x.shape)}; give one number for each axis at "
            "least"
        )
    return _tiled(x, counts)


def _tiled(x: Native, counts: tuple[int, ...]) -> Any:
    if any(n < 0 for n in counts):
        raise RuntimeError(f"repeat: {counts} has a negative number; give 0 or more")
    return ns.tile(x, counts)


@offered("tile", label="RepeatBackward0")
def tile(input: Any, *dims: Any) -> Any:
    """Return a tensor repeated as a whole; fewer numbers than axes are for the last ones."""
    x, counts = convert(input), integers(dims, "dims")
    return _tiled(x, (1,) * (x.ndim - len(counts)) + counts)


@offered("repeat_interleave", label="IndexSelectBackward0")
def repeat_interleave(
    input: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None
) -> Any:
    """Return a tensor with each element repeated, a number of times or its own number."""
    if repeats is None:
        counts = static(input)
        _check_counts(_tensor(input, "repeat_interleave", "repeats"))
        return wrap_native(np.repeat(np.arange(len(counts), dtype=input._raw.dtype), counts))
    x = convert(input)
    if isinstance(repeats, Tensor):
        _check_counts(repeats)
    given = static(repeats)
    if dim is None:
        x, dim = ns.reshape(x, (-1,)), 0
    axis = axis_of(dim, x.ndim)
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if isinstance(given, list) and len(given) != x.shape[axis]:
        raise RuntimeError(
            f"repeat_interleave: {len(given)} numbers for {x.shape[axis]} elements of axis "
            f"{axis}; give one for each element, or one for all"
        )
    if min(given if isinstance(given, list) else [given], default=0) < 0:
        raise RuntimeError("repeat_interleave: a number of repeats is negative; give 0 or more")
    if not isinstance(given, list):
        return ns.repeat(x, given, axis=axis)
    return ns.take(x, np.repeat(np.arange(len(given)), given), axis=axis)


def _check_counts(repeats: Tensor) -> None:
    if repeats._raw.dtype.name not in ("int32", "int64"):
        raise NotImplementedError(
            f"repeat_interleave: repeats has dtype {repeats.dtype}; write repeats.long()"
        )


@offered("roll")
def roll(input: Any, shifts: Any, dims: Any = ()) -> Any:
    """Return elements moved along axes, the last ones coming first again."""
    x = convert(input)
    moved = integers((shifts,) if isinstance(shifts, (tuple, list)) else ((shifts,),), "shifts")
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        if len(moved) != 1:
            raise RuntimeError(f"roll: {len(moved)} shifts for no axes; give as many")
        return ns.roll(x, moved[0])
    axes = tuple(axis_of(d, x.ndim) for d in (dims if isinstance(dims, (tuple, list)) else (dims,)))
    if len(axes) != len(moved):
        raise RuntimeError(
            f"roll: {len(moved)} shifts and {len(axes)} axes; give one axis for each shift"
        )
    return in_order(ns.roll(x, moved, axis=axes)) if x.ndim else x


@offered("flip")
def flip(input: Any, *dims: Any, **options: Any) -> Any:
    """Return elements in reverse order along axes."""
    x = convert(input)
    axes = given_axes(integers(_or_named(dims, options, "dims"), "dims"), x.ndim)
    return _reversed(x, axes) if axes else _copied(x)


def _reversed(x: Native, axes: Any) -> Native:
    """Return elements in reverse order along axes, laid out in memory as they were."""
    found = ns.flip(x, axis=axes)
    raw = found._raw
    return wrap_native(raw.copy("K"), found._node) if type(raw) is np.ndarray else found


def _flipped(name: str, least: int, axis: int) -> None:
    @offered(name, label="FlipBackward0")
    def call(input: Any) -> Any:
        x = convert(input)
        if x.ndim < least:
            raise RuntimeError(f"the tensor has too few axes; give {least} or more")
        return _reversed(x, axis)


_flipped("fliplr", 2, 1)
_flipped("flipud", 1, 0)


@offered("rot90")
def rot90(input: Any, k: Any = 1, dims: Any = (0, 1)) -> Any:
    """Return a tensor turned by quarters in the plane of two axes."""
    x = convert(input)
    if len(dims) != 2:
        raise RuntimeError(f"rot90: dims has {len(dims)} axes; give two")
    if x.ndim < 2:
        raise RuntimeError(f"rot90: the tensor has {x.ndim} axes; give 2 or more")
    one, two = (axis_of(d, x.ndim) for d in dims)
    if one == two:
        raise RuntimeError(f"rot90: dims is {dims}; give two different axes")
    turns = integer(k, "k") % 4
    if turns == 0:
        return in_order(_copied(x))
    if turns == 2:
        return _reversed(x, (one, two))
    if turns == 1:
        return _exchanged(_reversed(x, two), one, two)
    return _reversed(_exchanged(x, one, two), two)


@offered("constant_pad_nd", method=False)
def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Any:
    """Return a tensor with a constant around it; negative widths take elements away.

    Widths are pairs, of the last axis first.
    """
    x, widths = convert(input), integers((pad,), "pad")
    if len(widths) % 2:
        raise RuntimeError("pad needs two widths for each axis, not " + str(len(widths)))
    if len(widths) > 2 * x.ndim:
        raise RuntimeError(
            f"pad: {len(widths)} widths for {x.ndim} axes; give two for each axis at most"
        )
    pairs = [(0, 0)] * (x.ndim - len(widths) // 2)
    pairs += [(widths[k], widths[k + 1]) for k in range(len(widths) - 2, -1, -2)]
    for n, (before, after) in zip(x.shape, pairs, strict=True):
        if n + before + after < 0:
            raise RuntimeError(
                f"pad: {before} and {after} take away more than the {n} elements of an axis"
            )
    cut = tuple(slice(max(-b, 0), n - max(-a, 0)) for n, (b, a) in zip(x.shape, pairs, strict=True))
    if any(b < 0 or a < 0 for b, a in pairs):
        x = x[cut]
    if x.dtype.kind in "biu":
        value = bool(value) if x.dtype.kind == "b" else int(value)
    grown = tuple((max(b, 0), max(a, 0)) for b, a in pairs)
    return in_order(ns.pad(x, grown, constant_values=value)) if grown else _copied(x)


def _triangle(name: str) -> None:
    @offered(name, in_place=True)
    def call(input: Any, diagonal: Any = 0) -> Any:
        x = convert(input)
        if x.ndim < 2:
            raise RuntimeError(f"{name}: got a vector or a number; give a matrix")
        return getattr(ns, name)(x, k=integer(diagonal, "diagonal"))


_triangle("tril")
_triangle("triu")


def _triangle_indices(name: str, of: Any) -> None:
    def call(
        row: Any,
        col: Any,
        offset: Any = 0,
        *,
        dtype: Any = dtypes.int64,
        device: Any = None,
        layout: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        rows, columns = integer(row, "row"), integer(col, "col")
        if rows < 0 or columns < 0:
            raise RuntimeError(f"got {rows} rows and {columns} columns; give 0 or more of each")
        kind = np.dtype(np.int64) if dtype is None else dtypes.to_numpy(dtype)
        return made(np.array(of(rows, integer(offset), columns)).astype(kind))

    call.__name__ = name
    call.__doc__ = "Return the rows and columns of the elements of a triangle of a matrix."
    put((name,), call)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)


def _on_diagonal(x: Native, offset: int, dim1: int, dim2: int) -> Any:
    """Return zeros with the last axis of x on the diagonals of two axes."""
    n = x.shape[-1] + abs(offset)
    lead = x.shape[:-1]
    places = wrap_native(np.zeros((*lead, n, n), x.dtype))
    found = memory.with_part(places, lambda y: diagonals(y, offset, len(lead), len(lead) + 1), x)
    return ns.moveaxis(found, (-2, -1), (dim1, dim2))


@offered("diag_embed")
def diag_embed(input: Any, offset: Any = 0, dim1: Any = -2, dim2: Any = -1) -> Any:
    """Return matrices with the last axis on a diagonal, and zeros elsewhere."""
    x = convert(input)
    one, two = axis_of(dim1, x.ndim + 1), axis_of(dim2, x.ndim + 1)
    if one == two:
        raise RuntimeError(f"diag_embed: {dim1} and {dim2} are one axis; give two different ones")
    return _on_diagonal(x, integer(offset, "offset"), one, two)


@offered("diag", label="DiagEmbedBackward0")
def diag(input: Any, diagonal: Any = 0) -> Any:
    """Return a matrix with a diagonal, or the diagonal of a matrix, as a copy."""
    x, offset = convert(input), integer(diagonal, "diagonal")
    if x.ndim == 1:
        return _on_diagonal(x, offset, 0, 1)
    if x.ndim != 2:
        raise RuntimeError(f"diag(): the tensor has {x.ndim} axes; give a vector or a matrix")
    return _copied(ns.diagonal(x, offset=offset))


@offered("diagflat", label="DiagEmbedBackward0")
def diagflat(input: Any, offset: Any = 0) -> Any:
    """Return a matrix with all elements of a tensor on a diagonal."""
    return _on_diagonal(ns.reshape(convert(input), (-1,)), integer(offset, "offset"), 0, 1)


@offered("vander", method=False, label="FlipBackward0")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Return the matrix of powers of the elements of a list."""
    values = convert(x)
    if values.ndim != 1:
        raise RuntimeError("vander: the numbers have other than one axis; give a vector")
    count = values.size if N is None else integer(N, "N")
    if count < 0:
        raise RuntimeError("vander: N is negative; give 0 or more")
    if values.dtype.kind in "biu":
        values = ns.astype(values, np.dtype(np.int64))
    ones = ns.ones_like(values)
    columns = list(itertools.accumulate([ones, *[values] * (count - 1)][:count], ns.multiply))
    if not columns:
        return wrap_native(np.zeros((values.size, 0), values.dtype))
    return ns.stack(columns if increasing else columns[::-1], axis=1)
