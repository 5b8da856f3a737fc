"""Families of operations: what follows from an operation being of a kind.

Each function here declares one operation and returns what users call. The declaration
holds all that is known about it: how to compute it against a namespace `xp`, a rule for
each array argument, where it may be tested (`domain`, `kinds`, `samples`). What a rule may
read is listed in `engine.node.Op`. From the family follow the cotangent of each argument,
how a Block goes through, and the tests.

    elementwise   a rule g -> g * partial for each argument; it serves both modes
    linear        the operation and its transpose
    position_map  moves or repeats elements: nothing but itself; a transpose where it is hot
    contraction   products summed over axes: a transpose for each operand, and its regions
    reduction     a rule g -> g * partial with respect to the reduced elements
    linewise      each line along some axes depends on the same line: softmax
    zero          no derivative anywhere it exists: floor, comparisons, argmax
    special       rules of its own
    joint         one rule for all arguments, which share work
    composite     a body in other operations
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, TypedDict, Unpack

import numpy as np

from wengert import backends
from wengert.engine.cotangents import (
    Block,
    Region,
    add,
    cut,
    part_of,
    sizes,
    slices,
    unbroadcast_block,
    whole,
)
from wengert.engine.errors import RuleError
from wengert.engine.fastpath import caller
from wengert.engine.node import Edge, Node
from wengert.engine.op import Grouping, Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.ops import batching

Rule = Callable[..., Any]
Domain = tuple[float, float]
ANYWHERE: Domain = (-2.0, 2.0)


@dataclass(frozen=True)
class Sample:
    """One way to call an operation in a test: a shape for each array, and parameters."""

    shapes: tuple[tuple[int, ...], ...]
    params: dict[str, Any] = field(default_factory=dict)


def sample(*shapes: tuple[int, ...], **params: Any) -> Sample:
    """Return a Sample of arrays with these shapes, and these parameters."""
    return Sample(shapes, params)


class Tests(TypedDict, total=False):
    """What a declaration says for its tests, and its docstring."""

    #: ways to call it
    samples: Sequence[Sample]
    #: the interval that numbers are from, for all arrays or for each
    domain: Domain | Sequence[Domain]
    #: letters of the kinds of numbers it takes: f(loat), c(omplex), i(nteger), b(ool)
    kinds: str
    #: the same function of NumPy arrays, where NumPy has none of its name
    reference: Callable[..., Any] | None
    #: makes arrays that it takes (positive definite, sorted) of NumPy arrays of the domain
    inputs: Callable[..., Sequence[Any]] | None
    #: ``(xp, *results) -> results``: what does not depend on an arbitrary choice, such as a sign
    invariant: Callable[..., Any] | None
    #: how many times the usual error of rounding its values may have
    rounding: float
    #: what it is on many examples: ``(op, level, arrays, mapped, params)``, see `ops.batching`
    batch: Callable[..., Any]
    doc: str | None


@dataclass
class Entry:
    """An operation in the registry, with what its tests need."""

    name: str
    family: str
    function: Callable[..., Any]
    op: Op | None
    samples: Sequence[Sample]
    domains: Sequence[Domain]
    kinds: str = "fc"
    reference: Callable[..., Any] | None = None
    inputs: Callable[..., Sequence[Any]] | None = None
    invariant: Callable[..., Any] | None = None
    rounding: float = 1.0


_WORDS = {"elementwise": "each element, or of each pair of elements", "zero": "each element"}
#: Every operation by name, in the order of declaration.
REGISTRY: dict[str, Entry] = {}


def _register(
    function: Callable[..., Any], op: Op | None, name: str, family: str, tests: Tests
) -> Callable[..., Any]:
    if name in REGISTRY:
        raise RuleError(f"{name}: declared twice")
    samples = tests.pop("samples", ())
    if not samples:
        raise RuleError(
            f"{name}: declare samples=[sample(shape, ..., param=value), ...] to test it with"
        )
    count = max(len(s.shapes) for s in samples)
    domain: Any = tests.pop("domain", ANYWHERE)
    domains = [domain] * count if isinstance(domain[0], (int, float)) else domain
    doc = tests.pop("doc", None)
    REGISTRY[name] = Entry(name, family, function, op, samples, domains, **tests)  # type: ignore[misc]
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    if doc or not function.__doc__:
        function.__doc__ = doc or f"Return {name} of {_WORDS.get(family, 'the arguments')}."
    function.op = op  # type: ignore[attr-defined]
    return function


def _declared(op: Op, tests: Tests) -> Callable[..., Any]:
    """Return what users call for an operation that is now in the registry."""
    if "batch" in tests:
        op.batch = partial(tests.pop("batch"), op)
    return _register(_caller(op), op, op.name, op.family, tests)


def _by_name(name: str) -> Callable[..., Any]:
    find = attrgetter(name)  # also of an extension, as in "linalg.solve"

    def compute(xp: Any, *arrays: Any, **params: Any) -> Any:
        return find(xp)(*arrays, **params)

    compute.find = find  # type: ignore[attr-defined]
    return compute


def _run(op: Op, xp: Any, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return an operation on raw arrays or, if `xp` is the namespace of tensors, recorded."""
    if xp is Tensor._namespace:
        return apply(op, arrays, params)
    return op.compute(xp, *arrays, **params)


