"""Metrics of Keras that are means over what they have seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.keras import losses
from wengert.dialects.tensorflow.keras.names import keras, snake
from wengert.dialects.tensorflow.keras.state import State, numbered
from wengert.dialects.tensorflow.table import guarded, offered
from wengert.dialects.tensorflow.tensors import convert, made
from wengert.dialects.tensorflow.variables import Variable


def _array(value: Any) -> np.ndarray:
    return np.asarray(convert(value)._raw)


@keras("metrics", "Metric")
class Metric:
    """What metrics share. A subclass defines `update_state` and `result`."""

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        self.name = name or numbered(type(self))
        self._variables: list[Variable] = []

    @property
    def dtype(self) -> str:
        """The name of the dtype of what is kept."""
        return "float32"

    @property
    def variables(self) -> list[Variable]:
        """What is kept."""
        return list(self._variables)

    def add_variable(
        self, shape: Any, initializer: Any = "zeros", dtype: Any = None, aggregation: Any = "sum",
        name: str | None = None,
    ) -> Variable:  # fmt: skip
        """Return a new variable of the metric."""
        from wengert.dialects.tensorflow.keras import initializers

        value = initializers.get(initializer)(shape, dtype=dtype or "float32")
        self._variables.append(State(value, name or "variable", self.name))
        return self._variables[-1]

    def add_weight(
        self, shape: Any = (), initializer: Any = "zeros", dtype: Any = None, name: Any = None
    ) -> Variable:
        """Return a new variable of the metric."""
        return self.add_variable(shape, initializer, dtype, name=name)

    def reset_state(self) -> None:
        """Forget all that was seen."""
        for variable in self._variables:
            variable.assign(np.zeros_like(np.asarray(variable._value._raw)))

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
        pair = losses.of_one_rank(convert(values), convert(_array(weights).astype(np.float64)))
        values, weights = (np.asarray(x._raw) for x in pair)
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


class _Reduced(Metric):
    """A metric that keeps sums."""

    def _values(self, *args: Any) -> np.ndarray:
        return _array(args[0]).astype(np.float64)

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        for kept in self._kept:
            self.add_weight(name=kept)

    _kept: tuple[str, ...] = ("total", "count")
    _reduce: Any = staticmethod(np.mean)

    @guarded("metric", ValueError, TypeError)
    def update_state(self, *args: Any, sample_weight: Any = None) -> None:
        """Take in some values, perhaps weighted."""
        if len(args) > self._takes:
            *args, sample_weight = args  # type: ignore[assignment]
        values, weights = _by_example(self._values(*args), sample_weight, self._reduce)
        count = np.size(values) if weights is None else np.sum(weights)
        for variable, more in zip(self._variables, (np.sum(values), count), strict=False):
            variable.assign_add(np.float32(more))

    _takes = 1

    def result(self) -> Any:
        """Return the mean."""
        total, count = (float(v) for v in self._variables)
        return made(np.asarray(total / count if count else 0.0, np.float32))


@keras("metrics", "Mean")
class Mean(_Reduced):
    """The mean of all values."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)


@keras("metrics", "Sum")
class Sum(_Reduced):
    """The sum of all values."""

    _kept = ("total",)
    _reduce = staticmethod(np.sum)

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def result(self) -> Any:
        """Return the sum."""
        return made(np.asarray(float(self._variables[0]), np.float32))


class _OfTwo(_Reduced):
    """The mean of a function of targets and predictions."""

    _function: Callable[..., Any]
    _options: dict[str, Any]
    _takes = 2

    def _values(self, *args: Any) -> np.ndarray:
        true, predicted = args
        return np.asarray(
            _array(type(self)._function(true, predicted, **self._options)), np.float64
        )


@keras("metrics", "MeanMetricWrapper")
class MeanMetricWrapper(_OfTwo):
    """The mean of any function of targets and predictions."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(name, dtype)
        self._fn, self._options = fn, kwargs

    def _values(self, *args: Any) -> np.ndarray:
        return np.asarray(_array(self._fn(*args, **self._options)), np.float64)


def _of_losses(name: str) -> Callable[..., Any]:
    return losses.FUNCTIONS[name]


def _two_of_one_rank(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    true, predicted = losses.of_one_rank(convert(y_true), convert(y_pred))
    return np.asarray(true._raw), np.asarray(predicted._raw)


def _as_tensor(hits: np.ndarray) -> Any:
    return made(np.asarray(hits, np.float32))


def _accuracy(y_true: Any, y_pred: Any) -> Any:
    true, predicted = _two_of_one_rank(y_true, y_pred)
    return _as_tensor(true == predicted)


def _function(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    names = (f"keras.metrics.{name}", f"metrics.{name}")
    return offered(*names, raises=(ValueError, TypeError))


@_function("binary_accuracy")
def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Return which predictions are on the right side of a threshold."""
    true, predicted = _two_of_one_rank(y_true, y_pred)
    return _as_tensor(true.astype(predicted.dtype) == (predicted > threshold))


