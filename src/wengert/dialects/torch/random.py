"""Random numbers: those of PyTorch's generator on a CPU, for the same seed.

What is here is how the generator's bits become numbers of each distribution, so that a program
with a seed gets the numbers that it gets from PyTorch (in single precision, up to rounding).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument
from wengert.dialects.quiet import Quiet
from wengert.dialects.torch import dtypes
from wengert.dialects.torch import kinds as K
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.creation import cast, creates, like
from wengert.dialects.torch.generators import Generator, Rng, wide
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.table import direct, guarded, offered, plain
from wengert.dialects.torch.tensors import Native, Tensor, ns, wrap_native
from wengert.engine.batching import Batched, levels
from wengert.ops.batching import drawn
from wengert.ops.conventions import unmoved

_DOUBLE = np.dtype(np.float64)

# -- distributions on arrays -----------------------------------------------------------------------

#: Takes a generator, how many numbers, their dtype, and whether they lie in memory in a row.
Draw = Callable[[Generator, int, np.dtype, bool], np.ndarray]


def _not_for(name: str, kind: np.dtype) -> NotImplementedError:
    return NotImplementedError(
        f'"{name}" makes no numbers of {dtypes.of_numpy(kind)}; give dtype=torch.float32'
    )


def _uniform(rng: Generator, count: int, kind: np.dtype, in_a_row: bool = True) -> np.ndarray:
    if kind.kind == "c":
        drawn = rng.uniform(2 * count, wide(kind))
        return drawn[::2] + 1j * drawn[1::2]
    if backends.kind_of(kind) != "f":
        raise _not_for("uniform", kind)
    drawn = rng.uniform(count, kind)
    return _below(drawn, 0.0, 1.0, kind) if backends.is_narrow(kind) else drawn


def _below(values: np.ndarray, low: float, high: float, kind: np.dtype) -> np.ndarray:
    """Return numbers below a bound, also once they are rounded: those at the bound become `low`."""
    rounded = values.astype(kind)
    return np.where(rounded == rounded.dtype.type(high), low, rounded)


def _normal(rng: Generator, count: int, kind: np.dtype, in_a_row: bool = True) -> np.ndarray:
    if kind.kind == "c":
        drawn = rng.normal(2 * count, wide(kind), in_a_row) / math.sqrt(2)
        return drawn[::2] + 1j * drawn[1::2]
    if backends.kind_of(kind) != "f":
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

    def of_size(*size: K.Lengths, generator: Rng = None, dtype: K.Dtype | None = None) -> Any:
        return _drawn(name, generator, size, dtypes.or_default(dtype), draw)

    def of_tensor(
        input: K.Given,
        *,
        generator: Rng = None,
        dtype: K.Dtype | None = None,
        memory_format: Any = None,
    ) -> Any:
        return _like(name, generator, like(input, dtype), draw)

    for body, offered_as in ((of_size, name), (of_tensor, f"{name}_like")):
        body.__name__, body.__doc__ = offered_as, f"Return random numbers: {name}."
        creates(offered_as)(body)


def _like(name: str, rng: Generator, raw: np.ndarray, draw: Draw) -> Any:
    if levels.get():
        return _drawn(name, rng, raw.shape, raw.dtype, draw)
    _fill(raw, draw(rng, raw.size, raw.dtype, raw.flags.c_contiguous))
    return raw


_sized("rand", _uniform)
_sized("randn", _normal)


def _bounds(given: Any, low: int, high: int | None) -> Draw:
    """Return what draws from low to high, which may be given by position."""
    bounds = [K.READERS.integer(v, Argument("randint", "a bound")) for v in given]
    if len(bounds) == 1:
        bounds = [low, *bounds] if high is None else [*bounds, high]
    elif not bounds and high is not None:
        bounds = [low, high]
    if len(bounds) != 2:
        raise TypeError("randint() needs an upper bound; write torch.randint(10, (3,))")
    return _integers(*bounds)


@creates("randint")
def randint(
    *args: Any, low: K.Int = 0, high: K.Int | None = None, size: K.Size | None = None,
    generator: Rng = None, dtype: K.Dtype | None = None,
) -> Any:  # fmt: skip
    """Return random whole numbers from low to high, without high."""
    if size is None:
        given = args[-1] if len(args) > 1 else None
        args, size = args[:-1], K.read_size(given, Argument("randint", "size"))
    draw, kind = _bounds(args, low, high), np.dtype(np.int64) if dtype is None else dtype
    return _drawn("randint", generator, size, kind, draw)


@creates("randint_like")
def randint_like(
    input: K.Given, *args: Any, low: K.Int = 0, high: K.Int | None = None, generator: Rng = None,
    dtype: K.Dtype | None = None, memory_format: Any = None,
) -> Any:  # fmt: skip
    """Return random whole numbers in a tensor of another's shape and dtype."""
    raw = like(input, dtype)
    return _like("randint_like", generator, raw, _bounds(args, low, high))


