"""Linear algebra on NumPy arrays: the extension of the standard, and what our rules need beyond."""

from __future__ import annotations

from numpy.linalg import *  # noqa: F403