def _caller(op: Op) -> Callable[..., Any]:
    """Return the function that users call for an operation."""
    function = caller(op)
    names = ["arrays"] if op.variadic else op.args
    kind = inspect.Parameter.VAR_POSITIONAL if op.variadic else inspect.Parameter.POSITIONAL_ONLY
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, kind) for n in names]
        + [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in op.params]
    )
    return function


# -- elementwise ------------------------------------------------------------------------


class Elementwise(Op):
    """Each element of the result depends on one element of each argument."""

    family = "elementwise"
    broadcasts = True
    pointwise = True
    has_partials = True
    takes_numbers = True
    takes_rows = True
    #: whether the rules are transposes already, as for real, imag and conj
    transposed = False
    #: for an operation that chooses among its arguments: which elements it takes of each
    chosen: tuple[Rule | None, ...] = ()

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], own: bool = False
    ) -> Sequence[Any]:
        """Return the rules' answers, which are all that real numbers need."""
        if type(g) is Block or self.chosen or not _is_real(node.dtype):
            return super().pull(xp, g, node, edges, own)
        rules: Any = self.rules
        if len(edges) == 1:
            ((_, argument, values),) = edges
            return (rules[argument](xp, g, *values),)
        return [rules[argument](xp, g, *values) for _, argument, values in edges]

    def pull_array(
        self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return g times the partial derivative, conjugated where numbers are complex."""
        part = self._times_partial(xp, g, node, argument, values)
        if not self.chosen or part is None:
            return part
        return Block(node.shape, whole(node.shape), part, self._choice(xp, argument, values))

    def _times_partial(
        self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        rule: Any = self.rules[argument]
        if backends.kind_of(node.dtype) == "c" and not self.transposed:
            g = rule(xp, xp.conj(g), *values)  # g * conj(partial), for a holomorphic function
            return None if g is None else xp.conj(g)
        return rule(xp, g, *values)

    def _choice(self, xp: Any, argument: int, values: tuple[Any, ...]) -> Any:
        """Return the mask of the elements that were chosen, as a function; None for all."""
        chosen = self.chosen[argument] if self.chosen else None
        return None if chosen is None else lambda: chosen(xp, *values)

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
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
            part = _kept(xp, part, g, region)
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
        return Grouping(None, _repeated(shape, node.shape), math.prod(shape))

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


def _repeated(shape: tuple[int, ...], to: tuple[int, ...]) -> np.ndarray:
    """Return which element of an array of one shape each is of another that it broadcasts to."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), to).ravel()


def _reduced(shape: tuple[int, ...], axis: Collection[int]) -> tuple[int, ...]:
    """Return a shape with length 1 along some axes."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape))


def _sum_of(xp: Any, one: Any, two: Any, shape: tuple[int, ...]) -> Any:
    """Return the sum of two tangents of an array of `shape`, to which they may yet broadcast."""
    if type(one) is not Block and type(two) is not Block:
        return one + two
    first, second = (t if type(t) is Block else xp.broadcast_to(t, shape) for t in (one, two))
    return add(xp, first, second)


def _kept(xp: Any, part: Any, g: Block, region: Region, mask: Any = None) -> Any:
    """Return a rule's answer to the values of g with what is zero by structure zero still."""
    if not g.is_masked or part is g.values:
        return part
    part = xp.broadcast_to(part, sizes(region))
    return Block(g.shape, region, part, mask or (lambda: g.mask)).kept(xp)


def _both(g: Block, choice: Any) -> Any:
    """Return the mask of where g and a choice hold; None if there is neither."""
    if choice is None:
        return g._mask
    return choice if not g.is_masked else lambda: _raw(choice()) & g.mask


def _raw(x: Any) -> Any:
    return x._raw if type(x) is Tensor else x


_SINGLE, _DOUBLE = np.dtype("float32"), np.dtype("float64")


def _is_real(dtype: Any) -> bool:
    """Return whether numbers are real; for the usual dtypes of NumPy without a call."""
    return dtype is _DOUBLE or dtype is _SINGLE or backends.kind_of(dtype) != "c"


_ONE = [sample((2, 3)), sample(()), sample((0, 2)), sample((4,))]
_TWO = [
    sample((2, 3), (2, 3)),
    sample((2, 3), (3,)),
    sample((2, 1), (1, 3)),
    sample((), (2,)),
    sample((0, 2), (2,)),
]


def elementwise(
    name: str,
    *rules: Rule | None,
    args: Sequence[str] = (),
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    transposed: bool = False,
    chosen: Sequence[Rule | None] = (),
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare a function of each element, by rules ``(xp, g, ...) -> g * partial``.

    `chosen` is for an operation that chooses among its arguments, as `where` does: for each, a
    function ``(xp, ...) -> mask`` that reads what the rule reads. What is not chosen is zero by
    structure.
    """
    args = args or (("x",) if len(rules) == 1 else tuple(f"x{i + 1}" for i in range(len(rules))))
    op = Elementwise(name, args, compute or _by_name(name), rules, params)
    op.transposed = transposed
    op.chosen = tuple(chosen)
    _set_numpy_function(op, compute)
    tests.setdefault("samples", _ONE if len(rules) == 1 else _TWO)
    return _declared(op, tests)


def _set_numpy_function(op: Op, compute: Callable[..., Any] | None) -> None:
    """Have NumPy's function of the same name compute an operation, if nothing else does."""
    if compute is None and "." not in op.name:
        op.numpy_function = getattr(np, op.name)
        op.aliases = not isinstance(op.numpy_function, np.ufunc) or op.name in ("real", "imag")


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
    params: Sequence[str] = (),
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare a function whose derivative is zero, so that nothing is recorded."""
    op = Zero(name, args, compute or _by_name(name), [None] * len(args), params)
    _set_numpy_function(op, compute)
    tests.setdefault("samples", _ONE if len(args) == 1 else _TWO)
    tests.setdefault("kinds", "f")
    return _declared(op, tests)


# -- linear and position maps -----------------------------------------------------------


class Linear(Op):
    """Linear in its one array, with a transpose and perhaps a rule for a Block."""

    family = "linear"
    linear = True
    #: whether the transpose only moves elements and adds some up, so that a mask goes with them
    moves = False
    #: parameters that are numbers computed from the program's argument: a pattern that holds for
    #: every argument does not look at them, and takes what `depends` says
    numbers: tuple[str, ...] = ()
    block: Rule | None = None
    reached: Callable[..., Any] | None = None

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return what the operation's own rule for a Block says, if it has one."""
        if self.moves:
            return pull_with_mask(self._pull_values, xp, g, node, parent, argument, values)
        return self._pull_values(xp, g, node, parent, argument, values)

    def _pull_values(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        part = None if self.block is None else self.block(xp, g, *values)
        return super().pull_block(xp, g, node, parent, argument, values) if part is None else part

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the operation of the tangent, if its parameters are known."""
        ((_, argument, values, t),) = edges
        known = dict(zip(self.reads[argument] or (), values, strict=True))
        if type(t) is Block or not known.keys() >= {*self.params}:
            return NotImplemented
        return _run(self, xp, (t,), {name: known[name] for name in self.params})

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return what the rule for a Block makes of one without values."""
        if self.block is None or math.prod(map(len, region)) > 1_000_000:
            return None
        empty = np.broadcast_to(np.zeros((), np.float32), sizes(region))
        part = self.block(backends.NUMPY, Block(node.shape, region, empty), *values)
        return part.region if type(part) is Block else None

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return what `reached` says, if it was declared."""
        return None if self.reached is None else self.reached(region, node.shape, *values)


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
) -> Callable[..., Any]:
    """Declare a linear operation by itself and its transpose.

    `block`, if given, takes a Block in place of g, reads what `transpose` reads, and
    returns a Block, or None where it would be no smaller than the whole. `takes_rows` says that
    it takes a list of positions on an axis. ``reached(region, shape of the result, ...)`` reads
    the same, and returns the region of the result that depends on a region of the argument.
    `moves` says that the transpose only moves elements, or adds some up.
    """
    op = Linear(name, args, compute or _by_name(name), [transpose], params)
    _set_block(op, transpose, block)
    op.reached, op.takes_rows, op.moves = reached, takes_rows, moves
    return _declared(op, tests)


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
    moves = True

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
    values: tuple[Any, ...],
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
) -> Callable[..., Any]:
    """Declare an operation that only moves, repeats or drops elements; see `linear`."""
    rule: Any = transpose
    if transpose is None:

        def rule(xp: Any, g: Any, x_shape: Any, *values: Any) -> Any:
            return op.transpose(xp, g, x_shape, *values)

        rule.__signature__ = _signature("xp", "g", "x_shape", *params)
    op = PositionMap(name, ("x",), compute or _by_name(name), [rule], params)
    if transpose is None and block is None:
        op.block = op.transpose_block
    else:
        _set_block(op, rule, block)
    op.reached, op.takes_rows = reached, takes_rows
    return _declared(op, tests)


def _signature(*names: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(n, kind) for n in names])


# -- contractions -------------------------------------------------------------------------


class Contraction(Op):
    """Sums of products. `regions` maps a region of the result to those of the operands."""

    family = "contraction"
    broadcasts = True
    linear = True
    regions: Callable[..., Sequence[Region]]
    reached: Callable[..., Region] | None = None
    summed: Callable[..., int] | None = None

    def _known(self, argument: int, values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a rule reads by name, and of that the parameters."""
        reads = self.reads[0 if self.variadic else argument] or ()
        known = dict(zip(reads, values, strict=True))
        return known, {k: v for k, v in known.items() if k in self.params}

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return the transpose applied to the parts of the operands that the Block touches."""
        known, params = self._known(argument, values)
        regions = self.regions(g.region, known["shapes"], **params)
        for name, value in known.items():
            if name == "arrays":
                known[name] = tuple(map(cut, value, regions))
            elif name in self.args:
                known[name] = cut(value, regions[self.args.index(name)])
        part = self.pull_array(xp, g.values, node, argument, tuple(known.values()))
        return unbroadcast_block(xp, part, regions[argument], parent.shape)

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        """Return the sum of the operation with each tangent in the place of its operand."""
        if any(type(t) is Block for *_, t in edges) or not (self.variadic or len(self.args) == 2):
            return NotImplemented  # of three operands one is added
        total: Any = None
        for _, argument, values, t in edges:
            known, params = self._known(argument, values)
            operands = list(known["arrays"]) if self.variadic else [*map(known.get, self.args)]
            operands[argument] = t
            if params.keys() != {*self.params} or any(x is None for x in operands):
                return NotImplemented
            part = _run(self, xp, tuple(operands), params)
            total = part if total is None else total + part
        return total

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
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare sums of products, by a transpose for each operand, which reads `shapes`.

    ``regions(region of the result, shapes, **params)`` is the part of each operand it uses;
    ``reached(region of an operand, argument, shape of the result, shapes, **params)``, the part
    of the result that depends on it; ``summed(shapes, **params)``, how many products are summed
    for an element. `takes_rows` says that the first two work on lists of positions.
    """
    op = Contraction(name, args, compute or _by_name(name), rules, params, variadic)
    op.regions = regions
    op.reached = reached
    op.summed = summed
    op.takes_rows = takes_rows
    return _declared(op, tests)


# -- reductions ---------------------------------------------------------------------------


class Reduction(Op):
    """One number for all elements along some axes. Rules see g and y with those axes kept."""

    family = "reduction"
    has_partials = True
    takes_rows = True

    def _reads(self, rule: Rule) -> tuple[str, ...]:
        return (*super()._reads(rule), "x_shape", "axis")

    def pull_array(
        self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return g spread over the reduced elements."""
        *values, shape, axis = values  # type: ignore[assignment]
        return self._spread(xp, g, node, values, shape, axis, whole(shape))

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return a Block that is whole along the reduced axes."""
        *values, shape, axis = values  # type: ignore[assignment]
        outer = iter(g.region)
        keeps = len(g.region) == len(shape)
        region: list[Any] = []
        for i, n in enumerate(shape):
            r = next(outer) if keeps or i not in axis else range(n)
            region.append(range(n) if i in axis else r)
        reads = self.reads[0] or ()
        here = []
        for name, value in zip(reads, values, strict=False):
            if name == "x":
                value = part_of(value, tuple(region))
            elif name == "y":
                value = part_of(value, g.region)
            here.append(value)
        if not g.is_masked:
            part = self._spread(xp, g.values, node, here, shape, axis, tuple(region))
            return Block(shape, tuple(region), part)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            part = self._spread(xp, g.values, node, here, shape, axis, tuple(region))
        kept = tuple(1 if i in axis else len(r) for i, r in enumerate(region))

        def mask() -> Any:
            plain: Any = backends.namespace_of(g.mask)
            return plain.reshape(g.mask, kept)

        return Block(shape, tuple(region), _kept(xp, part, g, tuple(region), mask), mask)

    def batch(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return the reduction along the same axes of all examples."""
        return batching.along_axes(self, level, arrays, mapped, params)

    def grouping(self, node: Node, edge: Edge) -> Grouping:
        """Return that the elements that are reduced to one are a group."""
        *_, shape, axis = edge[2]
        kept = _reduced(shape, axis)
        return Grouping(_repeated(kept, shape), None, math.prod(kept))

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

    def _spread(
        self,
        xp: Any,
        g: Any,
        node: Node,
        values: Any,
        shape: tuple[int, ...],
        axis: tuple[int, ...],
        region: Region,
    ) -> Any:
        """Return the cotangent of a region of x, from g and y on its reduced elements."""
        kept = tuple(1 if i in axis else len(r) for i, r in enumerate(region))
        reads = self.reads[0] or ()
        values = [
            xp.reshape(v, kept) if name == "y" else v
            for name, v in zip(reads, values, strict=False)
        ]
        rule: Any = self.rules[0]
        if backends.kind_of(node.dtype) == "c":  # as for elementwise operations
            part = xp.conj(rule(xp, xp.conj(xp.reshape(g, kept)), *values))
        else:
            part = rule(xp, xp.reshape(g, kept), *values)
        lengths = sizes(region)
        return part if tuple(part.shape) == lengths else xp.broadcast_to(part, lengths)


_REDUCED = [
    sample((2, 3), axis=(0, 1), keepdims=False),
    sample((2, 3), axis=(1,), keepdims=False),
    sample((2, 3, 2), axis=(0, 2), keepdims=True),
    sample((), axis=(), keepdims=False),
    sample((3, 2), axis=(), keepdims=False),
]


def reduction(
    name: str,
    rule: Rule,
    *,
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = ("axis", "keepdims"),
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare a reduction over the tuple `axis`, by a rule ``(xp, g, ...) -> g * partial``."""
    op = Reduction(name, ("x",), compute or _by_name(name), [rule], params)
    tests.setdefault("samples", _REDUCED)
    return _declared(op, tests)


# -- lines ----------------------------------------------------------------------------------


class Linewise(Op):
    """Each line along some axes depends on the same line of x, and on all of it: softmax."""

    family = "linewise"

    def axes_of(self, node: Node, values: tuple[Any, ...]) -> tuple[int, ...]:
        """Return the axes that lines are along."""
        known = dict(zip(self.reads[0] or (), values, strict=True))
        given = known.get("axis", (-1,))
        return tuple(a % len(node.shape) for a in given) if node.shape else ()

    def _widened(self, region: Region, node: Node, values: tuple[Any, ...]) -> Region:
        along = self.axes_of(node, values)
        return tuple(
            range(n) if i in along else r
            for i, (r, n) in enumerate(zip(region, node.shape, strict=True))
        )

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return the rule's answer on the lines that the Block touches."""
        region, wide, here = self._lines(xp, g, node, argument, values)
        part = self.pull_array(xp, wide, node, argument, here)
        return Block(parent.shape, region, part) if argument == 0 else part

    def _lines(
        self, xp: Any, g: Block, node: Node, argument: int, values: tuple[Any, ...]
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
        kept = _reduced(node.shape, self.axes_of(node, edge[2]))
        lines = _repeated(kept, node.shape)
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
) -> Callable[..., Any]:
    """Declare a function of each line along the tuple `axis`, by a rule for all lines.

    The rule works on any number of lines. It reads the parameter `axis`; without one, lines are
    along the last axis.
    """
    op = Linewise(name, args, compute or _by_name(name), [rule], params)
    return _declared(op, tests)


# -- the rest -------------------------------------------------------------------------------


def special(
    name: str,
    *rules: Rule | None,
    args: Sequence[str] = ("x",),
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    variadic: bool = False,
    block: Callable[..., Any] | None = None,
    linear: bool = False,
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare an operation with rules of its own; `block` as in `Op.pull_block`.

    `linear` says that the result is linear in each argument while the others do not change.
    """
    op = Op(name, args, compute or _by_name(name), rules, params, variadic)
    op.linear = linear
    if block is not None:
        op.pull_block = block  # type: ignore[method-assign]
    return _declared(op, tests)


class Joint(Op):
    """One rule returns the cotangents of all arguments, for those that share work."""

    family = "joint"

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], own: bool = False
    ) -> Sequence[Any]:
        """Return the rule's answers, which is called once for all arguments."""
        g = g.todense(xp) if type(g) is Block else g
        found = self._answers(xp, g, edges[0][2])
        return [found[argument] for _, argument, _ in edges]

    def _answers(self, xp: Any, g: Any, values: tuple[Any, ...]) -> Sequence[Any]:
        rule: Any = self.rules[0]
        found: Sequence[Any] = rule(xp, g, *values)
        if len(found) != len(self.args):
            raise RuleError(
                f"{self.name}: the rule returned {len(found)} cotangents for the arrays "
                f"{self.args}; return one for each, None where the derivative is zero"
            )
        return found


class JointLinewise(Joint, Linewise):
    """One rule for all arguments, the first of which goes line by line: layer norm."""

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], own: bool = False
    ) -> Sequence[Any]:
        """Return the rule's answers on the lines that g touches."""
        if type(g) is not Block:
            return super().pull(xp, g, node, edges, own)
        region, wide, here = self._lines(xp, g, node, 0, edges[0][2])
        found = self._answers(xp, wide, here)
        return [
            Block(parent.shape, region, found[0]) if argument == 0 else found[argument]
            for parent, argument, _ in edges
        ]


def joint(
    name: str,
    rule: Rule,
    *,
    args: Sequence[str],
    compute: Callable[..., Any] | None = None,
    params: Sequence[str] = (),
    lines: bool = False,
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare an operation by one rule ``(xp, g, ...) -> (cotangent of each argument)``.

    `lines` says that the first argument goes as in `linewise`.
    """
    kind = JointLinewise if lines else Joint
    op = kind(name, args, compute or _by_name(name), [rule] * len(args), params)
    return _declared(op, tests)


def composite(
    name: str = "", **tests: Unpack[Tests]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function whose body is other operations; it needs no rule, only tests.

    `name` is its name in the registry, such as "linalg.trace", if it is not in the main namespace.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        return _register(function, None, name or function.__name__, "composite", tests)

    return declare


def variant(
    function: Any,
    convention: str,
    *rules: Rule | None,
    compute: Callable[..., Any] | None = None,
    chosen: Sequence[Rule | None] = (),
    **tests: Unpack[Tests],
) -> Callable[..., Any]:
    """Declare another convention for an operation: other rules where mathematics leaves a choice.

    Family, parameters and tests are those of the operation, and so are values unless `compute`
    says otherwise. The registry has it as "maximum(ties=first)".

    Examples
    --------
    ``variant(maximum, "ties=first", *rules)`` gives all of a gradient to the first of equal ones.
    """
    base: Any = function.op
    known = next(entry for entry in REGISTRY.values() if entry.op is base)
    op = type(base)(
        base.name, base.args, compute or base.compute, rules, base.params, base.variadic
    )
    given = {k: v for k, v in vars(base).items() if k not in vars(op) and k != "batch"}
    vars(op).update(given)  # what a declaration has set beside these
    if compute is not None:
        op.numpy_function = None
    if hasattr(op, "chosen"):
        op.chosen = tuple(chosen)
    for name in ("samples", "kinds", "reference", "inputs", "invariant", "rounding"):
        tests.setdefault(name, getattr(known, name))  # type: ignore[misc]
    tests.setdefault("domain", known.domains)
    return _register(_caller(op), op, f"{known.name}({convention})", op.family, tests)


def axes(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Return an axis, a tuple of them or None (all) as a tuple of non-negative ones."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(_axis(int(a), ndim, name) for a in given)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: axis {axis} names an axis twice")
    return found


def _axis(axis: int, ndim: int, name: str) -> int:
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(f"{name}: axis {axis} of an array with {ndim} axes")
    return axis % ndim


def one_axis(axis: Any, ndim: int, name: str) -> int:
    """Return one axis as a non-negative number."""
    return axes(int(axis), ndim, name)[0]
