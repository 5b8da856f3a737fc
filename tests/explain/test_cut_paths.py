"""A value that leaves a transform is an error: which line, who asked for it, what to write."""

from __future__ import annotations

import math
import statistics
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats

import wengert as wg
from wengert.errors import cuts_shown

X = np.array([1.0, 2.0, 3.0])


def line_of(function: Callable[..., Any]) -> int:
    """Return the line in a test's function that has "# here" on it."""
    code = function.__code__
    with open(code.co_filename, encoding="utf-8") as file:
        lines = file.readlines()
    found = [i for i, line in enumerate(lines[code.co_firstlineno - 1 :]) if "# here" in line]
    return code.co_firstlineno + found[0]


def sentence(function: Callable[..., Any], x: Any = X) -> str:
    """Return what the error of grad says, after the line that it names."""
    with pytest.raises(wg.CutPathError) as caught:
        wg.grad(function)(x)
    message = str(caught.value)
    place = f"{__file__}:{line_of(function)}: "
    assert message.startswith(place), message
    assert "grad(f) would treat what is computed from them as constant" in message
    assert message.endswith("write x.numpy(), x.item() or wg.stop_gradient(x)")
    return message.removeprefix(place)


# -- who asked, and what to write ---------------------------------------------------------------


def test_a_function_of_math() -> None:
    def f(x: Any) -> Any:
        return 2 * math.sin(x[0])  # here

    said = sentence(f)
    assert said.startswith("math.sin in `math.sin(x[0])` takes plain numbers from a tensor of")
    assert "Write wg.sin(x[0]);" in said


def test_a_function_by_another_name() -> None:
    from math import lgamma as log_gamma

    def f(x: Any) -> Any:
        y = x * 2
        return (
            log_gamma(  # here
                y[1]
            )
            + 1
        )

    said = sentence(f)
    assert said.startswith("math.lgamma in `log_gamma( # here y[1] )`")
    assert "Write wg.special.gammaln(y[1]);" in said


@pytest.mark.parametrize(
    ("function", "instead"),
    [
        (math.gamma, "wg.special.gamma("),
        (math.fabs, "wg.abs("),
        (math.degrees, "np.degrees("),
        (math.isnan, "wg.isnan("),
        (float, "Go on with the tensor itself"),
    ],
)
def test_a_function_that_is_given_to_the_transform(function: Any, instead: str) -> None:
    with pytest.raises(wg.CutPathError) as caught:
        wg.grad(function)(2.0)
    assert str(caught.value).startswith(f"{__file__}:")
    assert f"{function.__name__} takes plain numbers" in str(caught.value)
    assert instead in str(caught.value)


def test_an_element_of_an_array() -> None:
    def f(x: Any) -> Any:
        lower = np.zeros((2, 2))
        for i in range(2):
            lower[i, 0] = x[i] ** 2  # here
        return np.sum(lower)

    said = sentence(f)
    assert said.startswith("the assignment `lower[i, 0] = x[i] ** 2`, into a NumPy array, takes")
    assert "lower = wg.asarray(lower), and write lower = lower.at[i, 0].set(x[i] ** 2);" in said


def test_what_the_advice_for_an_assignment_gives() -> None:
    def f(x: Any) -> Any:
        lower = np.zeros((2, 2))
        lower = wg.asarray(lower)
        for i in range(2):
            lower = lower.at[i, 0].set(x[i] ** 2)
        return np.sum(lower)

    assert wg.grad(f)(X).tolist() == [2.0, 4.0, 0.0]


def test_an_element_of_an_array_is_added_to() -> None:
    def f(x: Any) -> Any:
        total = np.zeros(3)
        total[1:] += x[1:]
        total[0] += x[0]  # here
        return np.sum(total)

    with pytest.raises(TypeError, match="out= would write"):  # an array adds in place
        wg.grad(f)(X)

    def g(x: Any) -> Any:
        total = np.zeros(3)
        total[0] += x[0]
        return np.sum(total)

    with pytest.raises(wg.CutPathError, match=r"total = total.at\[0\].add\(x\[0\]\)"):
        wg.grad(g)(X)


def test_a_slice_of_an_array() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(3)
        a[:] = x  # here
        return np.sum(a)

    assert "a = a.at[:].set(x);" in sentence(f)


