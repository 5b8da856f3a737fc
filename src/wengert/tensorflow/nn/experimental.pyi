# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

def stateless_dropout(x: Any, rate: Any, seed: Any, rng_alg: Any = ..., noise_shape: Any = ..., **_options: Any) -> Any: ...
