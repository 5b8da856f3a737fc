# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.forward import ForwardAccumulator as ForwardAccumulator
from wengert.tensorflow import GradientTape as GradientTape
