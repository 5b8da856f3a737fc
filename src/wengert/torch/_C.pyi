# Written by docs/make_tables.py from the functions' signatures.

from wengert.dialects.torch.table import _LinAlgError as _LinAlgError
from wengert.torch import Tensor as Tensor
