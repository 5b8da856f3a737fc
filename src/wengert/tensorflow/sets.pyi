# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def intersection(a: Any, b: Any, validate_indices: bool = ..., **_options: Any) -> Any: ...
