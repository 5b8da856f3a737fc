"""The kinds of arguments that PyTorch's functions take, for the annotations of their bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.kernel.readers import Readers, shown
from wengert.dialects.torch import dtypes
from wengert.dialects.torch.axes import type_name
from wengert.dialects.torch.tensors import Native, Tensor, astype, promoted, static, wrap_native

READERS = Readers(TypeError, IndexError, RuntimeError, static, least=1)
_NUMBERS = (bool, int, float, complex, np.generic)


# -- tensors ---------------------------------------------------------------------------------------


def read_tensor(value: Any, at: Argument, x: Any = None) -> Native:
    """Return a tensor as Wengert's; numbers and arrays are refused."""
    if isinstance(value, Tensor):
        return wrap_native(value._raw, value._node)
    if type(value) is Native:
        return value
    raise TypeError(f"{at} is a {type(value).__name__}; give a tensor, as torch.tensor(x)")


def tensor(
    kinds: str = "biufc",
    error: type[Exception] = RuntimeError,
    become: Callable[[Native], Native] | None = None,
) -> Kind:
    """Return the kind of tensors whose numbers are of some kinds; `become` converts them."""
    if kinds == "biufc" and become is None:
        return Kind(read_tensor, tensor=True)

    def read(value: Any, at: Argument, x: Any = None) -> Native:
        found = read_tensor(value, at)
        kind = backends.kind_of(found._raw.dtype)
        if kind not in kinds:
            instead = _instead(kind, kinds)
            raise error(f"{at} is a {type_name(found)}, which it does not take; {instead}")
        return found if become is None else become(found)

    return Kind(read, tensor=True)


def _instead(kind: str, kinds: str) -> str:
    if kinds == "c":
        return "convert it first, as x.to(torch.complex64)"
    return "write x.abs() or x.real" if kind == "c" else "convert it first, as x.float()"


def summed(x: Native) -> Native:
    """Return x in the dtype that its sums have: int64 for whole numbers and booleans."""
    return astype(x, np.dtype(np.int64)) if x._raw.dtype.kind in "biu" else x


def floating(x: Native) -> Native:
    """Return x with fractions: whole numbers in the default dtype."""
    return astype(x, dtypes.floating(x._raw.dtype))


def _operand(value: Any, at: Argument, x: Any) -> Any:
    return value if isinstance(value, _NUMBERS) else read_tensor(value, at)


def _read_promoted(values: Any, at: Any, x: Any) -> list[Native]:
    return promoted(*[read_tensor(v, a) for v, a in zip(values, at, strict=True)])


def _read_tensors(values: Any, at: Argument, x: Any) -> list[Native]:
    return _read_list(values.unbind(0) if isinstance(values, Tensor) else values, at, x)


def _read_list(values: Any, at: Argument, x: Any) -> list[Native]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{at} is a {type(values).__name__}; give a list or tuple of tensors")
    return [read_tensor(v, at) for v in values]


