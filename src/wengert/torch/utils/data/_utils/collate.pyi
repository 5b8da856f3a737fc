# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def collate(batch: Any, *, collate_fn_map: Any = ...) -> Any: ...
from wengert.torch.utils.data import default_collate as default_collate
default_collate_fn_map: Any
from wengert.torch.utils.data import default_convert as default_convert
