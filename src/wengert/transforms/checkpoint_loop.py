"""Long loops that keep a few states, from which the sweep recomputes the others."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block, add
from wengert.engine.node import NOBODY, Node, Tokens, active
from wengert.engine.op import leaf
from wengert.engine.record import apply, interested, lift
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError, name_of
from wengert.explain.progress import progress
from wengert.ops.gates import Structural
from wengert.ops.variable import Variable
from wengert.transforms.checkpoint import (
    Expected,
    Recomputed,
    Recorded,
    Run,
    explored,
    fresh,
    has_node,
    is_recorded,
    kept,
    now,
)
from wengert.transforms.surroundings import Surroundings, found_in, recording
from wengert.trees import Rebuild, flatten


def checkpoint_loop(
    step: Callable[[Any, Any], Any], state: Any, xs: Any, *, snapshots: int | None = None
) -> Any:
    """Return the last state of a loop ``state = step(state, x)`` that keeps a few states only.

    Without `snapshots`, a loop of n steps keeps about sqrt(n) states, and the reverse sweep keeps
    the nodes of sqrt(n) steps; each step runs twice. With `snapshots`, at most that many states
    and the nodes of one step are in memory, and steps run again as often as that takes: with s
    snapshots, fewer than binomial(s + r, s) steps run at most r + 1 times each. (Derivatives of
    higher order record all steps.)

    Parameters
    ----------
    step
        Takes a state and an x, and returns the next state. What `checkpoint` says of its
        function is true of `step`; derivatives go to all that it reads.
    state
        The first state: a nest of arrays.
    xs
        The number of steps, and x is 0, 1, ...; or a nest of arrays, and x is the same nest of
        their parts along the first axis.
    snapshots
        The most states to keep, the first one included.

    Examples
    --------
    >>> import wengert as wg
    >>> def logistic(x, i):
    ...     return 3.0 * x * (1 - x)
    >>> wg.grad(lambda x: wg.checkpoint_loop(logistic, x, 3, snapshots=2))(0.5)
    np.float64(0.0)
    """
    if snapshots is not None and (type(snapshots) is not int or snapshots < 1):
        raise ValueError(
            f"checkpoint_loop: snapshots={snapshots!r}; expected an integer, 1 or more"
        )
    count, x_of = steps_of(xs, "checkpoint_loop")

    def run(state: Any, start: int, stop: int) -> Any:
        for i in range(start, stop):
            state = step(state, x_of(i))
        return state

    if not active.get() or not count:
        return run(state, 0, count)
    surroundings = Surroundings(*found_in([step, *flatten(state)[0]]))
    if snapshots is not None:
        return RecomputedLoop(step, state, x_of, count, snapshots, surroundings).first()
    length = math.isqrt(count - 1) + 1
    for start in progress(range(0, count, length), "checkpoint_loop"):
        args = (state, start, min(start + length, count))
        surroundings = surroundings.later()
        again = Recomputed(run, args, {}, surroundings=surroundings)
        again.name = f"checkpoint_loop({name_of(step)})"
        before = now()
        state = again.recorded_as_one(run(*args), before)
    return state


#: The node of the state that a step gets. Unlike a watched tensor, it can be assigned to.
STATE = Structural("checkpoint_loop.state", (), lambda xp: None, ())
#: The parts of an array along its first axis: one node, and a rule that puts them together.
ROWS = Structural(
    "checkpoint_loop.rows",
    ("x",),
    lambda xp, x: tuple(x[i, ...] for i in range(x.shape[0])),
    [lambda xp, g: xp.stack(g)],
)


def steps_of(xs: Any, what: str) -> tuple[int, Callable[[int], Any]]:
    """Return the number of steps, and the function that gives the x of each."""
    if type(xs) is int or isinstance(xs, np.integer):
        if xs < 0:
            raise ValueError(f"{what}: xs={xs}; expected a number of steps, 0 or more")
        return int(xs), lambda i: i
    leaves, rebuild = flatten(xs)
    tensors = [lift(x, what) for x in leaves]
    shapes = [getattr(x, "shape", ()) for x in tensors]
    lengths = {shape[0] if shape else -1 for shape in shapes}
    if len(lengths) != 1 or -1 in lengths:
        raise ShapeError(
            f"{what}: xs has arrays of shapes {', '.join(map(str, shapes)) or 'none'}; "
            "expected first axes of one length, or write a number of steps"
        )
    columns = [apply(ROWS, (x,), {}) if interested([x._node]) else wrap(x._raw) for x in tensors]
    return lengths.pop(), lambda i: rebuild([fresh(column[i]) for column in columns])


@functools.lru_cache(4096)
def advance(steps: int, slots: int) -> int:
    """Return after how many of `steps` steps the next state is kept, given slots for `slots`.

    One slot holds the state before these steps. The reversal runs
    ``r * steps - binomial(slots + r, slots + 1)`` steps to get at states, the fewest possible,
    where r is the least number such that ``steps <= binomial(slots + r, slots)`` [1]_.

    .. [1] A. Griewank, A. Walther, Algorithm 799: revolve, ACM Transactions on Mathematical
       Software 26 (2000), 19-45.
    """
    if slots == 1:
        return steps - 1
    r = 1
    while math.comb(slots + r, slots) < steps:
        r += 1
    return min(math.comb(slots + r - 1, slots), steps - math.comb(slots + r - 2, slots - 1))


def _stops(position: int, end: int, slots: int) -> Iterator[int]:
    """Yield the positions of states to keep between `position` and step `end - 1`.

    The last one is the state before that step, which needs no slot.
    """
    while end - position > 1:
        position += advance(end - position, slots)
        slots -= 1
        yield position


class State(NamedTuple):
    """A state of a loop: before which step, its leaves, and what else the step reads."""

    position: int
    leaves: list[Any]
    rebuild: Rebuild
    around: Surroundings


class RecomputedLoop(Recomputed):
    """A loop that keeps at most `slots` states, and recomputes the others from these.

    Attributes
    ----------
    kept
        States, oldest first. The first sweep uses them up, but for the one at the beginning.
    steps
        How many operations each step recorded, and the nodes it read beside the state.
    known
        What is known of the leaves of a state, for some positions.
    """

    def __init__(
        self,
        step: Callable[[Any, Any], Any],
        state: Any,
        x_of: Callable[[int], Any],
        count: int,
        slots: int,
        surroundings: Surroundings,
    ) -> None:
        leaves, rebuild = flatten(state)
        leaves = [value if type(value) is Tensor else _as_state(value) for value in leaves]
        super().__init__(step, (rebuild(leaves),), {}, surroundings=surroundings)
        self.x_of, self.count, self.slots = x_of, count, slots
        self.name = f"checkpoint_loop({name_of(step)})"
        self.kept = [State(0, _cut(leaves), rebuild, surroundings)]
        self.steps: list[tuple[int, tuple[Node, ...]]] = []
        self.known: dict[int, list[Expected | None]] = {}

    def first(self) -> Any:
        """Return the last state, with one node that leads to all that the steps read."""
        tapes = active.get()
        leaves, rebuild = self.inputs, self.kept[0].rebuild
        connected = [is_recorded(v, tapes) for v in leaves]
        #: the nodes of the first state's leaves
        self.starts = [v._node if c else None for v, c in zip(leaves, connected, strict=True)]
        ends = dict.fromkeys(node for node in self.starts if node is not None)
        # what comes after the loop is its last step, and the first to be reversed
        stops = set(_stops(0, self.count + 1, self.slots)) - {self.count}
        captures = False
        for i in progress(range(self.count), self.name):
            if i in stops:
                self.kept.append(State(i, _cut(leaves), rebuild, self.surroundings.later()))
                self.known[i] = _known(leaves)
            leaves = _cut(leaves, tapes)
            own = {v._node: c for v, c in zip(leaves, connected, strict=True) if has_node(v)}
            before = now()
            leaves, rebuild = flatten(self.fun(rebuild(leaves), self.x_of(i)))
            nodes = [v._node for v in leaves if is_recorded(v, tapes)]
            inner, reached = explored(nodes, before, tapes)
            read = tuple(node for node in reached if node not in own)
            self.steps.append((len(inner), read))
            ends.update(dict.fromkeys(read))
            captures = captures or any(node.op.captures for node in inner)
            connected = [is_recorded(v, tapes) for v in leaves]
            if not all(own.values()):  # some of the state does not depend on anything recorded
                connected = [
                    c and any(own.get(n, True) for n in explored([v._node], before, tapes)[1])
                    for v, c in zip(leaves, connected, strict=True)
                ]
            del nodes, inner, reached
        self.live = [i for i, is_connected in enumerate(connected) if is_connected]
        if not self.live:
            return rebuild(_cut(leaves))
        self.ends, self.leaf_count = list(ends), len(leaves)
        self.known[self.count] = _known(leaves)
        self.surroundings.note_call(self.ends)
        return rebuild(self.with_node(_cut(leaves), captures, interested(list(self.ends))))

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return the cotangent of each end, from the last step to the first."""
        if xp is Tensor._namespace:  # tapes record the sweep, and so have to record all steps
            return super().cotangents(xp, g)
        weights = dict(zip(self.live, g if len(self.live) > 1 else [g], strict=True))
        totals = Totals(xp)
        kept, self.kept = self.kept, self.kept[:1]
        with self.surroundings.restored():
            for end in progress(range(self.count, 0, -1), f"{self.name}, reverse"):
                state = kept[-1]
                for position in _stops(state.position, end, self.slots - len(kept) + 1):
                    state = self._moved(state, position)
                    if position < end - 1:
                        kept.append(state)
                if kept[-1].position == end - 1:
                    kept.pop()
                weights = self._pulled(xp, state, weights, totals)
                del state
        for position, node in enumerate(self.starts):
            if node is not None:
                totals.add(node, weights.get(position))
        return [totals.found.get(end) for end in self.ends]

    def again(self) -> list[Any]:
        """Return the leaves of the last state of another loop, which the tapes of now record."""
        ((state,), _) = self.rebuild([fresh(value) for value in self.inputs])
        for i in range(self.count):
            state = self.fun(state, self.x_of(i))
        return flatten(state)[0]

    def _moved(self, state: State, position: int) -> State:
        """Return a later state; nothing is recorded."""
        with recording(NOBODY):
            state.around.bring_back()
            leaves, rebuild = state.leaves, state.rebuild
            for i in range(state.position, position):
                leaves, rebuild = flatten(self.fun(rebuild(_cut(leaves)), self.x_of(i)))
            return State(position, _cut(leaves), rebuild, state.around.later())

    def _pulled(self, xp: Any, state: State, weights: dict[int, Any], totals: Totals) -> Any:
        """Return the cotangents of a state's leaves, given those of the next one's."""
        i = state.position
        leaves = _cut(state.leaves, NOBODY)
        own = {k: v._node for k, v in enumerate(leaves) if has_node(v)}
        operations, read = self.steps[i]
        state.around.bring_back()

        def call() -> list[Any]:
            return flatten(self.fun(state.rebuild(leaves), self.x_of(i)))[0]

        run = Run(call, [*own.values(), *read], xp)
        self._compare_values(run.leaves, self.known.get(i + 1))
        tokens = frozenset({run.token})
        nodes = {k: v._node for k, v in enumerate(run.leaves) if is_recorded(v, tokens)}
        found = run.explore(list(nodes.values()))
        found = found._replace(ends=found.ends - set(own.values()))
        self.compare(found, Recorded(operations, frozenset(read)))
        answers = run.pull(list(nodes.values()), [weights.get(k) for k in nodes])
        for node, part in zip(read, answers[len(own) :], strict=True):
            totals.add(node, part)
        return dict(zip(own, answers, strict=False))

    def _compare_values(self, leaves: list[Any], known: list[Expected | None] | None) -> None:
        if known is None:
            return
        if len(leaves) != len(known):
            self.refuse(f"returned {len(leaves)} values, and {len(known)} at first")
        for value, expected in zip(leaves, known, strict=True):
            if expected is not None:
                expected.compare(getattr(value, "_raw", value), self.refuse)


