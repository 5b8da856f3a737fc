"""What a tensor looks like in a string with a format: `f"{x:.2f}"`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.engine.tensor import Tensor


def formatted(x: Tensor, spec: str) -> str:
    """Return the elements in a format. `f"{wg.asarray([1.0, 0.5]):.2f}"` is `"[1.00, 0.50]"`."""
    if not spec:
        return str(x)
    if x.size == 1:
        return format(x.item(), spec)
    one: Any = {"all": lambda value: format(value, spec)}
    return np.array2string(x.numpy(), separator=", ", threshold=200, formatter=one)


Tensor.__format__ = formatted  # type: ignore[method-assign, assignment]
