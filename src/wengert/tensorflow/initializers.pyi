# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class Constant(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class GlorotNormal(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class GlorotUniform(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class HeNormal(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class HeUniform(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class Identity(__OfFunction):
    ...
from wengert.tensorflow.initializers import Identity as IdentityInitializer
from wengert.dialects.tensorflow.keras.initializers import Initializer as Initializer
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class LecunNormal(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class LecunUniform(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class Ones(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class Orthogonal(__OfFunction):
    ...
from wengert.tensorflow.initializers import Orthogonal as OrthogonalInitializer
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class RandomNormal(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class RandomUniform(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class TruncatedNormal(__OfFunction):
    ...
from wengert.dialects.tensorflow.keras.initializers import _Scaled as __Scaled
class VarianceScaling(__Scaled):
    ...
from wengert.dialects.tensorflow.keras.initializers import _OfFunction as __OfFunction
class Zeros(__OfFunction):
    ...
from wengert.tensorflow.initializers import Constant as constant
def get(identifier: Any) -> Any: ...
from wengert.tensorflow.initializers import GlorotNormal as glorot_normal
from wengert.tensorflow.initializers import GlorotUniform as glorot_uniform
from wengert.tensorflow.initializers import HeNormal as he_normal
from wengert.tensorflow.initializers import HeUniform as he_uniform
from wengert.tensorflow.initializers import Identity as identity
from wengert.tensorflow.initializers import LecunNormal as lecun_normal
from wengert.tensorflow.initializers import LecunUniform as lecun_uniform
from wengert.tensorflow.initializers import Ones as ones
from wengert.tensorflow.initializers import Orthogonal as orthogonal
from wengert.tensorflow.initializers import RandomNormal as random_normal
from wengert.tensorflow.initializers import RandomUniform as random_uniform
from wengert.tensorflow.initializers import TruncatedNormal as truncated_normal
from wengert.tensorflow.initializers import VarianceScaling as variance_scaling
from wengert.tensorflow.initializers import Zeros as zeros
