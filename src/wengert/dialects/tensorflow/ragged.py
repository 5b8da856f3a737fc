"""tf.RaggedTensor: rows of several lengths, as data that programs pass around.

The rows' values are one tensor after the other, and `row_splits` says where rows begin and end.
Functions of tensors are called on these values, or on the rows filled up to one length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.errors import CompositeGiven, invalid
from wengert.dialects.tensorflow.slices import Composite
from wengert.dialects.tensorflow.structures import Opaque, TensorSpec
from wengert.dialects.tensorflow.table import NAMES, plain, put
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import (
    Native,
    convert,
    data_of,
    made,
    ns,
    outward,
    tensor_of,
    wrap,
)  # fmt: skip


def _numbers(value: Any) -> np.ndarray:
    return np.asarray(convert(value)._raw, np.int64)


def _length(values: Any) -> int:
    return int(values.nrows()) if isinstance(values, RaggedTensor) else values._raw.shape[0]


@plain("experimental.RowPartition")
class RowPartition:
    """Where rows begin and end among values."""

    def __init__(self, row_splits: np.ndarray) -> None:
        self._splits = row_splits

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None
    ) -> RowPartition:
        """Return rows that begin and end at some positions."""
        return cls(_numbers(row_splits))

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None
    ) -> RowPartition:
        """Return rows by the number of the row that each value is in, which must not descend."""
        rows = _numbers(value_rowids)
        count = int(rows.max(initial=-1)) + 1 if nrows is None else int(nrows)
        if rows.size and (rows[0] < 0 or rows[-1] >= count or (np.diff(rows) < 0).any()):
            raise invalid(f"value_rowids are {rows!s:.80}; expected 0 to {count - 1}, ascending")
        return cls(np.searchsorted(rows, np.arange(count + 1)).astype(np.int64))

    def row_splits(self) -> Any:
        """Return where rows begin and end."""
        return made(self._splits)


class RaggedTensor(Composite, Opaque):
    """Rows of several lengths. Make one with `tf.ragged.constant` or `from_row_splits`."""

    def __init__(self, values: Any, row_splits: np.ndarray) -> None:
        values = values if isinstance(values, RaggedTensor) else tensor_of(values)
        steps, count = np.diff(row_splits), _length(values)
        if not row_splits.size or row_splits[0] or row_splits[-1] != count or (steps < 0).any():
            raise invalid(
                f"row_splits are {row_splits.tolist()!s:.80} for {count} values; expected numbers "
                f"that ascend from 0 to {count}"
            )
        self._values, self._splits = values, row_splits

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows that begin and end at some positions."""
        return cls(values, _numbers(row_splits))

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        """Return rows of some lengths."""
        return cls(values, np.cumsum(np.append(0, _numbers(row_lengths))))

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None,
        validate: bool = True,
    ) -> RaggedTensor:  # fmt: skip
        """Return rows by the number of the row that each value is in."""
        return cls(values, RowPartition.from_value_rowids(value_rowids, nrows).row_splits()._raw)

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
        name: Any = None,
    ) -> RaggedTensor:  # fmt: skip
        """Return the rows of a tensor, up to some lengths or without a value at their ends."""
        if ragged_rank != 1 or (isinstance(lengths, (tuple, list)) and np.ndim(lengths) > 1):
            raise NotImplementedError(f"from_tensor: ragged_rank={ragged_rank}; 1 is offered")
        dense = data_of(tensor)
        n, width = dense.shape[:2]
        each = np.full(n, width) if lengths is None else np.minimum(_numbers(lengths), width)
        if padding is not None:
            other = np.asarray(dense._raw != data_of(padding)._raw)
            other = np.asarray(other.reshape(n, width, -1).any(-1))
            each = np.where(other.any(1), width - np.argmax(other[:, ::-1], 1), 0)
        kept = np.arange(width) < each[:, None]
        return cls(outward(dense[np.nonzero(kept)]), np.cumsum(np.append(0, each)))

    # -- what it is -------------------------------------------------------------------------------

    @property
    def values(self) -> Any:
        """The values of all rows, one after the other; rows themselves if they are ragged."""
        return self._values

    @property
    def flat_values(self) -> Any:
        """The values of the innermost rows."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensor) else inner

    @property
    def row_splits(self) -> Any:
        """Where rows begin and end."""
        return made(self._splits)

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """Where rows begin and end, from the outermost to the innermost."""
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()
        return (self.row_splits, *rest)

    @property
    def ragged_rank(self) -> int:
        """How many axes have rows of several lengths."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The kind of values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """The length of each axis, None for rows of several lengths."""
        return TensorShape([len(self._splits) - 1, None, *self._values.shape.as_list()[1:]])

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return len(self._splits) - 1

    def nrows(self, out_type: Any = None, name: Any = None) -> Any:
        """Return the number of rows."""
        return made(np.asarray(len(self._splits) - 1, np.int64))

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """Return the length of each row."""
        return made(np.diff(self._splits))

    def value_rowids(self, name: Any = None) -> Any:
        """Return the number of the row that each value is in."""
        return made(np.repeat(np.arange(len(self._splits) - 1), np.diff(self._splits)))

    def bounding_shape(self, axis: Any = None, name: Any = None, out_type: Any = None) -> Any:
        """Return the shape of the least array that holds the rows, or its length on one axis."""
        inner = self._values
        nested = isinstance(inner, RaggedTensor)
        rest = inner.bounding_shape().numpy()[1:] if nested else inner._raw.shape[1:]
        longest = np.diff(self._splits).max(initial=0)
        found = np.array([len(self._splits) - 1, longest, *rest], np.int64)
        return made(found if axis is None else found[axis])

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return rows of the same lengths with other values."""
        return RaggedTensor(new_values, self._splits)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return rows of the same lengths with other innermost values."""
        inner = self._values
        nested = isinstance(inner, RaggedTensor)
        return self.with_values(inner.with_flat_values(new_values) if nested else new_values)

    # -- rows -------------------------------------------------------------------------------------

    def _gather(self, params: Any, indices: Any, *args: Any, **options: Any) -> Any:
        """Return tf.gather: some rows of this, or elements that rows of this count."""
        if params is not self:
            dense = NAMES["gather"]
            return self.with_flat_values(dense(params, self.flat_values, *args, **options))
        if options.get("axis") or options.get("batch_dims"):
            raise NotImplementedError(
                "gather: axis and batch_dims of a ragged tensor; give neither"
            )
        rows = _numbers(indices)
        places = [np.arange(self._splits[i], self._splits[i + 1]) for i in rows]
        kept = np.concatenate([np.zeros(0, np.int64), *places])
        lengths = np.diff(self._splits)[rows]
        return RaggedTensor(NAMES["gather"](self._values, kept), np.cumsum(np.append(0, lengths)))

    def _embedding_lookup(self, params: Any, ids: Any, *args: Any, **options: Any) -> Any:
        return self.with_flat_values(NAMES["nn.embedding_lookup"](params, self.flat_values))

    def _concat(self, values: Any, axis: Any, name: Any = None) -> Any:
        """Return tf.concat along the first axis, or row by row."""
        parts = list(values)
        if int(axis) == 0:
            lengths = [np.diff(part._splits) for part in parts]
            flat = NAMES["concat"]([part.values for part in parts], 0)
            return RaggedTensor(flat, np.cumsum(np.append(0, np.concatenate(lengths))))
        if int(axis) != 1:
            raise NotImplementedError(f"concat: axis={axis} of ragged tensors; give 0 or 1")
        whole, count = self._concat(parts, 0), len(self._splits) - 1
        order = np.arange(count * len(parts)).reshape(len(parts), count).T.ravel()
        mixed = whole._gather(whole, order)
        return RaggedTensor(mixed.values, mixed._splits[:: len(parts)])

    def _map_fn(self, function: Any) -> RaggedTensor:
        """Return tf.map_fn: what a function makes of each row, which is a row again."""
        rows = [tensor_of(function(row)) for row in self]
        if not rows or any(not row.ndim for row in rows):
            raise NotImplementedError("map_fn: of a ragged tensor, with rows as results; loop")
        return RaggedTensor.from_row_lengths(NAMES["concat"](rows, 0), [len(row) for row in rows])

    def _bincount(self, arr: Any, *args: Any, **options: Any) -> Any:
        """Return tf.math.bincount of each row."""
        if args or options.get("axis") != -1 or options.get("weights") is not None:
            raise NotImplementedError("bincount: of a ragged tensor axis=-1 is offered, by name")
        sparse = {k: v for k, v in options.items() if k not in ("dtype", "name")}
        places = NAMES["stack"]([self.value_rowids(), np.arange(_length(self._values))], 1)
        shape = len(self), _length(self._values)
        numbers = NAMES["SparseTensor"](places, self._values, shape)
        found = NAMES["sparse.to_dense"](NAMES["sparse.bincount"](numbers, **sparse))
        return NAMES["cast"](found, options.get("dtype") or dtypes.int32)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            first, rest = key[0], key[1:]
            rows = self[first]
            if not isinstance(first, slice) or not rest:
                return rows[rest] if rest else rows
            if not isinstance(rest[0], slice) or len(rest) > 1:
                raise ValueError(f"[{key}]: elements of rows that may be too short; give a slice")
            parts = [row[rest[0]] for row in rows]
            lengths = [_length(part) for part in parts]
            flat = NAMES["concat"](parts, 0) if parts else rows.values
            return RaggedTensor(flat, np.cumsum(np.append(0, lengths)))
        count = len(self._splits) - 1
        if isinstance(key, slice):
            return self._gather(self, np.arange(count)[key])
        at = int(key)
        if not -count <= at < count:
            raise IndexError(f"there is no row {at} of {count}")
        at %= count
        return self._values[self._splits[at] : self._splits[at + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self._splits) - 1))

    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """Return the rows filled up to one length, or cut to the lengths of a shape."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            rest = None if shape is None else [None, *TensorShape(shape).as_list()[2:]]
            inner = inner.to_tensor(default_value, shape=rest)
        dense = data_of(inner)
        count, width = self.bounding_shape().numpy()[:2].tolist()
        wanted = [None, None] if shape is None else TensorShape(shape).as_list()[:2]
        count, width = (
            n if n is not None else m for n, m in zip(wanted, (count, width), strict=True)
        )
        rows = np.repeat(np.arange(len(self._splits) - 1), np.diff(self._splits))
        columns = np.arange(len(rows)) - self._splits[rows]
        kept = np.nonzero((rows < count) & (columns < width))[0]
        key, whole = (rows[kept], columns[kept]), (count, width, *dense.shape[1:])
        if dense.dtype.kind not in "iufc":
            empty = b"" if dense.dtype.kind == "O" else False
            found = np.full(
                whole, empty if default_value is None else data_of(default_value).item()
            )
            found = found.astype(dense.dtype)
            found[key] = dense._raw[kept]
            return made(found)
        filled = ns.scatter(dense[kept], shape=whole, key=key)
        if default_value is None:
            return outward(filled)
        held = np.zeros(whole, bool)
        held[key] = True
        return outward(ns.where(wrap(held), filled, convert(default_value, None, dense.dtype)))

    def to_list(self) -> list[Any]:
        """Return the rows as lists."""
        rows = [self[row] for row in range(len(self._splits) - 1)]
        return [r.to_list() if isinstance(r, RaggedTensor) else r.numpy().tolist() for r in rows]

    def numpy(self) -> np.ndarray:
        """Return the rows as NumPy's arrays: in one of objects, if their lengths differ."""
        rows = [row.numpy() for row in self]
        if len({row.shape for row in rows}) <= 1:
            return np.array(rows)
        found = np.empty(len(rows), object)
        found[:] = rows
        return found

    def __wengert_tensor__(self) -> Native:
        raise CompositeGiven(self, "is ragged; write x.to_tensor() or tf.ragged.map_flat_values")

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"


