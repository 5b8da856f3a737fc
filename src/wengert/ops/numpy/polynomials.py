"""NumPy's polynomials on tensors, given by coefficients from the highest power down.

`functions` says how these are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.ops import batching
from wengert.ops.checks import misfit
from wengert.ops.numpy.products import convolve, real_where_all_are
from wengert.ops.numpy.shapes import at_least
from wengert.ops.numpy.ufuncs import Function, by_name, floating, numpy_dtype, wg
from wengert.ops.shapes import tensor


def _line(p: Any, name: str) -> Any:
    """Return coefficients along one axis."""
    p = at_least(1)(p)
    if p.ndim != 1:
        raise misfit(f"np.{name}", "one axis of coefficients", p=p)
    return p


def _numbers(p: Any) -> np.ndarray:
    """Return the coefficients in a row, or in one row for each example of a vmap."""
    return batching.all_values(p._raw).reshape(-1, p.shape[0])


def _polyval(p: Any, x: Any) -> Any:
    y = wg.zeros_like(x)
    for coefficient in p:
        y = wg.add(wg.multiply(y, x), coefficient)
    return y


def _polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = at_least(1)(a1), at_least(1)(a2)
    length = max(a1.shape[0], a2.shape[0])
    a1, a2 = (wg.pad(a, ((length - a.shape[0], 0),)) for a in (a1, a2))
    return a1 + a2


def _without_leading_zeros(p: Any) -> Any:
    """Return the coefficients from the first that is not zero on, as np.poly1d has them."""
    p = _line(p, "polymul")
    (places,) = np.nonzero(_numbers(p).any(axis=0))
    return p[int(places[0]) :] if places.size else p[-1:]


def _polyder(p: Any, m: int = 1) -> Any:
    p = _line(p, "polyder")
    for _ in range(_times(m, "polyder")):
        powers = np.arange(p.shape[0] - 1, 0, -1)
        p = p[:-1] * powers
    return p


def _polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    p, m = _line(p, "polyint"), _times(m, "polyint")
    constants = at_least(1)(0.0 if k is None else k)
    if constants.shape[0] not in (1, m) and m:
        raise ValueError(
            f"np.polyint: {constants.shape[0]} constants for m={m}; give one, or one for each"
        )
    for i in range(m):
        powers = np.arange(p.shape[0], 0, -1)
        constant = constants[i if constants.shape[0] > 1 else 0]
        p = wg.concat([p / powers, wg.reshape(constant, (1,))])
    return p


def _times(m: Any, name: str) -> int:
    if int(m) < 0:
        raise ValueError(f"np.{name}: m={m}; expected 0 or more")
    return int(m)


def _poly(seq_of_zeros: Any) -> Any:
    zeros = at_least(1)(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1]:
        zeros = wg.linalg.eigvals(zeros)
    elif zeros.ndim != 1:
        raise misfit("np.poly", "zeros, or a square matrix", seq_of_zeros=zeros)
    one = wg.ones((1,), dtype=zeros.dtype)
    p = one
    for i in range(zeros.shape[0]):
        p = convolve(p, wg.concat([one, -zeros[i : i + 1]]))
    found = _numbers(zeros)
    if found.dtype.kind == "c" and np.all(np.sort(found) == np.sort(found.conj())):
        p = wg.real(p)  # zeros that are real, or in pairs
    return p


def _polydiv(u: Any, v: Any) -> Any:
    u, v = (floating(_line(p, "polydiv")) for p in (u, v))
    dtype = wg.result_type(u, v)
    steps = max(u.shape[0] - v.shape[0] + 1, 0)
    rest, width = wg.astype(u, dtype), v.shape[0]
    quotient = []
    for k in range(steps):
        factor = rest[k] / v[0]
        quotient.append(factor)
        rest = rest.at[k : k + width].add(-factor * v)
    found = _numbers(rest)
    start = 0
    while start < rest.shape[0] - 1 and np.allclose(found[:, start], 0, rtol=1e-14):
        start += 1
    q = wg.stack(quotient) if quotient else wg.zeros((1,), dtype=dtype)
    return q, rest[start:]


def _polyfit(x: Any, y: Any, deg: int, rcond: Any = None, w: Any = None) -> Any:
    x, y = floating(x), floating(y)
    if x.ndim != 1 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0] or int(deg) < 0:
        expected = f"as many values as points, and a degree of 0 or more, not {deg}"
        raise misfit("np.polyfit", expected, x=x, y=y)
    columns = _vander(x, int(deg) + 1)
    if w is not None:
        w = floating(w)
        columns = columns * w[:, None]
        y = y * (w if y.ndim == 1 else w[:, None])
    scale = wg.sqrt(wg.sum(columns * columns, axis=0))
    rcond = x.shape[0] * backends.finfo(numpy_dtype(x)).eps if rcond is None else rcond
    found = wg.linalg.lstsq(columns / scale, y, rcond=rcond)[0]
    return found / (scale if y.ndim == 1 else scale[:, None])


def _vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = _line(tensor(x, "vander"), "vander")
    count = x.shape[0] if N is None else int(N)
    columns = [wg.ones_like(x)]
    while len(columns) < count:  # products, because the power of 0 by 0 has no derivative
        columns.append(columns[-1] * x)
    columns = columns[:count] if increasing else columns[:count][::-1]
    return wg.stack(columns, axis=1) if count else wg.zeros((x.shape[0], 0), dtype=x.dtype)


def _roots(p: Any) -> Any:
    p = floating(_line(p, "roots"))
    (places,) = np.nonzero(_numbers(p).any(axis=0))
    if not places.size:
        return p[:0]
    zeros = p.shape[0] - 1 - int(places[-1])  # each trailing zero is a root at 0
    p = p[int(places[0]) : int(places[-1]) + 1]
    n = p.shape[0] - 1
    if n == 0:
        return wg.zeros((zeros,), dtype=p.dtype)
    companion = wg.concat([wg.reshape(-p[1:] / p[0], (1, n)), wg.eye(n - 1, n, dtype=p.dtype)])
    found = real_where_all_are(companion, [wg.linalg.eigvals(companion)])[0]
    return wg.concat([found, wg.zeros((zeros,), dtype=found.dtype)])


FUNCTIONS: dict[str, Function] = {
    **by_name(_poly, _polyadd, _polyder, _polydiv, _polyfit, _polyint, _polyval, _roots),
    **by_name(_vander),
    "polymul": lambda a1, a2: convolve(*map(_without_leading_zeros, (a1, a2))),
    "polysub": lambda a1, a2: _polyadd(a1, wg.negative(a2)),
}
