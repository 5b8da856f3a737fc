"""SciPy's linear algebra that has derivatives: its own on arrays, Wengert's on recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as _numpy
import scipy.linalg as _theirs

from wengert.dialects.autograd.borders import missing as _missing
from wengert.dialects.autograd.numpy.wrapping import dispatching as _dispatching
from wengert.ops import linalg as _ours


def _solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, check_finite: bool = True,
) -> Any:  # fmt: skip
    return _ours.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal)


def _solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    return _ours.solve_banded(l_and_u, ab, b)


def _sqrtm(A: Any, disp: bool = True) -> Any:
    if not disp:
        raise TypeError("sqrtm: disp=False returns an estimate of the error; leave it out")
    return _ours.sqrtm(A)


block_diag = _dispatching(_theirs.block_diag, _ours.block_diag)
expm = _dispatching(_theirs.expm, _ours.expm)
solve_banded = _dispatching(_theirs.solve_banded, _solve_banded)
solve_sylvester = _dispatching(_theirs.solve_sylvester, _ours.solve_sylvester)
solve_triangular = _dispatching(_theirs.solve_triangular, _solve_triangular)
sqrtm = _dispatching(_theirs.sqrtm, _sqrtm)

__all__ = ["block_diag", "expm", "solve_banded", "solve_sylvester", "solve_triangular", "sqrtm"]


def __getattr__(name: str) -> Any:
    why = ""
    if name in _theirs.__all__:
        nearby = f"; write np.linalg.{name}" if hasattr(_numpy.linalg, name) else ""
        why = f"wengert has no derivative of it under SciPy's name{nearby}"
    raise _missing(__name__, name, __all__, why)
