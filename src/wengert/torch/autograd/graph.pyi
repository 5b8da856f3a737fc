# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.grad_fns import GradFn as Node
def disable_saved_tensors_hooks(error_message: str, **_options: Any) -> Any: ...
def save_on_cpu(pin_memory: Any = ..., device_type: Any = ...) -> Any: ...
from wengert.dialects.torch.hooks import saved_tensors_hooks as saved_tensors_hooks
