# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

class Measurement:
    def __init__(self, number_per_run: Any, raw_times: Any, title: Any = ..., num_threads: Any = ..., stmt: Any = ..., setup: Any = ..., label: Any = ..., sub_label: Any = ..., description: Any = ..., env: Any = ..., metadata: Any = ...) -> None: ...
    description: Any
    env: Any
    iqr: Any
    label: Any
    mean: Any
    median: Any
    metadata: Any
    num_threads: Any
    setup: Any
    stmt: Any
    sub_label: Any
    times: Any
    title: Any
    ...
from wengert.dialects.torch.timing import Timer as Timer
