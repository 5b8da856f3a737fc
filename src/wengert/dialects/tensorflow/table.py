"""How a name is offered: TensorFlow's dotted names for one function, and what is different.

`@offered("math.reduce_sum", "reduce_sum")` puts a function under `tf.math.reduce_sum` and
`tf.reduce_sum`. It takes TensorFlow's arguments, converts them with `tensors.convert`, calls
Wengert's operations, and returns Wengert's tensors: the decorator makes them TensorFlow's, and
makes errors of operations `InvalidArgumentError`. `differs` says in a sentence what is not as in
TensorFlow, for the table in the docs. There is no mathematics here: that belongs in Wengert's
operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects import quiet
from wengert.dialects.tensorflow.errors import INVALID, OpError, invalid
from wengert.dialects.tensorflow.tensors import call_start, noticed, outward
from wengert.engine.errors import DtypeError, ShapeError

#: Every name that is offered, with what it is.
NAMES: dict[str, Any] = {}
#: What is not as in TensorFlow, by name.
DIFFERENCES: dict[str, str] = {}
#: What is said of names that are not offered on purpose.
ABSENT: dict[str, str] = {}
_HERE = "wengert.dialects.tensorflow"
#: The modules that offer names, and those that do so once a name of theirs is looked up.
PARTS = tuple(
    f"{_HERE}.{part}"
    for part in (
        "values",
        "tensors",
        "operators",
        "slices",
        "variables",
        "structures",
        "tapes",
        "forward",
        "math",
        "reductions",
        "products",
        "tensor_arrays",
        "control",
        "settings",
        "debugging",
        "creation",
        "shapes",
        "indexing",
        "clipping",
    )
)
#: What is in tf.math, and in `nn` here.
_FROM_NN = ("softmax", "log_softmax", "softplus", "softsign", "zero_fraction", "l2_normalize")
_INITIALIZERS = tuple(
    f"{name}_initializer"
    for name in ("zeros", "ones", "constant", "random_normal", "random_uniform")
)
LATE: dict[str, tuple[str, ...]] = {
    "data": (f"{_HERE}.datasets",),
    "nn": (f"{_HERE}.nn", f"{_HERE}.convolutions"),
    "image": (f"{_HERE}.image",),
    "random": (f"{_HERE}.random",),
    **dict.fromkeys(
        ("keras", "losses", "metrics", "optimizers", "initializers", *_INITIALIZERS),
        tuple(
            f"{_HERE}.keras.{part}"
            for part in ("optimizers", "losses", "activations", "initializers", "metrics", "utils")
        ),
    ),
    **dict.fromkeys(
        ("linalg", "norm", "eig", "eigvals", "matrix_square_root"), (f"{_HERE}.linalg",)
    ),
    "signal": (f"{_HERE}.signal",),
    **{f"math.{name}": (f"{_HERE}.nn",) for name in _FROM_NN},
    "linalg.l2_normalize": (f"{_HERE}.nn",),
}


def put(names: tuple[str, ...], value: Any, differs: str = "") -> None:
    """Offer a value under some names."""
    for name in names:
        if name in NAMES:
            raise ValueError(f"tf.{name} is offered twice")
        NAMES[name] = value
        if differs:
            DIFFERENCES[name] = differs


def guarded(
    name: str, *raises: type[Exception], recorded: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a function's tensors and errors TensorFlow's.

    Errors of the classes in `raises` come through as they are; TensorFlow checks some arguments in
    Python, and raises ValueError or TypeError. So does one that is raised `as_is`. `recorded` says
    that it is an operation to TensorFlow, which tapes record, see `noticed`.
    """
    passed: tuple[type[Exception], ...] = (OpError, *raises)

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            start, loud = call_start(), quiet.enter()
            try:
                found = outward(function(*args, **options), start)
                return noticed(found, (*args, *options.values())) if recorded else found
            except (ShapeError, DtypeError, np.exceptions.AxisError) as error:  # of ours
                raise invalid(f"{error} [Op:{name}]") from error
            except passed:
                raise
            except INVALID as error:
                if hasattr(error, "as_is"):
                    raise
                if error.__traceback__ is None or error.__traceback__.tb_next is None:
                    raise  # the call itself: a missing argument, or one of another name
                raise invalid(f"{error} [Op:{name}]") from error
            finally:
                quiet.leave(loud)

        return call

    return declare


def offered(
    *names: str,
    differs: str = "",
    raises: tuple[type[Exception], ...] = (),
    recorded: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a function under some names, guarded by `guarded`."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        call = guarded(names[0], *raises, recorded=recorded)(function)
        put(names, call, differs)
        return call

    return declare


def plain(*names: str, differs: str = "") -> Callable[[Any], Any]:
    """Return a decorator that offers a function or a class as it is."""

    def declare(value: Any) -> Any:
        put(names, value, differs)
        return value

    return declare
