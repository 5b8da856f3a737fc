"""Programs written for torch.autograd, on Wengert: ``import wengert.torch as torch``.

Names, argument orders, defaults and habits are PyTorch's; derivatives are Wengert's. What is
offered, and what differs, is in docs/torch-names.md.
"""

import sys as _sys

from wengert.dialects.facade import Facade as _Facade
from wengert.dialects.torch.table import ABSENT as _ABSENT
from wengert.dialects.torch.table import LATE as _LATE
from wengert.dialects.torch.table import NAMES as _NAMES
from wengert.dialects.torch.table import PARTS as _PARTS

_facade = _Facade("wengert.torch", "torch", _NAMES, _PARTS, _LATE, "docs/torch-names.md", _ABSENT)
_facade.give(_sys.modules[__name__])
