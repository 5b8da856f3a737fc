"""Several passes of a network's layer in one, in pieces that fit a processor's cache.

Each function does what a rule or a computation of `ops.neural` says in plain operations, for
large contiguous NumPy arrays of float32 or float64 (`suits`). It goes over the array piece by
piece, all steps for one piece before the next, and over threads. What overflows or
underflows on the way to a right result is no news, so NumPy's warnings are off inside.

What the steps cost decides how they are written. A product with a number for each row takes
twice as long as one with a whole array, so that a vector for all rows is laid out once for a
piece, and what comes from memory or goes there does so in a step without such numbers.
`np.vecdot` sums rows in half the time of `np.add.reduce`.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from threading import local
from typing import Any

import numpy as np

from wengert.backends import threads
from wengert.backends.aligned import aligned, aligned_like

__all__: list[str] = []  # called by their module's name, not through `xp.nn`

_REAL = (np.dtype("float32"), np.dtype("float64"))
#: How many bytes of each array a piece has. Each call of NumPy gives up Python's lock and waits for
#: it again: in pieces of 128 kB two threads are slower than one, in these nearly twice as fast.
PIECE = 1 << 20
#: Where there is one thread, nobody waits, and all arrays of a piece stay in a core's own cache.
ALONE = 1 << 18
#: With fewer elements than this, Python around the pieces takes longer than it saves.
SMALLEST = 1 << 14


def suits(*arrays: Any) -> bool:
    """Whether the first of these arrays is worth it, and all have its dtype."""
    first = arrays[0]
    return (
        type(first) is np.ndarray
        and first.size >= SMALLEST
        and first.dtype in _REAL
        and first.flags.c_contiguous
        and all(a.dtype == first.dtype for a in arrays)
    )


def _rows(x: np.ndarray) -> np.ndarray:
    """Return x as rows along its last axis."""
    return x.reshape(-1, x.shape[-1])


def _in_pieces(
    work: Callable[..., None],
    count: int,
    width: int,
    dtype: np.dtype,
    scratch: Callable[[int], Any] | None = None,
) -> None:
    """Call ``work(a, b, *scratch)`` for pieces of `count` rows of `width` elements.

    ``scratch(rows)`` makes what a thread needs beside its piece, of at most so many rows.
    """
    most = ALONE if threads.count() == 1 else PIECE
    rows = max(1, min(count, most // max(1, width * dtype.itemsize)))

    with np.errstate(all="ignore"):  # which other threads take over
        if scratch is None:
            threads.in_pieces(work, count, rows)
        else:
            made = functools.partial(scratch, rows)
            threads.in_pieces(lambda a, b, mine: work(a, b, *mine), count, rows, made)


def _of_elements(work: Callable[..., None], *arrays: np.ndarray) -> None:
    """Call ``work(piece of each array, *two scratch arrays)`` for pieces of flat arrays."""
    flat = [a.reshape(-1) for a in arrays]
    dtype = flat[0].dtype

    def on_piece(a: int, b: int, one: np.ndarray, two: np.ndarray) -> None:
        work(*[f[a:b] for f in flat], one[: b - a], two[: b - a])

    _in_pieces(
        on_piece, flat[0].size, 1, dtype, lambda rows: [aligned((rows,), dtype) for _ in range(2)]
    )


# -- the logistic loss ------------------------------------------------------------------------

#: How many elements go through all steps at once: temporary arrays then stay with the process.
_STEP = 1 << 14


def logistic_loss(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return log(1 + exp(x)) - x * target, accurate for targets 0 and 1."""
    result = aligned_like(x)
    flat, goal, out = (a.reshape(-1) for a in (x, target, result))
    for a in range(0, x.size, _STEP):
        x, t, y = (part[a : a + _STEP] for part in (flat, goal, out))
        q = np.abs(x)
        np.negative(q, out=q)
        np.exp(q, out=q)
        np.log1p(q, out=q)
        np.subtract(x > 0, t, out=y)
        y *= x
        y += q
    return result


