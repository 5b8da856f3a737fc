# Written by docs/make_tables.py from the functions' signatures.

from wengert.torch import Tensor as Tensor
