"""Tables for terminals and notebooks: rows of text, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: How many columns of characters a table has at most.
WIDTH = 100
_ELLIPSIS = "…"


class Table(NamedTuple):
    """A table with a title, a header and rows. Numbers are right-aligned, texts left-aligned."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def text(self, width: int = WIDTH) -> str:
        """Return the table as lines of at most `width` characters; long texts lose their middle."""
        if not self.rows:
            return self.title
        cells = [[_written(value) for value in row] for row in [self.header, *self.rows]]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        while sum(widths) + 2 * len(widths) > width and max(widths) > 8:
            widths[widths.index(max(widths))] -= 1
        right = [not isinstance(value, str) for value in self.rows[0]]
        lines = [
            "  ".join(
                _shortened(cell, n).rjust(n) if r else _shortened(cell, n).ljust(n)
                for cell, n, r in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join(filter(None, [self.title, *lines]))

    def html(self) -> str:
        """Return the table for a notebook, with nothing left out."""
        import html  # which is slow to import, and few programs print tables

        def row(tag: str, values: Sequence[Any]) -> str:
            cells = (f"<{tag}>{html.escape(_written(value))}</{tag}>" for value in values)
            return f"<tr>{''.join(cells)}</tr>"

        head = row("th", self.header) if self.rows else ""
        body = "".join(row("td", values) for values in self.rows)
        return f"<table><caption>{html.escape(self.title)}</caption>{head}{body}</table>"


class Tables:
    """What prints as some tables, and shows them in a notebook."""

    def tables(self) -> Sequence[Table]:
        """Return the tables, in order."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables())


class Bytes(int):
    """A number of bytes, which prints in a unit that suits it.

    Examples
    --------
    >>> [str(Bytes(n)) for n in (0, 999, 123_456, 5 * 2**30)]
    ['0 B', '999 B', '120.6 KiB', '5.0 GiB']
    """

    def __str__(self) -> str:
        amount, unit = float(self), "B"
        for larger in ("KiB", "MiB", "GiB", "TiB"):
            if amount < 1024:
                break
            amount, unit = amount / 1024, larger
        return f"{int(self)} B" if unit == "B" else f"{amount:.1f} {unit}"


class Seconds(float):
    """A time, which prints in a unit that suits it.

    Examples
    --------
    >>> [str(Seconds(t)) for t in (0.0, 2.5e-7, 0.0123, 75.0)]
    ['0', '0.25 us', '12.3 ms', '75 s']
    """

    def __str__(self) -> str:
        for size, unit in ((1.0, "s"), (1e-3, "ms")):
            if self >= size:
                return f"{float(self) / size:.3g} {unit}"
        return f"{float(self) * 1e6:.3g} us" if self else "0"


def counted(count: int, noun: str) -> str:
    """Return a number and a noun, in the plural where that is due.

    Examples
    --------
    >>> counted(1, "node"), counted(2500, "node")
    ('1 node', '2,500 nodes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _written(value: Any) -> str:
    return f"{value:,}" if type(value) is int else str(value)


def _shortened(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    kept = width - len(_ELLIPSIS)
    return text[: kept // 3] + _ELLIPSIS + text[len(text) - (kept - kept // 3) :]
