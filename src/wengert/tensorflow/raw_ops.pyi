# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def Bucketize(input: Any, boundaries: Any, **_options: Any) -> Tensor: ...
def ImageProjectiveTransformV3(images: _Tensor, transforms: Any, output_shape: Sequence[int], fill_value: Any, interpolation: str, fill_mode: str = ..., **_options: Any) -> Tensor: ...
