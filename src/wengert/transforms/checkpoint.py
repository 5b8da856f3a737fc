"""Memory for time: what a function computed inside is computed again when a sweep needs it.

A checkpointed call is one entry of the list. Its edges lead to everything recorded that the
results were computed from, be it an argument or not: the call's ends. The entry keeps the
arguments, and nothing that was computed on the way. When a sweep comes to it, the function runs
again under a tape of its own that watches the ends, and an inner sweep takes the weights there.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.engine.cotangents import Block, add
from wengert.engine.errors import RuleError, ShapeError
from wengert.engine.node import ALIAS, NOBODY, Node, Op, Token, Tokens, active, leaf, watch
from wengert.engine.record import SCALARS, apply, interested, lift, output_node
from wengert.engine.sweep import reverse
from wengert.engine.tensor import Tensor, wrap
from wengert.engine.trees import Rebuild, flatten
from wengert.engine.variable import VARIABLE, Variable
from wengert.transforms.gradients import name_of


def checkpoint(fun: Callable[..., Any], *, check: bool = False) -> Callable[..., Any]:
    """Return a function like `fun` that keeps only its inputs, and runs again for a gradient.

    What `fun` computes inside is not kept for the reverse sweep, which calls `fun` once more
    with the same arguments. Derivatives of all orders are those of `fun`, also with respect to
    tensors and variables that it reads without their being arguments. Without a tape it is `fun`.

    The second call must do what the first did. It finds the arguments, the values of variables
    and the states of random generators as they were, and leaves variables and generators as they
    are. They are looked for among the arguments and in what `fun` refers to: names, attributes,
    containers. If the second call differs nevertheless, `RuleError` is raised. Other effects of
    `fun`, such as printing, come twice.

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
        again = Recomputed(fun, args, kwargs, check)
        before = _now()
        return again.entered(fun(*args, **kwargs), before)

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
        surroundings: Surroundings | None = None,
    ) -> None:
        self.fun = fun
        self.name = f"checkpoint({name_of(fun)})"
        leaves, self.rebuild = flatten((args, kwargs))
        self.inputs = [_kept(value) for value in leaves]
        self.check = check
        self.ends: list[Node] = []
        self.live: list[int] = []
        self.recorded: Recorded | None = None
        self.surroundings = surroundings or Surroundings(*found_in([fun, *leaves]))

    def entered(self, result: Any, before: int) -> Any:
        """Return the result of the first call with one entry for all that it recorded."""
        recording = active.get()
        leaves, rebuild = flatten(result)
        self.live = [i for i, value in enumerate(leaves) if _is_made(value, before, recording)]
        if not self.live:
            return result
        nodes = [leaves[i]._node for i in self.live]
        inner, self.ends = explored(nodes, before, recording)
        self.recorded = Recorded(len(inner), frozenset(self.ends))
        self.leaf_count = len(leaves)
        self.surroundings.note_call(self.ends)
        captures = any(node.op.captures for node in inner)
        return rebuild(self.with_entry(leaves, captures, interested(nodes)))

    def with_entry(self, leaves: list[Any], captures: bool, tokens: Tokens) -> list[Any]:
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
        args, kwargs = self.rebuild([_fresh(value) for value in self.inputs])
        return flatten(self.fun(*args, **kwargs))[0]

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return the cotangent of each end, given that of the result or a list of several."""
        weights = g if len(self.live) > 1 else [g]
        with self.surroundings.restored():
            run = Run(self.again, self.ends, xp)
        return run.pull(self.targets(run), weights)

    def targets(self, run: Run) -> list[Node]:
        """Return the entries of the results of another run, which must be as the first was."""
        if len(run.leaves) != self.leaf_count:
            self.refuse(f"returned {len(run.leaves)} values, and {self.leaf_count} at first")
        found = [run.leaves[i] for i in self.live]
        for value, expected in zip(found, self.expected, strict=True):
            if not _is_recorded(value, frozenset({run.token})):
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
    """A call that is made under a tape of its own, which watches the ends.

    If the sweep that asks for it is recorded, then so is the call, by the same tapes.
    """

    def __init__(self, call: Callable[[], list[Any]], ends: list[Node], xp: Any) -> None:
        self.xp = xp
        self.is_recorded = xp is Tensor._namespace
        self.token = Token(False)
        outside = active.get()
        active.set((outside if self.is_recorded else NOBODY) | {self.token})
        try:
            for end in ends:
                watch(end, self.token)
            # older than what leads to them, as an outer sweep expects
            self.stand_ins = {
                end: Node(ALIAS, end, 0, (), (), end.tokens, end.shape, end.dtype) for end in ends
            }
            self.before = _now()
            self.leaves = call()
        finally:
            active.set(outside)

    def __del__(self) -> None:
        self.token.alive = False  # so that the ends forget it

    def explore(self, targets: list[Node]) -> Recorded:
        """Return what was recorded on the way to the targets."""
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
        entries = sorted(self._inner, key=attrgetter("order"), reverse=True)
        entries += stand_ins.values()
        self.leaves, self._inner = [], []
        outside = active.get()
        active.set(outside if self.is_recorded else NOBODY)
        try:
            found = reverse(
                self.xp, entries, seeds, set(stand_ins.values()), self.is_recorded, self.token
            )
        finally:
            active.set(outside)
        return [found.get(node) for node in stand_ins.values()]


class Recorded(NamedTuple):
    """How many operations a call recorded, and the entries that these lead to."""

    operations: int
    ends: frozenset[Node]


def explored(
    targets: Iterable[Node], before: int, recording: Tokens
) -> tuple[list[Node], list[Node]]:
    """Return the entries made since `before` that targets were computed from, and their ends.

    Ends are the older entries that these lead to, and those of tensors and variables that were
    made and watched since.
    """
    inner: list[Node] = []
    ends: list[Node] = []
    seen: set[Node] = set()

    pending = list(targets)
    for node in pending:  # grows while it is read
        tokens = node.tokens
        if node in seen or (tokens is not recording and not tokens & recording):
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


class Expected:
    """What is known of a result, to tell whether it comes out the same again."""

    def __init__(self, raw: Any, exactly: bool) -> None:
        self.shape, self.dtype = tuple(raw.shape), raw.dtype
        self.values = raw if exactly else None
        self.sums = () if exactly else _sums(raw)

    def compare(self, raw: Any, refuse: Callable[[str], None]) -> None:
        """Call `refuse` with words for the difference, if there is one."""
        if (tuple(raw.shape), raw.dtype) != (self.shape, self.dtype):
            refuse(
                f"returned an array of shape {tuple(raw.shape)} and dtype {raw.dtype}, and at "
                f"first of shape {self.shape} and dtype {self.dtype}"
            )
        # the same program may round differently, for example where it is threaded
        tolerance = float(_library(raw).finfo(raw.dtype).eps) ** 0.5
        if self.values is not None:
            old, new = (backends.to_numpy(_plain(x)) for x in (self.values, raw))
            scale = np.max(np.abs(old), initial=0.0, where=np.isfinite(old))
            same = np.allclose(new, old, tolerance, tolerance * scale, equal_nan=True)
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


def _plain(raw: Any) -> Any:
    """Return the array that holds the values, of all examples inside of a vmap."""
    while type(raw) is Batched:
        raw = raw.values._raw
    return raw


def _library(raw: Any) -> Any:
    return backends.namespace_of(_plain(raw))


def _sums(raw: Any) -> tuple[Any, ...]:
    """Return the sum of an array and that of its absolute values."""
    raw, xp = _plain(raw), _library(raw)
    with np.errstate(all="ignore"):
        return xp.sum(raw), xp.sum(xp.abs(raw))


class Surroundings:
    """What a function reads beside its arguments, and how that was at a time."""

    def __init__(
        self, generators: list[np.random.Generator], variables: list[Variable] | dict[Variable, Any]
    ) -> None:
        self.generators = generators
        self.states = [generator.bit_generator.state for generator in generators]
        self.variables = {v: v._value for v in variables}
        self.assigned: set[Variable] = set()

    def later(self) -> Surroundings:
        """Return the same at another time, which is now."""
        twin = Surroundings(self.generators, self.variables)
        if all(twin.variables[v] is value for v, value in self.variables.items()):
            twin.variables = self.variables  # one for all times, as long as nothing is assigned
        return twin

    def note_call(self, ends: Iterable[Node]) -> None:
        """Note which variables a call has assigned to, and values of further ones it depends on."""
        self.assigned = {v for v, value in self.variables.items() if v._value is not value}
        leaves = {end for end in ends if end.op is VARIABLE}
        leaves.difference_update(v._leaf for v in self.variables)
        if leaves:
            watched = [v for token in active.get() for v in token.variables.values()]
            more = {v: v._value for v in watched if v._leaf in leaves}
            self.variables = {**self.variables, **more}

    def bring_back(self) -> None:
        """Make all as it was."""
        for generator, state in zip(self.generators, self.states, strict=True):
            generator.bit_generator.state = state
        for variable, value in self.variables.items():
            if variable._value is not value:
                variable._value = value

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Return a context in which all is as it was, and after which it is as it is now.

        Variables that neither this nor the call assigns to are left to other threads.
        """
        present = self.later()
        present.variables = {
            v: value
            for v, value in present.variables.items()
            if v in self.assigned or value is not self.variables[v]
        }
        try:
            self.bring_back()
            yield
        finally:
            present.bring_back()


