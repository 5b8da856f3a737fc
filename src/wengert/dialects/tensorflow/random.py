"""tf.random: Wengert's generators by TensorFlow's names; other numbers, the same laws.

Every function draws from a NumPy generator: that of the program, which `tf.random.set_seed` sets,
one for a seed given to a function, or one made of the seed of a stateless function.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from wengert.dialects.tensorflow.dtypes import as_dtype, float32, int32, int64, of_numpy, uint64
from wengert.dialects.tensorflow.errors import NotFoundError, invalid
from wengert.dialects.tensorflow.table import guarded, offered, plain, put
from wengert.dialects.tensorflow.tensors import convert, outward, static
from wengert.engine.tensor import Tensor as Native
from wengert.ops import random
from wengert.transforms.gradients import stop_gradient

ns = Native._namespace
_CHECKS: Any = (ValueError, TypeError)
_OTHERS = "other random numbers than TensorFlow's, of the same distribution"


class _Program:
    """The generators of a program: one without a seed, and one for each seed given."""

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self.main = np.random.default_rng(None if seed is None else _words(seed))
        self.by_seed: dict[int, np.random.Generator] = {}
        self.lock = threading.Lock()


def _words(*numbers: int) -> list[int]:
    """Return whole numbers, negative ones too, as NumPy wants a seed."""
    return [int(n) % 2**64 for n in numbers]


_program = _Program()


def global_generator(seed: Any = None) -> np.random.Generator:
    """Return the generator of the program, or the one that goes on from a seed."""
    if seed is None:
        return _program.main
    key = int(static(seed))
    with _program.lock:
        if key not in _program.by_seed:
            _program.by_seed[key] = np.random.default_rng(_words(_program.seed or 0, key))
        return _program.by_seed[key]


@plain("random.set_seed", differs="other random numbers than TensorFlow's for the same seed")
def set_seed(seed: Any) -> None:
    """Have all random numbers without a seed of their own begin again at a seed."""
    global _program
    given = int.from_bytes(seed.encode()) if isinstance(seed, str) else static(seed)
    _program = _Program(None if given is None else int(given))


# -- what is drawn ------------------------------------------------------------------------------


def _shape(shape: Any) -> tuple[int, ...]:
    given = static(shape)
    if not isinstance(given, (list, tuple)) or any(not isinstance(n, int) for n in given):
        raise invalid(f"shape={shape!r}; expected a list of whole numbers: write [{shape}]")
    if any(n < 0 for n in given):
        raise invalid(f"shape={given}; expected no negative lengths")
    return tuple(given)


def _floating(dtype: Any) -> Any:
    return as_dtype(dtype)._numpy


def _noise(draw: Any, shape: Any, dtype: Any) -> Native:
    """Return numbers of a dtype, drawn in double precision."""
    return ns.asarray(np.asarray(draw(_shape(shape)), _floating(dtype)))


def _normal(rng: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Native:
    kind = as_dtype(dtype)
    mean, stddev = convert(mean, kind), convert(stddev, kind)
    return mean + stddev * _noise(rng.standard_normal, shape, kind)


def _truncated(rng: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Native:
    kind = as_dtype(dtype)
    mean, stddev = convert(mean, kind), convert(stddev, kind)
    noise = random.truncated_normal(rng, -2.0, 2.0, shape=_shape(shape))
    return mean + stddev * ns.astype(noise, kind._numpy)


def _uniform(rng: Any, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Native:
    kind = as_dtype(dtype)
    if kind._numpy.kind in "iu":
        least, end = (np.asarray(convert(v, kind).numpy()) for v in (minval, maxval))
        if (least >= end).any():
            raise invalid(f"minval={least} and maxval={end}; expected the second to be larger")
        return ns.asarray(rng.integers(least, end, _shape(shape), kind._numpy))
    low, high = convert(minval, kind), convert(1 if maxval is None else maxval, kind)
    draw = lambda size: rng.random(size, np.float32 if kind == float32 else np.float64)  # noqa: E731
    return low + (high - low) * _noise(draw, shape, kind)


_UNIFORM = ("float16", "float32", "float64", "int32", "int64")


def _check_uniform(minval: Any, maxval: Any, dtype: Any, both_or_none: bool) -> Any:
    kind = as_dtype(dtype)
    if kind.name not in (*_UNIFORM, *(("uint32", "uint64") if both_or_none else ())):
        raise ValueError(f"dtype={kind.name}; expected one of {', '.join(_UNIFORM)}")
    if kind.is_integer and maxval is None and (not both_or_none or minval is not None):
        raise ValueError(f"whole numbers ({kind.name}) need a maxval, which they stay below")
    return kind


def _whole_range(rng: Any, shape: Any, dtype: Any) -> Native:
    limits = np.iinfo(as_dtype(dtype)._numpy)
    drawn = rng.integers(limits.min, limits.max, _shape(shape), limits.dtype, endpoint=True)
    return ns.asarray(np.asarray(drawn))


def _gamma(rng: Any, full: Any, alpha: Any, beta: Any, kind: Any) -> Native:
    scale = 1.0 / convert(1.0 if beta is None else beta, kind)
    return random.gamma(rng, convert(alpha, kind), scale, shape=full, dtype=kind._numpy)


def _categorical(rng: Any, logits: Any, num_samples: Any, dtype: Any) -> Native:
    x = stop_gradient(convert(logits))
    if x.dtype.kind != "f":
        raise NotFoundError(f"logits of {x.dtype}; expected floating-point numbers")
    if x.ndim != 2:
        raise invalid(f"logits of shape {x.shape}; expected (rows, categories)")
    count = int(static(num_samples))
    drawn = random.categorical(rng, ns.expand_dims(x, axis=1), shape=(x.shape[0], count))
    return ns.astype(drawn, as_dtype(int64 if dtype is None else dtype)._numpy)


def _permuted(rng: Any, value: Any) -> Native:
    x = stop_gradient(convert(value))  # tf.random.shuffle has no gradient
    return x if not x.ndim else random.permutation(rng, x)


# -- from the program's generator -----------------------------------------------------------------


@offered("random.normal", raises=_CHECKS, differs=_OTHERS)
def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return normal numbers; derivatives go to mean and stddev."""
    return _normal(global_generator(seed), shape, mean, stddev, dtype)


