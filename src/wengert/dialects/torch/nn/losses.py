"""torch.nn.functional: losses and distances."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.axes import axis_of, kind_of, labelled, unable
from wengert.dialects.torch.nn.arguments import (
    F,
    check_one_dtype,
    functional,
    optional,
    real,
    refuse_gradient,
    wrong,
)
from wengert.dialects.torch.norms import vector_norm
from wengert.dialects.torch.table import NAMES, offered_as, plain, put
from wengert.dialects.torch.tensors import (
    astype,
    convert,
    ns,
    only_tensor,
    promoted,
    values_of,
)
from wengert.engine.errors import caller_depth
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import elementwise, special
from wengert.ops.batching import constant
from wengert.ops.neural import losses

# -- how losses are reduced ------------------------------------------------------------------------

_REDUCTIONS = ("none", "mean", "sum")


def _way(size_average: Any, reduce: Any, reduction: Any) -> str:
    """Return how losses are reduced, which old programs say by two truth values."""
    if size_average is not None or reduce is not None:
        size_average = True if size_average is None else size_average
        reduce = True if reduce is None else reduce
        reduction = ("mean" if size_average else "sum") if reduce else "none"
        warnings.warn(
            f"size_average and reduce are old; write reduction='{reduction}'",
            stacklevel=caller_depth(),
        )
    if reduction not in _REDUCTIONS:
        raise wrong(f"reduction is {reduction}; write 'mean', 'sum' or 'none'")
    return str(reduction)


def _reduced(each: Native, reduction: str) -> Native:
    if reduction == "none":
        return each
    return _mean(each) if reduction == "mean" else ns.sum(each)


def _mean(each: Native, axis: int | None = None) -> Native:
    """Return the mean; NaN of nothing, of which NumPy would warn."""
    empty = not (each.size if axis is None else each.shape[axis])
    return ns.sum(each, axis=axis) * math.nan if empty else ns.mean(each, axis=axis)


def _composed(each: Native, reduction: str, label: str) -> Native:
    """Return losses reduced where PyTorch has no operation of its own, with its name for the last.

    `label` is what it calls the losses themselves.
    """
    names = {"mean": "MeanBackward0", "sum": "SumBackward0"}
    return labelled(_reduced(each, reduction), names.get(reduction, label))


def _positive_part(x: Native) -> Native:
    """Return x where it is above 0; at 0 its derivative is 1, as that of clamp_min."""
    return apply(conventions.clamp_min.op, (x, wrap_native(np.zeros((), x.dtype))), {})


def _ramp(x: Native) -> Native:
    """Return x where it is above 0; at 0 its derivative is 0."""
    return apply(conventions.relu.op, (x,), {})


def _size(x: Native) -> Native:
    return apply(conventions.absolute.op, (x,), {})


# -- differences -----------------------------------------------------------------------------------


def _pair(input: Any, target: Any, name: str, kinds: str = "fc") -> tuple[Native, Native]:
    """Return two tensors of one dtype and shape; PyTorch warns if their shapes were not equal."""
    x, t = only_tensor(input, name), only_tensor(target, name, "target")
    if x.shape != t.shape:
        warnings.warn(
            f"the target has shape {list(t.shape)} and the input {list(x.shape)}, so both are "
            "broadcast, which is rarely meant; give them one shape",
            stacklevel=4,
        )
        x, t = ns.broadcast_arrays(x, t)
    if x._raw.dtype != t._raw.dtype:
        x, t = promoted(x, t)
    if kind_of(x) not in kinds:
        raise unable(name, x)
    return x, t


def _weighted(each: Native, weight: Any, reduction: str, name: str) -> Native:
    """Return losses reduced; with weights, the mean is theirs."""
    if weight is None:
        return _reduced(each, reduction)
    w = only_tensor(weight, name, "weight")
    if w.shape != each.shape:
        raise wrong(f"weights of shape {w.shape} for losses of {each.shape}; give as many")
    total = each * w
    if reduction != "mean":
        return _reduced(total, reduction)
    return ns.sum(total) / ns.sum(w)


@functional("mse_loss")
def mse_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:  # fmt: skip
    """Return the squares of the differences."""
    x, t = _pair(input, target, "mse_loss")
    away = x - t
    squares = elementwise.square(away)
    return _weighted(squares, weight, _way(size_average, reduce, reduction), "mse_loss")


@functional("l1_loss", label="MeanBackward0")
def l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:  # fmt: skip
    """Return the sizes of the differences."""
    x, t = _pair(input, target, "l1_loss", "iufc")
    way = _way(size_average, reduce, reduction)
    if way == "mean" and kind_of(x) not in "fc":
        raise RuntimeError(f"losses of {x.dtype} have no mean; write x.float()")
    each = _size(x - t)
    if weight is None:
        return _composed(each, way, "AbsBackward0")
    return _weighted(each, weight, way, "l1_loss")


@functional("smooth_l1_loss")
def smooth_l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Any:  # fmt: skip
    """Return half the squares of differences over beta, and lines of slope 1 beyond beta."""
    x, t = _pair(input, target, "smooth_l1_loss")
    way = _way(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: beta is {beta}; give 0 or more")
    if beta == 0:
        return labelled(_reduced(_size(x - t), way), "MeanBackward0")
    return _reduced(losses.huber_terms(x - t, delta=float(beta)) / float(beta), way)


@functional("huber_loss")
def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Return half the squares of differences up to delta, and lines of slope delta beyond."""
    x, t = _pair(input, target, "huber_loss")
    if delta <= 0:
        raise RuntimeError(f"huber_loss: delta is {delta}; give a positive number")
    each = losses.huber_terms(x - t, delta=float(delta))
    way = _way(None, None, reduction)
    if weight is not None:  # the mean is over all elements here
        each, weight = _weighted(each, weight, "none", "huber_loss"), None
    return _reduced(each, way)


