"""Metrics of Keras that are means over what they have seen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import numpy as np

from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.keras import losses
from wengert.dialects.tensorflow.keras.options import Configured, configured, keras, options_of
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
            shape = weights.shape
            raise invalid(f"sample_weight has shape {shape}, not {values.shape}") from None
        values = values * weights
        weights = reduce(weights, axis=tuple(range(1, weights.ndim))) if rank > 1 else weights
    return reduce(values, axis=tuple(range(1, values.ndim))), weights


class _Reduced(Configured, Metric):
    """A metric that keeps sums of a function of what it takes in."""

    _kept: ClassVar[tuple[str, ...]] = ("total", "count")
    _takes = 2
    _reduce: Any = staticmethod(np.mean)

    def __init__(self, *args: Any, **options: Any) -> None:
        self._config = self._chosen(args, options)
        self._begin(self._config["name"])
        self._options = {k: v for k, v in self._config.items() if k not in ("name", "dtype")}
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


def _class(
    name: str, function: Callable[..., Any], label: str = "", base: type = _Reduced,
    attributes: dict[str, Any] | None = None, **options: Any,
) -> None:  # fmt: skip
    """Offer a class for the mean of a function; `k` is the one option that comes before `name`."""
    label = label or snake(name)
    first = {"k": options.pop("k")} if "k" in options else {}
    defaults = {**first, "name": label, "dtype": None, **options}
    attributes = {"__doc__": f"The mean of `{label}`.", **(attributes or {})}
    configured("metrics", name, base, defaults, function, **attributes)


# -- accuracies -----------------------------------------------------------------------------------


def _classes(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return targets as indices of classes, without a last axis of length 1."""
    return true[..., 0] if true.ndim == predicted.ndim and true.shape[-1:] == (1,) else true


def _in_top(true: np.ndarray, predicted: np.ndarray, k: int) -> np.ndarray:
    at = np.take_along_axis(predicted, true[..., None], axis=-1)
    return (predicted > at).sum(-1) < k


def _of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays, which returns a tensor of single precision."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return made(np.asarray(function(*args), np.float32))

    return guarded(function.__name__, ValueError, TypeError)(call)


#: Functions of targets and predictions, what is read, and what is returned.
for _name, _kind, _meaning, _function in (
    ("Accuracy", Ranked, "which predictions are equal to their targets",
     lambda y_true, y_pred: y_true == y_pred),
    ("BinaryAccuracy", Ranked, "which predictions are on the right side of a threshold",
     lambda y_true, y_pred, threshold=0.5: y_true.astype(y_pred.dtype) == (y_pred > threshold)),
    ("CategoricalAccuracy", Array, "where the largest of both is of the same class",
     lambda y_true, y_pred: y_true.argmax(-1) == y_pred.argmax(-1)),
    ("SparseCategoricalAccuracy", Array, "where the largest prediction is the target's index",
     lambda y_true, y_pred: _classes(y_true, y_pred) == y_pred.argmax(-1)),
    ("SparseTopKCategoricalAccuracy", Array, "where the target is among the k largest predictions",
     lambda y_true, y_pred, k=5: _in_top(y_true.astype(np.int64), y_pred, k)),
    ("TopKCategoricalAccuracy", Array, "where the largest target is among the k largest",
     lambda y_true, y_pred, k=5: _in_top(y_true.argmax(-1), y_pred, k)),
    ("RootMeanSquaredError", Ranked, "squared differences",
     lambda y_true, y_pred: (y_pred - y_true) ** 2),
):  # fmt: skip
    _function.__name__, _function.__doc__ = snake(_name), f"Return {_meaning}."
    _function.__annotations__ = {"y_true": _kind, "y_pred": _kind}
    _call = _of_arrays(_function)
    _is_root = _name == "RootMeanSquaredError"
    _class(_name, _call, base=_Root if _is_root else _Reduced, **options_of(_function, 2))
    if _name != "Accuracy" and not _is_root:
        keras("metrics", snake(_name))(_call)


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


_class("Mean", lambda values: values, attributes={"_takes": 1})
_sum: dict[str, Any] = {"_takes": 1, "_kept": ("total",), "_reduce": staticmethod(np.sum)}
_class("Sum", lambda values: values, attributes=_sum)
