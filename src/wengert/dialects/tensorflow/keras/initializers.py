"""Values that variables begin with, by the names of Keras and of TensorFlow."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, float64
from wengert.dialects.tensorflow.keras.options import (
    Configured,
    configured,
    getter,
    keras,
    options_of,
)
from wengert.dialects.tensorflow.random import global_generator, truncated_normal
from wengert.dialects.tensorflow.structures import snake
from wengert.dialects.tensorflow.table import put
from wengert.dialects.tensorflow.tensors import convert, made, static

_OTHERS = "other random numbers than TensorFlow's, of the same distribution"
_BY_NAME: dict[str, Any] = {}
Shape = tuple[int, ...]


@keras("initializers", "Initializer")
class Initializer(Configured):
    """What initializers share. A subclass defines `__call__(shape, dtype=None)`."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Return a tensor of a shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__(self, shape)")


class _OfFunction(Initializer):
    """Values by a function of a shape and of options; for `seed` it gets a generator.

    Whenever it is called, the random numbers are the same.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "seed" in self._config:
            seed = self._config["seed"]
            chosen = global_generator().integers(2**63) if seed is None else static(seed)
            self._seed = int(chosen) % 2**64

    def __call__(self, shape: Any, dtype: Any = None, **ignored: Any) -> Any:
        given = static(shape)
        lengths = tuple(given) if isinstance(given, (list, tuple)) else (int(given),)
        options = dict(self._config)
        if "seed" in options:
            options["seed"] = self._generator()
        kind = self._usual() if dtype is None else as_dtype(dtype)._numpy
        return made(np.asarray(type(self)._function(lengths, **options), kind))

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self._seed)

    def _usual(self) -> Any:
        return np.float32


def _initializer(name: str, base: type = _OfFunction, **fixed: Any) -> Callable[[Any], Any]:
    """Return a decorator that offers a class for a function, with some of its options fixed."""

    def declare(function: Callable[..., Any]) -> Any:
        options = {k: v for k, v in options_of(function, 1).items() if k not in fixed}
        call = functools.partial(function, **fixed) if fixed else function
        kind = configured("initializers", name, base, options, call, __doc__=function.__doc__)
        keras("initializers", snake(name))(kind)
        _BY_NAME[name] = _BY_NAME[snake(name)] = kind
        return function

    return declare


@_initializer("Zeros")
def zeros(shape: Shape) -> np.ndarray:
    """Return zeros."""
    return np.zeros(shape)


@_initializer("Ones")
def ones(shape: Shape) -> np.ndarray:
    """Return ones."""
    return np.ones(shape)


@_initializer("Constant")
def constant(shape: Shape, value: Any = 0.0) -> np.ndarray:
    """Return a number everywhere, or an array."""
    return np.broadcast_to(np.asarray(value), shape)


@_initializer("Identity")
def identity(shape: Shape, gain: float = 1.0) -> np.ndarray:
    """Return the identity matrix, times a number."""
    if len(shape) != 2:
        raise ValueError(f"Identity: shape {shape}; expected that of a matrix")
    return gain * np.eye(*shape)


@_initializer("RandomNormal")
def normal(shape: Shape, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> np.ndarray:
    """Return normal numbers."""
    return mean + stddev * seed.standard_normal(shape)


@_initializer("RandomUniform")
def uniform(shape: Shape, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> np.ndarray:
    """Return evenly spread numbers."""
    return seed.uniform(minval, maxval, shape)


@_initializer("TruncatedNormal")
def truncated(shape: Shape, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> np.ndarray:
    """Return normal numbers within two standard deviations."""
    return mean + stddev * np.asarray(truncated_normal(seed, shape, dtype=float64)._raw)


#: The standard deviation of a standard normal number that is within two of them.
_SPREAD = 0.87962566103423978
_KINDS = ("uniform", "truncated_normal", "untruncated_normal")


class _Scaled(_OfFunction):
    """Values whose options are checked at once."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        scaling(**{**self._config, "shape": (1, 1), "seed": np.random.default_rng(0)})


def scaling(
    shape: Shape, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
    seed: Any = None,
) -> np.ndarray:  # fmt: skip
    """Return numbers of variance `scale` over the number of inputs, of outputs, or their mean."""
    rows, columns = shape[-2:] if len(shape) > 1 else (shape or (1,)) * 2
    window = math.prod(shape[:-2])
    fans = {"fan_in": rows, "fan_out": columns, "fan_avg": (rows + columns) / 2}
    if scale <= 0 or mode not in fans or distribution.lower() not in _KINDS:
        raise ValueError(
            f"VarianceScaling: scale={scale}, mode={mode!r}, distribution={distribution!r}; "
            f"expected a positive number, one of {', '.join(fans)} and one of {', '.join(_KINDS)}"
        )
    deviation = math.sqrt(scale / max(1.0, fans[mode] * window))
    if distribution.lower() == "uniform":
        return uniform(shape, -math.sqrt(3) * deviation, math.sqrt(3) * deviation, seed)
    if distribution.lower() == "untruncated_normal":
        return normal(shape, 0.0, deviation, seed)
    return truncated(shape, 0.0, deviation / _SPREAD, seed)


_initializer("VarianceScaling", _Scaled)(scaling)
for _author, _scale, _mode in (
    ("Glorot", 1.0, "fan_avg"), ("He", 2.0, "fan_in"), ("Lecun", 1.0, "fan_in")
):  # fmt: skip
    for _end, _kind in (("Normal", "truncated_normal"), ("Uniform", "uniform")):
        _initializer(f"{_author}{_end}", scale=_scale, mode=_mode, distribution=_kind)(scaling)


@_initializer("Orthogonal")
def orthogonal(shape: Shape, gain: float = 1.0, seed: Any = None) -> np.ndarray:
    """Return a matrix of orthonormal columns or rows."""
    if len(shape) < 2:
        raise ValueError(f"Orthogonal: shape {shape}; expected two axes or more")
    rows, columns = math.prod(shape[:-1]), shape[-1]
    q, r = np.linalg.qr(seed.standard_normal((max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diagonal(r))
    return gain * (q.T if rows < columns else q).reshape(shape)


for _name in ("Orthogonal", "Identity"):
    keras("initializers", f"{_name}Initializer")(_BY_NAME[_name])

get = getter("initializers", _BY_NAME, "initializer")


# -- TensorFlow's own ----------------------------------------------------------------------------


class _Native(_OfFunction):
    """Values by a function, which draws other random numbers in each call."""

    def _generator(self) -> np.random.Generator:
        return global_generator(self._config["seed"])

    def _usual(self) -> Any:
        return convert(self._config.get("value", 0.0)).dtype


def _constant(shape: Shape, value: Any = 0, support_partition: bool = False) -> np.ndarray:
    array = np.asarray(value)
    return np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)


for _name, _function in {
    "zeros": zeros, "ones": ones, "constant": _constant, "random_normal": normal,
    "random_uniform": uniform,
}.items():  # fmt: skip
    _name = f"{_name}_initializer"
    _options = options_of(_function, 1)
    _attributes = {
        "_defaults": _options,
        "_function": staticmethod(_function),
        "__doc__": _function.__doc__,
    }
    put((_name,), type(_name, (_Native,), _attributes), _OTHERS if "seed" in _options else "")
