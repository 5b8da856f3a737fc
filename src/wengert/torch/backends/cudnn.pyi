# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

allow_tf32: Any
benchmark: Any
deterministic: Any
enabled: Any
def flags(*args: Any, **options: Any) -> Any: ...
def is_available(*args: Any, **options: Any) -> Any: ...
from wengert.torch.accelerator import current_accelerator as version
