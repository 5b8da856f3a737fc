"""The operators of HIPS autograd, each a few words over Wengert's transforms."""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.autograd import calls, core
from wengert.dialects.autograd.borders import is_complex, settled
from wengert.dialects.autograd.vspaces import vspace
from wengert.engine.tensor import Tensor
from wengert.errors import name_of
from wengert.transforms import forward, jacobians
from wengert.transforms.checkpoint import checkpoint
from wengert.trees import flatten, map_leaves

Function = Callable[..., Any]


def of_arguments(operator: Function) -> Function:
    """Return an operator on functions of one argument as one on functions of many.

    The new one takes `argnum`: the position of the argument, or a tuple or list of positions, whose
    arguments then are one tuple.
    """

    def on_functions(fun: Function, argnum: Any = 0, *more: Any, **named: Any) -> Function:
        name, single = name_of(fun), type(argnum) is int
        positions = (argnum,) if single else argnum
        if type(positions) not in (tuple, list):
            raise TypeError(
                f"{operator.__name__}({name}): argnum={argnum!r}; expected the position of an "
                "argument, or a tuple of positions"
            )

        def on_arguments(*args: Any, **kwargs: Any) -> Any:
            if not all(-len(args) <= position < len(args) for position in positions):
                raise TypeError(
                    f"{on_arguments.__name__}: called with {len(args)} positional arguments"
                )

            def of_one(x: Any) -> Any:
                given = list(args)
                for position, part in zip(positions, (x,) if single else x, strict=True):
                    given[position] = part
                return fun(*given, **kwargs)

            of_one.__name__ = name
            x = tuple(args[position] for position in positions)
            return operator(of_one, x[0] if single else x, *more, **named)

        on_arguments.__name__ = f"{operator.__name__}_of_{name}_wrt_argnum_{argnum}"
        on_arguments.__doc__ = f"Return {operator.__name__} of {name} by argument {argnum}."
        return on_arguments

    on_functions.__name__ = on_functions.__qualname__ = operator.__name__
    on_functions.__doc__ = operator.__doc__
    return on_functions


# -- reverse mode -----------------------------------------------------------------------------


def _call(
    fun: Function, x: Any, what: str, has_aux: bool = False, again: bool = False
) -> calls.Call | core.BoxedCall:
    """Return one call of `fun`: under a tape, or on boxes, if there are any."""
    if core.needs_boxes(x):
        return core.BoxedCall(fun, x, what, has_aux, again)
    call = calls.Call(fun, x, what, has_aux, again)
    call.check_connected(call.leaves())
    return call


def _one_real_number(call: calls.Call | core.BoxedCall) -> None:
    leaves = call.leaves()
    if len(leaves) != 1 or leaves[0].size != 1 or is_complex(leaves[0]):
        got = ", ".join(f"{leaf.dtype} of shape {leaf.shape}" for leaf in leaves) or "no numbers"
        raise TypeError(
            f"{call.what} only applies to functions that return one real number, and this one "
            f"returned {got}. Try jacobian, elementwise_grad or holomorphic_grad."
        )


