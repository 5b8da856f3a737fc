"""Linear algebra: the standard's extension, and what NumPy and SciPy have beyond it."""

from __future__ import annotations

__all__: list[str] = []
