"""Functions to functions: grad, value_and_grad, vjp, stop_gradient, custom_gradient."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.engine.errors import (
    DtypeError,
    RuleError,
    ShapeError,
    UnconnectedWarning,
    caller_depth,
)
from wengert.engine.node import ALIAS, NOBODY, Node, Op, active, leaf, meet
from wengert.engine.record import interested, lift, record
from wengert.engine.tape import GradientTape
from wengert.engine.tensor import Tensor, wrap
from wengert.engine.trees import flatten, map_leaves
from wengert.engine.variable import Variable


def name_of(fun: Callable[..., Any]) -> str:
    return getattr(fun, "__name__", repr(fun))


def _argument(value: Any, what: str) -> Tensor:
    """Return a tensor of its own for one array of a transform's argument.

    It is not the tensor that was given, even if one was: a function that also reads the
    given tensor, from an outer scope, must not be differentiated with respect to that.
    """
    if value is None:
        raise TypeError(f"{what}: got None; expected an array or a number")
    given = lift(value, what)
    if type(given) is not Tensor:
        given = wrap(np.asarray(given))
    if not backends.is_inexact(given.dtype):
        hint = f"{value!r}." if type(value) is int else "wg.astype(x, wg.float64)"
        raise DtypeError(
            f"{what}: got {given.dtype} of shape {given.shape}; derivatives exist for floating and "
            f"complex numbers, so write {hint}"
        )
    node = given._node
    tokens = meet(node.tokens, active.get()) if node is not None else NOBODY
    if not tokens:
        return wrap(given._raw)
    return wrap(given._raw, Node(ALIAS, node, 0, (), (), tokens, given.shape, given.dtype))


def like_given(result: Any, given: Any) -> Any:
    """Return a tensor as the kind of array that was given."""
    if type(given) is Tensor or isinstance(given, Variable) or not isinstance(result, Tensor):
        return result
    raw = result._raw
    if type(raw) is Batched:
        return result
    if backends.namespace_of(given) is None:  # a Python number
        return raw[()] if type(raw) is np.ndarray and not raw.shape else result.numpy().copy()
    # what is handed out may be written to, so it must stand alone
    own = backends.namespace_of(raw).copy(raw)
    return own[()] if isinstance(given, np.generic) else own


def is_traced(tensor: Tensor) -> bool:
    """Whether a tape that records now, outside of the transform, cares about a tensor."""
    return tensor._node is not None and bool(tensor._node.tokens & active.get())


class Call:
    """One call of a function on arguments that a tape of its own watches."""

    def __init__(
        self,
        fun: Callable[..., Any],
        argnums: int | Sequence[int],
        has_aux: bool,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        what: str,
        persistent: bool = False,
    ) -> None:
        self.what = f"{what}({name_of(fun)})"
        self.single = isinstance(argnums, int)
        self.positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for position in self.positions:
            if not isinstance(position, int):
                raise TypeError(
                    f"{self.what}: argnums={argnums!r}; expected positions of arguments"
                )
            if not -len(args) <= position < len(args):
                raise TypeError(
                    f"{self.what}: argnums={argnums}, but it was called with {len(args)} "
                    "positional arguments"
                )
        if len({p % len(args) for p in self.positions}) < len(self.positions):
            raise ValueError(f"{self.what}: argnums={argnums} names an argument twice")
        self.given = [args[p] for p in self.positions]
        self.tape = GradientTape(persistent=persistent, watch_accessed_variables=False)
        inner = list(args)
        self.sources = []
        for position in self.positions:
            inner[position] = map_leaves(lambda v: _argument(v, self.what), args[position])
            self.sources.append(inner[position])
        with self.tape:
            self.tape.watch(self.sources)
            result = fun(*inner, **kwargs)
        self.aux = None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(
                    f"{self.what}: has_aux=True needs the function to return (value, aux), not "
                    f"{type(result).__name__}"
                )
            result, self.aux = result
        self.result = result

    def gradients(self, weights: Any) -> Any:
        """Return the derivatives in the places and kinds of the arguments."""
        found = self.tape.gradient(
            self.result, self.sources, output_gradients=weights, unconnected_gradients="zero"
        )
        answers = [self._like(part, given) for part, given in zip(found, self.given, strict=True)]
        return answers[0] if self.single else tuple(answers)

    @staticmethod
    def _like(part: Any, given: Any) -> Any:
        leaves, rebuild = flatten(part)
        originals = flatten(given)[0]
        return rebuild(
            [
                leaf if is_traced(leaf) else like_given(leaf, original)
                for leaf, original in zip(leaves, originals, strict=True)
            ]
        )

    def outward(self, tree: Any) -> Any:
        """Return a result as the kind of array that the arguments were."""
        first = next(iter(flatten(self.given)[0]), None)
        return map_leaves(
            lambda v: like_given(v, first) if type(v) is Tensor and not is_traced(v) else v, tree
        )

    def check_connected(self, targets: list[Tensor]) -> None:
        """Warn if no target was computed from the arguments."""
        token = self.tape._token
        if not any(t._node is not None and token in t._node.tokens for t in targets):
            warnings.warn(
                f"{self.what}: the result does not depend on the argument, so the derivative is "
                "zero; if it should depend, look for float(x), .numpy(), int dtypes or "
                "stop_gradient on the way",
                UnconnectedWarning,
                stacklevel=caller_depth(),
            )


def _scalar(call: Call) -> Tensor:
    """Return the result of a function as the scalar that grad differentiates."""
    result = call.result
    if isinstance(result, Variable):
        result = result.value()
    if isinstance(result, (bool, int, float, complex, np.ndarray, np.generic)):
        result = wrap(np.asarray(result) * 1.0)
    if type(result) is not Tensor:
        raise TypeError(
            f"{call.what}: the function returned {type(result).__name__}; expected one number. "
            "For (value, more) write has_aux=True, for several results wg.vjp"
        )
    if result.shape != ():
        raise ShapeError(
            f"{call.what}: the function returned shape {result.shape}; expected one number, so "
            "write wg.sum(...) in it, or use wg.vjp for a weighted sum"
        )
    if not backends.is_inexact(result.dtype):
        raise DtypeError(f"{call.what}: the function returned {result.dtype}; expected a float")
    call.check_connected([result])
    call.result = result
    return result


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives (fun's value, its gradient).

    Parameters
    ----------
    fun
        Returns one number, or (number, aux) with `has_aux`.
    argnums
        Which positional arguments to differentiate with respect to; each may be a nest of
        arrays, and its gradient is a nest of the same form.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """

    @functools.wraps(fun)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        call = Call(fun, argnums, has_aux, args, kwargs, "value_and_grad")
        value = _scalar(call)
        gradient = call.gradients(None)
        answer = call.outward(value)
        if isinstance(answer, np.ndarray):
            answer = answer[()]
        return ((answer, call.outward(call.aux)) if has_aux else answer), gradient

    return with_gradient


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of `fun`; with `has_aux`, (gradient, aux).

    Parameters are those of `value_and_grad`. Given NumPy arrays it returns NumPy arrays.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.grad(lambda x: np.sum(np.sin(x)))(np.zeros(3))
    array([1., 1., 1.])
    >>> wg.grad(wg.grad(lambda x: x**3))(2.0)
    np.float64(12.0)
    """

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        call = Call(fun, argnums, has_aux, args, kwargs, "grad")
        _scalar(call)
        answer = call.gradients(None)
        return (answer, call.outward(call.aux)) if has_aux else answer

    return gradient


def vjp(fun: Callable[..., Any], *args: Any, has_aux: bool = False) -> Any:
    """Return fun(*args) and a function from weights of its result to gradients of its arguments.

    With `has_aux`, `fun` returns (result, aux), and aux comes as a third value.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> y, pull = wg.vjp(np.sin, np.zeros(2))
    >>> pull(np.array([1.0, 2.0]))
    (array([1., 2.]),)
    """
    call = Call(fun, tuple(range(len(args))), has_aux, args, {}, "vjp", persistent=True)
    leaves, rebuild = flatten(call.result)
    call.result = rebuild(
        [leaf if type(leaf) is Tensor else wrap(np.asarray(leaf)) for leaf in leaves]
    )
    call.check_connected(flatten(call.result)[0])

    def pull(weights: Any) -> Any:
        if any(w is None for w in flatten(weights)[0]):
            raise TypeError("vjp: a weight is None; write 0.0, or zeros in the result's shape")
        return call.gradients(weights)

    result = call.outward(call.result)
    return (result, pull, call.outward(call.aux)) if has_aux else (result, pull)


def stop_gradient(x: Any) -> Any:
    """Return the same values as constants: no derivative flows through them."""
    return map_leaves(
        lambda v: wrap(t._raw) if type(t := lift(v, "stop_gradient")) is Tensor else t, x
    )


class _Custom(Op):
    """One call of a function that brings its own gradient; `pull` calls the user's."""

    family = "custom"
    captures = True  # its pullback may read tensors that are not arguments

    def __init__(self, name: str, count: int, pullback: Callable[..., Any], several: bool) -> None:
        names = [f"x{i}" for i in range(count)]
        super().__init__(name, names, lambda xp: None, [lambda xp, g: g] * count)
        self.pullback = pullback
        self.several = several
        self.asked: tuple[Any, Any, list[Any]] | None = None

    def pull(self, xp: Any, g: Any, node: Node, argument: int, values: tuple[Any, ...]) -> Any:
        recording = active.get()
        if self.asked is None or self.asked[0] is not g or self.asked[1] != recording:
            self.asked = (g, recording, self._ask(g))  # once for all arguments
        raw = self.asked[2][argument]
        return raw if raw is None or xp is Tensor._namespace else raw._raw

    def _ask(self, g: Any) -> list[Any]:
        if isinstance(g, list) and not self.several:
            (g,) = g
        weights = [
            w if w is None or type(w) is Tensor else wrap(w) for w in (g if self.several else [g])
        ]
        answer = self.pullback(*weights)
        answers = list(answer) if isinstance(answer, (tuple, list)) else [answer]
        if len(answers) != len(self.args):
            raise RuleError(
                f"{self.name}: its gradient function returned {len(answers)} values for "
                f"{len(self.args)} arguments; return one for each, None for zero"
            )
        return [a if a is None else _as_tensor(a) for a in answers]


