"""Losses as Keras 3 has them: functions of targets and predictions, and objects with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow import nn
from wengert.dialects.tensorflow.dtypes import as_dtype
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.keras.names import EPSILON, keras, looked_up
from wengert.dialects.tensorflow.structures import assert_same_structure, is_nested
from wengert.dialects.tensorflow.table import guarded, offered, put
from wengert.dialects.tensorflow.tensors import convert, outward
from wengert.engine.tensor import Tensor as Native
from wengert.ops.neural import activations

ns = Native._namespace
_CHECKS: Any = (ValueError, TypeError, AttributeError)


# -- arguments --------------------------------------------------------------------------------


def _cast(value: Any, dtype: Any) -> Native:
    """Return a value as a tensor of a dtype, whatever it was of."""
    x = convert(value)
    return x if x.dtype == dtype else ns.astype(x, dtype)


def _predictions(y_pred: Any) -> Native:
    x = convert(y_pred)
    return x if x.dtype.kind == "f" else ns.astype(x, np.float32)


def of_one_rank(first: Native, second: Native) -> tuple[Native, Native]:
    """Return two tensors of one rank, where a last axis of length 1 makes the difference."""
    if first.ndim == second.ndim + 1 and first.shape[-1] == 1:
        if second.ndim == 1:
            return first, ns.expand_dims(second, axis=-1)
        return ns.squeeze(first, axis=-1), second
    if second.ndim == first.ndim + 1 and second.shape[-1] == 1:
        if first.ndim == 1:
            return ns.expand_dims(first, axis=-1), second
        return first, ns.squeeze(second, axis=-1)
    return first, second


def _both(y_true: Any, y_pred: Any, one_rank: bool = True) -> tuple[Native, Native]:
    """Return targets and predictions of one dtype."""
    predicted = _predictions(y_pred)
    true = _cast(y_true, predicted.dtype)
    return of_one_rank(true, predicted) if one_rank else (true, predicted)


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


# -- functions ----------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[..., Any]] = {}
#: The losses that tf.keras.metrics does not offer, too.
_NOT_METRICS = ("cosine_similarity", "dice", "tversky", "categorical_generalized_cross_entropy")


def _loss(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a loss by its names, and keeps it as it is here.

    `get` also knows it by the function's own name.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        full = tuple(f"{part}losses.{name}" for name in names for part in ("keras.", ""))
        call = FUNCTIONS[function.__name__] = offered(*full, raises=_CHECKS)(function)
        for name in names:
            FUNCTIONS[name] = call
            if name not in _NOT_METRICS:
                put((f"keras.metrics.{name}", f"metrics.{name}"), call)
        return function

    return declare


@_loss("mse", "MSE")
def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of squared differences along the last axis."""
    true, predicted = _both(y_true, y_pred)
    return _mean((true - predicted) ** 2)


@_loss("mae", "MAE")
def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of absolute differences along the last axis."""
    true, predicted = _both(y_true, y_pred)
    return _mean(ns.abs(true - predicted))


@_loss("mape", "MAPE")
def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of differences in per cent of the targets."""
    true, predicted = _both(y_true, y_pred)
    return 100.0 * _mean(ns.abs((true - predicted) / _at_least(ns.abs(true), EPSILON)))


@_loss("msle", "MSLE")
def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of squared differences of log(1 + x)."""
    true, predicted = _both(y_true, y_pred)
    first, second = (ns.log(_at_least(x, EPSILON) + 1.0) for x in (predicted, true))
    return _mean((first - second) ** 2)


def _unit(x: Native, axis: Any) -> Native:
    squares = ns.sum(x * x, axis=axis, keepdims=True)
    is_zero = squares == 0
    norm = ns.where(is_zero, 0.0, ns.sqrt(ns.where(is_zero, 1.0, squares)))
    return x / _at_least(norm, EPSILON)


@_loss("cosine_similarity")
def cosine_similarity(y_true: Any, y_pred: Any, axis: Any = -1) -> Any:
    """Return minus the cosine of the angle between targets and predictions."""
    true, predicted = _both(y_true, y_pred)
    return -ns.sum(_unit(true, axis) * _unit(predicted, axis), axis=axis)


@_loss("huber")
def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Return the mean of squares of small differences, and of absolute values of large ones."""
    true, predicted = _both(y_true, y_pred)
    error = predicted - true
    size = ns.abs(error)
    return _mean(ns.where(size <= delta, 0.5 * error**2, delta * size - 0.5 * delta**2))


