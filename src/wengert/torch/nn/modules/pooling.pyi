# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from wengert.torch.nn import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from wengert.torch.nn import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from wengert.torch.nn import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from wengert.torch.nn import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from wengert.torch.nn import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from wengert.torch.nn import AvgPool1d as AvgPool1d
from wengert.torch.nn import AvgPool2d as AvgPool2d
from wengert.torch.nn import AvgPool3d as AvgPool3d
from wengert.torch.nn import MaxPool1d as MaxPool1d
from wengert.torch.nn import MaxPool2d as MaxPool2d
from wengert.torch.nn import MaxPool3d as MaxPool3d
from wengert.torch.nn import MaxUnpool1d as MaxUnpool1d
from wengert.torch.nn import MaxUnpool2d as MaxUnpool2d
from wengert.torch.nn import MaxUnpool3d as MaxUnpool3d
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _AdaptiveAvgPoolNd(_Call):
    def __init__(self, output_size: Any) -> None: ...
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _AdaptiveMaxPoolNd(_Call):
    def __init__(self, output_size: Any, return_indices: Any = ...) -> None: ...
    ...
from wengert.dialects.torch.nn.layers.pooling import _Windows as __Windows
class _AvgPoolNd(__Windows):
    def __init__(self, kernel_size: Any, stride: Any = ..., padding: Any = ..., ceil_mode: Any = ..., count_include_pad: Any = ..., divisor_override: Any = ...) -> None: ...
    ...
from wengert.dialects.torch.nn.layers.pooling import _Windows as __Windows
class _MaxPoolNd(__Windows):
    def __init__(self, kernel_size: Any, stride: Any = ..., padding: Any = ..., dilation: Any = ..., return_indices: Any = ..., ceil_mode: Any = ...) -> None: ...
    ...
from wengert.dialects.torch.nn.layers.pooling import _Windows as __Windows
class _MaxUnpoolNd(__Windows):
    def __init__(self, kernel_size: Any, stride: Any = ..., padding: Any = ...) -> None: ...
    def _init_with(self, **options: Any) -> Any: ...
    ...
