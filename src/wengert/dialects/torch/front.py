"""The names of PyTorch as modules: what `import wengert.torch` gives."""

from __future__ import annotations

from wengert.dialects.facade import Facade
from wengert.dialects.torch.absent import ABSENT
from wengert.dialects.torch.table import LATE, NAMES, PARTS

facade = Facade("wengert.torch", "torch", NAMES, PARTS, LATE, "docs/torch-names.md", ABSENT)