def test_an_array_of_tensors() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.array([x[0], x[1]]))  # here

    said = sentence(f)
    assert said.startswith("np.array in `np.array([x[0], x[1]])` takes")
    assert "Write wg.stack([x[0], x[1]]);" in said


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("np.array([[x[0], 1.0], [0.0, x[1]]])", "Write wg.asarray([[x[0], 1.0], [0.0, x[1]]]);"),
        ("np.array([v * v for v in x])", "Write wg.stack([v * v for v in x]);"),
        ("np.fromiter((v * v for v in x), float)", "Write wg.stack([v * v for v in x]);"),
        ("np.asarray(x)", "Go on with x itself, or write wg.asarray(x);"),
        ("np.from_dlpack(x)", "Go on with x itself"),
        ("np.float64(x[0])", "Go on with x[0] itself, or write wg.astype(x[0], np.float64);"),
        ("np.full(3, x[0])", "Write wg.broadcast_to(x[0], 3);"),
        ("np.ones(3).dot(x)", "Write np.dot(np.ones(3), x);"),
        ("np.sum([x[0], x[1]])", "Write np.sum(wg.stack([x[0], x[1]]));"),
        ("np.linalg.norm([x[0], 1.0], 2)", "Write np.linalg.norm(wg.asarray([x[0], 1.0]), 2);"),
        ("np.interp(1.0, [0, 2], [1, 3], left=x[0])", "Write np.interp(wg.asarray(1.0), [0, 2],"),
        ("float(x[0])", "Go on with x[0] itself"),
        ("complex(x[0])", "Go on with x[0] itself"),
        ("int(x[0])", "Go on with x[0] itself"),
        ("math.fsum(x)", "Write wg.sum(x);"),
        ("math.fsum([x[0], x[1]])", "Write wg.sum(wg.stack([x[0], x[1]]));"),
        ("math.log(x[0], 2)", "Write wg.log(x[0]) / np.log(2);"),
        ("math.remainder(x[0], 2)", "Write x - y * wg.round(x / y);"),
        ("statistics.fmean(x)", "Write wg.mean(x);"),
        ("rng.normal(x[0])", "mean + scale * rng.normal(size=n);"),
        ("np.random.default_rng(0).normal(x[0])", "the method normal in `np.random"),
        ("np.vectorize(math.sqrt)(x)", "Write it with functions of wg or np"),
        ("scipy.linalg.expm(x[:1, None])", "Write wg.linalg.expm(x[:1, None]);"),
        ("scipy.special.softmax(x)", "Write wg.special.softmax(x);"),
        ("scipy.special.log_softmax(x, axis=0)", "Write wg.special.log_softmax(x, axis=0);"),
        ("scipy.special.polygamma(1, x)", "Write wg.special.polygamma(1, x);"),
        ("scipy.stats.norm.logpdf(x)", "Write wengert.autograd.scipy.stats.norm.logpdf(x);"),
        ("scipy.integrate.trapezoid(x)", "Write np.trapezoid(x);"),
        ("scipy.integrate.quad(lambda t: t * x[0], 0, 1)", "set SCIPY_ARRAY_API=1"),
    ],
)
def test_the_advice(text: str, instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import linecache

    monkeypatch.delenv("SCIPY_ARRAY_API", raising=False)
    program = f"def f(x):\n    return {text}\n"
    lines = (len(program), None, program.splitlines(keepends=True), "advice.py")
    monkeypatch.setitem(linecache.cache, "advice.py", lines)
    names = {"__name__": "advice", "np": np, "math": math, "statistics": statistics, "scipy": scipy}
    names["rng"] = np.random.default_rng(0)
    exec(compile(program, "advice.py", "exec"), names)
    with pytest.raises(wg.CutPathError) as caught:
        wg.grad(names["f"])(X)  # type: ignore[arg-type]
    assert str(caught.value).startswith("advice.py:2: ")
    assert instead in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "np.degrees(x)",
        "np.dot(np.ones(3), x)",
        "np.trapezoid(x)",
        "wengert.autograd.scipy.stats.norm.logpdf(x)",
        "wg.asarray([[x[0], 1.0], [0.0, x[1]]])",
        "wg.broadcast_to(x[0], 3)",
        "wg.linalg.expm(x[:1, None])",
        "wg.special.softmax(x)",
        "wg.stack([x[0], x[1]])",
    ],
)
def test_what_is_advised_has_a_derivative(text: str) -> None:
    import wengert.autograd.scipy.stats

    names = {"np": np, "wg": wg, "wengert": wengert}
    f = eval(f"lambda x: wg.sum(({text}) ** 2)", names)
    wg.check_grads(f, [X])


