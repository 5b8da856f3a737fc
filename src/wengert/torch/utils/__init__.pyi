# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor
from . import _pytree as _pytree
from . import benchmark as benchmark
from . import checkpoint as checkpoint
from . import data as data
from . import hooks as hooks

def swap_tensors(t1: Any, t2: Any) -> Any: ...
