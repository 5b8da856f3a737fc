"""torch.special: functions with names."""

from __future__ import annotations

from wengert.dialects.torch import conventions
from wengert.dialects.torch.front import facade
from wengert.dialects.torch.math import with_numbers
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
#: Functions that PyTorch has no derivative of: their results require no gradients.
for _name, _operation in {
    "airy_ai": special.airy_ai,
    "bessel_j0": special.j0,
    "bessel_j1": special.j1,
    "bessel_y0": special.y0,
    "bessel_y1": special.y1,
    "modified_bessel_i0": special.i0,
    "modified_bessel_i1": special.i1,
    "modified_bessel_k0": special.k0,
    "modified_bessel_k1": special.k1,
    "scaled_modified_bessel_k0": special.k0e,
    "scaled_modified_bessel_k1": special.k1e,
    "spherical_bessel_j0": special.spherical_j0,
}.items():
    one((f"special.{_name}",), _operation, kinds="biuf", detached=True)
for _name, _operation in {"xlog1py": conventions.xlog1py, "zeta": special.zeta_pair}.items():
    _node = {"xlog1py": "Xlog1Py", "zeta": "Zeta"}[_name]
    _labels = tuple(f"Special{_node}Backward{k}" for k in (0, 2, 1))
    with_numbers((f"special.{_name}",), _operation, _labels, floating=True)
for _name in ("softmax", "log_softmax", "logsumexp"):
    put((f"special.{_name}",), facade.look_up(_name))
