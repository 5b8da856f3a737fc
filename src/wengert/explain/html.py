"""What a tensor looks like in a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.tensor import Tensor, dtype_name


def table(x: Tensor) -> str:
    """Return a tensor as a table of HTML, if it is small, and else as text."""
    import html  # which is slow to import, and few programs print tables

    caption = f"Tensor, shape {x.shape}, {dtype_name(x.dtype)}"
    if x.ndim not in (1, 2) or x.size > 400:
        return f"<pre>{html.escape(caption)}\n{html.escape(str(x))}</pre>"
    rows = "".join(
        "<tr>" + "".join(f"<td>{value}</td>" for value in row) + "</tr>"
        for row in np.atleast_2d(_in_six_digits(x.numpy()))
    )
    return f"<table><caption>{html.escape(caption)}</caption>{rows}</table>"


def _in_six_digits(values: np.ndarray) -> Any:
    return np.vectorize(lambda v: f"{v:.6g}" if backends.is_inexact(values.dtype) else str(v))(
        values
    )


Tensor._repr_html_ = table
