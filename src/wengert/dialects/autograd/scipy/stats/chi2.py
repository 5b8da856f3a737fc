"""The chi-square distribution."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.scipy.stats.methods import method

cdf = method("chi2", "cdf")
logpdf = method("chi2", "logpdf")
pdf = method("chi2", "pdf")

__all__ = ["cdf", "logpdf", "pdf"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
