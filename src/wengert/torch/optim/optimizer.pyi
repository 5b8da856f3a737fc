# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.dialects.torch.optim.optimizer import Optimizer as Optimizer
from wengert.torch import Tensor as Tensor

def register_optimizer_step_post_hook(hook: Any) -> Any: ...
def register_optimizer_step_pre_hook(hook: Any) -> Any: ...

required: Any
