"""autograd.misc.fixed_points: x = f(a)(x), with derivatives by a."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.dialects.autograd.borders import settled, values
from wengert.transforms.implicit import implicit_function

Function = Callable[..., Any]


def fixed_point(f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Any:
    """Return x of x = f(a)(x), by repetition from x0 until distance(x, before) <= tol.

    The derivative by a is that of the equation, not of the steps.

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

    def repeated(a: Any) -> Any:
        step, before = f(a), values(x0)
        x = step(before)
        while distance(x, before) > tol:
            before, x = x, step(x)
        return x

    solve = implicit_function(repeated, fixed_point=lambda x, a: f(a)(x), tolerance=None)
    return settled(solve(a))


__all__ = ["fixed_point"]
