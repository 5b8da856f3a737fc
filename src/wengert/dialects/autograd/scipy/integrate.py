"""integrate.odeint, with derivatives by the adjoint equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.integrate

from wengert.dialects.autograd.differential_operators import make_vjp
from wengert.dialects.autograd.extend import defvjp_argnums, primitive
from wengert.dialects.autograd.misc.flatten import flatten

#: Settings of SciPy's that say how to compute and not what.
_SETTINGS = {
    "atol", "h0", "hmax", "hmin", "mxhnil", "mxordn", "mxords", "mxstep", "printmessg", "rtol",
}  # fmt: skip


@primitive
def _solved(func: Callable[..., Any], y0: Any, t: Any, args: Any, settings: Any) -> Any:
    return scipy.integrate.odeint(func, y0, t, tuple(args), **settings)


def odeint(func: Callable[..., Any], y0: Any, t: Any, args: Any = (), **settings: Any) -> Any:
    """Return the states at times t of dy/dt = func(y, t, *args) that starts from y0 at t[0].

    Derivatives by y0, t and args come from the adjoint equation, which is solved backwards from
    one time to the one before, by SciPy with the same settings, and are as exact as its tolerances.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd import grad
    >>> from wengert.autograd.scipy.integrate import odeint
    >>> start, times = np.array([2.0]), np.array([0.0, 1.0])
    >>> def end(rate):
    ...     return odeint(lambda y, t, k: -k * y, start, times, (rate,))[-1, 0]
    >>> bool(abs(grad(end)(0.5) + 2 * np.exp(-0.5)) < 1e-6)
    True
    """
    args = args if isinstance(args, (tuple, list)) else (args,)
    return _solved(func, y0, t, tuple(args), settings)


def _rule(argnums: Sequence[int], ys: Any, given: Any, _: Any) -> Callable[[Any], list[Any]]:
    func, y0, t, args, settings = given
    unknown = set(settings) - _SETTINGS
    if unknown:
        raise TypeError(
            f"odeint: {sorted(unknown)} with recorded arguments; derivatives go with "
            f"{', '.join(sorted(_SETTINGS))} only"
        )
    n = ys.shape[1]
    flat_args, unflatten = flatten(args)

    def slope(y: Any, time: Any, flat: Any) -> Any:
        return func(y, time, *unflatten(flat))

    def backwards(state: Any, time: Any, flat: Any) -> Any:
        # the state is y, the adjoint of y, and what has come to the arguments so far
        vjp, dy = make_vjp(slope, (0, 2))(state[:n], time, flat)
        to_y, to_args = vjp(state[n : 2 * n])
        return np.concatenate([np.reshape(dy, (n,)), -to_y, -to_args])

    def vjp(g: Any) -> list[Any]:
        adjoint, to_args = g[-1], np.zeros(np.shape(flat_args))
        to_times = []
        for i in range(np.shape(t)[0] - 1, 0, -1):
            to_times.append(np.sum(slope(ys[i], t[i], flat_args) * g[i]))
            state = np.concatenate([ys[i], adjoint, to_args])
            times = np.stack([t[i], t[i - 1]])
            before = odeint(backwards, state, times, (flat_args,), **settings)[1]
            adjoint, to_args = before[n : 2 * n], before[2 * n :]
            if i > 1:
                adjoint = adjoint + g[i - 1]
        # y0 stays when the first time moves, so the solution moves against its slope there
        to_times.append(-np.sum(slope(ys[0], t[0], flat_args) * adjoint))
        answers = [
            None,
            np.reshape(adjoint + g[0], np.shape(y0)),
            np.stack(to_times[::-1]),
            unflatten(to_args),
        ]
        return [answers[argnum] for argnum in argnums]

    return vjp


defvjp_argnums(_solved, _rule)

__all__ = ["odeint"]
