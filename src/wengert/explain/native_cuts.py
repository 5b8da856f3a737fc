"""What cuts a path in programs over Wengert's own names, read off the program's text."""

from __future__ import annotations

from typing import Any

from wengert.explain.explanation import Reason
from wengert.explain.program_cuts import Cut, Cuts

_CONVERSIONS = ("float", "int", "bool", "complex", "numpy", "item", "tolist", "asarray", "array")
_ROUNDING = ("floor", "ceil", "round", "trunc", "rint", "sign", "heaviside")
_CHOICES = ("argmax", "argmin", "argsort", "nonzero", "searchsorted", "count_nonzero", "bincount")
_TESTS = (
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf",
    "isfinite", "isclose", "logical_and", "logical_or", "logical_not", "logical_xor", "any", "all",
)  # fmt: skip
_DETACHING = ("stop_gradient", "detach")


def _is_live(value: Any) -> bool:
    """Return whether a value is a tensor or a variable that gradients can come from."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return any(getattr(part, "_node", getattr(part, "_leaf", None)) is not None for part in parts)


_CUTS = Cuts(
    functions=(*_CONVERSIONS, *_ROUNDING, *_CHOICES, *_TESTS, *_DETACHING),
    makers=("zeros_like", "ones_like", "full_like", "empty_like"),
    attributes=("data",),
    modes=("stop_recording",),
    is_live=_is_live,
)
found_at = _CUTS.found_at


def meaning(cut: Cut) -> tuple[Reason, str, str]:
    """Return the reason that a cut is, what happened there, and what to write instead."""
    name = cut.name.removesuffix("()").removeprefix(".")
    if name in _DETACHING:
        return Reason.DETACHED, f"{cut.name} made a constant of its argument", f"Leave {name} out"
    if name == "stop_recording":
        return (
            Reason.PAUSED,
            "The tape did not record there",
            "Move the line out of stop_recording()",
        )
    if name in (*_ROUNDING, *_CHOICES, *_TESTS, "a comparison"):
        message = f"{cut.name} has no derivative: small changes of its argument do not change it"
        advice = "Leave it out of what is differentiated, or use wg.where or a smooth function"
        return Reason.ZERO_DERIVATIVE, message, advice
    return (
        Reason.CONVERTED,
        f"{cut.name} took plain numbers from a tensor, and derivatives do not follow them",
        "Go on with the tensor itself: functions of wg and np take it as it is",
    )
