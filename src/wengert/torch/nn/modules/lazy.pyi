# Written by docs/make_tables.py from the functions' signatures.

from wengert.dialects.torch.nn.layers.lazy import LazyModuleMixin as LazyModuleMixin
from wengert.torch import Tensor as Tensor