@of_arguments
def make_vjp(fun: Function, x: Any) -> tuple[Function, Any]:
    """Return a function that gives (vjp, fun's value), vjp from cotangents to the argument's.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import make_vjp
    >>> vjp, y = make_vjp(np.sin)(np.zeros(2))
    >>> vjp(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    call = _call(fun, x, "make_vjp", again=True)
    return call.pulled, call.answer()


@of_arguments
def grad(fun: Function, x: Any) -> Any:
    """Return a function that gives the gradient of `fun`, which returns one real number.

    Parameters
    ----------
    fun
        Takes arrays, numbers, or nests of them in lists, tuples and dicts.
    argnum
        The position of the argument, or a tuple of positions, for which a tuple is returned.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import grad
    >>> grad(lambda x: np.sum(np.tanh(x)))(np.zeros(3))
    array([1., 1., 1.])
    """
    call = _call(fun, x, "grad")
    _one_real_number(call)
    return call.pulled()


@of_arguments
def value_and_grad(fun: Function, x: Any) -> tuple[Any, Any]:
    """Return a function that gives (fun's value, its gradient)."""
    call = _call(fun, x, "value_and_grad")
    _one_real_number(call)
    value = call.answer()
    return value, call.pulled()


@of_arguments
def grad_and_aux(fun: Function, x: Any) -> tuple[Any, Any]:
    """Return a function that gives (gradient, aux), of a `fun` that returns (value, aux)."""
    call = _call(fun, x, "grad_and_aux", has_aux=True)
    return call.pulled(), call.more()


@of_arguments
def elementwise_grad(fun: Function, x: Any) -> Any:
    """Return a function that gives the sum of each column of fun's Jacobian.

    If each element of the result depends on the same element of x only, that is its derivative.
    """
    call = _call(fun, x, "elementwise_grad")
    if any(is_complex(leaf) for leaf in call.leaves()):
        raise TypeError(f"{call.what} only applies to functions that return real numbers")
    return call.pulled()


egrad = elementwise_grad


@of_arguments
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """Return a function that gives the complex derivative of a holomorphic `fun`."""
    if not all(is_complex(leaf) for leaf in flatten(x)[0]):
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """Return a function that gives the gradient of `fun` by an argument that is named."""
    names = list(inspect.signature(fun).parameters)
    if argname not in names:
        raise ValueError(f"grad_named({name_of(fun)}): no argument {argname!r} among {names}")
    return grad(fun, names.index(argname))


def multigrad_dict(fun: Function) -> Function:
    """Return a function that gives the gradients by all arguments, in a dict by their names."""
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> OrderedDict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_dict(given: dict[str, Any]) -> Any:
            renewed = inspect.BoundArguments(signature, OrderedDict(given))
            return fun(*renewed.args, **renewed.kwargs)

        by_name = grad(of_dict)(dict(bound.arguments))
        return OrderedDict((name, by_name[name]) for name in bound.arguments)

    return gradients


# -- Jacobians and second derivatives ---------------------------------------------------------


@of_arguments
def jacobian(fun: Function, x: Any) -> Any:
    """Return a function that gives the Jacobian of `fun`: its axes are the result's, then x's.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import jacobian
    >>> jacobian(lambda x: x[::-1] ** 2)(np.array([1.0, 2.0]))
    array([[0., 4.],
           [2., 0.]])
    """
    if core.needs_boxes(x) or any(is_complex(leaf) for leaf in flatten(x)[0]):
        return _row_by_row(fun, x)
    # in reverse, as autograd does it: its primitives need not have a rule for tangents
    return map_leaves(_array, jacobians.jacobian(fun, mode="reverse")(x))


def _array(leaf: Any) -> Any:
    return settled(leaf) if type(leaf) is Tensor else np.asarray(leaf)


def _row_by_row(fun: Function, x: Any) -> Any:
    vjp, y = make_vjp(fun)(x)
    if is_complex(y):
        raise TypeError(
            f"jacobian({name_of(fun)}): the function returned complex numbers; take the Jacobians "
            "of np.real(y) and np.imag(y), or holomorphic_grad"
        )
    rows = [vjp(direction) for direction in vspace(y).standard_basis()]
    return np.reshape(np.stack(rows), (*np.shape(y), *np.shape(x)))


@of_arguments
def hessian(fun: Function, x: Any) -> Any:
    """Return a function that gives the Hessian of `fun`."""
    return jacobian(jacobian(fun))(x)


@of_arguments
def make_hvp(fun: Function, x: Any) -> Any:
    """Return a function that gives (hvp, the gradient), hvp from vectors to products."""
    return make_vjp(grad(fun))(x)


def _weighted(fun: Function) -> Function:
    """Return fun's product with a tensor, which is the last argument."""

    def product(*args: Any, **kwargs: Any) -> Any:
        *args, tensor = args  # type: ignore[assignment]
        return np.tensordot(tensor, fun(*args, **kwargs), np.ndim(tensor))

    product.__name__ = name_of(fun)
    return product


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """Return a function of (*args, tensor) that gives the product of the Hessian with it."""
    return grad(_weighted(grad(fun, argnum)), argnum)


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """Return a function of (*args, tensor) that gives the product of it with the Jacobian."""
    return jacobian(_weighted(fun), argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


# -- forward mode -----------------------------------------------------------------------------


@of_arguments
def make_jvp(fun: Function, x: Any) -> Function:
    """Return a function that gives jvp, from a tangent to (fun's value, its tangent).

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import make_jvp
    >>> make_jvp(np.sin)(0.0)(2.0)
    (np.float64(0.0), np.float64(2.0))
    """
    if core.needs_boxes(x):
        return core.make_jvp(fun, x)

    def jvp(v: Any) -> tuple[Any, Any]:
        value, tangent = forward.jvp(fun, (x,), (v,))
        return settled(value), settled(tangent)

    return jvp


@of_arguments
def deriv(fun: Function, x: Any) -> Any:
    """Return a function that gives the derivative of `fun` along ones: f'(x), for a number x."""
    return make_jvp(fun)(x)(vspace(x).ones())[1]


@of_arguments
def make_jvp_reversemode(fun: Function, x: Any) -> Function:
    """Return a function that gives jvp, from a tangent to the result's, by two reverse sweeps."""
    vjp, y = make_vjp(fun)(x)
    return make_vjp(vjp)(vspace(y).zeros())[0]


def make_ggnvp(
    f: Function, g: Function = lambda x: 0.5 * np.sum(x**2, axis=-1), f_argnum: Any = 0
) -> Function:
    """Return a function that gives ggnvp: products with the Gauss-Newton matrix of g(f(x))."""

    @of_arguments
    def ggnvp_at(fun: Function, x: Any) -> Function:
        vjp, y = make_vjp(fun)(x)
        curved, slope = make_vjp(grad(g))(y)
        jvp, _ = make_vjp(vjp)(vspace(slope).zeros())
        return lambda v: vjp(curved(jvp(v)))

    return ggnvp_at(f, f_argnum)


__all__ = [
    "checkpoint", "deriv", "egrad", "elementwise_grad", "grad", "grad_and_aux", "grad_named",
    "hessian", "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "jacobian",
    "make_ggnvp", "make_hvp", "make_jvp", "make_jvp_reversemode", "make_vjp", "multigrad_dict",
    "tensor_jacobian_product", "value_and_grad", "vector_jacobian_product",
]  # fmt: skip