@offered("random.truncated_normal", raises=_CHECKS, differs=_OTHERS)
def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return normal numbers that are less than two standard deviations from the mean."""
    return _truncated(global_generator(seed), shape, mean, stddev, dtype)


@offered("random.uniform", raises=_CHECKS, differs=_OTHERS)
def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return numbers evenly spread from minval to maxval, or whole numbers below maxval."""
    kind = _check_uniform(minval, maxval, dtype, both_or_none=False)
    return _uniform(global_generator(seed), shape, minval, maxval, kind)


@offered("random.gamma", raises=_CHECKS, differs=_OTHERS)
def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return gamma numbers: `shape` of them for each alpha and beta; derivatives go to both."""
    kind = as_dtype(dtype)
    parameters = [convert(alpha, kind), convert(1.0 if beta is None else beta, kind)]
    full = _shape(shape) + ns.broadcast_shapes(*(p.shape for p in parameters))
    return _gamma(global_generator(seed), full, alpha, beta, kind)


@offered("random.poisson", raises=_CHECKS, differs=_OTHERS)
def poisson(
    shape: Any, lam: Any, dtype: Any = float32, seed: Any = None, name: str | None = None
) -> Any:
    """Return Poisson numbers: `shape` of them for each mean."""
    mean = np.asarray(convert(lam).numpy())
    drawn = global_generator(seed).poisson(mean, _shape(shape) + mean.shape)
    return ns.asarray(np.asarray(drawn, as_dtype(dtype)._numpy))


@offered("random.categorical", raises=_CHECKS, differs=_OTHERS)
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> Any:
    """Return categories with probabilities softmax(logits), `num_samples` for each row."""
    return _categorical(global_generator(seed), logits, num_samples, dtype)


@offered("random.shuffle", raises=_CHECKS, differs=_OTHERS)
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """Return x in random order along its first axis."""
    return _permuted(global_generator(seed), value)


# -- from a seed --------------------------------------------------------------------------------


def of_seed(seed: Any) -> np.random.Generator:
    """Return the generator of two whole numbers."""
    given = np.asarray(convert(seed).numpy())
    if given.dtype.kind not in "iu":
        raise invalid(f"seed of {given.dtype}; expected two whole numbers")
    if given.shape != (2,):
        raise invalid(f"seed of shape {given.shape}; expected two whole numbers")
    return np.random.default_rng(_words(*given))


@offered("random.stateless_normal", raises=_CHECKS, differs=_OTHERS)
def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
    name: str | None = None, alg: Any = "auto_select",
) -> Any:  # fmt: skip
    """Return normal numbers, the same ones for the same seed."""
    return _normal(of_seed(seed), shape, mean, stddev, dtype)


@offered("random.stateless_truncated_normal", raises=_CHECKS, differs=_OTHERS)
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
    name: str | None = None, alg: Any = "auto_select",
) -> Any:  # fmt: skip
    """Return normal numbers within two deviations, the same ones for the same seed."""
    return _truncated(of_seed(seed), shape, mean, stddev, dtype)


@offered("random.stateless_uniform", raises=_CHECKS, differs=_OTHERS)
def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32,
    name: str | None = None, alg: Any = "auto_select",
) -> Any:  # fmt: skip
    """Return evenly spread numbers, the same ones for the same seed."""
    kind = _check_uniform(minval, maxval, dtype, both_or_none=True)
    rng = of_seed(seed)
    if kind.is_integer and maxval is None:
        return _whole_range(rng, shape, kind)
    return _uniform(rng, shape, minval, maxval, kind)


@offered("random.stateless_gamma", raises=_CHECKS, differs=_OTHERS)
def stateless_gamma(
    shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = float32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return gamma numbers, the same ones for the same seed; `shape` is that of the result."""
    return _gamma(of_seed(seed), _shape(shape), alpha, beta, as_dtype(dtype))


