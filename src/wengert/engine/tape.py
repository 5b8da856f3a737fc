"""The tape: who watches what, and gradients."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from wengert import backends
from wengert.backends.float_errors import LOCATED
from wengert.engine import cotangents as ct
from wengert.engine.batching import levels
from wengert.engine.node import NOBODY, Node, Token, Tokens, active, watch, watching
from wengert.engine.op import leaf as leaf_node
from wengert.engine.record import beside, check_together, lift
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError, TapeError, caller_line
from wengert.regions import Region, around
from wengert.trees import flatten, paths

_spending = threading.Lock()


class Tape:
    """Records the operations that depend on what it watches, to differentiate them.

    It is `wengert.GradientTape` without what is asked of it beside gradients.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_read = watch_accessed_variables
        self._thread: int | None = None
        self._start()

    def _start(self) -> None:
        self._spent: str | None = None  # where the one gradient() was called
        self._token = Token(self._watches_read)

    def __enter__(self) -> Tape:
        self._check_thread("entered")
        if self._thread is not None:
            raise TapeError("this tape is open already; make another GradientTape for nesting")
        self._thread, self._was_entered = threading.get_ident(), True
        active.set(active.get() | {self._token})
        return self

    def __exit__(self, *exception: object) -> None:
        self._check_thread("closed")
        self._thread = None
        self._pause()

    def __del__(self) -> None:
        self._retire()

    def _retire(self) -> None:
        self._token.alive = False
        self._token.variables.clear()

    def _pause(self) -> None:
        active.set(active.get() - {self._token} or NOBODY)

    def _check_thread(self, verb: str) -> None:
        if self._thread is not None and self._thread != (here := threading.get_ident()):
            raise TapeError(
                f"this tape is open in thread {self._thread} and was {verb} in thread {here}; "
                "make one GradientTape in each thread"
            )

    # -- watching ---------------------------------------------------------------------

    def watch(self, tensors: Any) -> None:
        """Record what is computed from these tensors or variables from now on."""
        self._check_thread("asked to watch")
        for leaf in flatten(tensors)[0]:
            if type(leaf) is not Tensor and hasattr(leaf, "_watched_by"):  # a variable
                _check_inexact(leaf._value.dtype, leaf._value.shape)
                leaf._watched_by(self._token)
                continue
            if not hasattr(leaf, "_node"):  # tensors of a dialect have one as well
                leaf = _converted(leaf, "watch")
            if leaf._node is None:
                shape, dtype = tuple(leaf._raw.shape), leaf._raw.dtype
                _check_inexact(dtype, shape)
                leaf._node = leaf_node(shape, dtype)
            watch(leaf._node, self._token)

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that are watched, in the order they were first read."""
        return tuple(self._token.variables.values())

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context in which this tape records nothing."""
        self._check_thread("paused")
        if self._token not in active.get():
            raise TapeError(
                "stop_recording() on a tape that is not recording; use it inside `with tape:`"
            )
        self._pause()
        try:
            yield
        finally:
            if self._thread is not None:
                active.set(active.get() | {self._token})

    def reset(self) -> None:
        """Forget all that was recorded and watched, and go on recording if the tape is open."""
        self._check_thread("reset")
        recording = self._token in active.get()
        self._pause()
        self._retire()
        self._start()
        if recording:
            active.set(active.get() | {self._token})

    # -- asking -----------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
        dense: bool = True,
    ) -> Any:
        """Return the derivative of the target's sum with respect to each source.

        Parameters
        ----------
        target
            A tensor, a selection ``z.at[key]`` of one, or a nest of them, whose derivatives
            add up.
        sources
            Tensors, variables or selections of them in a nest, whose shape the result has. Any
            recorded tensor is a valid source. For a selection ``x.at[key]`` the result has the
            shape of ``x[key]``, and costs what lies between it and the target.
        output_gradients
            Weights for the elements of the target, in its shape; ones by default.
        unconnected_gradients
            What to return where no path leads to a source: "none" for None, "zero" for zeros.
        dense
            False to get a `Block` where the result is zero outside of one, and `Factored` where it
            is a product of smaller matrices.
        """
        self._check_asked("gradient", unconnected_gradients)
        targets = [part_of_tape(t, "gradient: target") for t in flatten(target)[0]]
        if type(target) is Tensor and output_gradients is not None:
            output_gradients = lift(output_gradients, "gradient: output_gradients")
        given, rebuild = flatten(sources)
        places = [None if s is None else part_of_tape(s, "gradient: source") for s in given]
        seeds = self._seeds(target, targets, output_gradients)
        self._spend("gradient")
        found = self._sweep(seeds, places, defers=not dense)
        zero = unconnected_gradients == "zero"
        answers = [_answer(found, place, zero, dense) for place in places]
        if watching.get() is not None or (len(found) < len(places) and not zero):
            self._answered(target, given, answers)
        return rebuild(answers)

    def _answered(self, target: Any, given: list[Any], answers: list[Any]) -> None:
        """Show who watches what was asked, and have it noted that no path leads to some sources."""
        if (watcher := watching.get()) is not None:
            watcher.asked(target, given, answers)

    def _check_asked(self, method: str, unconnected_gradients: str) -> None:
        self._check_thread(f"asked for a {method}")
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(
                f"unconnected_gradients is {unconnected_gradients!r}; write 'none' or 'zero'"
            )
        self._check_unspent(method)

    def _check_unspent(self, method: str) -> None:
        if self._spent is not None:
            raise TapeError(
                f"{method}() was called on this tape after {self._spent}, where a derivative was "
                "asked for that freed what it recorded; write GradientTape(persistent=True) to ask "
                "more than once"
            )

    def _spend(self, method: str) -> None:
        """Use up the one derivative that a tape has unless it is persistent."""
        if not self._persistent:
            with _spending:  # of two threads that ask at the same moment, one gets it
                self._check_unspent(method)
                self._spent = caller_line()

    def _seeds(self, target: Any, targets: list[Part], weights: Any) -> Seeds:
        """Return each target that was recorded here with its cotangent."""
        given = [None] * len(targets) if weights is None else flatten(weights)[0]
        if weights is not None and paths(weights) != paths(target):
            raise ShapeError(
                f"output_gradients has parts at {paths(weights)} and the target at "
                f"{paths(target)}; give one part for each, in the same nest"
            )
        seeds = []
        for part, weight in zip(targets, given, strict=True):
            target = part.tensor
            shape = target.shape if part.selection is None else part.selection.shape
            xp = backends.namespace_of(target._raw)
            if not backends.is_inexact(target.dtype):
                raise DtypeError(
                    f"gradient: the target has dtype {target.dtype}, which has no derivative; "
                    "compute it in floating point, for example with wg.astype(x, wg.float64)"
                )
            if weight is None:
                weight = wrap(xp.ones(shape, dtype=target.dtype))
            else:
                weight = lift(weight, "gradient: output_gradients")
                weight = weight if type(weight) is Tensor else wrap(xp.asarray(weight))
                if weight.shape != shape:
                    raise ShapeError(
                        f"output_gradients has shape {weight.shape} and the target {shape}; "
                        "give one number for each element of the target"
                    )
                weight = beside(weight, target)
                check_together("gradient: output_gradients", target, weight)
                if backends.loses(weight.dtype, target.dtype):
                    raise DtypeError(
                        f"output_gradients has dtype {weight.dtype} and the target {target.dtype}, "
                        "which cannot hold it; write wg.real(weights)"
                    )
                if weight.dtype != target.dtype:
                    weight = Tensor._namespace.astype(weight, target.dtype)
            if target._node is not None and self._token in target._node.tokens:
                seeds.append((part, weight))
        return seeds

    def _sweep(
        self, pairs: Seeds, places: Sequence[Part | None], last: bool = True, defers: bool = False
    ) -> dict[Node, Any]:
        """Return the cotangents of the sources that a path leads to: tensors if it is recorded.

        `last` says that, unless the tape is persistent, nothing more will be asked of it.
        """
        if not pairs:
            return {}
        wanted = [p for p in places if p is not None and p.node is not None]
        sources: set[Any] = {p.node for p in wanted}
        before = active.get()
        recording = before if self._persistent else before - {self._token}
        nodes: list[Any] = [part.node for part, _ in pairs]
        entries = ancestors(nodes, self._token)
        recorded = on_tensors(entries, [w for _, w in pairs], recording)
        xp = Tensor._namespace if recorded else backends.namespace_of(pairs[0][1]._raw)
        seeds: dict[Node, Any] = {}
        for part, weight in pairs:
            g: Any = weight if recorded else weight._raw
            if part.selection is not None:
                g = part.selection.embed(xp, g)
            node: Any = part.node
            seeds[node] = ct.add(xp, seeds[node], g) if node in seeds else g
        active.set(recording or NOBODY)
        located = None if recorded else LOCATED.enter()
        try:
            release = self._token if last and not self._persistent else None
            parts, ends = regions_of(wanted), self._token.starts
            found = reverse(xp, entries, seeds, sources, recorded, release, parts, ends, defers)
        finally:
            LOCATED.leave(located)
            active.set(before)
            self._token.alive = self._persistent or not last
        return found


