"""Functions of matrices: the exponential, the logarithm and the square root."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.ops import batching
from wengert.ops.contractions import adjoint
from wengert.ops.families import run, sample, special
from wengert.ops.linalg.safeguards import checked, matrices
from wengert.ops.linalg.solving import sylvester_of

__all__ = ["expm", "sqrtm"]


#: A function of matrices whose eigenvalues are positive.
_of_matrices = partial(
    special,
    batch=batching.as_it_is,
    samples=[sample((2, 2)), sample((2, 3, 3)), sample((1, 1))],
    inputs=lambda x: [x + 5 * np.eye(x.shape[-1])],
    domain=(-1.0, 1.0),
    rounding=10,
)


def _expm_rule(xp: Any, g: Any, x: Any) -> Any:
    """Return a corner of the exponential of [[xᴴ, g], [0, xᴴ]], which is its derivative."""
    return xp.linalg.expm(_doubled(xp, x, g))[..., : x.shape[-1], x.shape[-1] :]


def _doubled(xp: Any, x: Any, g: Any) -> Any:
    back = adjoint(xp, x)
    top = xp.concat([back, g], axis=-1)
    bottom = xp.concat([xp.zeros_like(g), back], axis=-1)
    return xp.concat([top, bottom], axis=-2)


_expm = _of_matrices(
    "linalg.expm",
    _expm_rule,
    inputs=None,
    samples=[sample((2, 2)), sample((2, 3, 3)), sample((1, 1)), sample((0, 2, 2))],
)


def expm(x: Any, /) -> Tensor:
    """Return the exponentials of square matrices.

    `wg.linalg.expm([[0.0, 1.0], [0.0, 0.0]])` is `[[1.0, 1.0], [0.0, 1.0]]`.
    """
    return _expm(matrices(x, "expm", square=True))


def _logm_rule(xp: Any, g: Any, x: Any) -> Any:
    """Return a corner of the logarithm of [[xᴴ, g], [0, xᴴ]], which is its derivative."""
    found = run(complex_logm.op, xp, (_doubled(xp, x, g),), {})
    return found[..., : x.shape[-1], x.shape[-1] :]


complex_logm: Any = _of_matrices(
    "linalg.logm",
    _logm_rule,
    kinds="c",
    doc="Return the principal logarithms of complex matrices.",
)


def _root(xp: Any, x: Any) -> Any:
    problem = "singular, and has no square root"
    return checked(xp, "sqrtm", problem, _root_probe, xp.linalg.sqrtm, x)


def _root_probe(x: np.ndarray) -> None:
    from wengert.backends.numpy_linalg import sqrtm

    sqrtm(x)


def _sqrtm_rule(xp: Any, g: Any, y: Any) -> Any:
    """Return z of yᴴ z + z yᴴ = g."""
    back = adjoint(xp, y)
    problem = "singular, where its square root has no derivative"
    return sylvester_of(xp, back, back, g, "sqrtm", problem)


_sqrtm = _of_matrices(
    "linalg.sqrtm",
    _sqrtm_rule,
    compute=_root,
)


def sqrtm(x: Any, /) -> Tensor:
    """Return the principal square roots of square matrices.

    Of real matrices they are complex if an eigenvalue of any of them is negative. The derivative
    exists where no eigenvalue is zero or negative.
    `wg.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])` is `[[2.0, 0.0], [0.0, 3.0]]`.
    """
    return _sqrtm(matrices(x, "sqrtm", square=True))
