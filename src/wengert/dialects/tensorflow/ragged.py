"""tf.RaggedTensor: rows of several lengths, as far as Keras cuts sparse arrays into batches.

The rows' values are one tensor after the other, and `row_splits` says where rows begin and end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow.errors import invalid, type_error
from wengert.dialects.tensorflow.settings import RAGGED
from wengert.dialects.tensorflow.slices import Composite
from wengert.dialects.tensorflow.structures import Opaque
from wengert.dialects.tensorflow.table import NAMES, plain, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import Native, convert, made, tensor_of


def _numbers(value: Any) -> np.ndarray:
    return np.asarray(convert(value)._raw, np.int64)


@plain("experimental.RowPartition")
class RowPartition:
    """Where rows begin and end among values."""

    def __init__(self, row_splits: np.ndarray) -> None:
        self._splits = row_splits

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None
    ) -> RowPartition:
        """Return rows by the number of the row that each value is in, which must not descend."""
        rows = _numbers(value_rowids)
        if np.any(np.diff(rows) < 0):
            raise ValueError(f"value_rowids is {rows.tolist()!r:.80}; give numbers in order")
        count = int(rows.max(initial=-1)) + 1 if nrows is None else int(nrows)
        return cls(np.searchsorted(rows, np.arange(count + 1)))

    def row_splits(self) -> Any:
        """Return where rows begin and end."""
        return made(self._splits)


class RaggedTensor(Composite, Opaque):
    """Rows of several lengths."""

    def __init__(self, values: Any, row_splits: np.ndarray) -> None:
        self._values, self._splits = tensor_of(values), row_splits
        if not row_splits.size or row_splits[0] or row_splits[-1] != len(self._values):
            raise invalid(
                f"row_splits is {row_splits.tolist()!r:.80}; give numbers from 0 to "
                f"{len(self._values)}, how many values there are"
            )

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows that begin and end at some positions."""
        return cls(values, _numbers(row_splits))

    flat_values = property(lambda self: self.values, doc="The values, one row after the other.")

    @property
    def shape(self) -> TensorShape:
        """The length of each axis, None for that of rows."""
        return TensorShape([len(self._splits) - 1, None, *self.values.shape.as_list()[1:]])

    def value_rowids(self, name: Any = None) -> Any:
        """Return the number of the row that each value is in."""
        return made(np.repeat(np.arange(len(self._splits) - 1), np.diff(self._splits)))

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return rows of the same lengths with other values."""
        return RaggedTensor(new_values, self._splits)

    def rows(self, indices: np.ndarray) -> RaggedTensor:
        """Return some of the rows."""
        places = [np.arange(self._splits[i], self._splits[i + 1]) for i in indices]
        kept = np.concatenate([np.zeros(0, np.int64), *places])
        lengths = np.diff(self._splits)[indices]
        return RaggedTensor(NAMES["gather"](self.values, kept), np.cumsum(np.append(0, lengths)))

    def __getitem__(self, key: slice) -> RaggedTensor:
        return self.rows(np.arange(len(self._splits) - 1)[key])

    def __wengert_tensor__(self) -> Native:
        raise type_error(f"a ragged tensor of shape {self.shape}: {RAGGED}")


RaggedTensor.__module__ = "tensorflow.python.ops.ragged.ragged_tensor"  # which Keras looks for
put(("RaggedTensor",), RaggedTensor, "holds rows for Keras; functions take none")
