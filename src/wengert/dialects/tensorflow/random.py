"""tf.random: Wengert's generators by TensorFlow's names; other numbers, the same laws.

Every function draws from a NumPy generator: that of the program, which `tf.random.set_seed` sets,
one for a seed given to a function, or one made of the seed of a stateless function.
"""

from __future__ import annotations

import inspect
import threading
from functools import partial
from inspect import Parameter
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow.dtypes import DType, as_dtype, float32, int32, int64, of_numpy
from wengert.dialects.tensorflow.errors import NotFoundError, invalid, unfit
from wengert.dialects.tensorflow.kinds import Array, Input, Whole
from wengert.dialects.tensorflow.table import guarded, offered, plain, put
from wengert.dialects.tensorflow.tensors import Native, convert, ns, outward, static
from wengert.ops import random
from wengert.transforms.gradients import stop_gradient

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


# -- arguments ------------------------------------------------------------------------------------


def _read_shape(shape: Any, at: Any, x: Any = None) -> tuple[int, ...]:
    given = static(shape)
    if not isinstance(given, (list, tuple)) or any(not isinstance(n, int) for n in given):
        raise invalid(f"{at} is {shape!r}; give a list of whole numbers: write [{shape}]")
    if any(n < 0 for n in given):
        raise invalid(f"{at} is {given}; give no negative lengths")
    return tuple(given)


def of_seed(seed: Any) -> np.random.Generator:
    """Return the generator of two whole numbers."""
    given = np.asarray(convert(seed).numpy())
    if given.dtype.kind not in "iu" or given.shape != (2,):
        raise invalid(f"seed of {given.dtype} and shape {given.shape}; give two whole numbers")
    return np.random.default_rng(_words(*given))


_Shape = Annotated[tuple[int, ...], Kind(_read_shape)]
_DType = Annotated[DType, Kind(lambda value, *_: as_dtype(value))]
#: Seeds, read as the generators that they stand for; and a generator of the program.
_Global = Annotated[Any, Kind(lambda seed, *_: global_generator(seed))]
_Seed = Annotated[Any, Kind(lambda seed, *_: of_seed(seed))]
_Own = Annotated[Any, Kind(lambda generator, *_: generator._rng)]
_stated = partial(offered, raises=_CHECKS, differs=_OTHERS)
#: Methods of `Generator`, by name.
_METHODS: dict[str, Any] = {}


def _drawn_from(draw: Any, word: str, kind: Any, position: int, *more: Parameter) -> Any:
    """Return a body like `draw`, whose generator is read from an argument at another position."""
    rng, *rest = inspect.signature(draw).parameters.values()
    rest.insert(position, rng.replace(name=word, default=None if kind is _Global else rng.empty))

    def body(*args: Any) -> Native:
        values = list(args[: len(rest)])
        return draw(values.pop(position), *values)

    body.__signature__ = inspect.Signature([*rest, *more])  # type: ignore[attr-defined]
    body.__annotations__ = {**draw.__annotations__, word: kind}
    body.__doc__ = draw.__doc__
    return body


_AFTER = tuple(
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default)
    for name, default in (("name", None), ("alg", "auto_select"))
)


def _offer(draw: Any, name: str, *where: str, after: int = 1) -> None:
    """Offer numbers from the program's generator, from a seed or from a `tf.random.Generator`.

    A seed is the argument `after` so many others.
    """
    if "program" in where:
        last = len(inspect.signature(draw).parameters) - 1
        _stated(f"random.{name}")(_drawn_from(draw, "seed", _Global, last))
    if "seed" in where:
        _stated(f"random.stateless_{name}")(_drawn_from(draw, "seed", _Seed, after, *_AFTER))
    if "object" in where:
        body = _drawn_from(draw, "self", _Own, 0)
        _METHODS[name] = guarded(f"Generator.{name}", *_CHECKS)(body)


# -- what is drawn ------------------------------------------------------------------------------


def _normal(
    rng: Any, shape: _Shape, mean: Any = 0.0, stddev: Any = 1.0, dtype: _DType = float32
) -> Native:
    """Return normal numbers; derivatives go to mean and stddev."""
    noise = ns.asarray(np.asarray(rng.standard_normal(shape), dtype._numpy))
    return convert(mean, dtype) + convert(stddev, dtype) * noise


def truncated_normal(
    rng: Any, shape: _Shape, mean: Any = 0.0, stddev: Any = 1.0, dtype: _DType = float32
) -> Native:
    """Return normal numbers that are less than two standard deviations from the mean."""
    noise = random.truncated_normal(rng, -2.0, 2.0, shape=shape)
    return convert(mean, dtype) + convert(stddev, dtype) * ns.astype(noise, dtype._numpy)


_UNIFORM = ("bfloat16", "float16", "float32", "float64", "int32", "int64")


