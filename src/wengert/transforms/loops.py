"""Control flow as functions: scan, cond and while_loop.

Python runs them as it runs any loop or choice, and a scan is one node of the tape. Inside of a
program that is compiled (`wg.jit`), each is one loop or choice of that program, and so is its
derivative: the rule of a scan is a scan in the other direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.engine.batching import Batched, levels, plain_namespace
from wengert.engine.cotangents import add
from wengert.engine.forward import forward
from wengert.engine.node import Node, active
from wengert.engine.sweep import reverse as reverse_sweep
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, RuleError, ShapeError, name_of
from wengert.transforms.checkpoint import Recomputed, explored, is_new, now
from wengert.transforms.checkpoint_loop import steps_of
from wengert.transforms.compiled_loops import CompiledCond, CompiledScan, Stacked, compiled_while
from wengert.transforms.gradients import as_tensor, like_given, zeros_like
from wengert.transforms.single_node import as_tensors
from wengert.transforms.surroundings import Surroundings, found_in
from wengert.transforms.traced import compiler_of, has_derivative, recorded_call
from wengert.trees import Rebuild, flatten, paths

Step = Callable[[Any, Any], tuple[Any, Any]]


def scan(
    step: Step,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    checkpoint: bool = False,
) -> tuple[Any, Any]:
    """Return the last state of a loop ``state, y = step(state, x)``, and all y, stacked.

    To a tape the whole loop is one operation. In a compiled program it is one loop, however many
    steps it has, and its gradient is another one.

    Parameters
    ----------
    step
        Takes a state and an x; returns the next state, of the same form, shapes and dtypes, and
        a y: any nest of arrays, or None. Derivatives also go to recorded tensors that it reads
        beside its arguments.
    init
        The first state: a nest of arrays.
    xs
        A nest of arrays, whose parts along the first axis are the x; or None for a loop of
        `length` steps, where x is None.
    length
        The number of steps, if `xs` is None.
    reverse
        Whether to begin with the last x. Each y is where its x is.
    checkpoint
        Whether to keep states and no intermediate results of steps: the sweep computes these
        again. Python keeps about sqrt(n) of n states, a compiled loop all of them.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> def step(total, x):
    ...     total = total + x
    ...     return total, total**2
    >>> wg.scan(step, 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([ 1.,  9., 36.]))
    >>> wg.grad(lambda xs: wg.sum(wg.scan(step, 0.0, xs)[1]))(np.array([1.0, 2.0, 3.0]))
    array([20., 18., 12.])
    """
    what = f"scan({name_of(step)})"
    given = [flatten(init), ([], _nothing) if xs is None else flatten(xs)]
    (states, form), (columns, x_form) = given
    tensors = _as_tensors([*states, *columns], what)
    first, parts = tensors[: len(states)], tensors[len(states) :]
    count = _count(parts, length, what)
    control = compiler_of(tensors)

    def call(state: Any, x: Any) -> tuple[list[Tensor], Any]:
        return _next(step(state, x), form(first), what)

    if control is not None:
        found = CompiledScan(control, call, form, x_form, checkpoint, what, [step])
        last, ys = found(first, parts, count, reverse)
    else:
        loop = _Loop(call, form, x_form, parts, count, reverse, what)
        last, ys = loop.checkpointed(step, first) if checkpoint else loop.as_one(first)
    like = next((v for v in (*states, *columns) if hasattr(v, "shape")), None)
    return (
        form([like_given(t, like) for t in last]),
        ys.form([t if t is None else like_given(t, like) for t in ys.leaves]),
    )


def cond(
    condition: Any, if_true: Callable[..., Any], if_false: Callable[..., Any], *operands: Any
) -> Any:
    """Return ``if_true(*operands)`` if the condition holds, else ``if_false(*operands)``.

    Where the condition is a value, this is Python's `if`. In a compiled program, where it is not
    known yet, both functions are compiled and one runs; they return nests of the same form and
    shapes. Only the derivative of the one that runs is computed.

    Examples
    --------
    >>> import wengert as wg
    >>> def root(x):
    ...     return wg.cond(x > 0, wg.sqrt, lambda x: 0.0 * x, x)
    >>> wg.grad(root)(4.0), wg.grad(root)(-1.0)
    (np.float64(0.25), np.float64(0.0))
    """
    what = "cond"
    chosen = as_tensor(condition, f"{what}: the condition")
    if chosen.shape != ():
        raise ShapeError(
            f"{what}: the condition has shape {chosen.shape}; expected one truth value. To choose "
            "element by element write wg.where(condition, a, b)"
        )
    control = compiler_of([chosen])
    if type(chosen._raw) is Batched or (control is not None and levels.get()):
        return _of_examples(chosen, if_true(*operands), if_false(*operands), what)
    if control is None or not control.is_traced(chosen._raw):
        return (if_true if chosen else if_false)(*operands)
    leaves, rebuild = flatten(operands)
    tensors = _as_tensors(leaves, what)
    return CompiledCond(control, chosen, (if_true, if_false), rebuild, what)(tensors)


def _of_examples(condition: Tensor, yes: Any, no: Any, what: str) -> Any:
    """Return a choice for each example of a vmap, of results that have both been computed."""
    (leaves, rebuild), (others, _) = flatten(yes), flatten(no)
    if paths(yes) != paths(no):
        raise ShapeError(
            f"{what}: the functions return nests with parts at {paths(yes)} and at {paths(no)}; "
            "inside of vmap, where examples differ in the condition, both return the same form"
        )
    where = Tensor._namespace.where
    return rebuild([where(condition, a, b) for a, b in zip(leaves, others, strict=True)])


def while_loop(
    condition: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    *,
    max_steps: int | None = None,
) -> Any:
    """Return the first of ``state = body(state)`` for which ``condition(state)`` does not hold.

    Parameters
    ----------
    condition
        Takes a state and returns one truth value.
    body
        Takes a state and returns the next one, of the same form, shapes and dtypes.
    init
        The first state: a nest of arrays.
    max_steps
        The most steps to do. A compiled loop needs it for a gradient: it keeps that many states.

    Examples
    --------
    >>> import wengert as wg
    >>> def double(x):
    ...     return wg.while_loop(lambda x: x < 100.0, lambda x: 2.0 * x, x)
    >>> double(3.0), wg.grad(double)(3.0)
    (np.float64(192.0), np.float64(64.0))
    """
    what = f"while_loop({name_of(body)})"
    leaves, form = flatten(init)
    first = _as_tensors(leaves, what)
    like = next((v for v in leaves if hasattr(v, "shape")), None)
    control = compiler_of(first)

    def moved(state: Any) -> list[Tensor]:
        return _state(body(state), form(first), what)

    if control is None:
        state, done = first, 0
        while (max_steps is None or done < max_steps) and condition(form(state)):
            state, done = moved(form(state)), done + 1
    elif max_steps is None and levels.get():
        raise RuleError(
            f"{what}: inside of vmap examples differ in the number of steps; write max_steps=n"
        )
    elif max_steps is None:
        state = compiled_while(control, condition, moved, body, form, first, what)
    else:

        def bounded(state: Any, _: Any) -> tuple[list[Tensor], None]:
            found = cond(condition(state), lambda s: form(moved(s)), lambda s: s, state)
            return flatten(found)[0], None

        reads = [condition, body]
        loop = CompiledScan(control, bounded, form, _nothing, False, what, reads)
        state = loop(first, [], _count([], max_steps, what), False)[0]
    return form([like_given(t, like) for t in state])


# -- what is given ----------------------------------------------------------------------------


def _nothing(leaves: Any) -> None:
    return None


def _as_tensors(leaves: Sequence[Any], what: str) -> list[Tensor]:
    """Return arrays and numbers as tensors of one library; `what` names them in an error."""
    found = as_tensors(leaves, what)
    raw = next((t._raw for t in found if type(t) is Tensor), None)
    asarray: Any = np.asarray if raw is None else plain_namespace(raw).asarray
    return [t if type(t) is Tensor else wrap(asarray(t)) for t in found]


def _count(parts: list[Tensor], length: int | None, what: str) -> int:
    """Return the number of steps."""
    if length is not None and (type(length) is not int or length < 0):
        raise ValueError(f"{what}: length={length!r}; expected a number of steps, 0 or more")
    lengths = {t.shape[0] if t.shape else -1 for t in parts}
    if length is not None and not lengths:
        return length
    if len(lengths) != 1 or -1 in lengths or length not in (None, *lengths):
        shapes = ", ".join(str(t.shape) for t in parts) or "none"
        raise ShapeError(
            f"{what}: xs has arrays of shapes {shapes} and length is {length}; expected first axes "
            "of one length, or without xs a length"
        )
    return lengths.pop()


def _state(state: Any, before: Any, what: str) -> list[Tensor]:
    """Return the leaves of a state that a step returned, which has the form of the one before."""
    if paths(state) != paths(before):
        raise ShapeError(
            f"{what}: a step returned a state with parts at {paths(state)}, and was given one with "
            f"parts at {paths(before)}; return a state of the same form"
        )
    old_leaves = flatten(before)[0]
    pairs = zip(old_leaves, flatten(state)[0], strict=True)
    found = [_as_tensors(pair, f"{what}: the state")[1] for pair in pairs]
    for new, old, path in zip(found, old_leaves, paths(before), strict=True):
        if new.shape != old.shape:
            raise ShapeError(
                f"{what}: a step was given a state of shape {old.shape} and returned {new.shape}"
                f"{f' at {path}' if path else ''}; a state keeps its shape"
            )
        if has_derivative(old) and not has_derivative(new):
            raise DtypeError(
                f"{what}: a step was given a state of {old.dtype} and returned {new.dtype}; a "
                "state stays a number with fractions"
            )
    return found


def _next(result: Any, before: Any, what: str) -> tuple[list[Tensor], Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"{what}: a step returned {type(result).__name__}; expected the pair (state, y), with "
            "None for no y"
        )
    return _state(result[0], before, what), result[1]


def _stacked(found: list[Any], like: Any, what: str) -> Stacked:
    """Return each array that all steps returned as one, with an axis of steps first.

    Numbers become arrays of the library of `like`, a tensor or a number.
    """
    nests = [flatten(y) for y in found]
    if any(paths(y) != paths(found[0]) for y in found[1:]):
        raise ShapeError(f"{what}: steps returned y of different forms; return the same each time")
    columns = zip(*(leaves for leaves, _ in nests), strict=True)
    stack = Tensor._namespace.stack
    named = f"{what}: y"
    return Stacked(
        [None if c[0] is None else stack(_as_tensors([like, *c], named)[1:]) for c in columns],
        nests[0][1],
    )


# -- loops that Python runs -------------------------------------------------------------------


class Kept:
    """The operations of a loop, as one: what was recorded between its ends and its results."""

    def __init__(self, inner: list[Node], ends: list[Node], targets: list[Node]) -> None:
        self.ends, self.targets = ends, targets
        self.nodes = sorted([*inner, *ends], key=attrgetter("order"), reverse=True)

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return the cotangents of the ends, given that of the result or a list of several."""
        seeds: dict[Node, Any] = {}
        weights = g if len(self.targets) > 1 else [g]
        for node, weight in zip(self.targets, weights, strict=True):
            if weight is not None:
                seeds[node] = add(xp, seeds[node], weight) if node in seeds else weight
        if not seeds:
            return [None] * len(self.ends)
        recorded = xp is Tensor._namespace
        found = reverse_sweep(
            xp, self.nodes, seeds, {*self.ends}, recorded, None, ends={*self.ends}
        )
        return [found.get(end) for end in self.ends]

    def tangents(self, xp: Any, given: dict[int, Any]) -> Any:
        """Return the tangents of the results, given those of some ends."""
        seeds = {self.ends[k]: t for k, t in given.items()}
        recorded = xp is Tensor._namespace
        found = forward(xp, self.nodes, seeds, {*self.targets}, recorded, {*self.ends})
        answers = [found.get(node) for node in self.targets]
        return answers if len(answers) > 1 else answers[0]


