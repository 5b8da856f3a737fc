"""torch.nn.utils.rnn: sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wengert.dialects.torch.nn.layers.calls import F
from wengert.dialects.torch.table import NAMES, put


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
        padded.append(F.pad(sequence, borders, "constant", padding_value))
    return NAMES["stack"](padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences of one tensor, by their lengths."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counts: Sequence[int] = lengths.tolist()
    return [row[:count] for row, count in zip(rows, counts, strict=True)]


put(("nn.utils.rnn.pad_sequence",), pad_sequence)
put(("nn.utils.rnn.unpad_sequence",), unpad_sequence)
