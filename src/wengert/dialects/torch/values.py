"""Dtypes, modes and constants by PyTorch's names."""

from __future__ import annotations

import math

from wengert.dialects.torch import dtypes, modes
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, is_tensor

for _kind in dtypes.DTYPES.values():
    put((_kind.name,), _kind)
for _name, _kind in dtypes.ALIASES.items():
    put((_name,), _kind)
put(("dtype",), dtypes.dtype)
put(("Tensor",), Tensor)
put(("is_tensor",), is_tensor)
put(("get_default_dtype",), dtypes.default)
put(("set_default_dtype",), dtypes.set_default)
put(("pi",), math.pi)
put(("e",), math.e)
put(("inf",), math.inf)
put(("nan",), math.nan)
put(("newaxis",), None)
put(("__version__",), "2.13.0")
put(("is_grad_enabled",), modes.is_grad_enabled)
put(("no_grad", "autograd.no_grad", "autograd.grad_mode.no_grad"), modes.no_grad)
put(("enable_grad", "autograd.enable_grad", "autograd.grad_mode.enable_grad"), modes.enable_grad)
put(
    ("set_grad_enabled", "autograd.set_grad_enabled", "autograd.grad_mode.set_grad_enabled"),
    modes.set_grad_enabled,
)
