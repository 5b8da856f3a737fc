"""Declaring an operation: the registry, what tests need, and the function that users call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, Protocol, TypedDict, TypeVar

import numpy as np

from wengert import backends
from wengert.engine.fastpath import caller
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.errors import RuleError
from wengert.ops.families.docs import DOCS
from wengert.ops.families.narrow import computes_in_single
from wengert.ops.families.owned import has_own_kernels

Rule = Callable[..., Any]
Result = TypeVar("Result", covariant=True)
Function = TypeVar("Function", bound=Callable[..., Any])
Domain = tuple[float, float]
ANYWHERE: Domain = (-2.0, 2.0)


class Operation(Protocol[Result]):
    """What users call for an operation: arrays by position, parameters by keyword."""

    op: Any
    __name__: str

    def __call__(self, *arrays: Any, **params: Any) -> Result:
        """Return the operation's result, recorded if a tape watches an array."""


@dataclass(eq=False, repr=False)
class Sample:
    """One way to call an operation in a test: a shape for each array, and parameters."""

    shapes: tuple[tuple[int, ...], ...]
    params: dict[str, Any] = field(default_factory=dict)


def sample(*shapes: tuple[int, ...], **params: Any) -> Sample:
    """Return a Sample of arrays with these shapes, and these parameters."""
    return Sample(shapes, params)


class Tests(TypedDict, total=False):
    """What a declaration says for its tests, and its docstring."""

    #: ways to call it
    samples: Sequence[Sample]
    #: the interval that numbers are from, for all arrays or for each
    domain: Domain | Sequence[Domain]
    #: letters of the kinds of numbers it takes: f(loat), c(omplex), i(nteger), b(ool)
    kinds: str
    #: the same function of NumPy arrays, where NumPy has none of its name: a line at most, longer
    #: ones are in tests/ops/references.py
    reference: Callable[..., Any] | None
    #: makes arrays that it takes (positive definite, sorted) of NumPy arrays of the domain
    inputs: Callable[..., Sequence[Any]] | None
    #: ``(xp, *arrays) -> arrays``: arguments of which derivatives are known, such as Hermitian ones
    given: Callable[..., Sequence[Any]] | None
    #: ``(xp, *results) -> results``: what does not depend on an arbitrary choice, such as a sign
    invariant: Callable[..., Any] | None
    #: how many times the usual error of rounding its values may have
    rounding: float
    #: what it is on many examples: ``(op, level, arrays, mapped, params)``, see `ops.batching`
    batch: Callable[..., Any]
    doc: str | None


@dataclass(eq=False, repr=False)
class Entry:
    """An operation in the registry, with what its tests need."""

    name: str
    family: str
    function: Callable[..., Any]
    op: Op | None
    samples: Sequence[Sample]
    domains: Sequence[Domain]
    kinds: str = "fc"
    reference: Callable[..., Any] | None = None
    inputs: Callable[..., Sequence[Any]] | None = None
    given: Callable[..., Sequence[Any]] | None = None
    invariant: Callable[..., Any] | None = None
    rounding: float = 1.0


#: Every operation by name, in the order of declaration.
REGISTRY: dict[str, Entry] = {}


def register(function: Any, op: Op | None, name: str, family: str, tests: Tests) -> Any:
    """Return a function that is now in the registry, with its name and a docstring."""
    name = name or function.__name__
    if name in REGISTRY:
        raise RuleError(f"{name}: declared twice")
    if op is not None and "dtype" not in op.params and type(op).narrowed is Op.narrowed:
        computes_in_single(op)
    if op is not None:
        has_own_kernels(op)
    samples = tests.pop("samples", ())
    if not samples:
        raise RuleError(
            f"{name}: declare samples=[sample(shape, ..., param=value), ...] to test it with"
        )
    count = max(len(s.shapes) for s in samples)
    domain: Any = tests.pop("domain", ANYWHERE)
    domains = [domain] * count if isinstance(domain[0], (int, float)) else domain
    doc = tests.pop("doc", None) or DOCS.get(name)
    REGISTRY[name] = Entry(name, family, function, op, samples, domains, **tests)  # type: ignore[misc]
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = doc or (function.__doc__ if op is None else None)
    function.op = op
    return function


def documented(function: Function, name: str) -> Function:
    """Return a function with the name and the docstring that it has in the namespace."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = DOCS[name]
    return function


def declared(op: Op, tests: Tests) -> Operation[Any]:
    """Return what users call for an operation that is now in the registry."""
    if "batch" in tests:
        op.batch = partial(tests.pop("batch"), op)
    return register(caller_of(op), op, op.name, op.family, tests)


def by_name(name: str) -> Callable[..., Any]:
    """Return what computes an operation by the function of its name in a namespace."""
    find = attrgetter(name)  # also of an extension, as in "linalg.solve"

    def compute(xp: Any, *arrays: Any, **params: Any) -> Any:
        return find(xp)(*arrays, **params)

    compute.find = find  # type: ignore[attr-defined]
    return compute


def numpy_or(function: Callable[..., Any], compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return what computes by a function of NumPy where it can, elsewhere by `compute`."""

    def either(xp: Any, *arrays: Any, **params: Any) -> Any:
        if xp is backends.NUMPY:
            return function(*arrays, **params)
        return compute(xp, *arrays, **params)

    return either


def run(op: Op, xp: Any, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Return an operation on raw arrays or, if `xp` is the namespace of tensors, recorded."""
    if xp is Tensor._namespace:
        return apply(op, arrays, params)
    return op.compute(xp, *arrays, **params)


def caller_of(op: Op) -> Callable[..., Any]:
    """Return the function that users call for an operation."""
    function = caller(op)
    names = ["arrays"] if op.variadic else op.args
    kind = inspect.Parameter.VAR_POSITIONAL if op.variadic else inspect.Parameter.POSITIONAL_ONLY
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(n, kind) for n in names]
        + [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in op.params]
    )
    return function


#: All axes of an array by how many it has, and single axes: NumPy's arrays have at most 64.
_ALL = [tuple(range(ndim)) for ndim in range(65)]
_ONE = [(axis,) for axis in range(64)]


def axes(axis: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Return an axis, a tuple of them or None (all) as a tuple of non-negative ones."""
    if axis is None:
        return _ALL[ndim]
    if type(axis) is int and -ndim <= axis < ndim:
        return _ONE[axis % ndim]
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    try:
        return _several_axes(given, ndim, name)
    except TypeError:  # arrays of one integer have no hash
        return _several_axes(tuple(map(int, given)), ndim, name)


@functools.lru_cache(1024)
def _several_axes(given: tuple[int, ...], ndim: int, name: str) -> tuple[int, ...]:
    found = tuple(_axis(int(a), ndim, name) for a in given)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: axis {given} names an axis twice")
    return found


def _axis(axis: int, ndim: int, name: str) -> int:
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(f"{name}: axis {axis} of an array with {ndim} axes")
    return axis % ndim


def one_axis(axis: Any, ndim: int, name: str) -> int:
    """Return one axis as a non-negative number."""
    if type(axis) is int and 0 <= axis < ndim:
        return axis
    return _axis(int(axis), ndim, name)
