"""A library of which we know only that it follows the standard."""

from __future__ import annotations

from typing import Any

from wengert.backends.libraries import Table


def table(base: Any) -> Table:
    """Return kernels in the functions of the standard, which has few that write."""
    return Table(
        {
            "keep": lambda x, mask: base.where(mask, x, base.zeros_like(x)),
            "copy": lambda x: base.asarray(x, copy=True),
            "cumulative_sum": lambda x, axis: base.cumulative_sum(x, axis=axis, dtype=x.dtype),
            "cumulative_prod": lambda x, axis: base.cumulative_prod(x, axis=axis, dtype=x.dtype),
        },
        by_device=True,
    )
