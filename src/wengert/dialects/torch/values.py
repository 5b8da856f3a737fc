"""Dtypes, modes and constants by PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

from wengert.dialects.torch import devices, dtypes, modes
from wengert.dialects.torch.table import plain, put
from wengert.dialects.torch.tensors import Tensor, is_tensor

for _kind in (*dtypes.DTYPES.values(), *dtypes.EXTENDED.values(), dtypes.complex32):
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
put(("__version__", "version.__version__"), "2.13.0")
put(("Size",), devices.Size)
put(("device",), devices.device)
put(("layout",), devices.layout)
put(("memory_format",), devices.memory_format)
for _word in (
    devices.strided, devices.sparse_coo, devices.contiguous_format, devices.preserve_format,
    devices.channels_last, devices.channels_last_3d,
):  # fmt: skip
    put((_word._name,), _word)
put(("finfo",), dtypes.finfo)
put(("iinfo",), dtypes.iinfo)
put(("promote_types",), dtypes.promote_types)
put(("is_grad_enabled",), modes.is_grad_enabled)
put(("no_grad", "autograd.no_grad", "autograd.grad_mode.no_grad"), modes.no_grad)
put(("enable_grad", "autograd.enable_grad", "autograd.grad_mode.enable_grad"), modes.enable_grad)
put(
    ("set_grad_enabled", "autograd.set_grad_enabled", "autograd.grad_mode.set_grad_enabled"),
    modes.set_grad_enabled,
)


@plain("result_type")
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """Return the dtype that an operation on two tensors or numbers has."""
    values = []
    for value in (tensor1, tensor2):
        if isinstance(value, Tensor):
            values.append(value._raw)
        elif isinstance(value, (bool, int, float, complex)):
            values.append(value)
        else:
            raise TypeError(
                f"result_type(): expected tensors or numbers, got {type(value).__name__}"
            )
    return dtypes.of_numpy(dtypes.result_type(*values))
