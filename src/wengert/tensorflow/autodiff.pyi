# Written by docs/make_tables.py from the functions' signatures.

from wengert.dialects.tensorflow.forward import ForwardAccumulator as ForwardAccumulator
from wengert.dialects.tensorflow.tapes import GradientTape as GradientTape
from wengert.tensorflow import Tensor as Tensor
