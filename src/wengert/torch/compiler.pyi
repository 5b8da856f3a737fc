# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch import compile as allow_in_graph
from wengert.torch import compile as disable
def is_compiling(*args: Any, **options: Any) -> Any: ...
from wengert.torch._C import _log_api_usage_once as reset
