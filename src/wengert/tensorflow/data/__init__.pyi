# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import experimental as experimental

AUTOTUNE: Any
from wengert.dialects.tensorflow.datasets import Dataset as Dataset
INFINITE_CARDINALITY: Any
from wengert.dialects.tensorflow.dataset_elements import ElementIterator as Iterator
from wengert.dialects.tensorflow.datasets import Options as Options
from wengert.dialects.tensorflow.datasets import TextLineDataset as TextLineDataset
UNKNOWN_CARDINALITY: Any
