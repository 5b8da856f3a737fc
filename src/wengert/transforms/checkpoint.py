"""Memory for time: a sweep recomputes the intermediate results of a function.

A checkpointed call is one node of the tape. Its edges lead to every recorded tensor that the
results were computed from, whether it is an argument or not: the call's ends. The node keeps the
arguments and no intermediate result. When a sweep comes to it, the function runs again under a
tape of its own that watches the ends, and an inner sweep carries the cotangents there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, is_traced, plain_namespace
from wengert.engine.cotangents import add
from wengert.engine.node import NOBODY, Edges, Node, Token, Tokens, active, new_node, watch
from wengert.engine.op import ALIAS, Op, leaf
from wengert.engine.record import interested, output_node
from wengert.engine.sweep import reverse
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import RuleError, cuts_shown, name_of
from wengert.ops.batching import all_values
from wengert.ops.variable import Variable
from wengert.transforms.surroundings import Surroundings, found_in, recording
from wengert.trees import flatten

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(fun: Callable[P, R], *, check: bool = False) -> Callable[P, R]:
    """Return a function like `fun` that keeps only its inputs, and runs again for a gradient.

    Intermediate results are not kept for the reverse sweep, which calls `fun` once more with the
    same arguments. Derivatives of all orders are those of `fun`, also with respect to tensors and
    variables that it reads beside its arguments. Without a tape it is `fun`.

    The second call must do what the first did. For its time, variables and random generators have
    the values of the first call; they are looked for among the arguments and in what `fun` refers
    to: names, attributes, containers. If the second call differs nevertheless, `RuleError` is
    raised. Other effects of `fun`, such as printing, happen twice.

    Parameters
    ----------
    fun
        Takes and returns any nest of arrays and other values.
    check
        Whether to keep the results and compare each element with those of the second call. By
        default two sums over each result in host memory are compared; those of a device are not
        read.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> layer = wg.checkpoint(lambda x, w: np.tanh(x * w))
    >>> wg.grad(lambda x: layer(layer(x, 0.5), 2.0))(0.0)
    np.float64(1.0)
    """

    @functools.wraps(fun)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not active.get():
            return fun(*args, **kwargs)
        again = Recomputed(fun, args, kwargs, check)
        before = now()
        return again.recorded_as_one(fun(*args, **kwargs), before)

    return call


class Checkpoint(Op):
    """The operation of a recomputed call, which is the one residual of each edge."""

    family = "checkpoint"
    takes_rows = True
    sees_unused = True

    def __init__(self, captures: bool) -> None:
        super().__init__(
            "checkpoint",
            ("arrays",),
            lambda xp, *arrays: None,
            [lambda xp, g, call: g],
            params=("call",),
            variadic=True,
        )
        self.captures = captures

    def pull(self, xp: Any, g: Any, node: Node, edges: Edges, sweep: Any = None) -> Sequence[Any]:
        """Return the cotangents of the ends. A Block goes into the inner sweep as it is."""
        call = edges[0][2][0]
        found = call.cotangents(xp, g)
        return [found[argument] for _, argument, _ in edges]


#: By whether a rule inside holds tensors of its own, which a tape may care about.
_OPS = {captures: Checkpoint(captures) for captures in (False, True)}


class Recomputed:
    """One call of a function that can be repeated.

    Attributes
    ----------
    fun, inputs, rebuild
        The function; the leaves of its arguments; and how to make (args, kwargs) of these.
    ends
        The nodes that the results were computed from, in the order of the edges.
    live
        Which leaves of the result have the derivatives.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        check: bool = False,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.fun = fun
        self.name = f"checkpoint({name_of(fun)})"
        leaves, self.rebuild = flatten((args, kwargs))
        self.inputs = [kept(value) for value in leaves]
        self.check = check
        self.ends: list[Node] = []
        self.live: list[int] = []
        self.recorded: Recorded | None = None
        self.surroundings = surroundings or Surroundings(*found_in([fun, *leaves]))

    def recorded_as_one(self, result: Any, before: int) -> Any:
        """Return the result of the first call with one node for all that it recorded."""
        tapes = active.get()
        leaves, rebuild = flatten(result)
        self.live = [i for i, value in enumerate(leaves) if is_new(value, before, tapes)]
        if not self.live:
            return result
        nodes = [leaves[i]._node for i in self.live]
        inner, self.ends = explored(nodes, before, tapes)
        self.recorded = Recorded(len(inner), frozenset(self.ends))
        self.leaf_count = len(leaves)
        self.surroundings.note_call(self.ends)
        captures = any(node.op.captures for node in inner)
        return rebuild(self.with_node(leaves, captures, interested(nodes)))

    def with_node(self, leaves: list[Any], captures: bool, tokens: Tokens) -> list[Any]:
        """Return the leaves of the result with a node that leads from the live ones to the ends.

        They are other tensors than those that the function returned and may have kept.
        """
        raws = [leaves[i]._raw for i in self.live]
        self.expected = [Expected(raw, self.check) for raw in raws]
        edges = [(end, i, (self,)) for i, end in enumerate(self.ends)]
        shapes, dtypes = [tuple(raw.shape) for raw in raws], [raw.dtype for raw in raws]
        several = len(raws) > 1
        node = new_node(
            _OPS[captures],
            *edges[0],
            tuple(edges[1:]),
            tokens,
            shapes if several else shapes[0],
            dtypes if several else dtypes[0],
        )
        leaves = list(leaves)
        for position, i in enumerate(self.live):
            part = output_node(node, position, raws[position]) if several else node
            leaves[i] = wrap(raws[position], part)
        return leaves

    def again(self) -> list[Any]:
        """Return the leaves of the result of another call, which the tapes of now record."""
        args, kwargs = self.rebuild([fresh(value) for value in self.inputs])
        return flatten(self.fun(*args, **kwargs))[0]

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return the cotangent of each end, given that of the result or a list of several."""
        weights = g if len(self.live) > 1 else [g]
        with self.surroundings.restored():
            run = Run(self.again, self.ends, xp)
        return run.pull(self.targets(run), weights)

    def targets(self, run: Run) -> list[Node]:
        """Return the nodes of the results of another run, which must be as the first was."""
        if len(run.leaves) != self.leaf_count:
            self.refuse(f"returned {len(run.leaves)} values, and {self.leaf_count} at first")
        found = [run.leaves[i] for i in self.live]
        for value, expected in zip(found, self.expected, strict=True):
            if not is_recorded(value, frozenset({run.token})):
                self.refuse("returned a constant where it returned a recorded tensor at first")
            expected.compare(value._raw, self.refuse)
        nodes = [value._node for value in found]
        recorded = run.explore(nodes)
        if self.recorded is not None:
            self.compare(recorded, self.recorded)
        return nodes

    def compare(self, found: Recorded, first: Recorded) -> None:
        """Raise unless two runs recorded as many operations, on the same tensors."""
        if found.operations != first.operations or found.ends != first.ends:
            self.refuse(
                f"recorded {found.operations} operations on {len(found.ends)} tensors, and at "
                f"first {first.operations} on {len(first.ends)}, or on other tensors"
            )

    def refuse(self, difference: str) -> None:
        """Raise the error for a function that does not do the same again."""
        raise RuleError(
            f"{self.name}: called again for the gradient, the function {difference}; it must do "
            "the same each time. Pass what changes between calls as an argument: arrays, "
            "variables, and the np.random.Generator that it draws from"
        )


class Run:
    """A call under a tape of its own, which watches the ends.

    If tapes record the sweep that asks for it, they record the call as well.
    """

    def __init__(self, call: Callable[[], list[Any]], ends: list[Node], xp: Any) -> None:
        self.xp = xp
        self.is_recorded = xp is Tensor._namespace
        # what calls for an error where the function was called does so here
        names = {token.transform for end in ends for token in end.tokens if token.alive}
        self.token = Token(False, max(names, default=""))
        self.outside = active.get() if self.is_recorded else NOBODY
        with recording(self.outside | {self.token}):
            for end in ends:
                watch(end, self.token)
            # older than what leads to them, as an outer sweep expects
            self.stand_ins = {
                end: new_node(ALIAS, end, 0, (), (), end.tokens, end.shape, end.dtype)
                for end in ends
            }
            self.before = now()
            with cuts_shown:
                self.leaves = call()

    def __del__(self) -> None:
        self.token.alive = False  # so that the ends forget it

    def explore(self, targets: list[Node]) -> Recorded:
        """Return what was recorded between the ends and the targets."""
        self._inner, ends = explored(targets, self.before, frozenset({self.token}))
        return Recorded(len(self._inner), frozenset(ends))

    def pull(self, targets: list[Node], weights: list[Any]) -> list[Any]:
        """Return the cotangents of the ends, given those of targets that have been explored.

        The sweep must not go past an end: what is behind it gets its share in the outer sweep,
        also if that is another end. So edges to ends are led to stand-ins first. This can be done
        once, since the sweep frees what it has passed.
        """
        stand_ins = self.stand_ins
        get = stand_ins.get
        for node in self._inner:
            node.parent = get(node.parent, node.parent)  # type: ignore[arg-type]
            if node.others:
                node.others = tuple([(get(p, p), i, v) for p, i, v in node.others])
        seeds: dict[Node, Any] = {}
        for node, weight in zip(targets, weights, strict=True):
            node = get(node, node)
            if weight is not None:
                seeds[node] = add(self.xp, seeds[node], weight) if node in seeds else weight
        if not seeds:
            return [None] * len(stand_ins)
        nodes = sorted(self._inner, key=attrgetter("order"), reverse=True)
        nodes += stand_ins.values()
        self.leaves, self._inner = [], []
        with recording(self.outside):
            found = reverse(
                self.xp, nodes, seeds, set(stand_ins.values()), self.is_recorded, self.token
            )
        return [found.get(node) for node in stand_ins.values()]


class Recorded(NamedTuple):
    """How many operations a call recorded, and the nodes that these lead to."""

    operations: int
    ends: frozenset[Node]


def explored(targets: Iterable[Node], before: int, tapes: Tokens) -> tuple[list[Node], list[Node]]:
    """Return the nodes recorded since `before` that lead to the targets, and their ends.

    Ends are the older nodes that these were computed from, and new leaves.
    """
    inner: list[Node] = []
    ends: list[Node] = []
    seen: set[Node] = set()

    pending = list(targets)
    for node in pending:  # grows while it is read
        tokens = node.tokens
        if node in seen or (tokens is not tapes and not tokens & tapes):
            continue
        seen.add(node)
        if node.order < before or node.parent is None:
            ends.append(node)
            continue
        inner.append(node)
        pending.append(node.parent)
        for parent, _, _ in node.others:
            pending.append(parent)
    return inner, ends


def now() -> int:
    """Return a number between the orders of older and of newer nodes."""
    return leaf((), None).order


def is_new(value: Any, before: int, tapes: Tokens) -> bool:
    """Whether a value is a tensor that was computed, and recorded, since `before`."""
    if type(value) is not Tensor or value._node is None:
        return False
    node = value._node
    return node.order > before and node.parent is not None and bool(node.tokens & tapes)


def kept(value: Any) -> Any:
    """Return an argument as a value that nobody else can change, or a variable as it is."""
    if type(value) is Tensor:
        return wrap(value._raw, value._node)
    if isinstance(value, Variable):  # the surroundings give it back the value that it has now
        return value
    return value if backends.namespace_of(value) is None else backends.protected(value)


def fresh(value: Any) -> Any:
    """Return what was kept for a function that may assign to it."""
    return wrap(value._raw, value._node) if type(value) is Tensor else value


class Expected:
    """The shape, dtype and sums of a result, to compare with those of another call.

    While a program is compiled, there are no values to compare.
    """

    def __init__(self, raw: Any, exactly: bool) -> None:
        self.shape, self.dtype = tuple(raw.shape), raw.dtype
        self.traced = is_traced(raw)
        self.values = raw if exactly else None
        # a look at an array on a device would wait for it
        looks = not exactly and not self.traced and backends.is_on_host(plain_raw(raw))
        self.sums = _sums(raw) if looks else ()

    def compare(self, raw: Any, refuse: Callable[[str], None]) -> None:
        """Call `refuse` with a description of the difference, if there is one."""
        if (tuple(raw.shape), raw.dtype) != (self.shape, self.dtype):
            refuse(
                f"returned an array of shape {tuple(raw.shape)} and dtype {raw.dtype}, and at "
                f"first of shape {self.shape} and dtype {self.dtype}"
            )
        if self.traced:
            return
        # the same program may round differently, for example where it is threaded
        tolerance = float(plain_namespace(raw).finfo(raw.dtype).eps) ** 0.5
        if self.values is not None:
            old, new = all_values(self.values), all_values(raw)
            scale = np.max(np.abs(old), initial=0.0, where=np.isfinite(old))
            same = np.allclose(new, old, tolerance, tolerance * scale, equal_nan=True)
        elif not self.sums:
            same = True
        else:
            size = abs(complex(self.sums[1]))
            same = all(
                _is_close(complex(a), complex(b), tolerance * size)
                for a, b in zip(_sums(raw), self.sums, strict=True)
            )
        if not same:
            refuse(f"returned other values of shape {self.shape}")


def _is_close(a: complex, b: complex, tolerance: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= tolerance


def plain_raw(raw: Any) -> Any:
    """Return the array that holds the values, of all examples inside of a vmap."""
    while type(raw) is Batched:
        raw = raw.values._raw
    return raw


def _sums(raw: Any) -> tuple[Any, ...]:
    """Return a sum with other weights for each element, and the sum of absolute values."""
    raw, xp = plain_raw(raw), plain_namespace(raw)
    weights = xp.reshape(xp.asarray(_weights(math.prod(raw.shape)), dtype=raw.dtype), raw.shape)
    with np.errstate(all="ignore"):
        return xp.sum(raw * weights), xp.sum(xp.abs(raw))


@functools.lru_cache(8)
def _weights(size: int) -> np.ndarray:
    """Return numbers between 0.5 and 1, no two neighbours alike."""
    return 0.5 + (np.arange(size) * 0.6180339887498949 % 1) / 2


def has_node(value: Any) -> bool:
    """Whether a value is a tensor with a node."""
    return type(value) is Tensor and value._node is not None


def is_recorded(value: Any, tapes: Tokens) -> bool:
    """Whether a value is a tensor that some of these tapes record."""
    return has_node(value) and bool(value._node.tokens & tapes)
