"""wengert.autograd by itself: closed forms, differences, SciPy's values, and what is refused."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
import scipy.special
import scipy.stats
import wengert.autograd.numpy as np
from numpy.testing import assert_allclose
from wengert.autograd.misc import fixed_points, optimizers
from wengert.autograd.scipy import integrate, linalg, signal, special, stats
from wengert.autograd.test_util import check_grads, check_vjp, combo_check

import wengert as wg
import wengert.autograd as ag
from wengert.autograd import extend, misc
from wengert.ops import distributions

PAGE = Path(__file__).resolve().parents[3] / "docs" / "from-autograd.md"
X = onp.array([0.3, -1.2, 2.5])
M = onp.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.6, 3.0]])
SPD = M @ M.T + onp.eye(3)
MODULES = [
    "", ".builtins", ".core", ".extend", ".misc", ".misc.fixed_points", ".misc.flatten",
    ".misc.optimizers", ".numpy", ".numpy.fft", ".numpy.linalg",
    ".numpy.random", ".scipy", ".scipy.integrate",
    ".scipy.linalg", ".scipy.signal", ".scipy.special", ".scipy.stats", ".scipy.stats.beta",
    ".scipy.stats.chi2", ".scipy.stats.dirichlet", ".scipy.stats.gamma",
    ".scipy.stats.multivariate_normal", ".scipy.stats.norm", ".scipy.stats.poisson",
    ".scipy.stats.t", ".test_util", ".tracer", ".util", ".wrap_util",
]  # fmt: skip


# -- names ---------------------------------------------------------------------------------------


def table() -> dict[str, list[str] | None]:
    """Return the page's table of names: for each module its names, None for all of NumPy's."""
    text = PAGE.read_text(encoding="utf-8").split("<!-- names -->")[1].split("\n\n")[1]
    rows = re.findall(r"^\| `(wengert\.autograd[\w.]*)` \| (.*) \|$", text, flags=re.M)
    return {
        module: None if cell == "all of NumPy's" else re.findall(r"`(\w+)`", cell)
        for module, cell in rows
    }


def test_page_lists_every_module() -> None:
    assert sorted(table()) == sorted(f"wengert.autograd{m}" for m in MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_page_lists_every_name(module: str) -> None:
    found = importlib.import_module(f"wengert.autograd{module}")
    listed = table()[f"wengert.autograd{module}"]
    assert listed is None or sorted(listed) == sorted(found.__all__)
    for name in found.__all__:
        assert getattr(found, name) is not None or name in ("newaxis",)


@pytest.mark.parametrize("letter", ["S", "D"])
def test_page_proves_every_row(letter: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(rf"^\| ({letter}\d+) \|", text, flags=re.M)
    proved = re.findall(rf"# ({letter}\d+)$", text, flags=re.M)
    assert rows == [f"{letter}{i + 1}" for i in range(len(rows))] and set(proved) == set(rows)


def test_every_module_is_tested_here() -> None:
    root = Path(ag.__file__).parent
    files = {p.relative_to(root) for p in root.rglob("*.py")}
    inside = {"borders", "boxes", "calls", "differential_operators", "vspaces"}
    inside |= {"numpy.boxes", "numpy.wrapping"}
    dotted = {
        str(p.with_suffix("")).replace("/", ".").removesuffix("__init__").rstrip(".") for p in files
    }
    distributions = {f"scipy.stats.{name}" for name in stats.__all__}
    assert dotted - inside == {m.lstrip(".") for m in MODULES} - distributions


@pytest.mark.parametrize("module", [m for m in MODULES if m not in (".builtins",)])
def test_a_missing_name_says_what_is_near(module: str) -> None:
    found = importlib.import_module(f"wengert.autograd{module}")
    name = max((n for n in found.__all__ if n[0] != "_"), key=len)
    with pytest.raises(AttributeError, match=rf"no attribute '{name}x'; .*{re.escape(name)}"):
        getattr(found, f"{name}x")


def test_names_of_old_and_of_the_inside_say_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"grad\(fun, argnum=\(0, 1\)\)"):
        _ = ag.multigrad
    with pytest.raises(AttributeError, match="wengert.autograd.core"):
        _ = extend.VJPNode
    with pytest.raises(AttributeError, match="Wengert's own"):
        _ = importlib.import_module("wengert.autograd.core").primitive_vjps
    with pytest.raises(AttributeError, match=r"np\.linalg\.eigh"):
        _ = linalg.eigh
    with pytest.raises(AttributeError, match="no derivative"):
        _ = special.kv


def test_it_is_imported_when_asked_for() -> None:
    found = "[m for m in sys.modules if 'autograd' in m or 'scipy' in m]"
    code = f"import sys, wengert; assert not {found}"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys, wengert.autograd.numpy; assert not [m for m in sys.modules if m == 'scipy']"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- operators -----------------------------------------------------------------------------------


def test_gradients_are_plain_and_can_be_written_to() -> None:
    g = ag.grad(lambda x: np.sum(x**2))(X)
    assert type(g) is onp.ndarray
    g[0] = 5.0
    assert type(ag.grad(lambda x: x**2)(3.0)) is onp.float64
    value, _ = ag.value_and_grad(lambda x: np.sum(x))(X)
    assert type(value) is onp.float64
    assert type(ag.hessian(lambda x: x**3)(2.0)) is onp.ndarray


def test_tensors_stay_tensors_under_a_tape_of_wengerts() -> None:
    def f(x: Any) -> Any:
        return np.sum(ag.grad(lambda y: np.sum(y**3))(x))

    assert_allclose(wg.grad(f)(X), 6 * X)
    assert_allclose(ag.grad(lambda x: np.sum(wg.grad(lambda y: np.sum(y**3))(x)))(X), 6 * X)


def test_multigrad_dict() -> None:
    def f(a: Any, b: Any, *more: Any, c: Any = 2.0, **rest: Any) -> Any:
        return a * np.sum(b) * more[0] * c * rest["d"]

    found = ag.multigrad_dict(f)(2.0, X, 3.0, d=5.0)
    assert list(found) == ["a", "b", "more", "c", "rest"]
    total = X.sum()
    assert_allclose(found["a"], 3 * 2 * 5 * total)
    assert_allclose(found["b"], 60 * onp.ones(3))
    assert_allclose(found["more"], (20 * total,))
    assert_allclose([found["c"], found["rest"]["d"]], [30 * total, 12 * total])


def test_complex_numbers_follow_the_other_convention() -> None:
    z = 3.0 + 4.0j
    assert ag.grad(lambda z: np.real(z * np.conj(z)))(z) == 2 * np.conj(z)
    assert wg.grad(lambda z: np.real(z * np.conj(z)))(z) == 2 * z
    vjp, y = ag.make_vjp(lambda z: z**2)(z)
    assert vjp(1j) == 2j * z and y == z**2
    assert ag.holomorphic_grad(np.exp)(z) == np.exp(z)
    second = ag.holomorphic_grad(ag.holomorphic_grad(lambda z: z**3))
    assert_allclose(second(z), 6 * z)


@pytest.mark.parametrize("argnum", ["x", 1.0, None, onp.int64(0)])
def test_argnum_is_a_position(argnum: Any) -> None:
    with pytest.raises(TypeError, match="argnum="):
        ag.grad(np.sum, argnum)


def test_what_has_no_gradient_is_refused() -> None:
    with pytest.raises(TypeError, match=r"float64 of shape \(3,\).*jacobian"):
        ag.grad(np.sin)(X)
    with pytest.raises(TypeError, match="complex128"):
        ag.grad(lambda x: x * 1j)(1.0)
    with pytest.raises(TypeError, match="real numbers"):
        ag.elementwise_grad(lambda x: x * 1j)(X)
    with pytest.raises(TypeError, match="returned None"):
        ag.grad(lambda x: None)(X)
    with pytest.raises(TypeError, match="called with 1 positional"):
        ag.grad(np.sum, 1)(X)
    with pytest.raises(TypeError, match="complex"):
        ag.jacobian(lambda z: z * 2)(X + 1j)
    with pytest.raises(wg.DtypeError):
        ag.grad(lambda x: x**2)(3)
    with pytest.raises(ValueError, match="no argument 'z'"):
        ag.grad_named(lambda x, y: x * y, "z")
    with pytest.warns(wg.UnconnectedWarning):
        assert ag.grad(lambda x: 1)(2.0) == 0


def test_checkpoint_is_wengerts() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return np.tanh(x)

    assert_allclose(ag.grad(lambda x: np.sum(ag.checkpoint(f)(x)))(X), 1 / np.cosh(X) ** 2)
    assert len(calls) == 2


# -- NumPy ---------------------------------------------------------------------------------------


def test_lists_with_recorded_numbers_are_arrays() -> None:
    assert_allclose(ag.grad(lambda x: np.sum([x[0] * 2, [x[1]][0]]))(X), [2, 1, 0])
    assert_allclose(ag.grad(lambda x: np.dot(X, [x[0], x[0], 1.0]))(X), [X[0] + X[1], 0, 0])
    assert_allclose(ag.grad(lambda x: np.sum(np.concatenate([[x[0]], [x[1], x[1]]])))(X), [1, 2, 0])
    assert_allclose(
        ag.grad(lambda x: np.linalg.det([[x[0], 1.0], [2.0, x[1]]]))(X), [X[1], X[0], 0]
    )


def test_making_arrays() -> None:
    assert ag.jacobian(lambda x: np.array([x, x], ndmin=3, dtype=np.float32))(X).shape == (
        1,
        2,
        3,
        3,
    )
    assert_allclose(ag.grad(lambda x: np.sum(np.full((2, 2), x)))(1.0), 4)
    assert_allclose(ag.grad(lambda x: np.sum(np.full_like(M, x)))(1.0), 9)
    assert_allclose(ag.grad(lambda x: np.sum(np.full_like(x, 2.0) * x))(X), [2, 2, 2])
    for make in (np.asarray, np.asanyarray, np.ascontiguousarray, np.copy):
        assert_allclose(ag.grad(lambda x, make=make: np.sum(make(x) ** 2))(X), 2 * X)
        assert type(make([1, 2])) is onp.ndarray
    assert_allclose(ag.jacobian(lambda x: np.r_[x, 1:3, x[0]])(X)[-1], [1, 0, 0])
    assert_allclose(ag.jacobian(lambda x: np.c_[x, x**2])(X)[2, 1], [0, 0, 2 * X[2]])
    with pytest.raises(TypeError, match=r"np\.concatenate"):
        ag.grad(lambda x: np.sum(np.r_["0,2", x]))(X)
    assert np.row_stack([X, X]).shape == (2, 3)
    assert np.make_diagonal(M, axis1=-1, axis2=-2).shape == (3, 3, 3)
    with pytest.raises(NotImplementedError):
        np.make_diagonal(M)


def test_ufuncs_keep_their_methods() -> None:
    assert np.add.reduce(X) == onp.add.reduce(X)
    assert_allclose(ag.grad(lambda x: np.sum(np.add.outer(x, x)))(X), [6, 6, 6])


def test_random_numbers_have_no_parameters_that_are_recorded() -> None:
    np.random.seed(3)
    onp_first = onp.random.RandomState(3).randn(2)
    assert_allclose(np.random.randn(2), onp_first)
    assert np.random.RandomState is onp.random.RandomState
    with pytest.raises(wg.NoRuleError, match=r"mean \+ scale"):
        ag.grad(lambda m: np.sum(np.random.normal(m, 1.0, 3)))(1.0)


def test_cholesky_shares_the_derivative_of_a_symmetric_matrix() -> None:
    def f(m: Any) -> Any:
        return np.sum(np.linalg.cholesky(m) * M)

    g = ag.grad(f)(SPD)
    assert_allclose(g, g.T)
    direction = X[:, None] * X
    ahead, behind = (f(SPD + h * direction) for h in (1e-6, -1e-6))
    assert_allclose(onp.sum(g * direction), (ahead - behind) / 2e-6, rtol=1e-7)
    assert_allclose(ag.grad(f)(onp.tril(SPD)), onp.tril(ag.grad(f)(onp.tril(SPD))))


# -- SciPy ---------------------------------------------------------------------------------------

UNIT, POSITIVE = onp.array([0.2, 0.55, 0.9]), onp.array([0.4, 1.3, 3.1])
DISTRIBUTIONS: dict[str, tuple[Any, ...]] = {
    "norm": (X, 0.2, 1.7),
    "t": (onp.array([0.0, -1.2, 2.5]), 3.5, 0.0, 1.7),
    "beta": (UNIT, 2.3, 1.4, -0.1, 1.2),
    "gamma": (POSITIVE, 2.3, 0.1, 1.5),
    "chi2": (POSITIVE, 3.5, 0.1, 1.5),
    "poisson": (onp.array([0.0, 2.0, 5.0]), 2.3),
}
METHODS = [
    (d, m) for d in DISTRIBUTIONS for m in importlib.import_module(f"{stats.__name__}.{d}").__all__
]


@pytest.mark.parametrize(("distribution", "method"), METHODS)
def test_distributions_have_scipys_values_and_right_derivatives(
    distribution: str, method: str
) -> None:
    args = tuple(map(onp.asarray, DISTRIBUTIONS[distribution]))
    theirs = getattr(getattr(scipy.stats, distribution), method)
    ours = getattr(getattr(stats, distribution), method)
    assert_allclose(ours(*map(wg.asarray, args)), theirs(*args), rtol=1e-12)
    first = 1 if distribution == "poisson" else 0
    moving = args[first:]
    wg.check_grads(lambda *moved: ours(*args[:first], *moved), list(moving), order=1)


def test_densities_outside_of_the_support() -> None:
    for name, x, args in [
        ("beta", onp.array([-0.5, 0.5, 1.5]), (2.0, 3.0)),
        ("gamma", onp.array([-1.0, 1.0]), (2.0,)),
        ("chi2", onp.array([-1.0, 1.0]), (3.0,)),
    ]:
        for method in ("pdf", "logpdf", "cdf"):
            ours, theirs = (getattr(getattr(s, name), method) for s in (stats, scipy.stats))
            assert_allclose(ours(wg.asarray(x), *args), theirs(x, *args))
            g = ag.grad(lambda x: np.sum(ours(x, *args)))(x)  # noqa: B023
            assert g[0] == 0 and onp.isfinite(g).all()
    k = onp.array([-1.0, 1.5, 2.0])
    for method in ("pmf", "logpmf", "cdf"):
        ours, theirs = (getattr(s.poisson, method) for s in (stats, scipy.stats))
        assert_allclose(ours(k, wg.asarray(2.0)), theirs(k, 2.0))


def test_tails_of_student() -> None:
    x = onp.array([-1e8, -40.0, -1e-8, 0.0, 40.0, 1e8])
    assert_allclose(stats.t.cdf(wg.asarray(x), 3.0), scipy.stats.t.cdf(x, 3.0), rtol=1e-12)
    assert_allclose(ag.elementwise_grad(stats.t.cdf)(x, 3.0), scipy.stats.t.pdf(x, 3.0), rtol=1e-9)


def test_normal_vectors() -> None:
    ours, theirs = stats.multivariate_normal, scipy.stats.multivariate_normal
    points = onp.stack([X, X**2])[None]
    for mean, cov in [(X, SPD), (None, SPD), (X, 2.0), (X, onp.array([1.0, 2.0, 3.0]))]:
        t = [points, mean, cov]
        assert_allclose(ours.logpdf(wg.asarray(t[0]), *t[1:]), theirs.logpdf(*t))
        assert_allclose(ours.pdf(wg.asarray(t[0]), *t[1:]), theirs.pdf(*t))
    for x in (0.5, X, X[:, None]):
        assert_allclose(ours.logpdf(wg.asarray(x), 0.2, 1.5), theirs.logpdf(x, 0.2, 1.5))
    assert_allclose(ours.logpdf(wg.asarray(X)), theirs.logpdf(X))
    assert_allclose(ours.entropy(X, wg.asarray(SPD)), theirs.entropy(X, SPD))
    wg.check_grads(lambda x, m, c: ours.logpdf(x, m, c + c.T), [points[0], X, SPD])
    with pytest.raises(wg.ShapeError):
        ours.logpdf(wg.asarray(X), X, onp.eye(2))
    with pytest.raises(wg.ShapeError, match="last axis"):
        ours.logpdf(wg.asarray(X[:2]), X, SPD)


def test_normal_vectors_of_singular_covariance() -> None:
    ours, theirs = stats.multivariate_normal, scipy.stats.multivariate_normal
    flat = onp.diag([2.0, 0.0, 1.0])
    points = onp.array([[0.3, 0.0, 1.0], [0.3, 0.5, 1.0]])
    found = ours.logpdf(wg.asarray(points), None, flat, allow_singular=True)
    assert_allclose(found, theirs.logpdf(points, None, flat, allow_singular=True))
    g = ag.grad(lambda x: ours.logpdf(x, onp.zeros(3), flat, True))(points[0])
    assert_allclose(g, [-0.15, 0, -1.0], atol=1e-12)
    with pytest.raises(wg.NoRuleError):
        ag.grad(lambda c: ours.logpdf(X, X, c, True))(SPD)


def test_dirichlet() -> None:
    x, alpha = onp.array([[0.2, 0.5], [0.3, 0.1], [0.5, 0.4]]), onp.array([1.5, 2.0, 0.7])
    for method in ("pdf", "logpdf"):
        ours, theirs = (getattr(s.dirichlet, method) for s in (stats, scipy.stats))
        assert_allclose(ours(wg.asarray(x), alpha), theirs(x, alpha))
        assert_allclose(ours(wg.asarray(x[:2]), alpha), theirs(x[:2], alpha))
        wg.check_grads(lambda a, f=ours: f(x, a), [alpha])
        wg.check_grads(lambda short, a, f=ours: f(short, a), [x[:2], alpha])
    with pytest.raises(ValueError, match="simplex"):
        stats.dirichlet.logpdf(wg.asarray([0.5, 0.5, 0.5]), alpha)
    with pytest.raises(wg.ShapeError):
        stats.dirichlet.logpdf(wg.asarray([1.0]), alpha)
    assert stats.dirichlet.rvs(alpha, random_state=0).shape == (1, 3)


def test_distributions_are_named_as_they_are_used() -> None:
    used = {f"{d}_{m}" for d in stats.__all__ for m in getattr(stats, d).__all__ if m != "rvs"}
    there = {
        n for n in vars(distributions) if re.match("|".join(f"{d}_" for d in stats.__all__), n)
    }
    assert there == used


@pytest.mark.parametrize("name", special.__all__)
def test_special_functions_are_scipys_on_arrays(name: str) -> None:
    assert getattr(special, name).__wrapped__ is getattr(scipy.special, name)


def test_special_functions_of_lists_and_orders() -> None:
    assert_allclose(ag.grad(lambda x: special.logsumexp([x[0], x[1]]))(onp.zeros(2)), [0.5, 0.5])
    assert_allclose(
        ag.grad(lambda x: special.polygamma(1, x))(2.0), scipy.special.polygamma(2, 2.0)
    )


def test_scipys_linear_algebra() -> None:
    wg.check_grads(lambda m: linalg.expm(m), [M / 3])
    wg.check_grads(lambda m: linalg.block_diag(m, m * 2), [M])
    wg.check_grads(lambda m: linalg.solve_triangular(m, X, "T", True), [onp.tril(M)])
    with pytest.raises(TypeError, match="disp"):
        linalg.sqrtm(wg.asarray(SPD), disp=False)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolve(mode: str) -> None:
    a, b = onp.arange(1.0, 8.0) ** 1.5, onp.array([0.5, -1.0, 2.0, 0.3])
    assert_allclose(signal.convolve(a, b, mode=mode), onp.convolve(a, b, mode))
    wg.check_grads(lambda a, b: signal.convolve(a, b, mode=mode), [a, b])
    image, kernel = onp.outer(a, a[:5]), onp.outer(b, b[:2])
    expected = scipy.signal.convolve(image, kernel, mode)
    assert_allclose(signal.convolve(image, kernel, mode=mode), expected, atol=1e-12)


def test_convolve_refuses() -> None:
    with pytest.raises(ValueError, match="larger in all"):
        signal.convolve(onp.ones((2, 5)), onp.ones((3, 4)), mode="valid")
    with pytest.raises(ValueError, match="do not fit"):
        signal.convolve(onp.ones((2, 5)), onp.ones((3, 4)), axes=[[1], [1]], dot_axes=[[0], [0]])
    with pytest.raises(ValueError, match="mode"):
        signal.convolve(X, X, mode="half")


def test_odeint_against_the_closed_form() -> None:
    def slope(y: Any, t: Any, rate: Any, shift: Any) -> Any:
        return -rate * y + shift[0] * t

    def solve(y0: Any, t: Any, rate: Any, shift: Any) -> Any:
        return integrate.odeint(slope, y0, t, (rate, shift), rtol=1e-11, atol=1e-11)

    def exact(y0: Any, t: Any, rate: Any, shift: Any) -> Any:
        def rest(t: Any) -> Any:
            return shift[0] * (t / rate - 1 / rate**2)

        return np.exp(-rate * (t - t[0])) * (y0 - rest(t[0])) + rest(t)

    args = (onp.array([1.5]), onp.array([0.2, 0.5, 1.1]), 0.7, onp.array([0.4]))
    places = (0, 1, 2, 3)
    assert_allclose(solve(*args)[:, 0], exact(*args), rtol=1e-8)
    found = ag.grad(lambda *a: np.sum(solve(*a) ** 2), places)(*args)
    expected = ag.grad(lambda *a: np.sum(exact(*a) ** 2), places)(*args)
    for a, b in zip(found, expected, strict=True):
        assert_allclose(a, b, rtol=1e-7)
    second = ag.grad(ag.grad(lambda k: solve(args[0], args[1], k, args[3])[-1, 0]))(0.7)
    assert_allclose(
        second, ag.grad(ag.grad(lambda k: exact(args[0], args[1], k, args[3])[-1]))(0.7), rtol=1e-5
    )
    with pytest.raises(TypeError, match="tfirst"):
        ag.grad(lambda k: integrate.odeint(lambda t, y: -y, k, args[1], tfirst=True)[-1, 0])(1.0)


# -- extending -----------------------------------------------------------------------------------


@extend.primitive
def polar(point: Any, scale: float = 1.0) -> Any:
    """Return radius and angle of a dict of coordinates."""
    assert type(point["x"]) is onp.float64
    radius = onp.hypot(point["x"], point["y"])
    return {"r": scale * radius, "more": [onp.arctan2(point["y"], point["x"])]}


def _polar_rule(ans: Any, point: Any, scale: float = 1.0) -> Any:
    r = ans["r"] / scale

    def vjp(g: Any) -> Any:
        to_r, to_angle = g["r"] * scale / r, g["more"][0] / r**2
        return {
            "x": to_r * point["x"] - to_angle * point["y"],
            "y": to_r * point["y"] + to_angle * point["x"],
        }

    return vjp


extend.defvjp(polar, _polar_rule)


def test_primitives_take_and_return_nests() -> None:
    def f(x: Any, y: Any) -> Any:
        y = polar({"x": x, "y": y}, scale=2.0)
        return y["r"] ** 2 * np.sin(y["more"][0])

    def by_hand(x: Any, y: Any) -> Any:
        return 4 * (x**2 + y**2) * np.sin(np.arctan2(y, x))

    point = (0.7, 1.3)
    assert_allclose(ag.grad(f, (0, 1))(*point), ag.grad(by_hand, (0, 1))(*point))
    for i in (0, 1):
        assert_allclose(
            ag.grad(ag.grad(f, i), 1 - i)(*point), ag.grad(ag.grad(by_hand, i), 1 - i)(*point)
        )
    one = ag.grad(lambda x: polar({"x": x, "y": 2.0})["r"])(1.5)  # of a nest, one is recorded
    assert_allclose(one, 1.5 / 2.5)


def test_a_joint_rule_is_asked_once() -> None:
    asked = []

    @extend.primitive
    def product(a: Any, b: Any) -> Any:
        return a * b

    def rule(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        asked.append(argnums)
        return lambda g: [g * args[1 - n] for n in argnums]

    extend.defvjp_argnums(product, rule)
    assert ag.grad(product, (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert asked == [(0, 1)]
    assert ag.grad(product, 1)(2.0, 3.0) == 2.0 and asked[-1] == (1,)


def test_rules_see_plain_arrays_also_in_jacobians() -> None:
    kinds = set()

    @extend.primitive
    def solve(a: Any, b: Any) -> Any:
        return scipy.linalg.solve(a, b)

    def to_b(ans: Any, a: Any, b: Any) -> Any:
        def vjp(g: Any) -> Any:
            kinds.add(type(g))
            return scipy.linalg.solve(a.T, g)  # knows nothing of tensors

        return vjp

    extend.defvjp(solve, None, to_b)
    assert_allclose(ag.jacobian(lambda b: solve(M, b**2))(X), onp.linalg.inv(M) * (2 * X))
    assert kinds == {onp.ndarray}


def test_jacobians_of_gradients_through_primitives() -> None:
    @extend.primitive
    def cube(x: Any) -> Any:
        return x**3

    extend.defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    assert_allclose(
        ag.hessian(lambda x: np.sum(cube(x)) * x[0])(X)[1:, 1:], onp.diag(6 * X[1:] * X[0])
    )
    assert_allclose(ag.jacobian(ag.jacobian(cube))(X)[2, 2, 2], 6 * X[2])
    assert_allclose(wg.vmap(wg.grad(cube))(X), 3 * X**2)
    assert_allclose(wg.vmap(cube)(X), X**3)
    with pytest.raises(wg.NoRuleError, match="inside of vmap"):
        wg.vmap(wg.grad(wg.grad(cube)))(X)


def test_tangents_of_primitives() -> None:
    @extend.primitive
    def weighted(w: Any, x: Any, power: int = 1) -> Any:
        return w * x**power

    with pytest.raises(wg.NoRuleError, match="defvjp"):
        ag.grad(lambda x: np.sum(weighted(2.0, x)))(X)
    extend.defjvp(weighted, "same", lambda t, ans, w, x, power=1: w * power * x ** (power - 1) * t)
    value, tangent = ag.make_jvp(lambda w, x: weighted(w, x, power=3), (0, 1))(2.0, X)((0.5, X))
    assert_allclose(value, 2 * X**3)
    assert_allclose(tangent, 0.5 * X**3 + 6 * X**2 * X)
    second = ag.make_jvp(lambda x: ag.make_jvp(lambda x: weighted(2.0, x, power=3))(x)(X)[1])(X)(X)[
        1
    ]
    assert_allclose(second, 12 * X * X * X)
    with pytest.raises(wg.NoRuleError, match="no rule for cotangents"):
        ag.grad(lambda x: np.sum(weighted(2.0, x)))(X)

    @extend.primitive
    def doubled(x: Any) -> Any:
        return {"y": 2 * x}

    extend.def_linear(doubled)
    assert_allclose(ag.make_jvp(lambda x: doubled(x)["y"] * x)(X)(X)[1], 4 * X * X)
    nothing = extend.primitive(np.round)
    extend.defjvp(nothing, None)
    extend.defvjp(nothing, None)
    assert_allclose(ag.make_jvp(lambda x: nothing(x) * x)(X)(X)[1], onp.round(X) * X)
    assert_allclose(ag.grad(lambda x: np.sum(nothing(x) * x))(X), onp.round(X))


def test_primitives_refuse() -> None:
    @extend.primitive
    def f(x: Any, y: Any = 1.0) -> Any:
        return x * y

    with pytest.raises(NotImplementedError, match="defvjp"):
        ag.grad(f)(1.0)
    extend.defvjp(f, lambda ans, x, y=1.0: lambda g: g * y)
    with pytest.raises(wg.NoRuleError, match="argument 1"):
        ag.grad(f, 1)(1.0, 2.0)
    with pytest.raises(TypeError, match="by position"):
        ag.grad(lambda y: f(1.0, y=y))(2.0)
    with pytest.raises(TypeError, match="not a primitive"):
        extend.defvjp(np.sin, lambda ans, x: lambda g: g)
    with pytest.raises(TypeError, match="expected a function"):
        extend.defvjp(f, 3.0)  # type: ignore[arg-type]
    outer: list[Any] = []
    captured = extend.primitive(lambda x: x * outer[0])
    extend.defvjp(captured, lambda ans, x: lambda g: g)

    def with_capture(x: Any) -> Any:
        outer.append(x)
        return captured(x)

    with pytest.raises(wg.RuleError, match="no argument"):
        ag.grad(with_capture)(1.0)
    nothing = extend.primitive(lambda x: None)
    extend.defvjp(nothing, None)
    with pytest.raises(TypeError, match="returned None"):
        ag.grad(nothing)(1.0)
    wrong = extend.primitive(lambda x: x * 2)
    extend.defvjp(wrong, lambda ans, x: lambda g: onp.ones(5))
    with pytest.raises(wg.RuleError):
        ag.grad(lambda x: np.sum(wrong(x)))(X)


def test_what_a_rule_reads_cannot_be_written_to() -> None:
    @extend.primitive
    def doubled(x: Any) -> Any:
        x *= 2  # the function's own copy
        return x

    def rule(ans: Any, x: Any) -> Any:
        def vjp(g: Any) -> Any:
            x[0] = 100.0
            return g

        return vjp

    extend.defvjp(doubled, lambda ans, x: lambda g: 2 * g)
    mine = X.copy()
    assert_allclose(ag.grad(lambda x: np.sum(doubled(x) * x))(mine), 4 * X)
    assert_allclose(mine, X)
    extend.defvjp(doubled, rule)
    with pytest.raises(ValueError, match="read-only"):
        ag.grad(lambda x: np.sum(doubled(x)))(X)


def test_old_methods_of_primitives() -> None:
    @ag.primitive
    def f(x: Any, y: Any) -> Any:
        return x * y

    with pytest.warns(DeprecationWarning, match="defgrad"):
        f.defgrad(lambda ans, x, y: lambda g: g * y)
    assert ag.grad(f)(2.0, 3.0) == 3.0
    with pytest.warns(DeprecationWarning, match="defvjp_is_zero"):
        f.defvjp_is_zero(argnums=(1,))
    assert ag.grad(f, (0, 1))(2.0, 3.0) == (3.0, 0.0)
    with pytest.warns(DeprecationWarning, match="defvjp"):
        f.defvjp(lambda g, ans, vs, gvs, x, y: g * x * vs.size, argnum=1)
    assert ag.grad(f, 1)(2.0, 3.0) == 2.0
    assert f.fun(2, 3) == 6


def test_threads_do_not_mix_their_answers() -> None:
    results: dict[int, Any] = {}

    def work(k: int) -> None:
        results[k] = [
            ag.grad(lambda x: polar({"x": x, "y": 2.0})["r"])(float(k)) for _ in range(20)
        ]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(1, 5):
        assert_allclose(results[k], k / onp.hypot(k, 2.0))


def test_spaces() -> None:
    space = extend.vspace({"a": M, "b": (1.0, 2j)})
    assert space.size == 9 + 1 + 2 and space.iscomplex
    assert len(list(space.standard_basis())) == space.size
    x = space.randn()
    assert_allclose(
        space.inner_prod(x, x), sum(onp.sum(onp.abs(v) ** 2) for v in (x["a"], *x["b"]))
    )
    assert space == extend.vspace(x) != extend.vspace(M)
    assert space.mut_add(None, x)["b"][0] == x["b"][0]
    assert extend.vspace(wg.asarray(M)).shape == (3, 3) and extend.vspace(M).ndim == 2
    assert "shape=(3, 3)" in repr(extend.vspace(M))
    for bad in (3, "text", None, True):
        with pytest.raises(TypeError):
            extend.vspace(bad)


def test_values_of_recorded_numbers() -> None:
    seen = []

    def f(x: Any) -> Any:
        tracer = importlib.import_module("wengert.autograd.tracer")
        seen.extend([tracer.getval(x), tracer.isbox(x), tracer.getval(3.0)])
        return x**2

    ag.grad(f)(2.0)
    assert seen == [2.0, True, 3.0] and type(seen[0]) is onp.float64


# -- misc ----------------------------------------------------------------------------------------


def test_flatten() -> None:
    nest = [X, {"b": 2.0, "a": (M, [])}]
    vector, unflatten = misc.flatten(nest)
    assert_allclose(vector, onp.concatenate([X, M.ravel(), [2.0]]))
    back = unflatten(vector)
    assert_allclose(back[1]["a"][0], M)
    assert back[1]["b"] == 2.0 and back[1]["a"][1] == []
    assert misc.flatten([])[0].size == 0 and misc.flatten([])[1](onp.array([])) == []
    with pytest.raises(ValueError, match="expected"):
        unflatten(vector[1:])
    with pytest.raises(TypeError, match="None"):
        misc.flatten([X, None])


@pytest.mark.parametrize("name", optimizers.__all__)
def test_optimisers_find_the_minimum(name: str) -> None:
    def objective(p: Any, i: int) -> Any:
        return np.sum((p[0] - X) ** 2) + (p[1]["b"] - 2.0) ** 2

    seen = []
    end = getattr(optimizers, name)(
        ag.grad(objective), (onp.zeros(3), {"b": 0.0}),
        callback=lambda p, i, g: seen.append(i), num_iters=2000, step_size=0.02,
    )  # fmt: skip
    assert_allclose(end[0], X, atol=1e-2)
    assert_allclose(end[1]["b"], 2.0, atol=1e-2)
    assert seen == list(range(2000))


def test_fixed_points() -> None:
    def solution(a: Any) -> Any:
        start = {"x": onp.zeros(3)}
        step = lambda a: lambda s: {"x": np.cos(s["x"]) * a}  # noqa: E731
        far = lambda s, t: np.max(np.abs(s["x"] - t["x"]))  # noqa: E731
        return fixed_points.fixed_point(step, a, start, far, 1e-13)["x"]

    a = onp.array([0.3, 0.5, 0.7])
    x = solution(a)
    assert_allclose(x, np.cos(x) * a)
    assert_allclose(ag.elementwise_grad(solution)(a), np.cos(x) / (1 + a * np.sin(x)))
    check_grads(solution, modes=["rev"])(a)


def test_checks() -> None:
    check_grads(lambda x: np.sin(x) * x)(X)
    check_grads(lambda x: np.abs(x) ** 2, modes=["rev"])(X + 1j)
    combo_check(np.sum, order=1)([M, SPD], axis=[None, 0])
    wrong = extend.primitive(lambda x: x**2)
    extend.defvjp(wrong, lambda ans, x: lambda g: g * x)
    with pytest.raises(AssertionError, match="reverse mode says"):
        check_vjp(wrong, X)
    with pytest.raises(ValueError, match="modes"):
        check_grads(np.sin, modes=["both"])(X)
