"""Joins, splits and broadcasting: the same programs on PyTorch and on the dialect."""

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
    "unbind": lambda torch, x: x.unbind(),
    "unbind last": lambda torch, x: torch.unbind(x, -1),
    "split": lambda torch, x: x.split(2, 1),
    "split sizes": lambda torch, x: torch.split(x, [1, 3], dim=2),
    "split_with_sizes": lambda torch, x: x.split_with_sizes([2, 1], 1),
    "chunk": lambda torch, x: x.chunk(3, -1),
    "chunk many": lambda torch, x: torch.chunk(x, 9, 2),
    "tensor_split": lambda torch, x: x.tensor_split(3, dim=2),
    "tensor_split places": lambda torch, x: torch.tensor_split(x, (1, 3), 2),
    "tensor_split tensor": lambda torch, x: torch.tensor_split(x, torch.tensor([1, 2]), 1),
    "tensor_split around": lambda torch, x: torch.tensor_split(x, (-1, 9), 2),
    "hsplit": lambda torch, x: x.hsplit(3),
    "hsplit places": lambda torch, x: torch.hsplit(x, [1]),
    "hsplit vector": (lambda torch, x: torch.hsplit(x, 2), (4,)),
    "vsplit": lambda torch, x: x.vsplit(2),
    "dsplit": lambda torch, x: x.dsplit([1, 3]),
    "cat": lambda torch, x: torch.cat([x, x * 2]),
    "cat dim": lambda torch, x: torch.cat((x, x[:, :1], x * x), dim=1),
    "cat negative": lambda torch, x: torch.cat([x, x], -1),
    "cat empty": (lambda torch, x: torch.cat([torch.zeros(0), x]), (3,)),
    "cat promoted": lambda torch, x: torch.cat([x, torch.ones(1, 3, 4, dtype=torch.int64)]),
    "concat": lambda torch, x: torch.concat([x, x], 2),
    "concatenate": lambda torch, x: torch.concatenate([x, x], 0),
    "stack": lambda torch, x: torch.stack([x, x * 2]),
    "stack last": lambda torch, x: torch.stack((x, x * 2), dim=-1),
    "hstack": lambda torch, x: torch.hstack([x, x * 2]),
    "hstack vectors": (lambda torch, x: torch.hstack((x, x)), (3,)),
    "vstack": (lambda torch, x: torch.vstack([x, x * 2]), (3,)),
    "row_stack": (lambda torch, x: torch.row_stack([x, x * 2]), (2, 3)),
    "dstack": (lambda torch, x: torch.dstack([x, x * 2]), (2, 3)),
    "dstack vectors": (lambda torch, x: torch.dstack([x, x * 2]), (3,)),
    "column_stack": (lambda torch, x: torch.column_stack([x, x * 2]), (3,)),
    "column_stack mixed": (lambda torch, x: torch.column_stack([x, x[:, 0]]), (3, 2)),
    "block_diag": (lambda torch, x: torch.block_diag(x, x[0], x[0, 0]), (2, 3)),
    "cartesian_prod": (lambda torch, x: torch.cartesian_prod(x, x[:2] * 2), (3,)),
    "cartesian_prod one": (lambda torch, x: torch.cartesian_prod(x), (3,)),
    "combinations": (lambda torch, x: torch.combinations(x), (4,)),
    "combinations 3": (lambda torch, x: torch.combinations(x, r=3), (4,)),
    "combinations repeated": (
        lambda torch, x: torch.combinations(x, 2, with_replacement=True),
        (3,),
    ),
    "meshgrid": (lambda torch, x: torch.meshgrid(x, x[:2] * 2, indexing="ij"), (3,)),
    "meshgrid xy": (lambda torch, x: torch.meshgrid(x, x[:2] * 2, indexing="xy"), (3,)),
    "meshgrid xy three": (
        lambda torch, x: torch.meshgrid(x, x[:2] * 2, x * x, indexing="xy"),
        (3,),
    ),
    "meshgrid list": (lambda torch, x: torch.meshgrid([x, x * 2], indexing="ij"), (3,)),
    "broadcast_tensors": lambda torch, x: torch.broadcast_tensors(x, x[:, :1], x[0, 0]),
    "atleast_1d": (lambda torch, x: torch.atleast_1d(x), ()),
    "atleast_2d": (lambda torch, x: torch.atleast_2d(x), (3,)),
    "atleast_3d": (lambda torch, x: torch.atleast_3d(x), (3, 2)),
    "atleast_3d vector": (lambda torch, x: torch.atleast_3d(x), (3,)),
    "atleast several": (lambda torch, x: torch.atleast_2d(x, x * 2), (3,)),
}
#: Composites whose last step, and so the name of their node, is another than PyTorch's.
LABELS_DIFFER = {"cartesian_prod one", "meshgrid xy", "meshgrid xy three"}