# -- classes ---------------------------------------------------------------------------------------


def _class_axis(x: Native) -> int:
    return 0 if x.ndim == 1 else 1


def _class_weights(weight: Any, x: Native, name: str, is_constant: bool = True) -> Any:
    """Return the factor of each class, which is constant unless targets are probabilities."""
    w = optional(weight, name, "weight")
    if w is None:
        return None
    check_one_dtype(name, input=x, weight=w)
    if not is_constant:
        return w
    refuse_gradient(weight, "nll_loss_forward", "weight")
    return constant(w)


def _labels(target: Any, x: Native, name: str) -> Any:
    """Return the class of each row as whole numbers that nobody else can write to."""
    t = only_tensor(target, name, "target")
    if t._raw.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"{name}: the target has dtype {t._raw.dtype}; write target.long()")
    axis = _class_axis(x)
    wanted = (*x.shape[:axis], *x.shape[axis + 1 :])
    if t.shape != wanted:
        if x.ndim > 1 and t.ndim and t.shape[0] != x.shape[0]:
            raise wrong(
                f"{x.shape[0]} examples in the input and {t.shape[0]} in the target; give as many"
            )
        raise RuntimeError(
            f"{name}: target of shape {list(t.shape)} for input of shape {list(x.shape)}; expected "
            f"{list(wanted)}"
        )
    return values_of(target)


@functional("cross_entropy", label="NllLossBackward0")
def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Return minus the logarithm of the probability that softmax gives to each target."""
    x = only_tensor(input, "cross_entropy")
    t = only_tensor(target, "cross_entropy", "target")
    way = _way(size_average, reduce, reduction)
    if not x.ndim:
        raise RuntimeError("cross_entropy: input has no axes; expected one of classes")
    if kind_of(x) != "f":
        raise unable("log_softmax_lastdim_kernel_impl", x)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing is {label_smoothing}; give a number from 0 to 1")
    by_index = t.shape != x.shape or kind_of(t) == "i"
    w = _class_weights(weight, x, "cross_entropy", by_index)
    if w is not None and w.shape != (x.shape[_class_axis(x)],):
        raise RuntimeError(
            f"cross_entropy: the weight has shape {list(w.shape)}; give one number for each of "
            f"the {x.shape[_class_axis(x)]} classes"
        )
    axis = _class_axis(x)
    options: Any = {"weight": w, "label_smoothing": float(label_smoothing), "reduction": way}
    if not by_index:
        if kind_of(t) != "f":
            raise RuntimeError(
                f"a target of probabilities has dtype {t.dtype}; write target.float()"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index needs a target of classes; leave it out")
        return losses.cross_entropy(x, astype(t, x._raw.dtype), axis=axis, **options)
    labels = _labels(target, x, "cross_entropy")
    return losses.cross_entropy(x, labels, axis=axis, ignore_index=ignore_index, **options)


@functional("nll_loss")
def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return minus the logarithm of the probability at each target."""
    x = real(input, "nll_loss_out_frame")
    way = _way(size_average, reduce, reduction)
    if not x.ndim:
        raise RuntimeError("nll_loss: input has no axes; expected one of classes")
    return losses.nll_loss(
        conventions.read(x),
        _labels(target, x, "nll_loss"),
        axis=_class_axis(x),
        weight=_class_weights(weight, x, "nll_loss"),
        ignore_index=ignore_index,
        reduction=way,
    )


