# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.keras.regularizers import L1L2 as _L1L2
class L1(_L1L2):
    ...
from wengert.dialects.tensorflow.keras.regularizers import L1L2 as L1L2
from wengert.dialects.tensorflow.keras.regularizers import L1L2 as _L1L2
class L2(_L1L2):
    ...
from wengert.tensorflow.keras.regularizers import L1 as l1
from wengert.tensorflow.keras.regularizers import L1L2 as l1_l2
from wengert.tensorflow.keras.regularizers import L2 as l2
