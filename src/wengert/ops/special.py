"""Special functions, with SciPy's names and values."""

from __future__ import annotations

__all__: list[str] = []
