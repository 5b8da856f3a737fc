"""Metrics of Keras that are means over what they have seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np

from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.keras import losses
from wengert.dialects.tensorflow.keras.names import keras
from wengert.dialects.tensorflow.keras.options import Configured, configured, options_of
from wengert.dialects.tensorflow.keras.state import Owner, raw
from wengert.dialects.tensorflow.structures import snake
from wengert.dialects.tensorflow.table import guarded
from wengert.dialects.tensorflow.tensors import convert, made


def _array(value: Any, *_: Any) -> np.ndarray:
    return np.asarray(convert(value)._raw)


def _arrays(values: Any, *_: Any) -> tuple[np.ndarray, np.ndarray]:
    true, predicted = losses.of_one_rank(*map(convert, values))
    return np.asarray(true._raw), np.asarray(predicted._raw)


#: What is read as an array; targets and predictions as arrays of one rank.
Array = Annotated[Any, Kind(_array)]
Ranked = Annotated[Any, Kind(_arrays, together=True)]


@keras("metrics", "Metric")
class Metric(Owner):
    """What metrics share. A subclass defines `update_state` and `result`."""

    #: The name of the dtype of what is kept.
    dtype = "float32"

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        self._begin(name)

    def reset_state(self) -> None:
        """Forget all that was seen."""
        for variable in self._variables:
            variable.assign(np.zeros_like(raw(variable)))

    reset_states = reset_state

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take in some values."""
        raise NotImplementedError

    def result(self) -> Any:
        """Return the metric of what was seen."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take in some values, and return the metric."""
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


def _by_example(values: np.ndarray, weights: Any, reduce: Any) -> tuple[np.ndarray, Any]:
    """Return a value for each example, weighted, and the weights: other axes are reduced."""
    if weights is not None:
        values, weights = _arrays((values, _array(weights).astype(np.float64)))
        rank = weights.ndim
        values = reduce(values, axis=tuple(range(rank, values.ndim)))
        try:
            weights = np.broadcast_to(weights, values.shape)
        except ValueError:
            raise invalid(
                f"sample_weight of shape {weights.shape} for values of {values.shape}"
            ) from None
        values = values * weights
        weights = reduce(weights, axis=tuple(range(1, weights.ndim))) if rank > 1 else weights
    return reduce(values, axis=tuple(range(1, values.ndim))), weights


class _Reduced(Configured, Metric):
    """A metric that keeps sums of a function of what it takes in."""

    _function: ClassVar[Callable[..., Any]]
    _kept: ClassVar[tuple[str, ...]] = ("total", "count")
    _takes = 2
    _reduce: Any = staticmethod(np.mean)

    def __init__(self, *args: Any, **options: Any) -> None:
        self._options = self._chosen(args, options)
        self._begin(self._options.pop("name"))
        self._options.pop("dtype")
        for kept in self._kept:
            self.add_weight(name=kept)

    @guarded("metric", ValueError, TypeError)
    def update_state(self, *args: Any, sample_weight: Any = None) -> None:
        """Take in some values, perhaps weighted."""
        if len(args) > self._takes:
            *args, sample_weight = args  # type: ignore[assignment]
        values = _array(type(self)._function(*args, **self._options)).astype(np.float64)
        values, weights = _by_example(values, sample_weight, self._reduce)
        count = np.size(values) if weights is None else np.sum(weights)
        for variable, more in zip(self._variables, (np.sum(values), count), strict=False):
            variable.assign_add(np.float32(more))

    def result(self) -> Any:
        """Return the mean; without a count, the sum."""
        total, count = (*map(float, self._variables), 1.0)[:2]
        return made(np.asarray(total / count if count else 0.0, np.float32))


class _Root(_Reduced):
    """A metric that is the root of a mean."""

    def result(self) -> Any:
        """Return the root of the mean."""
        return made(np.sqrt(super().result().numpy()))


@keras("metrics", "MeanMetricWrapper")
class MeanMetricWrapper(_Reduced):
    """The mean of any function of targets and predictions."""

    _defaults: ClassVar[dict[str, Any]] = {"name": None, "dtype": None}

    def __init__(self, fn: Callable[..., Any], *args: Any, **options: Any) -> None:
        own = {key: options.pop(key) for key in list(options) if key not in self._defaults}
        super().__init__(*args, **options)
        self._options = {"fn": fn, **own}

    @staticmethod
    def _function(*args: Any, fn: Callable[..., Any], **options: Any) -> Any:
        return fn(*args, **options)


