# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

default_generator: Any

def fork_rng(
    devices: Any = ..., enabled: bool = ..., device_type: str = ..., **options: Any
) -> Any: ...

get_rng_state: Any
initial_seed: Any

def manual_seed(seed: Any) -> Any: ...

seed: Any
set_rng_state: Any
