"""tf.SparseTensor: values at some positions of an array, as data that becomes a whole array.

Functions take whole arrays: `tf.sparse.to_dense(x)`. Its derivative by the values is recorded.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.errors import invalid, type_error
from wengert.dialects.tensorflow.hashing import fingerprint, joined
from wengert.dialects.tensorflow.kinds import Count, Data
from wengert.dialects.tensorflow.settings import SPARSE
from wengert.dialects.tensorflow.slices import Composite
from wengert.dialects.tensorflow.structures import Opaque, TensorSpec
from wengert.dialects.tensorflow.table import offered, plain, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import (
    Native,
    Tensor,
    convert,
    data_of,
    made,
    ns,
    outward,
    tensor_of,
    wrap,
)  # fmt: skip


class SparseTensor(Composite, Opaque):
    """Values at some positions of an array, which is zero elsewhere."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        where = np.asarray(convert(indices)._raw)
        length = np.asarray(convert(dense_shape)._raw)
        self._values = tensor_of(values)
        fits = where.ndim == 2 and where.shape == (*self._values.shape, length.size)
        if not fits or (where.dtype.kind not in "iu" and where.size):
            raise ValueError(
                f"indices of shape {where.shape}, values of {tuple(self._values.shape)}, "
                f"dense_shape of {length.shape}; expected (n, rank), (n,), (rank,)"
            )
        self._indices = made(where.astype(np.int64))
        self._dense_shape = made(length.astype(np.int64).reshape(-1))

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole array."""
        return TensorShape(self._dense_shape.numpy().tolist())

    def get_shape(self) -> TensorShape:
        """Return the shape of the whole array."""
        return self.shape

    set_shape = Tensor.set_shape

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return other values at the same positions."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def __wengert_tensor__(self) -> Native:
        raise type_error(f"{self!r:.100} is sparse; write tf.sparse.to_dense(x)")

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


SparseTensor.__module__ = "tensorflow.python.framework.sparse_tensor"  # which Keras looks for
put(("SparseTensor", "sparse.SparseTensor"), SparseTensor, "functions take tf.sparse.to_dense(x)")


@plain("SparseTensorSpec")
class SparseTensorSpec(TensorSpec):
    """What is said of a sparse tensor: a shape, of which not all need be known, and a dtype."""


def _read_sparse(value: Any, at: Argument, x: Any = None) -> SparseTensor:
    if not isinstance(value, SparseTensor):
        raise type_error(f"{at} is {value!r:.80}; give a tf.SparseTensor")
    return value


@offered("sparse.to_dense", raises=(TypeError, ValueError))
def to_dense(
    sp_input: Annotated[SparseTensor, Kind(_read_sparse)], default_value: Any = None,
    validate_indices: bool = True,
) -> Native:  # fmt: skip
    """Return the whole array; where there are no values it has zero, or another value."""
    shape = tuple(sp_input.dense_shape.numpy().tolist())
    key = tuple(np.asarray(sp_input.indices._raw).T)
    if any(np.any((axis < 0) | (axis >= n)) for axis, n in zip(key, shape, strict=True)):
        raise invalid(f"indices reach outside of the shape {shape}")
    kind = sp_input.dtype
    if kind == dtypes.string or kind == dtypes.bool_:
        empty = b"" if kind == dtypes.string else False
        found = np.full(shape, empty, kind._numpy)
        if default_value is not None:
            found[...] = data_of(default_value).item()
        found[key] = sp_input.values._raw
        return wrap(found)
    dense = ns.scatter(convert(sp_input.values), shape=shape, key=key)
    if default_value is None:
        return dense
    held = np.zeros(shape, bool)
    held[key] = True
    return ns.where(wrap(held), dense, convert(default_value, None, dense.dtype))


@offered("sparse.from_dense", raises=(TypeError, ValueError))
def from_dense(tensor: Data) -> SparseTensor:
    """Return what of an array is not zero."""
    held = np.nonzero(tensor._raw != (b"" if tensor.dtype.kind == "O" else 0))
    return SparseTensor(np.stack(held, axis=1), outward(tensor[held]), tensor.shape)


def _refused(name: str) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"tf.sparse.{name} is not offered: {SPARSE}")

    put((f"sparse.{name}",), refuse, SPARSE)


for _name in ("add", "maximum", "minimum"):  # which Keras looks up when it is imported
    _refused(_name)


@offered("sparse.cross_hashed", raises=(TypeError, ValueError))
def cross_hashed(inputs: Any, num_buckets: Count = 0, hash_key: int | None = None) -> SparseTensor:
    """Return hash values of all combinations of features, one of each input, row by row."""
    key = 0xDECAFCAFFE if hash_key is None else int(hash_key)
    buckets = num_buckets or np.iinfo(np.int64).max
    columns = [_rows(x) for x in inputs]
    found: dict[tuple[int, int], int] = {}
    for place, cells in enumerate(zip(*columns, strict=True)):
        hashes = [key]
        for values in cells:
            hashes = [joined(h, value) for h in hashes for value in values]
        found.update({(place, n): h % buckets for n, h in enumerate(hashes)})
    where = np.array(list(found), np.int64).reshape(-1, 2)
    shape = len(columns[0]), int(where[:, 1].max(initial=-1)) + 1
    return SparseTensor(where, made(np.array(list(found.values()), np.int64)), shape)


def _rows(x: Any) -> list[list[int]]:
    """Return the fingerprints of strings, and whole numbers as they are, row by row."""
    rows, mask = np.asarray(data_of(x)._raw).tolist(), (1 << 64) - 1
    return [[fingerprint(v) if isinstance(v, bytes) else v & mask for v in r] for r in rows]
