"""The names of HIPS autograd over Wengert's transforms.

A program that was written for `autograd` moves by its imports:

    import wengert.autograd.numpy as np
    from wengert.autograd import grad

There is no mathematics here. Functions of NumPy and SciPy are their own on plain arrays, and
Wengert's operations where something is recorded.
"""

from __future__ import annotations

from wengert.dialects.autograd import builtins as _builtins
from wengert.dialects.autograd import differential_operators as _operators
from wengert.dialects.autograd.builtins import *  # noqa: F403
from wengert.dialects.autograd.differential_operators import *  # noqa: F403
from wengert.dialects.autograd.extend import with_old_methods as primitive

__all__ = ["primitive"]
__all__ += _builtins.__all__
__all__ += _operators.__all__

#: What is said of names of older versions.
ABSENT = {
    "multigrad": "write grad(fun, argnum=(0, 1))",
    "multigrad_dict_and_value": "write multigrad_dict",
    "value_and_multigrad": "write value_and_grad(fun, argnum=(0, 1))",
    "container_types": "lists, tuples and dicts are Python's own",
    "quick_grad_check": "write check_grads of wengert.autograd.test_util",
}
