# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

def get_cpu_capability(*args: Any, **options: Any) -> Any: ...
