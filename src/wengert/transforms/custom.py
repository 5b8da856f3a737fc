"""Functions that bring their own derivatives: custom_vjp, custom_jvp, custom_gradient.

A call is one node of the tape, whatever the function does inside. Under `vmap` it is one on
either side: tapes that were opened inside get a node for one example, and tapes around `vmap`
one for all examples, whose rule opens the level again and does what the inner rule does.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level, highest, levels, outside, plain_namespace
from wengert.engine.cotangents import Block
from wengert.engine.errors import NoRuleError, RuleError, name_of
from wengert.engine.node import Edge, Node, active
from wengert.engine.op import Op
from wengert.engine.op import leaf as leaf_node
from wengert.engine.record import interested, lift, record, weak
from wengert.engine.tape import Tape
from wengert.engine.tensor import Tensor, wrap
from wengert.ops.batching import constant
from wengert.transforms.check import (
    TOLERANCE,
    GradientCheckError,
    _direction,
    _in_double,
    _numerical,
)
from wengert.transforms.vmap import collected
from wengert.trees import Rebuild, flatten, paths

#: ``(results, weights) -> cotangents`` or ``(results, tangents) -> tangents``: lists of tensors,
#: one for each array of results or arguments, None for zero.
Rule = Callable[[list[Any], list[Any]], list[Any]]


# -- one node for a call ----------------------------------------------------------------------


class _Custom(Op):
    """One call of a function that brings its own derivatives."""

    family = "custom"
    captures = True  # its rules may read tensors that are not arguments
    backward: Rule
    forward: Rule | None
    several: bool

    def pull(
        self, xp: Any, g: Any, node: Node, edges: Sequence[Edge], own: bool = False
    ) -> Sequence[Any]:
        weights = self._listed(g.todense(xp) if type(g) is Block else g)
        found = self.backward(self._results(edges[0][2]), weights)
        if xp is not Tensor._namespace:
            found = [None if part is None else part._raw for part in found]
        return [found[argument] for _, argument, _ in edges]

    def push(self, xp: Any, node: Node, edges: Sequence[Any]) -> Any:
        if self.forward is None:
            return NotImplemented
        tangents: list[Any] = [None] * len(self.args)
        for _, argument, _, t in edges:
            tangents[argument] = _tensor(t.todense(xp) if type(t) is Block else t)
        found = self.forward(self._results(edges[0][2]), tangents)
        if xp is not Tensor._namespace:
            found = [None if t is None else t._raw for t in found]
        return found if self.several else found[0]

    def _results(self, values: tuple[Any, ...]) -> list[Any]:
        return self._listed(values[0]) if values else []

    def _listed(self, values: Any) -> list[Any]:
        return [*map(_tensor, values)] if self.several else [_tensor(values)]


@functools.cache
def _template(count: int, reads_results: bool) -> _Custom:
    rule = (lambda xp, g, y: g) if reads_results else (lambda xp, g: g)
    return _Custom("custom", [f"x{i}" for i in range(count)], lambda xp: None, [rule] * count)


def _tensor(value: Any) -> Any:
    return value if value is None or type(value) is Tensor else wrap(value)


def recorded_as_one(
    name: str,
    arguments: list[Any],
    results: list[Tensor],
    backward: Rule,
    forward: Rule | None = None,
    reads_results: bool = False,
) -> list[Tensor]:
    """Return results with one node, that of a function of `arguments`, on each side of vmap.

    `backward` and `forward` get the results if `reads_results`, else an empty list. Without
    `forward`, tangents come from transposing `backward`.
    """
    raws = [a._raw if type(a) is Tensor else a for a in arguments]
    nodes = [a._node if type(a) is Tensor else None for a in arguments]
    level = _level_of(arguments, results)
    if level is None:
        ys: list[Any] = [r._raw for r in results]
        tokens = interested(nodes)
    else:
        mapped = [_is_at(a, level) for a in arguments]
        rules = _for_all_examples(level, mapped, backward, forward)
        with outside(level):
            physical = [_physical(a, level) for a in arguments]
            whole = [collected(r, level, name) for r in results]
            found = recorded_as_one(name, physical, whole, *rules, reads_results)
        ys = [Batched(level, y) for y in found]
        tokens = interested(nodes) - level.tapes
    if not tokens:
        return [*map(wrap, ys)]
    op = copy.copy(_template(len(arguments), reads_results))
    op.name, op.backward, op.forward, op.several = name, backward, forward, len(ys) != 1
    made = record(op, ys if op.several else ys[0], raws, nodes, {}, tokens)
    return list(made) if op.several else [made]


def is_recorded(tensor: Any) -> bool:
    """Return whether a tape that records now cares about a tensor, on any side of vmap."""
    if type(tensor) is not Tensor:
        return False
    if tensor._node is not None and tensor._node.tokens & active.get():
        return True
    return type(tensor._raw) is Batched and is_recorded(tensor._raw.values)


def detached(value: Any) -> Any:
    """Return a tensor that no tape cares about, on any side of vmap; other values as they are."""
    return constant(value) if type(value) is Tensor else value


def _level_of(arguments: list[Any], results: list[Tensor]) -> Level | None:
    if not levels.get():
        return None
    return highest([t._raw for t in (*arguments, *results) if type(t) is Tensor], {})


def _is_at(value: Any, level: Level) -> bool:
    return type(value) is Tensor and type(value._raw) is Batched and value._raw.level is level


def _physical(value: Any, level: Level) -> Any:
    return value._raw.values if _is_at(value, level) else value


def refuse_captured(name: str, arguments: list[Any], results: list[Tensor], before: int) -> None:
    """Raise if results depend on a recorded tensor that is no argument: its path would end here.

    `before` is the number of a node made right before the results were computed.
    """
    recording = active.get()
    stops = {a._node for a in arguments if type(a) is Tensor}
    pending = [r._node for r in results if r._node is not None]
    seen = set(pending)
    while pending:
        node = pending.pop()
        if node in stops:
            continue
        if node.order < before and node.tokens & recording:
            raise RuleError(
                f"{name} also depends on a recorded tensor of shape {node.shape} that is not a "
                "positional argument with a derivative, so no derivative would reach it; pass it "
                "as an argument, or use wg.stop_gradient(tensor)"
            )
        if node.order > before:
            fresh = [parent for parent, _, _ in node.edges if parent not in seen]
            seen.update(fresh)
            pending.extend(fresh)
    level = _level_of(arguments, results)
    if level is not None:
        with outside(level):
            physical = [_physical(a, level) for a in arguments]
            refuse_captured(name, physical, [_physical(r, level) for r in results], before)


# -- all examples of vmap ----------------------------------------------------------------------


_reopening = threading.RLock()


@contextlib.contextmanager
def _reopened(level: Level) -> Iterator[None]:
    """Return a context in which a level is open once more, with the tapes of now around it.

    A rule may hold tensors of that level, so another one would not do.
    """
    before = levels.get()
    with _reopening:  # threads may sweep over the same nodes
        outer, level.tapes = level.tapes, active.get()
        levels.set((*(other for other in before if other is not level), level))
        try:
            yield
        finally:
            level.tapes = outer
            levels.set(before)


def _for_all_examples(
    level: Level, mapped: list[bool], backward: Rule, forward: Rule | None
) -> tuple[Rule, Rule | None]:
    """Return rules for all examples of a level from those for one."""

    def inside(tensors: list[Any], batched: Sequence[bool]) -> list[Any]:
        return [
            wrap(Batched(level, t)) if t is not None and b else t
            for t, b in zip(tensors, batched, strict=True)
        ]

    def pull(results: list[Any], weights: list[Any]) -> list[Any]:
        with _reopened(level):
            all_of = [True] * len(weights)
            answers = backward(inside(results, all_of[: len(results)]), inside(weights, all_of))
        found = []
        for answer, is_mapped in zip(answers, mapped, strict=True):
            if answer is not None:
                answer = collected(answer, level, "a custom rule")
                if not is_mapped:  # each example had the same argument
                    answer = Tensor._namespace.sum(answer, axis=0)
            found.append(answer)
        return found

    def push(results: list[Any], tangents: list[Any]) -> list[Any]:
        with _reopened(level):
            answers = rule(inside(results, [True] * len(results)), inside(tangents, mapped))
        return [None if a is None else collected(a, level, "a custom rule") for a in answers]

    if forward is None:
        return pull, None
    rule = forward
    return pull, push


# -- arguments and results ---------------------------------------------------------------------


def as_tensors(leaves: Sequence[Any], name: str) -> list[Any]:
    """Return arrays as tensors, and numbers as tensors of the arrays' dtype; integers stay."""
    lifted = [lift(v, name) for v in leaves]
    like = next(
        (t._raw for t in lifted if type(t) is Tensor and backends.is_inexact(t.dtype)), None
    )
    return [_from_number(v, like) if type(v) in (float, complex) else v for v in lifted]


