"""torch.nn.utils.rnn: sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.dialects.torch.kinds import Input
from wengert.dialects.torch.table import NAMES, guarded, put
from wengert.dialects.torch.tensors import Tensor, ns
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import indexing

_PLACE = "nn.utils.rnn."


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:  # fmt: skip
    """Return sequences of different lengths in one tensor, with a number where they are over."""
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"padding_side is {padding_side!r}; give 'right' or 'left'")
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"got a {type(sequences).__name__}; give a list of tensors")
    several = list(sequences)
    if not several:
        raise RuntimeError("pad_sequence: got no sequences; give one at least")
    longest = max(len(s) for s in several)
    padded = []
    for sequence in several:
        lacks = longest - len(sequence)
        borders = [0, 0] * (sequence.ndim - 1)
        borders += [0, lacks] if padding_side == "right" else [lacks, 0]
        padded.append(NAMES["nn.functional.pad"](sequence, borders, "constant", padding_value))
    return NAMES["stack"](padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences of one tensor, by their lengths."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counts: Sequence[int] = lengths.tolist()
    return [row[:count] for row, count in zip(rows, counts, strict=True)]


# -- packed ----------------------------------------------------------------------------------------


class _Packed(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Packed):
    """Sequences without padding: the rows of one step lie together, the longest sequence first.

    `batch_sizes` says how many rows each step has. The sequence at place k was given as number
    `sorted_indices[k]`; both kinds of indices are None where the order was not changed.
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> PackedSequence:  # fmt: skip
        """Return packed sequences, from the parts or from a pair of the first two."""
        if batch_sizes is None:
            if not isinstance(data, (tuple, list)) or len(data) != 2:
                raise AssertionError("PackedSequence: give data and batch_sizes, or a pair of them")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the same sequences with data of another dtype."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequences as they are: the CPU is the one device."""
        return self.to("cpu", *args, **kwargs)


def invert_permutation(permutation: Any) -> Any:
    """Return the permutation that undoes another one; None for None."""
    return None if permutation is None else NAMES["argsort"](permutation)


def _places(sizes: Any, time: int, batch_first: bool) -> np.ndarray:
    """Return where packed rows are, counted in the rows of a padded tensor."""
    steps = np.repeat(np.arange(len(sizes)), sizes)
    items = np.concatenate([np.arange(size) for size in sizes])
    return items * time + steps if batch_first else steps * sizes[0] + items


def _taken(input: Input, places: Any) -> Native:
    rows = ns.reshape(input, (input.shape[0] * input.shape[1], *input.shape[2:]))
    return indexing.index(rows, key=(places,))


def _spread(input: Input, places: Any, shape: Any, padding: Any) -> Native:
    rows = (shape[0] * shape[1], *shape[2:])
    padded = indexing.scatter(input, shape=rows, key=(places,))
    if padding:
        fill = np.full(rows, padding, input._raw.dtype)
        fill[places] = 0
        padded = padded + wrap_native(fill)
    return ns.reshape(padded, shape)


_pack = guarded(_taken, "PackPaddedSequenceBackward0")
_pad = guarded(_spread, "TransposeBackward0")


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Return the sequences of a padded tensor, packed; without `enforce_sorted` in any order."""
    if not isinstance(lengths, Tensor):
        lengths = NAMES["as_tensor"](lengths, dtype=NAMES["int64"])
    order = None
    if not enforce_sorted:
        lengths, order = NAMES["sort"](lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    counts = lengths.numpy().astype(np.int64)
    batch, time = input.shape[:2] if batch_first else (input.shape[1], input.shape[0])
    if not input.numel():
        raise RuntimeError("pack_padded_sequence: there are no numbers to pack")
    if counts.shape != (batch,):
        raise RuntimeError(f"pack_padded_sequence: {counts.size} lengths for {batch} sequences")
    if counts.min() < 1 or counts.max() > time:
        raise RuntimeError(f"pack_padded_sequence: lengths {counts}; give numbers from 1 to {time}")
    if (counts[1:] > counts[:-1]).any():
        raise RuntimeError(
            f"pack_padded_sequence: lengths {counts} do not decrease; write enforce_sorted=False, "
            "or sort the sequences"
        )
    sizes = (counts[:, None] > np.arange(counts[0])).sum(axis=0)
    data = _pack(input, _places(sizes, time, batch_first))
    return PackedSequence(data, NAMES["from_numpy"](sizes), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Return packed sequences as one padded tensor, and their lengths."""
    sizes = sequence.batch_sizes.numpy()
    time = len(sizes) if total_length is None else total_length
    if time < len(sizes):
        raise ValueError(f"total_length is {time}, and the longest sequence has {len(sizes)}")
    first = (int(sizes[0]), time) if batch_first else (time, int(sizes[0]))
    shape = (*first, *sequence.data.shape[1:])
    padded = _pad(sequence.data, _places(sizes, time, batch_first), shape, padding_value)
    lengths = NAMES["from_numpy"]((sizes > np.arange(sizes[0])[:, None]).sum(axis=1))
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Return a list of sequences, packed; without `enforce_sorted` in any order."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """Return packed sequences as a list."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, True), batch_first=True)


for _function in (
    PackedSequence, invert_permutation, pad_sequence, unpad_sequence, pack_padded_sequence,
    pad_packed_sequence, pack_sequence, unpack_sequence,
):  # fmt: skip
    put((f"{_PLACE}{_function.__name__}",), _function)
