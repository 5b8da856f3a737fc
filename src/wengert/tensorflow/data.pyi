# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

AUTOTUNE: Any
from wengert.dialects.tensorflow.datasets import Dataset as Dataset
