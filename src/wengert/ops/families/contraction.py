"""Products summed over axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from wengert.engine.cotangents import Block, cut, unbroadcast_block
from wengert.engine.node import Edges, Node, Values
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor
from wengert.ops.families.declare import Operation, Rule, Tests, by_name, declared, run
from wengert.ops.families.directions import Directions, lead_of
from wengert.ops.families.factored import carried
from wengert.ops.families.structure import zeros_for
from wengert.regions import Region, same, whole

#: ``(xp, g, *values)`` -> the matrices that a rule multiplies, ``left.T @ right``, or None.
Factors = Callable[..., tuple[Any, Any] | None]


class Contraction(Op):
    """Sums of products. `regions` maps a region of the result to those of the operands."""

    family = "contraction"
    computes = True
    broadcasts = True
    linear = takes_directions = True
    regions: Callable[..., Sequence[Region]]
    reached: Callable[..., Region] | None = None
    summed: Callable[..., int] | None = None
    #: for each operand the matrices that its rule multiplies, or None: see `contraction`
    factors: Sequence[Factors | None] = ()
    #: of an operation whose last operand is added to the products: the axis of the result it is on
    added: int | None = None

    def _known(self, argument: int, values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a rule reads by name, and of that the parameters."""
        reads = self.reads[0 if self.variadic else argument] or ()
        known = dict(zip(reads, values, strict=True))
        return known, {k: v for k, v in known.items() if k in self.params}

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the cotangents of the operands; to a sweep, products for what no rule reads."""
        if sweep is None or not self.factors:
            return super().pull(xp, g, node, edges)
        is_block = type(g) is Block
        weights = g.values if is_block else g
        parts = []
        for parent, argument, values in edges:
            find = self.factors[argument] if parent.op.takes_deferred else None
            if is_block:
                values, regions = self._touched(g, argument, values)
                if find is not None and not same(regions[argument], whole(parent.shape)):
                    find = None
            pair = None if find is None else find(xp, weights, *values)
            part = NotImplemented if pair is None else carried(*pair, parent, sweep)
            if part is NotImplemented:
                part = self.rules[argument](xp, weights, *values)  # type: ignore[misc]
                if is_block:
                    part = unbroadcast_block(xp, part, regions[argument], parent.shape)
            parts.append(part)
        return parts

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return the transpose applied to the parts of the operands that the Block touches."""
        read, regions = self._touched(g, argument, values)
        part = self.pull_array(xp, g.values, node, argument, read)
        return unbroadcast_block(xp, part, regions[argument], parent.shape)

    def _touched(self, g: Block, argument: int, values: Values) -> tuple[Values, Sequence[Region]]:
        """Return what a rule reads of the parts of the operands that a Block touches; the parts."""
        known, params = self._known(argument, values)
        regions = self.regions(g.region, known["shapes"], **params)
        for name, value in known.items():
            if name == "arrays":
                known[name] = tuple(map(cut, value, regions))
            elif name in self.args:
                known[name] = cut(value, regions[self.args.index(name)])
        return tuple(known.values()), regions

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the sum of the operation with each tangent in the place of its operand."""
        if any(type(t) is Block for *_, t in edges):
            return NotImplemented
        total: Any = None
        for _, argument, values, t in edges:
            if self.added is not None and argument == len(self.args) - 1:
                part = xp.reshape(t, (*lead_of(edges), *self._beside(node)))
            else:
                known, params = self._known(argument, values)
                params |= self.implied(node)
                operands = list(known["arrays"]) if self.variadic else [*map(known.get, self.args)]
                operands[argument] = t
                if self.added is not None:
                    operands[-1] = zeros_for(t, (node.shape[self.added],), node.dtype)
                if params.keys() != {*self.params} or any(x is None for x in operands):
                    return NotImplemented
                if type(edges) is not Directions:
                    part = run(self, xp, tuple(operands), params)
                elif self.batch is not None:
                    part = edges.run(self, operands, argument, params)
                else:
                    return NotImplemented
            total = part if total is None else total + part
        return total

    def implied(self, node: Node) -> dict[str, Any]:
        """Return parameters that the result tells, and that no rule need read."""
        return {}

    def _beside(self, node: Node) -> tuple[int, ...]:
        """Return the shape in which the added operand broadcasts to the result."""
        axis = range(len(node.shape))[self.added or 0]
        return tuple(n if i == axis else 1 for i, n in enumerate(node.shape))

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return what `regions` says, and one place along axes of length 1."""
        known, params = self._known(argument, values)
        found = self.regions(region, known["shapes"], **params)[argument]
        found = found[len(found) - len(parent.shape) :]
        return tuple(range(1) if n == 1 else r for r, n in zip(found, parent.shape, strict=True))

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return what `reached` says, if it was declared."""
        if self.reached is None:
            return None
        known, params = self._known(argument, values)
        return self.reached(region, argument, node.shape, known["shapes"], **params)

    def work(self, region: Region, part: Region, node: Node, argument: int, values: Any) -> int:
        """Return the size of the region times how many products each of its elements sums."""
        known, params = self._known(argument, values)
        terms = 1 if self.summed is None else self.summed(known["shapes"], **params)
        return math.prod(map(len, region)) * terms


def contraction(
    name: str,
    *rules: Rule,
    regions: Callable[..., Sequence[Region]],
    args: Sequence[str] = ("x1", "x2"),
    params: Sequence[str] = (),
    variadic: bool = False,
    compute: Callable[..., Any] | None = None,
    reached: Callable[..., Region] | None = None,
    summed: Callable[..., int] | None = None,
    takes_rows: bool = False,
    added: int | None = None,
    factors: Sequence[Factors | None] = (),
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare sums of products, by a transpose for each operand, which reads `shapes`.

    ``regions(region of the result, shapes, **params)`` is the part of each operand it uses;
    ``reached(region of an operand, argument, shape of the result, shapes, **params)``, the part
    of the result that depends on it; ``summed(shapes, **params)``, how many products are summed
    for an element. `takes_rows` says that the first two work on lists of positions; `added`, that
    the last operand is a vector that is added to the products, along this axis of the result.
    `factors` has for each operand what its rule multiplies, if that is two matrices: a function
    ``(xp, g, *values) -> (left, right)`` that reads what the rule reads, which is then
    ``left.T @ right``; or None.
    """
    op = Contraction(name, args, compute or by_name(name), rules, params, variadic)
    op.regions = regions
    op.reached = reached
    op.summed = summed
    op.takes_rows = takes_rows
    op.added = added
    op.factors = factors
    return declared(op, tests)
