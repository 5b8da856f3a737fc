"""tf.SparseTensor: values at some positions of an array, as data that programs pass around.

Functions of sparse tensors compute with whole arrays and keep the positions beside them, so their
derivatives are those of Wengert's operations. Only the storage is sparse.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.errors import invalid, type_error
from wengert.dialects.tensorflow.hashing import fingerprint, joined
from wengert.dialects.tensorflow.kinds import Bool, Count, Data, Ints, one_of
from wengert.dialects.tensorflow.slices import Composite
from wengert.dialects.tensorflow.structures import Opaque, TensorSpec
from wengert.dialects.tensorflow.table import NAMES, offered, plain, put, row
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

_WHOLE = "computes with whole arrays"


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

    indices = property(attrgetter("_indices"), doc="The positions, one row for each value.")
    values = property(attrgetter("_values"), doc="The values.")
    dense_shape = property(attrgetter("_dense_shape"), doc="The shape, as a tensor.")
    dtype = property(attrgetter("_values.dtype"), doc="The kind of numbers.")

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

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return what has the same positions and values."""
        x = sparse_tensor_value
        return cls(x.indices, x.values, x.dense_shape)

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return other values at the same positions."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def __mul__(self, other: Any) -> SparseTensor:
        return self._with(NAMES["multiply"], other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self._with(NAMES["divide"], other)

    def _with(self, function: Any, other: Any) -> SparseTensor:
        """Return a function of the values and of those of a whole array at the same positions."""
        if isinstance(other, SparseTensor):
            raise TypeError("a product of two sparse tensors; write tf.sparse.to_dense(x) for one")
        whole = ns.broadcast_to(convert(other, None, self._values._raw.dtype), _lengths(self))
        return self.with_values(function(self._values, outward(whole[_key(self)])))

    def __wengert_tensor__(self) -> Native:
        raise type_error(f"{self!r:.100} is sparse; write tf.sparse.to_dense(x)")

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


SparseTensor.__module__ = "tensorflow.python.framework.sparse_tensor"  # which Keras looks for
put(("SparseTensor", "sparse.SparseTensor"), SparseTensor, f"{_WHOLE}: only storage is sparse")


@plain("SparseTensorSpec")
class SparseTensorSpec(TensorSpec):
    """What is said of a sparse tensor: a shape, of which not all need be known, and a dtype."""

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(shape, dtype)


def _read_sparse(value: Any, at: Argument, x: Any = None) -> SparseTensor:
    if not isinstance(value, SparseTensor):
        raise type_error(f"{at} is {value!r:.80}; give a tf.SparseTensor")
    return value


Sparse = Annotated[SparseTensor, Kind(_read_sparse)]


def _lengths(x: SparseTensor) -> tuple[int, ...]:
    return tuple(x.dense_shape.numpy().tolist())


def _key(x: SparseTensor) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(x.indices._raw).T)


def _held(x: SparseTensor) -> np.ndarray:
    """Return where a sparse tensor has values."""
    found = np.zeros(_lengths(x), bool)
    found[_key(x)] = True
    return found


def _at(dense: Native, held: np.ndarray) -> SparseTensor:
    """Return the values of a whole array at some positions."""
    return SparseTensor(np.argwhere(held), outward(dense[np.nonzero(held)]), held.shape)


def whole(x: Any, default: Any = None) -> Native:
    """Return the whole array of a sparse tensor, with zero or another value elsewhere."""
    if not isinstance(x, SparseTensor):
        return data_of(x)
    shape, key = _lengths(x), _key(x)
    if any(np.any((axis < 0) | (axis >= n)) for axis, n in zip(key, shape, strict=True)):
        raise invalid(f"indices reach outside of the shape {shape}")
    if x.dtype == dtypes.string or x.dtype == dtypes.bool_:
        empty = b"" if x.dtype == dtypes.string else False
        found = np.full(
            shape, empty if default is None else data_of(default).item(), x.dtype._numpy
        )
        found[key] = x.values._raw
        return wrap(found)
    dense = ns.scatter(convert(x.values), shape=shape, key=key)
    if default is None:
        return dense
    return ns.where(wrap(_held(x)), dense, convert(default, None, dense.dtype))