def test_a_function_of_scipy_that_is_no_ufunc() -> None:
    def f(x: Any) -> Any:
        return scipy.special.logsumexp(x, axis=0)  # here

    said = sentence(f)
    assert said.startswith("scipy.special.logsumexp in `scipy.special.logsumexp(x, axis=0)` takes")
    assert "Write wg.special.logsumexp(x, axis=0);" in said


def test_a_ufunc_of_scipy_computes() -> None:
    got = wg.grad(lambda x: wg.sum(scipy.special.erf(x)))(X)
    np.testing.assert_allclose(got, 2 / math.sqrt(math.pi) * np.exp(-(X**2)))


def test_rosenbrocks_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCIPY_ARRAY_API", raising=False)
    with pytest.raises(wg.CutPathError) as caught:
        wg.grad(scipy.optimize.rosen)(X)
    said = str(caught.value)
    line = sys._getframe().f_lineno - 2
    assert said.startswith(f"{__file__}:{line}: scipy.optimize.rosen takes plain numbers from")
    assert "grad(rosen)" in said and "set SCIPY_ARRAY_API=1 before SciPy is imported" in said


def test_a_series_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        return (series * x).sum()  # here

    said = sentence(f)
    assert said.startswith("the operator * of pandas.Series in `series * x` takes plain numbers")
    assert "Write series.to_numpy() * x;" in said


def series_like_that_of_pandas() -> Any:
    """Return an object that makes an array of what it is multiplied by, in a module of pandas."""
    program = """
class StandIn:
    def __mul__(self, other):
        return self._wrapped(other)

    def _wrapped(self, other):
        return np.asarray(other)

    __rmul__ = __mul__
"""
    names: dict[str, Any] = {"__name__": "pandas.core.stand_in", "np": np}
    exec(compile(program, "pandas/core/stand_in.py", "exec"), names)
    return names["StandIn"]()


def test_an_object_of_another_library() -> None:
    series = series_like_that_of_pandas()

    def f(x: Any) -> Any:
        return np.sum(x[0] * 2 * series)  # here

    said = sentence(f)
    assert said.startswith("the operator * of pandas.core.stand_in.StandIn in `x[0] * 2 * series`")
    assert "Write x[0] * 2 * series.to_numpy();" in said

    def g(x: Any) -> Any:
        held = [series]
        return np.sum(held[0] * x)

    with pytest.raises(wg.CutPathError, match=r"Write held\[0\].to_numpy\(\) \* x;"):
        wg.grad(g)(X)


def test_a_program_without_its_text() -> None:
    names = {"__name__": "typed_in", "math": math, "special": scipy.special}
    exec("def f(x):\n    return math.sin(x[0])\n", names)
    exec("def g(x):\n    return special.logsumexp(x)\n", names)
    with pytest.raises(wg.CutPathError, match=r"<string>:2: float\(x\) takes plain numbers"):
        wg.grad(names["f"])(X)  # type: ignore[arg-type]
    with pytest.raises(wg.CutPathError, match=r"<string>:2: scipy.special.logsumexp takes"):
        wg.grad(names["g"])(X)  # type: ignore[arg-type]


# -- which transforms ---------------------------------------------------------------------------


def cut(x: Any) -> Any:
    return wg.sum(x) * float(x[0])


def cut_matrix(x: Any) -> Any:
    return x * float(x[0])


def in_cholesky(x: Any) -> Any:
    a = np.zeros(3)
    a[0] = x[0]
    return wg.sum(x * a)