@_loss("logcosh")
def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of log(cosh(x)) of differences."""
    true, predicted = _both(y_true, y_pred)
    x = predicted - true
    return _mean(x + activations.softplus(-2.0 * x) - math.log(2.0))


@_loss("kld", "KLD", "kullback_leibler_divergence")
def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """Return the sum of t * log(t / p) for probabilities t and p."""
    true, predicted = (inside(x, EPSILON, 1.0) for x in _both(y_true, y_pred, one_rank=False))
    return ns.sum(true * ns.log(true / predicted), axis=-1)


@_loss("poisson")
def poisson(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of p - t * log(p)."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    return _mean(predicted - true * ns.log(predicted + EPSILON))


def _signs(true: Native) -> Native:
    """Return targets of -1 and 1; if they are all 0 or 1, from those."""
    values = np.asarray(true._raw)
    return 2.0 * true - 1.0 if np.isin(values, (0, 1)).all() else true


@_loss("hinge")
def hinge(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of max(1 - t * p, 0)."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    return _mean(_at_least(1.0 - _signs(true) * predicted, 0.0))


@_loss("squared_hinge")
def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of max(1 - t * p, 0) ** 2."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    return _mean(_at_least(1.0 - _signs(true) * predicted, 0.0) ** 2)


@_loss("categorical_hinge")
def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """Return how much the best wrong class lacks of being 1 below the right one."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    right = ns.sum(true * predicted, axis=-1)
    wrong = ns.max((1.0 - true) * predicted, axis=-1)
    return _at_least(wrong - right + 1.0, 0.0)


def _check_shapes(true: Native, predicted: Native, least: int) -> None:
    if true.shape != predicted.shape or true.ndim < least:
        raise ValueError(
            f"y_true has shape {true.shape} and y_pred {predicted.shape}; they must agree, with "
            f"at least {least} axes"
        )


def _smoothed(true: Native, smoothing: Any, classes: float) -> Native:
    return true * (1.0 - smoothing) + smoothing / classes if smoothing else true


@_loss("categorical_crossentropy")
def categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """Return -sum(t * log(p)); targets are a probability for each class."""
    if isinstance(axis, bool):
        raise ValueError(f"axis is {axis}; expected an integer")
    true, predicted = _both(y_true, y_pred, one_rank=False)
    true = _smoothed(true, label_smoothing, true.shape[-1] if true.ndim else 1)
    _check_shapes(true, predicted, 1)
    if from_logits:
        return convert(nn.softmax_cross_entropy_with_logits(true, predicted, axis=axis))
    shares = predicted / ns.sum(predicted, axis=axis, keepdims=True)
    return -ns.sum(true * ns.log(inside(shares, EPSILON, 1.0 - EPSILON)), axis=axis)


@_loss("categorical_focal_crossentropy")
def categorical_focal_crossentropy(
    y_true: Any, y_pred: Any, alpha: Any = 0.25, gamma: float = 2.0, from_logits: bool = False,
    label_smoothing: float = 0.0, axis: int = -1,
) -> Any:  # fmt: skip
    """Return the cross-entropy with less weight on classes that are predicted well."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    true = _smoothed(true, label_smoothing, true.shape[-1])
    if from_logits:
        predicted = activations.softmax(predicted, axis=axis)
    shares = inside(predicted / ns.sum(predicted, axis=axis, keepdims=True), EPSILON, 1 - EPSILON)
    weight = (1.0 - shares) ** gamma * convert(alpha, None, shares.dtype)
    return ns.sum(weight * (-true * ns.log(shares)), axis=axis)


@_loss("sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None,
    axis: int = -1,
) -> Any:  # fmt: skip
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
        raise ValueError(
            f"y_true has shape {true.shape} and y_pred {predicted.shape}; they must agree up to "
            "the axis of classes"
        )
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


@_loss("binary_crossentropy")
def binary_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """Return the mean of -t log(p) - (1 - t) log(1 - p)."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    return _mean(_binary(_smoothed(true, label_smoothing, 2.0), predicted, from_logits), axis)


