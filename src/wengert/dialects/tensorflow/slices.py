"""IndexedSlices: the gradient of a table of which some rows were read.

In TensorFlow the gradient of a table is IndexedSlices if any of it comes right from a `tf.gather`
of its rows. While a tape of this dialect is asked for gradients, such parts are put aside here, and
joined once the sweep is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import DType
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.shapes import TensorShape
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensors import Tensor, convert, made, outward
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap
from wengert.ops.indexing import _index_examples, _index_transpose
from wengert.ops.indexing import index as index_native


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


# -- gradients of rows that were read -----------------------------------------------------------


class Aside:
    """The parts of gradients that come right from rows that were read, by the table's entry."""

    def __init__(self, sources: Sequence[Any]) -> None:
        nodes = [getattr(s, "_leaf", None) or getattr(s, "_node", None) for s in sources]
        alone = len(sources) == 1
        # what is put aside goes no further, so nothing that is asked for may lie behind it
        self.parts: dict[Node, list[Any]] = {
            node: [] for node in nodes if node is not None and (alone or node.parent is None)
        }

    def __enter__(self) -> Aside:
        self._before = _aside.set(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _aside.reset(self._before)

    def shown(self, g: Any, source: Any) -> Any:
        """Return a gradient with what was put aside: IndexedSlices, if there is any."""
        parts = self.parts.get(getattr(source, "_leaf", None) or getattr(source, "_node", None))
        dense = g
        if type(g) is Block:
            dense = g.todense(Native._namespace) if all(map(len, g.region)) else None
        if not parts:
            return (
                None
                if g is None
                else outward(g.todense(Native._namespace) if dense is None else dense)
            )
        shape = np.asarray(source.shape, np.int32)
        if dense is None and len(parts) == 1:
            ((indices, values),) = parts
            return IndexedSlices(values, indices, shape)
        if dense is not None:
            parts = [*parts, (np.arange(shape[0]), dense)]
        indices = np.concatenate([i.astype(np.int64) for i, _ in parts])
        values = Native._namespace.concat([_native(v) for _, v in parts])
        return IndexedSlices(values, indices, shape)


def _native(values: Any) -> Native:
    return values if type(values) is Native else wrap(values)


_aside: ContextVar[Aside | None] = ContextVar("wengert_tensorflow_aside", default=None)


class _Rows(Op):
    """x[indices]: rows of a table."""

    linear = True

    def pull(self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]) -> Any:
        shape, indices = values
        rows = xp.reshape(g, (indices.size, *shape[1:]))
        flat = indices.reshape(-1)
        aside = _aside.get()
        if aside is not None and node.parent in aside.parts:
            aside.parts[node.parent].append((flat, rows))
            return None
        return _index_transpose(xp, rows, shape, (flat.astype(np.intp),))


_rows = _Rows(
    "tf.gather",
    ("x",),
    lambda xp, x, indices: xp.index(x, (indices,)),
    [lambda xp, g, x_shape, indices: None],  # `pull` has the rule
    ("indices",),
)
_rows.batch = lambda level, arrays, mapped, params: _index_examples(  # type: ignore[method-assign]
    index_native.op,
    level,
    arrays,
    mapped,
    {"key": (params["indices"],)},  # type: ignore[attr-defined]
)


def rows_of(table: Native, indices: Any) -> Native:
    """Return rows of a table, whose gradient is IndexedSlices; indices are inside of it."""
    found: Native = apply(_rows, (table,), {"indices": indices})
    return found


@offered("convert_to_tensor", raises=(ValueError, TypeError))
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """Return a value as a tensor."""
    from wengert.dialects.tensorflow.dtypes import as_dtype

    like = None if dtype_hint is None else as_dtype(dtype_hint)._numpy
    return convert(value, None if dtype is None else as_dtype(dtype), like)
