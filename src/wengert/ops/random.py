"""Random numbers from explicit generators; samples have derivatives by their parameters.

A sample is a function of noise, which is constant, and of parameters: ``loc + scale * noise``.
Derivatives go to the parameters. Where there is no such formula (gamma, and what is made of
it), a sample moves with its parameter so that it stays the same quantile. The derivative is
then ``-(dP/dalpha) / density``, with the distribution function P.

Inside of `vmap` its `randomness` says whether each example has noise of its own.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level, plain_namespace, substituted
from wengert.engine.errors import BackendError, DtypeError, ShapeError
from wengert.engine.op import Op
from wengert.engine.record import SCALARS, apply
from wengert.engine.tensor import Tensor, wrap
from wengert.ops import batching, reductions, shapes
from wengert.ops import elementwise as ew
from wengert.ops.contractions import matmul
from wengert.ops.families import elementwise, one_axis, sample
from wengert.ops.indexing import take
from wengert.ops.segments import like, on_host
from wengert.ops.special import softmax

Generator = np.random.Generator
Shape = int | tuple[int, ...] | None


def generator(seed: Any, /) -> Generator:
    """Return NumPy's generator for a seed: an integer, several, or a np.random.SeedSequence.

    ``rng.spawn(n)`` makes n more of it, independent of each other.

    Examples
    --------
    >>> from wengert import random
    >>> rng = random.generator(7)
    >>> random.randint(rng, 0, 100, shape=3)
    Tensor([94, 62, 68], dtype=int64)
    """
    if seed is None or isinstance(seed, (bool, float, Generator)):
        raise TypeError(
            f"generator: got {seed!r}; expected an integer, so that the same numbers can be had "
            "again"
        )
    return np.random.default_rng(seed)


# -- parameters, shapes and noise -----------------------------------------------------------


def _check_generator(name: str, rng: Any) -> None:
    if not isinstance(rng, Generator):
        raise TypeError(
            f"{name}: rng is of type {type(rng).__name__}; expected a generator. Write "
            "rng = wg.random.generator(seed) once, and pass it to every call"
        )


def _parameters(name: str, rng: Any, dtype: Any, **given: Any) -> list[Tensor]:
    """Return parameters as tensors of one library and one floating dtype."""
    _check_generator(name, rng)
    tensors = [shapes.tensor(value, name) for value in given.values()]
    arrays = [t for t, v in zip(tensors, given.values(), strict=True) if type(v) not in SCALARS]
    xp: Any = plain_namespace(arrays[0]._raw) if arrays else backends.NUMPY
    for key, x in zip(given, tensors, strict=True):
        if backends.kind_of(x.dtype) == "c":
            raise DtypeError(f"{name}: {key} of {x.dtype}; expected real numbers")
    if any(plain_namespace(x._raw) is not xp for x in arrays):
        raise BackendError(f"{name}: parameters of several array libraries; convert them first")
    if dtype is None:
        floats = [x.dtype for x in arrays if backends.is_inexact(x.dtype)]
        dtype = xp.result_type(*floats) if floats else xp.float64
    else:
        dtype = _in_library(xp, dtype)
        if backends.kind_of(dtype) != "f":
            raise DtypeError(f"{name}: dtype={dtype}; expected a real floating dtype")
    device = None if xp is backends.NUMPY or not arrays else arrays[0].device
    model = wrap(xp.asarray(0.0, dtype=dtype, device=device))
    return [
        like(x.numpy(), model) if type(value) in SCALARS else ew.astype(x, dtype, copy=False)
        for x, value in zip(tensors, given.values(), strict=True)
    ]


def _in_library(xp: Any, dtype: Any) -> Any:
    """Return a dtype by the name that a library has for it."""
    try:
        name = np.dtype(dtype).name
    except TypeError:  # torch.float32, array_api_strict.float32
        name = str(dtype).rpartition(".")[2]
    return np.dtype(name) if xp is backends.NUMPY else getattr(xp, name)


def _full_shape(name: str, shape: Shape, *tensors: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the samples: as given, or what the parameters broadcast to."""
    common = shapes.broadcast_shapes(*tensors)
    if shape is None:
        return common
    wanted = (operator.index(shape),) if not isinstance(shape, (tuple, list)) else tuple(shape)
    try:
        fits = shapes.broadcast_shapes(common, wanted) == wanted
    except ShapeError:
        fits = False
    if not fits:
        raise ShapeError(f"{name}: parameters of shape {common} do not broadcast to shape={wanted}")
    return wanted


