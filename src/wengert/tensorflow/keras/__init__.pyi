# Written by docs/make_tables.py from the functions' signatures.

from wengert.tensorflow import Tensor as Tensor

from . import activations as activations
from . import backend as backend
from . import regularizers as regularizers
from . import utils as utils
