# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import schedules as schedules

from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Adadelta(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Adagrad(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Adam(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class AdamW(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Adamax(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Ftrl(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Lamb(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class Lion(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _WithProduct as __WithProduct
class Nadam(__WithProduct):
    ...
from wengert.dialects.tensorflow.keras.optimizers import Optimizer as Optimizer
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class RMSprop(__OfFormula):
    ...
from wengert.dialects.tensorflow.keras.optimizers import _OfFormula as __OfFormula
class SGD(__OfFormula):
    ...
def get(identifier: Any) -> Any: ...
