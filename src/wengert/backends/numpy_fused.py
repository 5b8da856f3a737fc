"""Several passes of a network's layer in one, in pieces that fit a processor's cache."""

from __future__ import annotations

__all__: list[str] = []