def _fits(full: tuple[int, ...], *parts: np.ndarray) -> None:
    common = np.broadcast_shapes(*(p.shape for p in parts))
    if full[len(full) - len(common) :] != common:
        raise invalid(
            f"shape={list(full)}; expected it to end with {list(common)}, that of the rest"
        )


@offered("random.stateless_poisson", raises=_CHECKS, differs=_OTHERS)
def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = int32, name: str | None = None
) -> Any:
    """Return Poisson numbers, the same ones for the same seed; `shape` is that of the result."""
    mean, full = np.asarray(convert(lam).numpy()), _shape(shape)
    _fits(full, mean)
    drawn = of_seed(seed).poisson(mean, full)
    return ns.asarray(np.asarray(drawn, as_dtype(dtype)._numpy))


@offered("random.stateless_binomial", raises=_CHECKS, differs=_OTHERS)
def stateless_binomial(
    shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = int32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return binomial numbers, the same ones for the same seed."""
    return _binomial(of_seed(seed), shape, counts, probs, output_dtype)


def _binomial(rng: Any, shape: Any, counts: Any, probs: Any, dtype: Any) -> Native:
    n, p = (np.asarray(convert(v).numpy()) for v in (counts, probs))
    full = _shape(shape)
    _fits(full, n, p)
    return ns.asarray(np.asarray(rng.binomial(n.astype(np.int64), p, full), as_dtype(dtype)._numpy))


@offered("random.stateless_categorical", raises=_CHECKS, differs=_OTHERS)
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None
) -> Any:
    """Return categories, the same ones for the same seed."""
    return _categorical(of_seed(seed), logits, num_samples, dtype)


@offered("random.experimental.stateless_shuffle", raises=_CHECKS, differs=_OTHERS)
def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Any:
    """Return x in random order along its first axis, the same one for the same seed."""
    return _permuted(of_seed(seed), value)


@offered("random.split", "random.experimental.stateless_split", raises=_CHECKS, differs=_OTHERS)
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """Return `num` new seeds from one."""
    kind = of_numpy(convert(seed).dtype)
    return _whole_range(of_seed(seed), [int(static(num)), 2], kind)


@offered("random.fold_in", "random.experimental.stateless_fold_in", raises=_CHECKS, differs=_OTHERS)
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """Return a new seed from one and a number."""
    given = convert(seed)
    of_seed(seed)
    rng = np.random.default_rng(_words(*given.numpy(), int(static(data))))
    return _whole_range(rng, [2], of_numpy(given.dtype))


# -- generators as objects ------------------------------------------------------------------------


@plain("random.Algorithm", "random.experimental.Algorithm")
class Algorithm:
    """TensorFlow's algorithms by name; there is one here, whatever is asked for."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _check_algorithm(alg: Any) -> None:
    if alg not in (None, "philox", "threefry", "auto_select", 1, 2, 3):
        raise ValueError(f"alg={alg!r}; expected 'philox', 'threefry' or 'auto_select'")


@plain("random.Generator", "random.experimental.Generator", differs=_OTHERS)
class Generator:
    """A source of random numbers with a state of its own."""

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is None and state is None:
            raise AssertionError("a generator of nothing; write tf.random.Generator.from_seed(1)")
        _check_algorithm(alg)
        seed = copy_from._seeds if copy_from is not None else _words(*np.ravel(np.asarray(state)))
        self._begin(seed)
        if copy_from is not None:
            self._rng.bit_generator.state = copy_from._rng.bit_generator.state

    def _begin(self, seeds: list[int]) -> None:
        self._seeds = seeds
        self._sequence = np.random.SeedSequence(seeds)
        self._rng = np.random.default_rng(self._sequence)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Return the generator of a seed."""
        return cls(state=static(seed), alg=alg)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Return the generator of some whole numbers."""
        return cls(state=static(state), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Return the generator of a key and a counter."""
        return cls(state=[static(key), *np.ravel(static(counter))], alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator that nobody can foresee."""
        return cls(state=np.random.SeedSequence().generate_state(2, np.uint64))

    def reset_from_seed(self, seed: Any) -> None:
        """Begin again at a seed."""
        self._begin(_words(*np.ravel(static(seed))))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Begin again at a key and a counter."""
        self._begin(_words(static(key), *np.ravel(static(counter))))

    def reset(self, state: Any) -> None:
        """Begin again at some whole numbers."""
        self._begin(_words(*np.ravel(static(state))))

    @property
    def algorithm(self) -> int:
        """What TensorFlow calls the usual algorithm."""
        return Algorithm.PHILOX

    @property
    def state(self) -> Any:
        """Whole numbers that tell apart states of the generator."""
        state = self._rng.bit_generator.state["state"]
        words = [state["state"] >> 64, state["state"] % 2**64, state["inc"] % 2**64]
        return outward(ns.asarray(np.asarray(words, np.uint64).view(np.int64)))

    @property
    def key(self) -> Any:
        """The last number of the state."""
        return outward(ns.asarray(np.asarray(self.state)[2]))

    def make_seeds(self, count: int = 1) -> Any:
        """Return seeds for stateless functions, as columns."""
        return outward(_whole_range(self._rng, [2, int(count)], int64))

    def split(self, count: int = 1) -> list[Generator]:
        """Return new generators, independent of this one."""
        return [
            Generator(state=s.generate_state(2, np.uint64)) for s in self._sequence.spawn(count)
        ]

    def skip(self, delta: Any) -> Any:
        """Go on without using so many numbers."""
        self._rng.bit_generator.advance(int(static(delta)))  # type: ignore[attr-defined]
        return self.state

    @guarded("Generator.normal", *_CHECKS)
    def normal(
        self: Any, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return normal numbers."""
        return _normal(self._rng, shape, mean, stddev, dtype)

    @guarded("Generator.truncated_normal", *_CHECKS)
    def truncated_normal(
        self: Any, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return normal numbers within two standard deviations."""
        return _truncated(self._rng, shape, mean, stddev, dtype)

    @guarded("Generator.uniform", *_CHECKS)
    def uniform(
        self: Any, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return evenly spread numbers."""
        kind = _check_uniform(minval, maxval, dtype, both_or_none=False)
        return _uniform(self._rng, shape, minval, maxval, kind)

    @guarded("Generator.uniform_full_int", *_CHECKS)
    def uniform_full_int(
        self: Any, shape: Any, dtype: Any = uint64, name: str | None = None
    ) -> Any:
        """Return whole numbers of the dtype's whole range."""
        return _whole_range(self._rng, shape, dtype)

    @guarded("Generator.binomial", *_CHECKS)
    def binomial(
        self: Any, shape: Any, counts: Any, probs: Any, dtype: Any = int32, name: str | None = None
    ) -> Any:
        """Return binomial numbers."""
        return _binomial(self._rng, shape, counts, probs, dtype)


_shared: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the generator that a program shares."""
    if not _shared:
        _shared.append(Generator.from_non_deterministic_state())
    return _shared[0]


def set_global_generator(generator: Generator) -> None:
    """Have a program share another generator."""
    _shared[:] = [generator]


for _prefix in ("random", "random.experimental"):
    put((f"{_prefix}.get_global_generator",), get_global_generator)
    put((f"{_prefix}.set_global_generator",), set_global_generator)
