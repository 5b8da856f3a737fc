# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.tensorflow import group as set_verbosity
def to_graph(value: Any = ..., *args: Any, **kwargs: Any) -> Any: ...
