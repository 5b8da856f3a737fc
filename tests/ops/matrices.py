"""Matrices that the tests of linear algebra share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg

RANDOM = np.random.default_rng(5)
la: Any = wg.linalg


def normal(*shape: int, complex: bool = False) -> np.ndarray:
    x = RANDOM.standard_normal(shape)
    return x + 1j * RANDOM.standard_normal(shape) if complex else x


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def positive(*shape: int, complex: bool = False) -> np.ndarray:
    x = normal(*shape, complex=complex)
    return x @ adjoint(x) + shape[-1] * np.eye(shape[-1])


def unitary(n: int) -> np.ndarray:
    return np.linalg.qr(normal(n, n))[0]


def grad(f: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    return np.asarray(wg.grad(f)(x))
