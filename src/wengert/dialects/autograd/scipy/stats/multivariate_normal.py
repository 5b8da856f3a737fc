"""The normal distribution of vectors."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.scipy.stats.methods import method

entropy = method("multivariate_normal", "entropy")
logpdf = method("multivariate_normal", "logpdf")
pdf = method("multivariate_normal", "pdf")

__all__ = ["entropy", "logpdf", "pdf"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
