# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def constant(pylist: Any, dtype: Any = ..., ragged_rank: Any = ..., inner_shape: Any = ..., name: Any = ..., row_splits_dtype: Any = ...) -> Any: ...
def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any: ...
