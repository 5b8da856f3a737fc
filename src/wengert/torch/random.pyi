# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

default_generator: Any
def fork_rng(devices: Any = ..., enabled: bool = ..., device_type: str = ..., **options: Any) -> Any: ...
from wengert.torch import get_rng_state as get_rng_state
from wengert.torch import initial_seed as initial_seed
from wengert.torch import manual_seed as manual_seed
from wengert.torch import seed as seed
from wengert.torch import set_rng_state as set_rng_state
