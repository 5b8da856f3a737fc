"""NumPy's functions on tensors: a table from np.sum and the like to the operations they are.

`protocol` calls what stands in it with NumPy's own parameters, by name. A function here
names those it can take; what it does not name must have NumPy's default. Those parameters
that it takes by position only are NumPy's first ones, whatever they are called there.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.errors import NoRuleError
from wengert.ops import batching, samples
from wengert.ops.checks import misfit
from wengert.ops.families import axes as normalised
from wengert.ops.families import one_axis
from wengert.ops.numpy import choices, fft, polynomials, products, shapes, statistics
from wengert.ops.numpy.shapes import flat
from wengert.ops.numpy.ufuncs import (
    Function,
    by_name,
    floating,
    in_line,
    is_inexact,
    number,
    on_values,
    wg,
)
from wengert.ops.shapes import tensor

# -- elements ---------------------------------------------------------------------------------


def _round(a: Any, decimals: int = 0) -> Any:
    if not is_inexact(a):
        return on_values(np.round)(a, decimals)
    if decimals == 0:
        return wg.round(a)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return wg.divide(wg.round(wg.multiply(a, scale)), scale)
    return wg.multiply(wg.round(wg.divide(a, scale)), scale)


def _nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    x = tensor(x, "nan_to_num")
    if not is_inexact(x):
        return wg.positive(x)
    if backends.kind_of(x.dtype) != "f":
        raise NoRuleError(f"np.nan_to_num: got {x.dtype}; wengert has a rule for real floats only")
    limit = wg.finfo(x.dtype)
    x = wg.where(wg.isnan(x), nan, x)
    x = wg.where(wg.equal(x, math.inf), limit.max if posinf is None else posinf, x)
    return wg.where(wg.equal(x, -math.inf), limit.min if neginf is None else neginf, x)


def _angle(z: Any, deg: bool = False) -> Any:
    z = tensor(z, "angle")
    y = wg.angle(z) if backends.kind_of(z.dtype) == "c" else wg.atan2(wg.zeros_like(z), z)
    return y * (180 / math.pi) if deg else y


def _geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    start, stop = floating(start), floating(stop)
    if any(np.any(batching.all_values(end._raw) == 0) for end in (start, stop)):
        raise ValueError("np.geomspace: an end is 0, which no factor leads to")
    steps = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    rank = max(start.ndim, stop.ndim)
    return start * wg.pow(stop / start, number(steps.reshape(-1, *(1,) * rank), start))


def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    p = floating(p)
    axis = one_axis(axis, p.ndim, "unwrap") - p.ndim
    turns = in_line(lambda v: np.unwrap(v, discont, axis, period=period) - v, p)
    return p + wg.astype(turns, p.dtype)  # which turns are added does not change with p


# -- comparisons ------------------------------------------------------------------------------


def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    return in_line(lambda a, b: np.isclose(a, b, rtol, atol, equal_nan), a, b)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a1, a2 = tensor(a1, "array_equal"), tensor(a2, "array_equal")
    if a1.shape != a2.shape:
        return False
    same = wg.equal(a1, a2)
    if equal_nan and is_inexact(a1) and is_inexact(a2):
        same = wg.logical_or(same, wg.logical_and(wg.isnan(a1), wg.isnan(a2)))
    return _truth(wg.all(same))


def _truth(answer: Any) -> Any:
    """Return a truth as NumPy has it, unless each example of a vmap has its own."""
    return answer if type(answer._raw) is Batched else bool(answer)


# -- differences and integrals ----------------------------------------------------------------


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    parts = [to_begin, wg.diff(flat(ary)), to_end]
    return wg.concat([flat(part) for part in parts if part is not None])


def _gradient(f: Any, /, *varargs: Any, axis: Any = None) -> Any:
    f = tensor(f, "gradient")
    along = normalised(axis, f.ndim, "gradient")
    spacings = varargs or (1.0,)
    spacings = spacings * len(along) if len(spacings) == 1 else spacings
    if len(spacings) != len(along):
        raise TypeError(f"np.gradient: got {len(spacings)} spacings for {len(along)} axes")
    parts = [_slopes(f, a, h) for a, h in zip(along, spacings, strict=True)]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _slopes(f: Any, axis: int, spacing: Any) -> Any:
    if f.shape[axis] < 2:
        raise misfit("np.gradient", f"at least 2 elements along axis {axis}", f=f)
    if isinstance(spacing, (int, float)):
        spacing = number(spacing, f)
    return samples.slopes(f, tensor(spacing, "gradient"), axis=axis)


def _real_if_close(a: Any, tol: Any = 100) -> Any:
    a = tensor(a, "real_if_close")
    real = a.dtype.kind != "c" or not np.iscomplexobj(np.real_if_close(a.numpy(), tol))
    return wg.real(a) if real else a


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    if x is not None:
        x = tensor(x, "trapezoid")
        dx = wg.diff(x if x.ndim == 1 else wg.moveaxis(x, axis, -1))
    return wg.sum(samples.trapezia(tensor(y, "trapezoid"), dx, axis=axis), axis=-1) / 2


# -- the table --------------------------------------------------------------------------------

#: Functions that are ours, with NumPy's parameters in NumPy's places.
_OURS = """
    arange argmax argmin asarray astype broadcast_to count_nonzero cumulative_prod cumulative_sum
    diagonal diff dot empty empty_like expand_dims eye flip full isin linalg.matmul
    linalg.matrix_transpose linalg.outer linalg.tensordot linalg.vecdot matrix_transpose median
    moveaxis nonzero ones ones_like outer percentile quantile repeat roll searchsorted squeeze stack
    swapaxes take tensordot tile tril triu unique_all unique_counts unique_inverse unique_values
    unstack zeros zeros_like
