# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

def is_available(*args: Any, **options: Any) -> Any: ...
