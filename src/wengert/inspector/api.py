"""What the page asks, and the answers as plain data. A question is made of numbers, never code."""

from __future__ import annotations

import contextlib
import linecache
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.backends.memory import owner_of
from wengert.explain.graph import DRAWN as LARGEST_GRAPH
from wengert.explain.nodes import name_of_node
from wengert.explain.summary import residuals
from wengert.inspector import patterns
from wengert.inspector.model import Item, Ranges, Session
from wengert.inspector.pictures import (
    LARGEST,
    axes_of,
    cell_of,
    map_picture,
    value_picture,
    written,
)
from wengert.inspector.program import Program

#: How many tensors are drawn at first, and how many are in the list to choose from.
DRAWN, LISTED = 12, 400
#: A larger graph is drawn with each chain of operations as one node.
DRAWN_NODES = 60
#: A sweep over more nodes is not made before it is asked for.
WARM_NODES = 5000
#: How many rows a page of the tape has at most.
ROWS = 200


class Refused(Exception):
    """A question that has no answer; the message says why."""


class Api:
    """Answers the page's questions about a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._is_warm = False
        self._answers: dict[str, Callable[[Mapping[str, str]], Any]] = {
            "state": self.state,
            "session": self.session,
            "value": self.value,
            "influence": self.influence,
            "cost": self.cost,
            "derivative": self.derivative,
            "nodes": self.nodes,
            "node": self.node,
            "graph": self.graph,
            "nonfinite": self.nonfinite,
            "pattern": self.pattern,
            "training": self.training,
        }

    def answer(self, question: str, given: Mapping[str, str]) -> Any:
        """Return the answer to a question with parameters, as the page writes them."""
        if question not in self._answers:
            raise Refused(f"no question is called {question!r}; there are {[*self._answers]}")
        try:
            return self._answers[question](given)
        except (IndexError, TypeError, ValueError, KeyError) as error:
            raise Refused(str(error.args[0] if error.args else error)) from error

    @property
    def _session(self) -> Session:
        if self.program.session is None:
            raise Refused(self.program.message or "The program is still running.")
        return self.program.session

    # -- the program -------------------------------------------------------------------------------

    def state(self, given: Mapping[str, str]) -> Any:
        """Return whether the program runs, and how it ended."""
        program = self.program
        return {
            "title": program.title,
            "status": program.status,
            "message": program.message,
            "ready": program.session is not None,
            "steps": len(program.recorder.training),
        }

    def session(self, given: Mapping[str, str]) -> Any:
        """Return the tensors there are to look at."""
        session = self._session
        numbers = session.listed()
        listed = [session[k] for k in sorted(numbers[:LISTED])]
        drawn = [item.number for item in _first_drawn(listed)]
        if not self._is_warm:
            self._is_warm = True
            threading.Thread(target=_warm, args=(session, drawn), daemon=True).start()
        return {
            "tensors": [self._item(item) for item in listed],
            "left_out": len(numbers) - len(listed),
            "drawn": drawn,
            "results": [item.number for item in session.results],
            "nodes": len(session.nodes),
        }

    def _item(self, item: Item) -> dict[str, Any]:
        axes = axes_of(item.shape)
        return {
            "number": item.number,
            "name": item.name,
            "role": item.role,
            "shape": item.shape,
            "dtype": item.dtype_name,
            "row": axes.row,
            "column": axes.column,
            "others": axes.others,
            "cell": cell_of(item.shape),
            "line": _line(item),
        }

    # -- what depends on what ----------------------------------------------------------------------

    def value(self, given: Mapping[str, str]) -> Any:
        """Return the picture of a tensor's values."""
        item = self._one(given)
        values = self._session.value(item.number)
        if values is None:
            raise Refused("Nobody kept this value; run the program with `wengert inspect`.")
        if values.size == 0:
            raise Refused("This tensor has no elements.")
        picture = value_picture(values, _at(given.get("at", ""), item))
        return picture | {"nonfinite": int((~_finite(values)).sum())}

    def influence(self, given: Mapping[str, str]) -> Any:
        """Return a picture of each tensor's part in a selection."""
        item, ranges = self._selection(given)
        among = _numbers(given.get("among", ""))
        places = dict(_place(part) for part in given.get("at", "").split(";") if part)
        found = self._session.influence(item.number, ranges, among)
        maps = {}
        for number, one in found.maps.items():
            other = self._session[number]
            at = places.get(number, (0,) * len(axes_of(other.shape).others))
            maps[number] = map_picture(one, other.shape, at) | {
                "direction": one.direction,
                "where": written(one.ranges),
                "empty": not all(map(len, one.ranges)),
            }
        value = self._session.value(item.number)
        part = None if value is None else value[tuple(slice(r.start, r.stop) for r in ranges)]
        return {
            "of": f"{item.name}[{written(ranges)}]" if ranges else item.name,
            "value": None if part is None or part.size != 1 else _number(part.reshape(())[()]),
            "elements": math.prod(map(len, ranges)),
            "maps": maps,
            "milliseconds": found.seconds * 1000,
        }

    def cost(self, given: Mapping[str, str]) -> Any:
        """Return the work of the sweep behind an influence."""
        item, ranges = self._selection(given)
        found = self._session.cost(item.number, ranges, _numbers(given.get("among", "")))
        if found is None:
            return None
        return {"structured": found.structured._asdict(), "dense": found.dense._asdict()}

    def derivative(self, given: Mapping[str, str]) -> Any:
        """Return the derivative of one selection by another, and the chain between."""
        first, one = self._selection(given)
        second, other = self._selection({"t": given.get("by", ""), "ranges": given.get("of", "")})
        found = self._session.derivative(first.number, one, second.number, other)
        names = {first.number: written(one), second.number: written(other)}
        texts = [
            f"{self._session[n].name}[{names[n]}]" if names[n] else self._session[n].name
            for n in (found.of, found.by)
        ]
        why = found.explanation
        return {
            "of": texts[0],
            "by": texts[1],
            "value": None if found.values is None else _number(found.values.sum()[()]),
            "elements": 0 if found.values is None else found.values.size,
            "chain": list(why.chain),
            "message": str(why),
        }

    # -- the tape ----------------------------------------------------------------------------------

    def nodes(self, given: Mapping[str, str]) -> Any:
        """Return a page of the tape's list, in the order of recording or of source lines."""
        session = self._session
        chosen: Sequence[int] = range(len(session.nodes))
        text = given.get("find", "").lower()
        marked = session.nonfinite()
        if given.get("only") == "nonfinite":
            chosen = [k for k in chosen if k in marked]
        if text:
            chosen = [k for k in chosen if text in _searched(session[k])]
        if given.get("order") == "line":
            chosen = sorted(chosen, key=lambda k: (_file_and_line(session[k]), k))
        start = max(0, int(given.get("from", "0")))
        count = min(ROWS, max(1, int(given.get("count", "50"))))
        return {
            "total": len(chosen),
            "from": start,
            "marked": sum(k < len(session.nodes) for k in marked),
            "rows": [self._row(session[k], k in marked) for k in chosen[start : start + count]],
        }

    def _row(self, item: Item, is_marked: bool) -> dict[str, Any]:
        node: Any = item.node
        operation = name_of_node(node)
        return {
            "number": item.number,
            "operation": operation,
            "name": "" if item.name == operation else item.name,
            "shape": str(tuple(node.shape) if type(node.shape) is not list else node.shape),
            "dtype": item.dtype_name,
            "bytes": sum(dict(owner_of(array) for _, array in residuals(node)).values()),
            "microseconds": self._session.seconds.get(node, 0.0) * 1e6,
            "line": _line(item),
            "text": item.line.text if item.line is not None else "",
            "nonfinite": is_marked,
        }

    def node(self, given: Mapping[str, str]) -> Any:
        """Return one node: its value, its cotangent, its parents and its source lines."""
        session, item = self._session, self._one(given)
        target = int(given.get("target", "-1"))
        found: dict[str, Any] = self._item(item) | {
            "row_of": self._row(item, item.number in session.nonfinite()),
            "parents": [
                {"number": n, "name": session[n].name} for n in session.parents(item.number)
            ],
            "source": _source(item),
            "value": None,
            "cotangent": None,
        }
        if not session.is_array(item):
            return found
        at = _at(given.get("at", ""), item)
        values = session.value(item.number)
        if values is not None and values.size:
            found["value"] = value_picture(values, at)
        if 0 <= target < len(session):
            g = session.cotangent(item.number, target)
            if g is not None and g.size:
                found["cotangent"] = value_picture(g, at)
        return found

    def graph(self, given: Mapping[str, str]) -> Any:
        """Return a drawing of what a result was computed from; of a large graph, of its chains."""
        target = int(given.get("target", "-1"))
        graph = self._session.graph(target)
        whole = len(graph.nodes)
        if whole > DRAWN_NODES:
            graph = graph.collapsed()
        if len(graph.nodes) > LARGEST_GRAPH:
            raise Refused(
                f"The graph has {whole:,} nodes, which is too many for a drawing; the list has all."
            )
        is_whole = len(graph.nodes) == whole
        return {
            "nodes": whole,
            "drawn": len(graph.nodes),
            "svg": graph.svg(),
            "numbers": self._session.earlier(target) if is_whole else [],
        }

    def nonfinite(self, given: Mapping[str, str]) -> Any:
        """Return where NaN or infinity of a result, or of its gradient, began."""
        birth = self._session.birth(int(given.get("target", "-1")))
        if birth is None:
            return None
        return {"number": birth.number, "message": str(birth.found), "phase": birth.found.phase}

    # -- patterns and training ---------------------------------------------------------------------

    def pattern(self, given: Mapping[str, str]) -> Any:
        """Return the pattern of a Jacobian or a Hessian, in cells of a picture."""
        found = self._session.pattern(
            given.get("kind", "jacobian"), int(given.get("target", "-1")), int(given["source"])
        )
        matrix = found.matrix.tocoo()
        cell = max(1, -(-max(matrix.shape) // LARGEST))
        keys = matrix.row // cell * LARGEST * 2 + matrix.col // cell
        unique, first = np.unique(keys, return_index=True)
        return {
            "shape": matrix.shape,
            "elements": int(matrix.nnz),
            "density": patterns.density(found),
            "groups": found.colouring.colours,
            "mode": found.colouring.mode,
            "cell": cell,
            "rows": (unique // (LARGEST * 2)).tolist(),
            "columns": (unique % (LARGEST * 2)).tolist(),
            "group": found.groups[first].tolist(),
        }

    def training(self, given: Mapping[str, str]) -> Any:
        """Return the steps of training since one of them."""
        start = max(0, int(given.get("since", "0")))
        steps = self.program.recorder.training[start:]
        return {
            "since": start,
            "status": self.program.status,
            "steps": [
                {
                    "loss": _number(step.loss),
                    "norms": {name: _number(norm) for name, norm in step.norms.items()},
                }
                for step in steps
            ],
        }

    # -- reading -----------------------------------------------------------------------------------

    def _one(self, given: Mapping[str, str]) -> Item:
        number = int(given.get("t", "-1"))
        if not 0 <= number < len(self._session):
            raise Refused(f"There is no tensor {number}; there are {len(self._session)}.")
        return self._session[number]

    def _selection(self, given: Mapping[str, str]) -> tuple[Item, Ranges]:
        return self._one(given), _ranges(given.get("ranges", ""))


def _warm(session: Session, drawn: list[int]) -> None:
    """Find what a first element depends on, so that a first click waits for nothing new."""
    if session.results and len(session.nodes) <= WARM_NODES:
        first = tuple(range(min(n, 1)) for n in session.results[-1].shape)
        with contextlib.suppress(Exception):  # it is told where somebody asks
            session.influence(session.results[-1].number, first, drawn)


def _first_drawn(listed: list[Item]) -> list[Item]:
    """Return the tensors that are drawn at first: some of each role, spread over the program."""
    by_role = {
        role: [item for item in listed if item.role == role and math.prod(item.shape) > 0]
        for role in ("intermediate", "parameter", "input", "result", "unrecorded")
    }
    shares = {"intermediate": 4, "parameter": 2, "input": 3, "result": 3, "unrecorded": 0}
    counts = {role: min(len(items), shares[role]) for role, items in by_role.items()}
    for role, items in by_role.items():  # who has more gets what others leave
        counts[role] += min(len(items) - counts[role], DRAWN - sum(counts.values()))
    found = [
        items[k * len(items) // counts[role]]
        for role, items in by_role.items()
        for k in range(counts[role])
    ]
    return sorted(found, key=lambda item: item.number)


def _ranges(text: str) -> Ranges:
    """Return "0:1,4:7" as ranges."""
    pairs = [part.split(":") for part in text.split(",") if part]
    return tuple(range(int(start), int(stop)) for start, stop in pairs)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def _place(text: str) -> tuple[int, tuple[int, ...]]:
    """Return "3:0,2" as a tensor's number and positions along its other axes."""
    number, _, places = text.partition(":")
    return int(number), tuple(_numbers(places))


def _at(text: str, item: Item) -> tuple[int, ...]:
    others = axes_of(item.shape).others
    at = tuple(_numbers(text)) or (0,) * len(others)
    if len(at) != len(others) or any(
        not 0 <= i < item.shape[a] for a, i in zip(others, at, strict=True)
    ):
        raise Refused(f"The positions {at} are not those of shape {item.shape} along {others}.")
    return at


def _finite(values: np.ndarray) -> Any:
    return np.isfinite(values) if values.dtype.kind in "fc" else np.ones(values.shape, bool)


def _number(value: Any) -> Any:
    """Return a number as JSON has it: text for what JSON has no numbers for."""
    if isinstance(value, (complex, np.complexfloating)):
        return str(complex(value))
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _searched(item: Item) -> str:
    """Return the text in which a node is looked for."""
    node: Any = item.node
    return f"{item.name} {name_of_node(node)} {_line(item)}".lower()


def _line(item: Item) -> str:
    if item.line is None:
        return ""
    return f"{os.path.basename(item.line.code.co_filename)}:{item.line.line}"


def _file_and_line(item: Item) -> tuple[str, int]:
    return ("", 0) if item.line is None else (item.line.code.co_filename, item.line.line or 0)


def _source(item: Item) -> dict[str, Any] | None:
    """Return the lines around the one that recorded a node."""
    if item.line is None or item.line.line is None:
        return None
    lines = linecache.getlines(item.line.code.co_filename)
    first = max(0, item.line.line - 5)
    return {
        "file": item.line.code.co_filename,
        "line": item.line.line,
        "first": first + 1,
        "lines": [text.rstrip("\n") for text in lines[first : item.line.line + 4]],
    }
