# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

AUTO: Any
NONE: Any
SUM: Any
SUM_OVER_BATCH_SIZE: Any
