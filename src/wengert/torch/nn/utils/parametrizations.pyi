# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def spectral_norm(module: Any, name: Any = ..., n_power_iterations: Any = ..., eps: Any = ..., dim: Any = ...) -> Any: ...
def weight_norm(module: Any, name: Any = ..., dim: Any = ...) -> Any: ...
