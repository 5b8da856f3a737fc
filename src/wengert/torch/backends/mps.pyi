# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def is_available(*args: Any, **options: Any) -> Any: ...
from wengert.torch.cuda import is_bf16_supported as is_built
