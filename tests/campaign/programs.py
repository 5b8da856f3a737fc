"""Programs: nodes that are inputs or steps, and what computes them."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import wengert as wg
from tests.ops.op_cases import leaves, numpy_reference
from wengert.extend import REGISTRY

Shape = tuple[int, ...]
#: An input of a step: the number of an earlier node.
Ref = int


@dataclass(frozen=True)
class Input:
    """An array that a program is a function of, and how it lies in memory."""

    array: np.ndarray
    layout: str = "plain"


@dataclass(frozen=True)
class Step:
    """One operation: what kind of call, its name, the nodes it takes, its parameters.

    `pick` says which of several results it is.
    """

    kind: str
    name: str
    args: tuple[Ref, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    pick: int | None = None


Node = Input | Step
#: Kinds of steps that only make a value fit for the next operation.
ADAPTERS = {"squash", "fit", "shift", "part", "turn", "float"}


@dataclass(frozen=True)
class Program:
    """Nodes in order, each of earlier ones, and which of them are asked for."""

    nodes: tuple[Node, ...]
    targets: tuple[Ref, ...]

    @property
    def inputs(self) -> list[Ref]:
        """The numbers of the nodes that are inputs."""
        return [i for i, node in enumerate(self.nodes) if isinstance(node, Input)]

    @property
    def steps(self) -> list[Step]:
        """The nodes that are not inputs."""
        return [node for node in self.nodes if isinstance(node, Step)]

    @property
    def operations(self) -> list[str]:
        """The names of its operations, without what only makes values fit."""
        return [label(s) for s in self.steps if s.kind not in ADAPTERS]

    def arrays(self) -> list[np.ndarray]:
        """Return the inputs."""
        return [node.array for node in self.nodes if isinstance(node, Input)]

    def ancestors(self, nodes: Sequence[Ref]) -> set[Ref]:
        """Return the numbers of nodes that lead to these, and theirs."""
        found = set(nodes)
        for i in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[i]
            if i in found and isinstance(node, Step):
                found.update(node.args)
        return found

    def run(
        self,
        library: Any,
        arrays: Sequence[Any],
        noise: Sequence[Any] | None = None,
        replaced: Mapping[Ref, Any] | None = None,
        known: Sequence[Any] = (),
        changed: Callable[[Ref, Any], Any] | None = None,
    ) -> list[Any]:
        """Return the values of all nodes, computed by a library.

        `noise` has numbers to add to some nodes; `replaced`, values to go on with instead of those
        of some nodes; `known`, the values of the first nodes; `changed` returns what to go on with
        for the number of a node and its value.
        """
        values: list[Any] = list(known)
        given = iter(arrays)
        for i, node in enumerate(self.nodes):
            if isinstance(node, Input):
                value = next(given)
                if i < len(known):
                    continue
            elif i < len(known):
                continue
            else:
                value = library.perform(node, [values[a] for a in node.args])
                if noise is not None and noise[i] is not None:
                    value = value + library.constant(noise[i])
            if replaced is not None and i in replaced:
                value = replaced[i]
            if changed is not None:
                value = changed(i, value)
            values.append(value)
        return values


def _moved(place: Any, step: Step, x: Any) -> Any:
    named = {k: v for k, v in step.params.items() if k not in ("via", "more")}
    return getattr(place, step.name)(x, *step.params.get("more", ()), **named)


def label(step: Step) -> str:
    """Return what reports call an operation."""
    if step.kind == "get":
        return "x[key]"
    names = {"op": step.name, "at": f"at.{step.name}", "numpy": f"np.{step.name}"}
    names["move"] = f"{step.params.get('via')}.{step.name}"
    return names.get(step.kind, f"{step.kind} {step.name}")


# -- steps in any library ---------------------------------------------------------------------

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "@": operator.matmul,
    "<": operator.lt,
    ">": operator.gt,
    "neg": operator.neg,
    "abs": operator.abs,
}


class Library:
    """What computes the steps of a program on some library's arrays."""

    #: the library's module, with tanh, sqrt, real, reshape
    xp: Any

    def perform(self, step: Step, arrays: Sequence[Any]) -> Any:
        """Return the result of a step."""
        result = getattr(self, f"do_{step.kind}")(step, *arrays)
        return result if step.pick is None else leaves(result)[step.pick]

    def do_op(self, step: Step, *arrays: Any) -> Any:
        """Return the result of an operation of the registry."""
        entry = REGISTRY[step.name]
        result = self.function(step.name)(*arrays, **self.parameters(step.params))
        return result if entry.invariant is None else entry.invariant(self.xp, *leaves(result))

    def parameters(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an operation's parameters; a reference computes in double precision."""
        return params

    def do_numpy(self, step: Step, *arrays: Any) -> Any:
        """Return the result of an operation, which Wengert is asked for by NumPy's function."""
        return self.do_op(step, *arrays)

    def do_move(self, step: Step, x: Any) -> Any:
        """Return elements of x in another order or shape, found by moving their positions."""
        places = np.arange(math.prod(x.shape)).reshape(tuple(x.shape))
        moved = _moved(np, step, places)
        return self.take(self.xp.reshape(x, (-1,)), np.array(moved))

    def do_operator(self, step: Step, *arrays: Any) -> Any:
        """Return the result of an operator, one side of which may be a number."""
        number = step.params.get("number")
        sides = list(arrays)
        if number is not None:
            sides.insert(0 if step.params["left"] else 1, number)
        return OPERATORS[step.name](*sides)

    def do_squash(self, step: Step, x: Any) -> Any:
        """Return numbers of an interval, or of the disk around it."""
        low, high = step.params["low"], step.params["high"]
        x = x * step.params["by"]
        if self.is_complex(x):
            shrunk = x / self.xp.sqrt(1.0 + self.xp.real(x * self.xp.conj(x)))
        else:
            shrunk = self.xp.tanh(x)
        return (low + high) / 2 + (high - low) / 2 * shrunk

    def do_fit(self, step: Step, x: Any) -> Any:
        """Return elements of x, some of them perhaps more than once, in another shape."""
        flat = self.xp.reshape(x, (-1,))
        return self.xp.reshape(self.take(flat, step.params["places"]), step.params["shape"])

    def do_shift(self, step: Step, x: Any) -> Any:
        """Return x plus a constant that makes it what an operation takes."""
        return x + self.constant(step.params["by"], x)

    def do_part(self, step: Step, x: Any) -> Any:
        """Return the real or the imaginary part."""
        return getattr(self.xp, step.name)(x)

    def do_turn(self, step: Step, x: Any) -> Any:
        """Return a complex number of a real one."""
        return x * (0.8 + 0.6j)

    def is_complex(self, x: Any) -> bool:
        """Whether an array holds complex numbers."""
        return np.dtype(x.dtype).kind == "c"

    def take(self, flat: Any, places: np.ndarray) -> Any:
        """Return elements of a vector."""
        return flat[places]

    def constant(self, array: np.ndarray, like: Any = None) -> Any:
        """Return an array of the library, in the precision of another."""
        return array


class Wengert(Library):
    """Wengert itself."""

    xp = wg

    def function(self, name: str) -> Callable[..., Any]:
        """Return what users call."""
        return REGISTRY[name].function

    def constant(self, array: np.ndarray, like: Any = None) -> Any:
        """Return the array in the precision of `like`."""
        return array if like is None else array.astype(as_wide_as(like.dtype, array.dtype.kind))

    def do_numpy(self, step: Step, *arrays: Any) -> Any:
        """Return what NumPy's function makes of tensors."""
        return getattr(np, step.name)(*arrays)

    def do_move(self, step: Step, x: Any) -> Any:
        """Return what our function of this name does, or NumPy's on a tensor."""
        return _moved(np if step.params["via"] == "np" else wg, step, x)

    def do_get(self, step: Step, x: Any) -> Any:
        """Return x[key]."""
        return x[step.params["key"]]

    def do_at(self, step: Step, x: Any, values: Any) -> Any:
        """Return an update."""
        return getattr(x.at[step.params["key"]], step.name)(values)

    def do_float(self, step: Step, x: Any) -> Any:
        """Return integers or booleans as floating numbers."""
        return wg.astype(x, step.params["dtype"])


class WideWengert(Wengert):
    """Wengert in double precision throughout."""

    def parameters(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return parameters with dtypes of double precision."""
        return widened(params)

    def do_float(self, step: Step, x: Any) -> Any:
        """Return integers or booleans as double precision."""
        return wg.astype(x, np.float64)


class Numpy(Library):
    """NumPy, and where it lacks an operation, what its declaration names as a reference."""

    xp = np

    def function(self, name: str) -> Callable[..., Any]:
        """Return NumPy's function."""
        return numpy_reference(name)

    def perform(self, step: Step, arrays: Sequence[Any]) -> Any:
        """Return the result as an array, not as a scalar."""
        return np.asarray(super().perform(step, arrays))

    def do_move(self, step: Step, x: Any) -> Any:
        """Return what NumPy's function does."""
        return _moved(np, step, x)

    def do_get(self, step: Step, x: Any) -> Any:
        """Return a copy of x[key]."""
        return np.array(x[step.params["key"]])

    def do_at(self, step: Step, x: Any, values: Any) -> Any:
        """Return a copy of x with one update after the other."""
        key = step.params["key"]
        out = np.array(x)
        if step.name == "set":
            out[key] = values
        else:
            ufunc = UPDATES[step.name]
            ufunc.at(out, key, np.broadcast_to(values, out[key].shape))
        return out

    def constant(self, array: np.ndarray, like: Any = None) -> Any:
        """Return the array in the precision of `like`."""
        return array if like is None else array.astype(as_wide_as(like.dtype, array.dtype.kind))

    def do_float(self, step: Step, x: Any) -> Any:
        """Return integers or booleans as floating numbers."""
        return x.astype(step.params["dtype"])


class WideNumpy(Numpy):
    """NumPy in double precision throughout."""

    def parameters(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return parameters with dtypes of double precision."""
        return widened(params)

    def do_float(self, step: Step, x: Any) -> Any:
        """Return integers or booleans as double precision."""
        return x.astype(np.float64)


UPDATES = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
WENGERT, WIDE_WENGERT, NUMPY, WIDE_NUMPY = Wengert(), WideWengert(), Numpy(), WideNumpy()


def as_wide_as(dtype: Any, kind: str) -> Any:
    """Return the dtype of a kind that has the precision of another dtype."""
    single = np.dtype(dtype) in (np.float32, np.complex64)
    if kind == "c":
        return np.complex64 if single else np.complex128
    return np.float32 if single else np.float64


def widened(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with dtypes of double precision."""
    return {k: wide_dtype(v) if k == "dtype" else v for k, v in params.items()}


def wide_dtype(dtype: Any) -> Any:
    """Return the dtype of double precision of the same kind."""
    return {"f": np.float64, "c": np.complex128}.get(np.dtype(dtype).kind, dtype)


def wide(array: np.ndarray) -> np.ndarray:
    """Return an array in double precision."""
    return array.astype(wide_dtype(array.dtype))


def inexact(array: Any) -> bool:
    """Whether an array has derivatives."""
    return array.dtype.kind in "fc"


def pruned(program: Program) -> Program:
    """Return the program without nodes that lead to none of its targets."""
    kept = sorted(program.ancestors(program.targets))
    number = {old: new for new, old in enumerate(kept)}
    nodes = []
    for old in kept:
        node = program.nodes[old]
        if isinstance(node, Step):
            node = dataclasses.replace(node, args=tuple(number[a] for a in node.args))
        nodes.append(node)
    return Program(tuple(nodes), tuple(number[t] for t in program.targets))