def _class(
    name: str, function: Callable[..., Any], label: str = "", base: type = _Reduced,
    attributes: dict[str, Any] | None = None, **options: Any,
) -> None:  # fmt: skip
    """Offer a class for the mean of a function; `k` is the one option that comes before `name`."""
    label = label or snake(name)
    first = {"k": options.pop("k")} if "k" in options else {}
    defaults = {**first, "name": label, "dtype": None, **options}
    own = {"_function": staticmethod(function), "__doc__": f"The mean of `{label}`."}
    configured("metrics", name, base, defaults, **own, **(attributes or {}))


# -- accuracies -----------------------------------------------------------------------------------


def _accuracy(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a function of arrays, and a class for its mean."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            return made(np.asarray(function(*args, **options), np.float32))

        call.__wrapped__, call.__annotations__ = function, function.__annotations__  # type: ignore[attr-defined]
        offered = guarded(name, ValueError, TypeError)(call)
        if name != "Accuracy":
            keras("metrics", snake(name))(offered)
        _class(name, offered, **options_of(function, 2))
        return offered

    return declare


@_accuracy("Accuracy")
def accuracy(y_true: Ranked, y_pred: Ranked) -> Any:
    """Return which predictions are equal to their targets."""
    return y_true == y_pred


@_accuracy("BinaryAccuracy")
def binary_accuracy(y_true: Ranked, y_pred: Ranked, threshold: float = 0.5) -> Any:
    """Return which predictions are on the right side of a threshold."""
    return y_true.astype(y_pred.dtype) == (y_pred > threshold)


@_accuracy("CategoricalAccuracy")
def categorical_accuracy(y_true: Array, y_pred: Array) -> Any:
    """Return where the largest of targets and of predictions is the same class."""
    return y_true.argmax(-1) == y_pred.argmax(-1)


@_accuracy("SparseCategoricalAccuracy")
def sparse_categorical_accuracy(y_true: Array, y_pred: Array) -> Any:
    """Return where the largest prediction is the target, the index of a class."""
    if y_true.ndim == y_pred.ndim and y_true.shape[-1:] == (1,):
        y_true = y_true[..., 0]
    return y_true == y_pred.argmax(-1)


def _in_top(true: np.ndarray, predicted: np.ndarray, k: int) -> np.ndarray:
    at = np.take_along_axis(predicted, true[..., None], axis=-1)
    return (predicted > at).sum(-1) < k


@_accuracy("SparseTopKCategoricalAccuracy")
def sparse_top_k_categorical_accuracy(y_true: Array, y_pred: Array, k: int = 5) -> Any:
    """Return where the target is among the k largest predictions."""
    return _in_top(y_true.astype(np.int64), y_pred, k)


@_accuracy("TopKCategoricalAccuracy")
def top_k_categorical_accuracy(y_true: Array, y_pred: Array, k: int = 5) -> Any:
    """Return where the largest target is among the k largest predictions."""
    return _in_top(y_true.argmax(-1), y_pred, k)


# -- means of losses and of other functions -------------------------------------------------------

for _name in ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
              "MeanSquaredLogarithmicError", "Hinge", "SquaredHinge", "CategoricalHinge",
              "KLDivergence", "Poisson"):  # fmt: skip
    _class(_name, losses.FUNCTIONS[snake(_name)])
_crossentropies: dict[str, dict[str, Any]] = {
    "BinaryCrossentropy": {"from_logits": False, "label_smoothing": 0},
    "CategoricalCrossentropy": {"from_logits": False, "label_smoothing": 0, "axis": -1},
    "SparseCategoricalCrossentropy": {"from_logits": False, "ignore_class": None, "axis": -1},
}
for _name, _options in _crossentropies.items():
    _class(_name, losses.FUNCTIONS[snake(_name)], **_options)
_class("LogCoshError", losses.FUNCTIONS["log_cosh"], "logcosh")
_cosine = losses.FUNCTIONS["cosine_similarity"]
_class("CosineSimilarity", lambda true, predicted, axis: -_cosine(true, predicted, axis), axis=-1)


@guarded("RootMeanSquaredError", ValueError, TypeError)
def _squares(y_true: Ranked, y_pred: Ranked) -> Any:
    return made(np.asarray((y_pred - y_true) ** 2, np.float32))


_class("RootMeanSquaredError", _squares, base=_Root)
_class("Mean", lambda values: values, attributes={"_takes": 1})
_sum: dict[str, Any] = {"_takes": 1, "_kept": ("total",), "_reduce": staticmethod(np.sum)}
_class("Sum", lambda values: values, attributes=_sum)