#: The most objects to look at for generators and variables. What is further away is not found;
#: if it changes the results, then the second call is refused.
_SEARCHED = 2000
#: What leads to neither.
_PLAIN = frozenset([*SCALARS, str, bytes, type(None), np.ndarray, Tensor])


def found_in(roots: list[Any]) -> tuple[list[np.random.Generator], list[Variable]]:
    """Return the random generators and variables among some objects and in what they refer to."""
    generators: list[np.random.Generator] = []
    variables: list[Variable] = []
    seen: set[int] = set()
    pending = list(roots)
    for value in pending:  # grows while it is read
        if type(value) in _PLAIN or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.random.Generator):
            generators.append(value)
        elif isinstance(value, Variable):
            variables.append(value)
        elif len(seen) < _SEARCHED:
            pending += [v for v in _referred(value) if type(v) not in _PLAIN]
    return generators, variables


def _referred(value: Any) -> Iterable[Any]:
    """Return what a function, an object or a container refers to."""
    if not _is_users(value if isinstance(value, types.FunctionType) else type(value)):
        return _parts(value)
    if isinstance(value, types.FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if not _is_empty(c)]
        known = [value.__globals__.get(name) for name in _names(value.__code__)]
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        return [*cells, *known, *defaults]
    if isinstance(value, type):
        return ()
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = [*getattr(value, "__dict__", {}).values(), *(getattr(value, s, None) for s in slots)]
    return [*held, *_parts(value), *([type(value).__call__] if callable(value) else [])]


