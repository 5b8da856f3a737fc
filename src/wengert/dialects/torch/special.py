"""torch.special: functions with names."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch import conventions
from wengert.dialects.torch.math import with_numbers
from wengert.dialects.torch.operators import of_one, one
from wengert.dialects.torch.table import NAMES, put
from wengert.dialects.torch.tensors import Tensor
from wengert.ops import special

#: Functions with derivatives: Wengert's operation, and PyTorch's name of the node.
_SMOOTH = {
    "entr": (special.entr, "SpecialEntrBackward0"),
    "erfcx": (special.erfcx, "SpecialErfcxBackward0"),
    "i0e": (special.i0e, "SpecialI0EBackward0"),
    "i1": (special.i1, "SpecialI1Backward0"),
    "i1e": (special.i1e, "SpecialI1EBackward0"),
    "log_ndtr": (special.log_ndtr, "SpecialLogNdtrBackward0"),
    "ndtr": (special.ndtr, "MulBackward1"),
    "ndtri": (special.ndtri, "SpecialNdtriBackward0"),
}
for _name, (_operation, _label) in _SMOOTH.items():
    one((f"special.{_name}",), _operation, _label, kinds="biuf")


def _constant(name: str, function: Any) -> None:
    """Offer a function for which PyTorch has no derivative: its results require no gradients."""
    forms = of_one(function, "", True, "biuf")

    def call(input: Any, *, out: Any = None) -> Any:
        return forms.function(input.detach() if isinstance(input, Tensor) else input, out=out)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return {name} of each element."
    put((f"special.{name}",), call)


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
    _constant(_name, _operation)

# -- two tensors -----------------------------------------------------------------------------------

with_numbers(
    ("special.xlog1py",),
    conventions.xlog1py,
    tuple(f"SpecialXlog1PyBackward{k}" for k in (0, 2, 1)),
    floating=True,
)
with_numbers(
    ("special.zeta",),
    special.zeta_pair,
    tuple(f"SpecialZetaBackward{k}" for k in (0, 2, 1)),
    floating=True,
)


# -- along an axis ---------------------------------------------------------------------------------


def _elsewhere(name: str) -> Any:
    """Return a function that another module offers, under its name there."""

    def call(*args: Any, **options: Any) -> Any:
        if name not in NAMES:
            from wengert.dialects.torch.front import facade

            facade.look_up(name)
        return NAMES[name](*args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return torch.{name} of the arguments."
    return call


for _name in ("softmax", "log_softmax", "logsumexp"):
    put((f"special.{_name}",), _elsewhere(_name))
