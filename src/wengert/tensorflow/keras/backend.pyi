# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

def epsilon() -> Any: ...
def floatx() -> Any: ...
