"""Programs written for torch.autograd, on Wengert: ``import wengert.torch as torch``.

Names, argument orders, defaults and habits are PyTorch's; derivatives are Wengert's. What is
offered, and what differs, is in docs/torch-names.md.
"""

import sys as _sys

from wengert.collector import paused as _paused

with _paused():
    from wengert.dialects.torch.front import facade as _facade

_facade.give(_sys.modules[__name__])
