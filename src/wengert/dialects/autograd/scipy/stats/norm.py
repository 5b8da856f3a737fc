"""The normal distribution."""

from __future__ import annotations

from typing import Any

from wengert.dialects.autograd.borders import missing
from wengert.dialects.autograd.scipy.stats.methods import method

cdf = method("norm", "cdf")
logcdf = method("norm", "logcdf")
logpdf = method("norm", "logpdf")
logsf = method("norm", "logsf")
pdf = method("norm", "pdf")
sf = method("norm", "sf")

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, __all__)
