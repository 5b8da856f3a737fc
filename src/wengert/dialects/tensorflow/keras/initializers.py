"""Values that variables begin with, by the names of Keras and of TensorFlow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, of_numpy
from wengert.dialects.tensorflow.keras.names import keras, looked_up, snake
from wengert.dialects.tensorflow.random import _truncated, global_generator
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import convert, made, static

_OTHERS = "other random numbers than TensorFlow's, of the same distribution"
_BY_NAME: dict[str, Any] = {}


def _lengths(shape: Any) -> tuple[int, ...]:
    given = static(shape)
    return tuple(given) if isinstance(given, (list, tuple)) else (int(given),)


@keras("initializers", "Initializer")
class Initializer:
    """What initializers share. A subclass defines `__call__(shape, dtype=None)`."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of a shape."""
        kind = as_dtype("float32" if dtype is None else dtype)._numpy
        return made(np.asarray(self._values(_lengths(shape)), kind))

    def _values(self, shape: tuple[int, ...]) -> Any:
        raise NotImplementedError(
            f"the initializer {type(self).__name__} does not define __call__(self, shape, dtype)"
        )

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this initializer."""
        return dict(getattr(self, "_given", {}))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return an initializer from its arguments."""
        return cls(**config)


def _offered(kind: type[Initializer]) -> type[Initializer]:
    """Offer a class by its name, and in small letters."""
    names = (kind.__name__, snake(kind.__name__))
    keras("initializers", *names)(kind)
    _BY_NAME.update(dict.fromkeys(names, kind))
    return kind


@_offered
class Zeros(Initializer):
    """Zeros."""

    def _values(self, shape: tuple[int, ...]) -> Any:
        return np.zeros(shape)


@_offered
class Ones(Initializer):
    """Ones."""

    def _values(self, shape: tuple[int, ...]) -> Any:
        return np.ones(shape)


@_offered
class Constant(Initializer):
    """A number everywhere, or an array."""

    def __init__(self, value: Any = 0.0) -> None:
        self._given = {"value": value}
        self.value = value

    def _values(self, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(np.asarray(self.value), shape)


@_offered
class Identity(Initializer):
    """The identity matrix, times a number."""

    def __init__(self, gain: float = 1.0) -> None:
        self._given = {"gain": gain}
        self.gain = gain

    def _values(self, shape: tuple[int, ...]) -> Any:
        if len(shape) != 2:
            raise ValueError(f"Identity: shape {shape}; expected that of a matrix")
        return self.gain * np.eye(*shape)


class _Random(Initializer):
    """An initializer with a seed; it gives the same numbers whenever it is called."""

    def __init__(self, seed: Any = None, **given: Any) -> None:
        self._given = {**given, "seed": seed}
        self.__dict__.update(self._given)
        chosen = global_generator().integers(2**63) if seed is None else int(static(seed))
        self._seed = int(chosen) % 2**64

    @property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self._seed)


def _truncated_numbers(rng: Any, shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(_truncated(rng, shape, 0.0, 1.0, "float64")._raw)


@_offered
class RandomNormal(_Random):
    """Normal numbers."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed, mean=mean, stddev=stddev)

    def _values(self, shape: tuple[int, ...]) -> Any:
        return self._given["mean"] + self._given["stddev"] * self._rng.standard_normal(shape)


@_offered
class RandomUniform(_Random):
    """Evenly spread numbers."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed, minval=minval, maxval=maxval)

    def _values(self, shape: tuple[int, ...]) -> Any:
        return self._rng.uniform(self._given["minval"], self._given["maxval"], shape)


@_offered
class TruncatedNormal(_Random):
    """Normal numbers within two standard deviations."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        super().__init__(seed, mean=mean, stddev=stddev)

    def _values(self, shape: tuple[int, ...]) -> Any:
        noise = _truncated_numbers(self._rng, shape)
        return self._given["mean"] + self._given["stddev"] * noise


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """Return how many numbers go into an output, and come from an input, of a layer."""
    if len(shape) < 2:
        only = float(shape[0]) if shape else 1.0
        return only, only
    window = math.prod(shape[:-2])
    return float(shape[-2] * window), float(shape[-1] * window)


#: The standard deviation of a standard normal number that is within two of them.
_SPREAD = 0.87962566103423978


@_offered
class VarianceScaling(_Random):
    """Numbers whose variance is `scale` over the number of inputs, of outputs, or their mean."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: Any = None,
    ) -> None:  # fmt: skip
        if scale <= 0:
            raise ValueError(f"VarianceScaling: scale={scale}; expected a positive number")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"VarianceScaling: mode={mode!r}; expected fan_in, fan_out or fan_avg")
        if distribution.lower() not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                f"VarianceScaling: distribution={distribution!r}; expected uniform, "
                "truncated_normal or untruncated_normal"
            )
        super().__init__(seed, scale=scale, mode=mode, distribution=distribution.lower())

    def _values(self, shape: tuple[int, ...]) -> Any:
        fan_in, fan_out = _fans(shape)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        variance = self._given["scale"] / max(1.0, fans[self._given["mode"]])
        if self._given["distribution"] == "uniform":
            limit = math.sqrt(3 * variance)
            return self._rng.uniform(-limit, limit, shape)
        if self._given["distribution"] == "untruncated_normal":
            return math.sqrt(variance) * self._rng.standard_normal(shape)
        return math.sqrt(variance) / _SPREAD * _truncated_numbers(self._rng, shape)


