"""Lines of Python that both libraries are given, and the names that stand in them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from tests.dialects.torch.parity import compare


def names(torch: Any) -> dict[str, Any]:
    """Return what the expressions below may use."""
    torch.manual_seed(7)
    return {
        "torch": torch,
        "np": np,
        "copy": copy,
        "pickle": pickle,
        "x": torch.arange(6.0).reshape(2, 3),
        "p": torch.ones(2, requires_grad=True),
        "i": torch.arange(4),
        "b": torch.tensor([True, False]),
        "c": torch.tensor([1 + 2j]),
    }


def check(expression: str) -> None:
    """Assert that an expression is the same on both, or raises the same class."""
    compare(lambda torch: eval(expression, names(torch)))


def lines(text: str) -> list[str]:
    """Return the expressions of a table."""
    return [line for line in text.strip().split("\n") if line]
