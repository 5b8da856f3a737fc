# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import DataParallel as DataParallel
from wengert.dialects.torch.nn.layers.parallel import DistributedDataParallel as DistributedDataParallel
def scatter(*args: Any, **options: Any) -> Any: ...
