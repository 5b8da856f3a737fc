"""Losses as Keras 3 has them: functions of targets and predictions, and objects with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np

from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow import nn
from wengert.dialects.tensorflow.dtypes import as_dtype
from wengert.dialects.tensorflow.errors import invalid, mistake
from wengert.dialects.tensorflow.keras.options import (
    EPSILON,
    Configured,
    configured,
    getter,
    keras,
    options_of,
)
from wengert.dialects.tensorflow.structures import assert_same_structure, is_nested, snake
from wengert.dialects.tensorflow.table import guarded
from wengert.dialects.tensorflow.tensors import convert, outward
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import activations

ns = Native._namespace
_ERRORS: Any = (ValueError, TypeError, AttributeError)


# -- arguments --------------------------------------------------------------------------------


def _cast(value: Any, dtype: Any) -> Native:
    """Return a value as a tensor of a dtype, whatever it was of."""
    x = convert(value)
    return x if x.dtype == dtype else ns.astype(x, dtype)


def of_one_rank(first: Native, second: Native) -> tuple[Native, Native]:
    """Return two tensors of one rank, where a last axis of length 1 makes the difference."""
    if first.ndim == second.ndim + 1 and first.shape[-1] == 1:
        if second.ndim == 1:
            return first, ns.expand_dims(second, axis=-1)
        return ns.squeeze(first, axis=-1), second
    if second.ndim == first.ndim + 1 and second.shape[-1] == 1:
        return of_one_rank(second, first)[::-1]
    return first, second


def _pair(values: Any, *_: Any) -> tuple[Native, Native]:
    """Return targets and predictions of one dtype, that of predictions."""
    predicted = convert(values[1])
    if predicted.dtype.kind != "f":
        predicted = ns.astype(predicted, np.float32)
    return _cast(values[0], predicted.dtype), predicted


def _ranked(values: Any, *_: Any) -> tuple[Native, Native]:
    return of_one_rank(*_pair(values))


#: Targets and predictions of one dtype; those of one rank, too.
Pair = Annotated[Native, Kind(_pair, tensor=True, together=True)]
Ranked = Annotated[Native, Kind(_ranked, tensor=True, together=True)]


def _mean(x: Native, axis: Any = -1) -> Native:
    if not x.ndim:
        raise invalid("a loss needs a last axis to take the mean of, and got one number")
    return ns.mean(x, axis=axis)


def _at_least(x: Native, least: float) -> Native:
    """Return the larger of x and a number; where they are equal, with the derivative of x."""
    return ns.where(x >= least, x, least)


def inside(x: Native, low: float, high: float) -> Native:
    """Return x brought between two numbers; there and at them, with the derivative 1."""
    low, high = (float(x.dtype.type(v)) for v in (low, high))
    return ns.where((x >= low) & (x <= high), x, ns.clip(x, low, high))


# -- objects ------------------------------------------------------------------------------------

_MEAN = "sum_over_batch_size"
_REDUCTIONS = (_MEAN, "sum", None, "none", "mean", "mean_with_sample_weight")
for _name, _value in {
    "NONE": "none", "SUM": "sum", "AUTO": "auto", "SUM_OVER_BATCH_SIZE": _MEAN,
}.items():  # fmt: skip
    keras("losses", f"Reduction.{_name}")(_value)


def _reduced(values: Native, weights: Any, reduction: Any) -> Native:
    """Return losses times weights, summed or averaged."""
    if weights is not None:
        values, weights = of_one_rank(values, weights)
        values = values * weights
    if reduction in (None, "none") or values.shape in ((), (0,)):
        return values
    total = ns.sum(values)
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and weights is not None:
        count = ns.sum(weights)
        return ns.where(count == 0, 0.0, total / ns.where(count == 0, 1.0, count))
    return total / max(values.size, 1)


def _masked(weights: Any, mask: np.ndarray | None, reduction: Any, dtype: Any) -> Any:
    """Return weights that leave out what a mask does, so that a mean is over the rest."""
    if mask is None:
        return weights
    scale = 1.0
    if reduction in ("mean", _MEAN):
        scale = mask.size / mask.sum() if mask.any() else 0.0
    chosen = ns.asarray((mask * scale).astype(dtype))
    if weights is None:
        return chosen
    chosen, weights = of_one_rank(chosen, weights)
    return weights * chosen


@keras("losses", "Loss")
class Loss(Configured):
    """What losses share. A subclass defines `call(y_true, y_pred)`: a loss for each example."""

    _defaults: ClassVar[dict[str, Any]] = {"name": None, "reduction": _MEAN, "dtype": None}
    name: str
    reduction: str | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.reduction not in _REDUCTIONS:
            raise ValueError(f"reduction is {self.reduction!r}; expected one of {_REDUCTIONS}")
        self.name = self.name or type(self).__name__.lower()
        kind = as_dtype(self._config.pop("dtype") or "float32")
        #: the name of the dtype that the loss is computed in
        self.dtype: str = kind.name
        self._options = {k: v for k, v in self._config.items() if k not in Loss._defaults}

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss, perhaps of weighted examples, reduced to one number."""
        return self._value(y_true, y_pred, sample_weight)

    @guarded("loss", *_ERRORS)
    def _value(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Native:
        kind = as_dtype(self.dtype)._numpy
        true, predicted = (_cast(value, kind) for value in (y_true, y_pred))
        values, mask = self._losses(true, predicted)
        weights = None if sample_weight is None else _cast(sample_weight, kind)
        weights = _masked(weights, mask, self.reduction, kind)
        return _reduced(_cast(values, kind), weights, self.reduction)

    def _losses(self, true: Native, predicted: Native) -> tuple[Any, np.ndarray | None]:
        return self.call(outward(true), outward(predicted)), None

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return a loss for each example; what losses of your own define."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Return the options."""
        return {"name": self.name, "reduction": self.reduction, **self._options}


class _OfFunction(Loss):
    """A loss that is a function with some options."""

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss; lists of targets and predictions must have one form."""
        if is_nested(y_true) or is_nested(y_pred):
            try:
                assert_same_structure(y_true, y_pred)
            except TypeError as error:
                raise ValueError(f"{self.name}: {error}; write tf.constant(y)") from None
        return self._value(y_true, y_pred, sample_weight)

    def _losses(self, true: Native, predicted: Native) -> tuple[Any, np.ndarray | None]:
        true, predicted = of_one_rank(true, predicted)
        return type(self)._function(true, predicted, **self._options), None


class _Sparse(_OfFunction):
    """A loss that says which of its values count."""

    def _losses(self, true: Native, predicted: Native) -> tuple[Any, np.ndarray | None]:
        return _sparse(*of_one_rank(true, predicted), **self._options)


FUNCTIONS: dict[str, Callable[..., Any]] = {}
_CLASSES: dict[str, type[Loss]] = {"Loss": Loss}


def _loss(
    name: str, *names: str, label: str = "", order: str = "", base: type = _OfFunction,
    metric: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Return a decorator that offers a loss as a class, and as a function by its names.

    The class takes the function's options, then `reduction`, `name` and `dtype`, if `order` does
    not say another order. `get` knows the function by its own name too.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        call = guarded(name, *_ERRORS)(function)
        FUNCTIONS.update(dict.fromkeys((function.__name__, *names), call))
        for part in ("losses", "metrics") if metric else ("losses",):
            keras(part, *names)(call)
        own = options_of(function, 2)
        defaults = {**own, "reduction": _MEAN, "name": label or function.__name__, "dtype": None}
        defaults = {option: defaults[option] for option in order.split() or defaults}
        _CLASSES[name] = configured("losses", name, base, defaults, function)
        return function

    return declare


# -- the losses -------------------------------------------------------------------------------


def _unit(x: Native, axis: Any) -> Native:
    squares = ns.sum(x * x, axis=axis, keepdims=True)
    is_zero = squares == 0
    norm = ns.where(is_zero, 0.0, ns.sqrt(ns.where(is_zero, 1.0, squares)))
    return x / _at_least(norm, EPSILON)


def _log1p(x: Native) -> Native:
    return ns.log(_at_least(x, EPSILON) + 1.0)


def _huber(error: Native, delta: float) -> Native:
    size = ns.abs(error)
    return ns.where(size <= delta, 0.5 * error**2, delta * size - 0.5 * delta**2)


def _log_cosh(x: Native) -> Native:
    return x + activations.softplus(-2.0 * x) - math.log(2.0)


def _divergence(true: Native, predicted: Native) -> Native:
    return ns.sum(true * ns.log(true / predicted), axis=-1)


def _hinge(true: Native, predicted: Native) -> Native:
    """Return max(1 - t * p, 0) for targets of -1 and 1; if they are all 0 or 1, from those."""
    if np.isin(np.asarray(true._raw), (0, 1)).all():
        true = 2.0 * true - 1.0
    return _at_least(1.0 - true * predicted, 0.0)


def _margin(true: Native, predicted: Native) -> Native:
    wrong = ns.max((1.0 - true) * predicted, axis=-1)
    return _at_least(wrong - ns.sum(true * predicted, axis=-1) + 1.0, 0.0)


#: Losses that are a formula: class and functions, what is read, what is returned, and how.
for _name, _names, _kind, _meaning, _formula in (
    ("MeanSquaredError", "mse MSE", Ranked, "the mean of squared differences",
     lambda y_true, y_pred: _mean((y_true - y_pred) ** 2)),
    ("MeanAbsoluteError", "mae MAE", Ranked, "the mean of absolute differences",
     lambda y_true, y_pred: _mean(ns.abs(y_true - y_pred))),
    ("MeanAbsolutePercentageError", "mape MAPE", Ranked, "the mean of differences in per cent",
     lambda y_true, y_pred:
     100.0 * _mean(ns.abs((y_true - y_pred) / _at_least(ns.abs(y_true), EPSILON)))),
    ("MeanSquaredLogarithmicError", "msle MSLE", Ranked, "mean squared differences of log(1 + x)",
     lambda y_true, y_pred: _mean((_log1p(y_pred) - _log1p(y_true)) ** 2)),
    ("CosineSimilarity", "cosine_similarity", Ranked, "minus the cosine of the angle between both",
     lambda y_true, y_pred, axis=-1:
     -ns.sum(_unit(y_true, axis) * _unit(y_pred, axis), axis=axis)),
    ("Huber", "huber", Ranked, "the mean of squares, of absolute values where they are large",
     lambda y_true, y_pred, delta=1.0: _mean(_huber(y_pred - y_true, delta))),
    ("LogCosh", "logcosh", Ranked, "the mean of log(cosh(x)) of differences",
     lambda y_true, y_pred: _mean(_log_cosh(y_pred - y_true))),
    ("KLDivergence", "kld KLD kullback_leibler_divergence", Pair, "the sum of t * log(t / p)",
     lambda y_true, y_pred:
     _divergence(inside(y_true, EPSILON, 1.0), inside(y_pred, EPSILON, 1.0))),
    ("Poisson", "poisson", Pair, "the mean of p - t * log(p)",
     lambda y_true, y_pred: _mean(y_pred - y_true * ns.log(y_pred + EPSILON))),
    ("Hinge", "hinge", Pair, "the mean of max(1 - t * p, 0)",
     lambda y_true, y_pred: _mean(_hinge(y_true, y_pred))),
    ("SquaredHinge", "squared_hinge", Pair, "the mean of max(1 - t * p, 0) ** 2",
     lambda y_true, y_pred: _mean(_hinge(y_true, y_pred) ** 2)),
    ("CategoricalHinge", "categorical_hinge", Pair,
     "how much the best wrong class lacks of being 1 below the right one",
     lambda y_true, y_pred: _margin(y_true, y_pred)),
):  # fmt: skip
    _formula.__name__, _formula.__doc__ = snake(_name), f"Return {_meaning}."
    _formula.__annotations__ = {"y_true": _kind, "y_pred": _kind}
    _label = "huber_loss" if _name == "Huber" else ""
    _loss(_name, *_names.split(), label=_label, metric=_name != "CosineSimilarity")(_formula)


def _check_shapes(true: Native, predicted: Native, least: int) -> None:
    if true.shape != predicted.shape or true.ndim < least:
        shapes = true.shape, predicted.shape
        raise mistake(
            ValueError, "(y_true.shape, y_pred.shape)", shapes, f"equal, {least} axes or more"
        )


def _smoothed(true: Native, smoothing: Any, classes: float) -> Native:
    return true * (1.0 - smoothing) + smoothing / classes if smoothing else true


@_loss("CategoricalCrossentropy", "categorical_crossentropy")
def categorical_crossentropy(
    y_true: Pair, y_pred: Pair, from_logits: Any = False, label_smoothing: Any = 0.0, axis: Any = -1
) -> Any:
    """Return -sum(t * log(p)); targets are a probability for each class."""
    if isinstance(axis, bool):
        raise ValueError(f"axis is {axis}; expected an integer")
    y_true = _smoothed(y_true, label_smoothing, y_true.shape[-1] if y_true.ndim else 1)
    _check_shapes(y_true, y_pred, 1)
    if from_logits:
        return convert(nn.softmax_cross_entropy_with_logits(y_true, y_pred, axis=axis))
    shares = y_pred / ns.sum(y_pred, axis=axis, keepdims=True)
    return -ns.sum(y_true * ns.log(inside(shares, EPSILON, 1.0 - EPSILON)), axis=axis)


@_loss("CategoricalFocalCrossentropy", "categorical_focal_crossentropy")
def categorical_focal_crossentropy(
    y_true: Pair, y_pred: Pair, alpha: Any = 0.25, gamma: float = 2.0, from_logits: bool = False,
    label_smoothing: float = 0.0, axis: int = -1,
) -> Any:  # fmt: skip
    """Return the cross-entropy with less weight on classes that are predicted well."""
    y_true = _smoothed(y_true, label_smoothing, y_true.shape[-1])
    if from_logits:
        y_pred = activations.softmax(y_pred, axis=axis)
    shares = inside(y_pred / ns.sum(y_pred, axis=axis, keepdims=True), EPSILON, 1 - EPSILON)
    weight = (1.0 - shares) ** gamma * convert(alpha, None, shares.dtype)
    return ns.sum(weight * (-y_true * ns.log(shares)), axis=axis)


@_loss(
    "SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", base=_Sparse,
    order="from_logits ignore_class reduction axis name dtype",
)  # fmt: skip
def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: Any = False, ignore_class: Any = None, axis: Any = -1
) -> Any:
    """Return -log(p[t]); targets are indices of classes."""
    if isinstance(y_true, (list, tuple)):
        raise AttributeError("y_true is a list, which has no shape; write tf.constant(y_true)")
    return _sparse(y_true, y_pred, from_logits, ignore_class, axis)[0]


def _sparse(
    y_true: Any, y_pred: Any, from_logits: bool, ignore_class: int | None, axis: int
) -> tuple[Native, np.ndarray | None]:
    """Return the losses, and which of them count."""
    predicted = convert(y_pred)
    true = np.asarray(convert(y_true)._raw)
    if true.ndim == predicted.ndim and true.ndim and true.shape[-1] == 1:
        true = true[..., 0]
    if axis not in (-1, predicted.ndim - 1):
        raise ValueError(f"axis is {axis}; expected -1, the last axis")
    if not predicted.ndim or true.shape != predicted.shape[:-1]:
        shapes = true.shape, predicted.shape
        raise mistake(ValueError, "(y_true.shape, y_pred.shape)", shapes, "equal up to the classes")
    valid = None
    if ignore_class is not None:
        valid = true != ignore_class
        true = np.where(valid, true, 0)
        predicted = ns.where(ns.asarray(valid[..., None]), predicted, 0.0)
    if not from_logits:
        predicted = ns.log(inside(predicted, EPSILON, 1.0 - EPSILON))
    labels = outward(ns.asarray(true.astype(np.int64)))
    losses = convert(nn.sparse_softmax_cross_entropy_with_logits(labels, outward(predicted)))
    return (losses if valid is None else ns.where(ns.asarray(valid), losses, 0.0)), valid


def _binary(true: Native, predicted: Native, from_logits: bool) -> Native:
    _check_shapes(true, predicted, 0)
    if from_logits:
        return convert(nn.sigmoid_cross_entropy_with_logits(outward(true), outward(predicted)))
    p = inside(predicted, EPSILON, 1.0 - EPSILON)
    return -(true * ns.log(p) + (1.0 - true) * ns.log(1.0 - p))


@_loss("BinaryCrossentropy", "binary_crossentropy")
def binary_crossentropy(
    y_true: Pair, y_pred: Pair, from_logits: Any = False, label_smoothing: Any = 0.0, axis: Any = -1
) -> Any:
    """Return the mean of -t log(p) - (1 - t) log(1 - p)."""
    return _mean(_binary(_smoothed(y_true, label_smoothing, 2.0), y_pred, from_logits), axis)


@_loss("BinaryFocalCrossentropy", "binary_focal_crossentropy")
def binary_focal_crossentropy(
    y_true: Pair, y_pred: Pair, apply_class_balancing: bool = False, alpha: float = 0.25,
    gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1,
) -> Any:  # fmt: skip
    """Return the binary cross-entropy with less weight on what is predicted well."""
    y_true = _smoothed(y_true, label_smoothing, 2.0)
    y_pred = activations.sigmoid(y_pred) if from_logits else y_pred
    loss = _binary(y_true, y_pred, False)
    right = y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred)
    loss = (1.0 - right) ** gamma * loss
    if apply_class_balancing:
        loss = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * loss
    return _mean(loss, axis)


@_loss("Dice", "dice", order="reduction name axis dtype", metric=False)
def dice(y_true: Pair, y_pred: Pair, axis: Any = None) -> Any:
    """Return 1 minus twice the overlap over the sum of both."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    overlap = ns.sum(y_true * y_pred, axis=axis)
    return 1.0 - 2.0 * overlap / (ns.sum(y_true, axis=axis) + ns.sum(y_pred, axis=axis) + EPSILON)


@_loss("Tversky", "tversky", order="alpha beta reduction name axis dtype", metric=False)
def tversky(
    y_true: Pair, y_pred: Pair, alpha: float = 0.5, beta: float = 0.5, axis: Any = None
) -> Any:
    """Return 1 minus the overlap over itself and weighted misses."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    overlap = ns.sum(y_true * y_pred, axis=axis)
    missed = ns.sum((1.0 - y_pred) * y_true, axis=axis) * alpha
    extra = ns.sum(y_pred * (1.0 - y_true), axis=axis) * beta
    return 1.0 - overlap / (overlap + missed + extra + EPSILON)


@_loss("CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy", metric=False)
def categorical_generalized_cross_entropy(y_true: Any, y_pred: Any, q: float = 0.5) -> Any:
    """Return (1 - p[t] ** q) / q."""
    predicted = convert(y_pred)
    indices = np.asarray(convert(y_true)._raw).astype(np.int64)
    hot = ns.asarray((indices[..., None] == np.arange(predicted.shape[-1])).astype(predicted.dtype))
    return (1.0 - ns.sum(predicted * hot, axis=-1) ** q) / q


get = getter("losses", FUNCTIONS | _CLASSES, "loss")
