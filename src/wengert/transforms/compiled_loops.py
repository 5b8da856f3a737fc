"""Loops and choices of a compiled program: each is one operation there, and so is its rule.

A rule runs on raw arrays once, with what the first pass has kept of each step. Where it is itself
recorded, it is another loop over the same steps, on tensors, so that derivatives of every order
are loops.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wengert.engine.batching import Batched, Level, highest, levels, outside, plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.node import Node, active
from wengert.engine.record import interested
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import RuleError, ShapeError
from wengert.transforms.gradients import as_tensor
from wengert.transforms.single_node import as_tensors, reopened
from wengert.transforms.traced import Mapped, Piece, has_derivative, recorded_call
from wengert.transforms.vmap import collected
from wengert.trees import Rebuild, flatten, paths

Call = Callable[[Any, Any], tuple[list[Tensor], Any]]


class Stacked:
    """What all steps have returned beside their states: arrays or None, and the form of a nest."""

    def __init__(self, leaves: list[Any], form: Rebuild) -> None:
        self.leaves, self.form = leaves, form


def _on(control: Any, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return tensors, with their nodes, on arrays that a program can be compiled for."""
    return [
        t if type(t._raw) is Batched else wrap(control.asarray(t._raw), t._node) for t in tensors
    ]


def _kinds(arrays: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(tuple(a.shape), a.dtype) for a in arrays]


def _raws(tensors: Sequence[Tensor]) -> list[Any]:
    return [t._raw for t in tensors]


