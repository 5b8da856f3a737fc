"""autograd.misc.fixed_points: x = f(a)(x), with derivatives by a."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.dialects.autograd.differential_operators import make_vjp
from wengert.dialects.autograd.extend import defvjp, primitive
from wengert.dialects.autograd.vspaces import vspace

Function = Callable[..., Any]


@primitive
def fixed_point(f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Any:
    """Return x of x = f(a)(x), found by repetition from x0 until distance(x, before) <= tol.

    The derivative by a is that of the equation, not of the steps: it is the fixed point of another
    such repetition, and as exact as `tol`.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import grad
    >>> from wengert.autograd.misc.fixed_points import fixed_point
    >>> def newton(a):  # for the square root
    ...     return lambda x: 0.5 * (x + a / x)
    >>> def root(a):
    ...     return fixed_point(newton, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> round(grad(root)(4.0), 9)
    np.float64(0.25)
    """
    step = f(a)
    before, x = x0, step(x0)
    while distance(x, before) > tol:
        before, x = x, step(x)
    return x


def _rule(x: Any, f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Function:
    def adjoint_step(known: Any) -> Function:
        a, x, g = known
        vjp, _ = make_vjp(f(a))(x)
        return lambda u: vspace(x).add(vjp(u), g)

    def vjp(g: Any) -> Any:
        u = fixed_point(adjoint_step, (a, x, g), vspace(x).zeros(), distance, tol)
        return make_vjp(lambda a: f(a)(x))(a)[0](u)

    return vjp


defvjp(fixed_point, None, _rule, None, None, None)

__all__ = ["fixed_point"]