def _from_number(number: Any, like: Any) -> Tensor:
    if like is None:
        return wrap(np.asarray(number))
    return wrap(weak(plain_namespace(like), number, like.dtype))


def as_tensor(value: Any, what: str) -> Tensor:
    """Return an array or a number as a tensor."""
    value = lift(value, what)
    return value if type(value) is Tensor else wrap(np.asarray(value))


def is_inexact(value: Any) -> bool:
    """Return whether a value is a tensor of numbers that have derivatives."""
    return type(value) is Tensor and backends.is_inexact(value.dtype)


def zeros_like(tensor: Tensor) -> Tensor:
    """Return zeros in the shape and dtype of a tensor; of an example, where there are many."""
    return wrap(plain_namespace(tensor._raw).zeros(tensor.shape, dtype=tensor.dtype))


def transposed(forward: Rule, arguments: list[Any]) -> Rule:
    """Return the rule for cotangents from the rule for tangents, which is linear in them."""

    def backward(results: list[Any], weights: list[Any]) -> list[Any]:
        zeros = [zeros_like(a) if is_inexact(a) else None for a in arguments]
        with Tape(watch_accessed_variables=False) as tape:
            tape._token.transform = "the transpose of a rule"
            tape.watch([z for z in zeros if z is not None])
            tangents = forward(results, zeros)
        pairs = [
            (t, w)
            for t, w in zip(tangents, weights, strict=True)
            if t is not None and w is not None
        ]
        targets, seeds = [t for t, _ in pairs], [w for _, w in pairs]
        found: list[Any] = tape.gradient(targets, zeros, output_gradients=seeds)
        return found

    return backward