def _as_tensor(value: Any) -> Tensor:
    value = lift(value, "custom_gradient")
    return value if type(value) is Tensor else wrap(np.asarray(value))


def _refuse_captured(name: str, results: list[Any], arguments: list[Any], before: int) -> None:
    """Raise if results depend on a recorded tensor that is no argument: its path would end here."""
    recording = active.get()
    pending = [r._node for r in results if type(r) is Tensor and r._node is not None]
    seen = set(pending)
    while pending:
        node = pending.pop()
        if node in arguments:
            continue
        if node.order < before and node.tokens & recording:
            raise RuleError(
                f"custom_gradient: {name} also depends on a recorded tensor of shape {node.shape} "
                "that is not a positional argument, so no derivative would reach it; pass it as "
                "an argument, or use wg.stop_gradient(tensor)"
            )
        if node.order > before:
            fresh = [parent for parent, _, _ in node.edges if parent not in seen]
            seen.update(fresh)
            pending.extend(fresh)


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

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        signature.bind(*args, **kwargs)
        tensors = [_as_tensor(a) for a in args]
        before = leaf((), None).order
        answer = fun(*tensors, **kwargs)
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise TypeError(
                f"custom_gradient: {name_of(fun)} returned {type(answer).__name__}; expected "
                "(result, function from weights to gradients)"
            )
        result, pullback = answer
        leaves, rebuild = flatten(result)
        raws = [_as_tensor(leaf)._raw for leaf in leaves]
        nodes = [t._node for t in tensors]
        tokens = interested(nodes)
        _refuse_captured(name_of(fun), leaves, nodes, before)
        if not tokens:
            return rebuild([wrap(raw) for raw in raws])
        several = len(leaves) != 1
        op = _Custom(name_of(fun), len(tensors), pullback, several)
        parts = record(
            op, raws if several else raws[0], [t._raw for t in tensors], nodes, {}, tokens
        )
        return rebuild(parts if several else [parts])

    return call
