"""Images of another size."""

from __future__ import annotations

__all__: list[str] = []
