"""Layered drawings of graphs: boxes in rows, each below all that it is computed from.

The method is Sugiyama's: rows by the longest path, an order in each row that has few crossings, by
averages over neighbours, and positions as near to the neighbours as the order allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

#: Sizes in pixels: of a character, of a line of text, between boxes and between rows.
_CHARACTER, _LINE, _GAP, _BETWEEN = 7.2, 15, 24, 46
#: An edge bends in each row that it passes. If that takes more bends than this, edges over more
#: rows than so many go straight, past what lies between.
_BENDS, _LONGEST = 20_000, 12
#: How often the rows are put in order, down and up again.
_ROUNDS = 8


class Box(NamedTuple):
    """What is written in a box, its colour, and what is shown where the mouse is on it."""

    lines: Sequence[str]
    colour: str
    title: str

    @property
    def width(self) -> float:
        """How wide the box is."""
        return max(_CHARACTER * max(map(len, self.lines)) + 16, 40)


def layers(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the row of each node, of which parents come first; those without are near their users.

    Examples
    --------
    >>> layers([(), (0,), (), (1, 2), (0,)])
    [0, 1, 1, 2, 1]
    """
    row = [0] * len(parents)
    for node, above in enumerate(parents):
        row[node] = max((row[p] + 1 for p in above), default=0)
    first_use: dict[int, int] = {}
    for node, above in enumerate(parents):
        for p in above:
            first_use[p] = min(first_use.get(p, row[node]), row[node])
    return [
        r if above else max(0, first_use.get(node, 1) - 1)
        for node, (r, above) in enumerate(zip(row, parents, strict=True))
    ]


def drawn(boxes: Sequence[Box], parents: Sequence[Sequence[int]]) -> str:
    """Return a drawing in SVG."""
    if not boxes:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    row = layers(parents)
    widths = [box.width for box in boxes]
    paths: list[list[int]] = []  # each edge as the boxes and bends that it goes through
    links: list[tuple[int, int]] = []  # neighbours in rows: the upper one, the lower one
    bends = sum(row[child] - row[p] - 1 for child, above in enumerate(parents) for p in set(above))
    longest = _LONGEST if bends > _BENDS else max(row)
    for child, above in enumerate(parents):
        for parent in dict.fromkeys(above):
            path = [parent]
            if row[child] - row[parent] <= longest:
                for r in range(row[parent] + 1, row[child]):
                    path.append(len(row))
                    row.append(r)
                    widths.append(2.0)
                path.append(child)
                links += pairwise(path)
            else:
                path.append(child)
            paths.append(path)
    rows: list[list[int]] = [[] for _ in range(max(row) + 1)]
    for node, r in enumerate(row):
        rows[r].append(node)
    above_of: list[list[int]] = [[] for _ in row]
    below_of: list[list[int]] = [[] for _ in row]
    for upper, lower in links:
        above_of[lower].append(upper)
        below_of[upper].append(lower)
    _order(rows, above_of, below_of)
    x = _positions(rows, above_of, below_of, widths)
    height = _LINE * max(len(box.lines) for box in boxes) + 10
    y = [r * (height + _BETWEEN) + 8.0 for r in row]
    return _svg(boxes, paths, x, y, height)


def _order(
    rows: list[list[int]], above_of: Sequence[Sequence[int]], below_of: Sequence[Sequence[int]]
) -> None:
    """Put each row in the order of the averages of its neighbours' places, and again."""
    place = [0.0] * len(above_of)

    def number(row: list[int]) -> None:
        for i, node in enumerate(row):
            place[node] = (i + 0.5) / len(row)

    for row in rows:
        number(row)
    for turn in range(_ROUNDS):
        neighbours = below_of if turn % 2 else above_of
        for row in reversed(rows) if turn % 2 else rows:
            where = {node: _mean([place[n] for n in neighbours[node]], place[node]) for node in row}
            row.sort(key=where.__getitem__)
            number(row)


def _positions(
    rows: Sequence[Sequence[int]],
    above_of: Sequence[Sequence[int]],
    below_of: Sequence[Sequence[int]],
    widths: Sequence[float],
) -> list[float]:
    """Return the middle of each box, so near to its neighbours as boxes beside it let it be."""
    x = [0.0] * len(widths)
    for turn in range(_ROUNDS + 1):
        neighbours = below_of if turn % 2 else above_of
        for row in reversed(rows) if turn % 2 else rows:
            wanted = [_mean([x[n] for n in neighbours[node]], x[node]) for node in row]
            for node, middle in zip(row, _apart(wanted, [widths[n] for n in row]), strict=True):
                x[node] = middle
    left = min(middle - width / 2 for middle, width in zip(x, widths, strict=True))
    return [middle - left + 8 for middle in x]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return the middles nearest to those wanted (in squares) that leave a gap between boxes.

    Less the room that the boxes to the left take, these are numbers that must not decrease:
    neighbours that would are put together at their average.
    """
    room = [0.0]
    for left, right in pairwise(widths):
        room.append(room[-1] + (left + right) / 2 + _GAP)
    groups: list[tuple[float, int]] = []  # averages, and of how many
    for want, offset in zip(wanted, room, strict=True):
        mean, count = want - offset, 1
        while groups and groups[-1][0] > mean:
            other, many = groups.pop()
            mean = (mean * count + other * many) / (count + many)
            count += many
        groups.append((mean, count))
    settled = [mean for mean, count in groups for _ in range(count)]
    return [mean + offset for mean, offset in zip(settled, room, strict=True)]


def _svg(
    boxes: Sequence[Box],
    paths: Sequence[Sequence[int]],
    x: Sequence[float],
    y: Sequence[float],
    height: float,
) -> str:
    from html import escape  # which is slow to import

    right = max(x[i] + box.width / 2 for i, box in enumerate(boxes))
    right = max(right, *x) + 8
    bottom = max(y) + height + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{bottom:.0f}" '
        f'viewBox="0 0 {right:.0f} {bottom:.0f}" font-family="monospace" font-size="12" '
        'text-anchor="middle">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>'
        '<g fill="none" stroke="#666" marker-end="url(#tip)">'
    ]
    for path in paths:
        curve = f"M{x[path[0]]:.1f} {y[path[0]] + height:.1f}"
        for before, after in pairwise(path):
            top = y[before] + height
            middle = (top + y[after]) / 2
            curve += f"C{x[before]:.1f} {middle:.1f} {x[after]:.1f} {middle:.1f} "
            curve += f"{x[after]:.1f} {y[after]:.1f}"
            if after >= len(boxes):  # a bend: straight through its row
                curve += f"V{y[after] + height:.1f}"
        parts.append(f'<path d="{curve}"/>')
    parts.append("</g>")
    for i, box in enumerate(boxes):
        left = x[i] - box.width / 2
        title = f"<title>{escape(box.title)}</title>" if box.title else ""
        parts.append(
            f'<g>{title}<rect x="{left:.1f}" y="{y[i]:.1f}" width="{box.width:.1f}" '
            f'height="{height}" rx="6" fill="{box.colour}" stroke="#666"/>'
        )
        for k, line in enumerate(box.lines):
            parts.append(
                f'<text x="{x[i]:.1f}" y="{y[i] + _LINE * (k + 1):.1f}">{escape(line)}</text>'
            )
        parts.append("</g>")
    return "".join([*parts, "</svg>"])
