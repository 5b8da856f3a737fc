# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

class Buffer(Tensor):
    shown: Any

class Parameter(Tensor):
    def __deepcopy__(self, memo: Any) -> Any: ...
    def __init__(self, data: Any = ..., requires_grad: Any = ...) -> Any: ...
    shown: Any

class UninitializedParameter(Tensor):
    def __deepcopy__(self, memo: Any) -> Any: ...
    def __init__(self, requires_grad: Any = ..., device: Any = ..., dtype: Any = ...) -> Any: ...
    def materialize(self, shape: Any, device: Any = ..., dtype: Any = ...) -> Any: ...
    shape: Any
    shown: Any

def is_lazy(param: Any) -> Any: ...
