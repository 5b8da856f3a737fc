"""A recorded call of a plan's function, and the sweeps over it.

Seeds and results are flat arrays of the library and on the device that computed the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.forward import push
from wengert.engine.node import NOBODY, Node
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tape import Part
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, name_of
from wengert.transforms.gradients import Call, is_traced
from wengert.transforms.sparse.pattern import structure
from wengert.transforms.surroundings import recording
from wengert.transforms.sweeps import pushed_along, quick_chunk


class Run:
    """One recorded call of the function of a plan."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...], argnum: int, what: str):
        if not -len(args) <= argnum < len(args):
            raise TypeError(
                f"{what}({name_of(fun)}): argnum={argnum}, and there are {len(args)} arguments; "
                "give an example of each argument of the function"
            )
        argnum %= len(args)
        given = args[argnum]
        if type(given) is Tensor:
            args = (*args[:argnum], wrap(cut(given)), *args[argnum + 1 :])
        elif _is_shared(given):
            args = (*args[:argnum], wrap(backends.plain(given)), *args[argnum + 1 :])
        self.call = call = Call(fun, argnum, False, args, {}, what, persistent=True)
        self.source_node: Any = call.parts[0].node
        self.source = _one_array(call.sources[0], call.what, "takes")
        self.target = _one_array(call.result, call.what, "returns")
        for tensor in (self.source, self.target):
            if backends.kind_of(tensor.dtype) != "f":
                raise DtypeError(
                    f"{call.what}: numbers are {tensor.dtype}; a sparse derivative is of real "
                    "numbers, so differentiate real and imaginary parts"
                )
        self.token = call.tape._token
        node = self.target._node
        self.depends = node is not None and self.token in node.tokens
        newest_first = ancestors([node], self.token) if self.depends else []  # type: ignore[list-item]
        self.newest_first = newest_first
        self.nodes = newest_first[::-1]
        self.xp: Any = backends.namespace_of(self.target._raw)
        #: the dtype of the derivative
        self.dtype = self.target.dtype

    @property
    def on_numpy(self) -> bool:
        """Whether NumPy computes it."""
        return self.xp is backends.NUMPY

    @property
    def program(self) -> tuple[Any, ...]:
        """What a plan holds for: operations and shapes, in the order they were recorded."""
        return tuple(
            ("argument" if node is self.source_node else node.op.name, *_flat_shape(node.shape))
            for node in self.nodes
        )

    @property
    def structure(self) -> tuple[Any, ...]:
        """What else a plan's pattern relies on, for each operation."""
        return tuple(map(structure, self.nodes))

    def pull(self, weights: Any, nodes: Sequence[Node], part: range | None = None) -> list[Any]:
        """Return the cotangents of some nodes for weights of the result, paths ending there.

        `part` says outside of which elements of a result of one axis weights are zero.
        """
        seed = self._seed(weights, self.target)
        if part is not None and len(self.target.shape) == 1:
            seed = Block(self.target.shape, (part,), seed[part.start : part.stop])
        seeds: dict[Any, Any] = {self.target._node: seed}
        ends = set(nodes)
        with recording(NOBODY):
            found = reverse(self.xp, self.newest_first, seeds, ends, False, None, ends=ends)
        return [self._flat(found.get(node), node) for node in nodes]

    def pulled(self, weights: Any) -> Any:
        """Return the cotangent of the argument for weights of the result."""
        return self.pull(weights, [self.source_node])[0]

    def push(self, tangent: Any) -> Any:
        """Return the tangent of the result for one of the argument."""
        t = self._seed(tangent, self.source)
        (moved,) = push(self.call.tape, self.call.parts, [wrap(t)], [self.target])
        return self._flat(None if moved is None else moved._raw, self.target)

    def pushed(self, tangents: Any) -> Any:
        """Return the tangents of the result, flat, for rows of tangents of the argument."""
        xp, shape = self.xp, (tangents.shape[0], *self.source.shape)
        if isinstance(tangents, np.ndarray):
            tangents = xp.asarray(tangents, dtype=self.source.dtype)
        seeds = wrap(xp.reshape(cast(xp, tangents, self.source.dtype), shape))
        node = self.target._node
        target = Part(self.target, node, None)
        size = quick_chunk(self.nodes) if self.on_numpy else "auto"
        (moved,) = pushed_along(self.call.tape, [target], self.call.parts, [seeds], size)
        flat = (shape[0], math.prod(self.target.shape))
        if moved is None:
            return xp.zeros(flat, dtype=self.target.dtype)
        return xp.reshape(moved._raw, flat)

    def _seed(self, weights: Any, like: Any) -> Any:
        xp = self.xp
        if isinstance(weights, np.ndarray):
            return xp.asarray(weights.reshape(like.shape), dtype=like.dtype)
        return xp.reshape(cast(xp, weights, like.dtype), tuple(like.shape))

    def _flat(self, g: Any, like: Any) -> Any:
        if g is None:
            return self.xp.zeros(math.prod(like.shape), dtype=like.dtype)
        return self.xp.reshape(g.todense(self.xp) if type(g) is Block else g, (-1,))


def cast(xp: Any, array: Any, dtype: Any) -> Any:
    """Return an array in a dtype: itself if it has that."""
    return array if array.dtype == dtype else xp.astype(array, dtype)


def _is_shared(value: Any) -> bool:
    """Whether an array need not be copied: the tape lives for one call, and nobody writes to it."""
    kind = type(value)
    return (kind is np.ndarray or kind in backends.QUICK) and backends.kind_of(value.dtype) == "f"


def cut(tensor: Tensor) -> Any:
    """Return the raw array of a tensor; the tape that records it gets a warning or an error."""
    if is_traced(tensor):
        tensor._cut("a sparse plan")
    return tensor._raw


def _flat_shape(shape: Any) -> tuple[Any, ...]:
    return tuple(map(tuple, shape)) if type(shape) is list else tuple(shape)


def _one_array(value: Any, what: str, verb: str) -> Tensor:
    if type(value) is not Tensor and backends.namespace_of(value) is not None:
        value = wrap(backends.plain(value))
    if type(value) is not Tensor:
        raise TypeError(
            f"{what}: the function {verb} {type(value).__name__}; a sparse derivative is of one "
            "array with respect to one array, so join several with wg.concat"
        )
    return value
