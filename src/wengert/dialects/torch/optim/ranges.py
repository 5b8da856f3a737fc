"""What the options of optimisers and schedules must be."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from wengert.dialects.torch.tensors import Tensor

Range = tuple[str, Callable[[Any], bool]]


def item(value: Any) -> Any:
    """Return the number in a tensor; other values as they are."""
    return value._raw.item() if isinstance(value, Tensor) else value


def one_of(*names: str) -> Range:
    """Return the range of an option that is one of some texts."""
    return " or ".join(map(repr, names)), lambda value: value in names


_NOT_NEGATIVE: Range = "a number of 0 or more", lambda value: value >= 0
_SHARE: Range = "a number from 0 to 1", lambda value: 0 <= value <= 1
_COUNT: Range = "a whole number of 1 or more", lambda n: isinstance(n, int) and n > 0
#: What to give for an option, and whether a value is that; of several numbers, whether each is.
RANGES: dict[str, Range] = {
    **dict.fromkeys(
        (
            "lr", "eps", "weight_decay", "momentum", "lr_decay", "initial_accumulator_value",
            "momentum_decay", "alpha",
        ),
        _NOT_NEGATIVE,
    ),
    **dict.fromkeys(("rho", "factor", "end_factor", "decay"), _SHARE),
    **dict.fromkeys(("T_0", "T_mult", "total_steps", "epochs", "steps_per_epoch"), _COUNT),
    "betas": ("numbers from 0 to below 1", lambda beta: 0 <= beta < 1),
    "beta2_decay": ("a number of 0 at most", lambda power: power <= 0),
    "d": ("a number of 1 or more", lambda threshold: threshold >= 1),
    "start_factor": ("a number above 0 and at most 1", lambda factor: 0 < factor <= 1),
    "eta_min": ("a number", lambda rate: isinstance(rate, numbers.Real)),
    "pct_start": ("a float from 0 to 1", lambda n: isinstance(n, float) and 0 <= n <= 1),
    "anneal_epochs": ("a whole number of 0 or more", lambda n: isinstance(n, int) and n >= 0),
    "anneal_strategy": one_of("cos", "linear"),
}  # fmt: skip


def check(options: dict[str, Any], ranges: dict[str, Range] = RANGES) -> None:
    """Raise if an option is not in its range."""
    for name, value in options.items():
        if name not in ranges:
            continue
        if name == "lr" and isinstance(value, Tensor) and value._raw.size != 1:
            raise ValueError(f"lr is a tensor of {value._raw.size} elements; give one number")
        expected, holds = ranges[name]
        several = isinstance(value, (tuple, list))
        given = [v for v in value if v is not None] if several else [value]
        if not all(holds(item(v)) for v in given):
            raise ValueError(f"{name} is {value!r}; give {expected}")
