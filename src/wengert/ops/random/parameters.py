"""What samples are drawn with: generators, parameters, shapes and noise."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import plain_namespace
from wengert.engine.record import SCALARS
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import BackendError, DtypeError, ShapeError
from wengert.ops import batching, shapes
from wengert.ops import elementwise as ew
from wengert.ops.checks import like

Generator = np.random.Generator
Shape = int | tuple[int, ...] | None


def generator(seed: Any, /) -> Generator:
    """Return NumPy's generator for a seed: an integer, several, or a np.random.SeedSequence.

    ``rng.spawn(n)`` makes n more of it, independent of each other.

    Examples
    --------
    >>> from wengert import random
    >>> rng = random.generator(7)
    >>> random.randint(rng, 0, 100, shape=3)
    Tensor([94, 62, 68], dtype=int64)
    """
    if seed is None or isinstance(seed, (bool, float, Generator)):
        raise TypeError(
            f"generator: got {seed!r}; expected an integer, so that the same numbers can be had "
            "again"
        )
    return np.random.default_rng(seed)


# -- parameters, shapes and noise -----------------------------------------------------------


def check_generator(name: str, rng: Any) -> None:
    """Raise unless `rng` is a generator."""
    if not isinstance(rng, Generator):
        raise TypeError(
            f"{name}: rng is of type {type(rng).__name__}; expected a generator. Write "
            "rng = wg.random.generator(seed) once, and pass it to every call"
        )


def parameters(name: str, rng: Any, dtype: Any, **given: Any) -> list[Tensor]:
    """Return parameters as tensors of one library and one floating dtype."""
    check_generator(name, rng)
    tensors = [shapes.tensor(value, name) for value in given.values()]
    arrays = [t for t, v in zip(tensors, given.values(), strict=True) if type(v) not in SCALARS]
    xp: Any = plain_namespace(arrays[0]._raw) if arrays else backends.NUMPY
    for key, x in zip(given, tensors, strict=True):
        if backends.kind_of(x.dtype) == "c":
            raise DtypeError(f"{name}: {key} of {x.dtype}; expected real numbers")
    if any(plain_namespace(x._raw) is not xp for x in arrays):
        raise BackendError(f"{name}: parameters of several array libraries; convert them first")
    if dtype is None:
        floats = [x.dtype for x in arrays if backends.is_inexact(x.dtype)]
        dtype = xp.result_type(*floats) if floats else xp.float64
    else:
        dtype = _in_library(xp, dtype)
        if backends.kind_of(dtype) != "f":
            raise DtypeError(f"{name}: dtype={dtype}; expected a real floating dtype")
    model = wrap(xp.asarray(0.0, dtype=dtype))
    return [
        like(x.numpy(), model) if type(value) in SCALARS else ew.astype(x, dtype, copy=False)
        for x, value in zip(tensors, given.values(), strict=True)
    ]


def _in_library(xp: Any, dtype: Any) -> Any:
    """Return a dtype by the name that a library has for it."""
    try:
        name = np.dtype(dtype).name
    except TypeError:  # torch.float32, array_api_strict.float32
        name = str(dtype).rpartition(".")[2]
    return np.dtype(name) if xp is backends.NUMPY else getattr(xp, name)


def full_shape(name: str, shape: Shape, *tensors: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the samples: as given, or what the parameters broadcast to."""
    common = shapes.broadcast_shapes(*tensors)
    if shape is None:
        return common
    wanted = (operator.index(shape),) if not isinstance(shape, (tuple, list)) else tuple(shape)
    try:
        fits = shapes.broadcast_shapes(common, wanted) == wanted
    except ShapeError:
        fits = False
    if not fits:
        raise ShapeError(f"{name}: parameters of shape {common} do not broadcast to shape={wanted}")
    return wanted


def check(name: str, key: str, x: Tensor, holds: Any, expected: str) -> None:
    """Raise unless a condition holds for all values of a parameter; a device's are not read."""
    if not batching.is_visible(x._raw):
        return
    values = batching.all_values(x._raw)
    wrong = values[np.logical_not(holds(values))]
    if wrong.size:
        raise ValueError(f"{name}: {key} has {wrong[0]}; expected {expected}")


def check_not_negative(name: str, key: str, x: Tensor) -> None:
    """Raise if a parameter has negative values."""
    check(name, key, x, lambda v: ~(v < 0), "0 or more")


def check_positive(name: str, key: str, x: Tensor) -> None:
    """Raise unless all values of a parameter are positive and finite."""
    check(name, key, x, lambda v: (v > 0) & (v < np.inf), "positive numbers")


def standard_noise(name: str, method: Any, shape: tuple[int, ...], model: Tensor) -> Tensor:
    """Return noise in the dtype and library of `model`; float32 is drawn as such if it can be."""
    single = str(model.dtype).endswith("float32") and method.__name__ in _IN_SINGLE
    options = {"dtype": np.float32} if single else {}
    return batching.drawn(name, lambda size: like(method(size=size, **options), model)._raw, shape)


_IN_SINGLE = {"standard_normal", "standard_exponential", "random"}
