# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

default_generator: Any
def fork_rng(devices: Any = ..., enabled: bool = ..., device_type: str = ..., **options: Any) -> Any: ...
get_rng_state: Any
initial_seed: Any
manual_seed: Any
seed: Any
set_rng_state: Any
