"""Every function of the namespace by its name: what users see, and what recorded rules call.

`PUBLIC` is the Array API standard and its neighbours: what each module lists as `__all__`, and
five functions that hide builtins. `INTERNAL` is what rules need beyond it, under the names of
`backends.numpy_kernels`. The extensions are modules of their own, imported when a rule first uses
them.
"""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from wengert.engine.tensor import Tensor
from wengert.ops import (
    contractions,
    creation,
    cumulative,
    dtypes,
    elementwise,
    indexing,
    joining,
    positions,
    reductions,
    segments,
    shapes,
    sorting,
    updates,
)

_MODULES = (
    contractions, creation, cumulative, dtypes, elementwise, indexing, joining, reductions,
    segments, shapes, sorting,
)  # fmt: skip
PUBLIC: dict[str, Any] = {name: getattr(m, name) for m in _MODULES for name in m.__all__}
PUBLIC |= {
    "abs": elementwise.abs_,
    "bool": dtypes.bool_,
    "complex": elementwise.complex_,
    "pow": elementwise.power,
    "round": elementwise.round_,
}
INTERNAL = {
    "copy": elementwise.positive,
    "embed": positions.embed,
    "gather_flat": positions.gather_flat,
    "index": indexing.index,
    "keep": elementwise.keep,
    "put": updates.put,
    "put_add": updates.put_add,
    "scatter": indexing.scatter,
    "scatter_flat": positions.scatter_flat,
}

#: The modules of recorded functions behind `xp.linalg` and the like.
EXTENSIONS = {
    "fft": "wengert.ops.fft",
    "linalg": "wengert.ops.linalg",
    "nn": "wengert.ops.neural",
    "special": "wengert.ops.special",
}


class _Recorded(SimpleNamespace):
    def __getattr__(self, name: str) -> Any:
        if name not in EXTENSIONS:
            raise AttributeError(f"rules on tensors have no xp.{name}")
        setattr(self, name, importlib.import_module(EXTENSIONS[name]))
        return self.__dict__[name]


Tensor._namespace = _Recorded(**PUBLIC, **INTERNAL)
