# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.nn.layers.calls import Call as _Call
class CircularPad1d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class CircularPad2d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class CircularPad3d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ConstantPad1d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ConstantPad2d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ConstantPad3d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ReflectionPad1d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ReflectionPad2d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ReflectionPad3d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ReplicationPad1d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ReplicationPad2d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ReplicationPad3d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ZeroPad1d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ZeroPad2d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class ZeroPad3d(_Call):
    axes: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _CircularPadNd(_Call):
    def forward(self, input: Any) -> Any: ...
    mode: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _ConstantPadNd(_Call):
    def __init__(self, padding: Any, value: Any) -> None: ...
    def _init_with(self, **options: Any) -> Any: ...
    def forward(self, input: Any) -> Any: ...
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _ReflectionPadNd(_Call):
    mode: Any
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _ReplicationPadNd(_Call):
    mode: Any
    ...
