"""One node of the tape for a whole call, whatever the function does inside.

Under `vmap` there is one on either side: tapes opened inside get a node for one example, and tapes
around `vmap` one for all examples, whose rule opens the level again and does what the inner rule
does.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level, highest, levels, outside, plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.node import Edges, Node, Values, active, watching
from wengert.engine.op import Op
from wengert.engine.record import interested, lift, record, weak
from wengert.engine.tape import Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import RuleError
from wengert.ops.batching import constant
from wengert.transforms.checkpoint import explored
from wengert.transforms.gradients import zeros_like
from wengert.transforms.vmap import collected

#: ``(results, weights) -> cotangents`` or ``(results, tangents) -> tangents``: lists of tensors,
#: one for each array of the results or of the arguments, None for zero.
Rule = Callable[[list[Any], list[Any]], list[Any]]


class Custom(Op):
    """One call of a function that brings its own derivatives."""

    family = "custom"
    captures = True  # its rules may read tensors that are not arguments
    backward: Rule
    forward: Rule | None
    several: bool

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the cotangents that `backward` gives for the arguments of some edges."""
        weights = self._listed(g.todense(xp) if type(g) is Block else g)
        found = _for_namespace(xp, self.backward(self._results(edges[0][2]), weights))
        return [found[argument] for _, argument, _ in edges]

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the tangents that `forward` gives for the results."""
        if self.forward is None:
            return NotImplemented
        tangents: list[Any] = [None] * len(self.args)
        for _, argument, _, t in edges:
            tangents[argument] = _tensor(t.todense(xp) if type(t) is Block else t)
        found = _for_namespace(xp, self.forward(self._results(edges[0][2]), tangents))
        return found if self.several else found[0]

    def _results(self, values: Values) -> list[Any]:
        return self._listed(values[0]) if values else []

    def _listed(self, values: Any) -> list[Any]:
        return [*map(_tensor, values)] if self.several else [_tensor(values)]


@functools.cache
def _template(count: int, reads_results: bool) -> Custom:
    rule = (lambda xp, g, y: g) if reads_results else (lambda xp, g: g)
    return Custom("custom", [f"x{i}" for i in range(count)], lambda xp: None, [rule] * count)


def _tensor(value: Any) -> Any:
    return value if value is None or type(value) is Tensor else wrap(value)


def _for_namespace(xp: Any, tensors: list[Any]) -> list[Any]:
    """Return tensors as a sweep on xp takes them: as they are, or their raw arrays."""
    if xp is Tensor._namespace:
        return tensors
    return [None if t is None else t._raw for t in tensors]


def recorded_as_one(
    name: str,
    arguments: list[Any],
    results: list[Tensor],
    backward: Rule,
    forward: Rule | None = None,
    reads_results: bool = False,
) -> list[Tensor]:
    """Return results with one node, that of a function of `arguments`, on each side of vmap.

    `backward` and `forward` get the results if `reads_results`, else an empty list. Without
    `forward`, tangents come from transposing `backward`.
    """
    raws = [a._raw if type(a) is Tensor else a for a in arguments]
    nodes = [a._node if type(a) is Tensor else None for a in arguments]
    level = _level_of(arguments, results)
    if level is None:
        ys: list[Any] = [r._raw for r in results]
        tokens = interested(nodes)
    else:
        mapped, whole = [_is_at(a, level) for a in arguments], [True] * len(results)
        pull = _for_all_examples(backward, level, whole, mapped)
        push = None if forward is None else _for_all_examples(forward, level, mapped, whole)
        with outside(level):
            physical = [_physical(a, level) for a in arguments]
            values = [collected(r, level, name) for r in results]
            found = recorded_as_one(name, physical, values, pull, push, reads_results)
        ys = [Batched(level, y) for y in found]
        tokens = interested(nodes) - level.tapes
    if not tokens:
        return [*map(wrap, ys)]
    op = copy.copy(_template(len(arguments), reads_results))
    op.name, op.backward, op.forward, op.several = name, backward, forward, len(ys) != 1
    recorded = record(op, ys if op.several else ys[0], raws, nodes, {}, tokens)
    found = list(recorded) if op.several else [recorded]
    for result in found if watching.get() is not None else ():
        watching.get().noted(name, result, *arguments, follows=True)
    return found


def is_recorded(tensor: Any) -> bool:
    """Return whether a tape records a tensor now, on any side of vmap."""
    if type(tensor) is not Tensor:
        return False
    if tensor._node is not None and tensor._node.tokens & active.get():
        return True
    return type(tensor._raw) is Batched and is_recorded(tensor._raw.values)


def detached(value: Any) -> Any:
    """Return a tensor that no tape records, on any side of vmap; other values as they are."""
    return constant(value) if type(value) is Tensor else value


def _level_of(arguments: list[Any], results: list[Tensor]) -> Level | None:
    if not levels.get():
        return None
    return highest([t._raw for t in (*arguments, *results) if type(t) is Tensor], {})


def _is_at(value: Any, level: Level) -> bool:
    return type(value) is Tensor and type(value._raw) is Batched and value._raw.level is level


def _physical(value: Any, level: Level) -> Any:
    return value._raw.values if _is_at(value, level) else value


def refuse_captured(name: str, arguments: list[Any], results: list[Tensor], before: int) -> None:
    """Raise if results depend on a recorded tensor that is no argument: its path would end here.

    `before` is what `now` returned right before the results were computed.
    """
    known = {a._node for a in arguments if type(a) is Tensor}
    targets = [r._node for r in results if r._node is not None]
    for node in explored(targets, before, active.get())[1]:
        if node.order < before and node not in known:
            raise RuleError(
                f"{name} also depends on a recorded tensor of shape {node.shape} that is not a "
                "positional argument with a derivative, so no derivative would reach it; pass it "
                "as an argument, or use wg.stop_gradient(tensor)"
            )
    level = _level_of(arguments, results)
    if level is not None:
        with outside(level):
            physical = [_physical(a, level) for a in arguments]
            refuse_captured(name, physical, [_physical(r, level) for r in results], before)


# -- all examples of vmap ----------------------------------------------------------------------


_reopening = threading.RLock()


@contextlib.contextmanager
def reopened(level: Level) -> Iterator[None]:
    """Return a context in which a level is open again, inside of the tapes that record now.

    A rule may hold tensors of that very level, so a new one would not do.
    """
    before = levels.get()
    with _reopening:  # threads may sweep over the same nodes
        outer, level.tapes = level.tapes, active.get()
        levels.set((*(other for other in before if other is not level), level))
        try:
            yield
        finally:
            level.tapes = outer
            levels.set(before)


def _for_all_examples(
    rule: Rule, level: Level, batched: Sequence[bool], mapped: Sequence[bool]
) -> Rule:
    """Return a rule for all examples of a level, given the rule for one.

    `batched` says which of the weights or tangents have an axis of examples, and `mapped` which of
    the answers keep it. The others are for an argument that all examples share, so they add up.
    """

    def inside(tensors: list[Any], batched: Sequence[bool]) -> list[Any]:
        return [
            wrap(Batched(level, t)) if t is not None and b else t
            for t, b in zip(tensors, batched, strict=True)
        ]

    def for_all(results: list[Any], given: list[Any]) -> list[Any]:
        with reopened(level):
            answers = rule(inside(results, [True] * len(results)), inside(given, batched))
        xp = Tensor._namespace
        found = [None if a is None else collected(a, level, "a custom rule") for a in answers]
        pairs = zip(found, mapped, strict=True)
        return [a if a is None or is_mapped else xp.sum(a, axis=0) for a, is_mapped in pairs]

    return for_all


# -- arguments and results ---------------------------------------------------------------------


def as_tensors(leaves: Sequence[Any], name: str) -> list[Any]:
    """Return arrays as tensors, and numbers as tensors of the arrays' dtype; integers stay."""
    lifted = [lift(v, name) for v in leaves]
    like = next(
        (t._raw for t in lifted if type(t) is Tensor and backends.is_inexact(t.dtype)), None
    )
    return [_from_number(v, like) if type(v) in (float, complex) else v for v in lifted]


def _from_number(number: Any, like: Any) -> Tensor:
    if like is None:
        return wrap(np.asarray(number))
    return wrap(weak(plain_namespace(like), number, like.dtype))


def is_inexact(value: Any) -> bool:
    """Return whether a value is a tensor of numbers that have derivatives."""
    return type(value) is Tensor and backends.is_inexact(value.dtype)


def transposed(forward: Rule, arguments: list[Any]) -> Rule:
    """Return the rule for cotangents, given the rule for tangents, which is linear in them."""

    def backward(results: list[Any], weights: list[Any]) -> list[Any]:
        zeros = [zeros_like(a) if is_inexact(a) else None for a in arguments]
        with Tape(watch_accessed_variables=False) as tape:
            tape._token.transform = "the transpose of a rule"
            tape.watch([z for z in zeros if z is not None])
            tangents = forward(results, zeros)
        pairs = [
            (t, w)
            for t, w in zip(tangents, weights, strict=True)
            if t is not None and w is not None
        ]
        targets, seeds = [t for t, _ in pairs], [w for _, w in pairs]
        return tape.gradient(targets, zeros, output_gradients=seeds)

    return backward