def _uniform(
    rng: Any, shape: _Shape, minval: Any = 0, maxval: Any = None, dtype: _DType = float32
) -> Native:
    """Return numbers evenly spread from minval to maxval, or whole numbers below maxval."""
    if dtype.name not in _UNIFORM:
        raise ValueError(f"dtype={dtype.name}; expected one of {', '.join(_UNIFORM)}")
    if dtype.is_integer:
        if maxval is None:
            raise ValueError(f"whole numbers ({dtype.name}) need a maxval, which they stay below")
        return _whole_numbers(rng, shape, minval, maxval, dtype)
    low, high = convert(minval, dtype), convert(1 if maxval is None else maxval, dtype)
    drawn = rng.random(shape, np.float32 if dtype == float32 else np.float64)
    if backends.is_narrow(dtype._numpy):  # where the largest must not become 1
        eps = float(backends.finfo(dtype._numpy).eps)
        drawn = np.floor(drawn / eps) * eps
    return low + (high - low) * ns.asarray(np.asarray(drawn, dtype._numpy))


def _whole_numbers(rng: Any, shape: Any, minval: Any, maxval: Any, dtype: DType) -> Native:
    least, end = (np.asarray(convert(v, dtype).numpy()) for v in (minval, maxval))
    if (least >= end).any():
        raise invalid(f"minval={least} and maxval={end}; expected the second to be larger")
    return ns.asarray(rng.integers(least, end, shape, dtype._numpy))


def _whole_range(rng: Any, shape: tuple[int, ...], dtype: DType) -> Native:
    """Return whole numbers of the dtype's whole range."""
    limits = np.iinfo(dtype._numpy)
    drawn = rng.integers(limits.min, limits.max, shape, limits.dtype, endpoint=True)
    return ns.asarray(np.asarray(drawn))


def _binomial(
    rng: Any, shape: _Shape, counts: Array, probs: Array, dtype: _DType = int32
) -> Native:
    """Return binomial numbers: how many of some trials succeed."""
    _check_end(shape, counts, probs)
    drawn = rng.binomial(counts.astype(np.int64), probs, shape)
    return ns.asarray(np.asarray(drawn, dtype._numpy))


def _check_end(full: tuple[int, ...], *parts: np.ndarray) -> None:
    common = np.broadcast_shapes(*(p.shape for p in parts))
    if full[len(full) - len(common) :] != common:
        raise invalid(
            f"shape={list(full)}; expected it to end with {list(common)}, that of the rest"
        )


def _categorical(
    rng: Any, logits: Input, num_samples: Whole, dtype: _DType | None = None
) -> Native:
    """Return categories with probabilities softmax(logits), `num_samples` for each row."""
    if backends.kind_of(logits.dtype) != "f":
        raise NotFoundError(f"logits of {logits.dtype}; expected floating-point numbers")
    if logits.ndim != 2:
        raise unfit("(rows, categories)", logits=logits)
    each = ns.expand_dims(stop_gradient(logits), axis=1)
    drawn = random.categorical(rng, each, shape=(logits.shape[0], num_samples))
    return ns.astype(drawn, (dtype or int64)._numpy)


_offer(_normal, "normal", "program", "seed", "object")
_offer(truncated_normal, "truncated_normal", "program", "seed", "object")
_offer(_uniform, "uniform", "program", "object")
_offer(_binomial, "binomial", "object")
_offer(_categorical, "categorical", "program", "seed", after=2)


@_stated("random.stateless_uniform")
def stateless_uniform(
    shape: _Shape, seed: _Seed, minval: Any = 0, maxval: Any = None, dtype: _DType = float32,
    name: Any = None, alg: Any = "auto_select",
) -> Native:  # fmt: skip
    """Return evenly spread numbers, the same ones for the same seed."""
    if not dtype.is_integer or (maxval is None and minval is not None):
        return _uniform(seed, shape, minval, maxval, dtype)
    if maxval is None:
        return _whole_range(seed, shape, dtype)
    return _whole_numbers(seed, shape, minval, maxval, dtype)


@_stated("random.stateless_binomial")
def stateless_binomial(
    shape: _Shape, seed: _Seed, counts: Array, probs: Array, output_dtype: _DType = int32
) -> Native:
    """Return binomial numbers, the same ones for the same seed."""
    return _binomial(seed, shape, counts, probs, output_dtype)


def _gamma(rng: Any, full: Any, alpha: Any, beta: Any, dtype: DType) -> Native:
    scale = 1.0 / convert(1.0 if beta is None else beta, dtype)
    return random.gamma(rng, convert(alpha, dtype), scale, shape=full, dtype=dtype._numpy)


@_stated("random.gamma")
def gamma(
    shape: _Shape, alpha: Any, beta: Any = None, dtype: _DType = float32, seed: _Global = None
) -> Native:
    """Return gamma numbers: `shape` of them for each alpha and beta; derivatives go to both."""
    parameters = [convert(alpha, dtype), convert(1.0 if beta is None else beta, dtype)]
    full = shape + ns.broadcast_shapes(*(p.shape for p in parameters))
    return _gamma(seed, full, alpha, beta, dtype)


