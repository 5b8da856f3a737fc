"""Programs compared where nothing was said about grad mode, as at the beginning of a script.

`parity.outcome` turns grad mode on. A program that never does so takes other ways through the
dialect: there `active` holds no tape at all.
"""

import contextvars
from collections.abc import Callable
from typing import Any

from tests.dialects.torch.parity import compare


def same(program: Callable[[Any], Any]) -> None:
    """Compare a program with real PyTorch, run in a context of its own."""
    compare(lambda torch: contextvars.Context().run(program, torch))