def _sums(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _total(parts: Iterable[Any]) -> Any:
    return functools.reduce(operator.add, parts)


def _answers(xp: Any, tensors: list[Any]) -> list[Any]:
    """Return tensors as a sweep on xp takes them."""
    return tensors if xp is Tensor._namespace else [t if t is None else t._raw for t in tensors]


def _tensors(xp: Any, values: Sequence[Any]) -> list[Any]:
    """Return what a sweep on xp carries as tensors, whole ones, or None."""
    dense = [v.todense(xp) if type(v) is Block else v for v in values]
    return [v if v is None or type(v) is Tensor else wrap(v) for v in dense]


class CompiledScan:
    """A loop of a compiled program.

    Attributes
    ----------
    piece
        One step, from the leaves of state and x to those of the next state and of y.
    inexact
        By which of these arguments to differentiate.
    """

    def __init__(
        self,
        control: Any,
        call: Call,
        form: Rebuild,
        x_form: Rebuild,
        checkpoint: bool,
        what: str,
        reads: Sequence[Any] = (),
    ) -> None:
        self.control, self.call, self.form, self.x_form = control, call, form, x_form
        self.checkpoint, self.what = checkpoint, what
        self.kinds: list[tuple[Any, Any]] = []
        self.piece = Piece(self._step, reads)

    def _step(self, given: list[Tensor]) -> list[Tensor]:
        state, x = given[: self.states], given[self.states :]
        new, y = self.call(self.form(state), self.x_form(x))
        leaves, self.y_form = flatten(y)
        self.absent = [v is None for v in leaves]
        named = f"{self.what}: y"
        like = next(iter(given), 0.0)  # numbers are of its dtype
        found = [as_tensors([like, v], named)[1] for v in leaves if v is not None]
        return _on(self.control, [*new, *(as_tensor(v, named) for v in found)])

    def __call__(
        self, first: list[Tensor], parts: list[Tensor], count: int, reverse: bool
    ) -> tuple[list[Tensor], Stacked]:
        """Return the last state, and what all steps returned beside it."""
        control, self.states = self.control, len(first)
        self.first, self.parts = _on(control, first), _on(control, parts)
        self.count, self.reverse = count, reverse
        level = highest(_raws([*first, *parts]), {}) if levels.get() else None
        if level is None:
            try:
                self._settle_dtypes()
            except Mapped as mapped:
                level = mapped.level
        if level is not None:
            return self._of_examples(level)
        given = [*self.first, *self.parts]
        self.inexact = self._differentiated(given)
        nodes: list[Node | None] = [given[k]._node for k in self.inexact]
        nodes += self.piece.captured
        raws = [_raws(self.first), _raws(self.parts)]
        self.keeps = bool(interested(nodes)) and not self.checkpoint
        found = (self._values_and_residuals if self.keeps else self._values)(*raws)
        self.live = [k for k, raw in enumerate(found) if has_derivative(wrap(raw))]
        return self._parted(recorded_call(self, nodes, found, self.live))

    def _differentiated(self, given: list[Tensor]) -> list[int]:
        """Return which leaves of state and xs a derivative is taken by: of xs, recorded ones."""
        return [
            k
            for k, t in enumerate(given)
            if has_derivative(t) and (k < self.states or interested([t._node]))
        ]

    def _parted(self, results: list[Tensor]) -> tuple[list[Tensor], Stacked]:
        """Return the last state and what steps returned beside it."""
        last, ys = results[: self.states], iter(results[self.states :])
        return last, Stacked([None if gone else next(ys) for gone in self.absent], self.y_form)

    def _of_examples(self, level: Level) -> tuple[list[Tensor], Stacked]:
        """Return the results of a loop over all examples of a vmap at once.

        Tapes around the vmap record that loop. Tapes inside get a node for one example.
        """
        xp: Any = Tensor._namespace
        given = [*self.first, *self.parts]
        mapped = [type(t._raw) is Batched and t._raw.level is level for t in given]
        mapped[: self.states] = [True] * self.states

        def inside(tensors: Sequence[Tensor]) -> list[Tensor]:
            pairs = zip(tensors, mapped, strict=True)
            return [wrap(Batched(level, t)) if m else t for t, m in pairs]

        def call(state: Any, x: Any) -> tuple[list[Tensor], Any]:
            with reopened(level):
                found = [
                    collected(t, level, self.what)
                    for t in self.piece.function(inside([*state, *x]))
                ]
            return found[: self.states], found[self.states :]

        def kinds(*arrays: Any) -> list[Any]:
            raws = self.piece.probe(_raws(inside([*map(wrap, arrays)])))
            return [collected(wrap(raw), level, self.what)._raw for raw in raws]

        with outside(level):
            states = [
                t._raw.values
                if type(t._raw) is Batched and t._raw.level is level
                else xp.broadcast_to(t, (level.size, *t.shape))
                for t in self.first
            ]
            parts = [
                xp.moveaxis(t._raw.values, 0, 1) if m else t
                for t, m in zip(self.parts, mapped[self.states :], strict=True)
            ]
            loop = CompiledScan(self.control, call, list, list, self.checkpoint, self.what)
            last, ys = loop(states, parts, self.count, self.reverse)
            found = [*last, *(xp.moveaxis(t, 0, 1) for t in ys.leaves)]
        raws: list[Any] = [Batched(level, t) for t in found]
        if not active.get() - level.tapes:
            return self._parted([*map(wrap, raws)])
        self.keeps, control = False, self.control
        specimens = control.specimens(_raws(loop.first)) + control.first_of(_raws(loop.parts))
        control.shapes(kinds, *specimens)
        self.inexact = self._differentiated(given)
        self.kinds = [(shape[1:], dtype) for shape, dtype in loop.kinds]
        self.live = [k for k, raw in enumerate(raws) if has_derivative(wrap(raw))]
        nodes = [*(given[k]._node for k in self.inexact), *self.piece.captured]
        return self._parted(recorded_call(self, nodes, raws, self.live, but=level.tapes))

    def _settle_dtypes(self) -> None:
        """Make the first state of the dtypes that steps return; note what they read."""
        control = self.control
        for _ in range(3):
            specimens = [
                *control.specimens(_raws(self.first)),
                *control.first_of(_raws(self.parts)),
            ]
            found = control.shapes(lambda *arrays: self.piece.probe(arrays), *specimens)
            old = [t.dtype for t in self.first]
            new = [f.dtype for f in found[: self.states]]
            if new == old:
                self.kinds = _kinds(found)
                return
            xp: Any = Tensor._namespace
            self.first = [
                t if t.dtype == dtype else xp.astype(t, dtype)
                for t, dtype in zip(self.first, new, strict=True)
            ]
        raise ShapeError(
            f"{self.what}: steps change the dtypes of the state, from {old} to {new}; return the "
            "dtypes that were given"
        )

    def _values(self, first: list[Any], parts: list[Any]) -> list[Any]:
        def step(state: list[Any], x: list[Any]) -> tuple[list[Any], list[Any]]:
            found = self.piece.values([*state, *x])
            return found[: self.states], found[self.states :]

        last, ys = self.control.scan(step, first, parts, self.count, self.reverse)
        return [*last, *ys]

    def _values_and_residuals(self, first: list[Any], parts: list[Any]) -> list[Any]:
        """Return the results, having kept what the rules of all steps read."""
        control, width = self.control, len(self.kinds)
        given: list[Any] = []
        read: list[Any] = []

        def forward(*arrays: Any) -> list[Any]:
            given[:] = arrays
            inner = self.piece.run([*map(wrap, arrays)], False, self.inexact)
            self.inner_live = inner.live
            weights = control.specimens([inner.results[k]._raw for k in inner.live])
            self.pull, read[:] = control.hoisted(lambda *w: inner.pull(w), *weights)
            return [*_raws(inner.results), *read]

        specimens = [*control.specimens(first), *control.first_of(parts)]
        program, closed_over = control.traced(forward, *specimens)
        outer = {id(a): a for a in closed_over}
        columns = {id(a): k for k, a in enumerate(given[self.states :])}
        #: for each value that the rules read: ("fixed", value), ("x", which) or ("step", which)
        self.sources: list[tuple[str, Any]] = []
        varying: list[int] = []
        for k, value in enumerate(read):
            if id(value) in outer or not control.is_traced(value):
                self.sources.append(("fixed", value))
            elif id(value) in columns:
                self.sources.append(("x", columns[id(value)]))
            else:
                self.sources.append(("step", len(varying)))
                varying.append(width + k)

        program, before = control.ahead(program, self.states)
        products = before(closed_over, parts) if before else []

        def step(state: list[Any], x: list[Any]) -> tuple[list[Any], Any]:
            found = control.evaluated(program, closed_over, [*state, *x])
            return found[: self.states], (found[self.states : width], [found[k] for k in varying])

        over = [*parts, *products]
        last, (ys, self.kept) = control.scan(step, first, over, self.count, self.reverse)
        self.columns = parts
        return [*last, *ys]

    # -- derivatives --

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return cotangents of first state, xs and captured tensors, given those of results."""
        weights = _tensors(xp, g if len(self.live) > 1 else [g])
        given = dict(zip(self.live, weights, strict=True))
        if xp is Tensor._namespace or not self.keeps:
            return _answers(xp, self._back_on_tensors(given))
        return self._back({k: t._raw for k, t in given.items() if t is not None})

    def _moving(self) -> list[int]:
        """Return which leaves of the state have derivatives."""
        return [k for k in self.inexact if k < self.states]

    def _back(self, given: dict[int, Any]) -> list[Any]:
        control, moving = self.control, self._moving()
        zeros: Any = plain_namespace(self.first[0]._raw if self.first else self.columns[0]).zeros
        cotangents = [self._weight(given, k, zeros) for k in moving]
        ys = [k for k in self.live if k >= self.states and k in given]
        a, b = len(moving), len(self.inexact)
        ends = self.piece.captured
        first_column = {"step": 0, "x": len(self.kept)}
        stacked = [None if kind == "fixed" else first_column[kind] + v for kind, v in self.sources]
        pull, products = control.factored(self.pull, range(b, b + len(ends)), self.count, stacked)
        totals = [
            zeros(node.shape, dtype=node.dtype)
            for k, node in enumerate(ends, b)
            if k not in products
        ]

        def step(state: Any, rest: Any) -> tuple[Any, Any]:
            (cotangents, totals), (kept, columns, weights) = state, rest
            read = {"step": kept, "x": columns}
            values = [v if kind == "fixed" else read[kind][v] for kind, v in self.sources]
            known = dict(zip([*moving, *ys], [*cotangents, *weights], strict=True))
            found = control.evaluated(
                pull,
                values,
                [
                    known[k] if k in known else zeros(self.kinds[k][0], dtype=self.kinds[k][1])
                    for k in self.inner_live
                ],
            )
            c = b + len(totals)
            return (found[:a], _sums(totals, found[b:c])), (found[a:b], found[c:])

        over = (self.kept, self.columns, [given[k] for k in ys])
        (by_first, totals), (by_xs, factors) = control.scan(
            step, (cotangents, totals), over, self.count, not self.reverse
        )
        sums = iter(totals)
        by_captured = [
            _total(p.of([*self.kept, *self.columns], factors) for p in products[k])
            if k in products
            else next(sums)
            for k in range(b, b + len(ends))
        ]
        return [*by_first, *by_xs, *by_captured]

    def _weight(self, given: dict[int, Any], k: int, zeros: Any) -> Any:
        shape, dtype = self.kinds[k]
        return given[k] if k in given else zeros(shape, dtype=dtype)

    def _back_on_tensors(self, given: dict[int, Any]) -> list[Any]:
        """Return the same by another loop: over the states before each step, on tensors."""
        moving, states = self._moving(), self.states
        before = self._states_before()
        zeros: Any = plain_namespace(before[0]._raw if before else self.parts[0]._raw).zeros
        full: dict[int, Any] = {}
        for k in self.live:
            shape, dtype = self.kinds[k]
            whole = shape if k < states else (self.count, *shape)
            weight = given.get(k)
            full[k] = wrap(zeros(whole, dtype=dtype)) if weight is None else weight
        ys = [k for k in self.live if k >= states]
        totals = [wrap(zeros(node.shape, dtype=node.dtype)) for node in self.piece.captured]

        def call(state: Any, x: Any) -> tuple[list[Tensor], Any]:
            cotangents, totals = state[: len(moving)], state[len(moving) :]
            values, weights = x[: states + len(self.parts)], x[states + len(self.parts) :]
            known = dict(zip([*moving, *ys], [*cotangents, *weights], strict=True))
            inner = self.piece.run(values, True, self.inexact)
            found = inner.pull([known[k] for k in inner.live])
            a, b = len(moving), len(self.inexact)
            return [*found[:a], *_sums(totals, found[b:])], list(found[a:b])

        loop = CompiledScan(self.control, call, list, list, self.checkpoint, self.what)
        last, by_xs = loop(
            [*(full[k] for k in moving), *totals],
            [*before, *self.parts, *(full[k] for k in ys)],
            self.count,
            not self.reverse,
        )
        return [*last[: len(moving)], *by_xs.leaves, *last[len(moving) :]]

    def _states_before(self) -> list[Tensor]:
        """Return the state before each step, stacked, on tensors."""

        def call(state: Any, x: Any) -> tuple[list[Tensor], Any]:
            return self.piece.function([*state, *x])[: self.states], list(state)

        loop = CompiledScan(self.control, call, list, list, self.checkpoint, self.what)
        return loop(self.first, self.parts, self.count, self.reverse)[1].leaves

    def tangents(self, xp: Any, given: dict[int, Any]) -> Any:
        """Return tangents of the results, given some of first state, xs and captured tensors."""
        moving, states = self._moving(), self.states
        arguments = [*self.first, *self.parts]
        zeros: Any = plain_namespace(arguments[0]._raw).zeros
        full = []
        ends = [(arguments[k].shape, arguments[k].dtype) for k in self.inexact]
        ends += [(node.shape, node.dtype) for node in self.piece.captured]
        for k, (shape, dtype) in enumerate(ends):
            full.append(wrap(zeros(shape, dtype=dtype)) if k not in given else given[k])
        full = _tensors(xp, full)
        a, b = len(moving), len(self.inexact)
        captured = full[b:]

        def call(state: Any, x: Any) -> tuple[list[Tensor], Any]:
            values = [*state[:states], *x[: len(self.parts)]]
            inner = self.piece.run(values, True, self.inexact)
            found = inner.push([*state[states:], *x[len(self.parts) :], *captured])
            known = dict(zip(inner.live, found, strict=True))
            along = [
                known[k] if k in known else wrap(zeros(self.kinds[k][0], dtype=self.kinds[k][1]))
                for k in self.live
            ]
            return [*inner.results[:states], *along[:a]], along[a:]

        loop = CompiledScan(self.control, call, list, list, self.checkpoint, self.what)
        last, ys = loop(
            [*self.first, *full[:a]], [*self.parts, *full[a:b]], self.count, self.reverse
        )
        found = dict(zip(moving, last[states:], strict=True))
        found |= dict(zip([k for k in self.live if k >= states], ys.leaves, strict=True))
        answers = _answers(xp, [found.get(k) for k in self.live])
        return answers if len(answers) > 1 else answers[0]


class CompiledCond:
    """A choice of a compiled program between two functions."""

    def __init__(
        self,
        control: Any,
        condition: Tensor,
        functions: Sequence[Callable[..., Any]],
        rebuild: Rebuild,
        what: str,
    ) -> None:
        self.control, self.condition, self.what = control, condition, what
        self.rebuild = rebuild
        self.forms: list[Any] = [None, None]
        self.dtypes: list[Any] | None = None
        self.pieces = [Piece(self._branch(k, f), [f]) for k, f in enumerate(functions)]

    def _branch(self, which: int, function: Callable[..., Any]) -> Any:
        def call(given: list[Tensor]) -> list[Tensor]:
            result = function(*self.rebuild(given))
            leaves, form = flatten(result)
            self.forms[which] = form, paths(result)
            named = f"{self.what}: the result"
            found = _on(self.control, [as_tensor(v, named) for v in leaves])
            if self.dtypes is None:
                return found
            xp: Any = Tensor._namespace
            return [
                t if t.dtype == d else xp.astype(t, d)
                for t, d in zip(found, self.dtypes, strict=True)
            ]

        return call

    def __call__(self, operands: list[Tensor]) -> Any:
        """Return the result of one of the functions."""
        control = self.control
        self.operands = _on(control, operands)
        arrays = _raws(self.operands)
        specimens = control.specimens(arrays)
        kinds = [
            _kinds(control.shapes(lambda *a, p=piece: p.probe(a), *specimens))
            for piece in self.pieces
        ]
        (form, places), (_, others) = self.forms
        if places != others or [s for s, _ in kinds[0]] != [s for s, _ in kinds[1]]:
            raise ShapeError(
                f"{self.what}: the functions return arrays of shapes {[s for s, _ in kinds[0]]} at "
                f"{places} and {[s for s, _ in kinds[1]]} at {others}; where the condition is not "
                "known yet, both return nests of the same form and shapes"
            )
        self.dtypes = [control.promoted(a, b) for (_, a), (_, b) in zip(*kinds, strict=True)]
        captured = dict.fromkeys(node for piece in self.pieces for node in piece.captured)
        for piece in self.pieces:
            piece.captured = list(captured)
        self.inexact = [k for k, t in enumerate(self.operands) if has_derivative(t)]
        nodes = [self.operands[k]._node for k in self.inexact]
        raws = control.cond(self.condition._raw, *(piece.values for piece in self.pieces), arrays)
        self.kinds = _kinds(raws)
        self.live = [k for k, raw in enumerate(raws) if has_derivative(wrap(raw))]
        return form(recorded_call(self, [*nodes, *captured], raws, self.live))

    def _chosen(self, functions: Sequence[Callable[..., Any]], tensors: list[Tensor]) -> Any:
        """Return what one of two functions of the tensors returns: a list of tensors."""
        if levels.get() and highest(_raws(tensors), {}) is not None:  # many sweeps in one
            where: Any = Tensor._namespace.where
            yes, no = (function(*tensors) for function in functions)
            return [where(self.condition, a, b) for a, b in zip(yes, no, strict=True)]
        return CompiledCond(self.control, self.condition, functions, list, self.what)(tensors)

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Return cotangents of the operands and captured tensors, by the same choice."""
        zeros: Any = plain_namespace(self.condition._raw).zeros
        weights = _tensors(xp, g if len(self.live) > 1 else [g])
        weights = [
            wrap(zeros(self.kinds[k][0], dtype=self.kinds[k][1])) if w is None else w
            for k, w in zip(self.live, weights, strict=True)
        ]
        count = len(self.operands)

        def back(piece: Piece) -> Callable[..., list[Any]]:
            def call(*given: Tensor) -> list[Any]:
                inner = piece.run(given[:count], recorded=True)
                known = dict(zip(self.live, given[count:], strict=True))
                return inner.pull([known[k] for k in inner.live])

            return call

        found = self._chosen([back(p) for p in self.pieces], [*self.operands, *weights])
        return _answers(xp, found)

    def tangents(self, xp: Any, given: dict[int, Any]) -> Any:
        """Return tangents of the results, by the same choice."""
        zeros: Any = plain_namespace(self.condition._raw).zeros
        places = sorted(given)
        count = len(self.operands)
        total = len(self.inexact) + len(self.pieces[0].captured)

        def along(piece: Piece) -> Callable[..., list[Any]]:
            def call(*tensors: Tensor) -> list[Any]:
                inner = piece.run(tensors[:count], recorded=True)
                known = dict(zip(places, tensors[count:], strict=True))
                found = inner.push([known.get(k) for k in range(total)])
                live = dict(zip(inner.live, found, strict=True))
                return [
                    live[k] if k in live else wrap(zeros(self.kinds[k][0], dtype=self.kinds[k][1]))
                    for k in self.live
                ]

            return call

        moving = _tensors(xp, [given[k] for k in places])
        found = self._chosen([along(p) for p in self.pieces], [*self.operands, *moving])
        answers = _answers(xp, found)
        return answers if len(answers) > 1 else answers[0]


class _Unbounded:
    """The derivative of a compiled loop of unknown length: in words."""

    def __init__(self, what: str) -> None:
        self.what = what

    def cotangents(self, xp: Any, g: Any) -> list[Any]:
        """Raise the error that says what to write."""
        raise RuleError(
            f"{self.what}: a derivative is wanted of a compiled loop whose number of steps is not "
            "known, so that nothing says how many states to keep; write max_steps=n, or wg.scan "
            "over a fixed number of steps"
        )

    def tangents(self, xp: Any, given: dict[int, Any]) -> Any:
        """Raise the same error."""
        return self.cotangents(xp, given)


def compiled_while(
    control: Any,
    condition: Callable[[Any], Any],
    moved: Callable[[Any], list[Tensor]],
    body: Callable[[Any], Any],
    form: Rebuild,
    first: list[Tensor],
    what: str,
) -> list[Tensor]:
    """Return the state after a compiled loop of unknown length."""
    first = _on(control, first)
    piece = Piece(lambda given: _on(control, moved(form(given))), [body])
    control.shapes(lambda *arrays: piece.probe(arrays), *control.specimens(_raws(first)))
    asked = Piece(lambda given: [as_tensor(condition(form(given)), f"{what}: the condition")])
    raws = control.while_loop(lambda s: asked.values(s)[0], piece.values, _raws(first))
    nodes = [t._node for t in first if has_derivative(t)]
    live = [k for k, raw in enumerate(raws) if has_derivative(wrap(raw))]
    return recorded_call(_Unbounded(what), [*nodes, *piece.captured], raws, live)
