"""Functions to functions: grad, value_and_grad, vjp, stop_gradient."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import backends, explain
from wengert.engine.batching import Batched, plain_namespace
from wengert.engine.node import NOBODY, Token, active, meet, new_node, watching
from wengert.engine.op import ALIAS
from wengert.engine.record import lift
from wengert.engine.tape import Part, Tape, part_of_tape
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import (
    DtypeError,
    ShapeError,
    UnconnectedWarning,
    caller_depth,
    cuts_shown,
    name_of,
)
from wengert.explain.watchers import noted
from wengert.ops.batching import constant
from wengert.ops.variable import Variable
from wengert.transforms.ownership import is_alone
from wengert.trees import flatten, map_leaves


def as_tensor(value: Any, what: str) -> Tensor:
    """Return an array or a number as a tensor; `what` names it in an error."""
    value = lift(value, what)
    return value if type(value) is Tensor else wrap(np.asarray(value))


def zeros_like(tensor: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    """Return zeros in the dtype of a tensor and its shape, or another shape."""
    xp: Any = plain_namespace(tensor._raw)
    return wrap(xp.zeros(tensor.shape if shape is None else shape, dtype=tensor.dtype))


def _argument(value: Any, what: str, token: Token) -> Tensor:
    """Return a tensor of its own for one array of a transform's argument, whose tape has a token.

    It is not the tensor that was given, even if one was: a function that also reads the
    given tensor, from an outer scope, must not be differentiated with respect to that.
    """
    given = as_tensor(value, what)
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
    mine = tokens | {token}
    return wrap(given._raw, new_node(ALIAS, node, 0, (), (), mine, given.shape, given.dtype))


def like_given(result: Any, given: Any, fresh: bool = False) -> Any:
    """Return a tensor as the kind of array that was given; one that a tape records stays a tensor.

    `fresh` says that no user's function has seen the tensor: if nothing else refers to its array
    either, that is handed out itself.
    """
    if type(given) is Tensor or isinstance(given, Variable) or not isinstance(result, Tensor):
        return result
    if is_traced(result):
        return result
    if hasattr(type(given), "__wengert_like__"):
        return given.__wengert_like__(result)
    raw = result._raw
    if type(raw) is Batched:
        return result
    if backends.namespace_of(given) is None:  # a Python number
        return raw[()] if type(raw) is np.ndarray and not raw.shape else result.numpy().copy()
    del raw
    # what is handed out may be written to, so it must stand alone
    alone = fresh and is_alone(result)
    own = result._raw if alone else backends.namespace_of(result._raw).copy(result._raw)
    return own[()] if type(own) is np.ndarray and not own.shape else own  # as NumPy does


def is_traced(tensor: Tensor) -> bool:
    """Whether a tape outside of the transform records a tensor now."""
    return tensor._node is not None and bool(tensor._node.tokens & active.get())


def _as_dialect(source: Any, given: list[Any]) -> Any:
    """Return an argument with tensors of a dialect where those were given."""
    if not any(hasattr(type(value), "__wengert_like__") for value in given):
        return source
    leaves, rebuild = flatten(source)
    return rebuild(
        [
            value.__wengert_like__(leaf) if hasattr(type(value), "__wengert_like__") else leaf
            for leaf, value in zip(leaves, given, strict=True)
        ]
    )


def as_native(value: Any) -> Any:
    """Return a tensor of a dialect as Wengert's own; anything else as it is."""
    return value.__wengert_tensor__() if hasattr(type(value), "__wengert_like__") else value


