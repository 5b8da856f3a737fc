# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import experimental as experimental

from wengert.dialects.tensorflow.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from wengert.dialects.tensorflow.lookup import StaticHashTable as StaticHashTable
from wengert.dialects.tensorflow.lookup import TextFileIndex as TextFileIndex
from wengert.dialects.tensorflow.lookup import TextFileInitializer as TextFileInitializer
