# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.autograd import Function as Function
from wengert.dialects.torch.autograd_function import FunctionCtx as FunctionCtx
from wengert.dialects.torch.autograd_function import InplaceFunction as InplaceFunction
from wengert.dialects.torch.autograd_function import VmapInfo as VmapInfo
def once_differentiable(fn: Any) -> Any: ...
