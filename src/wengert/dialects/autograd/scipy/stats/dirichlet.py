"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import scipy.stats

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.scipy.stats.methods import method

logpdf = method("dirichlet", "logpdf")
pdf = method("dirichlet", "pdf")
rvs = scipy.stats.dirichlet.rvs  # draws, and has no derivative

__all__ = ["logpdf", "pdf", "rvs"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
