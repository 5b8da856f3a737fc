"""Narrow floats, of fewer than 32 bits: operations compute in float32, and round once."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from wengert import backends
from wengert.engine.batching import plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.node import Edges, Node
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


def computes_in_single(op: Op) -> None:
    """Have an operation compute in float32 where its arrays have narrow floats."""
    known: dict[Any, Op] = {}

    def narrowed(dtype: Any) -> Op:
        if dtype not in known:
            known[dtype] = _Narrowed(op, dtype).op
        return known[dtype]

    op.narrowed = narrowed  # type: ignore[method-assign]


class _Narrowed:
    """An operation on arrays that are widened first: its values, and its derivatives.

    A sweep rounds what `pull` and `push` return, since it fits cotangents to their arguments.
    """

    def __init__(self, original: Op, dtype: Any) -> None:
        self.original, self.dtype = original, dtype
        self.op = copy.copy(original)
        self.op.pull, self.op.push = self.pull, self.push  # type: ignore[method-assign]
        self.op.takes_directions = False
        if not original.copies:
            self.op.compute, self.op.numpy_function = self.compute, None

    def compute(self, xp: Any, *arrays: Any, **params: Any) -> Any:
        """Return the results, with those of float32 rounded."""
        y = self.original.compute(xp, *(_widened(xp, a) for a in arrays), **params)
        if type(y) is tuple or type(y) is list:
            return type(y)(self._rounded(xp, part) for part in y)
        return self._rounded(xp, y)

    def _rounded(self, xp: Any, y: Any) -> Any:
        y = xp.asarray(y)
        if not backends.is_narrow(self.dtype) or y.dtype != xp.float32:
            return y
        return backends.rounded(xp, y, self.dtype)

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return what the operation's own rules make of float32."""
        widen = partial(_widened, xp)
        if type(g) is Block:
            g = Block(g.shape, g.region, widen(g.values), g._mask)
        else:
            g = [*map(widen, g)] if type(g) is list else widen(g)
        wide = [(parent, k, tuple(map(widen, values))) for parent, k, values in edges]
        return self.original.pull(xp, g, node, wide)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangent that the operation's own rules make of float32."""
        widen, wide = partial(_widened, xp), []
        for parent, k, values, t in edges:
            if type(t) is Block:
                t = Block(t.shape, t.region, widen(t.values), t._mask)
            wide.append((parent, k, tuple(map(widen, values)), widen(t)))
        return self.original.push(xp, node, wide)


def in_single(function: Function) -> Function:
    """Return a function of several operations that computes in float32 too, and rounds once."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        given = [v for v in (*args, *options.values()) if not isinstance(v, type)]
        narrow = backends.narrow_among(given)
        if narrow is None:
            return function(*args, **options)
        xp = Tensor._namespace
        wide = {name: _widened(xp, value) for name, value in options.items()}
        found = function(*(_widened(xp, value) for value in args), **wide)
        if type(found) is tuple:
            return tuple(_narrowed(xp, y, narrow) for y in found)
        return _narrowed(xp, found, narrow)

    return call  # type: ignore[return-value]


def _narrowed(xp: Any, y: Any, dtype: Any) -> Any:
    """Return a tensor of float32 in a narrow dtype, and anything else as it is."""
    if type(y) is not Tensor or not backends.is_narrow(dtype):
        return y
    return xp.astype(y, dtype) if y.dtype == plain_namespace(y._raw).float32 else y


def _widened(xp: Any, value: Any) -> Any:
    """Return an array of narrow floats in float32, and anything else as it is."""
    if type(value) is tuple:
        return tuple(_widened(xp, part) for part in value)
    dtype = getattr(value, "dtype", None)
    if dtype is None or type(value) is Block or not backends.is_narrow(dtype):
        return value
    raw = value._raw if type(value) is Tensor else value
    return xp.astype(value, plain_namespace(raw).float32)
