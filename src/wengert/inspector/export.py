"""Files instead of a server: a page with answers for a grid of selections, and pictures."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wengert.inspector.api import Api, Refused
from wengert.inspector.model import Item, Session
from wengert.inspector.page import rendered
from wengert.inspector.pictures import axes_of

#: How many selections an exported page has answers for, and along an axis of one tensor.
SELECTIONS, ALONG_AXIS = 400, 16
#: How many nodes of the tape an exported page can show by themselves.
_NODES = 100


def write_page(api: Api, path: str | os.PathLike[str]) -> None:
    """Write a page that needs no server."""
    Path(path).write_text(rendered(embedded=_embedded(api)), "utf-8")


def _embedded(api: Api) -> dict[str, Any]:
    """Return the answers to what the page asks, by its questions."""
    answers: dict[str, Any] = {}

    def ask(question: str, **given: Any) -> Any:
        texts = {name: str(value) for name, value in given.items()}
        key = "&".join(f"{name}={texts[name]}" for name in sorted(texts))
        try:
            answers[f"{question}?{key}"] = api.answer(question, texts)
        except Refused as refused:
            answers[f"{question}?{key}"] = {"error": str(refused)}
        return answers[f"{question}?{key}"]

    ask("state")
    ask("training", since=0)
    session = api.program.session
    if session is None:
        return {"answers": answers, "influences": {}}
    found = ask("session")
    drawn = [session[number] for number in found["drawn"]]
    for item in drawn:
        zeros = ",".join("0" for _ in axes_of(item.shape).others)
        ask("value", t=item.number, at=zeros)
    _ask_about_tape(ask, session, found["results"])
    among = ",".join(str(item.number) for item in drawn)
    influences: dict[int, dict[str, Any]] = {}
    for item in drawn:
        for ranges in _grid(item, SELECTIONS // max(1, len(drawn))):
            given = {"t": str(item.number), "ranges": ranges, "among": among, "at": ""}
            influences.setdefault(item.number, {})[ranges] = api.answer("influence", given)
    return {"answers": answers, "influences": influences}


def _ask_about_tape(ask: Any, session: Session, results: list[int]) -> None:
    for start in range(0, min(len(session.nodes), 5000), 50):
        for order in ("recorded", "line"):
            ask("nodes", **{"from": start}, count=50, find="", order=order, only="")
    ask("nodes", **{"from": 0}, count=50, find="", order="recorded", only="nonfinite")
    inputs = [i.number for i in session.shown() if i.role in ("input", "parameter")]
    for target in results[-3:]:
        ask("graph", target=target)
        ask("nonfinite", target=target)
        for number in range(min(len(session.nodes), _NODES)):
            ask("node", t=number, target=target)
        for source in inputs[:6]:
            ask("pattern", kind="jacobian", target=target, source=source)


def _grid(item: Item, most: int) -> Iterator[str]:
    """Yield single elements of a tensor, spread over its picture, as the page writes ranges."""
    axes = axes_of(item.shape)
    if item.node is None or 0 in item.shape:
        return
    side = min(ALONG_AXIS, max(1, int(most**0.5))) if axes.row is not None else min(64, most)
    rows = [0] if axes.row is None else _spread(item.shape[axes.row], side)
    columns = [0] if axes.column is None else _spread(item.shape[axes.column], side)
    for row, column in itertools.product(rows, columns):
        place = [
            row if axis == axes.row else column if axis == axes.column else 0
            for axis in range(len(item.shape))
        ]
        yield ",".join(f"{k}:{k + 1}" for k in place)


def _spread(length: int, most: int) -> list[int]:
    if length <= most:
        return list(range(length))
    return [int((k + 0.5) * length / most) for k in range(most)]


def write_pictures(api: Api, folder: str | os.PathLike[str]) -> list[Path]:
    """Write a picture for each result: the influence on its middle element; return their paths."""
    session = api.program.session
    assert session is not None
    import matplotlib

    matplotlib.use("Agg", force=False)
    from matplotlib.figure import Figure

    Path(folder).mkdir(parents=True, exist_ok=True)
    drawn = [session[number] for number in api.session({})["drawn"]]
    paths: list[Path] = []
    for item in session.results:
        if item.node is None or 0 in item.shape or not session.is_array(item):
            continue
        ranges = tuple(range(n // 2, n // 2 + 1) for n in item.shape)
        maps = session.influence(item.number, ranges, [i.number for i in drawn]).maps
        shown = [i for i in drawn if i.number in maps and all(map(len, maps[i.number].ranges))]
        if not shown:
            continue
        figure = Figure(figsize=(3.2 * len(shown), 3.2), layout="constrained")
        figure.suptitle(f"Influence on {item.name}{[n // 2 for n in item.shape] or ''}")
        panels = figure.subplots(1, len(shown), squeeze=False)[0]
        for axes, other in zip(panels, shown, strict=True):
            _draw(figure, axes, other, maps[other.number])
        path = Path(folder) / f"{len(paths):02}-{_file_name(item.name)}.png"
        figure.savefig(path, dpi=110)
        paths.append(path)
    return paths


def _draw(figure: Any, axes: Any, item: Item, found: Any) -> None:
    """Draw the part of a map that is not zero, at the first positions of the other axes."""
    seen = axes_of(item.shape)
    key = tuple(0 if a in seen.others else slice(None) for a in range(len(item.shape)))
    values = abs(found.values[key]) if found.values.dtype.kind == "c" else found.values[key]
    rows = range(1) if seen.row is None else found.ranges[seen.row]
    columns = range(1) if seen.column is None else found.ranges[seen.column]
    values = values.reshape(len(rows), len(columns))
    largest = float(abs(values).max()) or 1.0
    extent = (columns.start - 0.5, columns.stop - 0.5, rows.stop - 0.5, rows.start - 0.5)
    image = axes.imshow(
        values, cmap="PuOr_r", vmin=-largest, vmax=largest, extent=extent, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    axes.set_title(item.name)
    for axis in (axes.xaxis, axes.yaxis):  # positions are whole numbers
        axis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    figure.colorbar(image, ax=axes, shrink=0.8)


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name).strip("-") or "tensor"
