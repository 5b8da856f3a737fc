# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.dialects.torch.checkpoint import CheckpointError as CheckpointError
from wengert.dialects.torch.checkpoint import CheckpointFunction as CheckpointFunction
from wengert.torch import Tensor as Tensor

def check_backward_validity(inputs: Any) -> Any: ...
def checkpoint(
    function: Any,
    *args: Any,
    use_reentrant: Any = ...,
    context_fn: Any = ...,
    determinism_check: Any = ...,
    debug: Any = ...,
    early_stop: Any = ...,
    **kwargs: Any,
) -> Any: ...
def checkpoint_sequential(
    functions: Any, segments: Any, input: Any, use_reentrant: Any = ..., **kwargs: Any
) -> Any: ...
def detach_variable(inputs: Any) -> Any: ...
def noop_context_fn() -> Any: ...