@_stated("random.stateless_gamma")
def stateless_gamma(
    shape: _Shape, seed: _Seed, alpha: Any, beta: Any = None, dtype: _DType = float32
) -> Native:
    """Return gamma numbers, the same ones for the same seed; `shape` is that of the result."""
    return _gamma(seed, shape, alpha, beta, dtype)


@_stated("random.poisson")
def poisson(shape: _Shape, lam: Array, dtype: _DType = float32, seed: _Global = None) -> Native:
    """Return Poisson numbers: `shape` of them for each mean."""
    return ns.asarray(np.asarray(seed.poisson(lam, shape + lam.shape), dtype._numpy))


@_stated("random.stateless_poisson")
def stateless_poisson(shape: _Shape, seed: _Seed, lam: Array, dtype: _DType = int32) -> Native:
    """Return Poisson numbers, the same ones for the same seed; `shape` is that of the result."""
    _check_end(shape, lam)
    return ns.asarray(np.asarray(seed.poisson(lam, shape), dtype._numpy))


def _permuted(rng: Any, value: Native) -> Native:
    x = stop_gradient(value)  # tf.random.shuffle has no gradient
    return x if not x.ndim else random.permutation(rng, x)


@_stated("random.shuffle")
def shuffle(value: Input, seed: _Global = None) -> Native:
    """Return x in random order along its first axis."""
    return _permuted(seed, value)


@_stated("random.experimental.stateless_shuffle")
def stateless_shuffle(value: Input, seed: _Seed, alg: Any = "auto_select") -> Native:
    """Return x in random order along its first axis, the same one for the same seed."""
    return _permuted(seed, value)


@_stated("random.split", "random.experimental.stateless_split", named=False)
def split(seed: Input, num: Whole = 2, alg: Any = "auto_select") -> Native:
    """Return `num` new seeds from one."""
    return _whole_range(of_seed(seed), (num, 2), of_numpy(seed.dtype))


@_stated("random.fold_in", "random.experimental.stateless_fold_in", named=False)
def fold_in(seed: Input, data: Whole, alg: Any = "auto_select") -> Native:
    """Return a new seed from one and a number."""
    of_seed(seed)  # raises unless it is one
    rng = np.random.default_rng(_words(*seed.numpy(), data))
    return _whole_range(rng, (2,), of_numpy(seed.dtype))


# -- generators as objects ------------------------------------------------------------------------


_ALGORITHMS = (None, "philox", "threefry", "auto_select", 1, 2, 3)


@plain("random.Generator", "random.experimental.Generator", differs=_OTHERS)
class Generator:
    """A source of random numbers with a state of its own."""

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is None and state is None:
            raise AssertionError("a generator of nothing; write tf.random.Generator.from_seed(1)")
        if alg not in _ALGORITHMS:
            raise ValueError(f"alg={alg!r}; expected 'philox', 'threefry' or 'auto_select'")
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
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator that nobody can foresee."""
        return cls(state=np.random.SeedSequence().generate_state(2, np.uint64))

    def reset_from_seed(self, seed: Any) -> None:
        """Begin again at a seed."""
        self._begin(_words(*np.ravel(static(seed))))

    def reset(self, state: Any) -> None:
        """Begin again at some whole numbers."""
        self._begin(_words(*np.ravel(static(state))))

    @property
    def state(self) -> Any:
        """Whole numbers that differ between states of the generator."""
        state = self._rng.bit_generator.state["state"]
        words = [state["state"] >> 64, state["state"] % 2**64, state["inc"] % 2**64]
        return outward(ns.asarray(np.asarray(words, np.uint64).view(np.int64)))

    def make_seeds(self, count: int = 1) -> Any:
        """Return seeds for stateless functions, as columns."""
        return outward(_whole_range(self._rng, (2, int(count)), int64))

    def split(self, count: int = 1) -> list[Generator]:
        """Return new generators, independent of this one."""
        return [
            Generator(state=s.generate_state(2, np.uint64)) for s in self._sequence.spawn(count)
        ]


for _name, _method in _METHODS.items():
    setattr(Generator, _name, _method)
_shared: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the generator that a program shares."""
    if not _shared:
        _shared.append(Generator.from_non_deterministic_state())
    return _shared[0]


def set_global_generator(generator: Generator) -> None:
    """Have a program share another generator."""
    if not isinstance(generator, Generator):
        raise TypeError(
            f"set_global_generator: got a {type(generator).__name__}; give a tf.random.Generator"
        )
    _shared[:] = [generator]


for _prefix in ("random", "random.experimental"):
    put((f"{_prefix}.get_global_generator",), get_global_generator)
    put((f"{_prefix}.set_global_generator",), set_global_generator)
