# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def assert_close(actual: Any, expected: Any, *, allow_subclasses: Any = ..., rtol: Any = ..., atol: Any = ..., equal_nan: Any = ..., check_device: Any = ..., check_dtype: Any = ..., check_layout: Any = ..., check_stride: Any = ..., msg: Any = ...) -> Any: ...
