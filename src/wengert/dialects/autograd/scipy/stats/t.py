"""Student's t distribution."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.scipy.stats.methods import method

cdf = method("t", "cdf")
logcdf = method("t", "logcdf")
logpdf = method("t", "logpdf")
pdf = method("t", "pdf")

__all__ = ["cdf", "logcdf", "logpdf", "pdf"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
