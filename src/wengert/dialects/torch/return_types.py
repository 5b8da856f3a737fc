"""Results of several tensors with names, as `torch.return_types` has them."""

from __future__ import annotations

import collections
from typing import Any

from wengert.dialects.torch.table import NAMES, put


def _shown(self: Any) -> str:
    """Return the tensors with their names, each on a line."""
    parts = (f"{name}={part!r}" for name, part in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(parts) + ")"


def results(name: str, *fields: str) -> Any:
    """Return a class of results with these names, and offer it as ``torch.return_types.name``."""
    make: Any = collections.namedtuple  # whose names are data here
    base = make(name, fields)
    members = {f: vars(base)[f] for f in fields}  # the class's own, for stubs
    members |= {"__slots__": (), "__module__": __name__, "__repr__": _shown}
    kind: Any = type(name, (base,), members)
    kind.__doc__ = f"The results of `{name}`: {', '.join(fields)}."
    put((f"return_types.{name}",), kind)
    return kind


def __getattr__(name: str) -> Any:
    found = NAMES.get(f"return_types.{name}")
    if found is None:
        raise AttributeError(f"torch.return_types has no {name}")
    return found
