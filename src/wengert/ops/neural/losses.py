"""Losses: how far a result is from its target, for each element or row, and their mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert import backends
from wengert.backends import numpy_fused as fused
from wengert.engine.batching import Batched, Level, plain_namespace
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import DtypeError
from wengert.ops import elementwise as ew
from wengert.ops import reductions, shapes, special
from wengert.ops.batching import (
    all_values,
    full,
    full_parameter,
    innermost,
    is_visible,
    merged,
    rebatched,
)
from wengert.ops.checks import all_below, broadcasts_to, integers, like, misfit, real
from wengert.ops.families import one_axis, run, sample
from wengert.ops.families import special as declare
from wengert.ops.families.narrow import in_single
from wengert.ops.indexing import index, scatter
from wengert.ops.neural.activations import logistic, relu, softplus
from wengert.ops.neural.arguments import (
    check_reduction,
    number,
    positive,
    real_elementwise,
    reduced,
    same_shapes,
)
from wengert.ops.neural.normalisation import length, normalize

# -- softmax cross-entropy --------------------------------------------------------------------


def _places(labels: Any) -> tuple[Any, Any]:
    return np.arange(labels.shape[0]), labels


def _rows_values(xp: Any, logits: Any, labels: Any) -> Any:
    if xp is backends.NUMPY and fused.suits(logits):
        return fused.cross_entropy(logits, labels)
    top = xp.max(logits, axis=1, keepdims=True)
    sums = xp.sum(xp.exp(logits - top), axis=1)
    return xp.log(sums) + (top[:, 0] - xp.index(logits, key=_places(labels)))


def _rows_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return an operation on rows and labels, of which all examples' are just more."""
    each = [full(a, m, level) for a, m in zip(arrays, mapped, strict=True)]
    labels = merged(wrap(full_parameter(params["labels"], level)), 0)
    y = apply(op, tuple(merged(a, 0) for a in each), {"labels": labels._raw})
    return shapes.reshape(y, (level.size, each[0].shape[1], *y.shape[1:]))


_LABELLED = [
    sample((3, 4), labels=np.array([1, 3, 1])),
    sample((2, 1), labels=np.array([0, 0])),
    sample((0, 3), labels=np.zeros(0, int)),
]


def _rows_rule(xp: Any, g: Any, logits: Any, labels: Any) -> Any:
    return run(_pull.op, xp, (logits, g), {"labels": labels})


_rows_cross_entropy = declare(
    "nn.cross_entropy",
    _rows_rule,
    args=("logits",),
    params=("labels",),
    compute=_rows_values,
    batch=_rows_of_examples,
    samples=_LABELLED,
    kinds="f",
)


def _shares(xp: Any, logits: Any) -> Any:
    weights = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    return weights / xp.sum(weights, axis=1, keepdims=True)


def _pull_values(xp: Any, logits: Any, factors: Any, labels: Any) -> Any:
    if xp is backends.NUMPY and fused.suits(logits, factors):
        return fused.cross_entropy_pull(logits, labels, factors)
    weights = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    shares = weights * (factors[:, None] / xp.sum(weights, axis=1, keepdims=True))
    return xp.put_add(shares, -factors, key=_places(labels))


def _pull_logits_rule(xp: Any, g: Any, logits: Any, factors: Any) -> Any:
    shares = _shares(xp, logits)
    g = g * factors[:, None]
    return shares * (g - xp.sum(g * shares, axis=1, keepdims=True))


#: The rule of the one above, which is an operation so that it can be one for all examples.
_pull = declare(
    "nn.cross_entropy_pull",
    _pull_logits_rule,
    lambda xp, g, logits, labels: (
        xp.sum(g * _shares(xp, logits), axis=1) - xp.index(g, key=_places(labels))
    ),
    args=("logits", "factors"),
    params=("labels",),
    compute=_pull_values,
    batch=_rows_of_examples,
    samples=[sample(*s.shapes, s.shapes[0][:1], **s.params) for s in _LABELLED],
    kinds="f",
    doc="Return (softmax(row) - 1 at its label) * factor, for each row.",
)


