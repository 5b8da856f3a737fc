# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch import compile as export
def fuser(*args: Any, **options: Any) -> Any: ...
from wengert.torch import compile as ignore
from wengert.torch.compiler import is_compiling as is_scripting
from wengert.torch.compiler import is_compiling as is_tracing
from wengert.torch.jit import fuser as optimized_execution
from wengert.torch import compile as script
from wengert.torch import compile as trace
from wengert.torch import compile as unused