def on_tensors(entries: list[Node], given: list[Tensor], recording: Tokens) -> bool:
    """Return whether a sweep computes on tensors: a tape is interested in it, or a vmap runs."""
    tapes = frozenset(t for t in recording if not t.only_watches)
    if levels.get() or not tapes:
        return bool(levels.get())
    return any(node.tokens & tapes or node.op.captures for node in entries) or any(
        t._node is not None and t._node.tokens & tapes for t in given
    )


def _converted(value: Any, what: str) -> Tensor:
    """Return a tensor or the value of a variable; anything else is a mistake."""
    if type(value) is Tensor:
        return value
    convert = getattr(type(value), "__wengert_tensor__", None)
    if convert is None:
        raise TypeError(
            f"{what}: got {type(value).__name__}, which is not a tensor; a tape knows what was "
            "computed from tensors, so write x = wg.asarray(x) before the computation"
        )
    return convert(value)


class Part(NamedTuple):
    """What a gradient is of, or with respect to: a tensor, or a selection of its elements.

    A selection has a `shape`, a `region` around its elements, `embed(xp, g)`, which makes a
    cotangent of the tensor of one of the selection, and its transpose `pick(xp, g)`.
    """

    tensor: Tensor
    node: Node | None
    selection: Any = None


Seeds = list[tuple[Part, Tensor]]


