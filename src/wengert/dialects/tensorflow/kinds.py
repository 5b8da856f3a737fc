"""The kinds of arguments that TensorFlow's functions take, for the annotations of their bodies."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.kernel.readers import Readers
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.errors import as_is, invalid
from wengert.dialects.tensorflow.tensors import check_kind, convert, is_like_tensor, pair, static
from wengert.engine.tensor import Tensor as Native

READERS = Readers(lambda text: as_is(TypeError(text)), invalid, invalid, static, 0, True)


# -- tensors ---------------------------------------------------------------------------------------


def _read(value: Any, at: Argument, x: Any = None) -> Native:
    return convert(value)


def tensor(kinds: str = "biufc", error: Any = None) -> Kind:
    """Return the kind of tensors of numbers of some kinds; others are an `error`, or invalid."""
    if kinds == "biufc":
        return Kind(_read, tensor=True)

    def read(value: Any, at: Argument, x: Any = None) -> Native:
        found = convert(value)
        if error is not None and found.dtype.kind not in kinds:
            name = dtypes.of_numpy(found.dtype).name
            raise as_is(error(f"{at} is of {name}, which it does not take; write tf.cast"))
        check_kind(found, kinds, at.function)
        return found

    return Kind(read, tensor=True)


def _read_booleans(value: Any, at: Argument, x: Any = None) -> Native:
    found = convert(value) if is_like_tensor(value) else convert(value, dtypes.bool_)
    check_kind(found, "b", at.function)
    return found


def _read_pair(values: Any, at: Any, x: Any) -> tuple[Native, Native]:
    first, second = values
    return pair(first, second, at[0].function)


#: Any tensor, or what becomes one.
Input = Annotated[Native, tensor()]
#: Tensors of numbers; of real ones; of those with fractions; of real ones with fractions.
Numbers = Annotated[Native, tensor("iufc")]
Real = Annotated[Native, tensor("iuf")]
Inexact = Annotated[Native, tensor("fc")]
Floating = Annotated[Native, tensor("f")]
Booleans = Annotated[Native, Kind(_read_booleans, tensor=True)]
#: Two tensors of one dtype, which the first tensor among them decides.
Pair = Annotated[Native, Kind(_read_pair, tensor=True, together=True)]


# -- other arguments -------------------------------------------------------------------------------


def _read_truth(value: Any, at: Argument, x: Any) -> bool:
    return bool(value)


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
    return dtypes.as_dtype(value)._numpy


Bool = Annotated[bool, Kind(_read_truth, "type({0}) is bool")]
Int = Annotated[int, Kind(READERS.integer, "type({0}) is int")]
Number = Annotated[Any, Kind(READERS.number, "type({0}) is float")]
#: Whole numbers: a shape or the like.
Ints = Annotated[tuple[int, ...], Kind(READERS.integers)]
#: One axis of the first tensor; some of its axes, all for None.
Axis = Annotated[int, Kind(_read_axis)]
Axes = Annotated[Any, Kind(_read_axes)]
#: A dtype, as NumPy's.
Dtype = Annotated[Any, Kind(_read_dtype)]
