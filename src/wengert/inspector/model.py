"""The model behind the page: the tensors of a program, and what can be asked about them."""

from __future__ import annotations

import threading
import time
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from wengert import backends
from wengert.backends.host import to_numpy
from wengert.elements.cost import Cost
from wengert.engine.cotangents import Block
from wengert.engine.forward import push
from wengert.engine.node import Node, watching
from wengert.engine.sweep import ancestors
from wengert.engine.tape import part_of_tape
from wengert.engine.tensor import Tensor, dtype_name, wrap
from wengert.explain.explanation import Explanation
from wengert.explain.graph import Graph, graph_of
from wengert.explain.lines import Instruction, instruction_of
from wengert.explain.nodes import name_of_node
from wengert.explain.nonfinite import NonFinite
from wengert.explain.why import Names, why
from wengert.inspector.names import Assignments, tensors_of
from wengert.inspector.patterns import Pattern, hessian_pattern, jacobian_pattern
from wengert.inspector.recorder import Recorder
from wengert.ops.families.factored import Factored
from wengert.ops.variable import VARIABLE

#: A range of positions for each axis: what is selected of a tensor, or where a map is not zero.
Ranges = tuple[range, ...]


class Item(NamedTuple):
    """A tensor of the program.

    `number` is its position among the session's tensors. `role` is "input", "parameter",
    "intermediate", "result" or "unrecorded". `node` is None for a tensor that no tape recorded.
    """

    number: int
    name: str
    role: str
    shape: tuple[int, ...]
    #: of an operation with several results, a list
    dtype: Any
    node: Node | None
    line: Instruction | None

    @property
    def dtype_name(self) -> str:
        """The name of the dtype, or of those of several results."""
        given = self.dtype if type(self.dtype) is list else [self.dtype]
        return ", ".join(dict.fromkeys(map(dtype_name, given)))


class Map(NamedTuple):
    """Derivatives on some ranges of a tensor; they are zero elsewhere.

    `direction` says whose: "earlier" for derivatives of the selection by the tensor's elements,
    "later" for those of the tensor's elements by the selection.
    """

    direction: str
    ranges: Ranges
    values: np.ndarray


class Influence(NamedTuple):
    """What a selection depends on, and what depends on it, by the numbers of tensors."""

    maps: dict[int, Map]
    seconds: float


class Derivative(NamedTuple):
    """The derivative of one selection by another, the later of the two by the earlier.

    `values` has a derivative of the sum of the later elements for each of the earlier. It is None
    where no path leads, and `explanation` says why.
    """

    of: int
    by: int
    values: np.ndarray | None
    explanation: Explanation


class Birth(NamedTuple):
    """Where NaN or infinity began: the number of the tensor, and what is known."""

    number: int | None
    found: NonFinite


