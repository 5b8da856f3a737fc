"""Reductions over axes, and functions of whole lines along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Unpack

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block, part_of
from wengert.engine.node import Edge, Node, Values
from wengert.engine.op import Grouping, Op
from wengert.engine.tensor import Tensor
from wengert.ops import batching
from wengert.ops.families.declare import Operation, Rule, Tests, by_name, declared, sample
from wengert.ops.families.directions import lead_of
from wengert.ops.families.structure import reduced, repeated, zeros_kept
from wengert.regions import Region, sizes


class Reduction(Op):
    """One number for all elements along some axes. Rules see g and y with those axes kept."""

    family = "reduction"
    has_partials = True
    #: whether the rule does no more than multiply g, so that it takes a tangent as well
    scales = True
    takes_rows = takes_directions = True

    def _reads(self, rule: Rule) -> tuple[str, ...]:
        return (*super()._reads(rule), "x_shape", "axis")

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Values) -> Any:
        """Return g spread over the reduced elements."""
        *values, shape, axis = values  # type: ignore[assignment]
        return self._spread(xp, g, node, values, _kept(shape, axis), shape)

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return a Block that is whole along the reduced axes."""
        *values, shape, axis = values  # type: ignore[assignment]
        outer = iter(g.region)
        keeps = len(g.region) == len(shape)
        region: list[Any] = []
        for i, n in enumerate(shape):
            r = next(outer) if keeps or i not in axis else range(n)
            region.append(range(n) if i in axis else r)
        parts = {"x": tuple(region), "y": g.region}
        here = [
            part_of(value, parts[name]) if name in parts else value
            for name, value in zip(self.reads[0] or (), values, strict=False)
        ]
        lengths = sizes(tuple(region))
        kept = reduced(lengths, axis)
        if not g.is_masked:
            part = self._spread(xp, g.values, node, here, kept, lengths)
            return Block(shape, tuple(region), part)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            part = self._spread(xp, g.values, node, here, kept, lengths)

        def mask() -> Any:
            plain: Any = backends.namespace_of(g.mask)
            return plain.reshape(g.mask, kept)

        return Block(shape, tuple(region), zeros_kept(xp, part, g, tuple(region), mask), mask)

    def batch(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return the reduction along the same axes of all examples."""
        return batching.along_axes(self, level, arrays, mapped, params)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the sum of the partial derivatives times the tangent."""
        ((parent, _, values, t),) = edges
        *values, shape, axis = values
        changes = backends.kind_of(node.dtype) != backends.kind_of(parent.dtype)
        if type(t) is Block or not self.scales or changes:
            return NotImplemented
        kept, named = reduced(shape, axis), zip(self.reads[0] or (), values, strict=False)
        here = [xp.reshape(v, kept) if name == "y" else v for name, v in named]
        lead = lead_of(edges)
        axis = batching.shifted(axis) if lead else axis
        rule: Any = self.rules[0]
        terms = xp.broadcast_to(rule(xp, t, *here), (*lead, *shape))
        return xp.reshape(xp.sum(terms, axis=axis), (*lead, *node.shape))

    def grouping(self, node: Node, edge: Edge) -> Grouping:
        """Return that the elements that are reduced to one are a group."""
        *_, shape, axis = edge[2]
        kept = reduced(shape, axis)
        return Grouping(repeated(kept, shape), None, math.prod(kept))

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the region with all of the reduced axes."""
        *_, shape, axis = values
        outer = iter(r for i, r in enumerate(region) if len(region) < len(shape) or i not in axis)
        return tuple(range(n) if i in axis else next(outer) for i, n in enumerate(shape))

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the region without the reduced axes."""
        axis = values[-1]
        if len(node.shape) == len(parent.shape):
            return tuple(range(1) if i in axis else r for i, r in enumerate(region))
        return tuple(r for i, r in enumerate(region) if i not in axis)

    def _spread(self, xp: Any, g: Any, node: Node, values: Any, kept: Any, lengths: Any) -> Any:
        """Return the cotangent of a part of x, from g and y on its reduced elements.

        `kept` and `lengths` are the shapes of these and of the part, with the reduced axes.
        """
        if g.shape and len(g.shape) != len(kept):  # a number broadcasts as it is
            named = zip(self.reads[0] or (), values, strict=False)
            values = [xp.reshape(v, kept) if name == "y" else v for name, v in named]
            g = xp.reshape(g, kept)
        rule: Any = self.rules[0]
        if backends.kind_of(node.dtype) == "c":  # as for elementwise operations
            part = xp.conj(rule(xp, xp.conj(g), *values))
        else:
            part = rule(xp, g, *values)
        if part.shape == lengths:
            return part
        if type(part) is np.ndarray and math.prod(lengths) < _FEW:
            spread = np.empty(lengths, part.dtype)
            spread[...] = part
            return spread
        return xp.broadcast_to(part, lengths)


#: So few numbers NumPy copies in a fourth of the time that it takes to make a view of one.
_FEW = 1 << 11


@lru_cache(256)
def _kept(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    return reduced(shape, axis)


_REDUCED = [
    sample((2, 3), axis=(0, 1), keepdims=False),
    sample((2, 3), axis=(1,), keepdims=False),
    sample((2, 3, 2), axis=(0, 2), keepdims=True),
    sample((), axis=(), keepdims=False),
    sample((3, 2), axis=(), keepdims=False),
    sample((0, 2), axis=(1,), keepdims=False),
]


def reduction(
    name: str,
    rule: Rule,
    *,
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = ("axis", "keepdims"),
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare a reduction over the tuple `axis`, by a rule ``(xp, g, ...) -> g * partial``."""
    op = Reduction(name, ("x",), compute or by_name(name), [rule], params)
    tests.setdefault("samples", _REDUCED)
    return declared(op, tests)


class Linewise(Op):
    """Each line along some axes depends on the same line of x, and on all of it: softmax."""

    family = "linewise"

    def axes_of(self, node: Node, values: Values) -> tuple[int, ...]:
        """Return the axes that lines are along."""
        known = dict(zip(self.reads[0] or (), values, strict=True))
        given = known.get("axis", (-1,))
        return tuple(a % len(node.shape) for a in given) if node.shape else ()

    def _widened(self, region: Region, node: Node, values: Values) -> Region:
        along = self.axes_of(node, values)
        return tuple(
            range(n) if i in along else r
            for i, (r, n) in enumerate(zip(region, node.shape, strict=True))
        )

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return the rule's answer on the lines that the Block touches."""
        region, wide, here = self._lines(xp, g, node, argument, values)
        part = self.pull_array(xp, wide, node, argument, here)
        return Block(parent.shape, region, part) if argument == 0 else part

    def _lines(
        self, xp: Any, g: Block, node: Node, argument: int, values: Values
    ) -> tuple[Region, Any, tuple[Any, ...]]:
        """Return the lines that a Block touches: where they are, g and what a rule reads there."""
        along = self.axes_of(node, values)
        region = self._widened(g.region, node, values)
        within = tuple(r if i in along else range(len(r)) for i, r in enumerate(g.region))
        wide = Block(sizes(region), within, g.values).todense(xp)
        reads = self.reads[argument] or ()
        here = [
            part_of(v, region) if name in ("y", self.args[0]) else v
            for name, v in zip(reads, values, strict=True)
        ]
        return region, wide, tuple(here)

    def batch(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return the operation on the same lines of all examples."""
        return batching.along_axes(self, level, arrays, mapped, params)

    def grouping(self, node: Node, edge: Edge) -> Grouping | None:
        """Return that lines are groups."""
        if edge[1] != 0:
            return None
        kept = reduced(node.shape, self.axes_of(node, edge[2]))
        lines = repeated(kept, node.shape)
        return Grouping(lines, lines, math.prod(kept))

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the lines that a region touches."""
        return self._widened(region, node, values) if argument == 0 else None

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the lines that a region touches."""
        return self._widened(region, node, values) if argument == 0 else None


def linewise(
    name: str,
    rule: Rule,
    *,
    args: Sequence[str] = ("x",),
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare a function of each line along the tuple `axis`, by a rule for all lines.

    The rule works on any number of lines. It reads the parameter `axis`; without one, lines are
    along the last axis.
    """
    op = Linewise(name, args, compute or by_name(name), [rule], params)
    return declared(op, tests)
