"""The registry as test cases: what each operation is called with and what it is compared to.

Everything follows from a declaration, except for two tables of names: operations that NumPy
or JAX call differently, and those that JAX lacks, each with a reason.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

import wengert as wg
import wengert.ops
from tests.ops.references import REFERENCES
from wengert import backends
from wengert.extend import REGISTRY, Sample

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling takes all the time

for module in pkgutil.walk_packages(wengert.ops.__path__, "wengert.ops."):
    importlib.import_module(module.name)  # what is imported only when used declares here, too

#: What the arrays of a call hold, by a letter for each array; the last letter repeats.
KINDS = ("f", "c", "fc", "cf", "i", "b")
#: Operations whose arrays share one dtype; the functions that call them see to it.
ONE_DTYPE = {"at_set", "at_add", "copy_slices"}
DOUBLE = {"f": np.float64, "c": np.complex128, "i": np.int64, "b": np.bool_}
SINGLE = {"f": np.float32, "c": np.complex64, "i": np.int32, "b": np.bool_}


@dataclass(frozen=True)
class Case:
    """One operation with one of its samples."""

    name: str
    number: int

    @property
    def entry(self) -> Any:
        return REGISTRY[self.name]

    @property
    def sample(self) -> Sample:
        return self.entry.samples[self.number]

    @property
    def kinds(self) -> list[str]:
        """Which kinds of numbers to call it with; real and complex ones also together."""
        known = self.entry.kinds
        mixes = len(self.sample.shapes) > 1 and self.name not in ONE_DTYPE
        return [k for k in KINDS if set(k) <= set(known) and (len(k) == 1 or mixes)]

    @property
    def id(self) -> str:
        shapes = ",".join("x".join(map(str, shape)) or "()" for shape in self.sample.shapes)
        params = ",".join(f"{k}={_brief(v)}" for k, v in self.sample.params.items())
        return "-".join(filter(None, (self.name, shapes, params)))

    def function(self, *arrays: Any) -> Any:
        """Return what Wengert says."""
        return self.shown(wg, self.entry.function)(*arrays, **self.sample.params)

    def numpy(self, *arrays: Any) -> Any:
        """Return what NumPy says."""
        return self.shown(np, numpy_reference(self.name))(*arrays, **self.sample.params)

    def shown(self, xp: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` on the arguments that it is for, with what is no arbitrary choice."""
        given, invariant = self.entry.given, self.entry.invariant
        if given is None and invariant is None:
            return function

        def call(*arrays: Any, **params: Any) -> Any:
            result = function(*(given(xp, *arrays) if given else arrays), **params)
            return invariant(xp, *leaves(result)) if invariant else result

        return call

    def arrays(self, kind: str, dtypes: Any = DOUBLE) -> list[np.ndarray]:
        """Return inputs from the operation's domain, well apart from each other and from 0.

        A finite difference must not step over a kink or a tie, and random numbers that are
        never near each other give none.
        """
        shapes = self.sample.shapes
        sizes = [int(np.prod(shape)) for shape in shapes]
        random = np.random.default_rng(zlib.crc32(f"{self.name} {self.number}".encode()))
        names = getattr(self.entry.op, "args", ())
        arrays = []
        # an even number of places has none in the middle, where a domain such as (-2, 2) has 0
        places = max(2, sum(sizes) + sum(sizes) % 2)
        order = random.permutation(places)
        spread = (order + 0.5 + random.uniform(-0.2, 0.2, places)) / places
        start = 0
        for i, (shape, size) in enumerate(zip(shapes, sizes, strict=True)):
            unit = spread[start : start + size].reshape(shape)
            start += size
            letter = kind[min(i, len(kind) - 1)]
            if i < len(names) and names[i] in ("condition", "mask"):
                letter = "b"
            low, high = self.entry.domains[i]
            value = low + (high - low) * unit
            if letter == "b":
                value = unit > 0.5
            elif letter == "i":
                value = np.floor(value)
            elif letter == "c":
                value = value + 1j * random.uniform(-0.8, 0.8, shape)
            arrays.append(np.asarray(value).astype(dtypes[letter]))
        if self.entry.inputs is not None:
            made = self.entry.inputs(*arrays)
            arrays = [np.asarray(m, a.dtype) for m, a in zip(made, arrays, strict=True)]
        return arrays


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "array" + "x".join(map(str, value.shape))
    if isinstance(value, tuple):
        return "(" + ",".join(map(_brief, value)) + ")"
    if callable(value):
        return str(value.__name__)
    if isinstance(value, slice):
        return ":".join("" if v is None else str(v) for v in (value.start, value.stop, value.step))
    return str(value)


CASES = [Case(name, i) for name, entry in REGISTRY.items() for i in range(len(entry.samples))]
SMOOTH = [case for case in CASES if case.entry.family != "zero"]
FLAT = [case for case in CASES if case.entry.family == "zero"]


def ids(cases: Sequence[Case]) -> list[str]:
    return [case.id for case in cases]


def with_kinds(cases: Sequence[Case]) -> dict[str, tuple[Case, str]]:
    """Return (case, kind) pairs by test id."""
    return {f"{case.id}-{kind}": (case, kind) for case in cases for kind in case.kinds}


# -- what an operation is called elsewhere ----------------------------------------------------


def plain(name: str) -> str:
    """Return the name of an operation, also for a variant such as "maximum(ties=first)"."""
    return name.partition("(")[0]


def _find(name: str) -> Callable[..., Any] | None:
    """Return the function of NumPy, or for special functions of SciPy, that has a name."""
    place: Any = scipy if name.startswith("special.") else np
    for part in name.split("."):
        place = getattr(place, part, None)
    return place


