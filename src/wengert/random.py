"""Random numbers from explicit generators; samples have derivatives by their parameters."""

from __future__ import annotations

__all__: list[str] = []
