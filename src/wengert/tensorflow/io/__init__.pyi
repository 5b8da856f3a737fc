# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import gfile as gfile

def read_file(filename: Any, **_options: Any) -> Tensor: ...
def write_file(filename: Any, contents: Any, **_options: Any) -> Any: ...
