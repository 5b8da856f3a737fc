"""What the harness must know of HIPS autograd: its modules, and the arrays that it returns."""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from typing import Any

import numpy as onp

import wengert as wg
from tests.dialects.parity import Describe, Dialect, Program, array_fields

#: Numbers that programs begin with.
X = onp.array([0.3, -1.2, 2.5])
M = onp.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.6, 3.0]])
SPD = M @ M.T + onp.eye(3)
Z = X + 1j * onp.array([1.0, 0.5, -0.7])


class Library:
    """One of the two: modules by their names, and the operators as attributes."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.np = self.module("numpy")

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self.root}.{name}")

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(importlib.import_module(self.root), name)
        except AttributeError:
            return getattr(self.module("differential_operators"), name)


OURS = Library("wengert.autograd")


def special(value: Any, of: Describe) -> Any:
    """Describe numbers as arrays of no axes, which they may be, and dictionaries in any order."""
    if isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return {"kind": "array", **array_fields(onp.asarray(value))}
    if isinstance(value, dict):
        return {"kind": "dict", "items": [[of(key), of(value[key])] for key in sorted(value)]}
    return None


def run(program: Program, library: Library) -> Any:
    """Run a program; ours may not warn, but for a warning that autograd has one like."""
    with warnings.catch_warnings():
        warnings.simplefilter("error" if library is OURS else "ignore")
        warnings.simplefilter("ignore", wg.UnconnectedWarning)
        return program(library)


class Autograd(Dialect):
    """HIPS autograd, whose modules programs ask for by name."""

    def real(self) -> Any:
        return Library(self.theirs)

    def versions(self) -> dict[str, str]:
        return {"autograd": importlib.metadata.version("autograd"), "numpy": onp.__version__}


TOLERANCE = {"float32": 1e-7, "float64": 1e-8, "complex64": 1e-7, "complex128": 1e-8}
AUTOGRAD = Autograd("autograd", OURS, special, run, TOLERANCE)
compare, answer = AUTOGRAD.compare, AUTOGRAD.answer