# -- the public functions ----------------------------------------------------------------------


class CustomFunction:
    """A function with derivatives of its own, as `custom_vjp` and `custom_jvp` return it.

    `defvjp` gives it a rule for reverse mode and `defjvp` or `defjvps` one for forward mode.
    One is enough: the other mode transposes it. `check` compares them.
    """

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int], hint: str
    ) -> None:
        if not callable(fun):
            raise TypeError(f"got {fun!r:.60} where a function is expected")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.name = name_of(fun)
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        if not all(isinstance(n, int) and n >= 0 for n in given):
            raise ValueError(
                f"{self.name}: nondiff_argnums={nondiff_argnums!r}; expected positions of "
                "arguments, counted from 0"
            )
        self.static = frozenset(given)
        self._hint = hint
        try:
            self._signature: inspect.Signature | None = inspect.signature(fun)
        except ValueError:  # a builtin that does not tell
            self._signature = None
        self._fwd: Callable[..., Any] | None = None
        self._bwd: Callable[..., Any] | None = None
        self._rule: Callable[..., Any] | None = None
        self._rules: tuple[Callable[..., Any] | None, ...] | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<custom function {self.name}>"

    # -- rules --

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Give the function a rule for reverse mode.

        Parameters
        ----------
        fwd
            Takes what the function takes and returns (result, residuals); residuals are anything
            that `bwd` needs.
        bwd
            ``bwd(residuals, weights)``, with weights in the form of the result, returns a tuple
            with the cotangent of each argument, in its form; None for zero. Arguments of
            `nondiff_argnums` have none, and come first: ``bwd(n, residuals, weights)``.
        """
        _check_callable(self.name, "defvjp", fwd, bwd)
        self._fwd, self._bwd = fwd, bwd

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function a rule for forward mode, and return that rule.

        Parameters
        ----------
        rule
            ``rule(primals, tangents)``, two tuples of the arguments' forms, returns (value,
            tangent of the value). It is linear in the tangents; those of integers are None.
            Arguments of `nondiff_argnums` come first: ``rule(n, primals, tangents)``.
        """
        _check_callable(self.name, "defjvp", rule)
        self._rule, self._rules = rule, None
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Give the function a rule for forward mode for each argument; their answers add up.

        Parameters
        ----------
        rules
            ``rule(tangent, result, *arguments)`` returns the tangent of the result that the
            tangent of this argument makes; None in place of a rule for an argument without
            influence. Arguments of `nondiff_argnums` have no rule, and come first.
        """
        _check_callable(self.name, "defjvps", *(r for r in rules if r is not None))
        self._rule, self._rules = None, rules

    def _has_rule(self) -> bool:
        return not (self._bwd is None and self._rule is None and self._rules is None)

    # -- calls --

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's result, as tensors."""
        call = _Invocation(self, self._positional(args, kwargs))
        before = leaf_node((), None).order
        if not any(map(is_recorded, call.tensors)):
            results, rebuild = call.run(self.fun, call.tensors)
            refuse_captured(self.name, call.tensors, results, before)
            return rebuild([wrap(r._raw) for r in results])
        if not self._has_rule():
            raise NoRuleError(
                f"{self.name}: a derivative is wanted, and the function has no rule; write "
                f"{self.name}.{self._hint}"
            )
        results = call.recordable()
        refuse_captured(self.name, call.tensors, results, before)
        backward, forward = call.rules()
        return call.rebuild_result(
            recorded_as_one(self.name, call.tensors, results, backward, forward, call.reads_results)
        )

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, as rules get them."""
        if self._signature is None:
            if kwargs:
                raise TypeError(
                    f"{self.name}: got {', '.join(kwargs)} by name; write them by position"
                )
            return args
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.name}: {', '.join(bound.kwargs)} can be given by name only, and rules "
                "know arguments by position; let the function take it by position"
            )
        return bound.args

    def check(
        self, *args: Any, tolerance: float | None = None, projections: int = 3, seed: int = 0
    ) -> None:
        """Compare the rules at `args` with each other and with differences of the function.

        For random tangents v of each argument and random weights w of the result, <w, J v> must
        come out the same, in float64; so must the values.

        Parameters
        ----------
        args
            A point to check at.
        tolerance
            The relative error to allow.
        projections
            How many random v and w to take for each argument.

        Raises
        ------
        GradientCheckError
            Naming the argument, and what each rule gives.
        """
        if not self._has_rule():
            raise NoRuleError(
                f"{self.name}: there is no rule to check; write {self.name}.{self._hint}"
            )
        _Check(self, self._positional(args, {}), tolerance, projections, seed).run()


#: Stands where a residual is a result.
_RESULT = object()
#: The functions whose `fwd` runs in this thread or task.
_in_fwd: ContextVar[frozenset[CustomFunction]] = ContextVar("wengert_fwd", default=frozenset())


class _Kept(NamedTuple):
    """What `fwd` returned: the result's leaves and form, residuals, which of them are results."""

    leaves: list[Any]
    rebuild: Rebuild
    residuals: Any
    among: dict[int, int]

    def filled(self, results: list[Any]) -> Any:
        """Return the residuals, with the results where they are among them."""
        if not self.among:
            return self.residuals
        leaves, rebuild = flatten(self.residuals)
        return rebuild(
            [results[self.among[k]] if k in self.among else v for k, v in enumerate(leaves)]
        )