def numpy_reference(name: str) -> Callable[..., Any]:
    """Return NumPy's version of an operation, which each must have."""
    found = REGISTRY[name].reference or REFERENCES.get(plain(name)) or _find(plain(name))
    if found is None:
        raise AssertionError(
            f"{name}: NumPy has no function of this name to compare with; declare "
            "reference=lambda ..., a function of NumPy arrays and the operation's parameters, or "
            "write a longer one in tests/ops/references.py"
        )
    return found


# -- derivatives ------------------------------------------------------------------------------


def inexact(array: Any) -> bool:
    return array.dtype.kind in "fc"


def leaves(result: Any) -> list[Any]:
    """Return an operation's one result, or its several, as a list."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def weights_like(result: Any, seed: int = 7) -> list[np.ndarray]:
    """Return weights for each result, complex ones where that is complex."""
    random = np.random.default_rng(seed)
    weights = []
    for part in leaves(result):
        array = as_numpy(part)
        w = random.uniform(0.5, 1.5, array.shape)
        if array.dtype.kind == "c":
            w = w + 1j * random.uniform(-1.0, 1.0, array.shape)
        weights.append(np.asarray(w, dtype=array.dtype))
    return weights


def as_numpy(value: Any) -> np.ndarray:
    if isinstance(value, wg.Tensor):
        return value.numpy()
    if isinstance(value, wg.Block):
        return value.todense().numpy()
    return np.asarray(value)


def vjp(function: Callable[..., Any], tensors: Sequence[Any], weights: Any = None) -> Any:
    """Return (results, gradients of the inexact arguments, in their order)."""
    sources = [
        t for t in tensors if wg.isdtype(as_numpy(t).dtype, ("real floating", "complex floating"))
    ]
    with wg.GradientTape() as tape:
        tape.watch(sources)
        results = leaves(function(*tensors))
    if weights is None:
        weights = weights_like(results)
    gradients = tape.gradient(
        results, sources, output_gradients=weights, unconnected_gradients="zero"
    )
    return results, gradients


def second(function: Callable[..., Any], tensors: Sequence[Any], weights: Any) -> list[Any]:
    """Return the gradients of a weighted sum of the gradients."""
    sources = [t for t in tensors if inexact(as_numpy(t))]
    with wg.GradientTape() as outer:
        outer.watch(sources)
        _, firsts = vjp(function, tensors, weights)
    again = [np.cos(np.arange(g.size)).reshape(g.shape).astype(as_numpy(g).dtype) for g in firsts]
    return outer.gradient(
        firsts,
        sources,
        output_gradients=[_in_library(w, g) for w, g in zip(again, firsts, strict=True)],
        unconnected_gradients="zero",
    )


def _in_library(array: np.ndarray, like: Any) -> Any:
    """Return an array of the library, and on the device, that `like`, a tensor, is of."""
    raw = like.data
    return array if isinstance(raw, np.ndarray) else backends.namespace_of(raw).asarray(array)


def assert_near(got: Any, expected: Any, what: str = "", rtol: float = 1e-12) -> None:
    """Assert that values, shape and dtype agree; zero is near to what is small for its array."""
    got, expected = as_numpy(got), as_numpy(expected)
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, not {expected.shape}"
    assert got.dtype == expected.dtype, f"{what}: dtype {got.dtype}, not {expected.dtype}"
    finite = np.abs(expected[np.isfinite(expected)]) if inexact(expected) else np.zeros(0)
    atol = rtol * float(np.max(finite, initial=1.0))
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=what)


#: A device that is not the one of new arrays: what is made elsewhere does not mix with its arrays.
STRICT_DEVICE = array_api_strict.Device("device1")


def on_strict(array: np.ndarray) -> Any:
    """Return a tensor around an array of array-api-strict, in host memory."""
    return wg.asarray(array_api_strict.asarray(array))


def strict(array: np.ndarray) -> Any:
    """Return an array of array-api-strict on a device."""
    return array_api_strict.asarray(array, device=STRICT_DEVICE)


def on_device(array: np.ndarray) -> Any:
    """Return a tensor around an array of array-api-strict on a device."""
    return wg.asarray(strict(array))


def check_on_strict(function: Any, arrays: list[np.ndarray]) -> None:
    """Compare values and derivatives of two orders on array-api-strict with those on NumPy."""
    tensors, given = list(map(wg.asarray, arrays)), list(map(on_device, arrays))
    results, gradients = vjp(function, tensors)
    weights = weights_like(results)
    their_weights = list(map(strict, weights))
    with wg.allow_host_fallback():
        got, pulled = vjp(function, given, their_weights)
        seconds = second(function, tensors, weights), second(function, given, their_weights)
    for mine, expected in zip([*got, *pulled], [*results, *gradients], strict=True):
        assert_near(mine, expected)
    for expected, mine in zip(*seconds, strict=True):
        assert_near(mine, expected)


def jax_gradients(function: Any, arrays: list[Any], weights: list[Any]) -> Any:
    """Return JAX's results and gradients; the conjugates of its own, as TensorFlow has them."""
    free = [i for i, a in enumerate(arrays) if inexact(a)]

    def of_free(*given: Any) -> Any:
        full = list(arrays)
        for i, x in zip(free, given, strict=True):
            full[i] = x
        return leaves(function(*full))

    results, pull = jax.vjp(of_free, *(jnp.asarray(arrays[i]) for i in free))
    return results, [jnp.conj(g) for g in pull([jnp.conj(w) for w in weights])]


def apart(shape: tuple[int, ...], first: int = 0) -> np.ndarray:
    """Return numbers between 0.5 and 1.5 from a sequence in which no two are near."""
    count = np.arange(first, first + int(np.prod(shape)))
    return 0.5 + (count * 0.6180339887 % 1).reshape(shape)
