# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def functions_run_eagerly() -> Any: ...
def get_visible_devices(device_type: Any = ...) -> Any: ...
def list_logical_devices(device_type: Any = ...) -> Any: ...
from wengert.tensorflow.config import get_visible_devices as list_physical_devices
def run_functions_eagerly(run_eagerly: Any) -> Any: ...
from wengert.tensorflow import group as set_soft_device_placement
from wengert.tensorflow import group as set_visible_devices
