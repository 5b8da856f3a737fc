"""Functions that bring their own derivatives: custom_vjp, custom_jvp, custom_gradient.

A call is one node of the tape, whatever the function does inside.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from wengert import backends
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import NoRuleError, RuleError, name_of
from wengert.transforms.checkpoint import now
from wengert.transforms.gradients import as_tensor, zeros_like
from wengert.transforms.single_node import (
    Rule,
    as_tensors,
    detached,
    is_inexact,
    is_recorded,
    recorded_as_one,
    refuse_captured,
    transposed,
)
from wengert.trees import Rebuild, flatten, paths

Function = Callable[..., Any]


class CustomFunction:
    """A function with derivatives of its own, as `custom_vjp` and `custom_jvp` return it.

    `defvjp` gives it a rule for reverse mode and `defjvp` or `defjvps` one for forward mode.
    One is enough: the other mode transposes it. `check` compares them.

    Examples
    --------
    >>> import wengert as wg
    >>> @wg.custom_jvp
    ... def square(x):
    ...     return x * x
    >>> square.defjvps(lambda tangent, result, x: 2 * x * tangent)
    >>> square, wg.grad(square)(3.0)
    (<custom function square>, np.float64(6.0))
    """

    def __init__(self, fun: Function, nondiff_argnums: int | Sequence[int], hint: str) -> None:
        _check_callable("a custom function", fun)
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
        self.fwd: Function | None = None
        self.bwd: Function | None = None
        self.jvp_rule: Function | None = None
        self.jvp_rules: tuple[Function | None, ...] | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<custom function {self.name}>"

    # -- rules --

    def defvjp(self, fwd: Function, bwd: Function) -> None:
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
        _check_callable(f"{self.name}.defvjp", fwd, bwd)
        self.fwd, self.bwd = fwd, bwd

    def defjvp(self, rule: Function) -> Function:
        """Give the function a rule for forward mode, and return that rule.

        Parameters
        ----------
        rule
            ``rule(primals, tangents)``, two tuples of the arguments' forms, returns (value,
            tangent of the value). It is linear in the tangents; those of integers are None.
            Arguments of `nondiff_argnums` come first: ``rule(n, primals, tangents)``.
        """
        _check_callable(f"{self.name}.defjvp", rule)
        self.jvp_rule, self.jvp_rules = rule, None
        return rule

    def defjvps(self, *rules: Function | None) -> None:
        """Give the function a rule for forward mode for each argument; their answers add up.

        Parameters
        ----------
        rules
            ``rule(tangent, result, *arguments)`` returns the tangent of the result that the
            tangent of this argument causes; None in place of a rule for an argument without
            influence. Arguments of `nondiff_argnums` have no rule, and come first.
        """
        _check_callable(f"{self.name}.defjvps", *(r for r in rules if r is not None))
        self.jvp_rule, self.jvp_rules = None, rules

    @property
    def has_jvp(self) -> bool:
        """Whether there is a rule for forward mode."""
        return self.jvp_rule is not None or self.jvp_rules is not None

    def _check_rule(self, problem: str) -> None:
        if self.bwd is None and not self.has_jvp:
            raise NoRuleError(f"{self.name}: {problem}; write {self.name}.{self._hint}")

    # -- calls --

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's result, as tensors."""
        call = Invocation(self, self._positional(args, kwargs))
        before = now()
        if not any(map(is_recorded, call.tensors)):
            results, rebuild = call.run(self.fun, call.tensors)
            refuse_captured(self.name, call.tensors, results, before)
            return rebuild([wrap(r._raw) for r in results])
        self._check_rule("a derivative is wanted, and the function has no rule")
        results = call.recordable()
        refuse_captured(self.name, call.tensors, results, before)
        backward, forward = call.rules(results)
        return call.rebuild_result(
            recorded_as_one(self.name, call.tensors, results, backward, forward, call.reads_results)
        )

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, as rules get them."""
        if self._signature is not None:
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{self.name}: {error}") from None
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:
            raise TypeError(
                f"{self.name}: {', '.join(kwargs)} can be given by name only, and rules know "
                "arguments by position; let the function take it by position"
            )
        return args

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
        from wengert.transforms.custom_check import check_rules

        self._check_rule("there is no rule to check")
        check_rules(self, self._positional(args, {}), tolerance, projections, seed)


def _check_callable(what: str, *functions: Any) -> None:
    for function in functions:
        if not callable(function):
            raise TypeError(f"{what}: got {function!r:.60}; expected functions")


#: Stands where a residual is a result.
_RESULT = object()
#: The functions whose `fwd` runs in this thread or task.
_in_fwd: ContextVar[frozenset[CustomFunction]] = ContextVar("wengert_fwd", default=frozenset())


class _Forward(NamedTuple):
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


class Invocation:
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
        try:
            self.tensors = as_tensors(leaves, self.name)
        except TypeError as error:
            raise TypeError(
                f"{error}. An argument that is no array, or has no derivative, is named by its "
                "position: nondiff_argnums=(1,)"
            ) from None
        #: the arguments in their forms, with the index of its tensor in place of each array
        self.indices: list[Any] = self.rebuild(range(len(leaves)))
        self.rebuild_result: Rebuild = list
        self.kept: _Forward | None = None  # None also if `fwd` is to run when it is asked for

    def run(self, fun: Function, tensors: Sequence[Any]) -> tuple[list[Tensor], Rebuild]:
        """Return the results of a function of the arguments, and how to rebuild their nest."""
        leaves, rebuild = flatten(fun(*self.arguments(tensors)))
        return self.as_results(leaves), rebuild

    def arguments(self, tensors: Sequence[Any]) -> list[Any]:
        """Return all arguments by position, the differentiable ones built from `tensors`."""
        found = list(self.rebuild(tensors))
        for position in sorted(self.static):
            found.insert(position, self.static[position])
        return found

    def as_results(self, leaves: Sequence[Any]) -> list[Tensor]:
        """Return the arrays of a result as tensors."""
        return [as_tensor(leaf, f"{self.name}: its result") for leaf in leaves]

    def recordable(self) -> list[Tensor]:
        """Return the results, having kept what the rules need."""
        function = self.function
        if function.fwd is None or function in _in_fwd.get():
            constants = [*map(detached, self.tensors)]
            results, self.rebuild_result = self.run(function.fun, constants)
            return results
        kept = self.run_fwd()
        self.rebuild_result = kept.rebuild
        results = self.as_results(kept.leaves)
        # a node must not hold its own result
        self.kept = kept._replace(leaves=[], residuals=kept.filled([_RESULT] * len(results)))
        return results

    def run_fwd(self) -> _Forward:
        """Return what `fwd` does; a call of the function in it has its `fwd` run when asked for."""
        before = _in_fwd.get()
        _in_fwd.set(before | {self.function})
        try:
            answer = self.function.fwd(*self.arguments(self.tensors))  # type: ignore[misc]
        finally:
            _in_fwd.set(before)
        result, residuals = self._pair(answer, "the first function of defvjp", "result, residuals")
        leaves, rebuild = flatten(result)
        given = {*map(id, self.tensors)}  # an argument that is returned is still the argument
        outputs = {
            id(leaf): i
            for i, leaf in enumerate(leaves)
            if hasattr(leaf, "shape") and id(leaf) not in given
        }
        parts = enumerate(flatten(residuals)[0])
        among = {k: outputs[id(leaf)] for k, leaf in parts if id(leaf) in outputs}
        return _Forward(leaves, rebuild, residuals, among)

    @property
    def reads_results(self) -> bool:
        """Whether the rules read the results."""
        for_rules = self.function.jvp_rules is not None
        return for_rules or self.kept is None or bool(self.kept.among)

    def rules(self, results: list[Tensor]) -> tuple[Rule, Rule | None]:
        """Return the rules for cotangents and for tangents, given the results."""
        self.kinds = [(r.shape, r.dtype) for r in results]
        forward = self.forward if self.function.has_jvp else None
        if self.function.bwd is not None:
            return self.backward, forward
        assert forward is not None
        return transposed(forward, self.tensors), forward

    def backward(self, results: list[Any], weights: list[Any]) -> list[Any]:
        """Return the cotangents that `bwd` gives, one for each array of the arguments."""
        bwd: Any = self.function.bwd
        residuals = (self.kept or self.run_fwd()).filled(results)
        answer = bwd(*self.static.values(), residuals, self.rebuild_result(weights))
        count = len(self.indices)
        if not isinstance(answer, tuple) or len(answer) != count:
            given = f"{len(answer)} values" if isinstance(answer, tuple) else type(answer).__name__
            raise RuleError(
                f"{self.name}: the second function of defvjp returned {given} for "
                f"{count} arguments; return a tuple with one for each, None for zero"
            )
        found: list[Any] = []
        for i, (part, argument) in enumerate(zip(answer, self.indices, strict=True)):
            found += self._in_form(part, argument, f"the cotangent of argument {i}")
        return [
            None if c is None or not is_inexact(t) else self._fitting(c, t.shape, "argument")
            for c, t in zip(found, self.tensors, strict=True)
        ]

    def forward(self, results: list[Any], tangents: list[Any]) -> list[Any]:
        """Return the tangents that `defjvp` or `defjvps` give, one for each array of results."""
        primals = tuple(self.rebuild(self.tensors))
        static = self.static.values()
        if self.function.jvp_rules is None:
            rule: Any = self.function.jvp_rule
            full = [self._full(tangents, k) for k in range(len(tangents))]
            answer = rule(*static, primals, tuple(self.rebuild(full)))
            return self._outputs(self._pair(answer, "the rule of defjvp", "value, tangent")[1])
        rules = self.function.jvp_rules
        if len(rules) != len(primals):
            raise RuleError(
                f"{self.name}: defjvps was given {len(rules)} rules for {len(primals)} arguments; "
                "write one for each, None for an argument without influence"
            )
        totals: list[Any] = [None] * len(results)
        value = self.rebuild_result(results)
        for rule, argument in zip(rules, self.indices, strict=True):
            numbers, rebuild = flatten(argument)
            if rule is None or all(tangents[k] is None for k in numbers):
                continue
            tangent = rebuild([self._full(tangents, k) for k in numbers])
            for k, t in enumerate(self._outputs(rule(*static, tangent, value, *primals))):
                if t is not None:
                    totals[k] = t if totals[k] is None else totals[k] + t
        return totals

    def _outputs(self, tangent: Any) -> list[Any]:
        """Return the tangent of a result as a list, in the results' shapes and dtypes."""
        result = self.rebuild_result(range(len(self.kinds)))
        parts = zip(self._in_form(tangent, result, "the tangent"), self.kinds, strict=True)
        return [
            None if t is None or not backends.is_inexact(dtype) else self._tangent(t, shape, dtype)
            for t, (shape, dtype) in parts
        ]

    def _full(self, tangents: list[Any], k: int) -> Any:
        """Return the tangent of the k-th array of the arguments, zeros for None."""
        missing = tangents[k] is None and is_inexact(self.tensors[k])
        return zeros_like(self.tensors[k]) if missing else tangents[k]

    def _pair(self, answer: Any, what: str, expected: str) -> Any:
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise TypeError(
                f"{self.name}: {what} returned {type(answer).__name__}; expected ({expected})"
            )
        return answer

    def _in_form(self, part: Any, like: Any, what: str) -> list[Any]:
        """Return the leaves of a nest that has the form of another; None is for all of them."""
        if part is None:
            return [None] * len(flatten(like)[0])
        if type(part) is Tensor and type(like) is int:
            return [part]
        if paths(part) != paths(like):
            raise RuleError(
                f"{self.name}: {what} has parts at {paths(part)}, and {paths(like)} are expected; "
                "return it in the same nest"
            )
        return flatten(part)[0]

    def _tangent(self, value: Any, shape: tuple[int, ...], dtype: Any) -> Tensor:
        tensor = self._fitting(value, shape, "result")
        if backends.loses(tensor.dtype, dtype):
            raise RuleError(
                f"{self.name}: a tangent has dtype {tensor.dtype} and its result {dtype}, which "
                "cannot hold it; return wg.real(tangent) if that is meant"
            )
        same = tensor.dtype == dtype
        return tensor if same else Tensor._namespace.astype(tensor, dtype)

    def _fitting(self, value: Any, shape: tuple[int, ...], of: str) -> Tensor:
        what = f"{self.name}: the derivative of {'a' if of == 'result' else 'an'} {of}"
        tensor = as_tensor(value, what)
        if tensor.shape != shape:
            raise RuleError(
                f"{what} has shape {tensor.shape} and its {of} {shape}; return one number for each "
                "element, None for zero"
            )
        return tensor


