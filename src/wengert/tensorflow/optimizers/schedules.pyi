# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.keras.schedules import _OfFormula as __OfFormula
class CosineDecay(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.schedules import _OfFormula as __OfFormula
class CosineDecayRestarts(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.schedules import _OfFormula as __OfFormula
class ExponentialDecay(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.schedules import _OfFormula as __OfFormula
class InverseTimeDecay(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.schedules import LearningRateSchedule as LearningRateSchedule
from wengert.dialects.tensorflow.keras.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from wengert.dialects.tensorflow.keras.schedules import _OfFormula as __OfFormula
class PolynomialDecay(__OfFormula):
    ...
