"""Results of several tensors with names, as `torch.return_types` has them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from wengert.dialects.torch.table import NAMES, put


class Results(tuple[Any, ...]):
    """Several tensors, by position and by name, from several arguments or from one sequence."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *parts: Any) -> Any:
        """Return the tensors with their names."""
        given: Iterable[Any] = parts[0] if len(parts) == 1 and len(cls._fields) > 1 else parts
        made = super().__new__(cls, given)
        if len(made) != len(cls._fields):
            raise TypeError(
                f"torch.return_types.{cls.__name__}: got {len(made)} elements; give "
                f"{len(cls._fields)}"
            )
        return made

    @classmethod
    def _make(cls, parts: Iterable[Any]) -> Any:
        return cls(*parts)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        parts = (f"{name}={part!r}" for name, part in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n" + ",\n".join(parts) + ")"

    def __reduce__(self) -> Any:
        return type(self), tuple(self)


def results(name: str, *fields: str) -> Any:
    """Return a class of results with these names, and offer it as ``torch.return_types.name``."""
    members: dict[str, Any] = {f: property(itemgetter(i)) for i, f in enumerate(fields)}
    kind = type(name, (Results,), {"__slots__": (), "_fields": fields, **members})
    kind.__module__, kind.__doc__ = __name__, f"The results of `{name}`: {', '.join(fields)}."
    put((f"return_types.{name}",), kind)
    return kind


def __getattr__(name: str) -> Any:
    found = NAMES.get(f"return_types.{name}")
    if found is None:
        raise AttributeError(f"torch.return_types has no {name}")
    return found
