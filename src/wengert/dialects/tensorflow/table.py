"""How a name is offered: TensorFlow's dotted names for one function, and what is different.

`@offered("math.reduce_sum", "reduce_sum")` puts a function under `tf.math.reduce_sum` and
`tf.reduce_sum`. It takes TensorFlow's arguments, converts them with `tensors.convert`, calls
Wengert's operations, and returns Wengert's tensors: the decorator makes them TensorFlow's, and
makes errors of operations `InvalidArgumentError`. `differs` says in a sentence what is not as in
TensorFlow, for the table in the docs. There is no mathematics here: that belongs in Wengert's
operations.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from inspect import Parameter, Signature
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from wengert.dialects import quiet
from wengert.dialects.kernel.functions import Dialect, Function, Quick, function
from wengert.dialects.quiet import QUIETLY
from wengert.dialects.tensorflow.errors import INVALID, OpError, invalid
from wengert.dialects.tensorflow.tensors import (
    Tensor,
    call_start,
    convert,
    is_variable,
    noticed,
    outward,
)
from wengert.engine.fastpath import Front, caller
from wengert.engine.tensor import Tensor as Native
from wengert.errors import DtypeError, NonFiniteError, ShapeError
from wengert.explain.watchers import finished

#: Every name that is offered, with what it is.
NAMES: dict[str, Any] = {}
#: What is not as in TensorFlow, by name.
DIFFERENCES: dict[str, str] = {}
#: What is said of names that are not offered on purpose.
ABSENT: dict[str, str] = {}
_HERE = "wengert.dialects.tensorflow"
#: The modules that offer names, and those that do so once a name of theirs is looked up.
_PARTS = """
    tensors operators slices variables structures tapes forward math reductions products
    tensor_arrays control settings debugging creation shapes indexing clipping
"""
PARTS = tuple(f"{_HERE}.{part}" for part in _PARTS.split())
#: What is in tf.math, and in `nn` here.
_FROM_NN = ("softmax", "log_softmax", "softplus", "softsign", "l2_normalize")
LATE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("data", "experimental.Optional", "OptionalSpec"), (f"{_HERE}.datasets",)),
    "nn": (f"{_HERE}.nn", f"{_HERE}.convolutions"),
    "image": (f"{_HERE}.image",),
    "raw_ops.ImageProjectiveTransformV3": (f"{_HERE}.image",),
    "random": (f"{_HERE}.random",),
    **dict.fromkeys(
        ("linalg", "norm", "eig", "eigvals", "matrix_square_root"), (f"{_HERE}.linalg",)
    ),
    "signal": (f"{_HERE}.signal",),
    "strings": (
        f"{_HERE}.sparse", f"{_HERE}.ragged", f"{_HERE}.strings", f"{_HERE}.hashing",
    ),
    "io": (f"{_HERE}.strings", f"{_HERE}.files"),
    "lookup": (f"{_HERE}.lookup",),
    "train": (f"{_HERE}.checkpoints",),
    "experimental": (f"{_HERE}.numpy_names", f"{_HERE}.keras.names"),
    **{f"math.{name}": (f"{_HERE}.nn",) for name in _FROM_NN},
    "linalg.l2_normalize": (f"{_HERE}.nn",),
    **dict.fromkeys(
        ("__internal__", "compat", "compiler", "distribute", "python", "RaggedTensorSpec"),
        (f"{_HERE}.keras.names",),
    ),
    **dict.fromkeys(("RaggedTensor", "experimental.RowPartition"), (f"{_HERE}.ragged",)),
    **dict.fromkeys(("sparse", "SparseTensor", "SparseTensorSpec"), (f"{_HERE}.sparse",)),
}  # fmt: skip


def _of_keras(path: str) -> Callable[[], Any]:
    """Return a function that returns what the package `keras` has under a dotted name."""

    def find() -> Any:
        found = importlib.import_module(f"{_HERE}.keras.bridge").package()
        return attrgetter(path)(found) if path else found

    return find


#: What is Keras's, and loaded with it.
ELSEWHERE = {
    "keras": _of_keras(""),
    **{name: _of_keras(name) for name in ("optimizers", "losses", "metrics", "initializers")},
    **{
        f"{name}_initializer": _of_keras(f"initializers.{name}")
        for name in ("zeros", "ones", "constant", "random_normal", "random_uniform")
    },
}


def put(names: tuple[str, ...], value: Any, differs: str = "") -> None:
    """Offer a value under some names."""
    for name in names:
        if name in NAMES:
            raise ValueError(f"tf.{name} is offered twice")
        NAMES[name] = value
        if differs:
            DIFFERENCES[name] = differs


def _translate(error: Exception, function: Function) -> Exception:
    """Return TensorFlow's error for one that an operation raised."""
    if isinstance(error, NonFiniteError):
        return error
    ours = isinstance(error, (ShapeError, DtypeError, np.exceptions.AxisError))
    if not ours and (isinstance(error, (OpError, *function.raises)) or hasattr(error, "as_is")):
        return error
    return invalid(f"{error} [Op:{function.name}]")