@_loss("binary_focal_crossentropy")
def binary_focal_crossentropy(
    y_true: Any, y_pred: Any, apply_class_balancing: bool = False, alpha: float = 0.25,
    gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1,
) -> Any:  # fmt: skip
    """Return the binary cross-entropy with less weight on what is predicted well."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    true = _smoothed(true, label_smoothing, 2.0)
    predicted = activations.sigmoid(predicted) if from_logits else predicted
    loss = _binary(true, predicted, False)
    right = true * predicted + (1.0 - true) * (1.0 - predicted)
    loss = (1.0 - right) ** gamma * loss
    if apply_class_balancing:
        loss = (true * alpha + (1.0 - true) * (1.0 - alpha)) * loss
    return _mean(loss, axis)


@_loss("dice")
def dice(y_true: Any, y_pred: Any, axis: Any = None) -> Any:
    """Return 1 minus twice the overlap over the sum of both."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    axis = tuple(axis) if isinstance(axis, list) else axis
    overlap = ns.sum(true * predicted, axis=axis)
    return 1.0 - 2.0 * overlap / (ns.sum(true, axis=axis) + ns.sum(predicted, axis=axis) + EPSILON)


@_loss("tversky")
def tversky(
    y_true: Any, y_pred: Any, alpha: float = 0.5, beta: float = 0.5, axis: Any = None
) -> Any:
    """Return 1 minus the overlap over itself and weighted misses."""
    true, predicted = _both(y_true, y_pred, one_rank=False)
    axis = tuple(axis) if isinstance(axis, list) else axis
    overlap = ns.sum(true * predicted, axis=axis)
    missed = ns.sum((1.0 - predicted) * true, axis=axis) * alpha
    extra = ns.sum(predicted * (1.0 - true), axis=axis) * beta
    return 1.0 - overlap / (overlap + missed + extra + EPSILON)


@_loss("categorical_generalized_cross_entropy")
def categorical_generalized_cross_entropy(y_true: Any, y_pred: Any, q: float = 0.5) -> Any:
    """Return (1 - p[t] ** q) / q."""
    predicted = convert(y_pred)
    places = np.asarray(convert(y_true)._raw).astype(np.int64)
    hot = ns.asarray((places[..., None] == np.arange(predicted.shape[-1])).astype(predicted.dtype))
    return (1.0 - ns.sum(predicted * hot, axis=-1) ** q) / q


# -- objects ------------------------------------------------------------------------------------

