"""Numbers and masks for programs, the same in all libraries."""

from __future__ import annotations

from typing import Any

import numpy as np


def data(torch: Any, shape: Any, dtype: Any = None) -> Any:
    """Return a tensor of some numbers."""
    count = int(np.prod(shape))
    values = torch.tensor([((7 * k) % 11 - 5.3) / 3 for k in range(count)], dtype=torch.float64)
    return values.reshape(shape) if dtype is None else values.reshape(shape).to(dtype)


def mask(torch: Any, shape: Any) -> Any:
    """Return a tensor of some truth values."""
    count = int(np.prod(shape))
    return torch.tensor([(5 * k) % 7 < 3 for k in range(count)]).reshape(shape)
