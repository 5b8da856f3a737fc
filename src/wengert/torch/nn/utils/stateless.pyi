# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

def functional_call(
    module: Any,
    parameters_and_buffers: Any,
    args: Any = ...,
    kwargs: Any = ...,
    *,
    tie_weights: Any = ...,
    strict: Any = ...,
) -> Any: ...
