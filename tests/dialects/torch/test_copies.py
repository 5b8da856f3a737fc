"""Copies, repeats, flips, pads and diagonals: the same programs on PyTorch and on the dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare
from tests.dialects.torch.shape_programs import (
    checks_of,
)

pytestmark = pytest.mark.parity

#: Functions of (torch, x), with x of shape (2, 3, 4), or of the shape that is given.
FUNCTIONS: dict[str, Any] = {
    "ravel": lambda torch, x: x.ravel(),
    "ravel copy": lambda torch, x: torch.ravel(x.mT),
    "contiguous": lambda torch, x: x.transpose(0, 1).contiguous(),
    "contiguous same": lambda torch, x: x.contiguous(),
    "clone": lambda torch, x: x.clone(),
    "tile": lambda torch, x: x.tile(2),
    "tile many": lambda torch, x: torch.tile(x, (2, 1, 1, 2)),
    "repeat": lambda torch, x: x.repeat(2, 1, 1),
    "repeat more": lambda torch, x: x.repeat((2, 1, 1, 3)),
    "repeat_interleave": lambda torch, x: x.repeat_interleave(2),
    "repeat_interleave dim": lambda torch, x: torch.repeat_interleave(x, 3, dim=1),
    "repeat_interleave each": lambda torch, x: x.repeat_interleave(torch.tensor([2, 0, 1]), 1),
    "roll": lambda torch, x: x.roll(2),
    "roll dim": lambda torch, x: torch.roll(x, 1, 1),
    "roll dims": lambda torch, x: torch.roll(x, shifts=(1, -1), dims=(0, 2)),
    "flip": lambda torch, x: x.flip(0),
    "flip dims": lambda torch, x: torch.flip(x, [0, -1]),
    "flip many": lambda torch, x: x.flip(0, 1),
    "fliplr": lambda torch, x: x.fliplr(),
    "flipud": lambda torch, x: torch.flipud(x),
    "rot90": lambda torch, x: torch.rot90(x),
    "rot90 2": lambda torch, x: x.rot90(2, (0, 2)),
    "rot90 3": lambda torch, x: torch.rot90(x, 3, [1, 2]),
    "rot90 -1": lambda torch, x: torch.rot90(x, -1, [1, 2]),
    "tril": lambda torch, x: x.tril(),
    "tril above": lambda torch, x: torch.tril(x, 1),
    "triu": lambda torch, x: x.triu(),
    "triu below": lambda torch, x: torch.triu(x, diagonal=-1),
    "diag": (lambda torch, x: x.diag(), (3,)),
    "diag offset": (lambda torch, x: torch.diag(x, -1), (3,)),
    "diag matrix": (lambda torch, x: torch.diag(x, 1), (3, 4)),
    "diagflat": lambda torch, x: torch.diagflat(x[0], 1),
    "diag_embed": lambda torch, x: x.diag_embed(),
    "diag_embed dims": lambda torch, x: torch.diag_embed(x, 1, 0, 2),
    "diag_embed below": lambda torch, x: torch.diag_embed(x, offset=-1, dim1=0, dim2=-1),
    "vander": (lambda torch, x: torch.vander(x), (4,)),
    "vander increasing": (lambda torch, x: torch.vander(x, 3, increasing=True), (4,)),
}
#: Composites whose last step, and so the name of their node, is another than PyTorch's.
LABELS_DIFFER = {
    "contiguous same",
    "diag matrix",
    "repeat_interleave",
    "repeat_interleave dim",
    "vander increasing",
}

test_function, test_dtypes, test_second_sweep = checks_of(FUNCTIONS, LABELS_DIFFER)


def _indices(torch: Any) -> Any:
    return (
        torch.tril_indices(3, 4),
        torch.triu_indices(3, 4, 1),
        torch.tril_indices(2, 2, offset=-1, dtype=torch.int32),
        torch.repeat_interleave(torch.tensor([1, 0, 2])),
    )


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "indices": _indices,
    "repeat none": lambda torch: torch.ones(3).repeat(0, 2),
    "0-d flip": lambda torch: torch.tensor(1.0).flip(0),
    "tril ints": lambda torch: torch.arange(9).reshape(3, 3).tril(),
    "tril_": lambda torch: torch.arange(9.0).reshape(3, 3).tril_(1),
    "triu_": lambda torch: torch.arange(9.0).reshape(3, 3).triu_(),
    "in order": lambda torch: [
        torch.cat([x, x], 1).view(-1)
        if (x := torch.arange(6.0).reshape(3, 2).t()) is not None
        else 0,
        torch.stack([x, x]).view(-1),
        torch.hstack([x, x]).view(-1),
        x.roll(1, 0).view(-1),
        x.index_select(1, torch.tensor([0, 2])).view(-1),
        x[:, torch.tensor([0, 2])].view(-1),
        x.gather(1, torch.tensor([[0], [2]])).view(-1),
        x.repeat(2, 1).view(-1),
        x.expand(2, 2, 3).clone().view(-1),
        (x.expand(2, 2, 3) > 1).clone().view(-1),
    ],
}
BAD: dict[str, Callable[[Any], Any]] = {
    "repeat": lambda torch: torch.ones(2, 3).repeat(2),
    "repeat negative": lambda torch: torch.ones(2).repeat(-1),
    "repeat_interleave": lambda torch: torch.ones(3).repeat_interleave(torch.tensor([1, 2])),
    "repeat_interleave floats": lambda torch: torch.ones(3).repeat_interleave(torch.ones(3)),
    "roll": lambda torch: torch.ones(3).roll((1, 2), 0),
    "flip twice": lambda torch: torch.ones(3).flip(0, 0),
    "flip range": lambda torch: torch.ones(3).flip(1),
    "fliplr": lambda torch: torch.ones(3).fliplr(),
    "rot90": lambda torch: torch.rot90(torch.ones(3)),
    "rot90 dims": lambda torch: torch.rot90(torch.ones(3, 3), 1, [0]),
    "tril": lambda torch: torch.ones(3).tril(),
    "diag": lambda torch: torch.ones(2, 2, 2).diag(),
    "vander": lambda torch: torch.vander(torch.ones(2, 2)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    compare(BAD[name])


@pytest.mark.parametrize("turned", [False, True])
def test_reversed_elements_lie_in_memory_as_they_did(turned: bool) -> None:
    def program(torch: Any) -> Any:
        x = torch.arange(24.0).reshape(2, 3, 4)
        x = x.transpose(0, 2) if turned else x
        found = [x.flip(0), x.flip(0, 1), x.fliplr(), x.flipud(), x[:, ::2].flip(1)]
        found += [x.rot90(k, (0, 1)) for k in range(4)]
        return [y.stride() for y in found], [y.is_contiguous() for y in found]

    compare(program)
