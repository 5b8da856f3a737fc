"""The kinds of arguments that TensorFlow's functions take, for the annotations of their bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.kernel.readers import Readers
from wengert.dialects.tensorflow import dtypes, tensors
from wengert.dialects.tensorflow.errors import as_is, invalid, type_error, value_error
from wengert.dialects.tensorflow.tensors import (
    Tensor,
    check_dtypes,
    check_kind,
    convert,
    data_of,
    static,
)
from wengert.engine.tensor import Tensor as Native

READERS = Readers(lambda text: type_error(text), invalid, invalid, static, 0, True)


# -- tensors ---------------------------------------------------------------------------------------


def _read_data(value: Any, at: Argument, x: Any = None) -> Native:
    return data_of(value)


def tensor(kinds: str = "biufc", error: Any = None) -> Kind:
    """Return the kind of tensors of numbers of some kinds; others are an `error`, or invalid."""
    if kinds == "biufc":
        return Kind(lambda value, at, x=None: convert(value), tensor=True)

    def read(value: Any, at: Argument, x: Any = None) -> Native:
        found = convert(value)
        if error is not None and backends.kind_of(found.dtype) not in kinds:
            name = dtypes.of_numpy(found.dtype).name
            raise as_is(error(f"{at} is of {name}, which it does not take; write tf.cast"))
        check_kind(found, kinds, at.function)
        return found

    return Kind(read, tensor=True)


def _read_booleans(values: Any, at: Any, x: Any = None) -> list[Native]:
    found = [convert(v) if tensors.is_like_tensor(v) else convert(v, dtypes.bool_) for v in values]
    for value in found:
        check_kind(value, "b", at[0].function)
    return found


def together(kinds: str = "biufc", single: bool = False) -> Kind:
    """Return the kind of tensors of one dtype, of some kinds, which the first of them decides.

    Where none is a tensor, the first value decides. With `single`, narrow floats are invalid.
    """

    def read(values: Any, at: Any, x: Any) -> list[Native]:
        name = at[0].function
        found = tensors.alike(values, name)
        check_kind(found[0], kinds, name)
        if single and backends.is_narrow(found[0].dtype):
            raise invalid(f"{name} of {found[0].dtype}; write tf.cast(x, tf.float32)")
        return found

    return Kind(read, tensor=True, together=True)


def _read_like(value: Any, at: Argument, x: Any) -> Native:
    found = convert(value, None, x.dtype)
    check_dtypes(at.function, x, found)
    return found


def _read_same(value: Any, at: Argument, x: Any) -> Native:
    found = convert(value)
    check_dtypes(at.function, x, found)
    return found


def matrices(kinds: str = "fc", square: bool = False, error: Any = None) -> Kind:
    """Return the kind of tensors of matrices, of numbers of some kinds, and perhaps square.

    Others are an `error`, or invalid.
    """

    def read(value: Any, at: Argument, x: Any = None) -> Native:
        found = convert(value)
        check_kind(found, kinds, at.function)
        if found.dtype.kind == "V" and kinds == "fc":  # LAPACK has none, and nor has TensorFlow
            raise invalid(f"{at} is of {found.dtype}; write tf.cast(x, tf.float32)")
        shape = found.shape
        if len(shape) < 2 or (square and shape[-1] != shape[-2]):
            expected = "square matrices" if square else "matrices"
            text = f"{at} has shape {list(shape)}; give {expected}"
            raise invalid(text) if error is None else as_is(error(text))
        return found

    return Kind(read, tensor=True)


def _read_array(value: Any, at: Argument, x: Any = None) -> np.ndarray:
    return np.asarray(convert(value).numpy())


def read_indices(value: Any, at: Any, x: Any = None) -> np.ndarray:
    """Return whole numbers as NumPy's array."""
    found = _read_array(value, at)
    if found.dtype.kind not in "iu":
        raise invalid(f"{at} is of {found.dtype.name}; give whole numbers, of int32 or int64")
    return found


#: Any tensor, or what becomes one.
Input = Annotated[Native, tensor()]
#: The same, or strings.
Data = Annotated[Native, Kind(_read_data, tensor=True)]
#: Tensors of numbers; of real ones; of those with fractions; of real ones with fractions.
Numbers = Annotated[Native, tensor("iufc")]
Real = Annotated[Native, tensor("iuf")]
Inexact = Annotated[Native, tensor("fc")]
Floating = Annotated[Native, tensor("f")]
Booleans = Annotated[Native, Kind(_read_booleans, tensor=True, together=True)]
#: Tensors of one dtype, which the first tensor among them decides.
Pair = Annotated[Native, together()]
#: A tensor of the first one's dtype, which numbers take; one that is of that dtype by itself.
Like = Annotated[Native, Kind(_read_like, tensor=True)]
Same = Annotated[Native, Kind(_read_same, tensor=True)]
#: Matrices of numbers with fractions; square ones.
Matrices = Annotated[Native, matrices()]
Square = Annotated[Native, matrices(square=True)]
#: Values without derivatives, as NumPy's array; whole numbers.
Array = Annotated[np.ndarray, Kind(_read_array)]
Indices = Annotated[np.ndarray, Kind(read_indices)]