@creates("randperm")
def randperm(n: K.Int, *, generator: Rng = None, dtype: K.Dtype | None = None) -> Any:
    """Return the whole numbers below n in a random order."""
    (count,) = K.read_lengths((n,), Argument("randperm", "n"))

    def make(size: tuple[int, ...]) -> np.ndarray:
        orders = [_order(generator, count) for _ in range(math.prod(size[:-1]))]
        return np.array(orders, dtype or np.int64).reshape(size)

    return _for_examples("randperm", make, (count,))


def _order(rng: Generator, count: int) -> list[int]:
    order = list(range(count))
    for k, word in enumerate(rng.words(max(count - 1, 0)).tolist()):
        other = k + word % (count - k)
        order[k], order[other] = order[other], order[k]
    return order


# -- of parameters that are tensors ----------------------------------------------------------------


def _constant(raw: Any, *sources: Any) -> Native:
    """Return numbers whose derivative with respect to tensors is zero."""
    value = wrap_native(raw)
    for source in sources:
        if type(source) is Native and source._node is not None:
            value = unmoved(value, source)
    return value


def _check_std(std: Any) -> None:
    if (std < 0).any() if isinstance(std, np.ndarray) else std < 0:
        raise RuntimeError(f"normal: std is {std}; give 0 or more")


def _normal_label(mean: Any, std: Any, generator: Any) -> str:
    return f"NormalBackward{isinstance(mean, Tensor) + 2 * isinstance(std, Tensor)}"


def _normal_of(mean: K.TensorOrNumber, std: K.TensorOrNumber, generator: Rng) -> Native:
    kind = (mean if type(mean) is Native else std).dtype
    if backends.kind_of(kind) != "f":
        raise _not_for("normal", kind)
    given = [t if type(t) is Native else wrap_native(np.array(t, kind)) for t in (mean, std)]
    shape = ns.broadcast_shapes(*(t.shape for t in given))

    def make(size: tuple[int, ...], means: np.ndarray, widths: np.ndarray) -> np.ndarray:
        _check_std(widths)
        size = np.broadcast_shapes(size, means.shape, widths.shape)
        noise = cast(_normal(generator, math.prod(size), kind), kind).reshape(size)
        return cast(np.asarray(noise * widths + means), kind)

    return _constant(_for_examples("normal", make, shape, *given), *given)


_normal_of_tensors = guarded(_normal_of, _normal_label)


@creates()
def _normal_of_size(
    mean: K.Number,
    std: K.Number,
    size: K.Size,
    *,
    generator: Rng = None,
    dtype: K.Dtype | None = None,
) -> Any:
    _check_std(std)
    kind = dtypes.or_default(dtype)

    def make(size: tuple[int, ...]) -> np.ndarray:
        return cast(_normal(generator, math.prod(size), kind) * std + mean, kind).reshape(size)

    return _for_examples("normal", make, size)


@plain("normal")
def normal(mean: Any, std: Any = 1.0, size: Any = None, **options: Any) -> Tensor:
    """Return normal numbers with means and deviations that are tensors, or of a size."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        given = options.get("generator"), options.get("out")
        return _normal_of_tensors(mean, std, given[0], out=given[1])
    return _normal_of_size(mean, std, size, **options)


def _check_chances(p: Any) -> None:
    with Quiet():
        fit = bool(np.all((p >= 0) & (p <= 1)))
    if not fit:
        raise RuntimeError("bernoulli: a chance is below 0 or above 1; give chances in [0, 1]")


def _trials(rng: Generator, chances: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return where something with given chances happens."""
    _check_chances(chances)
    drawn = rng.uniform(math.prod(shape), _DOUBLE if chances.dtype == _DOUBLE else np.dtype("f4"))
    return drawn.reshape(shape) < chances


@offered("bernoulli")
def bernoulli(input: K.Input, p: K.Number | None = None, *, generator: Rng = None) -> Native:
    """Return ones with the given chances, and zeros otherwise."""
    kind = input.dtype
    if p is None and backends.kind_of(kind) != "f":
        raise _not_for("bernoulli", kind)

    def make(size: tuple[int, ...], chances: np.ndarray) -> np.ndarray:
        size = np.broadcast_shapes(size, chances.shape)
        if p is None:
            return _trials(generator, chances, size).astype(kind)
        return happens(generator, float(p), math.prod(size)).reshape(size).astype(kind)

    return _constant(_for_examples("bernoulli", make, input.shape, input), input)


def happens(rng: Generator, p: float, count: int) -> np.ndarray:
    """Return whether something of one chance happens, so many times."""
    _check_chances(np.float64(p))
    return rng.uniform(count, _DOUBLE) < p


@offered("multinomial")
def multinomial(
    input: K.Floating, num_samples: K.Int, replacement: K.Bool = False, *, generator: Rng = None
) -> Native:
    """Return indices drawn with chances in proportion to the weights of each row."""
    most = input.shape[-1] if input.ndim else 0
    if input.ndim not in (1, 2) or num_samples <= 0 or (num_samples > most and not replacement):
        raise RuntimeError(
            f"multinomial: {num_samples} samples of weights of shape {list(input.shape)}; give 1 "
            "or 2 axes, and 1 sample or more: with replacement=True also more than weights"
        )

    def make(size: tuple[int, ...], weights: np.ndarray) -> np.ndarray:
        lead = np.broadcast_shapes(size[:-1], weights.shape[:-1])
        weights = np.broadcast_to(weights, (*lead, weights.shape[-1]))
        return _chosen(generator, weights, num_samples, replacement)

    shape = (*input.shape[:-1], num_samples)
    return wrap_native(_for_examples("multinomial", make, shape, input))


