"""The names of HIPS autograd over Wengert's transforms.

A program that was written for `autograd` moves by its imports:

    import wengert.dialects.autograd.numpy as np
    from wengert.dialects.autograd import grad

There is no mathematics here. Functions of NumPy and SciPy are their own on plain arrays, and
Wengert's operations where something is recorded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.builtins import dict, isinstance, list, tuple, type
from wengert.dialects.autograd.differential_operators import (
    checkpoint,
    deriv,
    egrad,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from wengert.dialects.autograd.extend import with_old_methods as primitive

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "egrad",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]

#: Modules that are imported when they are first used.
_LATE = ("misc", "numpy", "scipy", "test_util", "tracer")
#: Names of older versions.
_OLD = {
    "multigrad": "write grad(fun, argnum=(0, 1))",
    "multigrad_dict_and_value": "write multigrad_dict",
    "value_and_multigrad": "write value_and_grad(fun, argnum=(0, 1))",
    "container_types": "lists, tuples and dicts are Python's own",
    "quick_grad_check": "write check_grads of wengert.autograd.test_util",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return import_module(f"{__name__}.{name}")
    raise missing(__name__, name, (*__all__, *_LATE), _OLD.get(name, ""))
