# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

AUTOTUNE: Any
from enum import Enum as _Enum
class AutoShardPolicy(_Enum):
    AUTO: Any
    DATA: Any
    FILE: Any
    HINT: Any
    OFF: Any
    def _generate_next_value_(self, start: Any, count: Any, last_values: Any) -> Any: ...
    ...
from enum import Enum as _Enum
class ExternalStatePolicy(_Enum):
    FAIL: Any
    IGNORE: Any
    WARN: Any
    def _generate_next_value_(self, start: Any, count: Any, last_values: Any) -> Any: ...
    ...
INFINITE_CARDINALITY: Any
from wengert.tensorflow.experimental import Optional as Optional
UNKNOWN_CARDINALITY: Any
