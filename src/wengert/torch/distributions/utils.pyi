# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any: ...
def broadcast_all(*values: Any) -> Any: ...
from functools import cached_property as lazy_property
