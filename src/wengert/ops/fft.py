"""Discrete Fourier transforms: the standard's extension."""

from __future__ import annotations

__all__: list[str] = []
