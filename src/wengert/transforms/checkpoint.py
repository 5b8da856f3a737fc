"""Memory for time: what a function computed inside is computed again when a sweep needs it.

A checkpointed call is one entry of the list. Its edges lead to everything recorded that the
results were computed from, be it an argument or not: the call's ends. The entry keeps the
arguments, and nothing that was computed on the way. When a sweep comes to it, the function runs
again under a tape of its own that watches the ends, and an inner sweep takes the weights there.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Any

from wengert import backends
from wengert.engine.cotangents import add
from wengert.engine.errors import RuleError
from wengert.engine.node import ALIAS, NOBODY, Node, Op, Token, Tokens, active, leaf, watch
from wengert.engine.record import interested, output_node
from wengert.engine.sweep import reverse
from wengert.engine.tensor import Tensor, wrap
from wengert.engine.trees import flatten
from wengert.transforms.gradients import name_of


def checkpoint(fun: Callable[..., Any], *, check: bool = False) -> Callable[..., Any]:
    """Return a function like `fun` that keeps only its inputs, and runs again for a gradient.

    What `fun` computes inside is not kept for the reverse sweep, which calls `fun` once more
    with the same arguments. Derivatives of all orders are those of `fun`, also with respect to
    tensors and variables that it reads without their being arguments. Without a tape it is `fun`.

    The second call must do what the first did. It gets the arguments, the values of watched
    variables and the state of random generators as they were; generators are looked for among
    the arguments and in what `fun` refers to. If the results differ nevertheless, `RuleError`
    is raised. What `fun` does beside returning results, such as printing or assigning to a
    variable that is not trainable, is done again.

    Parameters
    ----------
    fun
        Takes and returns any nest of arrays and other values.
    check
        Whether to keep the results and compare each element with those of the second call. By
        default two sums over each result are compared.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> from wengert.transforms.checkpoint import checkpoint
    >>> layer = checkpoint(lambda x, w: np.tanh(x * w))
    >>> wg.grad(lambda x: layer(layer(x, 0.5), 2.0))(0.0)
    np.float64(1.0)
    """

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not active.get():
            return fun(*args, **kwargs)
        return Recomputed(fun, args, kwargs, check).first(args, kwargs)

    return call


class Checkpoint(Op):
    """What the engine must know of a call that is made again; the call is an edge's one value."""

    family = "checkpoint"
    takes_rows = True
    sees_unused = True
    holds = True

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
        self._held = threading.local()

    def pull(self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]) -> Any:
        """Return the cotangent of one end; all are found when the first is asked for."""
        held = getattr(self._held, "answers", None)
        question = (node, g, active.get())
        if held is None or any(a is not b for a, b in zip(held[0], question, strict=True)):
            held = (question, values[0].cotangents(xp, g))
            self._held.answers = held
        return held[1][argument]

    def pull_block(
        self, xp: Any, g: Any, node: Node, parent: Node, argument: int, values: tuple[Any, ...]
    ) -> Any:
        """Return the same for a Block, which goes into the inner sweep as it is."""
        return self.pull(xp, g, node, argument, values)

    def let_go(self) -> None:
        """Forget the answers."""
        self._held.answers = None


#: By whether a rule inside holds tensors of its own, which a tape may care about.
_OPS = {captures: Checkpoint(captures) for captures in (False, True)}


