# Written by docs/make_tables.py from the functions' signatures.

from wengert.torch import Tensor as Tensor

from . import checkpoint as checkpoint
from . import hooks as hooks