class _Loop:
    """A loop that Python runs."""

    def __init__(
        self,
        call: Callable[[Any, Any], tuple[list[Tensor], Any]],
        form: Rebuild,
        x_form: Rebuild,
        parts: list[Tensor],
        count: int,
        reverse: bool,
        what: str,
    ) -> None:
        self.call, self.form, self.x_form, self.what = call, form, x_form, what
        self.parts, self.count, self.reverse = parts, count, reverse
        self.before = now()
        self.x_of = steps_of(parts, what)[1] if parts else _nothing

    def _x(self, step: int) -> Any:
        return self.x_form(self.x_of(self.count - 1 - step if self.reverse else step) or [])

    def run(self, state: list[Tensor], start: int, stop: int) -> tuple[list[Tensor], Any]:
        """Return the state after some steps, and what they returned beside it, stacked."""
        found = []
        for k in range(start, stop):
            state, y = self.call(self.form(state), self._x(k))
            found.append(y)
        if self.reverse:
            found.reverse()
        return state, _stacked(found, next(iter([*state, *self.parts]), 0.0), self.what)

    def as_one(self, state: list[Tensor]) -> tuple[list[Tensor], Stacked]:
        """Return the last state and what all steps returned, with one node."""
        if not self.count:
            return self._no_steps(state)
        tapes, before = active.get(), self.before
        last, ys = self.run(state, 0, self.count)
        leaves = [*last, *ys.leaves]
        live = [k for k, v in enumerate(leaves) if is_new(v, before, tapes)]
        if live:
            nodes = [leaves[k]._node for k in live]
            inner, ends = explored(nodes, before, tapes)
            captures = any(node.op.captures for node in inner)
            there = [k for k, v in enumerate(leaves) if v is not None]
            made = recorded_call(
                Kept(inner, ends, nodes),
                ends,
                [leaves[k]._raw for k in there],
                [there.index(k) for k in live],
                captures,
            )
            for k, tensor in zip(there, made, strict=True):
                leaves[k] = tensor if k in live else leaves[k]
        return leaves[: len(last)], Stacked(leaves[len(last) :], ys.form)

    def checkpointed(self, step: Step, state: list[Tensor]) -> tuple[list[Tensor], Stacked]:
        """Return the same, with a node for about sqrt(n) steps that keeps their first state."""
        if not active.get() or not self.count:
            return self.as_one(state)
        surroundings = Surroundings(*found_in([step, *state]))
        length = math.isqrt(self.count - 1) + 1
        pieces: list[list[Any]] = []
        forms: list[Rebuild] = []

        def run(state: list[Tensor], start: int, stop: int) -> tuple[list[Tensor], list[Any]]:
            last, ys = self.run(state, start, stop)
            forms.append(ys.form)
            return last, ys.leaves

        for start in range(0, self.count, length):
            args = (state, start, min(start + length, self.count))
            surroundings = surroundings.later()
            again = Recomputed(run, args, {}, surroundings=surroundings)
            again.name = self.what
            before = now()
            state, ys = again.recorded_as_one(run(*args), before)
            pieces.append(ys)
        if self.reverse:
            pieces.reverse()
        concat = Tensor._namespace.concat
        joined = [None if c[0] is None else concat(list(c)) for c in zip(*pieces, strict=True)]
        return list(state), Stacked(joined, forms[0])

    def _no_steps(self, state: list[Tensor]) -> tuple[list[Tensor], Stacked]:
        """Return the first state, and arrays of no steps in the shapes that a step returns."""
        x = self.x_form([zeros_like(t, t.shape[1:]) for t in self.parts])
        y = self.call(self.form(state), x)[1]
        leaves, form = flatten(y)
        empty = [v if v is None else as_tensor(v, f"{self.what}: y") for v in leaves]
        return state, Stacked(
            [v if v is None else zeros_like(v, (0, *v.shape)) for v in empty], form
        )
