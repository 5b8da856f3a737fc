"""autograd.test_util: derivatives against differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from wengert.dialects.autograd.differential_operators import make_jvp, make_vjp, of_arguments
from wengert.dialects.autograd.vspaces import vspace
from wengert.errors import name_of

Function = Callable[..., Any]
TOL = RTOL = EPS = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Return whether two numbers differ by little, absolutely or relatively."""
    return bool(abs(a - b) < TOL or abs(a - b) < RTOL * abs(a + b))


def make_numerical_jvp(f: Function, x: Any) -> Function:
    """Return the derivative of f at x, by central differences: from tangents to tangents."""
    space = vspace(x)
    results = vspace(f(x))

    def jvp(v: Any) -> Any:
        ahead = f(space.add(x, space.scalar_mul(v, EPS / 2)))
        behind = f(space.add(x, space.scalar_mul(v, -EPS / 2)))
        return results.scalar_mul(results.add(ahead, results.scalar_mul(behind, -1.0)), 1 / EPS)

    return jvp


def check_equivalent(x: Any, y: Any) -> None:
    """Raise AssertionError unless two values are of one space and near each other."""
    space = vspace(x)
    assert space == vspace(y), f"{space} is not {vspace(y)}"
    v = space.randn()
    assert scalar_close(space.inner_prod(x, v), space.inner_prod(y, v)), f"{x} is not near {y}"


def check_vjp(f: Function, x: Any) -> None:
    """Raise AssertionError unless reverse mode agrees with differences, in a random direction."""
    vjp, y = make_vjp(f)(x)
    x_space, y_space = vspace(x), vspace(y)
    v, w = x_space.randn(), y_space.randn()
    pulled = x_space.covector(vjp(y_space.covector(w)))
    assert vspace(pulled) == x_space, f"{name_of(f)}: {vspace(pulled)} is not {x_space}"
    exact = x_space.inner_prod(v, pulled)
    numeric = y_space.inner_prod(w, make_numerical_jvp(f, x)(v))
    assert scalar_close(numeric, exact), (
        f"{name_of(f)} at {x}: reverse mode says {exact}, differences {numeric}"
    )


def check_jvp(f: Function, x: Any) -> None:
    """Raise AssertionError unless forward mode agrees with differences, in a random direction."""
    v = vspace(x).randn()
    check_equivalent(make_jvp(f)(x)(v)[1], make_numerical_jvp(f, x)(v))


@of_arguments
def check_grads(f: Function, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Return a function that checks the derivatives of f at arguments, up to some order.

    Examples
    --------
    >>> import wengert.autograd.numpy as np
    >>> from wengert.autograd.test_util import check_grads
    >>> check_grads(np.sin, modes=["rev"])(np.array([0.5, 1.0]))
    """
    if not set(modes) <= {"fwd", "rev"}:
        raise ValueError(f"check_grads: modes={modes!r}; expected 'fwd' and 'rev'")

    def pushed(x: Any, v: Any) -> Any:
        return make_jvp(f)(x)(v)[1]

    def pulled(x: Any, v: Any) -> Any:
        return make_vjp(f)(x)[0](v)

    pushed.__name__, pulled.__name__ = f"jvp_{name_of(f)}", f"vjp_{name_of(f)}"
    if "fwd" in modes:
        check_jvp(f, x)
        if order > 1:
            check_grads(pushed, (0, 1), modes, order=order - 1)(x, vspace(x).randn())
    if "rev" in modes:
        check_vjp(f, x)
        if order > 1:
            check_grads(pulled, (0, 1), modes, order=order - 1)(x, vspace(f(x)).randn())


def combo_check(fun: Function, *settings: Any, **named: Any) -> Function:
    """Return a function that checks derivatives for all combinations of lists of arguments."""

    def check(*args: Any, **kwargs: Any) -> None:
        for combination in itertools.product(*args):
            for values in itertools.product(*kwargs.values()):
                keywords = dict(zip(kwargs, values, strict=True))
                check_grads(fun, *settings, **named)(*combination, **keywords)

    return check


__all__ = [
    "check_equivalent", "check_grads", "check_jvp", "check_vjp", "combo_check",
    "make_numerical_jvp", "scalar_close",
]  # fmt: skip
