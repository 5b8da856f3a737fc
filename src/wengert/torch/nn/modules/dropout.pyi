# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import AlphaDropout as AlphaDropout
from wengert.torch.nn import Dropout as Dropout
from wengert.torch.nn import Dropout1d as Dropout1d
from wengert.torch.nn import Dropout2d as Dropout2d
from wengert.torch.nn import Dropout3d as Dropout3d
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _DropoutNd(_Call):
    def __init__(self, p: Any = ..., inplace: Any = ...) -> None: ...
    def _init_with(self, **options: Any) -> Any: ...
    ...