# -- to and from whole arrays ----------------------------------------------------------------------


@offered("sparse.to_dense", raises=(TypeError, ValueError))
def to_dense(sp_input: Sparse, default_value: Any = None, validate_indices: bool = True) -> Native:
    """Return the whole array; where there are no values it has zero, or another value."""
    return whole(sp_input, default_value)


@offered("sparse.from_dense", raises=(TypeError, ValueError))
def from_dense(tensor: Data) -> SparseTensor:
    """Return what of an array is not zero."""
    return _at(tensor, np.asarray(tensor._raw != (b"" if tensor.dtype.kind == "O" else 0)))


row("sparse.reorder", lambda x: _at(whole(x), _held(x)),
    "a sparse tensor with its positions in order", SparseTensor, sp_input=Sparse)  # fmt: skip


@offered("sparse.map_values", raises=(TypeError, ValueError), named=False)
def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """Return a function of values, at the same positions."""

    def values(x: Any) -> Any:
        return x.values if isinstance(x, SparseTensor) else x

    given = [*args, *kwargs.values()]
    first = next((x for x in given if isinstance(x, SparseTensor)), None)
    if first is None:
        raise ValueError("sparse.map_values: no argument is sparse; call the function itself")
    options = {name: values(x) for name, x in kwargs.items()}
    return first.with_values(op(*map(values, args), **options))


@offered("sparse.retain", raises=(TypeError, ValueError))
def retain(sp_input: Sparse, to_retain: Any) -> SparseTensor:
    """Return some of the values, which a tensor of truth values says."""
    kept = np.nonzero(np.asarray(convert(to_retain, dtypes.bool_)._raw))[0]
    values = outward(data_of(sp_input.values)[kept])
    return SparseTensor(np.asarray(sp_input.indices._raw)[kept], values, sp_input.dense_shape)


# -- two of them -----------------------------------------------------------------------------------


@offered("sparse.add", raises=(TypeError, ValueError), differs=_WHOLE)
def add(a: Any, b: Any) -> Any:
    """Return a sum, which is sparse if both are."""
    both = [isinstance(x, SparseTensor) for x in (a, b)]
    if not any(both):
        raise TypeError("sparse.add: neither is sparse; write tf.add")
    found = ns.add(whole(a), whole(b))
    return _at(found, _held(a) | _held(b)) if all(both) else found


row("sparse.maximum", lambda a, b: _at(ns.maximum(whole(a), whole(b)), _held(a) | _held(b)),
    "the greater of two values, where either is held", SparseTensor,
    sp_a=Sparse, sp_b=Sparse, differs=_WHOLE)  # fmt: skip
row("sparse.minimum", lambda a, b: _at(ns.minimum(whole(a), whole(b)), _held(a) | _held(b)),
    "the lesser of two values, where either is held", SparseTensor,
    sp_a=Sparse, sp_b=Sparse, differs=_WHOLE)  # fmt: skip


@offered("sets.intersection", raises=(TypeError, ValueError), differs=_WHOLE)
def intersection(a: Sparse, b: Sparse, validate_indices: bool = True) -> SparseTensor:
    """Return the values that rows along the last axis have in common, in order."""
    shape, found = _lengths(a), {}
    sets: list[dict[Any, set[Any]]] = [{}, {}]
    for x, rows in zip((a, b), sets, strict=True):
        for place, value in zip(x.indices.numpy().tolist(), x.values.numpy().tolist(), strict=True):
            rows.setdefault(tuple(place[:-1]), set()).add(value)
    for place in sorted(sets[0]):
        common = sorted(sets[0][place] & sets[1].get(place, set()))
        found.update({(*place, n): value for n, value in enumerate(common)})
    where = np.array(list(found), np.int64).reshape(-1, len(shape))
    longest = int(where[:, -1].max()) + 1 if len(where) else 0
    values = np.array(list(found.values()), a.dtype._numpy)
    return SparseTensor(where, made(values), (*shape[:-1], longest))


