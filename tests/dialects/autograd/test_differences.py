"""Where wengert.autograd refuses as HIPS autograd does, and where the two differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import wengert as wg
from tests.dialects.autograd.parity import OURS, Library, M, X, answer, compare

pytestmark = pytest.mark.parity


def test_both_refuse_what_has_no_gradient() -> None:
    def of(L: Library) -> str:
        np = L.np
        with pytest.raises(TypeError):
            L.grad(np.sin)(X)
        with pytest.raises(TypeError):
            L.value_and_grad(np.sin)(X)
        with pytest.raises(TypeError):
            L.grad(lambda z: z**2)(1.0 + 2.0j)
        with pytest.raises(TypeError):
            L.elementwise_grad(lambda z: z * 1j)(X)
        with pytest.raises(TypeError):
            L.grad(lambda x: x**2)(3)
        with pytest.warns(UserWarning, match="independent|does not depend"):
            assert L.grad(lambda x: 3.0)(2.0) == 0
        with pytest.warns(UserWarning, match="not complex"):
            assert L.holomorphic_grad(lambda x: x**2)(3.0) == 6
        extend = L.module("extend")
        bare = extend.primitive(lambda x: x)
        with pytest.raises(NotImplementedError):
            L.grad(bare)(1.0)
        return "done"

    assert compare(of) == "done"


def test_integer_arrays_are_refused_here() -> None:
    def wave(L: Library) -> Any:
        return L.grad(lambda x: L.np.sum(L.np.sin(x)))(onp.zeros(3, dtype=int))

    assert answer(wave)["values"] == [1, 1, 1]
    with pytest.raises(TypeError, match="float"):
        wave(OURS)


def test_what_autograd_does_not_do() -> None:
    programs: dict[str, Callable[[Any, Any], Any]] = {
        "broadcast_to": lambda np, m: np.broadcast_to(m, (2, 3, 3)),
        "diagonal": lambda np, m: np.diagonal(m, offset=1),
        "gradient": lambda np, m: np.gradient(m[0]),
        "qr": lambda np, m: np.linalg.qr(m)[1],
        "median": lambda np, m: np.median(m),
        "meshgrid": lambda np, m: np.meshgrid(m[0], m[1])[0],
        "asarray": lambda np, m: np.asarray(m),
    }
    for f in programs.values():
        theirs = answer(lambda L, f=f: L.grad(lambda m: L.np.sum(f(L.np, m) ** 2))(M))
        assert theirs["kind"] == "raises"
        wg.check_grads(lambda m, f=f: f(OURS.np, m), [M], order=1)


def test_nan_there_and_a_number_here() -> None:
    points: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
        "norm": (lambda np, x: np.linalg.norm(x), onp.zeros(2)),
        "std": (lambda np, x: np.std(x), onp.ones(3)),
        "prod": (lambda np, x: np.prod(x), onp.array([0.0, 2.0, 3.0])),
        "sinc": (lambda np, x: np.sinc(x), 0.0),
        "where": (lambda np, x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), onp.array([0.0, 1.0])),
    }
    for f, x in points.values():

        def slope(L: Library, f: Any = f, x: Any = x) -> Any:
            return L.grad(lambda x: f(L.np, x))(x)

        assert onp.isnan(answer(slope)["values"]).any()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert onp.isfinite(slope(OURS)).all()