def _check_callable(name: str, method: str, *functions: Any) -> None:
    for function in functions:
        if not callable(function):
            raise TypeError(f"{name}.{method}: got {function!r:.60}; expected functions")


class _Invocation:
    """One call of a custom function: its arguments, its result, and the rules for them."""

    def __init__(self, function: CustomFunction, args: tuple[Any, ...]) -> None:
        self.function = function
        self.name = function.name
        self.static = {i: a for i, a in enumerate(args) if i in function.static}
        if len(self.static) < len(function.static):
            raise TypeError(
                f"{self.name}: nondiff_argnums has {sorted(function.static)}, and it was called "
                f"with {len(args)} arguments"
            )
        moving = [a for i, a in enumerate(args) if i not in function.static]
        leaves, self.rebuild = flatten(moving)
        self.count = len(moving)
        try:
            self.tensors = as_tensors(leaves, self.name)
        except TypeError as error:
            raise TypeError(
                f"{error}. An argument that is no array, or has no derivative, is named by its "
                "position: nondiff_argnums=(1,)"
            ) from None
        self.rebuild_result: Rebuild = list
        self.results: list[Tensor] = []
        self.kept: _Kept | None = None  # None also if `fwd` is to run when it is asked for

    def arguments(self, tensors: Sequence[Any]) -> list[Any]:
        """Return all arguments by position, the differentiable ones made of `tensors`."""
        found = list(self.rebuild(tensors))
        for position in sorted(self.static):
            found.insert(position, self.static[position])
        return found

    def run(self, fun: Callable[..., Any], tensors: Sequence[Any]) -> tuple[list[Tensor], Rebuild]:
        leaves, rebuild = flatten(fun(*self.arguments(tensors)))
        return [as_tensor(r, f"{self.name}: its result") for r in leaves], rebuild

    def recordable(self) -> list[Tensor]:
        """Return the results, having kept what the rules need."""
        function = self.function
        if function._fwd is None or function in _in_fwd.get():
            constants = [*map(detached, self.tensors)]
            self.results, self.rebuild_result = self.run(function.fun, constants)
            return self.results
        kept = self.run_fwd()
        self.rebuild_result = kept.rebuild
        self.results = [as_tensor(r, f"{self.name}: its result") for r in kept.leaves]
        # a node must not hold its own result
        self.kept = kept._replace(leaves=[], residuals=kept.filled([_RESULT] * len(self.results)))
        return self.results

    def run_fwd(self) -> _Kept:
        """Return what `fwd` does; a call of the function in it has its `fwd` run when asked for."""
        before = _in_fwd.get()
        _in_fwd.set(before | {self.function})
        try:
            answer = self.function._fwd(*self.arguments(self.tensors))  # type: ignore[misc]
        finally:
            _in_fwd.set(before)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(
                f"{self.name}: the first function of defvjp returned {type(answer).__name__}; "
                "expected (result, residuals)"
            )
        leaves, rebuild = flatten(answer[0])
        given = {*map(id, self.tensors)}  # an argument that is returned is still the argument
        places = {
            id(leaf): i
            for i, leaf in enumerate(leaves)
            if hasattr(leaf, "shape") and id(leaf) not in given
        }
        residuals = enumerate(flatten(answer[1])[0])
        among = {k: places[id(leaf)] for k, leaf in residuals if id(leaf) in places}
        return _Kept(leaves, rebuild, answer[1], among)

    @property
    def reads_results(self) -> bool:
        for_rules = self.function._rules is not None
        return for_rules or self.kept is None or bool(self.kept.among)

    def rules(self) -> tuple[Rule, Rule | None]:
        function = self.function
        self.kinds = [(r.shape, r.dtype) for r in self.results]
        self.results = []  # a node must not hold its own result
        has_forward = function._rule is not None or function._rules is not None
        forward = self.forward if has_forward else None
        if function._bwd is not None:
            return self.backward, forward
        assert forward is not None
        return transposed(forward, self.tensors), forward

    def backward(self, results: list[Any], weights: list[Any]) -> list[Any]:
        """Return the cotangents that `bwd` gives, one for each array of the arguments."""
        bwd: Any = self.function._bwd
        residuals = (self.kept or self.run_fwd()).filled(results)
        answer = bwd(*self.static.values(), residuals, self.rebuild_result(weights))
        if not isinstance(answer, tuple) or len(answer) != self.count:
            given = f"{len(answer)} values" if isinstance(answer, tuple) else type(answer).__name__
            raise RuleError(
                f"{self.name}: the second function of defvjp returned {given} for "
                f"{self.count} arguments; return a tuple with one for each, None for zero"
            )
        found: list[Any] = []
        numbers = self.rebuild(range(len(self.tensors)))
        for i, (part, argument) in enumerate(zip(answer, numbers, strict=True)):
            if part is None:
                found += [None] * len(flatten(argument)[0])
            else:
                found += self._in_form(part, argument, f"the cotangent of argument {i}")
        what = f"{self.name}: a cotangent"
        return [
            None if c is None or not is_inexact(t) else self._fitting(c, t.shape, what, "argument")
            for c, t in zip(found, self.tensors, strict=True)
        ]

    def forward(self, results: list[Any], tangents: list[Any]) -> list[Any]:
        """Return the tangents that the rule of `defjvp` gives, one for each array of results."""
        function = self.function
        primals = tuple(self.rebuild(self.tensors))
        if function._rules is not None:
            return self._added(function._rules, results, primals, tangents)
        full = [self._full(t, k) for k, t in enumerate(tangents)]
        rule: Any = function._rule
        answer = rule(*self.static.values(), primals, tuple(self.rebuild(full)))
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError(
                f"{self.name}: the rule of defjvp returned {type(answer).__name__}; expected "
                "(value, tangent)"
            )
        return self._result_tangents(answer[1])

    def _added(
        self,
        rules: tuple[Any, ...],
        results: list[Any],
        primals: tuple[Any, ...],
        tangents: list[Any],
    ) -> list[Any]:
        if len(rules) != len(primals):
            raise RuleError(
                f"{self.name}: defjvps was given {len(rules)} rules for {len(primals)} arguments; "
                "write one for each, None for an argument without influence"
            )
        totals: list[Any] = [None] * len(results)
        value = self.rebuild_result(results)
        numbers = self.rebuild(range(len(self.tensors)))
        for rule, argument in zip(rules, numbers, strict=True):
            places, rebuild = flatten(argument)
            if rule is None or all(tangents[k] is None for k in places):
                continue
            tangent = rebuild([self._full(tangents[k], k) for k in places])
            answer = rule(*self.static.values(), tangent, value, *primals)
            for k, t in enumerate(self._result_tangents(answer)):
                if t is not None:
                    totals[k] = t if totals[k] is None else totals[k] + t
        return totals

    def _result_tangents(self, tangent: Any) -> list[Any]:
        if tangent is None:
            return [None] * len(self.kinds)
        result = self.rebuild_result(range(len(self.kinds)))
        parts = zip(self._in_form(tangent, result, "the tangent"), self.kinds, strict=True)
        return [
            None if t is None or not backends.is_inexact(dtype) else self._tangent(t, shape, dtype)
            for t, (shape, dtype) in parts
        ]

    def _full(self, tangent: Any, k: int) -> Any:
        """Return a tangent of the k-th array of the arguments, zeros for None."""
        missing = tangent is None and is_inexact(self.tensors[k])
        return zeros_like(self.tensors[k]) if missing else tangent

    def _in_form(self, part: Any, like: Any, what: str) -> list[Any]:
        """Return the leaves of a nest that has the form of another."""
        if type(part) is Tensor and type(like) is int:
            return [part]
        if paths(part) != paths(like):
            raise RuleError(
                f"{self.name}: {what} has parts at {paths(part)}, and {paths(like)} are expected; "
                "return it in the same nest"
            )
        return flatten(part)[0]

    def _tangent(self, value: Any, shape: tuple[int, ...], dtype: Any) -> Tensor:
        tensor = self._fitting(value, shape, f"{self.name}: a tangent", "result")
        if backends.loses(tensor.dtype, dtype):
            raise RuleError(
                f"{self.name}: a tangent has dtype {tensor.dtype} and its result {dtype}, which "
                "cannot hold it; return wg.real(tangent) if that is meant"
            )
        same = tensor.dtype == dtype
        return tensor if same else Tensor._namespace.astype(tensor, dtype)

    def _fitting(self, value: Any, shape: tuple[int, ...], what: str, of: str) -> Tensor:
        tensor = as_tensor(value, what)
        if tensor.shape != shape:
            raise RuleError(
                f"{what} has shape {tensor.shape} and its {of} {shape}; return one number for each "
                "element, None for zero"
            )
        return tensor