def _check(name: str, key: str, x: Tensor, holds: Any, expected: str) -> None:
    """Raise unless a condition holds for all values of a parameter."""
    values = batching.all_values(x._raw)
    wrong = values[np.logical_not(holds(values))]
    if wrong.size:
        raise ValueError(f"{name}: {key} has {wrong[0]}; expected {expected}")


def _not_negative(name: str, key: str, x: Tensor) -> None:
    _check(name, key, x, lambda v: ~(v < 0), "0 or more")


def _positive(name: str, key: str, x: Tensor) -> None:
    _check(name, key, x, lambda v: (v > 0) & (v < np.inf), "positive numbers")


def _standard(name: str, method: Any, shape: tuple[int, ...], model: Tensor) -> Tensor:
    """Return noise in the dtype and library of `model`; float32 is drawn as such if it can be."""
    single = str(model.dtype).endswith("float32") and method.__name__ in _IN_SINGLE
    options = {"dtype": np.float32} if single else {}
    return batching.drawn(name, lambda size: like(method(size=size, **options), model)._raw, shape)


_IN_SINGLE = {"standard_normal", "standard_exponential", "random"}


def _location_scale(
    name: str, method: str, rng: Any, loc: Any, scale: Any, shape: Shape, dtype: Any
) -> Any:
    loc, scale = _parameters(name, rng, dtype, loc=loc, scale=scale)
    _not_negative(name, "scale", scale)
    full = _full_shape(name, shape, loc.shape, scale.shape)
    noise = _standard(name, getattr(rng, method), full, loc)
    return loc + scale * noise


# -- families of a location and a scale -----------------------------------------------------


