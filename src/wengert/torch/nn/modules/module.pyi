# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import Module as Module
register_module_backward_hook: Any
register_module_forward_hook: Any
register_module_forward_pre_hook: Any
register_module_full_backward_hook: Any
register_module_full_backward_pre_hook: Any
