# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.dialects.torch.autograd_function import Function as Function
from wengert.dialects.torch.autograd_function import FunctionCtx as FunctionCtx
from wengert.dialects.torch.autograd_function import InplaceFunction as InplaceFunction
from wengert.dialects.torch.autograd_function import VmapInfo as VmapInfo
from wengert.torch import Tensor as Tensor

def once_differentiable(fn: Any) -> Any: ...