class _Check:
    """The comparison that `CustomFunction.check` does."""

    def __init__(
        self,
        function: CustomFunction,
        args: tuple[Any, ...],
        tolerance: float | None,
        projections: int,
        seed: int,
    ) -> None:
        self.call = _Invocation(function, args)
        self.call.tensors = [wrap(_in_double(t)) if is_inexact(t) else t for t in self.call.tensors]
        self.function, self.name = function, function.name
        self.tolerance, self.projections = tolerance, projections
        self.random = np.random.default_rng(seed)

    def run(self) -> None:
        call, function = self.call, self.function
        results = call.recordable()
        own = [r.numpy() for r in call.run(function.fun, call.tensors)[0]]
        if function._fwd is not None:
            self.compare_values("the first function of defvjp", results, own)
        if function._rule is not None:
            primals = tuple(call.rebuild(call.tensors))
            zeros = tuple(
                call.rebuild([zeros_like(t) if is_inexact(t) else None for t in call.tensors])
            )
            value = function._rule(*call.static.values(), primals, zeros)[0]
            self.compare_values(
                "the rule of defjvp", [as_tensor(v, self.name) for v in flatten(value)[0]], own
            )
        self.backward, self.forward = call.rules()
        self.results = results if call.reads_results else []
        for k, t in enumerate(call.tensors):
            if is_inexact(t):
                for _ in range(self.projections):
                    self.compare(k, own)

    def compare_values(self, what: str, given: list[Tensor], own: list[np.ndarray]) -> None:
        allowed = self.tolerance or 1e-10
        if len(given) != len(own) or not all(
            np.allclose(g.numpy(), o, rtol=allowed, atol=allowed, equal_nan=True)
            for g, o in zip(given, own, strict=True)
        ):
            raise GradientCheckError(
                f"{self.name}: {what} returns another value than the function: "
                f"{[g.tolist() for g in given]!s:.80} and {[o.tolist() for o in own]!s:.80}"
            )

    def compare(self, k: int, own: list[np.ndarray]) -> None:
        point = self.call.tensors[k].numpy()
        v = _direction(point, self.random)
        weights = [_direction(o, self.random) if o.dtype.kind in "fc" else None for o in own]
        found: dict[str, float] = {}
        if self.function._bwd is not None:
            tensors = [None if w is None else wrap(np.asarray(w)) for w in weights]
            cotangent = self.backward(self.results, tensors)[k]
            found["defvjp"] = _pairing([cotangent], [v])
        if self.forward is not None:
            tangents: list[Any] = [None] * len(self.call.tensors)
            tangents[k] = wrap(np.asarray(v))
            found["defjvp"] = _pairing(self.forward(self.results, tangents), weights)

        def total(arrays: list[np.ndarray]) -> complex:
            tensors = list(self.call.tensors)
            tensors[k] = wrap(arrays[0])
            values = [r.numpy() for r in self.call.run(self.function.fun, tensors)[0]]
            return sum(
                complex(np.vdot(w, r)) if w.dtype.kind == "c" else (w.ravel() @ r.ravel())
                for w, r in zip(weights, values, strict=True)
                if w is not None
            )

        numeric, method = _numerical(total, [point], [np.asarray(v)])
        name = f"{method} of the function"
        found[name] = numeric
        scale = 1 + max(map(abs, found.values()))
        self.judge(k, found, name, scale, TOLERANCE[method] * scale)

    def judge(
        self, k: int, found: dict[str, float], function: str, scale: float, usual: float
    ) -> None:
        """Raise if what was found differs; rules differ from each other by rounding only."""
        loose = usual if self.tolerance is None else self.tolerance * scale
        tight = 1e-10 * scale if self.tolerance is None else loose
        names = list(found)
        apart = []
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                allowed = loose if function in (a, b) else tight
                if not abs(found[a] - found[b]) <= allowed:
                    apart.append(f"{a} and {b}")
        if apart:
            told = ", ".join(f"{name} gives {value:.10g}" for name, value in found.items())
            raise GradientCheckError(
                f"{self.name}: {'; '.join(apart)} disagree on the derivative by argument array "
                f"{k}: along a random direction {told}"
            )


