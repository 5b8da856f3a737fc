"""Samples of continuous distributions, with derivatives by their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.engine.batching import Batched, Level, plain_namespace, substituted
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import ShapeError
from wengert.ops import batching, joining, shapes
from wengert.ops import elementwise as ew
from wengert.ops.checks import like
from wengert.ops.contractions import matmul
from wengert.ops.families import elementwise, sample
from wengert.ops.random.parameters import (
    Generator,
    Shape,
    check,
    check_not_negative,
    check_positive,
    full_shape,
    parameters,
    standard_noise,
)
from wengert.ops.segments import on_host
from wengert.ops.special import softmax

# -- families of a location and a scale -----------------------------------------------------


def _location_scale(
    name: str, method: str, what: str, then: Callable[[Tensor], Tensor] | None = None
) -> Callable[..., Tensor]:
    """Return a function that draws samples ``loc + scale * noise``, and says what they are."""

    def draw(
        rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
    ) -> Tensor:
        loc, scale = parameters(name, rng, dtype, loc=loc, scale=scale)
        check_not_negative(name, "scale", scale)
        full = full_shape(name, shape, loc.shape, scale.shape)
        found: Tensor = loc + scale * standard_noise(name, getattr(rng, method), full, loc)
        return found if then is None else then(found)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = (
        f"Return {what}.\n\n"
        f"`wg.random.{name}(wg.random.generator(0), [0.0, 9.0], scale=0.1).shape` is `(2,)`."
    )
    return draw


normal = _location_scale(
    "normal", "standard_normal", "normal samples with mean `loc` and standard deviation `scale`"
)
laplace = _location_scale(
    "laplace", "laplace", "samples of density exp(-abs(x - loc) / scale) / (2 scale)"
)
logistic = _location_scale(
    "logistic", "logistic", "samples of distribution function 1 / (1 + exp(-(x - loc) / scale))"
)
cauchy = _location_scale(
    "cauchy",
    "standard_cauchy",
    "Cauchy samples with median `loc`, half of which are within `scale` of it",
)
gumbel = _location_scale(
    "gumbel", "gumbel", "samples of distribution function exp(-exp(-(x - loc) / scale))"
)
log_normal = _location_scale(
    "log_normal",
    "standard_normal",
    "exp of normal samples with mean `loc` and standard deviation `scale`",
    then=ew.exp,
)


def exponential(
    rng: Generator, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Tensor:
    """Return samples of density exp(-x / scale) / scale; `scale` is the mean.

    `wg.random.exponential(wg.random.generator(0), [1.0, 2.0]).shape` is `(2,)`.
    """
    (scale,) = parameters("exponential", rng, dtype, scale=scale)
    check_not_negative("exponential", "scale", scale)
    shape = full_shape("exponential", shape, scale.shape)
    return scale * standard_noise("exponential", rng.standard_exponential, shape, scale)


def uniform(
    rng: Generator, low: Any = 0.0, high: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Tensor:
    """Return samples from the uniform distribution between `low` and `high`.

    `wg.random.uniform(wg.random.generator(0), -1.0, 1.0, shape=9).shape` is `(9,)`.
    """
    low, high = parameters("uniform", rng, dtype, low=low, high=high)
    full = full_shape("uniform", shape, low.shape, high.shape)
    width = high - low
    check("uniform", "high - low", width, lambda v: ~(v < 0), "low <= high")
    return low + width * standard_noise("uniform", rng.random, full, low)


def multivariate_normal(
    rng: Generator, loc: Any, scale_tril: Any, *, shape: Shape = None, dtype: Any = None
) -> Tensor:
    """Return normal samples with mean `loc` and covariance scale_tril @ scale_tril.T.

    The last axis of `loc` and of the samples, and the last two of `scale_tril`, are the
    coordinates; the other axes broadcast. `scale_tril` may be any factor of the covariance.
    `wg.random.multivariate_normal(wg.random.generator(0), [0.0, 1.0], np.eye(2)).shape` is `(2,)`.
    """
    name = "multivariate_normal"
    loc, factor = parameters(name, rng, dtype, loc=loc, scale_tril=scale_tril)
    if not loc.ndim or factor.ndim < 2 or {*factor.shape[-2:]} != {loc.shape[-1]}:
        raise ShapeError(
            f"{name}: loc of shape {loc.shape} and scale_tril of shape {factor.shape}; expected "
            "(..., n) and (..., n, n)"
        )
    shape = full_shape(name, shape, loc.shape, factor.shape[:-1])
    noise = standard_noise(name, rng.standard_normal, shape, loc)
    return loc + matmul(factor, noise[..., None])[..., 0]


# -- truncated normal -----------------------------------------------------------------------


def _truncated(low: np.ndarray, high: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the standard normal numbers between low and high at the levels u.

    The distribution function and what it lacks of 1 are both known by their logarithms, of
    which the smaller is exact also in the tail.
    """
    from scipy.special import log_ndtr, ndtri_exp

    before, after = np.log1p(-u), np.log(u)
    below = np.logaddexp(before + log_ndtr(low), after + log_ndtr(high))
    above = np.logaddexp(before + log_ndtr(-low), after + log_ndtr(-high))
    z = np.where(below < above, 1, -1) * ndtri_exp(np.minimum(below, above))
    return np.clip(z, low, high).astype(low.dtype)


