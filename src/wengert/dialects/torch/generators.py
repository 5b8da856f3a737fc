"""PyTorch's generator of random numbers on a CPU: its seeds, its states and its bits.

PyTorch draws from a Mersenne twister, which NumPy has as well: 32 bits at a time, or 64 of two
draws.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from wengert.backends import is_narrow
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.torch.devices import CPU
from wengert.dialects.torch.table import plain, put
from wengert.dialects.torch.tensors import Tensor, made

#: The seed of a generator that was not given any.
_FIRST_SEED = 67280421310721
#: Sizes from which normal numbers are made in blocks.
_BLOCK = 16
#: A state, as PyTorch lays it out: `left` draws until new words are made, `next` the next of them.
_STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "spare", "has_spare"],
        "formats": ["u8", "i4", "i4", "u8", "624u8", "f8", "i4"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040],
        "itemsize": 5056,
    }
)
_WORDS = 624
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
        """Return the state as a tensor of bytes, which are PyTorch's."""
        held, state = np.zeros(1, _STATE), self._source().state["state"]
        key, at = state["key"], state["pos"]
        is_new = at == _WORDS and key[0] == self._seed % 2**32
        spare = (0.0, 0) if self._spare is None else (self._spare, 1)
        held[0] = self._seed, _WORDS + 1 - at, 1, 0 if is_new else at, key, *spare
        return made(held.view(np.uint8))

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that `get_state` returned."""
        raw = new_state._raw
        if raw.dtype != np.uint8:
            raise TypeError(f"the state is {new_state.dtype}; give that of get_rng_state()")
        if raw.size != _STATE.itemsize:
            raise RuntimeError(
                f"the state has {raw.size} bytes; give {_STATE.itemsize}, as of get_rng_state()"
            )
        (held,) = np.ascontiguousarray(raw).view(_STATE)
        left, at = int(held["left"]), int(held["next"])
        if not (1 <= left <= _WORDS and at <= _WORDS and (left == 1 or left + at == _WORDS + 1)):
            raise RuntimeError("these bytes are no state; give those of get_rng_state()")
        self._seed = int(held["seed"])
        self._spare = float(held["spare"]) if held["has_spare"] else None
        state = {"key": held["key"].astype(np.uint32), "pos": _WORDS if left == 1 else at}
        self._source().state = {"bit_generator": "MT19937", "state": state}

    def __reduce__(self) -> Any:
        return _in_state, (self.get_state(),)

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
        drawn = self.uniform(whole if is_narrow(kind) else count, wide(kind))
        found = np.empty(count)
        found[:whole] = _in_blocks(drawn[:whole])
        if count > whole:  # the last block is drawn anew and reaches back into the one before
            found[count - _BLOCK :] = _in_blocks(self.uniform(_BLOCK, wide(kind)))
        return found

    def _singly(self, count: int) -> np.ndarray:
        """Return normal numbers made two at a time; a second one is spared for the next call."""
        found = [] if self._spare is None else [self._spare]
        pairs = max(0, count - len(found) + 1) // 2
        drawn = self.uniform(2 * pairs, _DOUBLE).reshape(pairs, 2)
        every = np.concatenate([found, _turned(drawn[:, 1], drawn[:, 0]).ravel()])
        self._spare = float(every[count]) if every.size > count else None
        return every[:count]


def _in_state(state: Tensor) -> Generator:
    generator = Generator()
    generator.set_state(state)
    return generator


def wide(kind: np.dtype) -> np.dtype:
    """Return the dtype that numbers are drawn in."""
    return np.dtype(np.float64 if kind in (np.float64, np.complex128) else np.float32)


def _turned(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return pairs of normal numbers from uniform ones, by Box and Muller, on a new axis 1."""
    radius, angle = np.sqrt(-2 * np.log1p(-one)), 2 * np.pi * other
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)


def _in_blocks(drawn: np.ndarray) -> np.ndarray:
    """Return normal numbers from uniform ones, in blocks of two halves."""
    blocks = drawn.reshape(-1, 2, _BLOCK // 2)
    return _turned(blocks[:, 0], blocks[:, 1]).reshape(-1)


default_generator = Generator()
default_generator.seed()
put(("Generator",), Generator)
put(("default_generator", "random.default_generator"), default_generator)


def _read_generator(value: Any, at: Argument, x: Any = None) -> Generator:
    if value is None:
        return default_generator
    if not isinstance(value, Generator):
        raise TypeError(f"{at} is a {type(value).__name__}; write torch.Generator()")
    return value


#: A generator; the default one for None.
Rng = Annotated[Any, Kind(_read_generator)]


# -- seeds and states ------------------------------------------------------------------------------


for _name, _method in {
    "manual_seed": default_generator.manual_seed,
    "seed": default_generator.seed,
    "initial_seed": default_generator.initial_seed,
    "get_rng_state": default_generator.get_state,
    "set_rng_state": default_generator.set_state,
}.items():
    put((_name, f"random.{_name}"), _method)


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
