"""Pooling over windows, and windows as rows."""

from __future__ import annotations

__all__: list[str] = []