def _constant(array: Any, model: Any) -> Any:
    """Return noise that a rule needs, where it computes with arrays or with tensors."""
    if type(model) is not Tensor:
        return like(array, wrap(model))._raw
    if type(array) is Batched:
        return ew.astype(wrap(array), model.dtype, copy=False)
    return like(array, model)


def _with_noise(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return samples for all examples, with axes of noise and arrays in line from the right."""
    arrays = batching.aligned(arrays, mapped)
    ndim = max(a.ndim for a in arrays) - 1

    def of_all(raw: Any) -> Any:
        if raw.level is not level:
            return raw
        values = raw.values
        return values._raw if values.ndim > ndim else batching.widened(values, ndim)._raw

    return apply(op, arrays, substituted(params, of_all))


_truncated_sample = elementwise(
    "random.truncated_normal_sample",
    lambda xp, g, y, low, u: g * (1 - _constant(u, y)) * xp.exp((y - low) * (y + low) / 2),
    lambda xp, g, y, high, u: g * _constant(u, y) * xp.exp((y - high) * (y + high) / 2),
    args=("low", "high"),
    params=("u",),
    compute=lambda xp, low, high, u: on_host(xp, lambda a, b: _truncated(a, b, u), low, high),
    batch=_with_noise,
    samples=[
        sample((3,), (3,), u=np.array([0.1, 0.5, 0.8])),
        sample((2, 2), (2, 2), u=np.array([[0.01, 0.3], [0.6, 0.99]])),
    ],
    domain=((-2.0, 0.5), (0.6, 2.5)),
    kinds="f",
)


#: A bound so many standard deviations away is none.
_FAR = 1e4


def truncated_normal(
    rng: Generator,
    low: Any,
    high: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    *,
    shape: Shape = None,
    dtype: Any = None,
) -> Tensor:
    """Return normal samples of mean `loc` and deviation `scale` that lie between `low` and `high`.

    Derivatives go to all four. A bound may be infinite.
    `wg.max(wg.random.truncated_normal(wg.random.generator(0), -1.0, 1.0, shape=9)) < 1` is `True`.
    """
    name = "truncated_normal"
    low, high, loc, scale = parameters(name, rng, dtype, low=low, high=high, loc=loc, scale=scale)
    check_positive(name, "scale", scale)
    bounds = [batching.values_in_line(x._raw) for x in (low, high)]
    if not (bounds[0] < bounds[1]).all():
        raise ValueError(
            f"{name}: low={bounds[0].tolist()} and high={bounds[1].tolist()}; expected low < high"
        )
    full = full_shape(name, shape, *(x.shape for x in (low, high, loc, scale)))

    def standard(bound: Tensor, far: float) -> Tensor:
        finite = ew.isfinite(bound)
        place = (ew.where(finite, bound, 0.0) - loc) / scale
        return shapes.broadcast_to(ew.where(finite, place, far), full)

    u = batching.drawn(name, lambda size: np.maximum(rng.random(size), 2.0**-54), full)
    return loc + scale * _truncated_sample(standard(low, -_FAR), standard(high, _FAR), u=u._raw)


# -- gamma and what is made of it -------------------------------------------------------------

# Nodes and weights of a rule for integrals from 0 to infinity of functions that fall off like
# exp(-w): a sum of equal steps in t, where w = exp(t - exp(-t)).
_T = np.arange(-3.5, 4.01, 0.125)
_NODES = np.exp(_T - np.exp(-_T))
_WEIGHTS = 0.125 * _NODES * (1 + np.exp(-_T))


def _log_gamma_slope(xp: Any, alpha: Any, log_z: Any) -> Any:
    """Return d log(z) / d alpha for a number z that stays the same quantile of gamma(alpha).

    It is -(dP/dalpha) / (z p), an integral of (log t - digamma(alpha)) p(t) over t below z, or
    over t above z with the other sign. In w = abs(log(t / z)) its integrand is positive and
    falls off, if the side is the shorter one. Below z one integration by parts has made alpha
    into alpha + 1, so that small alpha are no special case.
    """
    z, after = xp.exp(log_z), alpha + 1
    centre = log_z - xp.special.digamma(after)
    below = z <= after
    side = 1 - 2 * xp.astype(below, z.dtype)
    width = 1 / (xp.where(below, after - z, z - alpha) + xp.sqrt(1 + z))
    rate = xp.where(below, -after, alpha)
    offset = xp.where(below, -centre, centre + 1 / alpha)
    total = xp.zeros_like(z)
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
        w = width * node
        total = total + weight * (w + offset) * xp.exp(rate * w - z * xp.expm1(side * w))
    total = total * width
    return xp.where(below, (z * total - centre) / alpha, total)


def _log_gamma_at(alpha: np.ndarray, drawn_at: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return what was drawn, or for other parameters the numbers of the same quantiles."""
    if np.array_equal(alpha, drawn_at):
        return drawn.astype(alpha.dtype)
    from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

    z = np.exp(drawn)
    low, high = gammainc(drawn_at, z), gammaincc(drawn_at, z)
    moved = np.where(low < high, gammaincinv(alpha, low), gammainccinv(alpha, high))
    return np.log(moved).astype(alpha.dtype)


_AT, _Z = np.array([0.3, 0.9, 1.7, 2.8]), np.array([0.01, 0.4, 2.5, 3.5])
_log_gamma_sample = elementwise(
    "random.log_gamma_sample",
    lambda xp, g, y, alpha: g * _log_gamma_slope(xp, alpha, y),
    args=("alpha",),
    params=("drawn_at", "drawn"),
    compute=lambda xp, alpha, drawn_at, drawn: on_host(
        xp, lambda a: _log_gamma_at(a, drawn_at, drawn), alpha
    ),
    batch=_with_noise,
    samples=[
        sample((4,), drawn_at=_AT, drawn=np.log(_Z)),
        sample((2, 2), drawn_at=_AT[::-1].reshape(2, 2), drawn=np.log(_Z).reshape(2, 2)),
    ],
    domain=(0.2, 3.0),
    kinds="f",
    reference=_log_gamma_at,
)


def _log_gamma(
    name: str, key: str, rng: Generator, alpha: Tensor, shape: tuple[int, ...]
) -> Tensor:
    """Return logarithms of gamma samples as float64, which do not underflow for small alpha.

    A gamma(alpha) number is a gamma(alpha + 1) number times a uniform one to the power 1/alpha.
    """
    check_positive(name, key, alpha)
    alpha = shapes.broadcast_to(ew.astype(alpha, _double(alpha), copy=False), shape)

    def draw(size: tuple[int, ...], at: np.ndarray) -> np.ndarray:
        if np.broadcast_shapes(size, at.shape) != size:
            raise ValueError(
                f"{name}: {key} differs between the examples of a vmap with randomness='same', and "
                "then so do the samples; write randomness='different'"
            )
        at = np.broadcast_to(at, size)
        return np.log(rng.standard_gamma(at + 1)) - rng.standard_exponential(size) / at

    drawn = batching.drawn(name, draw, shape, alpha)
    at = batching.rebatched(batching.all_values(alpha._raw), alpha._raw)
    return _log_gamma_sample(alpha, drawn_at=at, drawn=drawn._raw)


def _double(x: Tensor) -> Any:
    return plain_namespace(x._raw).float64


def gamma(
    rng: Generator, alpha: Any, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Tensor:
    """Return gamma samples: of density proportional to x**(alpha - 1) exp(-x / scale).

    `shape` is that of the result; the shape parameter of the distribution is `alpha`.
    `wg.random.gamma(wg.random.generator(0), [1.0, 2.0]).shape` is `(2,)`.
    """
    alpha, scale = parameters("gamma", rng, dtype, alpha=alpha, scale=scale)
    check_not_negative("gamma", "scale", scale)
    full = full_shape("gamma", shape, alpha.shape, scale.shape)
    return scale * _exp(_log_gamma("gamma", "alpha", rng, alpha, full), alpha)


def _exp(log: Tensor, model: Tensor) -> Any:
    return ew.astype(ew.exp(log), model.dtype, copy=False)


def log_gamma(rng: Generator, alpha: Any, *, shape: Shape = None, dtype: Any = None) -> Tensor:
    """Return logarithms of gamma samples, which are finite also where a sample underflows to 0.

    `wg.random.log_gamma(wg.random.generator(0), [1.0, 2.0]).shape` is `(2,)`.
    """
    (alpha,) = parameters("log_gamma", rng, dtype, alpha=alpha)
    full = full_shape("log_gamma", shape, alpha.shape)
    log = _log_gamma("log_gamma", "alpha", rng, alpha, full)
    return ew.astype(log, alpha.dtype, copy=False)


def chisquare(rng: Generator, df: Any, *, shape: Shape = None, dtype: Any = None) -> Tensor:
    """Return sums of `df` squared standard normal samples; `df` may be any positive number.

    `wg.random.chisquare(wg.random.generator(0), [1.0, 2.0]).shape` is `(2,)`.
    """
    (df,) = parameters("chisquare", rng, dtype, df=df)
    full = full_shape("chisquare", shape, df.shape)
    check_positive("chisquare", "df", df)
    return 2 * _exp(_log_gamma("chisquare", "df", rng, df / 2, full), df)


def student_t(
    rng: Generator,
    df: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    *,
    shape: Shape = None,
    dtype: Any = None,
) -> Tensor:
    """Return samples of Student's t with `df` degrees of freedom, times `scale`, plus `loc`.

    `wg.random.student_t(wg.random.generator(0), [1.0, 2.0]).shape` is `(2,)`.
    """
    df, loc, scale = parameters("student_t", rng, dtype, df=df, loc=loc, scale=scale)
    check_positive("student_t", "df", df)
    check_not_negative("student_t", "scale", scale)
    full = full_shape("student_t", shape, df.shape, loc.shape, scale.shape)
    noise = standard_noise("student_t", rng.standard_normal, full, loc)
    half = ew.astype(df, _double(df), copy=False) / 2
    log = ew.log(half) - _log_gamma("student_t", "df", rng, half, full)
    return loc + scale * noise * _exp(log / 2, df)


def beta(rng: Generator, a: Any, b: Any, *, shape: Shape = None, dtype: Any = None) -> Tensor:
    """Return beta samples: of density proportional to x**(a - 1) (1 - x)**(b - 1).

    `wg.random.beta(wg.random.generator(0), 2.0, 3.0, shape=4).shape` is `(4,)`.
    """
    a, b = parameters("beta", rng, dtype, a=a, b=b)
    full = full_shape("beta", shape, a.shape, b.shape)
    logs = [_log_gamma("beta", key, rng, x, full) for key, x in (("a", a), ("b", b))]
    shares = softmax(joining.stack(logs, axis=-1), axis=-1)
    return ew.astype(shares[..., 0], a.dtype, copy=False)


def dirichlet(rng: Generator, alpha: Any, *, shape: Shape = None, dtype: Any = None) -> Tensor:
    """Return Dirichlet samples: numbers along the last axis that are positive and sum to 1.

    `shape` is that of the result, with the last axis.
    `wg.sum(wg.random.dirichlet(wg.random.generator(0), [1.0, 2.0]))` is `1.0`.
    """
    (alpha,) = parameters("dirichlet", rng, dtype, alpha=alpha)
    if not alpha.ndim or not alpha.shape[-1]:
        raise ShapeError(f"dirichlet: alpha of shape {alpha.shape}; expected (..., n)")
    full = full_shape("dirichlet", shape, alpha.shape)
    logs = _log_gamma("dirichlet", "alpha", rng, alpha, full)
    return ew.astype(softmax(logs, axis=-1), alpha.dtype, copy=False)


__all__ = [
    "beta", "cauchy", "chisquare", "dirichlet", "exponential", "gamma", "gumbel", "laplace",
    "log_gamma", "log_normal", "logistic", "multivariate_normal", "normal", "student_t",
    "truncated_normal", "uniform",
]  # fmt: skip