@functional("linear_cross_entropy", label="NllLossBackward0")
def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:  # fmt: skip
    """Return the cross-entropy of an affine map's results."""
    logits = NAMES[F + "linear"](input, linear_weight, linear_bias)
    return cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )


def _multi_margin_rows(x: Native, target: Any) -> tuple[Native, np.ndarray]:
    rows = x if x.ndim == 2 else ns.reshape(x, (1, -1) if x.ndim else (1, 1))
    labels = values_of(target)
    if x.ndim > 2 or labels.size != rows.shape[0] or labels.ndim > 1:
        raise RuntimeError(
            f"a target of shape {list(labels.shape)} does not fit an input of shape {list(x.shape)}"
        )
    if labels.dtype != np.int64:
        raise RuntimeError(f"the target has dtype {labels.dtype}; write target.long()")
    labels = labels.reshape(-1)
    if labels.size and (labels.min() < 0 or labels.max() >= rows.shape[1]):
        raise RuntimeError(f"the target names classes {labels}, and there are {rows.shape[1]}")
    return rows, labels


@functional("multi_margin_loss")
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return how far other classes come within a margin of the target."""
    x, way = real(input, "multi_margin_loss"), _way(size_average, reduce, reduction)
    if p not in (1, 2):
        raise wrong("multi_margin_loss: unknown p; give 1 or 2")
    rows, labels = _multi_margin_rows(x, target)
    others = labels[:, None] != np.arange(rows.shape[1])
    mine = ns.take_along_axis(rows, wrap_native(labels[:, None]), axis=1)
    each = ns.keep(_ramp(rows - mine + float(margin)), wrap_native(others))
    each = each * each if p == 2 else each
    if weight is not None:
        refuse_gradient(weight, "multi_margin_loss", "weight")
        w = only_tensor(weight, "multi_margin_loss", "weight")
        if w.ndim != 1:
            raise wrong("multi_margin_loss: the weight is no vector; give one")
        each = each * wrap_native(np.asarray(w._raw)[labels][:, None])
    each = ns.sum(each, axis=1) / rows.shape[1]
    return _reduced(each if x.ndim == 2 else ns.reshape(each, ()), way)


@functional("multilabel_margin_loss")
def multilabel_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Return how far other classes come within 1 of each target; targets end at the first -1."""
    x, way = real(input, "multilabel_margin_loss"), _way(size_average, reduce, reduction)
    labels = values_of(target)
    if x.ndim > 2 or labels.shape != x.shape:
        raise RuntimeError(
            f"a target of shape {list(labels.shape)} does not fit an input of shape {list(x.shape)}"
        )
    count = x.shape[-1] if x.ndim else 1
    rows, labels = ns.reshape(x, (-1, count)), labels.reshape(-1, count)
    if labels.dtype != np.int64:
        raise RuntimeError(f"the target has dtype {labels.dtype}; write target.long()")
    if labels.size and (labels.min() < -1 or labels.max() >= count):
        raise RuntimeError(f"the target names classes {labels}, and there are {count}")
    meant = np.cumprod(labels >= 0, axis=1).astype(bool)
    places = np.where(meant, labels, 0)
    hit = np.zeros((*labels.shape[:1], count), bool)
    row, column = np.nonzero(meant)
    hit[row, labels[row, column]] = True
    mine = ns.take_along_axis(rows, wrap_native(places), axis=1)
    gaps = _ramp(1.0 - ns.expand_dims(mine, axis=2) + ns.expand_dims(rows, axis=1))
    counted = wrap_native(meant[:, :, None] & ~hit[:, None, :])
    each = ns.sum(ns.keep(gaps, counted), axis=(1, 2)) / count
    return _reduced(each if x.ndim == 2 else ns.reshape(each, ()), way)