class Recomputed:
    """One call of a function, which can be made again as it was made first.

    Attributes
    ----------
    fun, inputs, rebuild
        The function; the leaves of its arguments; and how to make (args, kwargs) of these.
    ends
        The entries that the results were computed from, in the order of the edges.
    live
        Which leaves of the result have the derivatives.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        check: bool = False,
    ) -> None:
        self.fun = fun
        self.name = f"checkpoint({name_of(fun)})"
        leaves, self.rebuild = flatten((args, kwargs))
        self.inputs = [_kept(value) for value in leaves]
        self.check = check
        self.ends: list[Node] = []
        self.live: list[int] = []
        self.surroundings = Surroundings([fun, *leaves])

    def first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the function, with one entry for all that it recorded."""
        recording, before = active.get(), _now()
        result = self.fun(*args, **kwargs)
        leaves, rebuild = flatten(result)
        self.live = [i for i, value in enumerate(leaves) if _is_made(value, before, recording)]
        if not self.live:
            return result
        inner, self.ends = explored([leaves[i]._node for i in self.live], before, recording)
        self.recorded = len(inner)
        self.leaf_count = len(leaves)
        self.surroundings.note_variables(self.ends)
        return rebuild(self.entered(leaves, any(node.op.captures for node in inner)))

    def entered(self, leaves: list[Any], captures: bool) -> list[Any]:
        """Return the leaves of the result with an entry that leads from the live ones to the ends.

        They are other tensors than those that the function returned and may have kept.
        """
        raws = [leaves[i]._raw for i in self.live]
        self.expected = [Expected(raw, self.check) for raw in raws]
        edges = [(end, i, (self,)) for i, end in enumerate(self.ends)]
        shapes, dtypes = [tuple(raw.shape) for raw in raws], [raw.dtype for raw in raws]
        several = len(raws) > 1
        node = Node(
            _OPS[captures],
            *edges[0],
            tuple(edges[1:]),
            interested(list(self.ends)),
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
        args, kwargs = self.rebuild([_fresh(value) for value in self.inputs])
        return flatten(self.fun(*args, **kwargs))[0]

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return the cotangent of each end, given that of the result or a list of several."""
        weights = g if len(self.live) > 1 else [g]
        with self.surroundings.restored():
            run = Run(self.again, self.ends, xp)
        return run.pull(self.targets(run), weights)

    def targets(self, run: Run) -> list[Any]:
        """Return the live results of another run, having checked that it went as the first did."""
        if len(run.leaves) != self.leaf_count:
            self.refuse(f"returned {len(run.leaves)} values, and {self.leaf_count} at first")
        found = [run.leaves[i] for i in self.live]
        for value, expected in zip(found, self.expected, strict=True):
            if not _is_made(value, run.before, frozenset({run.token})):
                self.refuse("returned a constant where it returned a recorded tensor at first")
            expected.compare(value._raw, self.refuse)
        inner, ends = explored([value._node for value in found], run.before, {run.token})
        if len(inner) != self.recorded or set(ends) != set(self.ends):
            self.refuse(
                f"recorded {len(inner)} operations that lead to {len(ends)} tensors, and at first "
                f"{self.recorded} that lead to {len(self.ends)}"
            )
        return found

    def refuse(self, difference: str) -> None:
        """Raise the error for a function that does not do the same again."""
        raise RuleError(
            f"{self.name}: called again for the gradient, the function {difference}; it must do "
            "the same each time. Pass what changes between calls as an argument: arrays, and the "
            "np.random.Generator that it draws from. Do not assign to variables that it reads "
            "before the gradient is there, unless the tape watches them"
        )


class Run:
    """A call that is made under a tape of its own, which watches the ends.

    If the sweep that asks for it is recorded, then so is the call, by the same tapes.
    """

    def __init__(self, call: Callable[[], list[Any]], ends: list[Node], xp: Any) -> None:
        self.ends, self.xp = ends, xp
        self.is_recorded = xp is Tensor._namespace
        self.token = Token(False)
        outside = active.get()
        active.set((outside if self.is_recorded else NOBODY) | {self.token})
        try:
            for end in ends:
                watch(end, self.token)
            self.before = _now()
            self.leaves = call()
        finally:
            active.set(outside)

    def pull(self, targets: list[Any], weights: list[Any]) -> list[Any]:
        """Return the cotangents of the ends, given those of the targets; this can be done once.

        The sweep must not go past an end: what is behind it gets its share in the outer sweep,
        also if that is another end. So edges to ends are led to stand-ins first.
        """
        inner, _ = explored([t._node for t in targets], self.before, {self.token})
        inner.sort(key=attrgetter("order"), reverse=True)
        stand_ins = {
            end: Node(ALIAS, end, 0, (), (), end.tokens, end.shape, end.dtype) for end in self.ends
        }
        for node in inner:
            node.parent = stand_ins.get(node.parent, node.parent)  # type: ignore[arg-type]
            if node.others:
                node.others = tuple([(stand_ins.get(p, p), i, v) for p, i, v in node.others])
        seeds: dict[Node, Any] = {}
        for target, weight in zip(targets, weights, strict=True):
            node = stand_ins.get(target._node, target._node)
            if weight is not None:
                seeds[node] = add(self.xp, seeds[node], weight) if node in seeds else weight
        self.leaves = []
        del targets, target, node  # so that the sweep can free what it has passed
        if not seeds:
            return [None] * len(self.ends)
        entries = inner + list(stand_ins.values())
        del inner
        outside = active.get()
        active.set(outside if self.is_recorded else NOBODY)
        try:
            found = reverse(
                self.xp, entries, seeds, set(stand_ins.values()), self.is_recorded, self.token
            )
        finally:
            active.set(outside)
            self.token.alive = False
        return [found.get(stand_ins[end]) for end in self.ends]


def explored(
    targets: Iterable[Any], before: int, recording: Collection[Token]
) -> tuple[list[Node], list[Node]]:
    """Return the entries made since `before` that targets were computed from, and their ends.

    Ends are the older entries that these lead to, and those of tensors and variables that were
    made and watched since.
    """
    inner: list[Node] = []
    ends: list[Node] = []
    seen: set[Node] = set()

    def meet(node: Node) -> None:
        if node not in seen and (node.tokens is recording or node.tokens & recording):  # type: ignore[operator]
            seen.add(node)
            (ends if node.order < before or node.parent is None else inner).append(node)

    for node in targets:
        meet(node)
    for node in inner:  # grows while it is read
        meet(node.parent)  # type: ignore[arg-type]
        for parent, _, _ in node.others:
            meet(parent)
    return inner, ends


def _now() -> int:
    """Return a number between those of the entries made before and after."""
    return leaf((), None).order


def _is_made(value: Any, before: int, recording: Tokens) -> bool:
    """Whether a value is a tensor that was computed, and recorded, since `before`."""
    if type(value) is not Tensor or value._node is None:
        return False
    node = value._node
    return node.order > before and node.parent is not None and bool(node.tokens & recording)


def _kept(value: Any) -> Any:
    """Return an argument as something that nobody else can change."""
    if type(value) is Tensor:
        return wrap(value._raw, value._node)
    return value if backends.namespace_of(value) is None else backends.protected(value)


def _fresh(value: Any) -> Any:
    """Return what was kept for a function that may assign to it."""
    return wrap(value._raw, value._node) if type(value) is Tensor else value
