"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.scipy.stats.methods import method

cdf = method("poisson", "cdf")
logpmf = method("poisson", "logpmf")
pmf = method("poisson", "pmf")

__all__ = ["cdf", "logpmf", "pmf"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