_VJP_HINT = (
    "defvjp(fwd, bwd), where fwd(*args) returns (result, residuals) and bwd(residuals, weights) a "
    "tuple with the cotangent of each argument"
)
_JVP_HINT = "defjvp(rule), where rule(primals, tangents) returns (value, tangent)"


def custom_vjp(fun: Function | None = None, nondiff_argnums: int | Sequence[int] = ()) -> Any:
    """Return a function whose derivative is what `defvjp` says, as a `CustomFunction`.

    Parameters
    ----------
    fun
        Takes arrays or nests of them by position, and returns an array or a nest. Without it, the
        result is a decorator.
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
    if fun is None:
        return lambda fun: custom_vjp(fun, nondiff_argnums)
    return CustomFunction(fun, nondiff_argnums, _VJP_HINT)


def custom_jvp(fun: Function | None = None, nondiff_argnums: int | Sequence[int] = ()) -> Any:
    """Return a function whose derivative is what `defjvp` or `defjvps` says.

    Parameters are those of `custom_vjp`, and so is the class of the result.

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
    if fun is None:
        return lambda fun: custom_jvp(fun, nondiff_argnums)
    return CustomFunction(fun, nondiff_argnums, _JVP_HINT)


def custom_gradient(fun: Function) -> Function:
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
    what = f"custom_gradient: {name}"

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        signature.bind(*args, **kwargs)
        tensors = [as_tensor(a, what) for a in args]
        before = now()
        answer = fun(*tensors, **kwargs)
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise TypeError(
                f"{what} returned {type(answer).__name__}; expected (result, function from weights "
                "to gradients)"
            )
        result, pullback = answer
        leaves, rebuild = flatten(result)
        results = [as_tensor(r, what) for r in leaves]
        refuse_captured(what, tensors, results, before)
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
