"""Independent answers: PyTorch, JAX, or differences of NumPy's values, in double precision.

A derivative is one real matrix: a complex number counts as its real part and its imaginary part.
What is asked of Wengert follows from it by products and selections.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import wengert as wg
from tests.campaign.programs import (
    NUMPY,
    WIDE_NUMPY,
    WIDE_WENGERT,
    Library,
    Program,
    Ref,
    Step,
    inexact,
    wide,
    widened,
)
from tests.ops.jax_calls import JAX_CALLS, NOT_IN_JAX
from wengert.extend import REGISTRY

#: The relative size of what is added to each intermediate value to see how it matters.
NOISE = 1e-7
#: The largest step of differences; there are two more, each half as long.
STEP = 4e-3


#: No library's functions are trusted to be nearer than this, relative to the largest number.
LEAST = 1e-12


class Discarded(Exception):
    """A program that has no derivative here, or none that numbers of this precision show."""


# -- real vectors -----------------------------------------------------------------------------


def to_real(array: Any) -> np.ndarray:
    """Return the numbers of an array as a real vector: real parts, then imaginary parts."""
    flat = np.asarray(array).reshape(-1)
    return np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat.astype(float)


def from_real(vector: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return a real vector as an array of the shape and the kind of another."""
    if like.dtype.kind == "c":
        half = len(vector) // 2
        vector = vector[:half] + 1j * vector[half:]
    return vector.reshape(like.shape)


# -- libraries --------------------------------------------------------------------------------