@offered("sparse.sparse_dense_matmul", raises=(TypeError, ValueError), differs=_WHOLE)
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: Bool = False, adjoint_b: Bool = False
) -> Native:
    """Return a matrix product."""
    x, y = (
        ns.conj(ns.matrix_transpose(whole(v))) if adjoint else whole(v)
        for v, adjoint in ((sp_a, adjoint_a), (b, adjoint_b))
    )
    return ns.matmul(x, y)


@offered("sparse.fill_empty_rows", raises=(TypeError, ValueError))
def fill_empty_rows(sp_input: Sparse, default_value: Any) -> Any:
    """Return a sparse tensor with a value at the start of each row that has none, and which."""
    held = _held(sp_input)
    empty = ~held.any(axis=tuple(range(1, held.ndim)))
    held[(empty, *(0,) * (held.ndim - 1))] = True
    dense = whole(sp_input)
    filled = np.zeros(held.shape, bool)
    filled[(empty, *(0,) * (held.ndim - 1))] = True
    value = convert(default_value, None, dense.dtype)
    return _at(ns.where(wrap(filled), value, dense), held), made(empty)


@offered("nn.embedding_lookup_sparse", raises=(TypeError, ValueError))
def embedding_lookup_sparse(
    params: Any, sp_ids: Sparse, sp_weights: Any = None,
    combiner: Annotated[str, one_of("mean", "sqrtn", "sum")] = "mean",
    max_norm: float | None = None, allow_fast_lookup: bool = False,
) -> Any:  # fmt: skip
    """Return sums or means of rows of a table, those that each row of a sparse tensor names."""
    rows = NAMES["nn.embedding_lookup"](params, sp_ids.values, max_norm=max_norm)
    places = sp_ids.indices[:, 0]
    count = int(np.max(places._raw, initial=-1)) + 1
    ones = NAMES["ones"]([len(places)], rows.dtype)
    weights = ones if sp_weights is None else sp_weights.values
    weights = NAMES["reshape"](weights, [-1] + [1] * (rows.ndim - 1))
    total = NAMES["math.unsorted_segment_sum"](rows * weights, places, count)
    if combiner == "sum":
        return total
    squared = weights if combiner == "mean" else weights**2
    norm = NAMES["math.unsorted_segment_sum"](squared, places, count)
    return total / (norm if combiner == "mean" else NAMES["sqrt"](norm))


# -- shapes ----------------------------------------------------------------------------------------


@offered("sparse.reshape", raises=(TypeError, ValueError))
def reshape(sp_input: Sparse, shape: Ints) -> SparseTensor:
    """Return the values at the places that they have in another shape."""
    old, new = _lengths(sp_input), list(shape)
    if -1 in new:
        rest = int(np.prod([n for n in new if n != -1], dtype=np.int64))
        new[new.index(-1)] = int(np.prod(old, dtype=np.int64)) // max(rest, 1)
    if np.prod(old, dtype=np.int64) != np.prod(new, dtype=np.int64):
        raise invalid(f"shapes {old} and {tuple(shape)} do not have as many elements")
    flat = np.ravel_multi_index(_key(sp_input), old) if old else np.zeros(1, np.int64)
    where = np.stack(np.unravel_index(flat, new), 1) if new else np.zeros((len(flat), 0), np.int64)
    return SparseTensor(where, sp_input.values, new)


@offered("sparse.expand_dims", raises=(TypeError, ValueError))
def expand_dims(sp_input: Sparse, axis: Any = -1) -> SparseTensor:
    """Return a sparse tensor with a further axis of length 1."""
    rank, at = len(_lengths(sp_input)), int(-1 if axis is None else axis)
    if not -rank - 1 <= at <= rank:
        raise invalid(f"axis is {at}; expected one from {-rank - 1} to {rank}")
    at = at if at >= 0 else at + rank + 1
    where = np.insert(np.asarray(sp_input.indices._raw), at, 0, 1)
    shape = _lengths(sp_input)
    return SparseTensor(where, sp_input.values, (*shape[:at], 1, *shape[at:]))


@offered("sparse.transpose", raises=(TypeError, ValueError))
def transpose(sp_input: Sparse, perm: Any = None) -> SparseTensor:
    """Return a sparse tensor with its axes in another order, and its positions in order."""
    rank = len(_lengths(sp_input))
    axes = tuple(range(rank))[::-1] if perm is None else tuple(np.asarray(perm).tolist())
    held = _held(sp_input).transpose(axes)
    return _at(ns.permute_dims(whole(sp_input), axes), held)