def _operator(function: str, swapped: bool = False) -> Any:
    """Return an operator on values, of rows that have the same lengths."""

    def operator(self: RaggedTensor, other: Any) -> Any:
        if isinstance(other, RaggedTensor):
            pairs = zip(self.nested_row_splits, other.nested_row_splits, strict=False)
            if not all(np.array_equal(a._raw, b._raw) for a, b in pairs):
                raise invalid("rows of two ragged tensors have different lengths")
        elif np.ndim(other):
            raise TypeError(f"got {other!r:.80}; expected a ragged tensor or one number")
        pair = (other, self) if swapped else (self, other)
        return map_flat_values(NAMES[function], *pair)

    return operator


for _symbol, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow",
    "floordiv": "math.floordiv", "mod": "math.floormod",
}.items():  # fmt: skip
    setattr(RaggedTensor, f"__{_symbol}__", _operator(_function))
    setattr(RaggedTensor, f"__r{_symbol}__", _operator(_function, swapped=True))
for _symbol, _function in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}.items():  # fmt: skip
    setattr(RaggedTensor, f"__{_symbol}__", _operator(_function))
RaggedTensor.__hash__ = None  # type: ignore[assignment]
RaggedTensor.__module__ = "tensorflow.python.ops.ragged.ragged_tensor"  # which Keras looks for
put(("RaggedTensor",), RaggedTensor, "few functions take one; others take x.flat_values")