test_function, test_dtypes, test_second_sweep = checks_of(FUNCTIONS, LABELS_DIFFER)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "empty split": lambda torch: torch.zeros(0, 3).split(2),
    "empty chunk": lambda torch: torch.zeros(0, 3).chunk(2),
    "empty cat": lambda torch: torch.cat([torch.zeros(0), torch.zeros(0)]),
    "cat dtypes": lambda torch: torch.cat([torch.ones(2), torch.ones(1, dtype=torch.float64)]),
    "stack dtypes": lambda torch: torch.stack([torch.ones(2), torch.tensor([1, 2])]),
    "cat out": lambda torch: torch.cat([torch.ones(2), torch.ones(1)], out=torch.empty(3)),
    "block_diag none": lambda torch: torch.block_diag(),
    "combinations of 0": lambda torch: torch.combinations(torch.arange(3), 0),
    "broadcast_shapes": lambda torch: torch.broadcast_shapes((2, 1), (3,), 1),
}
BAD: dict[str, Callable[[Any], Any]] = {
    "unbind": lambda torch: torch.tensor(1.0).unbind(),
    "split": lambda torch: torch.ones(3).split(-1),
    "split 0": lambda torch: torch.ones(3).split(0),
    "split sizes": lambda torch: torch.ones(3).split([1, 1]),
    "chunk": lambda torch: torch.ones(3).chunk(0),
    "tensor_split": lambda torch: torch.ones(3).tensor_split(0),
    "hsplit": lambda torch: torch.ones(3).hsplit(2),
    "vsplit": lambda torch: torch.ones(3).vsplit(3),
    "cat nothing": lambda torch: torch.cat([]),
    "cat 0-d": lambda torch: torch.cat([torch.tensor(1.0)]),
    "cat shapes": lambda torch: torch.cat([torch.ones(2, 3), torch.ones(2, 4)]),
    "cat ndim": lambda torch: torch.cat([torch.ones(2, 3), torch.ones(2)]),
    "cat range": lambda torch: torch.cat([torch.ones(2)], 1),
    "cat number": lambda torch: torch.cat([torch.ones(2), 1.0]),
    "cat tensor": lambda torch: torch.cat(3.0),
    "stack": lambda torch: torch.stack([torch.ones(2), torch.ones(3)]),
    "stack nothing": lambda torch: torch.stack([]),
    "meshgrid": lambda torch: torch.meshgrid(torch.ones(2, 2), indexing="ij"),
    "meshgrid dtypes": lambda torch: torch.meshgrid(torch.ones(2), torch.arange(2), indexing="ij"),
    "meshgrid order": lambda torch: torch.meshgrid(torch.ones(2), indexing="ab"),
    "broadcast_tensors": lambda torch: torch.broadcast_tensors(torch.ones(2), torch.ones(3)),
    "cartesian_prod": lambda torch: torch.cartesian_prod(torch.ones(2, 2)),
    "broadcast_shapes": lambda torch: torch.broadcast_shapes((2,), (3,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    compare(BAD[name])
