"""IndexedSlices: the gradient of a table of which some rows were read."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import DType
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.shapes import TensorShape
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensors import Tensor, convert, made, outward
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor as Native


@plain("IndexedSlices")
class IndexedSlices:
    """Values for some rows of an array: ``dense[indices[i]]`` is the sum of all such values[i]."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = outward(convert(values))
        self._indices = outward(convert(indices))
        self._dense_shape = None if dense_shape is None else outward(convert(dense_shape))

    @property
    def values(self) -> Tensor:
        """The rows' values."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """Which rows, perhaps repeatedly."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the whole array."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole array."""
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(self._dense_shape.numpy())

    @property
    def dtype(self) -> DType:
        """The kind of numbers."""
        return self._values.dtype

    @property
    def device(self) -> str:
        """Where the numbers are."""
        return self._values.device

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __wengert_tensor__(self) -> Native:
        return densified(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(densified(self)._raw, dtype=dtype)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


def densified(slices: IndexedSlices) -> Native:
    """Return the whole array."""
    if slices.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices for argument without shape: give "
            "dense_shape"
        )
    shape = tuple(int(n) for n in slices.dense_shape.numpy())
    where = np.asarray(slices.indices)
    if where.size and (where.min() < 0 or where.max() >= shape[0]):
        raise invalid(f"indices of IndexedSlices reach outside of its shape {shape}")
    return Native._namespace.scatter(convert(slices.values), shape=shape, key=(where,))


def of_block(block: Block) -> Any:
    """Return a cotangent that is rows of an array as IndexedSlices; another one as it is."""
    rows = block.region[0] if block.region else None
    whole = all(
        type(r) is range and r == range(n)
        for r, n in zip(block.region[1:], block.shape[1:], strict=True)
    )
    if rows is None or type(rows) is range or not whole:
        return outward(block.todense(Native._namespace))
    indices = made(np.asarray(rows, np.int32))
    return IndexedSlices(outward(block.values), indices, np.asarray(block.shape, np.int32))


@offered("convert_to_tensor", raises=(ValueError, TypeError))
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """Return a value as a tensor."""
    from wengert.dialects.tensorflow.dtypes import as_dtype

    like = None if dtype_hint is None else as_dtype(dtype_hint)._numpy
    return convert(value, None if dtype is None else as_dtype(dtype), like)
