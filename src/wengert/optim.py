"""Optimisers whose state is a plain tree, and a bridge to scipy.optimize."""

from __future__ import annotations

__all__: list[str] = []