def _chosen(rng: Generator, weights: np.ndarray, count: int, replacement: bool) -> np.ndarray:
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("multinomial: a weight is negative, infinite or nan")
    if (weights.sum(-1) <= 0).any():
        raise RuntimeError("multinomial: the weights of a row add up to 0")
    if replacement and count > 1:
        return _with_return(rng, weights, count).astype(np.int64)
    waits = exponential(rng, weights.size).reshape(weights.shape)
    with np.errstate(all="ignore"):
        speed = weights / waits.astype(weights.dtype)
    return np.argsort(-speed, -1, kind="stable")[..., :count].astype(np.int64)


def _with_return(rng: Generator, weights: np.ndarray, count: int) -> np.ndarray:
    rows = weights.reshape(-1, weights.shape[-1])
    sums = np.cumsum(rows, -1)
    sums = sums / sums[:, -1:]
    drawn = rng.uniform(len(rows) * count, _DOUBLE).reshape(len(rows), count)
    indices = [np.searchsorted(s, d) for s, d in zip(sums, drawn, strict=True)]
    return np.minimum(np.stack(indices), rows.shape[-1] - 1).reshape(*weights.shape[:-1], count)


def exponential(rng: Generator, count: int) -> np.ndarray:
    """Return exponential numbers with mean 1."""
    return -np.log1p(-rng.uniform(count, _DOUBLE))


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


@functools.partial(guarded, label="UniformBackward0")
def _zero_of(old: K.Input, raw: Any) -> Native:
    return _constant(raw, old)


@direct("Tensor.uniform_")
def uniform_(
    self: K.Given, from_: K.Number = 0.0, to: K.Number = 1, *, generator: Rng = None
) -> Tensor:
    """Fill a tensor with numbers that are uniform between two bounds."""
    kind = self._raw.dtype
    if backends.kind_of(kind) != "f":
        raise _not_for("uniform_", kind)
    if from_ > to:
        raise RuntimeError(f"uniform_: from={from_} and to={to}; the second must not be smaller")

    def values(count: int) -> np.ndarray:
        drawn = generator.uniform(count, kind)
        first, last = kind.type(from_), kind.type(to)  # PyTorch rounds them first, the sum once
        return _below(drawn * float(last - first) + float(first), from_, to, kind)

    return _written(self, values)


@direct("Tensor.normal_")
def normal_(
    self: K.Given, mean: K.Number = 0.0, std: K.Number = 1.0, *, generator: Rng = None
) -> Tensor:
    """Fill a tensor with normal numbers."""
    _check_std(std)
    raw = self._raw
    in_a_row = type(raw) is Batched or raw.flags.c_contiguous
    return _written(self, lambda count: _normal(generator, count, raw.dtype, in_a_row) * std + mean)


@direct("Tensor.bernoulli_")
def bernoulli_(self: K.Given, p: Any = 0.5, *, generator: Rng = None) -> Tensor:
    """Fill a tensor with ones of given chances, and zeros otherwise."""
    if not isinstance(p, Tensor):
        return _written(self, lambda count: happens(generator, float(p), count))
    if levels.get():
        raise NotImplementedError(
            "bernoulli_ inside of vmap takes a number; write torch.bernoulli(p)"
        )
    shape = self._raw.shape
    chances = np.broadcast_to(p._raw, shape)
    return _written(self, lambda count: _trials(generator, chances, shape).ravel())


@direct("Tensor.exponential_")
def exponential_(self: K.Given, lambd: K.Number = 1, *, generator: Rng = None) -> Tensor:
    """Fill a tensor with exponential numbers."""
    if backends.kind_of(self._raw.dtype) != "f" or lambd <= 0:
        raise misfit(
            "exponential_", "a positive lambd, and x.float()", lambd=lambd, dtype=self.dtype
        )
    return _written(self, lambda count: exponential(generator, count) / lambd)


@direct("Tensor.random_")
def random_(
    self: K.Given, from_: K.Int | None = None, to: K.Int | None = None, *, generator: Rng = None
) -> Tensor:
    """Fill a tensor with whole numbers between two bounds, or with all that its dtype has."""
    kind = self._raw.dtype
    low, high = (0, from_) if to is None else (from_ or 0, to)
    if high is not None:
        draw = _integers(low, high)
        return _written(self, lambda count: draw(generator, count, kind, True))
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "bool": 0}.get(kind.name)
    most = int(np.iinfo(kind).max) if digits is None else 2**digits

    def whole(count: int) -> np.ndarray:
        drawn = generator.pairs(count) if kind.itemsize == 8 else generator.words(count)
        return drawn % np.uint64(most + 1)

    return _written(self, whole)
