"""Random numbers: those of PyTorch's generator on a CPU, for the same seed.

PyTorch draws from a Mersenne twister, which NumPy has as well: 32 bits at a time, or 64 of two
draws. What is here is how those bits become numbers of each distribution, so that a program with a
seed gets the numbers that it gets from PyTorch (in single precision, up to rounding).
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects.quiet import Quiet
from wengert.dialects.torch import dtypes
from wengert.dialects.torch.creation import cast, empty_like_array, new
from wengert.dialects.torch.devices import CPU, read_length, read_sizes
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.table import guarded, offered, plain, put
from wengert.dialects.torch.tensors import Tensor, convert, made, store
from wengert.engine.batching import Batched, levels
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops.batching import drawn
from wengert.ops.conventions import unmoved

#: The seed of a generator that was not given any.
_FIRST_SEED = 67280421310721
#: Sizes from which normal numbers are made in blocks.
_BLOCK = 16
_DOUBLE = np.dtype(np.float64)


class Generator:
    """A source of random numbers with a state of its own."""

    def __init__(self, device: Any = "cpu") -> None:
        if str(device).partition(":")[0] != "cpu":
            raise RuntimeError(f"there is no generator on {device}: Wengert's tensors are on 'cpu'")
        self.device = CPU
        self._bits: Any = None
        self._seed = _FIRST_SEED
        self._spare: float | None = None

    def manual_seed(self, seed: Any) -> Generator:
        """Begin again at a seed, and return the generator."""
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise ValueError(f"the seed {number} does not fit into 64 bits; give a smaller one")
        self._seed, self._bits, self._spare = number % 2**64, None, None
        return self

    def seed(self) -> int:
        """Begin again at a seed that nobody knows, and return it."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed."""
        return self._seed

    def get_state(self) -> Tensor:
        """Return the state as a tensor of bytes."""
        state = self._source().state["state"]
        spare = math.nan if self._spare is None else self._spare
        parts = (
            state["key"].astype(np.uint32),
            np.array([state["pos"], 0], np.uint32),
            np.array([self._seed], np.uint64),
            np.array([spare], np.float64),
        )
        raw = np.zeros(_STATE_BYTES, np.uint8)
        raw[:_USED_BYTES] = np.concatenate([p.view(np.uint8) for p in parts])
        return made(raw)

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that `get_state` returned."""
        raw = new_state._raw
        if raw.dtype != np.uint8:
            raise TypeError(f"the state is {new_state.dtype}; give that of get_rng_state()")
        if raw.size != _STATE_BYTES:
            raise RuntimeError(
                f"the state has {raw.size} bytes; give {_STATE_BYTES}, as of get_rng_state()"
            )
        words = raw[: 626 * 4].view(np.uint32)
        self._seed = int(raw[2504:2512].view(np.uint64)[0])
        spare = float(raw[2512:_USED_BYTES].view(np.float64)[0])
        self._spare = None if math.isnan(spare) else spare
        self._source().state = {
            "bit_generator": "MT19937",
            "state": {"key": words[:624].copy(), "pos": int(words[624])},
        }

    def clone_state(self) -> Generator:
        """Return a generator in the same state."""
        twin = Generator()
        twin.set_state(self.get_state())
        return twin

    def __reduce__(self) -> Any:
        return _rebuilt, (self.get_state(),)

    # -- bits ----------------------------------------------------------------------------------

    def _source(self) -> Any:
        if self._bits is None:
            self._bits = np.random.MT19937()
            self._bits._legacy_seeding(self._seed % 2**32)
        return self._bits

    def words(self, count: int) -> np.ndarray:
        """Return whole numbers of 32 bits."""
        found: np.ndarray = self._source().random_raw(count).astype(np.uint64)
        return found

    def pairs(self, count: int) -> np.ndarray:
        """Return whole numbers of 64 bits, each of two draws."""
        drawn = self.words(2 * count)
        return drawn[::2] << np.uint64(32) | drawn[1::2]

    def uniform(self, count: int, kind: np.dtype) -> np.ndarray:
        """Return numbers in [0, 1), with as many random digits as a dtype has."""
        if kind == np.float64:
            return (self.pairs(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2**53
        return (self.words(count) & np.uint64(2**24 - 1)).astype(np.float64) / 2**24

    def normal(self, count: int, kind: np.dtype, in_blocks: bool = True) -> np.ndarray:
        """Return normal numbers: in blocks if there are many, else one by one."""
        if count < _BLOCK or not in_blocks:
            return self._singly(count)
        whole = count - count % _BLOCK
        drawn = self.uniform(whole if kind == np.float16 else count, _wide(kind))
        found = np.empty(count)
        found[:whole] = _turned(drawn[:whole])
        if count > whole:  # the last block is drawn anew and reaches back into the one before
            found[count - _BLOCK :] = _turned(self.uniform(_BLOCK, _wide(kind)))
        return found

    def _singly(self, count: int) -> np.ndarray:
        """Return normal numbers made two at a time; a second one is spared for the next call."""
        found = [] if self._spare is None else [self._spare]
        pairs = max(0, count - len(found) + 1) // 2
        drawn = self.uniform(2 * pairs, _DOUBLE).reshape(pairs, 2)
        radius, angle = np.sqrt(-2 * np.log1p(-drawn[:, 1])), 2 * np.pi * drawn[:, 0]
        made = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
        every = np.concatenate([np.array(found, np.float64), made.ravel()])
        self._spare = float(every[count]) if every.size > count else None
        return every[:count]


#: How long a state is in PyTorch, and how much of it is used here.
_STATE_BYTES, _USED_BYTES = 5056, 626 * 4 + 16


def _rebuilt(state: Tensor) -> Generator:
    generator = Generator()
    generator.set_state(state)
    return generator


def _wide(kind: np.dtype) -> np.dtype:
    """Return the dtype that numbers are drawn in."""
    return np.dtype(np.float64 if kind in (np.float64, np.complex128) else np.float32)


def _turned(drawn: np.ndarray) -> np.ndarray:
    """Return normal numbers from uniform ones by Box and Muller, in blocks of two halves."""
    blocks = drawn.reshape(-1, 2, _BLOCK // 2)
    radius = np.sqrt(-2 * np.log1p(-blocks[:, 0]))
    angle = 2 * np.pi * blocks[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


default_generator = Generator()
default_generator.seed()
put(("Generator",), Generator)
put(("default_generator", "random.default_generator"), default_generator)


def _from(generator: Generator | None) -> Generator:
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"generator is a {type(generator).__name__}; write torch.Generator()")
    return generator


# -- seeds and states ------------------------------------------------------------------------------


@plain("manual_seed", "random.manual_seed")
def manual_seed(seed: Any) -> Generator:
    """Have random numbers begin again at a seed."""
    return default_generator.manual_seed(seed)


put(("seed", "random.seed"), default_generator.seed)
put(("initial_seed", "random.initial_seed"), default_generator.initial_seed)
put(("get_rng_state", "random.get_rng_state"), default_generator.get_state)
put(("set_rng_state", "random.set_rng_state"), default_generator.set_state)


@plain("random.fork_rng")
@contextlib.contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, device_type: str = "cuda", **options: Any
) -> Iterator[None]:
    """Return a context after which random numbers go on as if it had not been."""
    before = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)


# -- distributions on arrays -----------------------------------------------------------------------

#: Takes a generator, how many numbers, their dtype, and whether they lie in memory in a row.
Draw = Callable[[Generator, int, np.dtype, bool], np.ndarray]


def _not_for(name: str, kind: np.dtype) -> NotImplementedError:
    return NotImplementedError(
        f'"{name}" makes no numbers of {dtypes.of_numpy(kind)}; give dtype=torch.float32'
    )


def _uniform(rng: Generator, count: int, kind: np.dtype, in_a_row: bool = True) -> np.ndarray:
    if kind.kind == "c":
        drawn = rng.uniform(2 * count, _wide(kind))
        return drawn[::2] + 1j * drawn[1::2]
    if kind.kind != "f":
        raise _not_for("uniform", kind)
    drawn = rng.uniform(count, kind)
    return _below(drawn, 0.0, 1.0, kind) if kind == np.float16 else drawn


def _below(values: np.ndarray, low: float, high: float, kind: np.dtype) -> np.ndarray:
    """Return numbers below a bound, also once they are rounded: those at the bound become `low`."""
    rounded = values.astype(kind)
    return np.where(rounded == rounded.dtype.type(high), low, rounded)


def _normal(rng: Generator, count: int, kind: np.dtype, in_a_row: bool = True) -> np.ndarray:
    if kind.kind == "c":
        drawn = rng.normal(2 * count, _wide(kind), in_a_row) / math.sqrt(2)
        return drawn[::2] + 1j * drawn[1::2]
    if kind.kind != "f":
        raise _not_for("normal", kind)
    return rng.normal(count, kind, in_a_row)


def _integers(low: int, high: int) -> Draw:
    if low >= high:
        raise RuntimeError(f"random_: from={low} and to={high}; the second must be larger")

    def draw(rng: Generator, count: int, kind: np.dtype, in_a_row: bool = True) -> np.ndarray:
        if kind.kind == "c":
            raise _not_for("random_", kind)
        if kind.kind in "iub":
            limits = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
            if low < limits[0] or high - 1 > limits[1]:
                raise RuntimeError(f"from={low} or to - 1={high - 1} does not fit into {kind}")
        span = high - low
        bits = rng.pairs(count) if span >= 2**28 else rng.words(count)
        if span < 2**64:
            bits = bits % np.uint64(span)
        return (bits.astype(np.int64) + low) if low >= -(2**63) else bits

    return draw


def _for_examples(
    name: str, make: Callable[..., np.ndarray], shape: tuple[int, ...], *given: Native
) -> Any:
    """Return the raw array ``make(shape, *raws of given)`` of random numbers.

    Inside of vmap, examples have numbers of their own or the same ones, as vmap was told.
    """
    running = levels.get()
    if not running:
        return make(shape, *[x._raw for x in given])
    for level in running:
        if level.randomness == "same" and any(type(x._raw) is Batched for x in given):
            raise RuntimeError(
                f"{name}: each example has its own parameters, so its numbers cannot be the "
                "same; write randomness='different'"
            )
    try:
        return drawn(name, make, shape, *given)._raw
    except ValueError as error:
        raise RuntimeError(str(error)) from None


def _drawn(name: str, rng: Generator, shape: tuple[int, ...], kind: np.dtype, draw: Draw) -> Any:
    def make(size: tuple[int, ...]) -> np.ndarray:
        return cast(draw(rng, math.prod(size), kind, True), kind).reshape(size)

    return _for_examples(name, make, shape)


def _fill(raw: np.ndarray, values: np.ndarray) -> None:
    """Write numbers to an array in the order of its memory."""
    order = np.argsort([-s for s in raw.strides], kind="stable")
    raw.transpose(order)[...] = cast(values, raw.dtype).reshape([raw.shape[k] for k in order])


def _sized(name: str, draw: Draw) -> None:
    """Offer a function of a size and one of another tensor that draw numbers."""

    def create(
        *args: Any,
        size: Any = None,
        generator: Generator | None = None,
        out: Tensor | None = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Tensor:
        kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
        if out is not None and dtype is None:
            kind = out._raw.dtype
        raw = _drawn(name, _from(generator), read_sizes(name, args, size), kind, draw)
        result = new(raw, layout, device, requires_grad)
        return result if out is None else store(result, out)

    def like(
        input: Tensor,
        *,
        generator: Generator | None = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        raw = _like(input, dtype, memory_format, f"{name}_like", generator, draw)
        return new(raw, layout, device, requires_grad)

    for function, its in ((create, name), (like, f"{name}_like")):
        function.__name__ = function.__qualname__ = its
        function.__doc__ = f"Return random numbers: {name}."
        put((its,), function)


def _like(input: Any, dtype: Any, memory_format: Any, name: str, generator: Any, draw: Draw) -> Any:
    raw = empty_like_array(input, dtype, memory_format, name)
    if levels.get():
        return _drawn(name, _from(generator), raw.shape, raw.dtype, draw)
    _fill(raw, draw(_from(generator), raw.size, raw.dtype, raw.flags.c_contiguous))
    return raw


_sized("rand", _uniform)
_sized("randn", _normal)


def _bound(value: Any, name: str) -> int:
    if isinstance(value, (float, np.floating)):
        raise TypeError(f"randint(): {name} is a {type(value).__name__}; give a whole number")
    return read_length("randint", value)


def _bounds(given: tuple[Any, ...], low: Any, high: Any) -> tuple[int, int]:
    if len(given) == 2:
        low, high = given
    elif len(given) == 1 and high is None:
        high = given[0]
    elif len(given) == 1:
        low = given[0]
    if high is None:
        raise TypeError("randint() needs an upper bound; write torch.randint(10, (3,))")
    return _bound(low, "low"), _bound(high, "high")


@plain("randint")
def randint(
    *args: Any,
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return random whole numbers from low to high, without high."""
    given = list(args)
    if size is None and len(given) > 1:
        size = given.pop()
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): the size is a {type(size).__name__}; give a tuple of lengths")
    draw = _integers(*_bounds(tuple(given), low, high))
    kind = np.dtype(np.int64) if dtype is None else dtypes.to_numpy(dtype)
    raw = _drawn("randint", _from(generator), read_sizes("randint", (size,)), kind, draw)
    result = new(raw, layout, device, requires_grad)
    return result if out is None else store(result, out)