@plain("RaggedTensorSpec")
class RaggedTensorSpec(TensorSpec):
    """What is said of a ragged tensor: a shape, of which not all need be known, and a dtype."""

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: Any = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:  # fmt: skip
        super().__init__(shape, dtype)
        self.ragged_rank, self.row_splits_dtype = ragged_rank, row_splits_dtype


@plain("ragged.constant")
def constant(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
    name: Any = None, row_splits_dtype: Any = dtypes.int64,
) -> Any:  # fmt: skip
    """Return nested lists as a ragged tensor; lists of one length as a tensor."""
    return _nested(list(pylist), _depth(pylist) - 1 if ragged_rank is None else ragged_rank, dtype)


def _depth(value: Any) -> int:
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_depth(part) for part in value), default=0)


def _nested(rows: list[Any], rank: int, dtype: Any) -> Any:
    wanted = None if dtype is None else dtypes.any_dtype(dtype)
    if rank < 1:
        return outward(data_of(rows, wanted))
    lengths = [len(row) for row in rows]
    flat = [part for row in rows for part in row]
    return RaggedTensor(_nested(flat, rank - 1, dtype), np.cumsum(np.append(0, lengths)))


@plain("ragged.map_flat_values")
def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a function of the innermost values, in rows of the same lengths."""

    def flat(value: Any) -> Any:
        return value.flat_values if isinstance(value, RaggedTensor) else value

    ragged = [v for v in (*args, *kwargs.values()) if isinstance(v, RaggedTensor)]
    found = op(*map(flat, args), **{name: flat(value) for name, value in kwargs.items()})
    return ragged[0].with_flat_values(found) if ragged else found
