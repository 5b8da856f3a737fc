# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor
from . import activations as activations
from . import backend as backend
from . import regularizers as regularizers
from . import utils as utils


