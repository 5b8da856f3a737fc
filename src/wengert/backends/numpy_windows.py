"""Windows of NumPy arrays: convolutions by BLAS, and pooling."""

from __future__ import annotations

__all__: list[str] = []