def normal(
    rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return normal samples with mean `loc` and standard deviation `scale`.

    Examples
    --------
    >>> import wengert as wg
    >>> rng = wg.random.generator(0)
    >>> wg.random.normal(rng, loc=[0.0, 100.0], scale=0.1).shape
    (2,)
    """
    return _location_scale("normal", "standard_normal", rng, loc, scale, shape, dtype)


def laplace(
    rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return samples of density exp(-abs(x - loc) / scale) / (2 scale)."""
    return _location_scale("laplace", "laplace", rng, loc, scale, shape, dtype)


def logistic(
    rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return samples of distribution function 1 / (1 + exp(-(x - loc) / scale))."""
    return _location_scale("logistic", "logistic", rng, loc, scale, shape, dtype)


def cauchy(
    rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return Cauchy samples with median `loc`, half of which are within `scale` of it."""
    return _location_scale("cauchy", "standard_cauchy", rng, loc, scale, shape, dtype)


def gumbel(
    rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return samples of distribution function exp(-exp(-(x - loc) / scale))."""
    return _location_scale("gumbel", "gumbel", rng, loc, scale, shape, dtype)


def log_normal(
    rng: Generator, loc: Any = 0.0, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return exp of normal samples with mean `loc` and standard deviation `scale`."""
    return ew.exp(_location_scale("log_normal", "standard_normal", rng, loc, scale, shape, dtype))


def exponential(rng: Generator, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None) -> Any:
    """Return samples of density exp(-x / scale) / scale; `scale` is the mean."""
    (scale,) = _parameters("exponential", rng, dtype, scale=scale)
    _not_negative("exponential", "scale", scale)
    shape = _full_shape("exponential", shape, scale.shape)
    return scale * _standard("exponential", rng.standard_exponential, shape, scale)


def uniform(
    rng: Generator, low: Any = 0.0, high: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return samples evenly spread from `low` to `high`."""
    low, high = _parameters("uniform", rng, dtype, low=low, high=high)
    full = _full_shape("uniform", shape, low.shape, high.shape)
    width = high - low
    _check("uniform", "high - low", width, lambda v: ~(v < 0), "low <= high")
    return low + width * _standard("uniform", rng.random, full, low)


def multivariate_normal(
    rng: Generator, loc: Any, scale_tril: Any, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return normal samples with mean `loc` and covariance scale_tril @ scale_tril.T.

    The last axis of `loc` and of the samples, and the last two of `scale_tril`, are the
    coordinates; the other axes broadcast. `scale_tril` may be any factor of the covariance.
    """
    name = "multivariate_normal"
    loc, factor = _parameters(name, rng, dtype, loc=loc, scale_tril=scale_tril)
    if not loc.ndim or factor.ndim < 2 or {*factor.shape[-2:]} != {loc.shape[-1]}:
        raise ShapeError(
            f"{name}: loc of shape {loc.shape} and scale_tril of shape {factor.shape}; expected "
            "(..., n) and (..., n, n)"
        )
    shape = _full_shape(name, shape, loc.shape, factor.shape[:-1])
    noise = _standard(name, rng.standard_normal, shape, loc)
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
    reference=lambda low, high, u: _truncated_by_inversion(low, high, u),
)


def _truncated_by_inversion(low: np.ndarray, high: np.ndarray, u: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr, ndtri

    return ndtri(ndtr(low) * (1 - u) + ndtr(high) * u).astype(low.dtype)


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
) -> Any:
    """Return normal samples of mean `loc` and deviation `scale` that lie between `low` and `high`.

    Derivatives go to all four. A bound may be infinite.
    """
    name = "truncated_normal"
    low, high, loc, scale = _parameters(name, rng, dtype, low=low, high=high, loc=loc, scale=scale)
    _positive(name, "scale", scale)
    bounds = [batching.values_in_line(x._raw) for x in (low, high)]
    if not (bounds[0] < bounds[1]).all():
        raise ValueError(
            f"{name}: low={bounds[0].tolist()} and high={bounds[1].tolist()}; expected low < high"
        )
    full = _full_shape(name, shape, *(x.shape for x in (low, high, loc, scale)))

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


def _log_gamma(name: str, key: str, rng: Generator, alpha: Tensor, shape: tuple[int, ...]) -> Any:
    """Return logarithms of gamma samples as float64, which do not underflow for small alpha.

    A gamma(alpha) number is a gamma(alpha + 1) number times a uniform one to the power 1/alpha.
    """
    _positive(name, key, alpha)
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
    return _log_gamma_sample(alpha, drawn_at=_on_numpy(alpha), drawn=drawn._raw)


def _double(x: Tensor) -> Any:
    return plain_namespace(x._raw).float64


def _on_numpy(x: Tensor) -> Any:
    """Return the values of a tensor as a parameter: NumPy arrays, batched or not."""
    return batching.rebatched(batching.all_values(x._raw), x._raw)


def gamma(
    rng: Generator, alpha: Any, scale: Any = 1.0, *, shape: Shape = None, dtype: Any = None
) -> Any:
    """Return gamma samples: of density proportional to x**(alpha - 1) exp(-x / scale).

    `shape` is that of the result; the shape parameter of the distribution is `alpha`.
    """
    alpha, scale = _parameters("gamma", rng, dtype, alpha=alpha, scale=scale)
    _not_negative("gamma", "scale", scale)
    full = _full_shape("gamma", shape, alpha.shape, scale.shape)
    return scale * _exp(_log_gamma("gamma", "alpha", rng, alpha, full), alpha)


def _exp(log: Tensor, model: Tensor) -> Any:
    return ew.astype(ew.exp(log), model.dtype, copy=False)


def log_gamma(rng: Generator, alpha: Any, *, shape: Shape = None, dtype: Any = None) -> Any:
    """Return logarithms of gamma samples, which are finite also where a sample underflows to 0."""
    (alpha,) = _parameters("log_gamma", rng, dtype, alpha=alpha)
    full = _full_shape("log_gamma", shape, alpha.shape)
    log = _log_gamma("log_gamma", "alpha", rng, alpha, full)
    return ew.astype(log, alpha.dtype, copy=False)


def chisquare(rng: Generator, df: Any, *, shape: Shape = None, dtype: Any = None) -> Any:
    """Return sums of `df` squared standard normal samples; `df` may be any positive number."""
    (df,) = _parameters("chisquare", rng, dtype, df=df)
    full = _full_shape("chisquare", shape, df.shape)
    _positive("chisquare", "df", df)
    return 2 * _exp(_log_gamma("chisquare", "df", rng, df / 2, full), df)


def student_t(
    rng: Generator,
    df: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    *,
    shape: Shape = None,
    dtype: Any = None,
) -> Any:
    """Return samples of Student's t with `df` degrees of freedom, times `scale`, plus `loc`."""
    df, loc, scale = _parameters("student_t", rng, dtype, df=df, loc=loc, scale=scale)
    _positive("student_t", "df", df)
    _not_negative("student_t", "scale", scale)
    full = _full_shape("student_t", shape, df.shape, loc.shape, scale.shape)
    noise = _standard("student_t", rng.standard_normal, full, loc)
    half = ew.astype(df, _double(df), copy=False) / 2
    log = ew.log(half) - _log_gamma("student_t", "df", rng, half, full)
    return loc + scale * noise * _exp(log / 2, df)


def beta(rng: Generator, a: Any, b: Any, *, shape: Shape = None, dtype: Any = None) -> Any:
    """Return beta samples: of density proportional to x**(a - 1) (1 - x)**(b - 1)."""
    a, b = _parameters("beta", rng, dtype, a=a, b=b)
    full = _full_shape("beta", shape, a.shape, b.shape)
    logs = [_log_gamma("beta", key, rng, x, full) for key, x in (("a", a), ("b", b))]
    shares = softmax(shapes.stack(logs, axis=-1), axis=-1)
    return ew.astype(shares[..., 0], a.dtype, copy=False)


def dirichlet(rng: Generator, alpha: Any, *, shape: Shape = None, dtype: Any = None) -> Any:
    """Return Dirichlet samples: numbers along the last axis that are positive and sum to 1.

    `shape` is that of the result, with the last axis.
    """
    (alpha,) = _parameters("dirichlet", rng, dtype, alpha=alpha)
    if not alpha.ndim or not alpha.shape[-1]:
        raise ShapeError(f"dirichlet: alpha of shape {alpha.shape}; expected (..., n)")
    full = _full_shape("dirichlet", shape, alpha.shape)
    logs = _log_gamma("dirichlet", "alpha", rng, alpha, full)
    return ew.astype(softmax(logs, axis=-1), alpha.dtype, copy=False)


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
) -> Any:
    """Return softmax((logits + gumbel noise) / temperature): a category, smoothly.

    With `hard` the values are 0 and 1, one of which is 1 along the axis, and the derivative is
    that of the smooth ones. `shape` is that of the result, with the axis.
    """
    name = "gumbel_softmax"
    logits, temperature = _parameters(name, rng, dtype, logits=logits, temperature=temperature)
    _positive(name, "temperature", temperature)
    full = _full_shape(name, shape, logits.shape, temperature.shape)
    axis = one_axis(axis, len(full), name)
    noise = _standard(name, rng.gumbel, full, logits)
    soft = softmax((logits + noise) / temperature, axis=axis)
    if not hard:
        return soft
    best = reductions.argmax(soft, axis=axis, keepdims=True)
    places = np.arange(full[axis]).reshape([-1 if i == axis else 1 for i in range(len(full))])
    is_best = ew.astype(ew.equal(best, wrap(_found(places, soft))), soft.dtype)
    return soft - batching.constant(soft) + is_best  # the first two are exactly 0


def bernoulli(rng: Generator, p: Any = 0.5, *, shape: Shape = None) -> Any:
    """Return booleans that are true with probability `p`; they have no derivative."""
    (p,) = _parameters("bernoulli", rng, None, p=p)
    _check("bernoulli", "p", p, lambda v: (v >= 0) & (v <= 1), "numbers from 0 to 1")
    full = _full_shape("bernoulli", shape, p.shape)
    return batching.drawn(
        "bernoulli",
        lambda size, values: _found(rng.random(size) < values, p),
        full,
        shapes.broadcast_to(p, full),
    )


def _found(array: Any, model: Tensor) -> Any:
    """Return integers or booleans as a raw array of the library of `model`."""
    xp: Any = plain_namespace(model._raw)
    return np.asarray(array) if xp is backends.NUMPY else xp.asarray(array, device=model.device)


def categorical(rng: Generator, logits: Any, *, axis: int = -1, shape: Shape = None) -> Any:
    """Return categories along an axis with probabilities softmax(logits), as integers.

    They have no derivative; `gumbel_softmax` has one. `shape` is that of the result, without
    the axis. A logit of -inf is a category that never comes.
    """
    (logits,) = _parameters("categorical", rng, None, logits=logits)
    axis = one_axis(axis, logits.ndim, "categorical")
    rows = shapes.moveaxis(logits, axis, -1)
    _check("categorical", "logits", logits, lambda v: v < np.inf, "numbers, or -inf")
    if not (batching.all_values(rows._raw) > -np.inf).any(axis=-1).all():
        raise ValueError(
            f"categorical: logits of shape {logits.shape} have a row of nothing but -inf along "
            f"axis {axis}; expected a category that can come"
        )
    full = (*_full_shape("categorical", shape, rows.shape[:-1]), rows.shape[-1])
    return batching.drawn(
        "categorical",
        lambda size, values: _found(np.argmax(values + rng.gumbel(size=size), axis=-1), logits),
        full,
        shapes.broadcast_to(rows, full),
    )


def randint(rng: Generator, low: int, high: int, *, shape: Shape = None, dtype: Any = None) -> Any:
    """Return integers from `low` to `high`, without `high`."""
    _check_generator("randint", rng)
    low, high = operator.index(low), operator.index(high)
    if low >= high:
        raise ValueError(f"randint: low={low} and high={high}; expected low < high")
    kind = np.dtype(np.int64 if dtype is None else dtype)
    if kind.kind not in "iu":
        raise DtypeError(f"randint: dtype={kind}; expected an integer dtype")
    full = _full_shape("randint", shape, ())
    return batching.drawn(
        "randint", lambda size: np.asarray(rng.integers(low, high, size, kind)), full
    )


def _pool(name: str, x: Any) -> Any:
    """Return what to take from: x, or for a number 0, 1, ... up to it."""
    if type(x) is int or isinstance(x, np.integer):
        return wrap(np.arange(x))
    x = shapes.tensor(x, name)
    if not x.ndim:
        raise ShapeError(f"{name}: x has no axes; expected an array, or a Python integer")
    return x


def permutation(rng: Generator, x: Any, *, axis: int = 0) -> Any:
    """Return x in random order along an axis, with its derivative; or 0, ..., x - 1 in one."""
    _check_generator("permutation", rng)
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
) -> Any:
    """Return elements of x along an axis, or numbers below x, chosen with probabilities `p`.

    Derivatives go to the elements that were chosen, not to `p`. Each is chosen once only if
    `replace` is false. `shape` takes the place of the axis.
    """
    _check_generator("choice", rng)
    x = _pool("choice", x)
    axis = one_axis(axis, x.ndim, "choice")
    count, full = x.shape[axis], _full_shape("choice", shape, ())
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


__all__ = [
    "bernoulli", "beta", "categorical", "cauchy", "chisquare", "choice", "dirichlet", "exponential",
    "gamma", "generator", "gumbel", "gumbel_softmax", "laplace", "log_gamma", "log_normal",
    "logistic", "multivariate_normal", "normal", "permutation", "randint", "student_t",
    "truncated_normal", "uniform",
]  # fmt: skip
