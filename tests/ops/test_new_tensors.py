"""A function that finds nothing to do still returns a tensor of its own.

Were the result the argument itself, a gradient with respect to it would also count the paths that
go around the function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.ops.numpy.functions import FUNCTIONS

NOTHING_TO_DO: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: wg.reshape(x, x.shape),
    "reshape, no copy": lambda x: wg.reshape(x, x.shape, copy=False),
    "expand_dims": lambda x: wg.expand_dims(x, axis=()),
    "squeeze": lambda x: wg.squeeze(x, axis=()),
    "diff": lambda x: wg.diff(x, n=0),
    "broadcast_to": lambda x: wg.broadcast_to(x, x.shape),
    "broadcast_arrays": lambda x: wg.broadcast_arrays(x)[0],
    "meshgrid": lambda x: wg.meshgrid(x)[0],
    "concat": lambda x: wg.concat([x]),
    "pad": lambda x: wg.pad(x, 0),
    "roll": lambda x: wg.roll(x, 0),
    "tile": lambda x: wg.tile(x, (1,)),
    "repeat": lambda x: wg.repeat(x, 1),
    "flip": lambda x: wg.flip(x, axis=()),
    "permute_dims": lambda x: wg.permute_dims(x, (0,)),
    "sum": lambda x: wg.sum(x, axis=()),
    "clip": lambda x: wg.clip(x),
    "astype": lambda x: wg.astype(x, x.dtype),
    "fftshift": lambda x: wg.fft.fftshift(x, axes=()),
    "dropout": lambda x: wg.nn.dropout(x, 0.0, generator=np.random.default_rng(0)),
    "interpolate": lambda x: wg.reshape(
        wg.nn.interpolate(wg.reshape(x, (1, 1, 3)), size=3, mode="linear"), (3,)
    ),
    "all of it": lambda x: x[:],
    "ellipsis": lambda x: x[...],
    "real": lambda x: x.real,
    "np.real": np.real,
    "np.ravel": np.ravel,
    "np.atleast_1d": np.atleast_1d,
    "np.broadcast_arrays": lambda x: np.broadcast_arrays(x)[0],
    "np.broadcast_to": lambda x: np.broadcast_to(x, (3,)),
    "np.reshape": lambda x: np.reshape(x, -1),
    "np.squeeze": np.squeeze,
    "np.diff": lambda x: np.diff(x, n=0),
    "np.rot90": lambda x: np.rot90(x[None], 0)[0],
    "np.transpose": np.transpose,
}


@pytest.mark.parametrize("name", NOTHING_TO_DO)
def test_gradients_by_the_result_and_by_the_argument_differ(name: str) -> None:
    x = wg.asarray([1.0, 2.0, 3.0])
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = NOTHING_TO_DO[name](x)
        z = wg.sum(y * x)
    assert y is not x
    np.testing.assert_allclose(tape.gradient(z, y), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(tape.gradient(z, x), [2.0, 4.0, 6.0])


def test_powers_of_matrices() -> None:
    x = wg.asarray([[1.0, 2.0], [3.0, 4.0]])
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.linalg.matrix_power(x, 1)
        z = wg.sum(y * x)
    np.testing.assert_allclose(tape.gradient(z, y), x.numpy())


#: These return a tensor that they are given, as the standard says they may.
CONVERSIONS = {"asarray", "from_dlpack"}
SHAPES: list[tuple[int, ...]] = [(3,), (), (3, 3), (1, 3), (1, 1, 3, 3)]


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for space in ("", ".linalg", ".fft", ".special", ".nn"):
        module = __import__(f"wengert{space}", fromlist=["__all__"])
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type) and name not in CONVERSIONS:
                yield f"wg{space}.{name}", function
    for function in FUNCTIONS:
        yield f"np.{function.__name__}", function


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def test_no_function_returns_its_argument() -> None:
    """Each function of one tensor, and of one tensor and a usual second argument."""
    calls = 0
    for name, function in functions():
        for shape in SHAPES:
            for further in ((), (0,), (1,), ((),), (shape,), (None,)):
                x = wg.asarray(np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape))
                with wg.GradientTape() as tape, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tape.watch(x)
                    try:
                        y = function(x, *further)
                    except Exception:  # not a call that this function takes
                        continue
                calls += 1
                for leaf in leaves(y):
                    mine = type(leaf) is wg.Tensor and (leaf is x or leaf._node is x._node)
                    assert not mine, f"{name}(x, {further}) of shape {shape} is x"
    assert calls > 1500
