# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import dtensor as dtensor
from . import numpy as numpy

from wengert.dialects.tensorflow.dataset_elements import Optional as Optional
from wengert.dialects.tensorflow.ragged import RowPartition as RowPartition
