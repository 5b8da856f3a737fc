"""Programs drawn from the registry: any operation on any of its samples, fed with what is there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.campaign.keys import valid_key
from tests.campaign.programs import (
    WIDE_NUMPY,
    Input,
    Node,
    Program,
    Ref,
    Shape,
    Step,
    as_wide_as,
    inexact,
    label,
    pruned,
    wide,
)
from tests.ops.op_cases import leaves
from wengert.extend import REGISTRY
from wengert.ops.families import Entry

SHAPES: list[Shape] = [
    (3,),
    (2, 3),
    (),
    (4,),
    (1, 3),
    (3, 1),
    (2, 2),
    (2, 3, 2),
    (5,),
    (3, 3),
    (1,),
]
EMPTY_SHAPES: list[Shape] = [(0,), (0, 2), (2, 0)]
LAYOUTS = ["plain", "plain", "transposed", "stepped", "backward"]
LARGEST = 40  # elements of a node
UPDATE_NAMES = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]


class Rejected(Exception):
    """What was drawn cannot be computed, or leads nowhere."""


class Drawing:
    """A program that grows node by node, with the value of each in double precision."""

    def __init__(self, rng: np.random.Generator, names: Sequence[str]) -> None:
        self.rng = rng
        self.names = names
        self.nodes: list[Node] = []
        self.values: list[np.ndarray] = []
        self.complex = rng.random() < 0.3
        self.single = rng.random() < 0.3
        self.mixed = rng.random() < 0.05

    # nodes

    def chance(self, p: float) -> bool:
        """Return whether something with this probability happens."""
        return bool(self.rng.random() < p)

    def choose(self, options: Sequence[Any]) -> Any:
        """Return one of the options."""
        return options[int(self.rng.integers(len(options)))]

    def add_input(self, shape: Shape, domain: Any = (-2.0, 2.0), kind: str = "") -> Ref:
        """Add an input with numbers of the domain, none near another or near 0."""
        if not kind:
            kind = "c" if self.complex and self.chance(0.6) else "f"
        size = math.prod(shape)
        count = size + size % 2 + 2
        unit = (self.rng.permutation(count)[:size] + self.rng.uniform(0.3, 0.7, size)) / count
        array = (domain[0] + (domain[1] - domain[0]) * unit).reshape(shape)
        if kind == "c":
            array = array + 1j * self.rng.uniform(-0.8, 0.8, shape)
        single = self.single != (self.mixed and self.chance(0.5))
        dtypes = {"f": np.float32, "c": np.complex64} if single else {}
        array = np.asarray(array, dtypes.get(kind, array.dtype))
        self.nodes.append(Input(array, self.choose(LAYOUTS)))
        self.values.append(wide(array))
        return len(self.nodes) - 1

    def add(self, step: Step) -> Ref:
        """Add a step, unless its value is not fit to go on with."""
        try:
            with np.errstate(all="ignore"):
                value = WIDE_NUMPY.perform(step, [self.values[a] for a in step.args])
        except Exception as error:
            raise Rejected(f"{label(step)}: {error}") from error
        if value.size > LARGEST or value.dtype.kind not in "fcbiu":
            raise Rejected(f"{label(step)}: {value.size} elements")
        if inexact(value) and not (np.isfinite(value).all() and np.all(np.abs(value) < 1e3)):
            raise Rejected(f"{label(step)}: not finite, or large")
        self.nodes.append(step)
        self.values.append(value)
        return len(self.nodes) - 1

    def adapter(self, kind: str, name: str, x: Ref, **params: Any) -> Ref:
        """Add a step that makes a value fit."""
        return self.add(Step(kind, name, (x,), params))

    def some(self, shape: Shape | None = None, kinds: str = "fc") -> Ref:
        """Return a node with derivatives, rather a late one, rather one of this shape."""
        found = [i for i, v in enumerate(self.values) if inexact(v) and v.size]
        if shape is not None and math.prod(shape) == 0:
            found += [i for i, v in enumerate(self.values) if inexact(v) and not v.size]
        exact = [i for i in found if self.values[i].shape == shape]
        if exact and self.chance(0.6):
            found = exact
        right = [i for i in found if self.values[i].dtype.kind in kinds]
        found = right if right and self.chance(0.8) else found
        used = {a for node in self.nodes if isinstance(node, Step) for a in node.args}
        loose = [i for i in found if i not in used]
        found = loose if loose and self.chance(0.6) else found  # so that most lead to the end
        if not found:
            return self.add_input(shape if shape is not None else (3,))
        return found[-1] if self.chance(0.5) else self.choose(found)

    def fitting(self, shape: Shape, domain: Any = (-2.0, 2.0), kinds: str = "fc") -> Ref:
        """Return a node of a shape, with numbers of a domain, of one of these kinds."""
        if len([n for n in self.nodes if isinstance(n, Input)]) < 4 and self.chance(0.2):
            kind = "c" if "c" in kinds and (self.complex or "f" not in kinds) else "f"
            return self.add_input(shape, domain, kind if self.chance(0.6) else kinds[0])
        x = self.some(shape, kinds)
        x = self.of_kind(x, kinds)
        if self.values[x].shape != shape:
            size, n = self.values[x].size, math.prod(shape)
            if not size and n:
                raise Rejected("no elements to take")
            places = (np.arange(n) + int(self.rng.integers(size or 1))) % max(size, 1)
            x = self.adapter("fit", "", x, places=places, shape=shape)
        return self.within(x, domain)

    def of_kind(self, x: Ref, kinds: str) -> Ref:
        """Return a node of one of these kinds, made of another if need be."""
        kind = self.values[x].dtype.kind
        if kind in kinds:
            return x
        if kind == "c":
            return self.adapter("part", self.choose(["real", "imag", "abs"]), x)
        if "c" in kinds:
            return self.adapter("turn", "", x)
        raise Rejected("no such kind")

    def within(self, x: Ref, domain: Any) -> Ref:
        """Return a node with numbers of a domain, made of another if need be."""
        low, high = map(float, domain)
        value = self.values[x]
        wider = 2.0 if (low, high) == (-2.0, 2.0) else 0.0
        if value.dtype.kind == "c":
            middle, half = (low + high) / 2, (high - low) / 2
            inside = np.all(np.abs(value - middle) <= half + wider)
        else:
            inside = np.all((value >= low - wider) & (value <= high + wider))
        if inside:
            return x
        # not so far out that tanh is flat
        by = round(1.5 / max(1.5, float(np.max(np.abs(value), initial=0.0))), 3)
        return self.adapter("squash", "", x, low=low, high=high, by=by)

    # operations

    def operation(self) -> Ref:
        """Add an operation of any kind."""
        draw = self.rng.random()
        if draw < 0.56:
            return self.registered(REGISTRY[self.choose(self.names)])
        if draw < 0.62:
            return self.move()
        if draw < 0.74:
            return self.by_operator()
        return self.get() if draw < 0.87 else self.update()

    def registered(self, entry: Entry) -> Ref:
        """Add an operation of the registry, on one of its samples or on shapes at hand."""
        chosen = self.choose(entry.samples)
        shapes, params = list(chosen.shapes), dict(chosen.params)
        by_element = any(() in s.shapes for s in entry.samples)  # not for matrices only
        if entry.family in ("elementwise", "zero") and by_element and self.chance(0.6):
            shapes = self.shapes_at_hand(shapes, params)
        elif entry.family == "reduction" and "axis" in params and self.chance(0.6):
            shape = self.values[self.some()].shape
            if math.prod(shape):
                shapes = [shape]
                axes = [a for a in range(len(shape)) if self.chance(0.5)]
                params["axis"] = tuple(axes)
        elif 0 in [n for s in shapes for n in s] and self.chance(0.8):
            raise Rejected("empty arrays are rare")
        names = getattr(entry.op, "args", ())
        same = "f" if "f" in entry.kinds else entry.kinds[0]
        if "c" in entry.kinds and (self.complex or "f" not in entry.kinds):
            same = "c"
        kinds = entry.kinds if self.chance(0.3) and entry.name not in SAME_DTYPE else same
        args = []
        for i, shape in enumerate(shapes):
            domain = entry.domains[min(i, len(entry.domains) - 1)]
            if "b" in kinds or (i < len(names) and names[i] in ("condition", "mask")):
                args.append(self.condition(shape))
            elif "f" in kinds or "c" in kinds:
                args.append(self.fitting(shape, domain, kinds))
            else:
                raise Rejected("integers have no derivatives")
        if entry.name in SAME_DTYPE and self.mixed:
            raise Rejected("its callers see to it that dtypes are the same")
        if entry.inputs is not None:
            args = self.prepared(entry, args)
        step = Step("op", entry.name, tuple(args), params)
        with np.errstate(all="ignore"):
            try:
                result = leaves(WIDE_NUMPY.do_op(step, *(self.values[a] for a in args)))
            except Exception as error:
                raise Rejected(f"{entry.name}: {error}") from error
        if not params and hasattr(np, entry.name) and self.chance(0.2):
            step = dataclasses.replace(step, kind="numpy")
        if len(result) > 1:
            step = dataclasses.replace(step, pick=int(self.rng.integers(len(result))))
        return self.put_to_use(self.add(step))

    def put_to_use(self, x: Ref) -> Ref:
        """Return a node with derivatives that depends on one that may have none."""
        value = self.values[x]
        if inexact(value):
            return x
        if value.dtype == bool and self.chance(0.5):
            pair = [self.fitting(value.shape) for _ in range(2)]
            return self.add(Step("op", "where", (x, *pair)))
        dtype = np.float32 if self.single else np.float64
        factor = self.adapter("float", "", x, dtype=dtype)
        return self.add(Step("operator", "*", (factor, self.fitting(value.shape))))

    def shapes_at_hand(self, shapes: list[Shape], params: Mapping[str, Any]) -> list[Shape]:
        """Return a shape of some node, and shapes that broadcast with it."""
        if any(np.ndim(v) for v in params.values() if not isinstance(v, str)):
            return shapes  # a parameter is for the shapes of the sample
        first = self.values[self.some()].shape
        if math.prod(first) > 24:
            return shapes
        found = []
        for _ in shapes:
            shape = tuple(1 if self.chance(0.15) else n for n in first)
            if shape and self.chance(0.15):
                shape = shape[1:]
            found.append(shape)
        found[int(self.rng.integers(len(found)))] = first
        return found

    def prepared(self, entry: Entry, args: list[Ref]) -> list[Ref]:
        """Return nodes that are what an operation takes: what it makes of them, by a shift."""
        values = [self.values[a] for a in args]
        made = entry.inputs(*values) if entry.inputs else values
        out = []
        for x, value, wanted in zip(args, values, made, strict=True):
            by = np.asarray(wanted, value.dtype) - value
            if by.any():
                by = by.astype(as_wide_as(np.float32 if self.single else np.float64, by.dtype.kind))
                x = self.adapter("shift", "", x, by=wide(by))
            out.append(x)
        return out

    def condition(self, shape: Shape) -> Ref:
        """Return a node of booleans: a comparison of numbers."""
        x = self.of_kind(self.fitting(shape), "f")
        number = round(float(self.rng.uniform(-0.5, 0.5)), 3)
        return self.add(
            Step("operator", self.choose("<>"), (x,), {"number": number, "left": False})
        )

    def by_operator(self) -> Ref:
        """Add an operator between two nodes, or a node and a number."""
        name = self.choose(["+", "-", "*", "*", "/", "**", "@", "neg", "abs"])
        if name in ("neg", "abs"):
            return self.add(Step("operator", name, (self.some(),)))
        if name == "@":
            a, b = self.choose([((2, 3), (3, 2)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,))])
            return self.add(Step("operator", name, (self.fitting(a), self.fitting(b))))
        first = (0.3, 2.5) if name == "**" else (-2.0, 2.0)
        second = {"/": (0.3, 2.5), "**": (-1.5, 1.5)}.get(name, (-2.0, 2.0))
        x = self.some()
        shape = self.values[x].shape
        if self.chance(0.3):
            if name == "**":
                number = self.choose([2, 3, 0.5, -1, 2.5])
                x = x if number in (2, 3) else self.within(x, first)
                return self.add(Step("operator", name, (x,), {"number": number, "left": False}))
            left = self.chance(0.5)
            number = round(float(self.rng.uniform(0.4, 1.8)), 3)
            x = self.within(x, second) if left and name == "/" else x
            return self.add(Step("operator", name, (x,), {"number": number, "left": left}))
        x = self.within(x, first)
        other = shape[int(self.rng.integers(len(shape) + 1)) :] if self.chance(0.4) else shape
        y = self.fitting(other, second)
        pair = (x, y) if name in ("/", "**") or self.chance(0.5) else (y, x)
        return self.add(Step("operator", name, pair))

    def move(self) -> Ref:
        """Add a function that only moves elements, perhaps one that changes nothing."""
        x = self.some()
        shape = self.values[x].shape
        axes = range(-len(shape), len(shape))
        options: list[tuple[str, dict[str, Any]]] = [
            ("expand_dims", {"axis": self.choose([0, -1, (), (0, 2)])}),
            ("squeeze", {"axis": tuple(i for i, n in enumerate(shape) if n == 1)}),
        ]
        if shape:
            one, two = (int(self.choose(axes)) for _ in range(2))
            options += [
                ("moveaxis", {"more": (one, two)}),
                ("swapaxes", {"more": (one, two)}),
            ]
            if shape[one]:
                indices = self.rng.integers(
                    -shape[one], shape[one], self.choose([(2,), (), (1, 2)])
                )
                options.append(("take", {"more": (np.asarray(indices),), "axis": one}))
        if len(shape) > 1:
            options.append(("matrix_transpose", {}))
        of_numpy: list[tuple[str, dict[str, Any]]] = [
            ("ravel", {}), ("atleast_1d", {}), ("atleast_2d", {}), ("transpose", {}),
        ]  # fmt: skip
        if self.chance(0.3):
            name, params = self.choose(of_numpy)
            return self.add(Step("move", name, (x,), params | {"via": "np"}))
        name, params = self.choose(options)
        return self.add(Step("move", name, (x,), params | {"via": self.choose(["wg", "np"])}))

    def get(self) -> Ref:
        """Add an index expression."""
        x = self.some()
        key = valid_key(self.rng, self.values[x].shape)
        return self.add(Step("get", "", (x,), {"key": key}))

    def update(self) -> Ref:
        """Add an update of some elements."""
        name = self.choose(UPDATE_NAMES)
        if self.mixed:
            raise Rejected("an update has the dtype of what is updated")
        x = self.some()
        if name in ("min", "max"):
            x = self.of_kind(x, "f")
        if name == "power":
            x = self.within(x, (0.3, 2.5))
        key = valid_key(self.rng, self.values[x].shape)
        shape = self.values[x][key].shape
        if self.chance(0.3):
            shape = shape[int(self.rng.integers(len(shape) + 1)) :]
        domain = {"divide": (0.3, 2.5), "power": (-1.5, 1.5)}.get(name, (-2.0, 2.0))
        values = self.fitting(shape, domain, "f" if self.values[x].dtype.kind == "f" else "fc")
        return self.add(Step("at", name, (x, values), {"key": key}))

    def close(self) -> Program:
        """Return the program, of nodes that lead to its targets."""
        inputs = [i for i, n in enumerate(self.nodes) if isinstance(n, Input)]
        moving = set(inputs)
        used: set[int] = set()
        for i, node in enumerate(self.nodes):
            if isinstance(node, Step):
                used.update(node.args)
                if inexact(self.values[i]) and any(a in moving for a in node.args):
                    moving.add(i)
        ends = [i for i in sorted(moving - set(inputs)) if i not in used]
        if not ends:
            raise Rejected("nothing moves")
        targets = [ends[-1]]
        if len(ends) > 1 and self.chance(0.4):
            targets.insert(0, ends[0])
        return pruned(Program(tuple(self.nodes), tuple(targets)))


SAME_DTYPE = {"at_set", "at_add", "at_max", "at_min"}


#: Operations that take functions as parameters, which a text of a program cannot show.
OF_FUNCTIONS = {"copy_slices"}


def drawable() -> list[str]:
    """Return the names of operations that programs can have; variants are for dialects."""
    return [name for name in REGISTRY if "(" not in name and name not in OF_FUNCTIONS]


def grouped_names(only: Sequence[str] = ()) -> list[str]:
    """Return names of operations to choose from, those of large groups no more often."""
    if only:
        return list(only)
    groups: dict[str, list[str]] = {}
    for name in drawable():
        groups.setdefault(name.rpartition(".")[0], []).append(name)
    shares = {"": 10, "linalg": 2, "fft": 1, "special": 2, "nn": 3, "random": 0.2}
    names: list[str] = []
    for group, members in groups.items():
        times = max(1, round(60 * shares.get(group, 1) / len(members)))
        names += members * times
    return names


def draw(rng: np.random.Generator, names: Sequence[str], only: str = "") -> Program:
    """Return a random program; with `only`, its last operation is that one."""
    for _ in range(200):
        drawing = Drawing(rng, names)
        shapes = EMPTY_SHAPES if drawing.chance(0.04) else SHAPES
        for _ in range(int(rng.integers(1, 3))):
            drawing.add_input(drawing.choose(shapes))
        wanted = int(rng.integers(1, 11)) if rng.random() < 0.8 else 1
        done = tries = 0
        while done < wanted and tries < 4 * wanted + 8:
            tries += 1
            before = len(drawing.nodes)
            try:
                if only and done == wanted - 1:
                    drawing.registered(REGISTRY[only])
                else:
                    drawing.operation()
            except Rejected:
                del drawing.nodes[before:], drawing.values[before:]
                continue
            done += 1
        try:
            program = drawing.close()
        except Rejected:
            continue
        if program.operations and (not only or only in [s.name for s in program.steps]):
            return program
    raise Rejected(f"no program with {only or 'an operation'} was found in 200 tries")
