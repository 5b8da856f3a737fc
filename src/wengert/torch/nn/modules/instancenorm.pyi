# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import InstanceNorm1d as InstanceNorm1d
from wengert.torch.nn import InstanceNorm2d as InstanceNorm2d
from wengert.torch.nn import InstanceNorm3d as InstanceNorm3d
from wengert.torch.nn import LazyInstanceNorm1d as LazyInstanceNorm1d
from wengert.torch.nn import LazyInstanceNorm2d as LazyInstanceNorm2d
from wengert.torch.nn import LazyInstanceNorm3d as LazyInstanceNorm3d
from wengert.dialects.torch.nn.layers.normalisation import _Affine as __Affine
class _InstanceNorm(__Affine):
    def __init__(self, num_features: Any, eps: Any = ..., momentum: Any = ..., affine: Any = ..., track_running_stats: Any = ..., device: Any = ..., dtype: Any = ..., *, bias: Any = ...) -> None: ...
    def _check_channels(self, input: Any) -> Any: ...
    def _normalised(self, input: Any) -> Any: ...
    def forward(self, input: Any) -> Any: ...
    ...
