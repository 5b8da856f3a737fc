"""Categories, integers, and choices among elements."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError, ShapeError
from wengert.ops import batching, reductions, shapes
from wengert.ops import elementwise as ew
from wengert.ops.checks import array_like
from wengert.ops.families import one_axis
from wengert.ops.indexing import take
from wengert.ops.random.parameters import (
    Generator,
    Shape,
    check,
    check_generator,
    check_positive,
    full_shape,
    parameters,
    standard_noise,
)
from wengert.ops.special import softmax

# -- choices ------------------------------------------------------------------------------------


def gumbel_softmax(
    rng: Generator,
    logits: Any,
    temperature: Any = 1.0,
    *,
    hard: bool = False,
    axis: int = -1,
    shape: Shape = None,
    dtype: Any = None,
) -> Tensor:
    """Return softmax((logits + gumbel noise) / temperature): a category, smoothly.

    With `hard` the values are 0 and 1, one of which is 1 along the axis, and the derivative is
    that of the smooth ones. `shape` is that of the result, with the axis.
    `wg.sum(wg.random.gumbel_softmax(wg.random.generator(0), [0.0, 1.0], hard=True))` is `1.0`.
    """
    name = "gumbel_softmax"
    logits, temperature = parameters(name, rng, dtype, logits=logits, temperature=temperature)
    check_positive(name, "temperature", temperature)
    full = full_shape(name, shape, logits.shape, temperature.shape)
    axis = one_axis(axis, len(full), name)
    noise = standard_noise(name, rng.gumbel, full, logits)
    soft = softmax((logits + noise) / temperature, axis=axis)
    if not hard:
        return soft
    best = reductions.argmax(soft, axis=axis, keepdims=True)
    places = np.arange(full[axis]).reshape([-1 if i == axis else 1 for i in range(len(full))])
    is_best = ew.astype(ew.equal(best, wrap(array_like(places, soft._raw))), soft.dtype)
    return soft - batching.constant(soft) + is_best  # the first two are exactly 0


def bernoulli(rng: Generator, p: Any = 0.5, *, shape: Shape = None) -> Tensor:
    """Return booleans that are true with probability `p`; they have no gradient.

    `wg.random.bernoulli(wg.random.generator(0), [0.0, 1.0])` is `[False, True]`.
    """
    (p,) = parameters("bernoulli", rng, None, p=p)
    check("bernoulli", "p", p, lambda v: (v >= 0) & (v <= 1), "numbers from 0 to 1")
    full = full_shape("bernoulli", shape, p.shape)
    return batching.drawn(
        "bernoulli",
        lambda size, values: array_like(rng.random(size) < values, p._raw),
        full,
        shapes.broadcast_to(p, full),
    )


def categorical(rng: Generator, logits: Any, *, axis: int = -1, shape: Shape = None) -> Tensor:
    """Return categories along an axis with probabilities softmax(logits), as integers.

    They have no derivative; `gumbel_softmax` has one. `shape` is that of the result, without
    the axis. A logit of -inf is a category that never comes.
    `wg.random.categorical(wg.random.generator(0), [-np.inf, 0.0])` is `1`.
    """
    (logits,) = parameters("categorical", rng, None, logits=logits)
    axis = one_axis(axis, logits.ndim, "categorical")
    rows = shapes.moveaxis(logits, axis, -1)
    check("categorical", "logits", logits, lambda v: v < np.inf, "numbers, or -inf")
    if not (batching.all_values(rows._raw) > -np.inf).any(axis=-1).all():
        raise ValueError(
            f"categorical: logits of shape {logits.shape} have a row of nothing but -inf along "
            f"axis {axis}; expected a category that can come"
        )
    full = (*full_shape("categorical", shape, rows.shape[:-1]), rows.shape[-1])
    return batching.drawn(
        "categorical",
        lambda size, values: array_like(
            np.argmax(values + rng.gumbel(size=size), axis=-1), logits._raw
        ),
        full,
        shapes.broadcast_to(rows, full),
    )


def randint(
    rng: Generator, low: int, high: int, *, shape: Shape = None, dtype: Any = None
) -> Tensor:
    """Return integers from `low` up to `high`, which is excluded.

    `wg.random.randint(wg.random.generator(0), 7, 8, shape=2)` is `[7, 7]`.
    """
    check_generator("randint", rng)
    low, high = operator.index(low), operator.index(high)
    if low >= high:
        raise ValueError(f"randint: low={low} and high={high}; expected low < high")
    kind = np.dtype(np.int64 if dtype is None else dtype)
    if kind.kind not in "iu":
        raise DtypeError(f"randint: dtype={kind}; expected an integer dtype")
    full = full_shape("randint", shape, ())
    return batching.drawn(
        "randint", lambda size: np.asarray(rng.integers(low, high, size, kind)), full
    )


def _pool(name: str, x: Any) -> Tensor:
    """Return what to take from: x, or for a number 0, 1, ... up to it."""
    if type(x) is int or isinstance(x, np.integer):
        return wrap(np.arange(x))
    x = shapes.tensor(x, name)
    if not x.ndim:
        raise ShapeError(f"{name}: x has no axes; expected an array, or a Python integer")
    return x


def permutation(rng: Generator, x: Any, *, axis: int = 0) -> Tensor:
    """Return x shuffled along an axis, with its gradient; or 0, ..., x - 1 shuffled.

    `wg.sort(wg.random.permutation(wg.random.generator(0), 3))` is `[0, 1, 2]`.
    """
    check_generator("permutation", rng)
    x = _pool("permutation", x)
    axis = one_axis(axis, x.ndim, "permutation")
    count = x.shape[axis]

    def draw(size: tuple[int, ...]) -> np.ndarray:
        if math.prod(size) == count:
            return rng.permutation(count).reshape(size)
        return rng.permuted(np.broadcast_to(np.arange(count), size), axis=-1)

    return take(x, batching.drawn("permutation", draw, (count,)), axis=axis)


def choice(
    rng: Generator,
    x: Any,
    *,
    shape: Shape = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
) -> Tensor:
    """Return elements of x along an axis, or numbers below x, chosen with probabilities `p`.

    Derivatives go to the elements that were chosen, not to `p`. Each is chosen once only if
    `replace` is false. `shape` takes the place of the axis.
    `wg.random.choice(wg.random.generator(0), [7], shape=2)` is `[7, 7]`.
    """
    check_generator("choice", rng)
    x = _pool("choice", x)
    axis = one_axis(axis, x.ndim, "choice")
    count, full = x.shape[axis], full_shape("choice", shape, ())
    wanted: int = math.prod(full)
    if not replace and wanted > count:
        raise ValueError(
            f"choice: shape={full} of {count} elements without replacement; expected at most "
            f"{count}"
        )
    if wanted > 0 and not count:
        raise ValueError(f"choice: no elements along axis {axis} of shape {x.shape}")
    if p is not None:
        p = shapes.tensor(p, "choice").numpy().astype(float)
        if p.shape != (count,):
            raise ShapeError(f"choice: p of shape {p.shape} for {count} elements")
        if not (p >= 0).all() or abs(p.sum() - 1) > 1e-6:
            raise ValueError(f"choice: p sums to {p.sum():g}; expected probabilities, sum 1")
        if not replace and np.count_nonzero(p) < wanted:
            raise ValueError(
                f"choice: shape={full} without replacement, and only {np.count_nonzero(p)} of the "
                "probabilities are not 0; expected no more than those"
            )
        p = p / p.sum()

    def draw(size: tuple[int, ...]) -> np.ndarray:
        if replace or math.prod(size) == wanted:
            return np.asarray(rng.choice(count, size, replace, p))
        # of exponential variables the least is the first with a probability proportional to p
        lead = size[: len(size) - len(full)]
        with np.errstate(divide="ignore"):
            times = rng.standard_exponential((*lead, count)) / (1.0 if p is None else p)
        return np.argsort(times, axis=-1)[..., :wanted].reshape(size)

    return take(x, batching.drawn("choice", draw, full), axis=axis)


__all__ = ["bernoulli", "categorical", "choice", "gumbel_softmax", "permutation", "randint"]
