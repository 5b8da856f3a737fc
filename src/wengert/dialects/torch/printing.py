"""What `print(tensor)` shows: the numbers in columns, shortened if there are many."""

from __future__ import annotations

import dataclasses
import math
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.torch import dtypes
from wengert.dialects.torch.grad_fns import grad_fn
from wengert.dialects.torch.tensors import Tensor, made
from wengert.engine.batching import Batched, levels


@dataclasses.dataclass
class Options:
    """How numbers are shown."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = Options()
_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Set how tensors are printed from now on."""
    changes = {} if profile is None else dataclasses.asdict(_PROFILES.get(profile, OPTIONS))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems}
    given["linewidth"] = linewidth
    changes |= {k: v for k, v in given.items() if v is not None}
    for key, value in (changes | {"sci_mode": sci_mode}).items():
        setattr(OPTIONS, key, value)


# -- numbers ---------------------------------------------------------------------------------------


class Column:
    """How the numbers of one tensor are written, all with the same width."""

    def __init__(self, values: np.ndarray) -> None:
        self._write: Callable[[Any], str] = str
        shown = values.ravel()
        if backends.kind_of(values.dtype) == "f":
            shown = shown[np.isfinite(shown) & (shown != 0)]
            whole = bool((shown == np.ceil(shown)).all())
            scientific = OPTIONS.sci_mode
            if scientific is None or not shown.size:
                scientific = _is_uneven(shown, whole)
            self._write = _style(scientific, whole)
        self.width = max((len(self._write(v)) for v in shown.tolist()), default=1)

    def write(self, value: Any) -> str:
        """Return a number, filled up with spaces on the left."""
        return self._write(value).rjust(self.width)


def _is_uneven(values: np.ndarray, whole: bool) -> bool:
    """Return whether numbers, none of them zero, are too far apart for one number of digits."""
    if not values.size:
        return False
    sizes = np.abs(values.astype(np.float64))
    least, most = float(sizes.min()), float(sizes.max())
    return most / least > 1000 or most > 1e8 or (not whole and least < 1e-4)


def _style(scientific: bool, whole: bool) -> Callable[[float], str]:
    """Return how to write floating numbers."""
    precision = OPTIONS.precision
    if scientific:
        return lambda v: f"{v:.{precision}e}"
    if whole:
        return lambda v: f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"
    return lambda v: f"{v:.{precision}f}"


class ComplexColumn:
    """How complex numbers are written: their parts, each in a column of its own."""

    def __init__(self, values: np.ndarray) -> None:
        self._real, self._imag = Column(values.real), Column(values.imag)
        self.width = self._real.width + self._imag.width + 1

    def write(self, value: complex) -> str:
        """Return a number, filled up with spaces on the left."""
        imaginary = self._imag.write(value.imag).lstrip() + "j"
        sign = "" if imaginary[0] in "+-" else "+"
        return self._real.write(value.real) + sign + imaginary


# -- arrays ----------------------------------------------------------------------------------------


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the part of an array that is shown if it is shortened."""
    edge = OPTIONS.edgeitems
    for axis, length in enumerate(values.shape):
        if length > 2 * edge:
            kept = np.r_[0:edge, length - edge : length]
            values = values.take(kept, axis)
    return values


def _shortened(items: Any, write: Callable[[Any], str], shorten: bool, dots: str) -> list[str]:
    """Return items as words; with dots for those between the edges, if they are many."""
    edge = OPTIONS.edgeitems
    if not shorten or len(items) <= 2 * edge:
        return [write(item) for item in items]
    ends = items[len(items) - edge :]
    return [*(write(v) for v in items[:edge]), dots, *(write(v) for v in ends)]


def _nest(values: np.ndarray, column: Any, indent: int, shorten: bool) -> str:
    """Return the numbers of an array, row by row in brackets."""
    if values.ndim == 0:
        return str(column.write(values.item()))
    gap = " " * (indent + 1)
    if values.ndim > 1:
        rows = _shortened(
            values, lambda row: _nest(row, column, indent + 1, shorten), shorten, "..."
        )
        return "[" + ("," + "\n" * (values.ndim - 1) + gap).join(rows) + "]"
    dots = " ..." if OPTIONS.edgeitems else "..."
    words = _shortened(values.tolist(), column.write, shorten, dots)
    many = max(1, (OPTIONS.linewidth - indent) // (column.width + 2))
    lines = [", ".join(words[k : k + many]) for k in range(0, len(words), many)]
    return "[" + (",\n" + gap).join(lines) + "]"


# -- tensors ---------------------------------------------------------------------------------------


def text(tensor: Tensor) -> str:
    """Return what a tensor looks like."""
    raw = tensor._raw
    if type(raw) is Batched:
        return _of_examples(raw)
    values = np.asarray(backends.to_numpy(raw))
    start = f"{'tensor' if _is_usual(tensor) else type(tensor).__name__}("
    indent = len(start)
    if not values.size:
        shown = "[]"
    else:
        shorten = values.size > OPTIONS.threshold
        seen = _edges(values) if shorten else values
        column = ComplexColumn(seen) if values.dtype.kind == "c" else Column(seen)
        shown = _nest(values, column, indent, shorten)
    return _with_notes(start + shown, _notes(tensor), indent)


def _of_examples(raw: Batched) -> str:
    """Return what a tensor of one example looks like inside of a vmap: all examples."""
    opened = levels.get()
    number = opened.index(raw.level) + 1 if raw.level in opened else 1
    inner = textwrap.indent(text(made(raw.values._raw, raw.values._node)), "    ")
    return f"BatchedTensor(lvl={number}, bdim=0, value=\n{inner}\n)"


def _is_usual(tensor: Tensor) -> bool:
    return type(tensor) is Tensor or type(tensor).__name__ in ("Parameter", "Buffer")


def _notes(tensor: Tensor) -> list[str]:
    """Return what is said after the numbers."""
    notes = []
    shape, kind, usual = tuple(tensor._raw.shape), tensor.dtype, dtypes.default()
    empty = 0 in shape
    if empty and len(shape) != 1:
        notes.append(f"size={shape}")
    known = (usual,) if empty else (usual, usual.to_complex(), dtypes.int64, dtypes.bool_)
    if kind not in known:
        notes.append(f"dtype={kind!r}")
    try:
        node = grad_fn(tensor)
    except RuntimeError:  # a view that a write to its base has made useless
        return [*notes, "grad_fn=<Invalid>"]
    if node is not None:
        notes.append(f"grad_fn=<{type(node).__name__}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    forward = sys.modules.get("wengert.dialects.torch.forward_ad")
    tangent = None if forward is None else forward.unpack_dual(tensor).tangent
    if tangent is not None:
        notes.append(f"tangent={tangent}")
    return notes


def _with_notes(shown: str, notes: list[str], indent: int) -> str:
    """Return text followed by notes, on new lines where the last one would be too long."""
    length = len(shown) - shown.rfind("\n") + 1
    for note in notes:
        if length + len(note) + 2 > OPTIONS.linewidth:
            shown += ",\n" + " " * indent + note
            length = indent + len(note)
        else:
            shown += ", " + note
            length += len(note) + 2
    return shown + ")"
