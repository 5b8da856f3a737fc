"""A method of one of SciPy's distributions: its own on arrays, Wengert's on recorded ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.stats

from wengert.dialects.autograd.borders import dispatching
from wengert.ops import distributions


def method(distribution: str, name: str) -> Callable[..., Any]:
    """Return a method of a distribution that takes recorded arguments."""
    theirs = getattr(getattr(scipy.stats, distribution), name)
    return dispatching(theirs, getattr(distributions, f"{distribution}_{name}"))
