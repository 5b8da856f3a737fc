# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def device_count(*args: Any, **options: Any) -> Any: ...
def empty_cache(*args: Any, **options: Any) -> Any: ...
def is_available(*args: Any, **options: Any) -> Any: ...
from wengert.torch.mps import empty_cache as manual_seed
from wengert.torch.cuda import manual_seed_all as seed
