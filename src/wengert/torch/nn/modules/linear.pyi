# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import Bilinear as Bilinear
from wengert.torch.nn import Identity as Identity
from wengert.torch.nn import LazyLinear as LazyLinear
from wengert.torch.nn import Linear as Linear
from wengert.dialects.torch.nn.layers.calls import Weighted as _Weighted
class NonDynamicallyQuantizableLinear(_Weighted):
    ...