class Totals:
    """Sums of cotangents by node."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.found: dict[Any, Any] = {}
        self.owned: set[Any] = set()  # nodes whose sum was made here, and may be written to

    def add(self, node: Node, part: Any) -> None:
        """Add to the sum of a node."""
        if part is None:
            return
        if node not in self.found:
            self.found[node] = part
            return
        total = add(self.xp, self.found[node], part, node in self.owned)
        self.found[node] = total
        if self.xp.writable and type(total) is not Block:
            self.owned.add(node)


def _as_state(value: Any) -> Any:
    """Return an array or a variable as a tensor, and anything else as it is."""
    is_array = isinstance(value, Variable) or backends.namespace_of(value) is not None
    return lift(value, "checkpoint_loop") if is_array else value


def _cut(leaves: list[Any], tapes: Tokens | None = None) -> list[Any]:
    """Return a state without its history: constants, or tensors that some tapes record."""
    return [wrap(v._raw, _state_node(v, tapes)) if type(v) is Tensor else kept(v) for v in leaves]


def _state_node(value: Tensor, tapes: Tokens | None) -> Node | None:
    if tapes is None or not backends.is_inexact(value.dtype):
        return None
    node = leaf(value.shape, value.dtype)
    node.op, node.tokens = STATE, tapes
    return node


def _known(leaves: list[Any]) -> list[Expected | None]:
    return [Expected(v._raw, False) if has_node(v) else None for v in leaves]
