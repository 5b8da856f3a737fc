"""torch.special: functions with names."""

from __future__ import annotations

from wengert.dialects.torch.front import facade
from wengert.dialects.torch.operators import one
from wengert.dialects.torch.table import put
from wengert.ops import special

#: Functions with derivatives, and PyTorch's name of the node.
for _name, _label in {
    "entr": "SpecialEntr", "erfcx": "SpecialErfcx", "i0e": "SpecialI0E", "i1": "SpecialI1",
    "i1e": "SpecialI1E", "log_ndtr": "SpecialLogNdtr", "ndtri": "SpecialNdtri",
}.items():  # fmt: skip
    one((f"special.{_name}",), getattr(special, _name), f"{_label}Backward0", kinds="biuf")
one(("special.ndtr",), special.ndtr, "MulBackward1", kinds="biuf")
for _name in ("softmax", "log_softmax", "logsumexp"):
    put((f"special.{_name}",), facade.look_up(_name))
