"""Linear operations by their transposes, and position maps, which only move elements."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.node import Edges, Node, Values
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor
from wengert.errors import RuleError
from wengert.ops.families.declare import Operation, Rule, Tests, by_name, declared, run
from wengert.ops.families.directions import Directions
from wengert.regions import Region, sizes, slices, whole


class Linear(Op):
    """Linear in its one array, with a transpose and perhaps a rule for a Block."""

    family = "linear"
    linear = takes_directions = True
    #: whether the transpose only moves elements and adds some up, so that a mask goes with them
    moves = False
    #: parameters that are numbers computed from the program's argument: a pattern that holds for
    #: every argument does not look at them, and takes what `depends` says
    numbers: tuple[str, ...] = ()
    block: Rule | None = None
    reached: Callable[..., Any] | None = None
    #: parameters that a tangent has other values of, such as what an array is padded with
    of_tangents: Mapping[str, Any] = MappingProxyType({})
    #: how many of the values that a node keeps are for the transpose; the rest are for `push`
    own: int

    def _reads(self, rule: Rule) -> tuple[str, ...]:
        names = super()._reads(rule)
        self.own = len(names)
        return (*names, *[p for p in self.params if p not in names])

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the transpose of g, for the one argument."""
        if type(g) is Block:
            return super().pull(xp, g, node, edges, sweep)
        return (self.rules[0](xp, g, *edges[0][2][: self.own]),)  # type: ignore[misc]

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Values) -> Any:
        """Return the transpose of g."""
        rule: Any = self.rules[0]
        return rule(xp, g, *values[: self.own])

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return what the operation's own rule for a Block says, if it has one."""
        if self.moves:
            return pull_with_mask(self._pull_values, xp, g, node, parent, argument, values)
        return self._pull_values(xp, g, node, parent, argument, values)

    def _pull_values(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        part = None if self.block is None else self.block(xp, g, *values[: self.own])
        return super().pull_block(xp, g, node, parent, argument, values) if part is None else part

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the operation of the tangent."""
        ((_, argument, values, t),) = edges
        if type(t) is Block:
            return NotImplemented
        known = dict(zip(self.reads[argument] or (), values, strict=True))
        params = {**{name: known[name] for name in self.params}, **self.of_tangents}
        if type(edges) is Directions:
            return NotImplemented if self.batch is None else edges.run(self, (t,), 0, params)
        return run(self, xp, (t,), params)

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return what the rule for a Block makes of one without values."""
        if self.block is None or math.prod(map(len, region)) > 1_000_000:
            return None
        empty = np.broadcast_to(np.zeros((), np.float32), sizes(region))
        part = self.block(backends.NUMPY, Block(node.shape, region, empty), *values[: self.own])
        return part.region if type(part) is Block else None

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return what `reached` says, if it was declared."""
        if self.reached is None:
            return None
        return self.reached(region, node.shape, *values[: self.own])


def linear(
    name: str,
    transpose: Rule,
    *,
    args: Sequence[str] = ("x",),
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    block: Rule | None = None,
    reached: Callable[..., Any] | None = None,
    takes_rows: bool = False,
    moves: bool = False,
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare a linear operation by itself and its transpose.

    `block`, if given, takes a Block in place of g, reads what `transpose` reads, and
    returns a Block, or None where it would be no smaller than the whole. `takes_rows` says that
    it takes a list of positions on an axis. ``reached(region, shape of the result, ...)`` reads
    the same, and returns the region of the result that depends on a region of the argument.
    `moves` says that the transpose only moves elements, or adds some up.
    """
    op = Linear(name, args, compute or by_name(name), [transpose], params)
    _set_block(op, transpose, block)
    op.reached, op.takes_rows, op.moves = reached, takes_rows, moves
    return declared(op, tests)


def _set_block(op: Linear, transpose: Rule, block: Rule | None) -> None:
    if block is not None and op._reads(block) != op._reads(transpose):
        raise RuleError(f"{op.name}: `block` must read what its transpose reads, in that order")
    op.block = block


class PositionMap(Linear):
    """Each element of the result is an element of the argument, or a constant.

    Run on an array of positions, the operation tells where its elements come from. An
    element that comes from nowhere, such as padding, must come out as 0.
    """

    family = "position map"
    moves = copies = True

    def positions(self, shape: tuple[int, ...], params: dict[str, Any]) -> np.ndarray:
        """Return, for each element of the result, its flat position in the argument, or -1."""
        places = np.arange(math.prod(shape)).reshape(shape)
        return np.asarray(self.compute(backends.NUMPY, places + 1, **params)) - 1

    def transpose(self, xp: Any, g: Any, shape: tuple[int, ...], *params: Any) -> Any:
        """Return g added up at the positions its elements came from."""
        positions = self.positions(shape, dict(zip(self.params, params, strict=True)))
        return xp.scatter_flat(g, shape=shape, positions=positions)

    def transpose_block(self, xp: Any, g: Block, shape: tuple[int, ...], *params: Any) -> Any:
        """Return the smallest Block around the positions that the elements of g came from."""
        if not shape:
            return None
        positions = self.positions(shape, dict(zip(self.params, params, strict=True)))
        positions = positions[slices(g.region)]
        used = positions[positions >= 0]
        if not used.size:
            return None
        places = np.unravel_index(np.where(positions < 0, used[0], positions), shape)
        region = tuple(range(int(p.min()), int(p.max()) + 1) for p in places)
        lengths = sizes(region)
        local = [p - r.start for p, r in zip(places, region, strict=True)]
        flat = np.where(positions < 0, -1, np.ravel_multi_index(local, lengths))
        return Block(shape, region, xp.scatter_flat(g.values, shape=lengths, positions=flat))


def pull_with_mask(
    pull: Callable[..., Any],
    xp: Any,
    g: Block,
    node: Node,
    parent: Node,
    argument: int,
    values: Values,
) -> Any:
    """Return what `pull` makes of a Block, with a mask by the same moves as the values.

    It is for rules that only move elements, or add some up, and read no values.
    """
    part = pull(xp, g, node, parent, argument, values)
    if not g.is_masked or part is None:
        return part

    def mask() -> Any:
        plain: Any = backends.namespace_of(g.mask)
        numbers = Block(g.shape, g.region, plain.astype(g.mask, plain.float32))
        moved = pull(plain, numbers, node, parent, argument, values)
        return (moved.values if type(moved) is Block else moved) != 0

    if type(part) is Block:
        return Block(part.shape, part.region, part.values, mask)
    return Block(tuple(part.shape), whole(tuple(part.shape)), part, mask)


def position_map(
    name: str,
    transpose: Rule | None = None,
    *,
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    block: Rule | None = None,
    reached: Callable[..., Any] | None = None,
    takes_rows: bool = False,
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare an operation that only moves, repeats or drops elements; see `linear`."""
    rule: Any = transpose
    if transpose is None:

        def rule(xp: Any, g: Any, x_shape: Any, *values: Any) -> Any:
            return op.transpose(xp, g, x_shape, *values)

        rule.__signature__ = _signature("xp", "g", "x_shape", *params)
    op = PositionMap(name, ("x",), compute or by_name(name), [rule], params)
    if transpose is None and block is None:
        op.block = op.transpose_block
    else:
        _set_block(op, rule, block)
    op.reached, op.takes_rows = reached, takes_rows
    return declared(op, tests)


def _signature(*names: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(n, kind) for n in names])
