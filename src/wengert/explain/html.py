"""What tensors, variables, blocks, products and tapes look like in a notebook, and heat maps.

Cells of a heat map have a background and a colour of text of their own, so that they are readable
on a light page and on a dark one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.node import active
from wengert.engine.tape import Tape
from wengert.engine.tensor import Tensor, dtype_name
from wengert.explain.colours import diverging, ink, shares
from wengert.ops.families.factored import Factored
from wengert.ops.variable import Variable

#: Up to this many numbers are written out; a heat map has at most so many cells along a side.
WRITTEN, CELLS = 400, 64


def tensor(x: Tensor) -> str:
    """Return a tensor as a table of HTML, if it is small, and else as text."""
    return _numbers(x, f"Tensor, shape {x.shape}, {dtype_name(x.dtype)}")


def variable(v: Variable) -> str:
    """Return a variable as its value, with its name; to a tape, this is no read."""
    held = "" if v.trainable else ", not trainable"
    return _numbers(v._value, f"Variable {v.name!r}, shape {v.shape}, {dtype_name(v.dtype)}{held}")


def block(b: Block) -> str:
    """Return a block as a heat map of its values, with where they are in the whole array."""
    caption = repr(b).partition(", values=")[0] + f"), {b.nbytes:,} bytes"
    xp: Any = Tensor._namespace if type(b.values) is Tensor else backends.namespace_of(b.values)
    kept = b.kept(xp)
    values = np.squeeze(kept.numpy() if type(kept) is Tensor else np.asarray(kept))
    if values.ndim > 2:
        return _text(caption, str(kept))
    return heat_map(np.atleast_2d(values), caption)


def factored(f: Factored) -> str:
    """Return a product as heat maps of its factors, which are not multiplied out."""
    caption = f"Factored(shape={f.shape}, terms={f.terms}), {f.nbytes:,} bytes"
    maps = [
        heat_map(m.numpy() if type(m) is Tensor else backends.to_numpy(m), name)
        for name, m in (("left", f.left), ("right", f.right))
    ]
    beside = f'<div style="display:flex;gap:1em">{"".join(maps)}</div>'
    words = f"<figcaption>{_escape(caption)}</figcaption>"
    return f'<figure style="margin:0">{words}{beside}</figure>'


def tape(t: Tape) -> str:
    """Return what a tape is doing, and which variables it watches."""
    if t._spent is not None:
        state = f"asked once, at {t._spent}"
    elif t._thread is None:
        state = "closed"
    else:
        state = "recording" if t._token in active.get() else "paused"
    caption = f"{type(t).__name__}, {'persistent, ' if t._persistent else ''}{state}"
    rows: list[tuple[Any, ...]] = [
        (v.name, v.shape, dtype_name(v.dtype), f"{np.prod(v.shape, dtype=int):,}")
        for v in t.watched_variables()
    ]
    if not rows:
        return _text(caption, "no variable was read yet")
    return _table(
        caption,
        [
            ["<th>variable</th><th>shape</th><th>dtype</th><th>elements</th>"],
            *([f"<td>{_escape(cell)}</td>" for cell in row] for row in rows),
        ],
    )


def heat_map(values: np.ndarray, caption: str) -> str:
    """Return a matrix as a table of coloured cells, with the numbers if there are few.

    A large one has a cell for each part, in the colour of its largest magnitude. Complex numbers
    are shown by magnitude.
    """
    if not values.size:
        return _text(caption, "no elements")
    written = values.size <= WRITTEN
    numbers = values if written else _largest(values)
    share = shares(np.abs(numbers) if np.iscomplexobj(numbers) else numbers)
    style = "min-width:2.5em;padding:2px;white-space:nowrap" if written else _SMALL
    exact, short = _in_digits(numbers, 6), _in_digits(numbers, 3)

    def cell(i: int, j: int) -> str:
        text = short[i, j] if written else ""
        return _cell(text, diverging(share[i, j]), style, exact[i, j])

    height, width = numbers.shape
    return _table(caption, ([cell(i, j) for j in range(width)] for i in range(height)))


def density_map(shade: np.ndarray, caption: str) -> str:
    """Return shares from 0 to 1 as a table of cells, the stronger the larger."""
    cells = (
        [f'<td style="{_FRAME};{_SMALL};background:rgba(90,110,220,{s:.2f})"></td>' for s in line]
        for line in shade
    )
    return _table(caption, cells)


_FRAME = "border:1px solid rgba(128,128,128,.2)"
_SMALL = "width:6px;height:6px;padding:0"


def _cell(text: str, colour: tuple[int, int, int], style: str, title: str) -> str:
    red, green, blue = colour
    return (
        f'<td title="{title}" style="{_FRAME};{style};background:rgb({red},{green},{blue});'
        f'color:{ink(colour)}">{text}</td>'
    )


def _numbers(x: Tensor, caption: str) -> str:
    if x.ndim not in (1, 2) or x.size > WRITTEN:
        return _text(caption, str(x))
    rows = np.atleast_2d(_in_digits(x.numpy(), 6))
    return _table(caption, ([f"<td>{value}</td>" for value in row] for row in rows))


def _table(caption: str, rows: Iterable[Iterable[str]]) -> str:
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    table = f'<table style="border-collapse:collapse;color:inherit">{body}</table>'
    words = f"<figcaption>{_escape(caption)}</figcaption>"
    return f'<figure style="margin:0">{words}{table}</figure>'


def _text(caption: str, text: str) -> str:
    return f"<pre>{_escape(caption)}\n{_escape(text)}</pre>"


def _escape(text: Any) -> str:
    import html  # which is slow to import, and few programs print tables

    return html.escape(str(text))


def _largest(values: np.ndarray) -> np.ndarray:
    """Return a matrix of at most CELLS x CELLS: of each part the number of largest magnitude."""
    for axis in (0, 1):
        count = values.shape[axis]
        if count > CELLS:
            edges = np.arange(CELLS + 1) * count // CELLS
            parts = [values.take(range(*ends), axis) for ends in itertools.pairwise(edges)]
            best = [np.abs(part).argmax(axis=axis, keepdims=True) for part in parts]
            found = [np.take_along_axis(p, b, axis) for p, b in zip(parts, best, strict=True)]
            values = np.concatenate(found, axis=axis)
    return values


def _in_digits(values: np.ndarray, digits: int) -> Any:
    inexact = backends.is_inexact(values.dtype)
    texts = [f"{v:.{digits}g}" if inexact else str(v) for v in values.ravel()]
    return np.array(texts, dtype=object).reshape(values.shape)


_METHOD = "_repr_html_"
for _kind, _shown in (
    (Tensor, tensor), (Variable, variable), (Block, block), (Factored, factored), (Tape, tape),
):  # fmt: skip
    setattr(_kind, _METHOD, _shown)
