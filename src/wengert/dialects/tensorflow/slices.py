"""IndexedSlices: the gradient of a table of which some rows were read.

In TensorFlow the gradient of a table is IndexedSlices if any of it comes right from a `tf.gather`
of its rows. While a tape of this dialect is asked for gradients, such parts are put aside here, and
joined once the sweep is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import Quick
from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.dtypes import any_dtype, as_dtype
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.table import offered, plain
from wengert.dialects.tensorflow.tensor_shape import TensorShape
from wengert.dialects.tensorflow.tensors import (
    Native,
    Tensor,
    convert,
    data_of,
    holds_strings,
    is_tensor,
    made,
    number_at_once,
    outward,
    tensor_of,
    wrap,
)
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, active, watching
from wengert.engine.op import ALIAS
from wengert.ops.rows import ROWS, collector


@plain("__internal__.CompositeTensor")
class Composite:
    """What has values somewhere in an array, and stands for the array."""

    shape: Any
    values: Any = property(attrgetter("_values"), doc="The values.")
    indices = property(attrgetter("_indices"), doc="Where they are, one row for each.")
    dense_shape = property(attrgetter("_dense_shape"), doc="The shape of the whole array.")
    dtype = property(attrgetter("_values.dtype"), doc="The kind of numbers.")

    def with_values(self, new_values: Any) -> Any:
        """Return other values at the same positions."""
        raise NotImplementedError


@plain("IndexedSlices")
class IndexedSlices(Composite):
    """Values for some rows of an array: ``dense[indices[i]]`` is the sum of all such values[i]."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = tensor_of(values)
        self._indices = tensor_of(indices)
        self._dense_shape = None if dense_shape is None else tensor_of(dense_shape)

    device = property(attrgetter("_values.device"), doc="Where the numbers are.")

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole array."""
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(self._dense_shape.numpy())

    def with_values(self, new_values: Any) -> IndexedSlices:
        """Return other values for the same rows."""
        return IndexedSlices(new_values, self._indices, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self._values)

    def __wengert_tensor__(self) -> Native:
        return densified(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(densified(self)._raw, dtype=dtype)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


def densified(slices: IndexedSlices) -> Native:
    """Return the whole array."""
    if slices.dense_shape is None:
        raise ValueError("IndexedSlices without dense_shape are no whole array; give a shape")
    shape = tuple(int(n) for n in slices.dense_shape.numpy())
    where = np.asarray(slices.indices)
    if where.size and (where.min() < 0 or where.max() >= shape[0]):
        raise invalid(f"indices of IndexedSlices reach outside of its shape {shape}")
    return Native._namespace.scatter(convert(slices.values), shape=shape, key=(where,))


# -- gradients of rows that were read -----------------------------------------------------------


class Aside:
    """The parts of gradients that come right from rows that were read, by the table's node."""

    def __init__(self, sources: Sequence[Any], targets: Sequence[Any] = ()) -> None:
        nodes = [getattr(s, "_leaf", None) or getattr(s, "_node", None) for s in sources]
        alone = len(sources) == 1
        # what is put aside goes no further, so nothing that is asked for may lie behind it
        self.parts: dict[Node, list[Any]] = {
            node: [] for node in nodes if node is not None and (alone or node.parent is None)
        }
        self._turns: dict[Node, int] = {}
        if ROWS.recorded and self.parts:
            self._turns = _turns([n for t in targets if (n := getattr(t, "_node", None))])

    def __enter__(self) -> Aside:
        self._before = collector.set(self._take)
        return self

    def __exit__(self, *exception: object) -> None:
        collector.reset(self._before)

    def _take(self, node: Node, indices: np.ndarray, rows: Any) -> bool:
        table = node.parent
        while table is not None and table not in self.parts and table.op is ALIAS:
            table = table.parent
        if table not in self.parts:
            return False
        self.parts[table].append((node, indices, rows))
        return True

    def shown(self, g: Any, source: Any) -> Any:
        """Return a gradient with what was put aside: IndexedSlices, if there is any."""
        node: Any = getattr(source, "_leaf", None) or getattr(source, "_node", None)
        parts = self.parts.get(node)
        empty = g is None or (type(g) is Block and not all(map(len, g.region)))
        if parts:
            parts = sorted(parts, key=lambda part: self._turns.get(part[0], 0))
            found = _joined(parts, np.asarray(convert(source).shape, np.int32))
            return found if empty else outward(_dense(g) + densified(found))
        return None if g is None else outward(_dense(g))


def _turns(targets: list[Node]) -> dict[Node, int]:
    """Return when TensorFlow's sweep comes to each node: first come, first served.

    The turn of a node comes once all that was computed from it had theirs. Rows are joined so.
    """
    waiting: dict[Node, int] = dict.fromkeys(targets, 0)
    nodes = list(waiting)
    for node in nodes:  # grows while it is read
        for parent, _, _ in node.edges:
            if parent not in waiting:
                waiting[parent] = 0
                nodes.append(parent)
            waiting[parent] += 1
    queue = [node for node in dict.fromkeys(targets) if not waiting[node]]
    for node in queue:
        for parent, _, _ in node.edges:
            waiting[parent] -= 1
            if not waiting[parent]:
                queue.append(parent)
    return {node: turn for turn, node in enumerate(queue)}


def _dense(g: Any) -> Native:
    found: Native = g.todense(Native._namespace) if type(g) is Block else g
    return found


def _joined(parts: list[Any], shape: np.ndarray) -> IndexedSlices:
    """Return the sum of some slices: all of their rows."""
    indices = [i for _, i, _ in parts]
    if len({i.dtype for i in indices}) > 1:
        indices = [i.astype(np.int64) for i in indices]
    values = Native._namespace.concat([_native(v) for _, _, v in parts])
    return IndexedSlices(values, np.concatenate(indices), shape)


def _native(values: Any) -> Native:
    return values if type(values) is Native else wrap(values)


def _read_at_once(value: Any, dtype: Any, dtype_hint: Any) -> Any:
    """Return a tensor, or the value of a variable, if it is of the dtype that is wanted."""
    if not is_tensor(value):
        number = dtype_hint is None and (dtype is not None or type(value) is float)
        return number_at_once(value, dtype or dtypes.float32) if number else NotImplemented
    if dtype is not None and value.dtype != dtype:
        return NotImplemented
    if isinstance(value, Tensor):
        return value
    if active.get() or watching.get() is not None:
        return NotImplemented
    return made(convert(value)._raw)  # a constant, also for tapes that watch the variable later


@offered(
    "convert_to_tensor", raises=(ValueError, TypeError), quick=Quick(_read_at_once, None, {}, 3)
)
def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None) -> Any:
    """Return a value as a tensor."""
    if isinstance(value, Tensor) and (dtype is None or value.dtype == dtype):
        return value
    if holds_strings(value):
        return data_of(value, None if dtype is None else any_dtype(dtype))
    like = None if dtype_hint is None else as_dtype(dtype_hint)._numpy
    return convert(value, None if dtype is None else as_dtype(dtype), like)