@plain("randint_like")
def randint_like(
    input: Tensor,
    *args: Any,
    low: Any = 0,
    high: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return random whole numbers in a tensor of another's shape and dtype."""
    draw = _integers(*_bounds(args, low, high))
    raw = _like(input, dtype, memory_format, "randint_like", generator, draw)
    return new(raw, layout, device, requires_grad)


@plain("randperm")
def randperm(
    n: Any,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return the whole numbers below n in a random order."""
    if isinstance(n, float):
        raise TypeError(f"randperm(): n is a {type(n).__name__}; give a whole number")
    count = read_sizes("randperm", (n,))[0]
    kind, rng = np.dtype(np.int64) if dtype is None else dtypes.to_numpy(dtype), _from(generator)

    def make(size: tuple[int, ...]) -> np.ndarray:
        orders = [_order(rng, count) for _ in range(math.prod(size[:-1]))]
        return np.array(orders, kind).reshape(size)

    result = new(_for_examples("randperm", make, (count,)), layout, device, requires_grad)
    return result if out is None else store(result, out)


def _order(rng: Generator, count: int) -> list[int]:
    places = list(range(count))
    for k, word in enumerate(rng.words(max(count - 1, 0)).tolist()):
        other = k + word % (count - k)
        places[k], places[other] = places[other], places[k]
    return places


# -- of parameters that are tensors ----------------------------------------------------------------


def _check_std(std: Any) -> None:
    if std < 0:
        raise RuntimeError(f"normal: std is {std}; give 0 or more")


def _normal_of(mean: Any, std: Any, generator: Any = None) -> Any:
    tensors = [convert(t)._raw for t in (mean, std) if isinstance(t, Tensor)]
    kind = tensors[0].dtype
    if kind.kind != "f":
        raise _not_for("normal", kind)
    if not isinstance(std, Tensor):
        _check_std(std)
    try:
        shape = np.broadcast_shapes(*(t.shape for t in tensors))
    except ValueError:
        raise RuntimeError(
            f"mean and std do not broadcast: {[list(t.shape) for t in tensors]}"
        ) from None
    rng = _from(generator)

    def make(size: tuple[int, ...], means: np.ndarray, widths: np.ndarray) -> np.ndarray:
        if (widths < 0).any():
            raise RuntimeError("normal: a number in std is negative; give 0 or more")
        size = np.broadcast_shapes(size, means.shape, widths.shape)
        noise = cast(_normal(rng, math.prod(size), kind), kind).reshape(size)
        return cast(np.asarray(noise * widths + means), kind)

    given = [convert(t) if isinstance(t, Tensor) else _number(t, kind) for t in (mean, std)]
    return _constant(wrap_native(_for_examples("normal", make, shape, *given)), mean, std)


def _number(value: Any, kind: np.dtype) -> Native:
    return wrap_native(np.array(value, kind))


def _constant(value: Any, *sources: Any) -> Any:
    """Return numbers whose derivative with respect to tensors is zero, where one wants it."""
    for source in sources:
        if isinstance(source, Tensor) and source.requires_grad:
            value = unmoved(value, convert(source))
    return value


#: By whether the mean and the deviation are tensors.
_normal_of_tensors = {
    (True, False): guarded(_normal_of, "NormalBackward1"),
    (False, True): guarded(_normal_of, "NormalBackward2"),
    (True, True): guarded(_normal_of, "NormalBackward3"),
}


@plain("normal")
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return normal numbers with means and deviations that are tensors, or of a size."""
    tensors = isinstance(mean, Tensor), isinstance(std, Tensor)
    if any(tensors):
        result: Tensor = _normal_of_tensors[tensors](mean, std, generator)
        return result if out is None else store(result, out)
    if size is None:
        raise TypeError("normal() of two numbers needs a size; write torch.normal(0.0, 1.0, (3,))")
    _check_std(std)
    kind = dtypes.default().numpy if dtype is None else dtypes.to_numpy(dtype)
    shape = read_sizes("normal", (size,))
    rng = _from(generator)

    def make(size: tuple[int, ...]) -> np.ndarray:
        return cast(_normal(rng, math.prod(size), kind) * std + mean, kind).reshape(size)

    result = new(_for_examples("normal", make, shape), layout, device, requires_grad)
    return result if out is None else store(result, out)


def _check_chances(raw: np.ndarray) -> None:
    with Quiet():
        fit = bool(((raw >= 0) & (raw <= 1)).all())
    if not fit:
        raise RuntimeError("bernoulli: a chance is below 0 or above 1; give chances in [0, 1]")


def _trials(rng: Generator, chances: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return where something with given chances happens."""
    _check_chances(chances)
    drawn = rng.uniform(math.prod(shape), _DOUBLE if chances.dtype == _DOUBLE else np.dtype("f4"))
    return drawn.reshape(shape) < chances


@offered("bernoulli", label="BernoulliBackward0")
def bernoulli(input: Any, p: Any = None, *, generator: Generator | None = None) -> Any:
    """Return ones with the given chances, and zeros otherwise."""
    if not isinstance(input, Tensor):
        raise TypeError(f"bernoulli(): input is a {type(input).__name__}; give a tensor")
    kind, rng = input._raw.dtype, _from(generator)
    if p is None and kind.kind != "f":
        raise _not_for("bernoulli", kind)

    def make(size: tuple[int, ...], chances: np.ndarray) -> np.ndarray:
        size = np.broadcast_shapes(size, chances.shape)
        if p is None:
            return _trials(rng, chances, size).astype(kind)
        return _happens(rng, float(p), math.prod(size)).reshape(size).astype(kind)

    raw = _for_examples("bernoulli", make, input._raw.shape, convert(input))
    return _constant(wrap_native(raw), input)


def _happens(rng: Generator, p: float, count: int) -> np.ndarray:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_: p is {p}; give a chance in [0, 1]")
    return rng.uniform(count, _DOUBLE) < p


@plain("multinomial", "Tensor.multinomial")
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return places drawn with chances in proportion to the weights of each row."""
    x, rng = convert(input), _from(generator)
    if x.ndim not in (1, 2):
        raise RuntimeError(f"multinomial: the weights have {x.ndim} axes; give 1 or 2")
    if x._raw.dtype.kind != "f":
        raise RuntimeError(f"multinomial: the weights have dtype {input.dtype}; write x.float()")
    if num_samples <= 0:
        raise RuntimeError(f"multinomial: num_samples is {num_samples}; give 1 or more")
    if not replacement and num_samples > x.shape[-1]:
        raise RuntimeError(
            "multinomial: more samples than weights; write replacement=True, or fewer samples"
        )

    def make(size: tuple[int, ...], weights: np.ndarray) -> np.ndarray:
        lead = np.broadcast_shapes(size[:-1], weights.shape[:-1])
        weights = np.broadcast_to(weights, (*lead, weights.shape[-1]))
        return _places(rng, weights, num_samples, replacement)

    result = made(_for_examples("multinomial", make, (*x.shape[:-1], num_samples), x))
    return result if out is None else store(result, out)


def _places(rng: Generator, weights: np.ndarray, count: int, replacement: bool) -> np.ndarray:
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("multinomial: a weight is negative, infinite or nan")
    if (weights.sum(-1) <= 0).any():
        raise RuntimeError("multinomial: the weights of a row add up to 0")
    if replacement and count > 1:
        return _with_return(rng, weights, count).astype(np.int64)
    waits = _exponential(rng, weights.size, weights.dtype).reshape(weights.shape)
    with np.errstate(all="ignore"):
        speed = weights / waits.astype(weights.dtype)
    return np.argsort(-speed, -1, kind="stable")[..., :count].astype(np.int64)


def _with_return(rng: Generator, weights: np.ndarray, count: int) -> np.ndarray:
    rows = weights.reshape(-1, weights.shape[-1])
    sums = np.cumsum(rows, -1)
    sums = sums / sums[:, -1:]
    drawn = rng.uniform(len(rows) * count, _DOUBLE).reshape(len(rows), count)
    places = [np.searchsorted(s, d) for s, d in zip(sums, drawn, strict=True)]
    return np.minimum(np.stack(places), rows.shape[-1] - 1).reshape(*weights.shape[:-1], count)


def _exponential(rng: Generator, count: int, kind: np.dtype) -> np.ndarray:
    return -np.log1p(-rng.uniform(count, _DOUBLE))


def _poisson_one(rng: Generator, rate: float) -> int:
    """Return a Poisson number: by multiplication if few are expected, else by rejection."""
    if rate == 0:
        return 0
    if rate < 10:
        least, product, count = math.exp(-rate), 1.0, 0
        while True:
            product *= float(rng.uniform(1, _DOUBLE)[0])
            if product <= least:
                return count
            count += 1
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse, edge = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = rng.uniform(2, _DOUBLE).tolist()
        u -= 0.5
        near = 0.5 - abs(u)
        if near < 1e-12:
            continue
        count = math.floor((2 * a / near + b) * u + rate + 0.43)
        if near >= 0.07 and v <= edge:
            return count
        if count < 0 or (near < 0.013 and v > near):
            continue
        bound = count * log_rate - rate - math.lgamma(count + 1)
        if math.log(v) + math.log(inverse) - math.log(a / near**2 + b) <= bound:
            return count


@offered("poisson", method=False, label="PoissonBackward0")
def poisson(input: Any, generator: Generator | None = None) -> Any:
    """Return Poisson numbers with the given rates."""
    x, rng = convert(input), _from(generator)
    kind = x._raw.dtype
    if kind.kind != "f":
        raise _not_for("poisson", kind)

    def make(size: tuple[int, ...], rates: np.ndarray) -> np.ndarray:
        if not (rates >= 0).all():
            raise RuntimeError("poisson: a rate is negative or nan; give 0 or more")
        rates = np.broadcast_to(rates, np.broadcast_shapes(size, rates.shape))
        found = [_poisson_one(rng, rate) for rate in rates.ravel().tolist()]
        return np.array(found, kind).reshape(rates.shape)

    return _constant(wrap_native(_for_examples("poisson", make, x.shape, x)), input)


@offered("binomial", method=False, label="BinomialBackward0", differs="other random numbers")
def binomial(count: Any, prob: Any, generator: Generator | None = None) -> Any:
    """Return how often something with given chances happens in so many trials."""
    trials, chances = convert(count)._raw, convert(prob)._raw
    if trials.dtype.kind != "f" or trials.dtype != chances.dtype:
        raise RuntimeError(f"binomial: expected floating tensors of one dtype, got {trials.dtype}")
    rng = np.random.Generator(np.random.PCG64(int(_from(generator).pairs(1)[0])))
    drawn = rng.binomial(trials.astype(np.int64), chances.astype(np.float64))
    return _constant(wrap_native(np.asarray(drawn).astype(trials.dtype)), count)


# -- in place --------------------------------------------------------------------------------------


def _written(self: Tensor, values: Callable[[int], np.ndarray]) -> Tensor:
    """Give a tensor new numbers in place; `values` takes how many there are to be."""
    if levels.get():
        return _written_for_examples(self, values)

    def compute(old: Any) -> Any:
        raw = np.empty_like(self._raw)
        _fill(raw, values(raw.size))
        return _zero_of(old, raw)

    return change(self, compute)


def _written_for_examples(self: Tensor, values: Callable[[int], np.ndarray]) -> Tensor:
    kind = self._raw.dtype
    if type(self._raw) is not Batched and any(v.randomness == "different" for v in levels.get()):
        raise RuntimeError(
            "vmap: this tensor has no batch axis, so it cannot be filled with other numbers for "
            "each example; write a function that returns new numbers, such as torch.rand"
        )

    def make(size: tuple[int, ...]) -> np.ndarray:
        return cast(values(math.prod(size)), kind).reshape(size)

    raw = _for_examples("random numbers in place", make, self._raw.shape)
    return change(self, lambda old: _zero_of(old, raw))


_zero_of = guarded(lambda old, raw: _constant(wrap_native(raw), old), "UniformBackward0")


def _in_place(function: Any) -> Any:
    put((f"Tensor.{function.__name__}",), function)
    return function


@_in_place
def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **options: Any
) -> Tensor:
    """Fill a tensor with numbers that are uniform between two bounds."""
    low = options.pop("from", from_)
    if self._raw.dtype.kind != "f":
        raise _not_for("uniform_", self._raw.dtype)
    if low > to:
        raise RuntimeError(f"uniform_: from={low} and to={to}; the second must not be smaller")
    kind = self._raw.dtype

    def values(count: int) -> np.ndarray:
        drawn = _from(generator).uniform(count, kind)
        first, last = kind.type(low), kind.type(to)  # PyTorch rounds them first, and the sum once
        return _below(drawn * float(last - first) + float(first), low, to, kind)

    return _written(self, values)


@_in_place
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill a tensor with normal numbers."""
    _check_std(std)
    raw = self._raw
    in_a_row = type(raw) is Batched or raw.flags.c_contiguous

    def values(count: int) -> np.ndarray:
        noise = _normal(_from(generator), count, raw.dtype, in_a_row)
        return noise * std + mean

    return _written(self, values)


@_in_place
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill a tensor with ones of given chances, and zeros otherwise."""
    rng = _from(generator)
    if isinstance(p, Tensor):
        if levels.get():
            raise NotImplementedError(
                "bernoulli_ inside of vmap takes a number; write torch.bernoulli(p)"
            )
        chances = np.broadcast_to(p._raw, self._raw.shape)
        return _written(self, lambda count: _trials(rng, chances, self._raw.shape).ravel())
    return _written(self, lambda count: _happens(rng, float(p), count))


def _check_floating(self: Tensor, name: str) -> None:
    if self._raw.dtype.kind != "f":
        raise RuntimeError(
            f"{name} draws numbers with fractions, and the tensor has dtype {self.dtype}; write "
            "x.float()"
        )


def _check_positive(name: str, what: str, value: float) -> None:
    if value <= 0:
        raise RuntimeError(f"{name}: {what} is {value}; give a positive number")


@_in_place
def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Fill a tensor with exponential numbers."""
    _check_floating(self, "exponential_")
    _check_positive("exponential_", "lambda", lambd)
    kind = self._raw.dtype
    return _written(self, lambda count: _exponential(_from(generator), count, kind) / lambd)


@_in_place
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Fill a tensor with Cauchy numbers."""
    _check_floating(self, "cauchy_")
    _check_positive("cauchy_", "sigma", sigma)

    def values(count: int) -> np.ndarray:
        drawn = _from(generator).uniform(count, _DOUBLE)
        return median + sigma * np.tan(np.pi * (drawn - 0.5))

    return _written(self, values)


@_in_place
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Fill a tensor with numbers whose logarithms are normal."""
    _check_floating(self, "log_normal_")
    _check_positive("log_normal_", "std", std)

    def values(count: int) -> np.ndarray:
        drawn = _from(generator).normal(count, _DOUBLE, in_blocks=False)
        return np.exp(drawn * std + mean)

    return _written(self, values)


@_in_place
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill a tensor with the number of trials until something of a given chance happens."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_: p is {p}; give a chance between 0 and 1")

    def values(count: int) -> np.ndarray:
        drawn = _from(generator).uniform(count, _DOUBLE)
        return np.ceil(np.log(drawn) / math.log1p(-p))

    return _written(self, values)


@_in_place
def random_(
    self: Tensor, from_: Any = None, to: Any = None, *, generator: Any = None, **options: Any
) -> Tensor:
    """Fill a tensor with whole numbers between two bounds, or with all that its dtype has."""
    low = options.pop("from", from_)
    kind = self._raw.dtype
    if low is not None and to is None:
        low, to = 0, low
    if to is None:
        digits = {"f": {"e": 11, "f": 24, "d": 53}, "b": {"?": 0}}.get(kind.kind)
        most = 2 ** digits[kind.char] if digits else int(np.iinfo(kind).max)
        low, to = 0, most + 1

        def whole(count: int) -> np.ndarray:
            rng = _from(generator)
            drawn = rng.pairs(count) if kind.itemsize == 8 else rng.words(count)
            return drawn % np.uint64(to)

        return _written(self, whole)
    draw = _integers(int(low or 0), int(to))
    return _written(self, lambda count: draw(_from(generator), count, kind, True))