"""
#: Functions whose answers have no derivative: places, counts, truths, dtypes and text.
_ON_VALUES = """
    argwhere array2string array_equiv array_repr array_str
    bincount can_cast common_type diag_indices_from digitize einsum_path flatnonzero
    ix_ lexsort may_share_memory
    min_scalar_type packbits ravel_multi_index result_type save savetxt
    shares_memory tril_indices_from triu_indices_from unpackbits unravel_index
"""
#: The same, of each element by itself.
_TRUTHS = "iscomplex isneginf isposinf isreal"
#: Functions that only move elements, and which no operation of ours is.
_MOVES = "delete fft.fftshift fft.ifftshift lib.stride_tricks.sliding_window_view resize"


def _numpy(name: str) -> Any:
    """Return a function of NumPy by its dotted name; None if this version has none."""
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


_BY_NAME: dict[str, Function] = {
    **by_name(_angle, _array_equal, _ediff1d, _geomspace, _gradient, _isclose, _nan_to_num, _round),
    **by_name(_real_if_close, _trapezoid, _unwrap),
    **{name: getattr(wg, name.rpartition(".")[2]) for name in _OURS.split() if _numpy(name)},
    **{name: on_values(_numpy(name)) for name in _ON_VALUES.split() if _numpy(name)},
    **{name: partial(in_line, _numpy(name)) for name in _TRUTHS.split()},
    **{name: shapes.moving(_numpy(name)) for name in _MOVES.split()},
    **statistics.FUNCTIONS,
    **shapes.FUNCTIONS,
    **products.FUNCTIONS,
    **fft.FUNCTIONS,
    **choices.FUNCTIONS,
    **polynomials.FUNCTIONS,
    "allclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: _truth(
        wg.all(_isclose(a, b, rtol, atol, equal_nan))
    ),
    "around": _round,
    "array": lambda object, dtype=None, copy=True: wg.asarray(object, dtype=dtype, copy=copy),
    "clip": lambda a, a_min=None, a_max=None, min=None, max=None: wg.clip(
        a, a_min if min is None else min, a_max if max is None else max
    ),
    "fix": wg.trunc,
    "identity": lambda n, dtype=None: wg.eye(n, dtype=dtype),
    "imag": lambda val: val.imag,
    "iscomplexobj": lambda x: backends.kind_of(x.dtype) == "c",
    "isrealobj": lambda x: backends.kind_of(x.dtype) != "c",
    "linspace": lambda start, stop, num=50, endpoint=True, dtype=None: wg.linspace(
        start, stop, num, endpoint=endpoint, dtype=dtype
    ),
    "logspace": lambda start, stop, num=50, endpoint=True, base=10.0: wg.pow(
        base, wg.linspace(start, stop, num, endpoint=endpoint)
    ),
    "ndim": lambda a: a.ndim,
    "real": lambda val: val.real,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: math.prod(a.shape[i] for i in normalised(axis, a.ndim, "size")),
}
#: What a function of NumPy is on tensors.
FUNCTIONS: dict[Any, Function] = {
    _numpy(name): function for name, function in _BY_NAME.items() if _numpy(name) is not None
}