# -- other arguments -------------------------------------------------------------------------------


def _read_axis(value: Any, at: Argument, x: Any) -> int:
    given = static(value)
    if isinstance(given, list):
        raise invalid(f"{at} is {value!r}; give one whole number")
    return READERS.axis(given, at, x)


def _read_axes(value: Any, at: Argument, x: Any) -> tuple[int, ...]:
    if isinstance(value, str):
        raise invalid(f"{at} is {value!r}; give whole numbers")
    return READERS.axes(list(value) if isinstance(value, range) else value, at, x)


def _read_dtype(value: Any, at: Argument, x: Any) -> np.dtype:
    try:
        return dtypes.as_dtype(value)._numpy
    except TypeError as error:
        raise as_is(error) from None


def one_of(*values: Any) -> Kind:
    """Return the kind of arguments that are one of some values; others are a ValueError."""
    readers = replace(READERS, wrong_value=lambda text: value_error(text))
    return Kind(readers.one_of(*values))


def integers(value: Any, what: Any) -> Any:
    """Return a shape, or positions, as nested lists of Python's integers."""
    if type(value) is int:
        return value
    if type(value) in (list, tuple) and all(type(n) is int for n in value):
        return list(value)
    if value is None:
        convert(value)  # raises
    if type(value) in (list, tuple):  # tensors of other dtypes are lengths, one by one
        value = [int(n) if type(n) is Tensor and not n.ndim else n for n in value]
    found = static(value)
    if any(type(n) is not int for n in np.ravel(np.asarray(found, object))):
        raise invalid(f"{what} is {value!r}; give whole numbers, of int32 or int64")
    return found


def _read_whole(value: Any, at: Argument, x: Any = None) -> int:
    found = integers(value, at)
    while isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, list):
        raise invalid(f"{at} is {value!r}; give one whole number")
    return int(found)


def _read_count(value: Any, at: Argument, x: Any = None) -> int:
    if isinstance(value, float):
        raise type_error(f"{at} is {value}; give a whole number")
    found = _read_whole(value, at)
    if found < 0:
        raise invalid(f"{at} is {found}; give 0 or more")
    return found


def _read_vector(value: Any, at: Argument, x: Any = None) -> list[int]:
    found = integers(value, at)
    if not isinstance(found, list) or any(isinstance(n, list) for n in found):
        raise invalid(f"{at} is {value!r}; give one list of whole numbers")
    return found


def lengths(value: Any, at: Any, x: Any = None) -> tuple[int, ...]:
    """Return a shape: whole numbers that are not negative, in one list."""
    found = _read_vector(value, at)
    if any(n < 0 for n in found):
        raise invalid(f"{at} is {found}, which has a negative length")
    return tuple(found)


def in_range(axis: int, rank: int, at: Any, error: Any = invalid) -> int:
    """Return an axis counted from the first; negative ones are counted from the last."""
    if not -rank <= axis < rank:
        raise error(f"{at}: there is no axis {axis}; it counts from -{rank} to {rank - 1}")
    return axis % rank


def _read_listed_axes(value: Any, at: Argument, x: Any) -> list[int]:
    found = integers(value, at)
    return [in_range(a, x.ndim, at) for a in (found if isinstance(found, list) else [found])]


Bool = Annotated[bool, Kind(lambda value, at, x: bool(value), "type({0}) is bool")]
Int = Annotated[int, Kind(READERS.integer, "type({0}) is int")]
Number = Annotated[Any, Kind(READERS.number, "type({0}) is float")]
#: Whole numbers: a shape or the like.
Ints = Annotated[tuple[int, ...], Kind(READERS.integers)]
#: One axis of the first tensor; some of its axes, all for None.
Axis = Annotated[int, Kind(_read_axis)]
Axes = Annotated[Any, Kind(_read_axes)]
#: A dtype, as NumPy's.
Dtype = Annotated[Any, Kind(_read_dtype)]
#: One whole number, maybe in a list; one from 0; nested lists of them, or one; one list of them.
Whole = Annotated[int, Kind(_read_whole, "type({0}) is int")]
Count = Annotated[int, Kind(_read_count)]
Integers = Annotated[Any, Kind(lambda value, at, x=None: integers(value, at))]
Vector = Annotated[list[int], Kind(_read_vector)]
#: A shape: one list of whole numbers from 0.
Shape = Annotated[tuple[int, ...], Kind(lengths)]
#: One axis of the first tensor, maybe in a list; axes, in the order that is given.
WholeAxis = Annotated[int, Kind(lambda value, at, x: in_range(_read_whole(value, at), x.ndim, at))]
ListedAxes = Annotated[list[int], Kind(_read_listed_axes)]