class Torch(Library):
    """PyTorch in double precision."""

    name = "PyTorch"

    def __init__(self) -> None:
        import torch

        from tests.campaign.torch_calls import TORCH_CALLS, updated

        torch.set_num_threads(1)
        self.xp = self.torch = torch
        self.calls = TORCH_CALLS
        self.updated = updated
        self.combine = {
            "set": lambda x, v: v,
            "add": torch.add,
            "subtract": torch.subtract,
            "multiply": torch.multiply,
            "divide": torch.divide,
            "power": torch.pow,
            "min": torch.minimum,
            "max": torch.maximum,
        }

    def has(self, program: Program) -> bool:
        """Whether PyTorch has all operations of a program."""
        return all(s.kind not in ("op", "numpy") or s.name in self.calls for s in program.steps)

    def function(self, name: str) -> Callable[..., Any]:
        """Return PyTorch's function."""
        return self.calls[name]

    def parameters(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return parameters of double precision, boolean arrays as tensors."""
        return {
            k: self.torch.as_tensor(v) if isinstance(v, np.ndarray) and v.dtype == bool else v
            for k, v in widened(params).items()
        }

    def is_complex(self, x: Any) -> bool:
        """Whether a tensor is complex."""
        return bool(x.is_complex())

    def take(self, flat: Any, places: np.ndarray) -> Any:
        """Return elements of a vector."""
        return flat[self.torch.as_tensor(places)]

    def constant(self, array: Any, like: Any = None) -> Any:
        """Return a tensor."""
        return self.torch.as_tensor(array)

    def do_operator(self, step: Step, *arrays: Any) -> Any:
        """Return the result of an operator; PyTorch's product wants one dtype."""
        if step.name == "@" and any(a.is_complex() for a in arrays):
            arrays = tuple(a.to(self.torch.complex128) for a in arrays)
        return super().do_operator(step, *arrays)

    def do_part(self, step: Step, x: Any) -> Any:
        """Return the real part, the imaginary part, or the absolute value."""
        return self.calls[step.name](x)

    def do_get(self, step: Step, x: Any) -> Any:
        """Return x[key] by the positions of its elements; PyTorch has no negative steps."""
        return self.calls["index"](x, step.params["key"])

    def do_at(self, step: Step, x: Any, values: Any) -> Any:
        """Return an update."""
        if x.is_complex():
            values = values.to(self.torch.complex128)
        return self.updated(x, values, step.params["key"], self.combine[step.name])

    def do_float(self, step: Step, x: Any) -> Any:
        """Return floating numbers."""
        return x.to(self.torch.float64)

    # derivatives

    def _leaves(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        return [self.torch.tensor(np.array(a, order="C"), requires_grad=True) for a in arrays]

    def _real(self, tensors: Sequence[Any]) -> Any:
        parts = []
        for t in tensors:
            flat = t.reshape(-1)
            parts += [flat.real, flat.imag] if flat.is_complex() else [flat]
        return self.torch.cat(parts)

    def jacobian(self, program: Program, sources: Sequence[Ref], noise: Any) -> np.ndarray:
        """Return the derivative of all targets with respect to some nodes."""
        inputs = self._leaves([wide(a) for a in program.arrays()])
        nodes = program.run(self, inputs, noise, changed=self._watched(sources))
        y = self._real([nodes[t] for t in program.targets])
        wrt = [nodes[s] for s in sources]
        rows = []
        for i in range(y.numel()):
            if not y.requires_grad:
                found = [None] * len(wrt)
            else:
                found = self.torch.autograd.grad(y[i], wrt, retain_graph=True, allow_unused=True)
            rows.append(
                np.concatenate([self._numbers(g, x) for g, x in zip(found, wrt, strict=True)])
            )
        width = sum(x.numel() * (2 if x.is_complex() else 1) for x in wrt)
        return np.stack(rows) if rows else np.zeros((0, width))

    def _watched(self, sources: Sequence[Ref]) -> Callable[[Ref, Any], Any]:
        """Return a function of nodes that makes sources of constants, and a node of each source."""

        def watched(i: Ref, value: Any) -> Any:
            if i not in sources:
                return value
            return value.clone() if value.requires_grad else value.detach().requires_grad_()

        return watched

    def _numbers(self, g: Any, like: Any) -> np.ndarray:
        if g is None:
            g = self.torch.zeros_like(like)
        return to_real(g.detach().resolve_conj().numpy())

    def second(
        self, program: Program, weights: Sequence[Any], directions: Sequence[Any], noise: Any
    ) -> list[np.ndarray]:
        """Return the product of the loss's Hessian with directions of the inputs."""
        torch = self.torch
        inputs = self._leaves([wide(a) for a in program.arrays()])
        nodes = program.run(self, inputs, noise)
        loss = torch.zeros((), dtype=torch.float64)
        for t, w in zip(program.targets, weights, strict=True):
            y, w = nodes[t], torch.as_tensor(w)
            loss = loss + ((y * w.conj()).real if y.is_complex() else y * w).sum()
            loss = loss + ((y * y.conj()).real if y.is_complex() else y * y).sum() / 4
        if not loss.requires_grad:
            return [np.zeros_like(wide(a)) for a in program.arrays()]
        firsts = torch.autograd.grad(loss, inputs, create_graph=True, allow_unused=True)
        total = torch.zeros((), dtype=torch.float64)
        for g, v in zip(firsts, directions, strict=True):
            if g is not None:
                v = torch.as_tensor(np.array(v, order="C"))
                total = total + ((g * v.conj()).real if g.is_complex() else g * v).sum()
        if not total.requires_grad:
            return [np.zeros_like(wide(a)) for a in program.arrays()]
        seconds = torch.autograd.grad(total, inputs, allow_unused=True)
        return [
            from_real(self._numbers(g, x), wide(a))
            for g, x, a in zip(seconds, inputs, program.arrays(), strict=True)
        ]


class Jax(Library):
    """JAX in double precision, one compilation for each program."""

    name = "JAX"

    def __init__(self) -> None:
        import jax
        import jax.numpy as jnp
        import jax.scipy.linalg as jsl

        self.jax, self.xp = jax, jnp
        self.places = {
            "special": [jax.scipy.special],
            "nn": [jax.nn],
            "linalg": [jnp.linalg, jsl],
        }

    def has(self, program: Program) -> bool:
        """Whether JAX has all operations of a program."""
        return all(s.kind not in ("op", "numpy") or self.find(s.name) for s in program.steps)

    @functools.cache  # noqa: B019 - there is one of these objects
    def find(self, name: str) -> Callable[..., Any] | None:
        """Return JAX's function of a name, if it has one."""
        if name in NOT_IN_JAX:
            return None
        module, _, function = name.rpartition(".")
        places = self.places.get(module) or [getattr(self.xp, module, None) if module else self.xp]
        found = (getattr(p, function) for p in places if hasattr(p, function))
        return JAX_CALLS.get(name) or next(found, None)

    def function(self, name: str) -> Callable[..., Any]:
        """Return JAX's function."""
        found = self.find(name)
        assert found is not None
        return found

    def parameters(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return parameters of double precision."""
        return widened(params)

    def do_get(self, step: Step, x: Any) -> Any:
        """Return x[key] by the positions of its elements."""
        places = np.arange(x.size).reshape(x.shape)[step.params["key"]]
        return x.reshape(-1)[places]

    def do_at(self, step: Step, x: Any, values: Any) -> Any:
        """Return an update; of duplicates, the last is set."""
        key, name = step.params["key"], step.name
        places = np.arange(x.size).reshape(x.shape)[key]
        flat, values = x.reshape(-1), self.xp.broadcast_to(values, places.shape).reshape(-1)
        places = places.reshape(-1)
        left = np.arange(places.size)
        names = {
            "subtract": lambda a, b: a - b,
            "divide": lambda a, b: a / b,
            "set": lambda a, b: b,
        }
        names |= {"add": lambda a, b: a + b, "multiply": lambda a, b: a * b}
        names |= {"power": lambda a, b: a**b, "min": self.xp.minimum, "max": self.xp.maximum}
        while left.size:
            _, first = np.unique(places[left], return_index=True)
            now = left[np.sort(first)]
            here = places[now]
            flat = flat.at[here].set(names[name](flat[here], values[now]).astype(flat.dtype))
            left = np.setdiff1d(left, now)
        return flat.reshape(x.shape)

    def do_float(self, step: Step, x: Any) -> Any:
        """Return floating numbers."""
        return x.astype(np.float64)

    def _real(self, arrays: Sequence[Any]) -> Any:
        parts = []
        for a in arrays:
            flat = a.reshape(-1)
            parts += [flat.real, flat.imag] if flat.dtype.kind == "c" else [flat]
        return self.xp.concatenate(parts)

    def _array(self, vector: Any, like: np.ndarray) -> Any:
        if like.dtype.kind == "c":
            half = vector.size // 2
            vector = vector[:half] + 1j * vector[half:]
        return vector.reshape(like.shape)

    def jacobian(self, program: Program, sources: Sequence[Ref], noise: Any) -> np.ndarray:
        """Return the derivative of all targets with respect to some nodes."""
        arrays = [wide(a) for a in program.arrays()]
        values = program.run(WIDE_NUMPY, arrays, noise)
        known = [values[s] for s in sources]
        spots = np.cumsum([0] + [len(to_real(k)) for k in known])

        def moved(vector: Any) -> Any:
            rows = []
            for i, source in enumerate(sources):
                here = {source: self._array(vector[spots[i] : spots[i + 1]], known[i])}
                nodes = program.run(self, list(map(self.xp.asarray, arrays)), noise, here)
                rows.append(self._real([nodes[t] for t in program.targets]))
            return self.xp.stack(rows)

        point = np.concatenate([to_real(k) for k in known]) if known else np.zeros(0)
        full = np.asarray(self.jax.jit(self.jax.jacrev(moved))(point))
        parts = [full[i][:, spots[i] : spots[i + 1]] for i in range(len(sources))]
        return np.concatenate(parts, axis=1)

    def second(
        self, program: Program, weights: Sequence[Any], directions: Sequence[Any], noise: Any
    ) -> list[np.ndarray]:
        """Return the product of the loss's Hessian with directions of the inputs."""
        arrays = [wide(a) for a in program.arrays()]
        spots = np.cumsum([0] + [len(to_real(a)) for a in arrays])

        def loss(vector: Any) -> Any:
            given = [self._array(vector[spots[i] : spots[i + 1]], a) for i, a in enumerate(arrays)]
            nodes = program.run(self, given, noise)
            y = self._real([nodes[t] for t in program.targets])
            return self.xp.sum(y * weight) + self.xp.sum(y * y) / 4

        weight = np.concatenate([to_real(w) for w in weights])
        point = np.concatenate([to_real(a) for a in arrays])
        along = np.concatenate([to_real(v) for v in directions])
        product = self.jax.jit(lambda p, v: self.jax.jvp(self.jax.grad(loss), (p,), (v,))[1])
        found = np.asarray(product(point, along))
        return [from_real(found[spots[i] : spots[i + 1]], a) for i, a in enumerate(arrays)]


def romberg(function: Callable[[float], np.ndarray]) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the derivative at 0, an estimate of its error, and the size of a kink there.

    The function is read at 0 and at three distances on either side. Where it is smooth, its
    second differences go with the square of the distance; at a kink, with the distance.
    """
    middle = function(0.0)
    first, bends = [], []
    for h in (STEP, STEP / 2, STEP / 4):
        up, down = function(h), function(-h)
        first.append((up - down) / (2 * h))
        bends.append((up + down - 2 * middle) / h)
    once = [(4 * b - a) / 3 for a, b in itertools.pairwise(first)]
    twice = (16 * once[1] - once[0]) / 15
    scale = np.max(np.abs(middle), initial=1.0)
    error = np.abs(twice - once[1]) + 1e-12 * scale
    kink = float(np.max(np.abs(2 * bends[2] - bends[1]), initial=0.0))
    return twice, error, kink


class Differences:
    """Differences of NumPy's values; of second order, of Wengert's gradients."""

    name = "differences"

    def has(self, program: Program) -> bool:
        """NumPy has all operations."""
        return True

    def moved(
        self, program: Program, nodes: Sequence[Any], source: Ref, noise: Any
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Return the targets as a function of the numbers of one node, as real vectors."""
        arrays = [wide(a) for a in program.arrays()]

        def function(vector: np.ndarray) -> np.ndarray:
            here = {source: from_real(vector, nodes[source])}
            values = program.run(WIDE_NUMPY, arrays, noise, here, nodes[:source])
            return np.concatenate([to_real(values[t]) for t in program.targets])

        return function

    def columns(
        self, program: Program, sources: Sequence[Ref], noise: Any
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the derivative, its error, and the largest kink."""
        nodes = program.run(WIDE_NUMPY, [wide(a) for a in program.arrays()], noise)
        height = sum(len(to_real(nodes[t])) for t in program.targets)
        found, errors, worst = [np.zeros((height, 0))], [np.zeros((height, 0))], 0.0
        for source in sources:
            function = self.moved(program, nodes, source, noise)
            point = to_real(nodes[source])
            for k in range(len(point)):
                unit = np.zeros_like(point)
                unit[k] = 1.0
                d, e, kink = romberg(lambda h, u=unit, f=function, p=point: f(p + h * u))
                found.append(d[:, None])
                errors.append(e[:, None])
                worst = max(worst, kink)
        return np.concatenate(found, axis=1), np.concatenate(errors, axis=1), worst

    def second(
        self, program: Program, weights: Sequence[Any], directions: Sequence[Any], noise: Any
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return differences of gradients, and their errors."""
        arrays = [wide(a) for a in program.arrays()]
        loss = loss_of(program, WIDE_WENGERT, weights, noise)
        gradient = wg.grad(loss, tuple(range(len(arrays))))

        def along(h: float) -> np.ndarray:
            given = [a + h * v for a, v in zip(arrays, directions, strict=True)]
            return np.concatenate([to_real(g) for g in gradient(*given)])

        found, error, _ = romberg(along)
        spots = np.cumsum([0] + [len(to_real(a)) for a in arrays])
        pieces = [slice(spots[i], spots[i + 1]) for i in range(len(arrays))]
        return (
            [from_real(found[p], a) for p, a in zip(pieces, arrays, strict=True)],
            [from_real(error[p], a) for p, a in zip(pieces, arrays, strict=True)],
        )


def loss_of(program: Program, library: Any, weights: Sequence[Any], noise: Any = None) -> Any:
    """Return a function of the inputs: a weighted sum of the targets, and their squares."""

    def loss(*inputs: Any) -> Any:
        nodes = program.run(library, [wg.asarray(x) for x in inputs], noise)
        return total(nodes, program.targets, weights)

    return loss


def total(nodes: Any, targets: Sequence[Ref], weights: Sequence[Any]) -> Any:
    """Return the weighted sum of some tensors, and a fourth of their squares, as one number."""
    loss: Any = 0.0
    for t, w in zip(targets, weights, strict=True):
        y = nodes[t]
        if y.dtype.kind == "c":
            loss = loss + wg.sum(wg.real(y * np.conj(w).astype(y.dtype)))
            loss = loss + wg.sum(wg.real(y * wg.conj(y))) / 4
        else:
            loss = loss + wg.sum(y * w.astype(y.dtype)) + wg.sum(y * y) / 4
    return loss


# -- the answer -------------------------------------------------------------------------------


@dataclass
class Answer:
    """What is known about a program: the values of its nodes and its derivative."""

    library: str
    values: list[np.ndarray]
    value_errors: list[np.ndarray]
    sources: list[Ref]
    #: a row for each number of the targets, a column for each of the sources
    matrix: np.ndarray
    errors: np.ndarray
    weights: list[np.ndarray]
    directions: list[np.ndarray]
    second: list[np.ndarray]
    second_errors: list[np.ndarray]
    eps: float
    #: of each node, as NumPy has it
    dtypes: list[np.dtype[Any]]


@dataclass
class Line:
    """A direction of some nodes, and the derivative of the targets along it, with its error."""

    moves: dict[Ref, np.ndarray]
    derivative: np.ndarray
    error: np.ndarray


class Answers:
    """The libraries that are there, in the order of preference."""

    def __init__(
        self, names: Sequence[str] = ("torch", "jax", "differences"), jax_share: float = 1.0
    ):
        self.differences = Differences()
        self.libraries: list[Any] = []
        self.jax_share = jax_share
        #: programs for which a library's derivative is not that of NumPy's values
        self.disagreements: list[Program] = []
        #: errors that a library raised for a program, which was then left to differences
        self.refusals: Counter[str] = Counter()
        for name in names:
            if name == "torch":
                try:
                    self.libraries.append(Torch())
                except ImportError:
                    continue
            elif name == "jax":
                self.libraries.append(Jax())

    def choose(self, program: Program, rng: np.random.Generator) -> Any:
        """Return the first library that has all operations of a program."""
        for library in self.libraries:
            if isinstance(library, Jax) and rng.random() >= self.jax_share:
                continue
            if library.has(program):
                return library
        return self.differences

    def answer(self, program: Program, rng: np.random.Generator) -> Answer:
        """Return the values and derivatives of a program, and how well they are known."""
        arrays = [wide(a) for a in program.arrays()]
        with np.errstate(all="ignore"):
            values = program.run(WIDE_NUMPY, arrays)
            noise = [
                _noise(v, rng) if inexact(v) and isinstance(node, Step) else None
                for v, node in zip(values, program.nodes, strict=True)
            ]
            shaken = program.run(WIDE_NUMPY, arrays, noise)
            dtypes = [v.dtype for v in program.run(NUMPY, program.arrays())]
        if not all(np.isfinite(v).all() for v in values if inexact(v)):
            raise Discarded("not finite")
        for a, b in zip(values, shaken, strict=True):
            if not inexact(a) and not np.array_equal(a, b):
                raise Discarded("a choice by rounding")
        eps = _precision(program)
        rounding = max(
            [1.0, *(REGISTRY[s.name].rounding for s in program.steps if s.kind in ("op", "numpy"))]
        )
        small = max(64 * eps * rounding, LEAST)
        floor = 1e-3 if eps < 1e-10 else 1.0  # a difference of equal numbers is as good as these
        value_errors = [
            small * (np.abs(b - a) / NOISE + np.max(np.abs(a), initial=floor))
            if inexact(a)
            else 0.0
            for a, b in zip(values, shaken, strict=True)
        ]
        sources = self._sources(program, values, rng)
        lines = self._along_lines(program, values, sources, rng)
        library = self.choose(program, rng)
        with np.errstate(all="ignore"):
            weights = [_numbers(values[t], rng) for t in program.targets]
            directions = [_numbers(a, rng) for a in arrays]
            library, matrix, errors, second, second_errors = self._derivatives(
                program, library, values, sources, noise, small, lines, weights, directions
            )
        least = 1e-2 if eps < 1e-10 else 1.0  # 1 - y**2 is as good as 1 is
        errors = errors + small * np.max(np.abs(matrix), initial=least)
        scale = max(least, *(float(np.max(np.abs(a), initial=0.0)) for a in second))
        second_errors = [e + 100 * small * scale for e in second_errors]
        limit = 1e-4 if eps < 1e-10 else 0.05
        for found, error in [(matrix, errors), *zip(second, second_errors, strict=True)]:
            if not np.isfinite(found).all():
                raise Discarded("a derivative that is not finite")
            if np.max(error, initial=0.0) > limit * max(1.0, np.max(np.abs(found), initial=0.0)):
                raise Discarded("badly conditioned")
        return Answer(
            library.name, values, value_errors, sources, matrix, errors,
            weights, directions, second, second_errors, eps, dtypes,
        )  # fmt: skip

    def _sources(self, program: Program, values: Any, rng: np.random.Generator) -> list[Ref]:
        """Return the inputs, and one or two intermediate nodes."""
        inputs = program.inputs
        between = [
            i
            for i, node in enumerate(program.nodes)
            if isinstance(node, Step) and inexact(values[i]) and i not in program.targets
        ]
        chosen = rng.permutation(between)[:2] if between else []
        return [*inputs, *sorted(int(i) for i in chosen)]

    def _along_lines(self, program: Program, values: Any, sources: Any, rng: Any) -> list[Line]:
        """Return derivatives of the targets along lines, by differences.

        One line moves all inputs; each of the others, one intermediate source. Raise Discarded if
        there is a kink in any node on the way.
        """
        arrays = [wide(a) for a in program.arrays()]
        between = [s for s in sources if isinstance(program.nodes[s], Step)]
        lines = []
        for moved in [program.inputs, *([s] for s in between)]:
            moves = {s: _numbers(values[s], rng) for s in moved}
            first = min(moved)

            def all_of(h: float, moves: Any = moves, first: int = first) -> np.ndarray:
                here = {s: values[s] + h * v for s, v in moves.items()}
                found = program.run(WIDE_NUMPY, arrays, None, here, values[:first])
                return np.concatenate([to_real(v) for v in found])

            with np.errstate(all="ignore"):
                found, error, kink = romberg(all_of)
            if not np.isfinite(error).all() or kink > 1e-2 or np.max(error, initial=0) > 1e-2:
                raise Discarded("near a kink")
            ends = np.cumsum([0] + [len(to_real(v)) for v in values])
            rows = [k for t in program.targets for k in range(ends[t], ends[t + 1])]
            lines.append(Line(moves, found[rows], error[rows]))
        return lines

    def _derivatives(
        self, program: Program, library: Any, values: Any, sources: Any, noise: Any, small: float,
        lines: list[Line], weights: Any, directions: Any,
    ) -> Any:  # fmt: skip
        """Return (library, matrix, its error, products with the Hessian, their errors)."""
        if library is not self.differences:
            try:
                first = [library.jacobian(program, sources, n) for n in (None, noise)]
                second = [library.second(program, weights, directions, n) for n in (None, noise)]
            except Exception as error:  # it may lack a case, such as empty arrays
                self.refusals[f"{library.name}: {type(error).__name__}: {error}"[:100]] += 1
            else:
                finite = all(np.isfinite(a).all() for a in [first[0], *second[0]])
                agrees = finite and _agrees(first[0], values, sources, lines)
                if finite and not agrees:
                    self.disagreements.append(program)
                if agrees:
                    matrix, errors = first[0], small * np.abs(first[1] - first[0]) / NOISE
                    return library, matrix, errors, *_with_errors(second, small)
        library = self.differences
        matrix, errors, kink = library.columns(program, sources, None)
        if kink > 1e-2 or not _agrees(matrix, values, sources, lines):
            raise Discarded("near a kink")
        errors = 10 * errors
        if small > 1e-9:
            shaken, _, _ = library.columns(program, sources, noise)
            errors = errors + small * np.abs(shaken - matrix) / NOISE
        second, extra = library.second(program, weights, directions, None)
        shaken, _ = library.second(program, weights, directions, noise)
        products, product_errors = _with_errors([second, shaken], small)
        for e, more in zip(product_errors, extra, strict=True):
            e += 10 * np.abs(more) + 1e-8 * np.max(np.abs(more), initial=1.0)
        return library, matrix, errors, products, product_errors


def at_a_kink(program: Program, values: Sequence[np.ndarray]) -> bool:
    """Whether an operation has a kink here, though the program may have none.

    ``copysign(x, x)`` is smooth at 0, and each library has its own derivative of it there. The
    median of equal numbers has a derivative along each line, but that along a sum of two
    directions is not the sum of theirs.
    """
    rng = np.random.default_rng(0)
    for step in program.steps:
        arrays = [values[a] for a in step.args]
        first, second = ([_numbers(a, rng) if inexact(a) else None for a in arrays] for _ in "12")
        both = [None if u is None else u + v for u, v in zip(first, second, strict=True)]
        slopes = []
        for moves in (first, second, both):

            def moved(h: float, step: Any = step, arrays: Any = arrays, moves: Any = moves) -> Any:
                pairs = zip(arrays, moves, strict=True)
                return to_real(
                    WIDE_NUMPY.perform(step, [a if v is None else a + h * v for a, v in pairs])
                )

            with np.errstate(all="ignore"):
                slope, error, kink = romberg(moved)
            if not np.isfinite(error).all() or kink > 1e-2:
                return True
            slopes.append(slope)
        scale = max(np.max(np.abs(slope), initial=0.0) for slope in slopes)
        if np.max(np.abs(slopes[0] + slopes[1] - slopes[2]), initial=0.0) > 1e-4 * max(scale, 1e-8):
            return True
    return False


def _agrees(matrix: np.ndarray, values: Any, sources: Sequence[Ref], lines: list[Line]) -> bool:
    """Whether a derivative is that of NumPy's values along each line.

    At a tie of some functions, such as the median, there are derivatives along all lines, and they
    are no product with a matrix.
    """
    spots = np.cumsum([0] + [len(to_real(values[s])) for s in sources])
    for line in lines:
        vector = np.zeros(spots[-1])
        for source, move in line.moves.items():
            k = list(sources).index(source)
            vector[spots[k] : spots[k + 1]] = to_real(move)
        scale = max(1.0, float(np.max(np.abs(line.derivative), initial=0.0)))
        far = np.abs(matrix @ vector - line.derivative) - 100 * line.error
        if np.max(far, initial=0.0) > 1e-5 * scale:
            return False
    return True


def _with_errors(pair: Sequence[Any], small: float) -> tuple[list[Any], list[Any]]:
    """Return arrays, and how far rounding may move them, from the same with noise."""
    arrays, shaken = pair
    errors = [
        small * np.asarray(np.abs(b - a)) / NOISE for a, b in zip(arrays, shaken, strict=True)
    ]
    return arrays, errors


def _noise(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return small numbers to add to a value, but to what is exactly 0 by structure."""
    made = rng.uniform(-1, 1, value.shape)
    if value.dtype.kind == "c":
        made = made + 1j * rng.uniform(-1, 1, value.shape)
    return np.asarray(NOISE * np.max(np.abs(value), initial=0.0) * np.where(value == 0, 0.0, made))


def _numbers(like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return random numbers of the shape and the kind of an array."""
    made = rng.uniform(0.3, 1.0, like.shape) * rng.choice([-1.0, 1.0], like.shape)
    if like.dtype.kind == "c":
        made = made + 1j * rng.uniform(-1.0, 1.0, like.shape)
    return np.round(made, 3)


def _precision(program: Program) -> float:
    """Return the rounding error of the least precise node."""
    single = any(a.dtype in (np.float32, np.complex64) for a in program.arrays())
    for step in program.steps:
        dtype = step.params.get("dtype")
        single |= dtype is not None and np.dtype(dtype) in (np.float32, np.complex64)
    return float(np.finfo(np.float32 if single else np.float64).eps)
