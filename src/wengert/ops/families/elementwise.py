"""Operations on each element: a rule g -> g * partial for each argument, and zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np
from numpy import ndarray

from wengert import backends
from wengert.engine.cotangents import Block, add, cut, unbroadcast, unbroadcast_block
from wengert.engine.node import Edge, Edges, Node, Values
from wengert.engine.op import Grouping, Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.ops import batching
from wengert.ops.families.declare import Operation, Rule, Tests, by_name, declared, numpy_or, sample
from wengert.ops.families.directions import Directions
from wengert.ops.families.factored import FEW, carried
from wengert.ops.families.structure import repeated, zeros_kept
from wengert.regions import Region, sizes, whole


class Elementwise(Op):
    """Each element of the result depends on one element of each argument."""

    family = "elementwise"
    computes = True
    broadcasts = True
    pointwise = True
    has_partials = True
    takes_numbers = True
    takes_rows = takes_directions = True
    #: whether the rules are transposes already, as for real, imag and conj
    transposed = False
    #: ``(g, x, shape)`` on NumPy's arrays: the rule's answer about an argument that was repeated,
    #: summed as it is computed
    summed: Callable[..., Any] | None = None
    #: for an operation that chooses among its arguments: which elements it takes of each
    chosen: tuple[Rule | None, ...]

    def __init__(self, *args: Any, chosen: Sequence[Rule | None] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.chosen = tuple(chosen)
        if not chosen:
            self.pull = self._quick_pull()  # type: ignore[method-assign]

    def _quick_pull(self) -> Callable[..., Sequence[Any]]:
        """Return `pull` that calls rules and no more, where g and the numbers are plain and real.

        A call with a star would take longer than what most rules do in Python.
        """
        rules: Any = self.rules
        otherwise = super().pull

        def summed(xp: Any, g: Any, edge: Edge, sweep: Any) -> Any:
            """Return the answer about an argument that was repeated: add first, or meanwhile."""
            parent, argument, values = edge
            rule, shape = rules[argument], parent.shape
            if values:
                if self.summed is not None and type(values[0]) is ndarray is type(g):
                    return self.summed(g, values[0], shape)
                return rule(xp, g, *values)
            waits = type(g) is ndarray and parent.op.takes_deferred and g.dtype is parent.dtype
            if waits and g.ndim == 2 and len(g) <= FEW and g.shape[1:] == shape:
                return carried(None, rule(xp, g), parent, sweep)
            return rule(xp, unbroadcast(xp, g, shape))

        def pull(xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
            dtype = node.dtype
            if type(g) is ndarray:
                usual = dtype is _SINGLE or dtype is _DOUBLE
            else:
                usual = type(g) in backends.QUICK and xp.is_real(dtype)
            if not usual:
                return otherwise(xp, g, node, edges)
            parts, shape = [], node.shape
            for edge in edges:
                parent, argument, values = edge
                rule = rules[argument]
                if sweep is not None and parent.shape != shape:
                    parts.append(summed(xp, g, edge, sweep))
                elif len(values) == 1:
                    parts.append(rule(xp, g, values[0]))
                else:
                    parts.append(rule(xp, g, *values) if values else rule(xp, g))
            return parts

        return pull

    def pull_array(self, xp: Any, g: Any, node: Node, argument: int, values: Values) -> Any:
        """Return g times the partial derivative, conjugated where numbers are complex."""
        part = self._times_partial(xp, g, node, argument, values)
        if not self.chosen or part is None:
            return part
        return Block(node.shape, whole(node.shape), part, self._choice(xp, argument, values))

    def _times_partial(self, xp: Any, g: Any, node: Node, argument: int, values: Values) -> Any:
        rule: Any = self.rules[argument]
        if backends.kind_of(node.dtype) == "c" and not self.transposed:
            g = rule(xp, xp.conj(g), *values)  # g * conj(partial), for a holomorphic function
            return None if g is None else xp.conj(g)
        return rule(xp, g, *values)

    def _choice(self, xp: Any, argument: int, values: Values) -> Any:
        """Return the mask of the elements that were chosen, as a function; None for all."""
        chosen = self.chosen[argument] if self.chosen else None
        return None if chosen is None else lambda: chosen(xp, *values)

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return the rule's answer on the matching part of each operand."""
        region = g.region
        here = tuple([cut(v, region) for v in values])
        if g.is_masked:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # dropped below
                part = self._times_partial(xp, g.values, node, argument, here)
        else:
            part = self._times_partial(xp, g.values, node, argument, here)
        if part is None:
            return None
        mask = None
        if g.is_masked or self.chosen:
            part = zeros_kept(xp, part, g, region)
            mask = _both(g, self._choice(xp, argument, here))
        if parent.shape == g.shape and part.shape == g.values.shape:
            return Block(parent.shape, region, part, mask)
        return unbroadcast_block(xp, part, region, parent.shape, mask)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the sum of the rules' answers to the tangents."""
        total: Any = None
        complex_result = backends.kind_of(node.dtype) == "c"
        for parent, argument, values, t in edges:
            if self.transposed or (not complex_result and backends.kind_of(parent.dtype) == "c"):
                return NotImplemented  # not a product with a partial derivative
            rule: Any = self.rules[argument]
            if type(edges) is Directions:
                t = edges.in_line(t, node)
            if type(t) is Block:
                region = self.reach(t.region, node, parent, argument, values)
                part = rule(xp, t.values, *[cut(v, region) for v in values])
                if part is not None:
                    part = Block(node.shape, region, xp.broadcast_to(part, sizes(region)))
            else:
                part = rule(xp, t, *values)
            if part is not None:
                total = part if total is None else _sum_of(xp, total, part, node.shape)
        return total

    def batch(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return the operation on all examples, whose axes are in line from the right."""
        return apply(self, batching.aligned(arrays, mapped), params)

    def grouping(self, node: Node, edge: Edge) -> Grouping:
        """Return that each element of an argument is a group, repeated along some axes."""
        shape = edge[0].shape
        return Grouping(None, repeated(shape, node.shape), math.prod(shape))

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the same region, and one place along axes that the argument is repeated along."""
        lead = len(node.shape) - len(parent.shape)
        return tuple(range(1) if n == 1 else region[lead + i] for i, n in enumerate(parent.shape))

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the same region, and all along axes that the argument is repeated along."""
        if node.shape == parent.shape:
            return region
        lead = len(node.shape) - len(parent.shape)
        repeated = whole(node.shape)
        return repeated[:lead] + tuple(
            repeated[lead + i] if n == 1 else r
            for i, (r, n) in enumerate(zip(region, parent.shape, strict=True))
        )


def _sum_of(xp: Any, one: Any, two: Any, shape: tuple[int, ...]) -> Any:
    """Return the sum of two tangents of an array of `shape`, to which they may yet broadcast."""
    if type(one) is not Block and type(two) is not Block:
        return one + two
    first, second = (t if type(t) is Block else xp.broadcast_to(t, shape) for t in (one, two))
    return add(xp, first, second)


def _both(g: Block, choice: Any) -> Any:
    """Return the mask of where g and a choice hold; None if there is neither."""
    if choice is None:
        return g._mask
    return choice if not g.is_masked else lambda: _raw(choice()) & g.mask


def _raw(x: Any) -> Any:
    return x._raw if type(x) is Tensor else x


_SINGLE, _DOUBLE = np.dtype("float32"), np.dtype("float64")


ONE = [sample((2, 3)), sample(()), sample((0, 2)), sample((4,))]
TWO = [
    sample((2, 3), (2, 3)),
    sample((2, 3), (3,)),
    sample((2, 1), (1, 3)),
    sample((), (2,)),
    sample((0, 2), (2,)),
]
THREE = [
    sample((2, 3), (2, 3), (2, 3)),
    sample((3,), (2, 1), (2, 3)),
    sample((2, 1), (), (3,)),
    sample((0, 2), (2,), ()),
]
#: What an operation is tested with, by the number of its arguments.
_SAMPLES = {1: ONE, 2: TWO, 3: THREE}


def elementwise(
    name: str,
    *rules: Rule | None,
    args: Sequence[str] = (),
    compute: Callable[..., Any] | None = None,
    numpy: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    transposed: bool = False,
    chosen: Sequence[Rule | None] = (),
    summed: Callable[..., Any] | None = None,
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare a function of each element, by rules ``(xp, g, ...) -> g * partial``.

    `numpy` is a function of NumPy's that has its values, where `compute` is for other libraries.
    `summed` is the rule of an operation with the same one for all arguments, where an argument was
    repeated and is to be summed over: ``(g, x, shape)`` on NumPy's arrays.
    `chosen` is for an operation that chooses among its arguments, as `where` does: for each, a
    function ``(xp, ...) -> mask`` that reads what the rule reads. What is not chosen is zero by
    structure.
    """
    args = args or (("x",) if len(rules) == 1 else tuple(f"x{i + 1}" for i in range(len(rules))))
    op = Elementwise(name, args, compute or by_name(name), rules, params, chosen=chosen)
    op.transposed, op.summed = transposed, summed
    set_numpy_function(op, compute, numpy)
    tests.setdefault("samples", _SAMPLES[len(rules)])
    return declared(op, tests)


def set_numpy_function(
    op: Op, compute: Callable[..., Any] | None, numpy: Callable[..., Any] | None = None
) -> None:
    """Have a function of NumPy compute an operation: by default the one of its name."""
    if numpy is not None:
        op.compute = numpy_or(numpy, op.compute)
    elif compute is None and "." not in op.name:
        numpy = getattr(np, op.name)
    if numpy is not None:
        op.numpy_function = numpy
        op.rounds_once = isinstance(numpy, np.ufunc) and op.broadcasts
        op.aliases = not isinstance(numpy, np.ufunc) or op.name in ("real", "imag")


class Zero(Op):
    """Constant between jumps, or not a number that could have a derivative."""

    family = "zero"
    broadcasts = True
    takes_numbers = True

    def batch(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return the operation on all examples: on each element, or along `axis`."""
        if "axis" not in params:
            return apply(self, batching.aligned(arrays, mapped), params)
        if params["axis"] is None:
            return batching.over_all(self, level, arrays, mapped, params)
        return batching.along_axes(self, level, arrays, mapped, params)


def zero(
    name: str,
    *,
    args: Sequence[str] = ("x",),
    compute: Callable[..., Any] | None = None,
    numpy: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    **tests: Unpack[Tests],
) -> Operation[Tensor]:
    """Declare a function whose derivative is zero, so that nothing is recorded."""
    op = Zero(name, args, compute or by_name(name), [None] * len(args), params)
    set_numpy_function(op, compute, numpy)
    tests.setdefault("samples", ONE if len(args) == 1 else TWO)
    tests.setdefault("kinds", "f")
    return declared(op, tests)