def part_of_tape(value: Any, what: str) -> Part:
    """Return a target or a source, as it was given, as a Part."""
    if type(value) is Tensor:
        return tuple.__new__(Part, (value, value._node, None))
    owner, selection = value, None
    if hasattr(type(value), "__wengert_selection__"):
        owner, selection = value.__wengert_selection__()
    tensor = _converted(owner, what)
    node = getattr(owner, "_leaf", tensor._node)  # of a variable, the one that does not change
    return Part(tensor, node, selection)


def regions_of(sources: list[Part]) -> dict[Node, Region]:
    """Return the region that is asked for, for each source of which that is a part."""
    regions: dict[Any, Any] = {}
    for part in sources:
        if part.selection is None:
            regions[part.node] = None
        elif part.node not in regions:
            regions[part.node] = part.selection.region
        elif regions[part.node] is not None:
            regions[part.node] = around(regions[part.node], part.selection.region)
    return {node: region for node, region in regions.items() if region is not None}


def _answer(found: dict[Node, Any], place: Part | None, zero: bool, dense: bool) -> Any:
    g: Any = None if place is None or place.node is None else found.get(place.node)
    if place is None or (g is None and not zero):
        return None
    if g is None:
        xp = backends.namespace_of(place.tensor._raw)
        shape = place.tensor.shape if place.selection is None else place.selection.shape
        return wrap(xp.zeros(shape, dtype=place.tensor.dtype))
    if type(g) is Tensor:  # a tensor of its own for each place: it may be assigned to
        g = wrap(g._raw, g._node)
    else:
        g = g.__wengert_wrapped__() if hasattr(g, "__wengert_wrapped__") else wrap(g)
    if place.selection is not None:
        g = g if type(g) in (Tensor, ct.Block) else g.todense()
        return place.selection.pick(Tensor._namespace, g)
    return g if type(g) is Tensor or not dense else g.todense(Tensor._namespace)


def _check_inexact(dtype: Any, shape: Any) -> None:
    if not backends.is_inexact(dtype):
        raise DtypeError(
            f"watch: got a tensor of shape {shape} and dtype {dtype}; derivatives exist for "
            "floating and complex numbers, so write wg.astype(x, wg.float64) first"
        )