def _pairing(tensors: list[Any], weights: list[Any]) -> float:
    return float(
        sum(
            np.real(np.vdot(w, t.numpy()))
            for t, w in zip(tensors, weights, strict=True)
            if t is not None and w is not None
        )
    )


def custom_vjp(
    fun: Callable[..., Any] | None = None, nondiff_argnums: int | Sequence[int] = ()
) -> Any:
    """Return a function whose derivative is what `defvjp` says.

    Parameters
    ----------
    fun
        Takes arrays or nests of them by position, and returns an array or a nest.
    nondiff_argnums
        Positions of arguments that are passed on as they are: settings, functions, strings.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, g: (wg.clip(g, -1.0, 1.0),))
    >>> wg.grad(lambda x: 100 * clipped(x))(2.0)
    np.float64(1.0)
    """
    hint = "defvjp(fwd, bwd), where fwd(*args) returns (result, residuals) and bwd(residuals, "
    hint += "weights) a tuple with the cotangent of each argument"
    if fun is None:
        return lambda fun: CustomFunction(fun, nondiff_argnums, hint)
    return CustomFunction(fun, nondiff_argnums, hint)


def custom_jvp(
    fun: Callable[..., Any] | None = None, nondiff_argnums: int | Sequence[int] = ()
) -> Any:
    """Return a function whose derivative is what `defjvp` or `defjvps` says.

    Parameters
    ----------
    fun
        Takes arrays or nests of them by position, and returns an array or a nest.
    nondiff_argnums
        Positions of arguments that are passed on as they are: settings, functions, strings.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.custom_jvp
    ... def log1pexp(x):
    ...     return wg.log(1 + wg.exp(x))
    >>> log1pexp.defjvps(lambda t, y, x: t * (1 - wg.exp(-y)))
    >>> wg.grad(log1pexp)(0.0), wg.jvp(log1pexp, (0.0,), (2.0,))[1]
    (np.float64(0.5), np.float64(1.0))
    """
    hint = "defjvp(rule), where rule(primals, tangents) returns (value, tangent)"
    if fun is None:
        return lambda fun: CustomFunction(fun, nondiff_argnums, hint)
    return CustomFunction(fun, nondiff_argnums, hint)


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a gradient of its own.

    `fun` returns (result, pull), where pull(*weights of the results) returns the gradient
    of each positional argument, None for zero. `pull` may use the arguments and what was
    computed from them; derivatives of any order go through it.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.custom_gradient
    ... def log1pexp(x):
    ...     e = wg.exp(x)
    ...     return wg.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
    >>> wg.grad(log1pexp)(100.0)
    np.float64(1.0)
    """
    signature = inspect.signature(fun)
    name = name_of(fun)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        signature.bind(*args, **kwargs)
        tensors = [as_tensor(a, f"custom_gradient: {name}") for a in args]
        before = leaf_node((), None).order
        answer = fun(*tensors, **kwargs)
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise TypeError(
                f"custom_gradient: {name} returned {type(answer).__name__}; expected "
                "(result, function from weights to gradients)"
            )
        result, pullback = answer
        leaves, rebuild = flatten(result)
        results = [as_tensor(r, f"custom_gradient: {name}") for r in leaves]
        refuse_captured(f"custom_gradient: {name}", tensors, results, before)
        if not any(map(is_recorded, tensors)):
            return rebuild([wrap(r._raw) for r in results])

        def backward(_: list[Any], weights: list[Any]) -> list[Any]:
            answer = pullback(*weights)
            answers = list(answer) if isinstance(answer, (tuple, list)) else [answer]
            if len(answers) != len(tensors):
                raise RuleError(
                    f"{name}: its gradient function returned {len(answers)} values for "
                    f"{len(tensors)} arguments; return one for each, None for zero"
                )
            return [None if a is None else as_tensor(a, name) for a in answers]

        return rebuild(recorded_as_one(name, tensors, results, backward))

    return call
