"""A library of which we know only that it follows the standard."""

from __future__ import annotations

from typing import Any

from wengert.backends.libraries import Table
from wengert.backends.standard_kernels import kernels


def table(base: Any) -> Table:
    """Return kernels in the functions of the standard, which has few that write."""
    return Table(kernels(base), by_device=True)
