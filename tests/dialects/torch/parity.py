"""What the harness must know of PyTorch: its tensors and their flags, and what it prints."""

from __future__ import annotations

import contextlib
import contextvars
import io
import warnings
from typing import Any

import wengert.torch as ours
from tests.dialects.parity import Describe, Dialect, Printed, Program, array_fields


def special(value: Any, of: Describe) -> Any:
    """Describe tensors, and dtypes, devices and the like by what they print."""
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        held = value.detach().resolve_conj().resolve_neg()
        if str(value.dtype).startswith(("torch.bfloat16", "torch.float8")):  # NumPy has none
            held = held.float()
        held = held.numpy(force=True)  # also of ZeroTensors
        fields = {**array_fields(held), "dtype": str(value.dtype).rpartition(".")[2]}
        fields |= {"requires_grad": value.requires_grad, "is_leaf": value.is_leaf}
        if value.is_leaf and value.requires_grad:
            fields["grad"] = of(value.grad)
        return {"kind": "tensor", **fields}
    library = type(value).__module__.partition(".")[0]
    if library in ("torch", "wengert") and not isinstance(value, (tuple, dict, Exception)):
        return {"kind": "object", "text": str(value)}
    return None


def run(program: Program, torch: Any) -> Any:
    """Run a program from the settings that a process begins with.

    For ours they are those of a new context. To turn grad mode on would be something else: a
    script that never says so takes other ways through the dialect.
    """
    torch.set_default_dtype(torch.float32)
    if torch is not ours:
        torch.set_grad_enabled(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return contextvars.Context().run(program, torch)


TORCH = Dialect("torch", ours, special, run)
compare, answer, assert_same = TORCH.compare, TORCH.answer, TORCH.assert_same


def printed(program: Program) -> Program:
    """Return a program whose result is what another one prints."""

    def run(torch: Any) -> str:
        return with_text(program)(torch)[1]

    return run


def with_text(program: Program) -> Program:
    """Return a program whose result is that of another one and what it prints."""

    def run(torch: Any) -> tuple[Any, str]:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            result = program(torch)
        return result, text.getvalue()

    return run


def compare_program(program: Program) -> None:
    """Compare a program that ends well: its result, and the words and numbers that it prints."""

    def run(torch: Any) -> tuple[Any, Printed]:
        torch.manual_seed(0)
        result, text = with_text(program)(torch)
        return result, Printed(text)

    expected = compare(run)
    assert expected["kind"] == "tuple", f"PyTorch raises {expected}"
