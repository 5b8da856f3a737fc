"""Wengert: exact derivatives of array programs, built around the list of operations.

    >>> import wengert as wg
    >>> x = wg.asarray([1.0, 2.0])
    >>> with wg.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = wg.sum(wg.exp(x) * x)
    >>> tape.gradient(y, x)
    Tensor([ 5.43656366, 22.1671683 ], dtype=float64)

The module is a namespace of the Python Array API standard.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from wengert import collector as _collector  # noqa: F401
from wengert import explain as _explain
from wengert import extend
from wengert import other_names as _other_names
from wengert.backends.host import allow_host_fallback
from wengert.elements import selections as _selections
from wengert.elements.influence import influence
from wengert.engine.cotangents import Block
from wengert.engine.tensor import Tensor
from wengert.errors import (
    BackendError,
    CompileError,
    CutPathError,
    CutPathWarning,
    DegenerateWarning,
    DtypeError,
    NoGradientError,
    NoGradientWarning,
    NonFiniteError,
    NoRuleError,
    RuleError,
    ShapeError,
    TapeError,
    UnconnectedWarning,
    WengertError,
)
from wengert.explain import float_warnings as _float_warnings  # noqa: F401
from wengert.explain import formats as _formats  # noqa: F401
from wengert.explain import html as _html  # noqa: F401
from wengert.explain.explanation import Explanation, Reason
from wengert.ops import operators as _operators
from wengert.ops.contractions import *  # noqa: F403
from wengert.ops.creation import *  # noqa: F403
from wengert.ops.cumulative import *  # noqa: F403
from wengert.ops.dtypes import *  # noqa: F403
from wengert.ops.dtypes import bool_ as bool
from wengert.ops.elementwise import *  # noqa: F403
from wengert.ops.elementwise import abs_ as abs
from wengert.ops.elementwise import complex_ as complex
from wengert.ops.elementwise import power as pow
from wengert.ops.elementwise import round_ as round
from wengert.ops.families.factored import Factored
from wengert.ops.indexing import *  # noqa: F403
from wengert.ops.joining import *  # noqa: F403
from wengert.ops.namespace import PUBLIC as _public
from wengert.ops.numpy import protocol as _numpy_protocol
from wengert.ops.reductions import *  # noqa: F403
from wengert.ops.segments import *  # noqa: F403
from wengert.ops.shapes import *  # noqa: F403
from wengert.ops.sorting import *  # noqa: F403
from wengert.ops.variable import Variable
from wengert.transforms.check import GradientCheckError, check_grads
from wengert.transforms.checkpoint import checkpoint
from wengert.transforms.checkpoint_loop import checkpoint_loop
from wengert.transforms.custom import custom_gradient, custom_jvp, custom_vjp
from wengert.transforms.forward import ForwardAccumulator, jvp, linearize
from wengert.transforms.gradients import grad, stop_gradient, value_and_grad, vjp
from wengert.transforms.implicit import implicit_function
from wengert.transforms.jacobians import (
    gnvp,
    hessian,
    hessian_diagonal,
    hvp,
    jac_diagonal,
    jacobian,
    laplacian,
)
from wengert.transforms.tape import GradientTape
from wengert.transforms.vmap import vmap

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

_operators.install()
_selections.install()
_numpy_protocol.install()
_other_names.answer_for_attributes(Tensor)
Tensor._tell_cut = lambda *given: _explain.cut_paths.tell_cut(*given)


def _inspect_tape(
    tape: GradientTape, target: object = None, port: object = None, browser: object = None
) -> object:
    """Open a page that shows what the tape recorded; the inspector is imported when it is asked."""
    from importlib import import_module

    return import_module("wengert.inspector").inspect_tape(tape, target, port, browser)


GradientTape.inspect = _inspect_tape

__all__ = [
    "BackendError", "Block", "CompileError", "CutPathError", "CutPathWarning", "DegenerateWarning",
    "DtypeError", "Explanation", "Factored", "ForwardAccumulator", "GradientCheckError",
    "GradientTape", "NoGradientError", "NoGradientWarning", "NoRuleError", "NonFiniteError",
    "Reason", "RuleError", "ShapeError", "TapeError", "Tensor", "UnconnectedWarning", "Variable",
    "WengertError", "abs", "allow_host_fallback", "bool", "check_grads", "checkpoint",
    "checkpoint_loop", "clipped_gradient", "complex", "cond", "custom_gradient", "custom_jvp",
    "custom_vjp", "debug", "extend", "fft", "gnvp", "grad", "hessian", "hessian_diagonal", "hvp",
    "implicit_function", "influence", "inspect", "jac_diagonal", "jacobian", "jit", "jvp",
    "laplacian", "linalg", "linearize", "nn", "optim", "per_example_norms", "pow", "profile",
    "random", "round", "running", "scan", "sparse", "special", "stop_gradient", "value_and_grad",
    "vjp", "vmap", "while_loop",
]  # fmt: skip
__all__ += sorted(_public.keys() - {*__all__})

#: Modules that are imported when they are first used.
_LATE = (
    "autograd", "dask", "fft", "linalg", "nn", "optim", "random", "sparse", "special",
    "tensorflow", "torch",
)  # fmt: skip

#: Functions whose modules are.
_LATE_FUNCTIONS = {
    "clipped_gradient": "transforms.per_example", "cond": "transforms.loops",
    "debug": "explain.debug", "inspect": "inspector", "jit": "transforms.jit",
    "per_example_norms": "transforms.per_example", "profile": "explain.profile",
    "running": "runner",
    "scan": "transforms.loops", "while_loop": "transforms.loops",
}  # fmt: skip

#: Dtypes of `ml_dtypes`, which is imported when one of them is first used.
_NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2")

if _TYPE_CHECKING:
    from numpy import dtype as _dtype

    from wengert import autograd as autograd
    from wengert import dask as dask
    from wengert import fft, linalg, nn, optim, random, sparse, special
    from wengert import tensorflow as tensorflow
    from wengert import torch as torch
    from wengert.explain.debug import debug
    from wengert.explain.profile import profile
    from wengert.inspector import inspect
    from wengert.runner import running
    from wengert.transforms.jit import jit
    from wengert.transforms.loops import cond, scan, while_loop
    from wengert.transforms.per_example import clipped_gradient, per_example_norms

    bfloat16: _dtype
    float8_e4m3fn: _dtype
    float8_e5m2: _dtype
else:  # a type checker is to know that other names are mistakes

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _LATE:
            return import_module(f"wengert.{name}")
        if name in _LATE_FUNCTIONS:
            return getattr(import_module(f"wengert.{_LATE_FUNCTIONS[name]}"), name)
        if name in _NARROW:
            from wengert.backends import extended

            return extended(name)
        raise _other_names.missing(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
