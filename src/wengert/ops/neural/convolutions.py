"""Convolutions of one, two and three axes, and their transposes."""

from __future__ import annotations

__all__: list[str] = []
