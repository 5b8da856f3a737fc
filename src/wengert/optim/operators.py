"""Derivatives as linear operators of SciPy: products with them, and no matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert import backends
from wengert.optim.leaves import raw
from wengert.optim.vectors import Objective, Space, VectorFunction, as_tuple
from wengert.transforms.forward import linearize
from wengert.transforms.gradients import grad, vjp
from wengert.transforms.vmap import vmap

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

#: So many products of one matrix are computed at once.
_AT_ONCE = 64

Product = Callable[[Any], Any]


def linear_operator(
    fun: Callable[..., Any], x: Any, *, args: tuple[Any, ...] = ()
) -> LinearOperator:
    """Return the Jacobian of `fun` at x as a scipy.sparse.linalg.LinearOperator.

    The function is recorded once, when the operator is made. A product ``J @ v`` is then a forward
    sweep, ``J.T @ w`` a reverse sweep (for which the function is recorded once more), and ``J @ V``
    sweeps that take many columns at once.

    Parameters
    ----------
    fun
        Takes an x, and `args`; returns an array or a nest of arrays.
    x
        Where: floats, arrays or tensors, in any nest. Columns are its numbers in the order of
        `ravel`, and rows those of the result.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> J = wg.optim.linear_operator(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0]))
    >>> J.shape, J @ np.array([1.0, 0.0, 0.0]), J.T @ np.array([1.0, 1.0])
    ((2, 3), array([2., 0.]), array([2., 4., 2.]))
    """
    space = _space(x, "linear_operator")
    function = VectorFunction(fun, as_tuple(args), space, "the function")
    return jacobian_operator(function, space.start)


def jacobian_operator(function: VectorFunction, x: np.ndarray) -> LinearOperator:
    """Return the Jacobian of a function of vectors as a linear operator."""
    start = function.space.as_one(x)
    values, push = linearize(function.of_one, start)
    rows = int(values.shape[0])
    pulls: list[Product] = []

    def pull(weights: Any) -> Any:
        if not pulls:
            pulls.append(vjp(function.of_one, start)[1])
        return pulls[0](weights)[0]

    return _operator((rows, function.space.size), push, pull, values, start)


def hessian_operator(
    fun: Callable[..., Any], x: Any, *, args: tuple[Any, ...] = ()
) -> LinearOperator:
    """Return the Hessian of `fun` at x as a scipy.sparse.linalg.LinearOperator.

    Parameters are those of `linear_operator`; `fun` returns one number. The gradient is recorded
    once; a product with a vector is one more forward sweep.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> H = wg.optim.hessian_operator(lambda x: wg.sum(x[1:] * x[:-1] ** 2), np.ones(3))
    >>> H @ np.array([1.0, 0.0, 0.0])
    array([2., 2., 0.])
    """
    space = _space(x, "hessian_operator")
    objective = Objective(fun, as_tuple(args), space)
    start = space.as_one(space.start)
    push = linearize(grad(objective.of_one), start)[1]
    return _operator((space.size, space.size), push, push, start, start)


def gauss_newton_operator(
    model: Callable[..., Any],
    loss: Callable[..., Any],
    x: Any,
    *,
    args: tuple[Any, ...] = (),
) -> LinearOperator:
    """Return the Gauss-Newton matrix of loss(model(x)) as a scipy.sparse.linalg.LinearOperator.

    It is Jᵀ H J, with J the Jacobian of `model` at x and H the Hessian of `loss` at the model's
    result, and has no negative eigenvalues where `loss` is convex.

    Parameters
    ----------
    model
        Takes an x, and `args`; returns an array or a nest of arrays.
    loss
        Takes what the model returns; returns one number.
    x
        As for `linear_operator`.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> x = np.array([1.0, 2.0])
    >>> G = wg.optim.gauss_newton_operator(lambda x: x**2, lambda y: wg.sum(y**2), x)
    >>> G @ np.array([1.0, 1.0])
    array([ 8., 32.])
    """
    what = "gauss_newton_operator"
    space = _space(x, what)
    function = VectorFunction(model, as_tuple(args), space, "the model")
    start = space.as_one(space.start)
    _, push = linearize(function.of_one, start)
    _, pull = vjp(function.of_one, start)
    result = model(space.tree(space.start), *as_tuple(args))
    between = Space(result, what, "the model's result")
    objective = Objective(loss, (), between)
    bend = linearize(grad(objective.of_one), between.as_one(between.start))[1]

    def product(direction: Any) -> Any:
        return pull(bend(push(direction)))[0]

    return _operator((space.size, space.size), product, product, start, start)


def _space(x: Any, caller: str) -> Space:
    space = Space(x, caller, "x")
    if not space.one_library:
        raise ValueError(
            f"{caller}: x has arrays of several libraries, and an operator is about one vector; "
            "convert them to those of one library"
        )
    return space


def _operator(
    shape: tuple[int, int], push: Product, pull: Product, values: Any, start: Any
) -> LinearOperator:
    """Return an operator of two linear functions, on arrays like `start` and like `values`."""
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(
        shape,
        matvec=lambda v: _host(push(_like(np.ravel(v), start))),
        rmatvec=lambda w: _host(pull(_like(np.ravel(w), values))),
        matmat=lambda v: _host(_many(push)(_like(v.T, start))).T,
        rmatmat=lambda w: _host(_many(pull)(_like(w.T, values))).T,
        dtype=np.float64,
    )


def _many(product: Product) -> Product:
    return vmap(product, chunk_size=_AT_ONCE)


def _like(numbers: np.ndarray, example: Any) -> Any:
    """Return numbers as an array of the library and dtype of another."""
    array = raw(example)
    xp: Any = backends.namespace_of(array)
    if np.iscomplexobj(numbers):
        raise TypeError(
            "the operator is real, and was multiplied with complex numbers; multiply with their "
            "real and imaginary parts"
        )
    return xp.asarray(np.ascontiguousarray(numbers), dtype=array.dtype)


def _host(result: Any) -> np.ndarray:
    return np.array(backends.to_numpy(raw(result)), np.float64)
