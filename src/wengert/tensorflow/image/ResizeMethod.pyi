# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

AREA: Any
BICUBIC: Any
BILINEAR: Any
GAUSSIAN: Any
LANCZOS3: Any
LANCZOS5: Any
MITCHELLCUBIC: Any
NEAREST_NEIGHBOR: Any