class Session:
    """The tensors of a program that a recorder has seen, to be asked about.

    Parameters
    ----------
    recorder
        What saw the program run.
    names
        The variables of the program.
    results
        Tensors to be shown as results, beside those whose gradient was asked for.
    """

    def __init__(
        self, recorder: Recorder, names: Mapping[str, Any], results: Sequence[Any] = ()
    ) -> None:
        self._recorder, self._tape = recorder, recorder.tape
        self._asking = threading.Lock()
        rounds = recorder.rounds
        self.seconds = {n: s for this in rounds for n, s in this.seconds.items()}
        self._tensors = {n: t for this in rounds for n, t in this.tensors.items()}
        self._asked = [asked for this in rounds for asked in this.asked]
        self.nodes: list[Node] = ancestors(
            [*self._tensors, *(n for this in rounds for n in this.others)], self._tape._token
        )[::-1]
        self._place = {node: k for k, node in enumerate(self.nodes)}
        known, self._plain = self._called(names)
        self._names = known
        self._set_roles([part_of_tape(r, "result").node for r in results])
        self._related = lru_cache(maxsize=32)(self._find_related)
        self._influence = lru_cache(maxsize=16)(self._find_influence)
        self._nonfinite: set[int] | None = None

    # -- tensors ---------------------------------------------------------------------------------

    def _called(self, names: Mapping[str, Any]) -> tuple[dict[Node, str], list[tuple[str, Tensor]]]:
        """Return names of nodes, and the tensors with names that no tape recorded."""
        found = Assignments().names(self.nodes)
        plain = []
        found.update(self._recorder.names)
        for name, value in tensors_of(dict(names)):
            part = part_of_tape(value, name)
            copy = None if part.node is None else self._recorder.known_copy(part.node)
            if copy in self._place:
                own = getattr(value, "name", None) if hasattr(value, "_leaf") else None
                found[copy] = own if isinstance(own, str) and own != "variable" else name
            elif not hasattr(value, "_leaf"):
                plain.append((name, part.tensor))
        found = {node: name for node, name in found.items() if node in self._place}
        times = Counter(found.values())
        seen: Counter[str] = Counter()
        for node in self.nodes:
            name = found.get(node, "")
            if times[name] > 1 and name:
                seen[name] += 1
                found[node] = f"{name} ({seen[name]} of {times[name]})"
        return found, plain

    def _set_roles(self, given: list[Node | None]) -> None:
        copies = {self._recorder.known_copy(node) for node in given if node is not None}
        parents = {node.parent for node in self.nodes}
        parents.update(parent for node in self.nodes for parent, _, _ in node.others)
        asked = {node for asked in self._asked for node in asked.targets}
        ends = {n for n in self.nodes if n not in parents and n.parent is not None}
        named = {node for node in ends if node in self._names}
        self._results = (copies | asked | named) & self._place.keys() or ends

    def _role(self, node: Node) -> str:
        if node in self._results:
            return "result"
        if node.parent is not None:
            return "intermediate"
        return "parameter" if node.op is VARIABLE or node in self._recorder.names else "input"

    def __len__(self) -> int:
        return len(self.nodes) + len(self._plain)

    def __getitem__(self, number: int) -> Item:
        # made when it is asked for: a tape may have a hundred thousand
        if number >= len(self.nodes):
            name, tensor = self._plain[number - len(self.nodes)]
            shape, dtype = tuple(tensor.shape), tensor.dtype
            return Item(number, name, "unrecorded", shape, dtype, None, None)
        node = self.nodes[number]
        name = self._names.get(node) or name_of_node(node)
        shape = () if type(node.shape) is list else tuple(node.shape)
        return Item(number, name, self._role(node), shape, node.dtype, node, instruction_of(node))

    def named(self, name: str) -> Item:
        """Return the last tensor with a name."""
        found = [k for k in range(len(self)) if self[k].name == name]
        if not found:
            known = ", ".join(dict.fromkeys(item.name for item in self.shown()))
            raise KeyError(f"no tensor is called {name!r}; there are {known}")
        return self[found[-1]]

    def listed(self) -> list[int]:
        """Return the numbers of inputs and results, then those of other tensors with a name."""
        arrays = [(k, node) for k, node in enumerate(self.nodes) if type(node.shape) is not list]
        ends = [k for k, node in arrays if self._role(node) != "intermediate"]
        inner = [k for k, n in arrays if n in self._names and self._role(n) == "intermediate"]
        return [*ends, *inner, *range(len(self.nodes), len(self))]

    def shown(self) -> list[Item]:
        """Return the tensors that have a name, and all inputs and results."""
        return [self[k] for k in sorted(self.listed())]

    def is_array(self, item: Item) -> bool:
        """Return whether an item is one array, and not the several results of an operation."""
        return item.node is None or type(item.node.shape) is not list

    def value(self, number: int) -> np.ndarray | None:
        """Return the value of a tensor; None where nobody kept it."""
        if number >= len(self.nodes):
            return to_numpy(self._plain[number - len(self.nodes)][1]._raw)
        tensor = self._tensors.get(self.nodes[number])
        return None if tensor is None else to_numpy(tensor._raw)

    def _tensor(self, item: Item) -> Tensor:
        """Return a tensor of the recorder's tape for an item."""
        node: Any = item.node
        if node in self._tensors:
            return wrap(self._tensors[node]._raw, node)
        # its shape and its dtype are enough to be differentiated
        some: Any = next((t._raw for t in self._tensors.values()), np.zeros(()))
        return wrap(backends.namespace_of(some).zeros(node.shape, dtype=node.dtype), node)

    # -- what depends on what ----------------------------------------------------------------------

    def influence(
        self, number: int, ranges: Ranges, among: Sequence[int] | None = None
    ) -> Influence:
        """Return maps of what a selection depends on, and of what depends on it.

        A tensor that has no path from or to the selection has no map.
        """
        item = self._checked(number, ranges)
        chosen = sorted(self.listed()) if among is None else among
        with self._asking:
            if item.node is None:
                return Influence({}, 0.0)
            return self._influence(number, ranges, tuple(dict.fromkeys(chosen)))

    def _find_influence(self, number: int, ranges: Ranges, among: tuple[int, ...]) -> Influence:
        start = time.perf_counter()
        item = self[number]
        earlier, later = self._related(number)
        back = [self[k] for k in among if k in earlier and k != number]
        ahead = [self[k] for k in among if k in later and k != number]
        selection = self._tensor(item).at[_key(ranges)]
        maps: dict[int, Map] = {}
        with np.errstate(all="ignore"):
            if back:
                sources = [self._tensor(i) for i in back]
                found = self._tape.gradient(selection, sources, dense=False)
                maps = _maps("earlier", back, found)
            if ahead:
                part = part_of_tape(selection, "selection")
                xp = backends.namespace_of(part.tensor._raw)
                ones = wrap(xp.ones(part.selection.shape, dtype=part.tensor.dtype))
                targets = [self._tensor(i) for i in ahead]
                moved = push(self._tape, [part], [ones], targets, dense=False)
                maps |= _maps("later", ahead, moved)
        return Influence(maps, time.perf_counter() - start)

    def _find_related(self, number: int) -> tuple[set[int], set[int]]:
        """Return the numbers of tensors before a tensor, and after it, on a path with it."""
        node = self[number].node
        if node is None:
            return set(), set()
        before = ancestors([node], self._tape._token)
        after = {node}
        for other in self.nodes[number + 1 :]:
            if any(parent in after for parent, _, _ in other.edges):
                after.add(other)
        return {self._place[n] for n in before}, {self._place[n] for n in after}

    def cost(self, number: int, ranges: Ranges, among: Sequence[int]) -> Cost | None:
        """Return what the derivatives of a selection by earlier tensors cost; None without any."""
        item = self._checked(number, ranges)
        earlier = self._related(number)[0]
        sources = [self[k] for k in among if k in earlier and k != number]
        if not sources:
            return None
        target = self._tensor(item).at[_key(ranges)]
        return self._tape.cost(target, [self._tensor(i) for i in sources])

    def derivative(self, first: int, one: Ranges, second: int, other: Ranges) -> Derivative:
        """Return the derivative of one selection by another, and the operations between."""
        target, source = self._checked(first, one), self._checked(second, other)
        earlier, later = self._related(first)
        if second in later and second not in earlier:
            target, source, one, other = source, target, other, one
        elif second not in earlier:
            return Derivative(first, second, None, self.explain(first, second))
        named = Names(_written(target, one), _written(source, other))
        z, x = self._tensor(target).at[_key(one)], self._tensor(source).at[_key(other)]
        with self._asking, np.errstate(all="ignore"):
            found = self._tape.gradient(z, x)
            explanation = why(self._tape, z, x, named)
        values = None if found is None else to_numpy(found._raw)
        return Derivative(target.number, source.number, values, explanation)

    def explain(self, first: int, second: int) -> Explanation:
        """Return why no path leads between two tensors, as the program's own tapes know it."""
        target, source = sorted((self[first], self[second]), key=self._order)[::-1]
        end, start = self._original(target), self._original(source)
        nodes = [tensor._node for tensor in (end, start) if tensor._node is not None]
        token = next((t for node in nodes for t in node.tokens), self._tape._token)
        tape = types.SimpleNamespace(
            _token=token, _was_entered=True, _former=(), _reset_at=None, _spent=None
        )
        names = Names(target.name, source.name)
        before = watching.set(self._recorder)  # which knows the steps of the program
        try:
            return why(tape, end, start, names, is_none=True)
        finally:
            watching.reset(before)

    def _order(self, item: Item) -> int:
        return -1 if item.role in ("input", "parameter") else item.number

    def _original(self, item: Item) -> Tensor:
        if item.node is None:
            return self._plain[item.number - len(self.nodes)][1]
        return self._tensors[item.node] if item.node in self._tensors else self._tensor(item)

    def _checked(self, number: int, ranges: Ranges) -> Item:
        if not 0 <= number < len(self):
            raise IndexError(f"no tensor {number}; there are {len(self)}")
        item = self[number]
        if not self.is_array(item):
            raise TypeError(f"{item.name} has several results; select elements of one of them")
        fits = len(ranges) == len(item.shape) and all(
            r.step == 1 and 0 <= r.start < r.stop <= n
            for r, n in zip(ranges, item.shape, strict=True)
        )
        if not fits:
            raise IndexError(
                f"the selection {_written(item, ranges)} is not within shape {item.shape}; give a "
                "range of positions for each axis"
            )
        return item

    # -- the tape ----------------------------------------------------------------------------------

    @property
    def results(self) -> list[Item]:
        """The tensors whose gradient was asked for, or that nothing was computed from."""
        return [self[self._place[n]] for n in self.nodes if n in self._results]

    def cotangent(self, number: int, target: int) -> np.ndarray | None:
        """Return the gradient of the sum of a result by a tensor; None where no path leads."""
        item, end = self[number], self[target]
        if item.node is None or number not in self._related(target)[0]:
            return None
        with self._asking, np.errstate(all="ignore"):
            found = self._tape.gradient(self._tensor(end), self._tensor(item))
        return None if found is None else to_numpy(found._raw)

    def parents(self, number: int) -> list[int]:
        """Return the numbers of the tensors that an operation took."""
        node = self[number].node
        return [] if node is None else [self._place[parent] for parent, _, _ in node.edges]

    def earlier(self, target: int) -> list[int]:
        """Return the numbers of what a tensor was computed from, and its own, as recorded."""
        return sorted(self._related(target)[0])

    def graph(self, target: int) -> Graph:
        """Return the graph of what a tensor was computed from, with the program's names."""
        node: Any = self[target].node
        nodes = [self.nodes[k] for k in self.earlier(target)]
        names = {n: self[self._place[n]].name for n in nodes if not n.op.args}
        return graph_of(nodes, {node}, names, ())

    def pattern(self, kind: str, target: int, source: int) -> Pattern:
        """Return the pattern of the "jacobian" or the "hessian" of one tensor by another."""
        pair = [self[target], self[source]]
        if any(item.node is None or not self.is_array(item) for item in pair):
            raise ValueError(f"no tape recorded both {pair[0].name} and {pair[1].name}")
        find = {"jacobian": jacobian_pattern, "hessian": hessian_pattern}[kind]
        with self._asking:
            return find(self._tape, *map(self._tensor, pair))

    def nonfinite(self) -> set[int]:
        """Return the numbers of tensors that have NaN or infinite elements."""
        if self._nonfinite is None:
            found = set()
            for number in range(len(self)):
                values = self.value(number)
                is_inexact = values is not None and values.dtype.kind in "fc"
                if is_inexact and not np.isfinite(values).all():  # type: ignore[arg-type]
                    found.add(number)
            self._nonfinite = found
        return self._nonfinite

    def birth(self, target: int) -> Birth | None:
        """Return where NaN or infinity of a result, or of its gradient, began; None for nowhere."""
        end = self[target]
        earlier = sorted(self._related(target)[0])
        leaves = [self[k] for k in earlier if self.nodes[k].parent is None]
        with self._asking, np.errstate(all="ignore"):
            found = self._tape.find_nonfinite(self._tensor(end), [self._tensor(i) for i in leaves])
        if found is None:
            return None
        return Birth(self._born_at(found, earlier, target), found)

    def _born_at(self, found: NonFinite, earlier: list[int], target: int) -> int | None:
        """Return the tensor that an answer is about: the first of its operation and its line."""
        alike = [
            k
            for k in earlier
            if found.operation in ("", name_of_node(self[k].node))  # type: ignore[arg-type]
            and found.location in (None, _location(self[k].line))
        ]
        if found.phase == "forward":
            marked = self.nonfinite()
            return next((k for k in alike if k in marked), None)
        for k in reversed(alike):  # the first that a sweep meets
            for parent, _, _ in self[k].node.edges:  # type: ignore[union-attr]
                g = self.cotangent(self._place[parent], target)
                if g is not None and not np.isfinite(g).all():
                    return k
        return None


def _maps(direction: str, items: list[Item], found: list[Any]) -> dict[int, Map]:
    """Return a map for each item that there is a derivative for."""
    maps = {}
    for item, g in zip(items, found, strict=True):
        if g is None:
            continue
        ranges: Ranges = tuple(map(range, item.shape))
        if type(g) is Block:
            g = g.ranged(Tensor._namespace)
            if any(r.step != 1 for r in g.region):
                g = g.todense()
            else:
                ranges, g = g.region, g.kept(Tensor._namespace)
        elif type(g) is Factored:
            g = g.todense()
        maps[item.number] = Map(direction, ranges, to_numpy(g._raw))
    return maps


def _key(ranges: Ranges) -> tuple[slice, ...]:
    return tuple(slice(r.start, r.stop) for r in ranges)


def _written(item: Item, ranges: Ranges) -> str:
    """Return a selection as one would write it."""
    parts = [str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}" for r in ranges]
    return f"{item.name}[{', '.join(parts)}]" if parts else item.name


def _location(line: Instruction | None) -> str | None:
    return None if line is None else line.location
