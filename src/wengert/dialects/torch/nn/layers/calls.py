"""What layers share: the functions they call, new parameters, and where they are offered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.table import NAMES, put


class _Functions:
    """The functions of torch.nn.functional, each looked up when it is first called."""

    def __getattr__(self, name: str) -> Any:
        found = NAMES.get(f"nn.functional.{name}")
        if found is None:
            raise AttributeError(f"torch.nn.functional.{name} is not offered")
        setattr(self, name, found)
        return found


F: Any = _Functions()


def parameter(*shape: int, device: Any = None, dtype: Any = None) -> Parameter:
    """Return a parameter of a shape, whose numbers are not set."""
    return Parameter(NAMES["empty"](shape, device=device, dtype=dtype))


def several(value: Any, count: int) -> tuple[Any, ...]:
    """Return one value for each of some axes; a sequence is taken as it is."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


def offer(where: str, *classes: type[Module]) -> None:
    """Offer classes as torch.nn.Name, and where PyTorch has them."""
    for cls in classes:
        name = cls.__name__
        public = () if name.startswith("_") else (f"nn.{name}", f"nn.modules.{name}")
        put((*public, f"nn.modules.{where}.{name}"), cls)