TRANSFORMS: dict[str, Callable[[], Any]] = {
    "grad": lambda: wg.grad(cut)(X),
    "grad of a variable": lambda: wg.grad(cut)(wg.Variable(X)),
    "value_and_grad": lambda: wg.value_and_grad(cut)(X),
    "vjp": lambda: wg.vjp(cut_matrix, X),
    "jvp": lambda: wg.jvp(cut_matrix, (X,), (X,)),
    "linearize": lambda: wg.linearize(cut_matrix, X),
    "jacobian": lambda: wg.jacobian(cut_matrix)(X),
    "hessian": lambda: wg.hessian(cut)(X),
    "hvp": lambda: wg.hvp(cut, (X,), (X,)),
    "gnvp": lambda: wg.gnvp(cut_matrix, wg.sum, (X,), (X,)),
    "jac_diagonal": lambda: wg.jac_diagonal(cut_matrix)(X),
    "hessian_diagonal": lambda: wg.hessian_diagonal(cut)(X),
    "laplacian": lambda: wg.laplacian(cut)(X),
    "influence": lambda: wg.influence(cut_matrix, X, of=0),
    "check_grads": lambda: wg.check_grads(cut, [X]),
    "checkpoint": lambda: wg.grad(wg.checkpoint(cut))(X),
    "checkpoint_loop": lambda: wg.grad(
        lambda x: wg.sum(wg.checkpoint_loop(lambda y, _: cut_matrix(y), x, 4))
    )(X),
    "sparse.jacobian": lambda: wg.sparse.jacobian(cut_matrix, X),
    "sparse.hessian": lambda: wg.sparse.hessian(cut, X),
    "vmap of grad": lambda: wg.vmap(wg.grad(cut))(np.stack([X, X])),
    "implicit_function": lambda: wg.grad(
        wg.implicit_function(lambda a: a, residual=lambda x, a: x - float(a))
    )(2.0),
    "custom_vjp": lambda: wg.grad(custom())(2.0),
    "minimize": lambda: wg.optim.minimize(cut, X),
    "autograd.grad": lambda: wg.autograd.grad(cut)(X),
    "assignment": lambda: wg.grad(in_cholesky)(X),
    "assignment in check_grads": lambda: wg.check_grads(in_cholesky, [X]),
    "assignment in checkpoint": lambda: wg.grad(wg.checkpoint(in_cholesky))(X),
    "assignment in influence": lambda: wg.influence(lambda x: wg.stack([in_cholesky(x)]), X, of=0),
}


def custom() -> Any:
    f = wg.custom_vjp(lambda x: x**2)
    f.defvjp(lambda x: (x**2, float(x)), lambda x, g: (2 * x * g,))
    return f


@pytest.mark.parametrize("name", TRANSFORMS)
def test_every_transform_raises(name: str) -> None:
    with pytest.raises(wg.CutPathError) as caught:
        TRANSFORMS[name]()
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).startswith(f"{__file__}:")


def test_a_plan_ends_the_path() -> None:
    plan = wg.sparse.jacobian(lambda x: x**2, X)
    with pytest.raises(wg.CutPathError, match=r"a sparse plan takes.*Write wg.jacobian\(f\)"):
        wg.grad(lambda x: wg.sum(x) * plan(x).sum())(X)


def test_a_tape_inside_of_a_transform() -> None:
    def inside(x: Any) -> Any:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = wg.sum(x**2)
            loss.append(float(y))
        return wg.sum(tape.gradient(y, x))

    loss: list[float] = []
    with pytest.raises(wg.CutPathError):
        wg.grad(inside)(X)

    def apart(x: Any) -> Any:  # the tape's tensor is none that grad cares about
        z = wg.asarray(X)
        with wg.GradientTape() as tape:
            tape.watch(z)
            y = wg.sum(z**2)
            loss.append(float(y))
        return wg.sum(tape.gradient(y, z) * x)

    with pytest.warns(wg.CutPathWarning):
        assert wg.grad(apart)(X).tolist() == [2.0, 4.0, 6.0]
    assert loss == [14.0]