@functional("multilabel_soft_margin_loss", label="MeanBackward0")
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the mean over classes of the cross-entropy of sigmoid(input)."""
    x, t = real(input, "log_sigmoid"), only_tensor(target, "multilabel_soft_margin_loss", "target")
    way = _way(size_average, reduce, reduction)
    x, t = promoted(x, t)
    each = -(t * special.log_expit(x) + (1 - t) * special.log_expit(-x))
    if weight is not None:
        each = each * only_tensor(weight, "multilabel_soft_margin_loss", "weight")
    return _composed(_mean(each, axis=-1), way, "DivBackward0")


# -- probabilities ---------------------------------------------------------------------------------


def _same_sizes(x: Native, t: Native) -> None:
    if x.shape != t.shape:
        raise wrong(
            f"target of shape {list(t.shape)} for input of {list(x.shape)}; give them one shape"
        )


def _check_fits(weight: Native, each: Native, name: str) -> Native:
    if np.broadcast_shapes(weight.shape, each.shape) != each.shape:
        raise RuntimeError(f"{name}: weight of {list(weight.shape)} for {list(each.shape)}")
    return weight


@functional("binary_cross_entropy")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return the cross-entropy of two probabilities."""
    x, t = only_tensor(input, "binary_cross_entropy"), convert(target)
    way = _way(size_average, reduce, reduction)
    _same_sizes(x, t)
    check_one_dtype("binary_cross_entropy", input=x, target=t)
    x = real(x, "binary_cross_entropy")
    raw = x._raw
    if type(raw) is np.ndarray and not ((raw >= 0) & (raw <= 1)).all():
        raise RuntimeError(
            "the input has numbers below 0 or above 1; write binary_cross_entropy_with_logits "
            "for numbers that are no probabilities"
        )
    each = losses.binary_terms(x, t)
    if weight is not None:
        refuse_gradient(weight, "binary_cross_entropy", "weight")
        w = only_tensor(weight, "binary_cross_entropy", "weight")
        each = each * _check_fits(w, each, "binary_cross_entropy")
    return _reduced(each, way)


@functional("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:  # fmt: skip
    """Return the cross-entropy of the probabilities sigmoid(input) and the target."""
    name = "binary_cross_entropy_with_logits"
    x, t = only_tensor(input, name), only_tensor(target, name, "target")
    way = _way(size_average, reduce, reduction)
    _same_sizes(x, t)
    x = real(x, name)
    if kind_of(t) != "f":
        raise RuntimeError(
            f"{name}: target of {t.dtype}; expected a floating point tensor: write target.float()"
        )
    log = special.log_expit(x)
    refuse_gradient(pos_weight, name, "pos_weight")
    refuse_gradient(weight, name, "weight")
    if pos_weight is not None:
        log = log * ((only_tensor(pos_weight, name, "pos_weight") - 1) * t + 1)
    each = (1 - astype(t, dtypes.joined(t._raw.dtype, x._raw.dtype))) * x - log
    if weight is not None:
        each = each * only_tensor(weight, name, "weight")
    return _reduced(each, way)


def _divergence(x: Native, t: Native, log_target: bool) -> Native:
    if log_target:
        return ns.exp(t) * (t - x)
    return apply(conventions.xlogy.op, (t, t), {}) - t * x


@functional("kl_div", label="MeanBackward0")
def kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    """Return target * (log(target) - input) for logarithms of probabilities."""
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "kl_div: 'mean' divides by the number of elements; write reduction='batchmean' for "
            "the divergence itself, averaged over the batch",
            stacklevel=3,
        )
    x, t = only_tensor(input, "kl_div"), only_tensor(target, "kl_div", "target")
    batches = reduction == "batchmean" and size_average is None and reduce is None
    way = "sum" if batches else _way(size_average, reduce, reduction)
    if "c" in (kind_of(x), kind_of(t)):
        raise unable("kl_div: Complex inputs", x)
    x, t = promoted(x, t, floating=True)
    total = _composed(_divergence(x, t, log_target), way, "SubBackward0")
    return total / x.shape[0] if batches and x.ndim else total


