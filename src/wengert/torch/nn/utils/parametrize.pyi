# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.nn.parametrize import ParametrizationList as ParametrizationList
def is_parametrized(module: Any, tensor_name: Any = ...) -> Any: ...
def register_parametrization(module: Any, tensor_name: Any, parametrization: Any, *, unsafe: Any = ...) -> Any: ...
def remove_parametrizations(module: Any, tensor_name: Any, leave_parametrized: Any = ...) -> Any: ...
