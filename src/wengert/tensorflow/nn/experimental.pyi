# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = ...,
    noise_shape: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