@functional("poisson_nll_loss", label="MeanBackward0")
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return minus the logarithm of the Poisson probability of targets."""
    x, t = only_tensor(input, "poisson_nll_loss"), only_tensor(target, "poisson_nll_loss", "target")
    way = _way(size_average, reduce, reduction)
    x, t = promoted(x, t, floating=True)
    each = ns.exp(x) - t * x if log_input else x - t * ns.log(x + eps)
    if full:
        some = ns.greater(t, 1.0)
        inside = ns.where(some, t, 1.0)
        term = t * ns.log(inside) - t + 0.5 * ns.log(2 * math.pi * inside)
        each = each + ns.where(some, term, 0.0)
    return _composed(each, way, "SubBackward0")


@functional("gaussian_nll_loss", label="MeanBackward0")
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return minus the logarithm of the normal density of targets, with means `input`."""
    name = "gaussian_nll_loss"
    x, t = only_tensor(input, name), only_tensor(target, name, "target")
    if isinstance(var, float):
        spread = wrap_native(np.full(x.shape, var, x._raw.dtype))
    else:
        spread = only_tensor(var, name, "var")
    if np.any(spread._raw < 0):
        raise wrong("gaussian_nll_loss: a variance is negative")
    if spread.shape != x.shape:
        if x.shape[:-1] == spread.shape:
            spread = ns.expand_dims(spread, axis=-1)
        elif (
            x.ndim != spread.ndim
            or sum(m for n, m in zip(x.shape, spread.shape, strict=True) if n != m) != 1
        ):
            raise wrong("gaussian_nll_loss: var does not fit the input's shape")
    way = _way(None, None, reduction)
    spread = spread + constant(ns.where(ns.less(spread, eps), eps - spread, 0.0))
    away = x - t
    each = 0.5 * (ns.log(spread) + away * away / spread)
    if full:
        each = each + 0.5 * math.log(2 * math.pi)
    return _composed(each, way, "MulBackward0")


@functional("soft_margin_loss")
def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Return log(1 + exp(-target * input)) for targets 1 and -1."""
    x, t = real(input, "soft_margin_loss"), only_tensor(target, "soft_margin_loss", "target")
    x, t = promoted(x, t)
    return _reduced(losses.soft_margin_terms(x, t), _way(size_average, reduce, reduction))


# -- margins ---------------------------------------------------------------------------------------


@functional("hinge_embedding_loss", label="MeanBackward0")
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return x where the target is 1, and what is missing to a margin where it is -1."""
    x = only_tensor(input, "hinge_embedding_loss")
    t = constant(only_tensor(target, "hinge_embedding_loss", "target"))
    apart = ns.where(ns.not_equal(t, 1), _positive_part(margin - x), 0.0)
    together = ns.where(ns.not_equal(t, -1), x, 0.0)
    return _composed(apart + together, _way(size_average, reduce, reduction), "AddBackward0")


@functional("margin_ranking_loss", label="MeanBackward0")
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return how far input1 is from exceeding (or, for -1, falling below) input2 by a margin."""
    name = "margin_ranking_loss"
    x1, x2, t = (
        only_tensor(v, name, what)
        for v, what in ((input1, "input1"), (input2, "input2"), (target, "target"))
    )
    if not x1.ndim == x2.ndim == t.ndim:
        raise RuntimeError(
            f"margin_ranking_loss: shapes {list(x1.shape)}, {list(x2.shape)} and {list(t.shape)} "
            "have different numbers of axes; give as many to each"
        )
    x1, x2, t = promoted(x1, x2, t)
    each = _positive_part(-t * (x1 - x2) + margin)
    return _composed(each, _way(size_average, reduce, reduction), "ClampMinBackward0")


def _distance(x1: Native, x2: Native, p: float, eps: float, keepdim: bool = False) -> Native:
    x1, x2 = promoted(x1, x2)
    away = x1 - x2 + eps
    last = max(x1.ndim, x2.ndim) - 1
    return vector_norm(away, float(p), (last,) if last >= 0 else (), keepdim)


@functional("pairwise_distance", "pairwise_distance", label="LinalgVectorNormBackward0")
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """Return the p-norm of x1 - x2 + eps along the last axis."""
    one = only_tensor(x1, "pairwise_distance", "x1")
    return _distance(one, only_tensor(x2, "pairwise_distance", "x2"), p, eps, keepdim)


put((F + "pdist",), offered_as("pdist"))


@functional("triplet_margin_loss", label="MeanBackward0")
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2,
    eps: float = 1e-6, swap: bool = False, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return how far the positive is from being nearer than the negative, by a margin."""
    name = "triplet_margin_loss"
    if margin <= 0:
        raise wrong(f"margin is {margin}; give a positive number")
    a, near, far = (
        only_tensor(v, name, what)
        for v, what in ((anchor, "anchor"), (positive, "positive"), (negative, "negative"))
    )
    if not a.ndim == near.ndim == far.ndim:
        raise RuntimeError(
            f"anchor, positive and negative have {a.ndim}, {near.ndim} and {far.ndim} axes; give "
            "as many to each"
        )
    to_near, to_far = _distance(a, near, p, eps), _distance(a, far, p, eps)
    if swap:
        between = _distance(near, far, p, eps)
        to_far = apply(conventions.minimum.op, (to_far, between), {})
    each = _positive_part(margin + to_near - to_far)
    return _composed(each, _way(size_average, reduce, reduction), "ClampMinBackward0")