_REDUCTIONS = ("sum_over_batch_size", "sum", None, "none", "mean", "mean_with_sample_weight")
for _name, _value in {
    "NONE": "none", "SUM": "sum", "AUTO": "auto", "SUM_OVER_BATCH_SIZE": "sum_over_batch_size",
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
    if reduction in ("mean", "sum_over_batch_size"):
        scale = mask.size / mask.sum() if mask.any() else 0.0
    chosen = ns.asarray((mask * scale).astype(dtype))
    if weights is None:
        return chosen
    chosen, weights = of_one_rank(chosen, weights)
    return weights * chosen


@keras("losses", "Loss")
class Loss:
    """What losses share. A subclass defines `call(y_true, y_pred)`: a loss for each example."""

    def __init__(
        self, name: str | None = None, reduction: Any = "sum_over_batch_size", dtype: Any = None
    ) -> None:
        if reduction not in _REDUCTIONS:
            raise ValueError(f"reduction is {reduction!r}; expected one of {_REDUCTIONS}")
        self.name = name or type(self).__name__.lower()
        self.reduction = reduction
        self._dtype = as_dtype(dtype or "float32")

    @property
    def dtype(self) -> str:
        """The name of the dtype that the loss is computed in."""
        return self._dtype.name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the loss, perhaps of weighted examples, reduced to one number."""
        return self._value(y_true, y_pred, sample_weight)

    def _check_nests(self, y_true: Any, y_pred: Any) -> None:
        """Raise if targets and predictions are not lists of the same form."""

    @guarded("loss", *_CHECKS)
    def _value(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Native:
        kind = self._dtype._numpy
        self._check_nests(y_true, y_pred)
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
        """Return the arguments that make this loss."""
        return {"name": self.name, "reduction": self.reduction}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return a loss from its arguments."""
        return cls(**config)


CLASSES: dict[str, type[Loss]] = {"Loss": Loss}


class _OfFunction(Loss):
    """A loss that is a function with some options."""

    _function: Callable[..., Any]
    _options: dict[str, Any]

    def _check_nests(self, y_true: Any, y_pred: Any) -> None:
        if is_nested(y_true) or is_nested(y_pred):
            try:
                assert_same_structure(y_true, y_pred)
            except (ValueError, TypeError):
                raise ValueError(
                    f"{self.name}: y_true and y_pred are nests of several forms; a list is one, so "
                    "write tf.constant(y_true)"
                ) from None

    def _losses(self, true: Native, predicted: Native) -> tuple[Any, np.ndarray | None]:
        true, predicted = of_one_rank(true, predicted)
        return type(self)._function(true, predicted, **self._options), None

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | self._options


def _class(name: str, function: Callable[..., Any], label: str, **defaults: Any) -> type[Loss]:
    """Offer a class for a loss, whose arguments are the function's options."""
    before = tuple(defaults)

    def init(self: Any, *args: Any, **given: Any) -> None:
        order = (*before, "reduction", "name", "dtype")
        if name == "SparseCategoricalCrossentropy":
            order = ("from_logits", "ignore_class", "reduction", "axis", "name", "dtype")
        elif "axis" in before and name in ("Dice", "Tversky"):
            order = (*(b for b in before if b != "axis"), "reduction", "name", "axis", "dtype")
        if len(args) > len(order):
            raise TypeError(f"{name}: {len(args)} arguments given, at most {len(order)} are taken")
        options = dict(zip(order, args, strict=False))
        for key, value in given.items():
            if key not in order or key in options:
                raise TypeError(f"{name} takes no argument {key!r}")
            options[key] = value
        Loss.__init__(
            self, options.pop("name", label), options.pop("reduction", "sum_over_batch_size"),
            options.pop("dtype", None),
        )  # fmt: skip
        self._options = defaults | options
        self.__dict__.update(self._options)

    kind: Any = type(name, (_OfFunction,), {
        "__init__": init, "__doc__": f"The loss `{function.__name__}`, reduced to one number.",
        "_function": staticmethod(function), "__module__": __name__,
    })  # fmt: skip
    CLASSES[name] = kind
    return keras("losses", name)(kind)


_LOGITS = {"from_logits": False, "label_smoothing": 0.0, "axis": -1}
_class("MeanSquaredError", mean_squared_error, "mean_squared_error")
_class("MeanAbsoluteError", mean_absolute_error, "mean_absolute_error")
_class("MeanAbsolutePercentageError", mean_absolute_percentage_error,
       "mean_absolute_percentage_error")  # fmt: skip
_class("MeanSquaredLogarithmicError", mean_squared_logarithmic_error,
       "mean_squared_logarithmic_error")  # fmt: skip
_class("CosineSimilarity", cosine_similarity, "cosine_similarity", axis=-1)
_class("Huber", huber, "huber_loss", delta=1.0)
_class("LogCosh", log_cosh, "log_cosh")
_class("Hinge", hinge, "hinge")
_class("SquaredHinge", squared_hinge, "squared_hinge")
_class("CategoricalHinge", categorical_hinge, "categorical_hinge")
_class("KLDivergence", kl_divergence, "kl_divergence")
_class("Poisson", poisson, "poisson")
_class("BinaryCrossentropy", binary_crossentropy, "binary_crossentropy", **_LOGITS)
_class("CategoricalCrossentropy", categorical_crossentropy, "categorical_crossentropy", **_LOGITS)
_class("BinaryFocalCrossentropy", binary_focal_crossentropy, "binary_focal_crossentropy",
       apply_class_balancing=False, alpha=0.25, gamma=2.0, **_LOGITS)  # fmt: skip
_class("CategoricalFocalCrossentropy", categorical_focal_crossentropy,
       "categorical_focal_crossentropy", alpha=0.25, gamma=2.0, **_LOGITS)  # fmt: skip
_class("Dice", dice, "dice", axis=None)
_class("Tversky", tversky, "tversky", alpha=0.5, beta=0.5, axis=None)
_class("CategoricalGeneralizedCrossEntropy", categorical_generalized_cross_entropy,
       "categorical_generalized_cross_entropy", q=0.5)  # fmt: skip
_SparseOptions: Any = _class(
    "SparseCategoricalCrossentropy", sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy", from_logits=False, ignore_class=None, axis=-1,
)  # fmt: skip


def _sparse_losses(self: Any, true: Native, predicted: Native) -> tuple[Any, np.ndarray | None]:
    true, predicted = of_one_rank(true, predicted)
    return _sparse(true, predicted, **self._options)


_SparseOptions._losses = _sparse_losses


@keras("losses", "get")
def get(identifier: Any) -> Any:
    """Return a loss by its name, or as it is."""
    return looked_up(identifier, FUNCTIONS | CLASSES, "loss")