def logistic_loss_pull(x: np.ndarray, target: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return g * (sigmoid(x) - target), accurate for targets 0 and 1.

    With e = exp(-x) this is g * ((1 - target) - target * e) / (1 + e), where e must be finite. A
    sigmoid below the smallest normal number may then be any number below it.
    """
    result = aligned_like(x)
    flat, goal, weights, out = (a.reshape(-1) for a in (x, target, g, result))
    one = x.dtype.type(1)
    largest = np.full(min(_STEP, x.size), np.floor(np.log(np.finfo(x.dtype).max)), x.dtype)
    spare, rest = aligned_like(largest), aligned_like(largest)
    for a in range(0, x.size, _STEP):
        x, t, w, y = (part[a : a + _STEP] for part in (flat, goal, weights, out))
        n = len(x)
        e = np.negative(x, out=spare[:n])
        np.minimum(e, largest[:n], out=e)  # by an array: by a number it takes four times as long
        np.exp(e, out=e)
        np.multiply(t, e, out=y)
        np.subtract(np.subtract(one, t, out=rest[:n]), y, out=y)
        e += one
        y /= e
        y *= w
    return result


# -- gelu -------------------------------------------------------------------------------------

#: The logarithm of Phi(x) / Phi(-x), where Phi is the normal distribution, is odd: x times this
#: polynomial of x * x, fitted to it for abs(x) <= 6.5. The Phi that follows in float32 is off
#: by at most 1.3e-7, which is two units in the last place below 1.
LOG_ODDS = (
    1.5957698829304667,
    0.07266616909811667,
    -6.518988838829262e-05,
    -1.1061241712757706e-04,
    7.929494895980795e-06,
    -2.6452721024978005e-07,
    3.5123576159737184e-09,
)
#: For the approximation by tanh it is such a polynomial by definition.
TANH_ODDS = (2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715)

#: Beyond this gelu(x) is 0 or x, and its derivative is 0 or 1.
_FAR = 40.0


def gelu(x: np.ndarray, approximate: str) -> np.ndarray:
    """Return x times the share of the normal distribution below x."""
    y = aligned_like(x)
    dtype = x.dtype.type
    first, *middle, last = (
        dtype(-k) for k in reversed(LOG_ODDS if approximate == "none" else TANH_ODDS)
    )

    def formula(x: np.ndarray, y: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        np.multiply(x, x, out=q)
        np.multiply(q, first, out=v)
        for k in middle:
            np.add(v, k, out=v)
            np.multiply(v, q, out=v)
        np.add(v, last, out=v)
        np.multiply(v, x, out=v)
        np.exp(v, out=v)
        np.add(v, dtype(1), out=v)
        np.divide(x, v, out=y)
        if not np.minimum.reduce(x) > -np.inf:  # -inf, or NaN
            y[x == -np.inf] = 0

    def normal(x: np.ndarray, y: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        from scipy.special import ndtr

        np.maximum(x, dtype(-_FAR), out=q)
        ndtr(q, out=v)
        np.multiply(q, v, out=y)

    exact = approximate == "none" and x.dtype == np.float64
    _of_elements(normal if exact else formula, x, y)
    return y


def gelu_pull(x: np.ndarray, y: np.ndarray, g: np.ndarray, approximate: str) -> np.ndarray:
    """Return g times the derivative of gelu; y / x is the share of the distribution below x."""
    result = aligned_like(x)
    dtype = x.dtype.type
    height = dtype(1 / math.sqrt(2 * math.pi))
    base, slope = dtype(TANH_ODDS[0]), dtype(3 * TANH_ODDS[1])

    def normal(x: np.ndarray, q: np.ndarray, v: np.ndarray, spare: np.ndarray) -> None:
        np.multiply(q, dtype(-0.5), out=q)
        np.exp(q, out=q)
        np.multiply(q, height, out=q)
        np.multiply(q, x, out=q)
        np.add(v, q, out=v)

    def logistic(x: np.ndarray, q: np.ndarray, v: np.ndarray, spare: np.ndarray) -> None:
        np.multiply(q, slope, out=q)
        np.add(q, base, out=q)
        np.multiply(q, x, out=q)
        np.multiply(q, v, out=q)
        np.subtract(dtype(1), v, out=spare)
        np.multiply(q, spare, out=q)
        np.add(v, q, out=v)

    step = normal if approximate == "none" else logistic

    def work(
        x: np.ndarray, y: np.ndarray, g: np.ndarray, out: np.ndarray, q: np.ndarray, v: np.ndarray
    ) -> None:
        np.multiply(x, x, out=q)
        if np.maximum.reduce(q) < 1e8:
            np.divide(y, x, out=v)
            if np.minimum.reduce(q) == 0:  # x is 0, or too small for the quotient
                v[q == 0] = 0.5
        else:  # something is huge, infinite, or no number
            x = np.clip(x, -_FAR, _FAR)
            np.multiply(x, x, out=q)
            np.divide(np.clip(y, -_FAR, _FAR), x, out=v)
            v[q == 0] = 0.5
        step(x, q, v, out)
        np.multiply(v, g, out=out)

    _of_elements(work, x, y, g, result)
    return result


# -- rows: softmax, cross-entropy, layer norm -----------------------------------------------------

#: Sums of exponentials of numbers up to this neither overflow nor lose what matters.
_SAFE = 8.0


def _exponentials(z: np.ndarray, out: np.ndarray, ones: np.ndarray) -> tuple[np.ndarray, Any]:
    """Write exp(z - shift) to `out`; return the sums of its rows and the shift, often 0."""
    if np.maximum.reduce(z, axis=None) <= _SAFE:
        np.exp(z, out=out)
        sums = np.vecdot(out, ones)
        if np.minimum.reduce(sums) > math.exp(-_SAFE):
            return sums, z.dtype.type(0)
    top = np.maximum.reduce(z, axis=1)
    top[top == -np.inf] = 0  # of a row of nothing else, with sum 0
    np.subtract(z, top[:, None], out=out)
    np.exp(out, out=out)
    return np.vecdot(out, ones), top


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return log(sum(exp(row))) - row[label] for each row."""
    losses = np.empty(len(labels), logits.dtype)
    ones = np.ones(logits.shape[1], logits.dtype)

    def work(a: int, b: int, e: np.ndarray) -> None:
        z = logits[a:b]
        sums, shift = _exponentials(z, e[: b - a], ones)
        losses[a:b] = np.log(sums) + (shift - z[np.arange(b - a), labels[a:b]])

    _by_rows(work, logits, lambda shape: (aligned(shape, logits.dtype),))
    return losses


def cross_entropy_pull(logits: np.ndarray, labels: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return (softmax(row) - 1 at the label) * g for each row and its g."""
    result = aligned_like(logits)
    ones = np.ones(logits.shape[1], logits.dtype)

    def work(a: int, b: int) -> None:
        out, weights = result[a:b], g[a:b]
        sums, _ = _exponentials(logits[a:b], out, ones)
        np.multiply(out, (weights / sums)[:, None], out=out)
        out[np.arange(b - a), labels[a:b]] -= weights

    _by_rows(work, logits)
    return result


def softmax(x: np.ndarray, scale: float, bias: np.ndarray | None) -> np.ndarray:
    """Return softmax(x * scale + bias) of each row, and 0 for rows of nothing but -inf."""
    y = aligned_like(x)
    xs, ys = _rows(x), _rows(y)
    ones = np.ones(xs.shape[1], x.dtype)
    added = None if bias is None else np.broadcast_to(bias, x.shape)
    same, turns = None, 1
    if bias is not None and bias.size == math.prod(bias.shape[-2:-1]) * x.shape[-1]:
        same = bias.reshape(-1, x.shape[-1])
        turns = len(same)

    def work(a: int, b: int, z: np.ndarray) -> None:
        z, out = z[: b - a], ys[a:b]
        np.multiply(xs[a:b], x.dtype.type(scale), out=z)
        if same is not None and not (a % turns or b % turns):  # whole matrices, the same for all
            matrices = z.reshape(-1, *same.shape)
            np.add(matrices, same, out=matrices)
        elif added is not None:
            np.add(z, _some_rows(added, a, b), out=z)
        sums, _ = _exponentials(z, out, ones)
        sums[sums == 0] = 1
        np.multiply(out, (1 / sums)[:, None], out=out)

    _by_rows(work, xs, lambda shape: (aligned(shape, x.dtype),))
    return y


def softmax_pull(y: np.ndarray, g: np.ndarray, scale: float) -> np.ndarray:
    """Return y * (g - sum(g * y)) * scale for each row."""
    result = aligned_like(y)
    ys, gs, rs = _rows(y), _rows(g), _rows(result)

    def work(a: int, b: int) -> None:
        out = rs[a:b]
        np.subtract(gs[a:b], np.vecdot(gs[a:b], ys[a:b])[:, None], out=out)
        np.multiply(out, y.dtype.type(scale), out=out)
        np.multiply(out, ys[a:b], out=out)

    _by_rows(work, ys)
    return result


def _by_rows(
    work: Callable[..., None],
    rows: np.ndarray,
    scratch: Callable[[tuple[int, int]], Any] | None = None,
) -> None:
    """Call ``work(a, b, *scratch)`` for pieces of the rows of a matrix."""
    count, width = rows.shape
    made = None if scratch is None else lambda most: scratch((most, width))
    _in_pieces(work, count, width, rows.dtype, made)


def _some_rows(x: np.ndarray, a: int, b: int) -> np.ndarray:
    """Return rows a to b of an array that may be broadcast, of which a copy would be large."""
    which = np.unravel_index(np.arange(a, b), x.shape[:-1])
    return x[which]


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """Return each row shifted to mean 0 and scaled to variance 1, times weight, plus bias."""
    y = aligned_like(x)
    xs, ys = _rows(x), _rows(y)
    ones = np.ones(xs.shape[1], x.dtype)

    def work(a: int, b: int, weights: np.ndarray, biases: np.ndarray) -> None:
        out = ys[a:b]
        np.multiply(out, _centred(xs[a:b], ones, eps, out)[:, None], out=out)
        np.multiply(out, weights[: b - a], out=out)
        np.add(out, biases[: b - a], out=out)

    _by_rows(work, xs, lambda shape: [_laid_out(v, shape) for v in (weight, bias)])
    return y


def _laid_out(vector: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a vector once for each row of a piece, or a column for each of its columns."""
    laid = aligned(shape, vector.dtype)
    laid[...] = vector
    return laid


def _centred(x: np.ndarray, ones: np.ndarray, eps: float, out: np.ndarray) -> np.ndarray:
    """Write rows less their mean to `out`, and return 1 / sqrt(variance + eps) of each."""
    count = x.dtype.type(len(ones))
    np.subtract(x, (np.vecdot(x, ones) / count)[:, None], out=out)
    return 1 / np.sqrt(np.vecdot(out, out) / count + x.dtype.type(eps))


def layer_norm_pull(
    x: np.ndarray, weight: np.ndarray, eps: float, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cotangents of x, weight and bias.

    With the centred rows c and the scale r of each: that of weight is the sum of r g c, and that
    of x is r (g w - m) - c n, where m is the mean of g w, and n that of g w c times r^3.
    """
    result = aligned_like(x)
    xs, gs, rs = _rows(x), _rows(g), _rows(result)
    ones, every = np.ones(xs.shape[1], x.dtype), np.ones(len(xs), x.dtype)
    count = x.dtype.type(len(ones))
    sums: list[tuple[np.ndarray, np.ndarray]] = []

    def work(a: int, b: int, c: np.ndarray, f: np.ndarray, weights: np.ndarray) -> None:
        g, c, f = gs[a:b], c[: b - a], f[: b - a]
        r = _centred(xs[a:b], ones, eps, c)
        np.multiply(g, c, out=f)
        sums.append((np.dot(r, f), np.dot(every[a:b], g)))
        m, n = np.vecdot(g, weight) * (r / count), np.vecdot(f, weight) * (r * r * r / count)
        np.multiply(c, n[:, None], out=c)
        np.multiply(g, weights[: b - a], out=f)
        np.multiply(f, r[:, None], out=f)
        np.subtract(f, m[:, None], out=f)
        np.subtract(f, c, out=rs[a:b])

    def scratch(shape: tuple[int, int]) -> Any:
        return aligned(shape, x.dtype), aligned(shape, x.dtype), _laid_out(weight, shape)

    _by_rows(work, xs, scratch)
    by_weight, by_bias = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    return result, by_weight, by_bias


# -- channels: batch norm --------------------------------------------------------------------------

#: Numbers of a channel lie side by side in runs. In shorter ones each step takes too long to begin.
_SHORTEST = 16
#: For at least so many images, what has a number for each channel is laid out as a whole image.
_MANY = 4


def suits_channels(x: Any, *others: Any) -> bool:
    """Whether `suits` holds, and the numbers of each channel, on axis 1, lie in long runs."""
    return suits(x, *others) and x.ndim > 2 and math.prod(x.shape[2:]) >= _SHORTEST


def _channels(x: np.ndarray) -> np.ndarray:
    """Return x as (batch, channels, numbers of each)."""
    return x.reshape(*x.shape[:2], -1)


def _by_images(work: Callable[[int, int], Any], xs: np.ndarray) -> None:
    """Call ``work(a, b)`` for pieces of a batch."""
    _in_pieces(work, len(xs), math.prod(xs.shape[1:]), xs.dtype)


def _added(sums: np.ndarray) -> np.ndarray:
    """Return sums over the batch of those of (..., batch, channels)."""
    return np.add.reduce(sums, axis=-2, dtype=np.float64)


def _means(xs: np.ndarray) -> np.ndarray:
    """Return the mean of each channel."""
    sums, ones = np.empty(xs.shape[:2], xs.dtype), np.ones(xs.shape[2], xs.dtype)
    _by_images(lambda a, b: np.matmul(xs[a:b], ones, out=sums[a:b]), xs)
    means: np.ndarray = (_added(sums) / (xs.size // xs.shape[1])).astype(xs.dtype)
    return means


def _for_each(xs: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
    """Return numbers for each channel in a form to compute with images: whole ones for many."""
    columns = np.array(vectors, xs.dtype)[..., None]
    if len(xs) < _MANY:
        return columns
    return _laid_out(columns, (len(vectors), *xs.shape[1:]))


_here = local()


@contextlib.contextmanager
def moments_once() -> Iterator[None]:
    """Have `channel_moments` computed once for each array within, which nobody may write to."""
    before = getattr(_here, "known", None)
    _here.known = {}
    try:
        yield
    finally:
        _here.known = before


def channel_moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of each channel."""
    known = getattr(_here, "known", None)
    if known is not None and id(x) in known:
        moments: tuple[np.ndarray, np.ndarray] = known[id(x)][0]
        return moments
    return _centre(x, aligned_like(x))


def _centre(x: np.ndarray, centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write each channel less its mean, and return the mean and the variance of each."""
    xs, cs = _channels(x), _channels(centred)
    means, squares = _means(xs), np.empty(xs.shape[:2], x.dtype)
    (away_from,) = _for_each(xs, means)

    def work(a: int, b: int) -> None:
        c = np.subtract(xs[a:b], away_from, out=cs[a:b])
        np.vecdot(c, c, out=squares[a:b])

    _by_images(work, xs)
    moments = means, (_added(squares) / (xs.size // xs.shape[1])).astype(x.dtype)
    known = getattr(_here, "known", None)
    if known is not None:
        known[id(x)] = moments, x  # as long as x is here, no other has its number
    return moments


def batch_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """Return each channel shifted to mean 0 and scaled to variance 1, times weight, plus bias."""
    y = aligned_like(x)
    _, variances = _centre(x, y)
    ys = _channels(y)
    factor, rest = _for_each(ys, weight / np.sqrt(variances + x.dtype.type(eps)), bias)

    def work(a: int, b: int) -> None:
        out = ys[a:b]
        np.multiply(out, factor, out=out)
        np.add(out, rest, out=out)

    _by_images(work, ys)
    return y


def batch_norm_pull(
    x: np.ndarray, weight: np.ndarray, eps: float, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cotangents of x, weight and bias.

    With the centred numbers c, the scale r of each channel, and means over it: that of x is
    w r (g - mean(g) - c r^2 mean(g c)).
    """
    result = aligned_like(x)
    xs, gs, rs = _channels(x), _channels(g), _channels(result)
    (away_from,), count = _for_each(xs, _means(xs)), x.size // x.shape[1]
    sums, ones = np.empty((3, *xs.shape[:2]), x.dtype), np.ones(xs.shape[2], x.dtype)

    def products(a: int, b: int) -> None:
        c = np.subtract(xs[a:b], away_from, out=rs[a:b])
        np.vecdot(c, c, out=sums[0, a:b])
        np.vecdot(gs[a:b], c, out=sums[1, a:b])
        np.matmul(gs[a:b], ones, out=sums[2, a:b])

    _by_images(products, xs)
    squares, along, by_bias = _added(sums)
    r = 1 / np.sqrt(squares / count + eps)
    of_c, rest, factor = _for_each(xs, -r * r * along / count, -by_bias / count, weight * r)

    def work(a: int, b: int) -> None:
        out = rs[a:b]
        np.multiply(out, of_c, out=out)
        np.add(out, gs[a:b], out=out)
        np.add(out, rest, out=out)
        np.multiply(out, factor, out=out)

    _by_images(work, xs)
    return result, (r * along).astype(x.dtype), by_bias.astype(x.dtype)
