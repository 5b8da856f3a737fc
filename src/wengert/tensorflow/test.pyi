# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def compute_gradient(f: Any, x: Any, delta: Any = ...) -> Any: ...
def gpu_device_name() -> Any: ...
def is_built_with_cuda(*args: Any, **kwargs: Any) -> Any: ...
from wengert.tensorflow.test import is_built_with_cuda as is_gpu_available