@offered("sparse.concat", raises=(TypeError, ValueError), differs=_WHOLE)
def concat(axis: int, sp_inputs: Any, expand_nonconcat_dims: Bool = False) -> SparseTensor:
    """Return sparse tensors joined along an axis."""
    if expand_nonconcat_dims:
        raise NotImplementedError("sparse.concat: expand_nonconcat_dims; give equal lengths")
    parts = [_read_sparse(x, Argument("sparse.concat", "sp_inputs")) for x in sp_inputs]
    held = np.concatenate([_held(x) for x in parts], axis)
    return _at(ns.concat([whole(x) for x in parts], axis=axis), held)


# -- reductions ------------------------------------------------------------------------------------


def _reduction(name: str, operation: Any, least: bool, doc: str) -> None:
    @offered(f"sparse.reduce_{name}", raises=(TypeError, ValueError), differs=_WHOLE, doc=doc)
    def reduced(
        sp_input: Sparse, axis: Any = None, keepdims: Bool = False, output_is_sparse: Bool = False
    ) -> Any:
        kind = sp_input.dtype
        dense = whole(sp_input, kind.min if least else None)
        axes = axis if axis is None else tuple(np.ravel(np.asarray(axis)).tolist())
        held = np.asarray(_held(sp_input).any(axis=axes, keepdims=keepdims))
        found = operation(dense, axis=axes, keepdims=keepdims)
        found = ns.where(wrap(held), found, wrap(np.zeros((), found.dtype))) if least else found
        return _at(found, held) if output_is_sparse else found


_reduction("sum", ns.sum, False, "Return sums of the values, over all axes or some.")
_reduction("max", ns.max, True, "Return the greatest values, over all axes or some.")


@offered("sparse.bincount", raises=(TypeError, ValueError), differs=_WHOLE)
def bincount(
    values: Any, weights: Any = None, axis: Any = 0, minlength: Any = None, maxlength: Any = None,
    binary_output: Bool = False,
) -> SparseTensor:  # fmt: skip
    """Return how often each whole number is in each row, or the sums of weights."""
    if isinstance(values, SparseTensor):
        key, numbers = _key(values), values.values.numpy()
        weights = weights.values if isinstance(weights, SparseTensor) else weights
        rows = key[0] if len(_lengths(values)) == 2 and axis == -1 else np.zeros_like(key[0])
        shape = _lengths(values)[:1] if len(_lengths(values)) == 2 and axis == -1 else ()
    else:
        given = np.asarray(convert(values)._raw)
        shape = given.shape[:1] if given.ndim == 2 and axis == -1 else ()
        numbers = given.ravel()
        rows = np.repeat(np.arange(shape[0]), given.shape[1]) if shape else np.zeros_like(numbers)
    if numbers.size and numbers.min() < 0:
        raise invalid(f"there is a negative number, {numbers.min()}; give numbers from 0")
    each = np.ones(numbers.size, np.int32)
    each = each if weights is None else np.ravel(np.asarray(convert(weights)._raw))
    count = max(int(numbers.max(initial=-1)) + 1, int(minlength or 0))
    count = count if maxlength is None else min(count, int(maxlength))
    kept = numbers < count
    found = np.zeros((*(shape or (1,)), count), each.dtype)
    held = np.zeros(found.shape, bool)
    place = rows[kept], numbers[kept]
    held[place] = True
    np.add.at(found, place, each[kept])
    found = held.astype(each.dtype) if binary_output else found
    return _at(wrap(found if shape else found[0]), held if shape else held[0])


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
    if isinstance(x, SparseTensor):
        rows: list[list[Any]] = [[] for _ in range(_lengths(x)[0])]
        for place, value in zip(x.indices.numpy().tolist(), x.values.numpy().tolist(), strict=True):
            rows[place[0]].append(value)
    else:
        rows = np.asarray(data_of(x)._raw).tolist()
    mask = (1 << 64) - 1
    return [[fingerprint(v) if isinstance(v, bytes) else v & mask for v in r] for r in rows]