#: What TensorFlow does around each call of a function.
DIALECT = Dialect(
    enter=lambda: (call_start(), quiet.enter()),
    leave=lambda state: quiet.leave(state[1]),
    finish=lambda result, given, state, name: finished(
        name, noticed(outward(result, state[0]), given), given
    ),
    errors=INVALID,
    translate=_translate,
    extra="name",
    by_name=False,
)
#: The same for what is no operation to TensorFlow, so that tapes do not record it; see `noticed`.
UNRECORDED = replace(DIALECT, finish=lambda result, _given, state, _: outward(result, state[0]))


def guarded(
    name: str, *raises: type[Exception], recorded: bool = True, quick: Quick | None = None,
    named: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Return a decorator that makes a function's arguments, tensors and errors TensorFlow's.

    Errors of the classes in `raises` come through as they are; TensorFlow checks some arguments in
    Python, and raises ValueError or TypeError. So does one that is raised `as_is`. `recorded` says
    that it is an operation to TensorFlow.
    """
    dialect = DIALECT if recorded else UNRECORDED
    dialect = dialect if named else replace(dialect, extra="")
    label = name.rpartition(".")[2]
    return lambda body: function(Function(body, name, dialect, label, raises=raises, quick=quick))


def at_once(operation: Any, otherwise: Any, kinds: str, when: str = "") -> Callable[..., Any]:
    """Return what calls an operation on tensors of some kinds of numbers; see `Front`.

    Results are `noticed` if some of the operation's derivatives are zero.
    """
    call = caller(operation.op, Front(Tensor, otherwise, kinds, errors=QUIETLY, when=when))
    if None not in operation.op.rules:
        return call
    return lambda *args, **options: noticed(call(*args, **options), args)


def quick_call(operation: Any, given: Any = MappingProxyType({}), *how: str) -> Quick:
    """Return the short cut to an operation for tensors of some kinds of numbers; see `Quick`."""

    def otherwise(op: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return call(outward(convert(args[0]))) if is_variable(args[0]) else NotImplemented

    call = at_once(operation, otherwise, *(how or ("fc",)))
    return Quick(call, Tensor if given else None, given)


def offered(
    *names: str, differs: str = "", raises: tuple[type[Exception], ...] = (), recorded: bool = True,
    quick: Quick | None = None, named: bool = True, doc: str = "", **kinds: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Return a decorator that offers a function under some names.

    All take the argument `name` unless `named` says otherwise. A body that several functions share
    gets its docstring and the `kinds` of its parameters here. For the other options see `guarded`.
    """

    def declare(body: Callable[..., Any]) -> Callable[..., Any]:
        body.__doc__ = doc or body.__doc__
        body.__annotations__.update(kinds)
        call = guarded(names[0], *raises, recorded=recorded, quick=quick, named=named)(body)
        put(names, call, differs)
        return call

    return declare


def row(
    names: str, compute: Any, doc: str, returns: Any = Native, /, **options: Any
) -> Callable[..., Any]:
    """Offer and return a function that computes something of its arguments, all of which it needs.

    `options` are those of `offered`, and the kinds of the parameters by name, in their order.
    """

    def body(*args: Any) -> Any:
        return compute(*args)

    words = [word for word, kind in options.items() if hasattr(kind, "__metadata__")]
    parameters = [Parameter(word, Parameter.POSITIONAL_OR_KEYWORD) for word in words]
    body.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    body.__annotations__["return"] = returns
    return offered(*names.split(), doc=f"Return {doc}.", **options)(body)


def absent(instead: dict[str, str], module: str = "") -> None:
    """Say what to write instead of names that are not offered."""
    for name, text in instead.items():
        ABSENT[f"{module}{name}"] = f"tf.{module}{name} is not offered; write {text}"


def plain(*names: str, differs: str = "") -> Callable[[Any], Any]:
    """Return a decorator that offers a function or a class as it is."""

    def declare(value: Any) -> Any:
        put(names, value, differs)
        return value

    return declare
