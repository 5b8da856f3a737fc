"""The names of PyTorch as modules: what `import wengert.torch` gives."""

from __future__ import annotations

import importlib

from wengert.dialects.facade import Facade
from wengert.dialects.torch.absent import ABSENT
from wengert.dialects.torch.table import LATE, NAMES, PARTS

#: Python's own module: tensors are copied from process to process, not shared.
_ELSEWHERE = {"multiprocessing": lambda: importlib.import_module("multiprocessing")}
facade = Facade(
    "wengert.torch", "torch", NAMES, PARTS, LATE, "docs/torch-names.md", ABSENT, _ELSEWHERE
)
