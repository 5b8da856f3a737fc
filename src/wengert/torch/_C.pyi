# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.dialects.torch.table import _LinAlgError as _LinAlgError
def _log_api_usage_once(*args: Any, **options: Any) -> Any: ...
