# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def normalize(x: Any, axis: Any = ..., order: Any = ...) -> Any: ...
def set_random_seed(seed: Any) -> Any: ...
def to_categorical(x: Any, num_classes: Any = ...) -> Any: ...