def _scaled(name: str, scale: float, mode: str, distribution: str) -> None:
    """Offer an initializer that is `VarianceScaling` with its arguments chosen."""

    def init(self: Any, seed: Any = None) -> None:
        VarianceScaling.__init__(self, scale, mode, distribution, seed)

    def get_config(self: Any) -> dict[str, Any]:
        return {"seed": self._given["seed"]}

    kind: Any = type(name, (VarianceScaling,), {
        "__init__": init, "get_config": get_config, "__module__": __name__,
        "__doc__": f"Numbers of variance {scale:g} over {mode}.",
    })  # fmt: skip
    _offered(kind)


for _author, _scale, _mode in (
    ("Glorot", 1.0, "fan_avg"),
    ("He", 2.0, "fan_in"),
    ("Lecun", 1.0, "fan_in"),
):
    _scaled(f"{_author}Normal", _scale, _mode, "truncated_normal")
    _scaled(f"{_author}Uniform", _scale, _mode, "uniform")


@_offered
class Orthogonal(_Random):
    """A matrix of orthonormal columns or rows."""

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        super().__init__(seed, gain=gain)

    def _values(self, shape: tuple[int, ...]) -> Any:
        if len(shape) < 2:
            raise ValueError(f"Orthogonal: shape {shape}; expected two axes or more")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        noise = self._rng.standard_normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(noise)
        q = q * np.sign(np.diagonal(r))
        return self._given["gain"] * (q.T if rows < columns else q).reshape(shape)


keras("initializers", "OrthogonalInitializer")(Orthogonal)
keras("initializers", "IdentityInitializer")(Identity)


@keras("initializers", "get")
def get(identifier: Any) -> Any:
    """Return an initializer by its name, or as it is."""
    return looked_up(identifier, _BY_NAME, "initializer")


# -- TensorFlow's own ----------------------------------------------------------------------------


def _native(name: str, draw: Callable[..., Any], *parameters: tuple[str, Any]) -> None:
    """Offer `tf.<name>_initializer`."""
    defaults = dict(parameters)

    def init(self: Any, *args: Any, **given: Any) -> None:
        unknown = set(given) - set(defaults)
        if unknown or len(args) > len(defaults):
            raise TypeError(f"tf.{name}_initializer got arguments that it does not take: {unknown}")
        self._given = defaults | dict(zip(defaults, args, strict=False)) | given

    def call(self: Any, shape: Any, dtype: Any = None, **options: Any) -> Any:
        if dtype is None:
            value = self._given.get("value", 0.0)
            dtype = of_numpy(convert(value).dtype)
        return made(np.asarray(draw(_lengths(shape), **self._given), as_dtype(dtype)._numpy))

    kind: Any = type(f"{name}_initializer", (Initializer,), {
        "__init__": init, "__call__": call, "__module__": __name__,
        "__doc__": f"Return an initializer: {name.replace('_', ' ')}.",
    })  # fmt: skip
    plain(f"{name}_initializer", differs=_OTHERS if "seed" in defaults else "")(kind)


def _constant(shape: tuple[int, ...], value: Any, support_partition: bool) -> np.ndarray:
    array = np.asarray(value)
    return np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)


_native("zeros", np.zeros)
_native("ones", np.ones)
_native("constant", _constant, ("value", 0), ("support_partition", False))
_native(
    "random_normal",
    lambda shape, mean, stddev, seed: global_generator(seed).normal(mean, stddev, shape),
    ("mean", 0.0), ("stddev", 0.05), ("seed", None),
)  # fmt: skip
_native(
    "random_uniform",
    lambda shape, minval, maxval, seed: global_generator(seed).uniform(minval, maxval, shape),
    ("minval", -0.05), ("maxval", 0.05), ("seed", None),
)  # fmt: skip
