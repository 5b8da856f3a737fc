# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

def set_verbosity(*args: Any, **kwargs: Any) -> Any: ...
def to_graph(value: Any = ..., *args: Any, **kwargs: Any) -> Any: ...
