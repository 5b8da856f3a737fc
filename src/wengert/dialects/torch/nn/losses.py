"""torch.nn.functional: losses and distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind, named, warn
from wengert.dialects.torch import conventions, dtypes
from wengert.dialects.torch.axes import kind_of, labelled, unable
from wengert.dialects.torch.kinds import Bool, Input, Promoted, axis_of, read_tensor
from wengert.dialects.torch.nn.arguments import (
    Alike,
    Constant,
    F,
    Floats,
    check_one_dtype,
    functional,
    misfit,
    refuse_gradient,
    wrong,
)
from wengert.dialects.torch.norms import vector_norm
from wengert.dialects.torch.table import offered_as, put
from wengert.dialects.torch.tensors import Native, astype, ns, promoted, values_of, wrap_native
from wengert.engine.record import apply
from wengert.ops import elementwise, special
from wengert.ops.batching import constant
from wengert.ops.families.narrow import in_single
from wengert.ops.neural import losses

# -- how losses are reduced ------------------------------------------------------------------------

_REDUCTIONS = ("none", "mean", "sum")


def reduction_of(size_average: Any, reduce: Any, reduction: Any) -> str:
    """Return how losses are reduced, which old programs say by two truth values."""
    if size_average is not None or reduce is not None:
        size_average, reduce = (True if flag is None else flag for flag in (size_average, reduce))
        reduction = ("mean" if size_average else "sum") if reduce else "none"
        warn(f"size_average and reduce are old; write reduction='{reduction}'")
    if reduction not in _REDUCTIONS:
        raise wrong(f"reduction is {reduction}; write 'mean', 'sum' or 'none'")
    return str(reduction)


def _read_reduction(values: Any, at: Any, x: Any) -> tuple[Any, ...]:
    if values in _USUAL:
        return tuple(values)
    old, reduction = values[:-1], values[-1]
    size_average, reduce = old or (None, None)
    return (*old, reduction_of(size_average, reduce, reduction))


_USUAL = tuple((*old, name) for old in ((None, None), ()) for name in ("mean", "sum", "none"))
#: How losses are reduced: `reduction`, with or without `size_average` and `reduce` before it.
Reduction = Annotated[Any, Kind(_read_reduction, together=True)]


def _reduced(each: Native, reduction: str, label: str = "") -> Native:
    """Return losses reduced.

    If PyTorch has no operation of its own for a loss, `label` is what it calls the losses of each
    example, and the result has its name for the reduction.
    """
    if reduction == "mean":
        if each._raw.dtype.kind in "biu":
            raise RuntimeError(f"losses of {each.dtype} have no mean; write x.float()")
        each = _mean(each)
    elif reduction == "sum":
        each = ns.sum(each)
    return labelled(each, _REDUCED.get(reduction, label)) if label else each


_REDUCED = {"mean": "MeanBackward0", "sum": "SumBackward0"}


def _mean(each: Native, axis: int | None = None) -> Native:
    """Return the mean; NaN of nothing, of which NumPy would warn."""
    empty = not (each.size if axis is None else each.shape[axis])
    return ns.sum(each, axis=axis) * math.nan if empty else ns.mean(each, axis=axis)


_FLAGS = [
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation="Reduction")
    for name, default in (("size_average", None), ("reduce", None), ("reduction", "mean"))
]


def loss(after: str = "", each: str = "") -> Callable[[Callable[..., Native]], Callable[..., Any]]:
    """Return a decorator for a function that returns the loss of each example.

    The function that it offers also takes `size_average`, `reduce` and `reduction`, behind the
    parameter `after` or behind all. `each` is what PyTorch calls the losses of each example, if it
    has no operation of its own.
    """

    def declare(function: Callable[..., Native]) -> Callable[..., Any]:
        takes = list(signature(function).parameters.values())
        behind = [p.name for p in takes].index(after) + 1 if after else len(takes)

        @named(function.__name__, function.__doc__)
        def body(*args: Any) -> Native:
            if behind == len(args) - 3:
                return _reduced(function(*args[:-3]), args[-1], each)
            return _reduced(function(*args[:behind], *args[behind + 3 :]), args[behind + 2], each)

        takes[behind:behind] = _FLAGS
        body.__signature__ = Signature(takes)
        body.__annotations__ = {p.name: p.annotation for p in takes}
        return functional(label="MeanBackward0" if each else "")(body)

    return declare


def _positive_part(x: Native) -> Native:
    """Return x where it is above 0; at 0 its derivative is 1, as that of clamp_min."""
    return apply(conventions.clamp_min.op, (x, wrap_native(np.zeros((), x.dtype))), {})


def _size(x: Native) -> Native:
    return apply(conventions.absolute.op, (x,), {})


# -- differences -----------------------------------------------------------------------------------


def _pair(kinds: str) -> Kind:
    """Return the kind of two tensors that get one dtype and shape."""

    def read(values: Any, at: tuple[Argument, Argument], _: Any) -> list[Native]:
        x, t = read_tensor(values[0], at[0]), read_tensor(values[1], at[1])
        if x.shape != t.shape:
            warn(
                f"the target has shape {list(t.shape)} and the input {list(x.shape)}, so both are "
                "broadcast, which is rarely meant; give them one shape"
            )
            x, t = ns.broadcast_arrays(x, t)
        if x._raw.dtype != t._raw.dtype:
            x, t = promoted(x, t)
        if kind_of(x) not in kinds:
            raise unable(at[0].function, x)
        return [x, t]

    return Kind(read, tensor=True, together=True)


Pair = Annotated[Native, _pair("fc")]
NumberPair = Annotated[Native, _pair("iufc")]


@loss()
def mse_loss(input: Pair, target: Pair) -> Native:
    """Return the squares of the differences."""
    return elementwise.square(input - target)


@loss(each="AbsBackward0")
def l1_loss(input: NumberPair, target: NumberPair) -> Native:
    """Return the sizes of the differences."""
    return _size(input - target)


@loss(after="target")
@in_single
def smooth_l1_loss(input: Pair, target: Pair, beta: float = 1.0) -> Native:
    """Return half the squares of differences over beta, and lines of slope 1 beyond beta."""
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: beta is {beta}; give 0 or more")
    if beta == 0:
        return _size(input - target)
    return losses.huber_terms(input - target, delta=float(beta)) / float(beta)


@functional()
def huber_loss(
    input: Pair, target: Pair, reduction: Reduction = "mean", delta: float = 1.0
) -> Native:
    """Return half the squares of differences up to delta, and lines of slope delta beyond."""
    if delta <= 0:
        raise RuntimeError(f"huber_loss: delta is {delta}; give a positive number")
    return _reduced(losses.huber_terms(input - target, delta=float(delta)), reduction)


# -- classes ---------------------------------------------------------------------------------------


def _class_axis(x: Native) -> int:
    return 0 if x.ndim == 1 else 1


def _labels(target: Native, x: Native, name: str) -> Any:
    """Return the class of each row as whole numbers that nobody else can write to."""
    if target._raw.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"{name}: the target has dtype {target.dtype}; write target.long()")
    axis = _class_axis(x)
    wanted = (*x.shape[:axis], *x.shape[axis + 1 :])
    if target.shape != wanted:
        if x.ndim > 1 and target.ndim and target.shape[0] != x.shape[0]:
            raise misfit(name, "as many examples", wrong, input=x, target=target)
        raise misfit(name, f"a target of {list(wanted)}", input=x, target=target)
    return values_of(target._raw)


@functional(label="NllLossBackward0")
def cross_entropy(
    input: Floats, target: Input, weight: Input | None = None, size_average: Reduction = None,
    ignore_index: int = -100, reduce: Reduction = None, reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Native:  # fmt: skip
    """Return minus the logarithm of the probability that softmax gives to each target."""
    axis = _class_axis(input)
    by_index = target.shape != input.shape or kind_of(target) == "i"
    if weight is not None:
        check_one_dtype("cross_entropy", input=input, weight=weight)
        if by_index:
            weight = refuse_gradient(weight, "nll_loss_forward(): weight")
    options: Any = {"weight": weight, "label_smoothing": float(label_smoothing)}
    options |= {"axis": axis, "reduction": reduction}
    if by_index:
        labels = _labels(target, input, "cross_entropy")
        return losses.cross_entropy(input, labels, ignore_index=ignore_index, **options)
    if kind_of(target) != "f":
        raise RuntimeError(
            f"a target of probabilities has dtype {target.dtype}; write target.float()"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index needs a target of classes; leave it out")
    return losses.cross_entropy(input, astype(target, input._raw.dtype), **options)


@functional()
def nll_loss(
    input: Floats, target: Input, weight: Constant | None = None, size_average: Reduction = None,
    ignore_index: int = -100, reduce: Reduction = None, reduction: Reduction = "mean",
) -> Native:  # fmt: skip
    """Return minus the logarithm of the probability at each target."""
    check_one_dtype("nll_loss", input=input, weight=weight)
    return losses.nll_loss(
        conventions.read(input),
        _labels(target, input, "nll_loss"),
        axis=_class_axis(input),
        weight=weight,
        ignore_index=ignore_index,
        reduction=reduction,
    )


@loss(each="DivBackward0")
def multilabel_soft_margin_loss(
    input: Floats, target: Input, weight: Input | None = None
) -> Native:
    """Return the mean over classes of the cross-entropy of sigmoid(input)."""
    x, t = promoted(input, target)
    each = -(t * special.log_expit(x) + (1 - t) * special.log_expit(-x))
    return _mean(each if weight is None else each * weight, axis=-1)


# -- probabilities ---------------------------------------------------------------------------------


def _check_sizes(x: Native, t: Native, name: str) -> None:
    if x.shape != t.shape:
        raise misfit(name, "one shape", wrong, input=x, target=t)


@loss()
def binary_cross_entropy(input: Alike, target: Alike, weight: Constant | None = None) -> Native:
    """Return the cross-entropy of two probabilities."""
    _check_sizes(input, target, "binary_cross_entropy")
    if kind_of(input) != "f":
        raise unable("binary_cross_entropy", input)
    raw = input._raw
    if type(raw) is np.ndarray and not ((raw >= 0) & (raw <= 1)).all():
        raise RuntimeError(
            "the input has numbers below 0 or above 1; write binary_cross_entropy_with_logits "
            "for numbers that are no probabilities"
        )
    each = losses.binary_terms(input, target)
    if weight is None:
        return each
    if np.broadcast_shapes(weight.shape, each.shape) != each.shape:
        raise misfit("binary_cross_entropy", "weights that fit", input=input, weight=weight)
    return each * weight


@loss(after="weight")
@in_single
def binary_cross_entropy_with_logits(
    input: Floats, target: Input, weight: Constant | None = None,
    pos_weight: Constant | None = None,
) -> Native:  # fmt: skip
    """Return the cross-entropy of the probabilities sigmoid(input) and the target."""
    _check_sizes(input, target, "binary_cross_entropy_with_logits")
    if kind_of(target) != "f":
        raise RuntimeError(f"the target has dtype {target.dtype}; write target.float()")
    log = special.log_expit(input)
    if pos_weight is not None:
        log = log * ((pos_weight - 1) * target + 1)
    kind = dtypes.joined(target._raw.dtype, input._raw.dtype)
    each = (1 - astype(target, kind)) * input - log
    return each if weight is None else each * weight


@functional(label="MeanBackward0")
def kl_div(
    input: Input, target: Input, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", log_target: bool = False,
) -> Native:  # fmt: skip
    """Return target * (log(target) - input) for logarithms of probabilities."""
    new = size_average is None and reduce is None
    if new and reduction == "mean":
        warn(
            "kl_div: 'mean' divides by the number of elements; write reduction='batchmean' for "
            "the divergence itself, averaged over the batch"
        )
    batches = new and reduction == "batchmean"
    how = "sum" if batches else reduction_of(size_average, reduce, reduction)
    if "c" in (kind_of(input), kind_of(target)):
        raise unable("kl_div: Complex inputs", input)
    x, t = promoted(input, target, floating=True)
    each = ns.exp(t) * (t - x) if log_target else apply(conventions.xlogy.op, (t, t), {}) - t * x
    total = _reduced(each, how, "SubBackward0")
    return total / x.shape[0] if batches and x.ndim else total


@functional(label="MeanBackward0")
def poisson_nll_loss(
    input: Input, target: Input, log_input: bool = True, full: bool = False,
    size_average: Reduction = None, eps: float = 1e-8, reduce: Reduction = None,
    reduction: Reduction = "mean",
) -> Native:  # fmt: skip
    """Return minus the logarithm of the Poisson probability of targets."""
    x, t = promoted(input, target, floating=True)
    each = ns.exp(x) - t * x if log_input else x - t * ns.log(x + eps)
    if full:
        some = ns.greater(t, 1.0)
        inside = ns.where(some, t, 1.0)
        term = t * ns.log(inside) - t + 0.5 * ns.log(2 * math.pi * inside)
        each = each + ns.where(some, term, 0.0)
    return _reduced(each, reduction, "SubBackward0")


@functional(label="MeanBackward0")
def gaussian_nll_loss(
    input: Input, target: Input, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Native:  # fmt: skip
    """Return minus the logarithm of the normal density of targets, with means `input`."""
    if isinstance(var, float):
        spread = wrap_native(np.full(input.shape, var, input._raw.dtype))
    else:
        spread = read_tensor(var, Argument("gaussian_nll_loss", "var"))
    if np.any(spread._raw < 0):
        raise wrong("gaussian_nll_loss: a variance is negative")
    sizes = input.shape
    if spread.shape != sizes:
        if sizes[:-1] == spread.shape:
            spread = ns.expand_dims(spread, axis=-1)
        elif (
            input.ndim != spread.ndim
            or sum(m for n, m in zip(sizes, spread.shape, strict=True) if n != m) != 1
        ):
            raise wrong("gaussian_nll_loss: var does not fit the input's shape")
    spread = spread + constant(ns.where(ns.less(spread, eps), eps - spread, 0.0))
    away = input - target
    each = 0.5 * (ns.log(spread) + away * away / spread)
    if full:
        each = each + 0.5 * math.log(2 * math.pi)
    return _reduced(each, reduction, "MulBackward0")


@loss()
def soft_margin_loss(input: Floats, target: Input) -> Native:
    """Return log(1 + exp(-target * input)) for targets 1 and -1."""
    return losses.soft_margin_terms(*promoted(input, target))


# -- margins ---------------------------------------------------------------------------------------


def _check_axes(**tensors: Any) -> None:
    if len({x.ndim for x in tensors.values()}) > 1:
        raise misfit("margin", "as many axes to each", **tensors)


@loss(each="AddBackward0")
def hinge_embedding_loss(input: Input, target: Input, margin: float = 1.0) -> Native:
    """Return x where the target is 1, and what is missing to a margin where it is -1."""
    t = constant(target)
    unlike = ns.where(ns.not_equal(t, 1), _positive_part(margin - input), 0.0)
    return unlike + ns.where(ns.not_equal(t, -1), input, 0.0)


@loss(each="ClampMinBackward0")
def margin_ranking_loss(
    input1: Promoted, input2: Promoted, target: Promoted, margin: float = 0
) -> Native:
    """Return how far input1 is from exceeding (or, for -1, falling below) input2 by a margin."""
    _check_axes(input1=input1, input2=input2, target=target)
    return _positive_part(-target * (input1 - input2) + margin)


def _distance(x1: Native, x2: Native, p: float, eps: float, keepdim: bool = False) -> Native:
    x1, x2 = promoted(x1, x2)
    last = max(x1.ndim, x2.ndim) - 1
    return vector_norm(x1 - x2 + eps, float(p), (last,) if last >= 0 else (), keepdim)


@functional("pairwise_distance", label="LinalgVectorNormBackward0")
def pairwise_distance(
    x1: Input, x2: Input, p: float = 2, eps: float = 1e-6, keepdim: Bool = False
) -> Native:
    """Return the p-norm of x1 - x2 + eps along the last axis."""
    return _distance(x1, x2, p, eps, keepdim)


put((F + "pdist",), offered_as("pdist"))


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise wrong(f"margin is {margin}; give a positive number")


@loss(each="ClampMinBackward0")
def triplet_margin_loss(
    anchor: Input, positive: Input, negative: Input, margin: float = 1.0, p: float = 2,
    eps: float = 1e-6, swap: bool = False,
) -> Native:  # fmt: skip
    """Return how far the positive is from being nearer than the negative, by a margin."""
    _check_margin(margin)
    _check_axes(anchor=anchor, positive=positive, negative=negative)
    near, far = _distance(anchor, positive, p, eps), _distance(anchor, negative, p, eps)
    if swap:
        far = apply(conventions.minimum.op, (far, _distance(positive, negative, p, eps)), {})
    return _positive_part(margin + near - far)


@functional("cosine_similarity", label="SumBackward1")
def cosine_similarity(x1: Promoted, x2: Promoted, dim: int = 1, eps: float = 1e-8) -> Native:
    """Return the cosine of the angle between vectors along an axis; lengths are at least eps."""
    if kind_of(x1) not in "fc":
        raise RuntimeError(f"the inputs have dtype {x1.dtype}, without fractions; write x.float()")
    both = ns.broadcast_arrays(x1, x2)
    axes = (axis_of(dim, both[0]),) if both[0].ndim else ()
    parts = []
    for x in both:
        length = vector_norm(x, 2.0, axes, True)
        more = constant(ns.where(ns.less(length, eps), eps - length, 0.0))
        parts.append(x / (length + more))
    return ns.sum(parts[0] * parts[1], axis=axes)


@loss(each="AddBackward0")
def cosine_embedding_loss(input1: Input, input2: Input, target: Input, margin: float = 0) -> Native:
    """Return 1 - cosine for pairs with target 1, and its excess over a margin for those with -1."""
    t = constant(target)
    if t.ndim > 1 or not input1.ndim == input2.ndim == t.ndim + 1:
        given = {"input1": input1, "input2": input2, "target": t}
        raise misfit("cosine_embedding_loss", "a number for each pair of rows", **given)
    x1, x2 = promoted(input1, input2, floating=True)
    squares = [ns.sum(x * x, axis=-1) + 1e-12 for x in (x1, x2)]
    cosine = ns.sum(x1 * x2, axis=-1) / ns.sqrt(squares[0] * squares[1])
    together = ns.where(ns.equal(t, 1), 1 - cosine, 0.0)
    return together + ns.where(ns.equal(t, -1), _positive_part(cosine - margin), 0.0)
