# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.optim import Optimizer as Optimizer
def register_optimizer_step_post_hook(hook: Any) -> Any: ...
def register_optimizer_step_pre_hook(hook: Any) -> Any: ...
required: Any