@plain(F + "triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Return triplet_margin_loss with a distance of one's own."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is {reduction}; write 'mean', 'sum' or 'none'")
    if margin <= 0:
        raise ValueError(f"margin is {margin}; give a positive number")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"anchor, positive and negative have {anchor.ndim}, {positive.ndim} and "
            f"{negative.ndim} axes; give as many to each"
        )
    away = pairwise_distance if distance_function is None else distance_function
    near, far = away(anchor, positive), away(anchor, negative)
    if swap:
        far = NAMES["minimum"](far, away(positive, negative))
    each = NAMES["clamp_min"](margin + near - far, 0)
    return each if reduction == "none" else NAMES[reduction](each)


@functional("cosine_similarity", "cosine_similarity", label="SumBackward1")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """Return the cosine of the angle between vectors along an axis; lengths are at least eps."""
    one, two = promoted(
        only_tensor(x1, "cosine_similarity", "x1"), only_tensor(x2, "cosine_similarity", "x2")
    )
    if kind_of(one) not in "fc":
        raise RuntimeError(f"the inputs have dtype {one.dtype}, without fractions; write x.float()")
    one, two = ns.broadcast_arrays(one, two)
    axis = axis_of(dim, one.ndim)
    axes = (axis,) if one.ndim else ()
    parts = []
    for x in (one, two):
        length = vector_norm(x, 2.0, axes, True)
        more = constant(ns.where(ns.less(length, eps), eps - length, 0.0))
        parts.append(x / (length + more))
    return ns.sum(parts[0] * parts[1], axis=axes)


@functional("cosine_embedding_loss", label="MeanBackward0")
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return 1 - cosine for pairs with target 1, and its excess over a margin for those with -1."""
    name = "cosine_embedding_loss"
    x1, x2 = only_tensor(input1, name, "input1"), only_tensor(input2, name, "input2")
    t = constant(only_tensor(target, name, "target"))
    if t.ndim not in (0, 1):
        raise RuntimeError("the target has more than one axis; give one number for each pair")
    if x1.ndim != t.ndim + 1 or x2.ndim != t.ndim + 1:
        raise RuntimeError(
            f"a target of {t.ndim} axes for inputs of shapes {list(x1.shape)} and "
            f"{list(x2.shape)}; give inputs of {t.ndim + 1} axes"
        )
    x1, x2 = promoted(x1, x2, floating=True)
    along = ns.sum(x1 * x2, axis=-1)
    squares = [ns.sum(x * x, axis=-1) + 1e-12 for x in (x1, x2)]
    cosine = along / ns.sqrt(squares[0] * squares[1])
    together = ns.where(ns.equal(t, 1), 1 - cosine, 0.0)
    apart = ns.where(ns.equal(t, -1), _positive_part(cosine - margin), 0.0)
    return _composed(together + apart, _way(size_average, reduce, reduction), "AddBackward0")


# -- the same in torch itself, where a number says how losses are reduced --------------------------


def _numbered(name: str, *order: str) -> None:
    """Offer a loss as torch.name, whose arguments have an order of their own."""
    function = NAMES[F + name]

    def call(*args: Any, **options: Any) -> Any:
        given = dict(zip(order, args, strict=False)) | options
        given["reduction"] = _REDUCTIONS[given.get("reduction", 0)]
        return function(**given)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    put((name,), call)


_numbered("kl_div", "input", "target", "reduction")
_numbered("hinge_embedding_loss", "input", "target", "margin", "reduction")
_numbered("margin_ranking_loss", "input1", "input2", "target", "margin", "reduction")
_numbered("cosine_embedding_loss", "input1", "input2", "target", "margin", "reduction")
_numbered("poisson_nll_loss", "input", "target", "log_input", "full", "eps", "reduction")
_numbered(
    "triplet_margin_loss", "anchor", "positive", "negative", "margin", "p", "eps", "swap",
    "reduction",
)  # fmt: skip
_numbered(
    "binary_cross_entropy_with_logits", "input", "target", "weight", "pos_weight", "reduction"
)