def _parts(value: Any) -> Iterable[Any]:
    """Return the parts of what Python itself makes: a method, a partial function, a container."""
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, dict):
        return list(value.values())[:_SEARCHED]
    return list(value)[:_SEARCHED] if isinstance(value, (list, tuple, set, frozenset)) else ()


def _is_users(thing: Any) -> bool:
    """Whether a class or function is of none of the libraries that refer to much, and not to it."""
    return str(thing.__module__).partition(".")[0] not in ("builtins", "numpy", "wengert")


def _is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is None
    except ValueError:  # not assigned yet
        return True


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that a function, and functions inside of it, may look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


# -- loops ------------------------------------------------------------------------------------


def checkpoint_loop(
    step: Callable[[Any, Any], Any], state: Any, xs: Any, *, snapshots: int | None = None
) -> Any:
    """Return the last state of a loop ``state = step(state, x)``, of which few states are kept.

    Without `snapshots`, a loop of n steps keeps about sqrt(n) states, and in the reverse sweep
    what sqrt(n) steps record; each step runs twice. With `snapshots`, it keeps at most that many
    states and what one step records, and steps run again as often as that takes, and no more:
    with s snapshots, less than binomial(s + r, s) steps run at most r + 1 times each.
    (Derivatives of higher order record all steps.)

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
    >>> from wengert.transforms.checkpoint import checkpoint_loop
    >>> def logistic(x, i):
    ...     return 3.0 * x * (1 - x)
    >>> wg.grad(lambda x: checkpoint_loop(logistic, x, 3, snapshots=2))(0.5)
    np.float64(0.0)
    """
    if snapshots is not None and (type(snapshots) is not int or snapshots < 1):
        raise ValueError(
            f"checkpoint_loop: snapshots={snapshots!r}; expected an integer, 1 or more"
        )
    count, x_of = _steps(xs)

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
    for start in range(0, count, length):
        args = (state, start, min(start + length, count))
        surroundings = surroundings.later()
        again = Recomputed(run, args, {}, surroundings=surroundings)
        again.name = f"checkpoint_loop({name_of(step)})"
        before = _now()
        state = again.entered(run(*args), before)
    return state


