"""PyTorch's arrays, on any of its devices: where the kernels of each extension are."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from wengert.backends.libraries import Table
from wengert.backends.torch_kernels import KERNELS, SHORTCUTS
from wengert.backends.torch_own import OWN


def _of(module: str) -> Callable[[str], Any]:
    """Return what looks a function up in a module beside this one, or says None."""

    def find(name: str) -> Any:
        found = importlib.import_module(f"wengert.backends.{module}")
        return getattr(found, name, None)

    return find


def scalar(value: Any, dtype: Any) -> Any:
    """Return a number in host memory, where arrays of every device meet it without a transfer.

    It does not decide on the dtype of a result, and so need not be rounded to a narrow one.
    """
    is_narrow = dtype.is_floating_point and dtype.itemsize < 4
    return torch.asarray(value, dtype=torch.float32 if is_narrow else dtype)


def compiled(xp: Any, name: str, arguments: Sequence[str], text: str) -> Any:
    """Return a kernel that PyTorch compiles when it is first called; None in host memory."""
    jit = getattr(torch.cuda, "jiterator", None)
    if jit is None or xp.empty(0).device.type != "cuda":
        return None
    given = ", ".join(f"T {argument}" for argument in arguments)
    return jit._create_jit_fn(f"template <typename T> T {name}({given}) {{ return {text}; }}")


TABLE = Table(
    {**KERNELS, **SHORTCUTS, "scalar": scalar, "compiled": compiled},
    {
        "fft": _of("torch_fft"),
        "nn": _of("torch_neural"),
        "special": _of("torch_special"),
        "linalg": _of("torch_linalg"),
    },
    by_device=True,
    writable=True,
    array=torch.Tensor,
    alike=torch,
    narrow=frozenset({"elementwise", "contraction", "linear", "position map", "zero"}),
    own=OWN,
)
