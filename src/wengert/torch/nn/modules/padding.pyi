# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import CircularPad1d as CircularPad1d
from wengert.torch.nn import CircularPad2d as CircularPad2d
from wengert.torch.nn import CircularPad3d as CircularPad3d
from wengert.torch.nn import ConstantPad1d as ConstantPad1d
from wengert.torch.nn import ConstantPad2d as ConstantPad2d
from wengert.torch.nn import ConstantPad3d as ConstantPad3d
from wengert.torch.nn import ReflectionPad1d as ReflectionPad1d
from wengert.torch.nn import ReflectionPad2d as ReflectionPad2d
from wengert.torch.nn import ReflectionPad3d as ReflectionPad3d
from wengert.torch.nn import ReplicationPad1d as ReplicationPad1d
from wengert.torch.nn import ReplicationPad2d as ReplicationPad2d
from wengert.torch.nn import ReplicationPad3d as ReplicationPad3d
from wengert.torch.nn import ZeroPad1d as ZeroPad1d
from wengert.torch.nn import ZeroPad2d as ZeroPad2d
from wengert.torch.nn import ZeroPad3d as ZeroPad3d
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