def check_argnums(what: str, argnums: Any) -> None:
    """Raise unless these are positions of arguments; an array in their place is a habit."""
    if isinstance(argnums, int):
        return
    positions = argnums if isinstance(argnums, Sequence) else (argnums,)
    if not all(isinstance(position, int) for position in positions):
        raise TypeError(
            f"{what}: argnums={argnums!r:.60}; expected positions of arguments, such as 0 or "
            f"(0, 1). For the derivative at x write wg.{what}(f)(x)"
        )


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
        if not self.single:
            check_argnums(what, argnums)
        self.positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for position in self.positions:
            if not -len(args) <= position < len(args):
                raise TypeError(
                    f"{self.what}: argnums={argnums}, but it was called with {len(args)} "
                    "positional arguments"
                )
        if len({p % len(args) for p in self.positions}) < len(self.positions):
            raise ValueError(f"{self.what}: argnums={argnums} names an argument twice")
        self.given = [args[p] for p in self.positions]
        self.tape = Tape(persistent=persistent, watch_accessed_variables=False)
        self.tape._token.transform = self.what
        nests = [flatten(given) for given in self.given]
        self.sources = [
            rebuild([_argument(v, self.what, self.tape._token) for v in leaves])
            for leaves, rebuild in nests
        ]
        inner = list(args)
        with self.tape, cuts_shown:
            self.tape.watch(self.sources)
            for position, source, (leaves, _) in zip(
                self.positions, self.sources, nests, strict=True
            ):
                inner[position] = _as_dialect(source, leaves)
            result = fun(*inner, **kwargs)
        self.aux = None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(
                    f"{self.what}: has_aux=True needs the function to return (value, aux), not "
                    f"{type(result).__name__}"
                )
            result, self.aux = result
        self.result = result if type(result) is Tensor else map_leaves(as_native, result)

    @property
    def parts(self) -> list[Part]:
        """The arrays of the arguments, as parts of the tape."""
        return [part_of_tape(leaf, self.what) for leaf in flatten(self.sources)[0]]

    def gradients(self, weights: Any) -> Any:
        """Return the derivatives in the nests and kinds of the arguments."""
        found = self.tape.gradient(
            self.result, self.sources, output_gradients=weights, unconnected_gradients="zero"
        )
        answers = [self._like(part, given) for part, given in zip(found, self.given, strict=True)]
        return answers[0] if self.single else tuple(answers)

    @staticmethod
    def _like(part: Any, given: Any) -> Any:
        leaves, rebuild = flatten(part)
        pairs = zip(leaves, flatten(given)[0], strict=True)
        return rebuild([like_given(leaf, original, fresh=True) for leaf, original in pairs])

    def outward(self, tree: Any) -> Any:
        """Return a result as the kind of array that the arguments were."""
        first = next(iter(flatten(self.given)[0]), None)
        return map_leaves(lambda v: like_given(v, first) if type(v) is Tensor else v, tree)

    def check_connected(self, targets: list[Tensor]) -> None:
        """Warn if no target was computed from the arguments."""
        token = self.tape._token
        if any(t._node is not None and token in t._node.tokens for t in targets):
            return
        hint = "if it should depend, look for float(x), .numpy(), int dtypes or stop_gradient on "
        hint += "the way"
        if watching.get() is not None and explain.why.ledger() is not None and targets:
            names = explain.why.Names("the result", "the argument", self.what)
            source = flatten(self.sources)[0][0]
            hint = str(explain.why.why(self.tape, targets[0], source, names))
        warnings.warn(
            f"{self.what}: the result does not depend on the argument, so the derivative is zero; "
            f"{hint}",
            UnconnectedWarning,
            stacklevel=caller_depth(),
        )


def scalar(call: Call) -> Tensor:
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
        Returns one number, or (number, aux) with `has_aux`. It computes with functions of wengert
        or NumPy. What turns its argument into plain numbers on the way, such as ``math.sin(x)`` or
        ``array[i] = x``, raises `CutPathError`, which says what to write instead.
    argnums
        Which positional arguments to differentiate with respect to; each may be a nest of
        arrays, and its gradient is a nest of the same form.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> wg.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    check_argnums("value_and_grad", argnums)

    @functools.wraps(fun)
    def with_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        call = Call(fun, argnums, has_aux, args, kwargs, "value_and_grad")
        value = scalar(call)
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
    check_argnums("grad", argnums)

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        call = Call(fun, argnums, has_aux, args, kwargs, "grad")
        scalar(call)
        answer = call.gradients(None)
        return (answer, call.outward(call.aux)) if has_aux else answer

    return gradient


def vjp(fun: Callable[..., Any], *args: Any, has_aux: bool = False) -> tuple[Any, ...]:
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
    results = [as_tensor(leaf, call.what) for leaf in leaves]
    call.result = rebuild(results)
    call.check_connected(results)

    def pull(weights: Any) -> Any:
        if any(w is None for w in flatten(weights)[0]):
            raise TypeError("vjp: a weight is None; write 0.0, or zeros in the result's shape")
        return call.gradients(weights)

    result = call.outward(call.result)
    return (result, pull, call.outward(call.aux)) if has_aux else (result, pull)


def stop_gradient(x: Any) -> Any:
    """Return the same values as constants: no derivative flows through them.

    `wg.grad(lambda x: x * wg.stop_gradient(x))(3.0)` is `3.0`.
    """
    return map_leaves(
        lambda v: (
            noted("stop_gradient", constant(t), t)
            if type(t := lift(v, "stop_gradient")) is Tensor
            else t
        ),
        x,
    )