def test_a_transform_inside_of_a_tape() -> None:
    x, c = wg.asarray(X), wg.asarray(2.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        with pytest.warns(wg.CutPathWarning):  # the tape's own value
            scale = float(x[0])
        with pytest.raises(wg.CutPathError):
            wg.grad(lambda y: y * float(y))(c)
        y = wg.grad(lambda c: wg.sum(x**2) * scale * c)(c)
    assert tape.gradient(y, x).tolist() == [2.0, 4.0, 6.0]


def test_checkpoint_on_a_tape_warns_when_it_runs_again() -> None:
    x = wg.asarray(X)
    with wg.GradientTape() as tape:
        tape.watch(x)
        with pytest.warns(wg.CutPathWarning):
            y = wg.checkpoint(cut)(x)
    with pytest.warns(wg.CutPathWarning, match=r"float in `float\(x\[0\]\)`"):
        tape.gradient(y, x)


# -- on a tape it is a warning --------------------------------------------------------------------


def test_a_tape_warns_once_for_a_line() -> None:
    x = wg.asarray(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        with wg.GradientTape() as tape:
            tape.watch(x)
            for n in range(1, 4):
                loss = wg.sum(x[:n])
                np.asarray(x[:n])
                float(loss)
    lines = [w.lineno for w in caught]
    assert len(lines) == 2 and lines[1] == lines[0] + 1
    assert all(w.filename == __file__ for w in caught)
    said = str(caught[1].message)
    assert said.startswith("float in `float(loss)` takes plain numbers from a recorded tensor")
    assert "Go on with loss itself" in said


# -- what is no cut -------------------------------------------------------------------------------


def test_ways_to_leave() -> None:
    def f(x: Any) -> Any:
        y = x[0]
        left = y.item() + float(wg.stop_gradient(y)) + float(y.numpy()) + sum(x.tolist())
        assert bool(y) and y > 0 and y != 2 and len(x) == 3
        assert f"{y:.1f} {y} {x}" and str(x) and repr(y) and x.shape == (3,)
        if x[1] > x[0] and np.all(x > 0):
            y = y * math.sin(left)
        return y * max(x) + min(x) + sorted(x)[0] * [4, 5, 6][np.argmax(x)]

    assert wg.grad(f)(X).shape == (3,)


def test_integers_are_numbers() -> None:
    def f(x: Any) -> Any:
        places = wg.argsort(x)
        first, step = places[0], wg.astype(x[1], wg.int64)
        assert int(step) == 2 and float(first) == 0.0 and np.asarray(places).sum() == 3
        return x[int(first)] * [7.0, 8.0, 9.0][step] + x[range(3)[first]]

    assert wg.grad(f)(X).tolist() == [10.0, 0.0, 0.0]


def test_a_float_is_no_index() -> None:
    with pytest.raises(TypeError, match="an index needs one integer"):
        wg.grad(lambda x: [1.0, 2.0][x[0]])(X)


def test_a_conversion_outside_of_the_transform() -> None:
    y, pull = wg.vjp(lambda x: x**2, wg.asarray(X))
    assert float(wg.sum(y)) == 14.0 and np.asarray(y).sum() == 14.0
    assert np.asarray(pull(X)[0]).tolist() == (2 * X**2).tolist()


def test_custom_functions_may_leave_in_their_body() -> None:
    @wg.custom_gradient
    def f(x: Any) -> Any:
        value = x.item() ** 2
        return wg.asarray(value), lambda g: 2 * x * g

    assert wg.grad(f)(3.0) == 6.0


# -- errors that hide it --------------------------------------------------------------------------


def test_an_error_of_the_users_own_stays() -> None:
    def f(x: Any) -> Any:
        try:
            return float(x[0])
        except TypeError as error:
            raise ValueError("mine") from error

    with pytest.raises(wg.CutPathError):  # it says what is wrong
        wg.grad(f)(X)

    def g(x: Any) -> Any:
        try:
            return float(x[0])
        except TypeError:
            raise ValueError("mine")  # noqa: B904

    with pytest.raises(ValueError, match="mine"):
        wg.grad(g)(X)

    def h(x: Any) -> Any:
        try:
            return wg.sum(x) * float(x[0])
        except TypeError:
            return wg.sum(x) * x[0]

    assert wg.grad(h)(X).tolist() == [7.0, 1.0, 1.0]


def test_an_error_of_a_library_gives_way() -> None:
    library = types.ModuleType("scipy.stand_in")
    program = """
def coerce(x):
    try:
        return float(x)
    except TypeError:
        raise TypeError("not coercible")
"""
    exec(program, vars(library))
    with pytest.raises(wg.CutPathError, match="scipy.stand_in.coerce"):
        wg.grad(lambda x: library.coerce(x[0]))(X)
    with pytest.raises(ValueError, match="other"), cuts_shown:
        raise ValueError("other")