def _total_rule(xp: Any, g: Any, logits: Any, labels: Any, scale: float) -> Any:
    return _rows_rule(xp, xp.broadcast_to(g * scale, logits.shape[:1]), logits, labels)


def _total_of_examples(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    rows, labels = _rows_cross_entropy.op, {"labels": params["labels"]}
    losses = _rows_of_examples(rows, level, arrays, mapped, labels)
    return reductions.sum(losses, axis=1) * params["scale"]


_total_cross_entropy = declare(
    "nn.total_cross_entropy",
    _total_rule,
    args=("logits",),
    params=("labels", "scale"),
    compute=lambda xp, logits, labels, scale: xp.sum(_rows_values(xp, logits, labels)) * scale,
    batch=_total_of_examples,
    samples=[
        sample((3, 4), labels=np.array([1, 3, 1]), scale=1.0),
        sample((2, 5), labels=np.array([0, 4]), scale=0.5),
    ],
    kinds="f",
)


def cross_entropy(
    logits: Any,
    target: Any,
    *,
    axis: int = -1,
    weight: Any = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """Return -log(softmax(logits)[target]), the cross-entropy of classes.

    Classes are on `axis` of `logits`. `target` holds their indices, in the shape of the other
    axes, or a probability for each class, in the shape of `logits`. `weight` has a factor for
    each class. Rows whose index is `ignore_index` have loss 0, and the mean is over the others,
    weighted. `label_smoothing` is the part of each target that goes evenly to all classes.
    `reduction` is "mean", "sum" or "none". `wg.nn.cross_entropy([[0.0, 1.0]], [1])` is `0.313262`.
    """
    logits = shapes.tensor(logits, "cross_entropy")
    where: Any = target if type(target) is np.ndarray else shapes.tensor(target, "target")
    check_reduction(reduction, "cross_entropy")
    if logits.ndim == 0 or backends.kind_of(logits.dtype) != "f":
        raise DtypeError(
            f"cross_entropy: logits of {logits.dtype} and shape {logits.shape}; expected real "
            "numbers with an axis of classes"
        )
    if axis != -1 and axis != logits.ndim - 1:
        axis = one_axis(axis, logits.ndim, "cross_entropy")
        logits = shapes.moveaxis(logits, axis, -1)
        if where.shape == (*logits.shape[:axis], logits.shape[-1], *logits.shape[axis:-1]):
            where = shapes.moveaxis(where, axis, -1)
    count = logits.shape[-1]
    if backends.kind_of(where.dtype) == "f" and where.shape == logits.shape:
        smoothing = number(label_smoothing, "cross_entropy", "label_smoothing", 0, 1 + 1e-12)
        return _of_probabilities(logits, where, weight, smoothing, reduction)
    labels = where
    if type(where) is Tensor:
        kept = type(where._raw) is Batched or not is_visible(where._raw)
        labels = where._raw if kept else where.numpy()
    _check_labels(labels, logits.shape, "cross_entropy")
    size = math.prod(labels.shape)
    plain = weight is None and not label_smoothing and not 0 <= ignore_index < count
    if not (plain and is_visible(labels) and all_below(all_values(labels), count)):
        smoothing = number(label_smoothing, "cross_entropy", "label_smoothing", 0, 1 + 1e-12)
        return _of_indices(
            logits, labels, "cross_entropy", weight, ignore_index, smoothing, reduction
        )
    places = _flat_places(labels)
    flat = logits if logits.ndim == 2 else shapes.reshape(logits, (size, count))
    if reduction == "none" or (reduction == "mean" and backends.is_narrow(flat.dtype)):
        losses = _rows_cross_entropy(flat, labels=places)
        if reduction == "mean":  # half precision may not hold the sum of what it can average
            return reductions.mean(losses)
        return losses if losses.shape == labels.shape else shapes.reshape(losses, labels.shape)
    scale = 1.0 if reduction == "sum" else 1 / size if size else np.nan
    return _total_cross_entropy(flat, labels=places, scale=scale)


def _flat_places(labels: Any) -> Any:
    """Return labels on one axis, as integers that nobody else can write to."""
    if type(labels) is np.ndarray:
        return labels.reshape(-1).astype(np.intp)
    flat = shapes.reshape(wrap(labels), (math.prod(labels.shape),))
    return integers(flat, "cross_entropy", "target")


def _check_labels(labels: Any, shape: tuple[int, ...], name: str) -> None:
    if backends.kind_of(labels.dtype) not in "iu":
        raise DtypeError(
            f"{name}: target of {labels.dtype} and shape {labels.shape} for shape {shape}; "
            f"expected indices of classes in shape {shape[:-1]}"
            + (f", or probabilities in shape {shape}" if name == "cross_entropy" else "")
        )
    if labels.shape != shape[:-1]:
        raise misfit(name, f"{shape[:-1]}, with classes on the last axis of {shape}", target=labels)


def _class_weights(weight: Any, count: int, name: str) -> Tensor:
    weight = real(weight, name, "weight")
    if weight.shape != (count,):
        raise misfit(name, f"({count},), a number for each class", weight=weight)
    return weight


def _of_probabilities(
    logits: Tensor, target: Any, weight: Any, smoothing: float, reduction: str
) -> Tensor:
    count = logits.shape[-1]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / count
    terms = special.log_softmax(logits, axis=-1) * target
    if weight is not None:
        terms = terms * _class_weights(weight, count, "cross_entropy")
    losses = -reductions.sum(terms, axis=-1)
    return reduced(losses, reduction, "cross_entropy")


def _of_indices(
    scores: Tensor,
    labels: Any,
    name: str,
    weight: Any,
    ignore_index: int,
    smoothing: float,
    reduction: str,
) -> Tensor:
    """Return the loss for indices with everything that can be asked for.

    `scores` are logits for cross_entropy, and logarithms of probabilities for nll_loss. Rows to
    ignore are left out from the start, so that what they hold does not matter; or, if they
    differ between examples of a vmap or are on a device, masked.
    """
    count = scores.shape[-1]
    places = _flat_places(labels)
    rows = shapes.reshape(scores, (*places.shape, count))
    if is_visible(places):
        values = all_values(places)
        _check_classes(values[values != ignore_index], count, name)
    factors = None if weight is None else _class_weights(weight, count, name)
    how = (name, factors, smoothing)
    if type(places) is not np.ndarray:
        losses, share, some = _masked_losses(rows, places, ignore_index, *how)
        if reduction == "none":
            return shapes.reshape(losses, labels.shape)
        total = reductions.sum(losses)
        if reduction == "sum":
            return total
        return ew.where(some, total / ew.where(some, reductions.sum(share), 1.0), math.nan)
    kept = np.flatnonzero(places != ignore_index)
    if kept.size < places.size:
        rows, places = index(rows, key=(kept,)), places[kept]
    losses, share = _losses_of_rows(rows, places, *how)
    if reduction == "none":
        flat = scatter(losses, shape=(labels.size,), key=(kept,))
        return shapes.reshape(flat, labels.shape)
    total = reductions.sum(losses)
    if reduction == "sum":
        return total
    if share is not None:
        return total / reductions.sum(share) if kept.size else total * math.nan
    return reductions.mean(losses) if kept.size else total * math.nan


def _check_classes(labels: np.ndarray, count: int, name: str) -> None:
    if not all_below(labels, count):
        raise IndexError(f"{name}: labels from {labels.min()} to {labels.max()} of {count} classes")


def _losses_of_rows(
    rows: Tensor, places: Any, name: str, factors: Tensor | None, smoothing: float
) -> tuple[Any, Any]:
    """Return the loss of each row, and the factor of its class, if there are such."""
    if name == "nll_loss":
        losses = -index(rows, key=_places(places))
    elif not smoothing:
        losses = _rows_cross_entropy(rows, labels=places)
    else:
        logs = special.log_softmax(rows, axis=-1)
        losses = -index(logs, key=_places(places))
    share = None if factors is None else index(factors, key=(places,))
    if share is not None:
        losses = losses * share
    if smoothing:
        even = -reductions.sum(logs if factors is None else logs * factors, axis=-1)
        losses = losses * (1 - smoothing) + even * (smoothing / rows.shape[-1])
    return losses, share


def _masked_losses(rows: Tensor, places: Any, ignore_index: int, *how: Any) -> tuple[Any, Any, Any]:
    """Return losses and shares in the mean that are 0 for rows to ignore, and if there are others.

    For labels that differ between the examples of a vmap, or that are on a device.
    """
    values = innermost(places)
    counted = values != ignore_index
    mask = like(rebatched(counted, places), rows)
    places = rebatched(backends.namespace_of(values).keep(values, counted), places)
    rows = ew.keep(rows, shapes.expand_dims(mask, axis=1))
    losses, share = _losses_of_rows(rows, places, *how)
    share = mask if share is None else ew.keep(share, mask)
    return ew.keep(losses, mask), share, reductions.any(mask)


def nll_loss(
    log_probabilities: Any,
    target: Any,
    *,
    axis: int = -1,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Return minus the logarithm of the probability at each target, an index of a class.

    As `cross_entropy`, for logarithms of probabilities in place of logits.
    `wg.nn.nll_loss([[-2.0, -0.5]], [1])` is `0.5`.
    """
    logs = real(log_probabilities, "nll_loss", "log_probabilities")
    check_reduction(reduction, "nll_loss")
    if logs.ndim == 0:
        raise misfit("nll_loss", "an axis of classes", log_probabilities=logs)
    logs = shapes.moveaxis(logs, one_axis(axis, logs.ndim, "nll_loss"), -1)
    labels = integers(target, "nll_loss", "target")
    _check_labels(labels, logs.shape, "nll_loss")
    return _of_indices(logs, labels, "nll_loss", weight, ignore_index, 0.0, reduction)


# -- differences ------------------------------------------------------------------------------


def _pair(x: Any, target: Any, name: str) -> tuple[Tensor, Tensor]:
    x, target = real(x, name), real(target, name, "target")
    same_shapes(name, x=x, target=target)
    return x, target


def mse_loss(x: Any, target: Any, *, reduction: str = "mean") -> Tensor:
    """Return (x - target)**2, or the mean. `wg.nn.mse_loss([1.0, 2.0], [1.0, 4.0])` is `2.0`."""
    x, target = _pair(x, target, "mse_loss")
    difference = x - target
    return reduced(difference * difference, reduction, "mse_loss")


def l1_loss(x: Any, target: Any, *, reduction: str = "mean") -> Tensor:
    """Return |x - target|, or the mean; the derivative at 0 is 0.

    `wg.nn.l1_loss([1.0, 2.0], [1.0, 4.0])` is `1.0`.
    """
    x, target = _pair(x, target, "l1_loss")
    return reduced(ew.abs_(x - target), reduction, "l1_loss")


def _huber_values(xp: Any, x: Any, delta: float) -> Any:
    size = xp.abs(x)
    near = xp.clip(size, None, delta)
    return near * (size - near * 0.5)


huber_terms = real_elementwise(
    "nn.huber",
    lambda xp, g, x, delta: g * xp.clip(x, -delta, delta),
    compute=_huber_values,
    params=("delta",),
    samples=[sample((2, 3), delta=1.0), sample((5,), delta=0.3), sample((0, 2), delta=1.0)],
)


@in_single
def huber_loss(x: Any, target: Any, *, delta: float = 1.0, reduction: str = "mean") -> Tensor:
    """Return d**2 / 2 for differences d up to `delta`, and lines of slope delta beyond.

    `wg.nn.huber_loss([1.0, 5.0], [0.0, 0.0])` is `2.5`.
    """
    delta = positive(delta, "huber_loss", "delta")
    x, target = _pair(x, target, "huber_loss")
    return reduced(huber_terms(x - target, delta=delta), reduction, "huber_loss")


@in_single
def smooth_l1_loss(x: Any, target: Any, *, beta: float = 1.0, reduction: str = "mean") -> Tensor:
    """Return huber_loss / beta with delta = beta: lines of slope 1. With beta 0, l1_loss.

    `wg.nn.smooth_l1_loss([1.0, 5.0], [0.0, 0.0], beta=2.0)` is `2.125`.
    """
    beta = number(beta, "smooth_l1_loss", "beta", 0)
    if not beta:
        return l1_loss(x, target, reduction=reduction)
    x, target = _pair(x, target, "smooth_l1_loss")
    return reduced(huber_terms(x - target, delta=beta) / beta, reduction, "smooth_l1_loss")


# -- probabilities ----------------------------------------------------------------------------


def bce_loss(x: Any, target: Any, *, weight: Any = None, reduction: str = "mean") -> Tensor:
    """Return the cross-entropy -t log(x) - (1 - t) log(1 - x) of probabilities x and t.

    It is infinite where x is 0 or 1 and t is not. `bce_with_logits` is more accurate.
    `wg.nn.bce_loss([0.5, 0.25], [1.0, 1.0])` is `1.039721`.
    """
    x, target = _pair(x, target, "bce_loss")
    losses = -(special.xlogy(target, x) + special.xlog1py(1 - target, -x))
    return reduced(_weighted(losses, weight, "bce_loss"), reduction, "bce_loss")


def _logistic_values(xp: Any, x: Any, target: Any) -> Any:
    """Return x * ((x > 0) - target) + log(1 + exp(-abs(x))), accurate for targets 0 and 1."""
    if xp is backends.NUMPY and x.shape == target.shape and fused.suits(x, target):
        return fused.logistic_loss(x, target)
    return x * (xp.astype(x > 0, x.dtype) - target) + xp.log1p(xp.exp(-xp.abs(x)))


def _logistic_rule(xp: Any, g: Any, x: Any, target: Any) -> Any:
    """Return g * ((1 - t) sigmoid(x) - t sigmoid(-x)), which keeps small differences."""
    if xp is backends.NUMPY and x.shape == target.shape == g.shape and fused.suits(x, target, g):
        return fused.logistic_loss_pull(x, target, g)
    return g * ((1 - target) * logistic(xp, x) - target * logistic(xp, -x))


_logistic_loss = real_elementwise(
    "nn.logistic_loss",
    _logistic_rule,
    lambda xp, g, x: -(g * x),
    args=("x", "target"),
    compute=_logistic_values,
    domain=[(-2.0, 2.0), (0.0, 1.0)],
    reference=lambda x, target: np.logaddexp(x, 0) - x * target,
    doc="Return the cross-entropy of sigmoid(x) and a target, for each element.",
)


@in_single
def bce_with_logits(
    x: Any, target: Any, *, weight: Any = None, pos_weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """Return the cross-entropy of the probabilities sigmoid(x) and the target.

    `weight` is a factor of each loss, `pos_weight` one of the part for the target; both
    broadcast. `wg.nn.bce_with_logits([0.0, 1.0], [1.0, 1.0])` is `0.503204`.
    """
    x, target = _pair(x, target, "bce_with_logits")
    if pos_weight is None:
        losses = _logistic_loss(x, target)
    else:
        hit = _weighted(target * softplus(-x), pos_weight, "bce_with_logits")
        losses = hit + (1 - target) * softplus(x)
    losses = _weighted(losses, weight, "bce_with_logits")
    return reduced(losses, reduction, "bce_with_logits")


def _weighted(losses: Any, weight: Any, name: str) -> Tensor:
    """Return losses times a weight that broadcasts to them, if there is one."""
    if weight is None:
        return losses
    weight = real(weight, name, "weight")
    if not broadcasts_to(weight.shape, losses.shape):
        raise misfit(name, f"one that broadcasts to the losses, {losses.shape}", weight=weight)
    return losses * weight


@in_single
def kl_div(x: Any, target: Any, *, log_target: bool = False, reduction: str = "mean") -> Tensor:
    """Return target * (log(target) - x) for logarithms x of probabilities.

    With `log_target` the target is given by its logarithm, too. The "mean" is over all elements.
    `wg.nn.kl_div(np.log([0.5, 0.5]), [1.0, 0.0], reduction='sum')` is `0.693147`.
    """
    x, target = _pair(x, target, "kl_div")
    if log_target:
        losses = ew.exp(target) * (target - x)
    else:
        losses = special.xlogy(target, target) - target * x
    return reduced(losses, reduction, "kl_div")


@in_single
def gaussian_nll_loss(
    x: Any,
    target: Any,
    variance: Any,
    *,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return (log(variance) + (x - target)**2 / variance) / 2.

    `variance` broadcasts, and is taken as `eps` where it is less. Without `full` the constant
    log(2 pi) / 2 is left out. `wg.nn.gaussian_nll_loss([0.0], [2.0], [4.0])` is `1.193147`.
    """
    eps = positive(eps, "gaussian_nll_loss", "eps")
    x, target = _pair(x, target, "gaussian_nll_loss")
    difference = x - target
    spread = ew.clip(real(variance, "gaussian_nll_loss", "variance"), eps, None)
    losses = (ew.log(spread) + difference * difference / spread) * 0.5
    if losses.shape != difference.shape:
        expected = f"one that broadcasts to {difference.shape}"
        raise misfit("gaussian_nll_loss", expected, variance=spread)
    losses = losses + math.log(2 * math.pi) / 2 if full else losses
    return reduced(losses, reduction, "gaussian_nll_loss")


@in_single
def poisson_nll_loss(
    x: Any, target: Any, *, log_input: bool = True, reduction: str = "mean"
) -> Tensor:
    """Return exp(x) - target * x, minus the log of a Poisson probability but for a constant.

    x is the logarithm of the rate, or without `log_input` the rate itself.
    `wg.nn.poisson_nll_loss([0.0], [2.0])` is `1.0`.
    """
    x, target = _pair(x, target, "poisson_nll_loss")
    losses = ew.exp(x) - target * x if log_input else x - special.xlogy(target, x)
    return reduced(losses, reduction, "poisson_nll_loss")


# -- similarities and margins -----------------------------------------------------------------


@in_single
def cosine_similarity(x1: Any, x2: Any, /, *, axis: int = -1, eps: float = 1e-8) -> Tensor:
    """Return x1 · x2 / (|x1| |x2|) of vectors along an axis; lengths are at least `eps`.

    `wg.nn.cosine_similarity([1.0, 1.0], [1.0, 0.0])` is `0.707107`.
    """
    both = shapes.broadcast_arrays(*(real(x, "cosine_similarity") for x in (x1, x2)))
    one, two = (normalize(x, axis=axis, eps=eps) for x in both)
    return reductions.sum(one * two, axis=axis)


def cosine_embedding_loss(
    x1: Any, x2: Any, target: Any, *, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return 1 - cosine for pairs with target 1, and relu(cosine - margin) for those with -1.

    `wg.nn.cosine_embedding_loss([[1.0, 1.0]], [[1.0, 0.0]], [1])` is `0.292893`.
    """
    cosine = cosine_similarity(x1, x2)
    same = _signs(target, cosine.shape, "cosine_embedding_loss")
    losses = ew.where(same, 1 - cosine, relu(cosine - float(margin)))
    return reduced(losses, reduction, "cosine_embedding_loss")


def _signs(target: Any, shape: tuple[int, ...], name: str) -> Tensor:
    """Return where a target of 1 and -1 is 1, as a tensor of booleans."""
    target = shapes.tensor(target, name)
    if not np.isin(all_values(target._raw), (-1, 1)).all():
        raise ValueError(f"{name}: target has other values than 1 and -1")
    if target.shape != shape:
        raise misfit(name, f"{shape}", target=target)
    zero = wrap(plain_namespace(target._raw).asarray(0, dtype=target.dtype))
    return ew.greater(target, zero)


def hinge_embedding_loss(
    x: Any, target: Any, *, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Return x where the target is 1, and relu(margin - x) where it is -1.

    `wg.nn.hinge_embedding_loss([0.5, 0.25], [1, -1])` is `0.625`.
    """
    x = real(x, "hinge_embedding_loss")
    same = _signs(target, x.shape, "hinge_embedding_loss")
    losses = ew.where(same, x, relu(float(margin) - x))
    return reduced(losses, reduction, "hinge_embedding_loss")


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, *, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Return relu(|anchor - positive| - |anchor - negative| + margin).

    Vectors are along the last axis. The derivative of a distance of 0 is 0.
    `wg.nn.triplet_margin_loss([0.0, 0.0], [3.0, 4.0], [2.0, 0.0])` is `4.0`.
    """
    name = "triplet_margin_loss"
    anchor, positive, negative = (
        real(x, name, what)
        for x, what in ((anchor, "anchor"), (positive, "positive"), (negative, "negative"))
    )
    same_shapes(name, anchor=anchor, positive=positive, negative=negative)
    if not anchor.ndim:
        raise misfit(name, "vectors along the last axis", anchor=anchor)
    last = (anchor.ndim - 1,)
    near, far = (length(anchor - x, axis=last, keepdims=False) for x in (positive, negative))
    return reduced(relu(near - far + float(margin)), reduction, name)


# -- terms of losses ------------------------------------------------------------------------------


def _binary_values(xp: Any, x: Any, target: Any) -> Any:
    log, log_rest = (xp.clip(v, -100.0, None) for v in (xp.log(x), xp.log1p(-x)))
    return (target - 1) * log_rest - target * log


def _binary_rule(xp: Any, g: Any, x: Any, target: Any) -> Any:
    inside = (1 - x) * x
    return g * (x - target) / xp.where(inside < 1e-12, xp.full_like(inside, 1e-12), inside)


binary_terms = real_elementwise(
    "nn.binary_cross_entropy_terms",
    _binary_rule,
    lambda xp, g, x: g * (xp.log1p(-x) - xp.log(x)),
    args=("x", "target"),
    compute=_binary_values,
    domain=(0.1, 0.9),
    reference=lambda x, target: -(target * np.log(x) + (1 - target) * np.log(1 - x)),
    doc="""Return the cross-entropy of chances and targets between 0 and 1.

    Logarithms are at least -100, and quotients in the derivative at most 1e12.
    """,
)


def _soft_margin_rule(xp: Any, g: Any, x: Any, target: Any) -> Any:
    return -(g * target * logistic(xp, -(x * target)))


soft_margin_terms = real_elementwise(
    "nn.soft_margin_terms",
    _soft_margin_rule,
    lambda xp, g, x, target: _soft_margin_rule(xp, g, target, x),
    args=("x", "target"),
    compute=lambda xp, x, target: xp.logaddexp(-(x * target), xp.zeros_like(x)),
    reference=lambda x, target: np.log1p(np.exp(-x * target)),
    doc="Return log(1 + exp(-target * x)).",
)


__all__ = [
    "bce_loss", "bce_with_logits", "cosine_embedding_loss", "cosine_similarity", "cross_entropy",
    "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "nll_loss", "poisson_nll_loss", "smooth_l1_loss", "triplet_margin_loss",
]  # fmt: skip
