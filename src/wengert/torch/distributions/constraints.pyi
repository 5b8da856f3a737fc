# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

positive: Any
positive_definite: Any
real: Any
