# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.nn.layers.normalisation import _Affine as __Affine
class InstanceNorm1d(__Affine):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.normalisation import _Affine as __Affine
class InstanceNorm2d(__Affine):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.normalisation import _Affine as __Affine
class InstanceNorm3d(__Affine):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.lazy import _Lazy as __Lazy
class LazyInstanceNorm1d(__Lazy):
    cls_to_become: Any
    ...
from wengert.dialects.torch.nn.layers.lazy import _Lazy as __Lazy
class LazyInstanceNorm2d(__Lazy):
    cls_to_become: Any
    ...
from wengert.dialects.torch.nn.layers.lazy import _Lazy as __Lazy
class LazyInstanceNorm3d(__Lazy):
    cls_to_become: Any
    ...
from wengert.dialects.torch.nn.layers.normalisation import _Affine as __Affine
class _InstanceNorm(__Affine):
    def __init__(self, num_features: Any, eps: Any = ..., momentum: Any = ..., affine: Any = ..., track_running_stats: Any = ..., device: Any = ..., dtype: Any = ..., *, bias: Any = ...) -> None: ...
    def _check_channels(self, input: Any) -> Any: ...
    def _normalised(self, input: Any) -> Any: ...
    def forward(self, input: Any) -> Any: ...
    ...