def _one_by_one(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return tensors that are given one by one, or as one sequence."""
    sequence = len(values) == 1 and isinstance(values[0], (list, tuple))
    return tuple(values[0]) if sequence else values


def read_given(value: Any, at: Argument, x: Any = None) -> Tensor:
    """Return a tensor as it is given; numbers and arrays are refused."""
    if isinstance(value, Tensor):
        return value
    raise TypeError(f"{at} is a {type(value).__name__}; give a tensor, as torch.tensor(x)")


def _read_shape(value: Any, at: Argument, x: Any = None) -> tuple[int, ...]:
    given = value if type(value) is Tensor else read_given(value, at)
    return tuple(given._raw.shape)


def _read_viewed(value: Any, at: Argument, x: Any = None) -> Tensor:
    """Return a tensor that is to be viewed; one that is a view of no more use raises here."""
    given = read_given(value, at)
    _ = given._node
    return given


#: Any tensor.
Input = Annotated[Native, tensor()]
#: Tensors of real numbers and booleans; of numbers with fractions; of both.
Real = Annotated[Native, tensor("biuf")]
Inexact = Annotated[Native, tensor("fc")]
Floating = Annotated[Native, tensor("f")]
#: Tensors of numbers that have an order, for functions that are not implemented for others.
Ordered = Annotated[Native, tensor("biuf", NotImplementedError)]
Complex = Annotated[Native, tensor("c")]
#: Tensors in a dtype with fractions.
Fractions = Annotated[Native, tensor(become=floating)]
#: Tensors of one dtype, the one that all of them are promoted to.
Promoted = Annotated[Native, Kind(_read_promoted, tensor=True, together=True)]
#: A tensor, or a number as it is.
TensorOrNumber = Annotated[Any, Kind(_operand, tensor=True)]
#: A list or tuple of tensors; given one by one as ``*tensors``.
TensorList = Annotated[list[Native], Kind(_read_list, tensor=True)]
Tensors = Annotated[list[Native], Kind(_read_tensors, tensor=True)]
Several = Annotated[
    Native, Kind(lambda values, at, x: _read_tensors(_one_by_one(values), at, x), tensor=True)
]
#: PyTorch's own tensors, for functions that see to memory themselves; and the shape of one.
Given = Annotated[Any, Kind(read_given, tensor=True)]
#: The same, for functions whose results are views of it.
Viewed = Annotated[Any, Kind(_read_viewed, "getattr({0}, '_held', 0) is None", tensor=True)]
SeveralGiven = Annotated[
    Any, Kind(lambda values, at, x: [read_given(v, at) for v in _one_by_one(values)], tensor=True)
]
ShapeOf = Annotated[tuple[int, ...], Kind(_read_shape)]


# -- other arguments -------------------------------------------------------------------------------


def _read_axes(value: Any, at: Argument, x: Any) -> tuple[int, ...]:
    if type(value) is int:
        return READERS.named_axes(value, at, x)
    if isinstance(value, (tuple, list)) and not value:
        value = None
    return READERS.axes(value, at, x)


def _read_one_or_all(value: Any, at: Argument, x: Any) -> tuple[int, ...]:
    return all_axes(x) if value is None else (READERS.axis(value, at, x),)[: len(x._raw.shape)]


def all_axes(x: Any) -> tuple[int, ...]:
    """Return all axes of a tensor."""
    return tuple(range(len(x._raw.shape)))


def axes_of(dim: Any, x: Any, function: str = "") -> tuple[int, ...]:
    """Return the axes of x that an argument `dim` means."""
    return _read_axes(dim, Argument(function, "dim"), x)


def axis_of(dim: Any, x: Any, function: str = "", new: int = 0) -> int:
    """Return the axis of x that an argument `dim` means, where x gets some new axes."""
    if type(dim) is int and 0 <= dim < len(x._raw.shape) + new:  # quickly
        return dim
    return READERS.axis(dim, Argument(function, "dim"), x, new)


def read_lengths(values: Any, at: Argument, x: Any = None) -> tuple[int, ...]:
    """Return a shape that is given one by one, or as one sequence."""
    lengths = READERS.sizes(values, at)
    if lengths and min(lengths) < 0:
        raise RuntimeError(f"{at} is {list(lengths)}; give lengths of 0 or more")
    return lengths


def _read_dtype(value: Any, at: Argument, x: Any = None) -> np.dtype:
    return value.numpy if type(value) is dtypes.dtype else dtypes.to_numpy(value, str(at))


def read_size(value: Any, at: Argument, x: Any = None) -> tuple[int, ...]:
    """Return a shape that is given as a sequence."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{at} is {shown(value)}; give a tuple of lengths, as (2, 3)")
    return read_lengths((value,), at)


Bool = Annotated[bool, Kind(READERS.truth, "type({0}) is bool")]
Int = Annotated[int, Kind(READERS.integer, "type({0}) is int")]
Number = Annotated[Any, Kind(READERS.number, "type({0}) is float")]
#: Whole numbers: a sequence or one of them; one as a number; given one by one as ``*sizes``, and
#: those that are none of them negative.
Ints = Annotated[tuple[int, ...], Kind(READERS.integers)]
IntOrInts = Annotated[Any, Kind(READERS.one_or_several)]
Sizes = Annotated[int, Kind(READERS.sizes, "len({0}) == 1 and type({0}[0]) is int")]
Lengths = Annotated[int, Kind(read_lengths)]
#: A shape as a sequence.
Size = Annotated[tuple[int, ...], Kind(read_size)]
#: One axis of the first tensor; some of its axes, all for None and for (); those that are named.
Axis = Annotated[int, Kind(READERS.axis)]
Axes = Annotated[Any, Kind(_read_axes)]
NamedAxes = Annotated[Any, Kind(READERS.named_axes)]
#: Axes that are given one by one as ``*dims``; and one that a tensor gets.
SeveralAxes = Annotated[int, Kind(READERS.several_axes)]
NewAxis = Annotated[int, Kind(READERS.new_axis)]
#: One axis, or all for None, as a tuple.
OneOrAll = Annotated[Any, Kind(_read_one_or_all)]
#: A dtype, as NumPy's.
Dtype = Annotated[np.dtype, Kind(_read_dtype)]