#: The entry of a state that a step gets, and may assign to, unlike that of a watched tensor.
STATE = Op("checkpoint_loop.state", (), lambda xp: None, ())
#: The parts of an array along its first axis: one entry, and a rule that puts them together.
ROWS = Op(
    "checkpoint_loop.rows",
    ("x",),
    lambda xp, x: tuple(x[i, ...] for i in range(x.shape[0])),
    [lambda xp, g: xp.stack(g)],
)


def _steps(xs: Any) -> tuple[int, Callable[[int], Any]]:
    """Return the number of steps, and the function that gives the x of each."""
    if type(xs) is int or isinstance(xs, np.integer):
        if xs < 0:
            raise ValueError(f"checkpoint_loop: xs={xs}; expected a number of steps, 0 or more")
        return int(xs), lambda i: i
    leaves, rebuild = flatten(xs)
    tensors = [lift(x, "checkpoint_loop") for x in leaves]
    shapes = [getattr(x, "shape", ()) for x in tensors]
    lengths = {shape[0] if shape else -1 for shape in shapes}
    if len(lengths) != 1 or -1 in lengths:
        raise ShapeError(
            f"checkpoint_loop: xs has arrays of shapes {', '.join(map(str, shapes)) or 'none'}; "
            "expected first axes of one length, or write a number of steps"
        )
    columns = [apply(ROWS, (x,), {}) if interested([x._node]) else wrap(x._raw) for x in tensors]
    return lengths.pop(), lambda i: rebuild([_fresh(column[i]) for column in columns])


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
    """Yield where to keep a state on the way from one to the state before step `end - 1`.

    The last stop is that state itself, which needs no slot.
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
    """A loop of which at most `slots` states are kept; others are made again from these.

    Attributes
    ----------
    kept
        States, oldest first. The first sweep uses them up, but for the one at the beginning.
    steps
        How many operations each step recorded, and the entries it read beside the state.
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
        """Return the last state, with one entry that leads to all that the steps read."""
        recording = active.get()
        leaves, rebuild = self.inputs, self.kept[0].rebuild
        connected = [_is_recorded(v, recording) for v in leaves]
        #: the entries of the first state's leaves
        self.starts = [v._node if c else None for v, c in zip(leaves, connected, strict=True)]
        ends = dict.fromkeys(node for node in self.starts if node is not None)
        # what comes after the loop is its last step, and the first to be reversed
        stops = set(_stops(0, self.count + 1, self.slots)) - {self.count}
        captures = False
        for i in range(self.count):
            if i in stops:
                self.kept.append(State(i, _cut(leaves), rebuild, self.surroundings.later()))
                self.known[i] = _known(leaves)
            leaves = _cut(leaves, recording)
            own = {v._node: c for v, c in zip(leaves, connected, strict=True) if _has_entry(v)}
            before = _now()
            leaves, rebuild = flatten(self.fun(rebuild(leaves), self.x_of(i)))
            nodes = [v._node for v in leaves if _is_recorded(v, recording)]
            inner, reached = explored(nodes, before, recording)
            read = tuple(node for node in reached if node not in own)
            self.steps.append((len(inner), read))
            ends.update(dict.fromkeys(read))
            captures = captures or any(node.op.captures for node in inner)
            connected = [_is_recorded(v, recording) for v in leaves]
            if not all(own.values()):  # some of the state does not depend on anything recorded
                connected = [
                    c and any(own.get(n, True) for n in explored([v._node], before, recording)[1])
                    for v, c in zip(leaves, connected, strict=True)
                ]
            del nodes, inner, reached
        self.live = [i for i, is_connected in enumerate(connected) if is_connected]
        if not self.live:
            return rebuild(_cut(leaves))
        self.ends, self.leaf_count = list(ends), len(leaves)
        self.known[self.count] = _known(leaves)
        self.surroundings.note_call(self.ends)
        return rebuild(self.with_entry(_cut(leaves), captures, interested(list(self.ends))))

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return the cotangent of each end, from the last step to the first."""
        if xp is Tensor._namespace:  # tapes record the sweep, and so have to record all steps
            return super().cotangents(xp, g)
        weights = dict(zip(self.live, g if len(self.live) > 1 else [g], strict=True))
        totals = Totals(xp)
        kept, self.kept = self.kept, self.kept[:1]
        with self.surroundings.restored():
            for end in range(self.count, 0, -1):
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
        ((state,), _) = self.rebuild([_fresh(value) for value in self.inputs])
        for i in range(self.count):
            state = self.fun(state, self.x_of(i))
        return flatten(state)[0]

    def _moved(self, state: State, position: int) -> State:
        """Return a later state; nothing is recorded."""
        outside = active.get()
        active.set(NOBODY)
        try:
            state.around.bring_back()
            leaves, rebuild = state.leaves, state.rebuild
            for i in range(state.position, position):
                leaves, rebuild = flatten(self.fun(rebuild(_cut(leaves)), self.x_of(i)))
            return State(position, _cut(leaves), rebuild, state.around.later())
        finally:
            active.set(outside)

    def _pulled(self, xp: Any, state: State, weights: dict[int, Any], totals: Totals) -> Any:
        """Return the cotangents of a state's leaves, given those of the next one's."""
        i = state.position
        leaves = _cut(state.leaves, NOBODY)
        own = {k: v._node for k, v in enumerate(leaves) if _has_entry(v)}
        operations, read = self.steps[i]
        state.around.bring_back()

        def call() -> list[Any]:
            return flatten(self.fun(state.rebuild(leaves), self.x_of(i)))[0]

        run = Run(call, [*own.values(), *read], xp)
        self._compare_values(run.leaves, self.known.get(i + 1))
        tokens = frozenset({run.token})
        nodes = {k: v._node for k, v in enumerate(run.leaves) if _is_recorded(v, tokens)}
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
    """Sums of cotangents by entry."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.found: dict[Any, Any] = {}
        self.owned: set[Any] = set()  # entries whose sum was made here, and may be written to

    def add(self, node: Node, part: Any) -> None:
        """Add to the sum of an entry."""
        if part is None:
            return
        if node not in self.found:
            self.found[node] = part
            return
        total = add(self.xp, self.found[node], part, node in self.owned)
        self.found[node] = total
        if self.xp.writable and type(total) is not Block:
            self.owned.add(node)


def _has_entry(value: Any) -> bool:
    return type(value) is Tensor and value._node is not None


def _is_recorded(value: Any, recording: Tokens) -> bool:
    return _has_entry(value) and bool(value._node.tokens & recording)


def _as_state(value: Any) -> Any:
    """Return an array or a variable as a tensor, and anything else as it is."""
    is_array = isinstance(value, Variable) or backends.namespace_of(value) is not None
    return lift(value, "checkpoint_loop") if is_array else value


def _cut(leaves: list[Any], recording: Tokens | None = None) -> list[Any]:
    """Return a state without its history: constants, or tensors that some tapes record."""
    return [wrap(v._raw, _entry(v, recording)) if type(v) is Tensor else _kept(v) for v in leaves]


def _entry(value: Tensor, recording: Tokens | None) -> Node | None:
    if recording is None or not backends.is_inexact(value.dtype):
        return None
    node = leaf(value.shape, value.dtype)
    node.op, node.tokens = STATE, recording
    return node


def _known(leaves: list[Any]) -> list[Expected | None]:
    return [Expected(v._raw, False) if _has_entry(v) else None for v in leaves]