@_function("categorical_accuracy")
def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return where the largest of targets and of predictions is the same class."""
    return _as_tensor(_array(y_true).argmax(-1) == _array(y_pred).argmax(-1))


@_function("sparse_categorical_accuracy")
def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return where the largest prediction is the target, the index of a class."""
    true, predicted = _array(y_true), _array(y_pred)
    if true.ndim == predicted.ndim and true.shape[-1:] == (1,):
        true = true[..., 0]
    return _as_tensor(true == predicted.argmax(-1))


def _in_top(true: np.ndarray, predicted: np.ndarray, k: int) -> np.ndarray:
    at = np.take_along_axis(predicted, true[..., None], axis=-1)
    return (predicted > at).sum(-1) < k


@_function("sparse_top_k_categorical_accuracy")
def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return where the target is among the k largest predictions."""
    return _as_tensor(_in_top(_array(y_true).astype(np.int64), _array(y_pred), k))


@_function("top_k_categorical_accuracy")
def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return where the largest target is among the k largest predictions."""
    return _as_tensor(_in_top(_array(y_true).argmax(-1), _array(y_pred), k))


def _class(name: str, function: Callable[..., Any], label: str = "", **defaults: Any) -> Any:
    """Offer a class for the mean of a function."""

    def init(self: Any, *args: Any, **given: Any) -> None:
        order = (*defaults, "name", "dtype") if name == "BinaryCrossentropy" else (
            "name", "dtype", *defaults)  # fmt: skip
        if name.startswith(("TopK", "SparseTopK")):
            order = ("k", "name", "dtype")
        options = dict(zip(order, args, strict=False)) | given
        unknown = set(options) - set(order)
        if unknown or len(args) > len(order):
            raise TypeError(f"{name} takes no arguments {unknown or args}")
        _OfTwo.__init__(self, options.pop("name", label or snake(name)), options.pop("dtype", None))
        self._options = defaults | options

    kind: Any = type(name, (_OfTwo,), {
        "__init__": init, "_function": staticmethod(function), "__module__": __name__,
        "__doc__": f"The mean of `{snake(name)}`.",
    })  # fmt: skip
    return keras("metrics", name)(kind)


_class("Accuracy", _accuracy)
_class("BinaryAccuracy", binary_accuracy, threshold=0.5)
_class("CategoricalAccuracy", categorical_accuracy)
_class("SparseCategoricalAccuracy", sparse_categorical_accuracy)
_class("TopKCategoricalAccuracy", top_k_categorical_accuracy, k=5)
_class("SparseTopKCategoricalAccuracy", sparse_top_k_categorical_accuracy, k=5)
for _name in ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
              "MeanSquaredLogarithmicError", "Hinge", "SquaredHinge", "CategoricalHinge",
              "KLDivergence", "Poisson"):  # fmt: skip
    _class(_name, _of_losses(snake(_name) if _name != "KLDivergence" else "kl_divergence"),
           "kl_divergence" if _name == "KLDivergence" else "")  # fmt: skip
_class("LogCoshError", _of_losses("log_cosh"), "logcosh")
_class("BinaryCrossentropy", _of_losses("binary_crossentropy"),
       from_logits=False, label_smoothing=0)  # fmt: skip
_class("CategoricalCrossentropy", _of_losses("categorical_crossentropy"),
       from_logits=False, label_smoothing=0, axis=-1)  # fmt: skip
_class("SparseCategoricalCrossentropy", _of_losses("sparse_categorical_crossentropy"),
       from_logits=False, axis=-1)  # fmt: skip
_class("CosineSimilarity",
       lambda true, predicted, axis: -_of_losses("cosine_similarity")(true, predicted, axis),
       axis=-1)  # fmt: skip


def _squares(y_true: Any, y_pred: Any) -> Any:
    true, predicted = _two_of_one_rank(y_true, y_pred)
    return _as_tensor((predicted - true) ** 2)


_Squares: Any = _class("RootMeanSquaredError", _squares)


def _root_of_mean(self: Any) -> Any:
    total, count = (float(v) for v in self._variables)
    return made(np.asarray((total / count) ** 0.5 if count else 0.0, np.float32))


_Squares.result = _root_of_mean
