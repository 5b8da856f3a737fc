"""Views, joins, splits and repeats: the same programs on PyTorch and on Wengert's dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert.torch as torch
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def _data(torch: Any, shape: Any = (2, 3, 4), dtype: Any = None) -> Any:
    count = int(np.prod(shape))
    values = torch.tensor([((7 * k) % 11 - 5.3) / 3 for k in range(count)], dtype=torch.float64)
    made = values.reshape(shape)
    if dtype is not None and dtype.is_complex:
        return torch.complex(made, made.flip(0) * 0.7).to(dtype)
    return made if dtype is None else made.to(dtype)


def _differentiated(torch: Any, function: Callable[[Any, Any], Any], shape: Any) -> Any:
    """Return results of a function of a tensor, its first and second derivatives."""
    x = _data(torch, shape).requires_grad_()
    found = function(torch, x)
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    turned = function(torch, torch.zeros(shape[::-1]).permute(*reversed(range(len(shape)))))
    turned = list(turned) if isinstance(turned, (tuple, list)) else [turned]
    in_order = [r.is_contiguous() for r in [*results, *turned]]
    if not any(r.requires_grad for r in results):
        return found
    weights = [torch.cos(torch.arange(1.0, r.numel() + 1).reshape(r.shape)) for r in results]
    total = sum((w.to(r.dtype) * r * r).sum() for w, r in zip(weights, results, strict=True))
    (first,) = torch.autograd.grad(total, x, create_graph=True)
    again = (first * first * 0.3).sum()
    second = torch.autograd.grad(again, x)[0] if again.requires_grad else None
    total.backward(retain_graph=True)
    return found, first, second, x.grad, in_order, [_name(r) for r in results]


def _name(result: Any) -> str | None:
    if result.grad_fn is None:
        return None
    return str(result.grad_fn.name()).rpartition(":")[2]


#: Functions of (torch, x), with x of shape (2, 3, 4), or of the shape that is given.
FUNCTIONS: dict[str, Any] = {
    "view": lambda torch, x: x.view(6, 4),
    "view -1": lambda torch, x: x.view(-1, 4),
    "view tuple": lambda torch, x: x.view((4, 6)),
    "view size": lambda torch, x: x.view(torch.Size([3, 8])),
    "view same": lambda torch, x: x.view(2, 3, 4),
    "view flat": lambda torch, x: x.view(-1),
    "view_as": lambda torch, x: x.view_as(torch.zeros(8, 3)),
    "reshape": lambda torch, x: x.reshape(3, 8),
    "reshape function": lambda torch, x: torch.reshape(x, (3, -1)),
    "reshape keyword": lambda torch, x: torch.reshape(input=x, shape=(3, -1)),
    "reshape copy": lambda torch, x: x.transpose(0, 1).reshape(6, 4),
    "reshape_as": lambda torch, x: x.reshape_as(torch.zeros(8, 3)),
    "flatten": lambda torch, x: x.flatten(),
    "flatten from": lambda torch, x: x.flatten(1),
    "flatten range": lambda torch, x: torch.flatten(x, 0, 1),
    "flatten keywords": lambda torch, x: x.flatten(start_dim=-2, end_dim=-1),
    "flatten none": lambda torch, x: x.flatten(1, 1),
    "unflatten": lambda torch, x: x.unflatten(-1, (2, 2)),
    "unflatten -1": lambda torch, x: torch.unflatten(x, 2, (2, -1)),
    "ravel": lambda torch, x: x.ravel(),
    "ravel copy": lambda torch, x: torch.ravel(x.mT),
    "squeeze": (lambda torch, x: x.squeeze(), (1, 3, 1)),
    "squeeze dim": (lambda torch, x: torch.squeeze(x, 0), (1, 3, 1)),
    "squeeze other": (lambda torch, x: x.squeeze(1), (1, 3, 1)),
    "squeeze negative": (lambda torch, x: x.squeeze(-1), (1, 3, 1)),
    "squeeze dims": (lambda torch, x: x.squeeze((0, 2)), (1, 3, 1)),
    "unsqueeze": lambda torch, x: x.unsqueeze(1),
    "unsqueeze last": lambda torch, x: torch.unsqueeze(x, -1),
    "transpose": lambda torch, x: x.transpose(0, 2),
    "transpose negative": lambda torch, x: torch.transpose(x, -1, 0),
    "transpose same": lambda torch, x: x.transpose(1, 1),
    "swapaxes": lambda torch, x: x.swapaxes(0, 1),
    "swapdims": lambda torch, x: torch.swapdims(x, 0, 1),
    "t": (lambda torch, x: x.t(), (3, 4)),
    "t vector": (lambda torch, x: torch.t(x), (3,)),
    "T": (lambda torch, x: x.T, (3, 4)),
    "mT": lambda torch, x: x.mT,
    "H": (lambda torch, x: x.H, (3, 4)),
    "mH": lambda torch, x: x.mH,
    "adjoint": lambda torch, x: torch.adjoint(x),
    "permute": lambda torch, x: x.permute(2, 0, 1),
    "permute tuple": lambda torch, x: torch.permute(x, (1, 0, 2)),
    "permute negative": lambda torch, x: x.permute(-1, 0, -2),
    "permute keyword": lambda torch, x: x.permute(dims=(2, 1, 0)),
    "movedim": lambda torch, x: x.movedim(0, 2),
    "movedim many": lambda torch, x: torch.movedim(x, (0, 1), (2, 0)),
    "moveaxis": lambda torch, x: torch.moveaxis(x, -1, 0),
    "expand": (lambda torch, x: x.expand(2, 3, 4), (3, 1)),
    "expand -1": (lambda torch, x: x.expand(-1, 4), (3, 1)),
    "expand same": lambda torch, x: x.expand(2, 3, 4),
    "expand_as": (lambda torch, x: x.expand_as(torch.zeros(2, 3, 4)), (4,)),
    "broadcast_to": (lambda torch, x: torch.broadcast_to(x, (2, 4)), (4,)),
    "narrow": lambda torch, x: x.narrow(1, 1, 2),
    "narrow negative": lambda torch, x: torch.narrow(x, -1, -3, 2),
    "narrow_copy": lambda torch, x: x.narrow_copy(0, 0, 1),
    "select": lambda torch, x: x.select(1, 2),
    "select negative": lambda torch, x: torch.select(x, -1, -2),
    "diagonal": (lambda torch, x: x.diagonal(), (3, 4)),
    "diagonal offset": (lambda torch, x: torch.diagonal(x, 1), (3, 4)),
    "diagonal below": (lambda torch, x: torch.diagonal(x, offset=-1), (3, 4)),
    "diagonal far": (lambda torch, x: x.diagonal(9), (3, 4)),
    "diagonal dims": lambda torch, x: x.diagonal(0, 1, 2),
    "diagonal keywords": lambda torch, x: torch.diagonal(x, offset=1, dim1=-1, dim2=0),
    "unfold": lambda torch, x: x.unfold(2, 2, 1),
    "unfold steps": lambda torch, x: x.unfold(-1, 3, 2),
    "unfold first": lambda torch, x: x.unfold(0, 2, 1),
    "as_strided": lambda torch, x: x.as_strided((3, 2), (2, 1)),
    "as_strided offset": lambda torch, x: torch.as_strided(x, (2, 2), (1, 3), 4),
    "as_strided transposed": lambda torch, x: x.transpose(0, 2).as_strided((4,), (2,)),
    "as_strided part": lambda torch, x: x[1].as_strided((2, 2), (4, 2)),
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
    "contiguous": lambda torch, x: x.transpose(0, 1).contiguous(),
    "contiguous same": lambda torch, x: x.contiguous(),
    "clone": lambda torch, x: x.clone(),
    "slice_scatter": lambda torch, x: x.slice_scatter(x[:, 1:] * 2, 1, 0, 2),
    "slice_scatter steps": lambda torch, x: torch.slice_scatter(
        x, torch.ones(2, 3, 2, dtype=torch.float64), 2, 0, 4, 2
    ),
    "select_scatter": lambda torch, x: (
        x.select_scatter(x[0, 0] * x[1, 1], 1, 0)
        if x.shape[0] == 1
        else torch.select_scatter(x, x[1] * 3, 0, 0)
    ),
    "diagonal_scatter": (
        lambda torch, x: x.diagonal_scatter(x[:, 0] * 2, 1),
        (3, 4),
    ),
    "as_strided_scatter": (
        lambda torch, x: torch.as_strided_scatter(x, x[0, :2] * 2, (2,), (3,), 1),
        (3, 4),
    ),
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
    "constant_pad_nd": lambda torch, x: torch.constant_pad_nd(x, (1, 2), 0.5),
    "constant_pad_nd two": lambda torch, x: torch.constant_pad_nd(x, (1, 0, 0, 2)),
    "constant_pad_nd less": lambda torch, x: torch.constant_pad_nd(x, (-1, 1, 1, -1), 2.0),
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
    "views of views": lambda torch, x: x.permute(1, 0, 2)[1:].reshape(2, -1)[:, ::3].t().diagonal(),
    "real of real": lambda torch, x: torch.real(x * 2),
}


def _case(name: str) -> tuple[Any, Any]:
    given = FUNCTIONS[name]
    return given if isinstance(given, tuple) else (given, (2, 3, 4))


#: Composites whose last step, and so the name of their entry, is another than PyTorch's.
LABELS_DIFFER = {
    "repeat_interleave", "repeat_interleave dim", "contiguous same", "flatten none", "meshgrid xy",
    "meshgrid xy three", "diag matrix", "vander increasing", "cartesian_prod one",
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    function, shape = _case(name)

    def program(torch: Any) -> Any:
        found = _differentiated(torch, function, shape)
        return found[:5] if name in LABELS_DIFFER and isinstance(found, tuple) else found

    compare(program)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["int64", "bool", "complex64", "float32"])
def test_dtypes(name: str, kind: str) -> None:
    function, shape = _case(name)
    if name == "views of views" or (kind == "bool" and "scatter" in name):
        pytest.skip("multiplies truth values, or is no function of one dtype")
    compare(lambda torch: function(torch, _data(torch, shape, getattr(torch, kind))))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_sweep(name: str) -> None:
    function, shape = _case(name)

    def program(torch: Any) -> Any:
        x = _data(torch, shape).requires_grad_()
        found = function(torch, x)
        found = found[0] if isinstance(found, (tuple, list)) else found
        y = found.sum()
        y.backward()
        y.backward()
        return x.grad

    if "*" in name or any(word in name for word in ("scatter", "cat", "repeat_interleave")):
        pytest.skip("what a composite keeps is its own affair")
    compare(program)


def _written(view: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Return a program that writes to a view of a computed tensor."""

    def program(torch: Any) -> Any:
        w = _data(torch, (3, 4)).requires_grad_()
        x = w * 2
        part = view(torch, x)
        part.mul_(3.0).add_(w[0, 0])
        loss = (x * x).sum() + (part * 1.5).sum()
        (first,) = torch.autograd.grad(loss, w, create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), w)
        return x, part, first, second, x._version, part._version

    return program


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "view": lambda torch, x: x.view(2, 6),
    "reshape": lambda torch, x: x.reshape(-1),
    "reshape copy": lambda torch, x: x.t().reshape(-1),
    "flatten": lambda torch, x: x.flatten(),
    "transpose": lambda torch, x: x.transpose(0, 1),
    "T": lambda torch, x: x.T,
    "permute": lambda torch, x: x.permute(1, 0),
    "unsqueeze": lambda torch, x: x.unsqueeze(1),
    "squeeze": lambda torch, x: x[:1].squeeze(),
    "diagonal": lambda torch, x: x.diagonal(1),
    "narrow": lambda torch, x: x.narrow(1, 1, 2),
    "select": lambda torch, x: x.select(1, 1),
    "unfold": lambda torch, x: x.unfold(1, 2, 2),
    "as_strided": lambda torch, x: x.as_strided((2, 2), (5, 2), 1),
    "key": lambda torch, x: x[1:, ::2],
    "key of transposed": lambda torch, x: x.t()[1:, 1],
    "element": lambda torch, x: x[1, 2],
    "views of views": lambda torch, x: x.t()[1:].unsqueeze(0)[..., 1:].diagonal(0, 1, 2),
    "expand": lambda torch, x: x[:1].expand(1, 4),
    "tensor_split": lambda torch, x: x.tensor_split(2)[1],
    "split": lambda torch, x: x.split(2)[1],
    "unbind": lambda torch, x: x.unbind()[1],
    "chunk": lambda torch, x: x.chunk(2, 1)[0],
    "view_as": lambda torch, x: x.view_as(x),
    "detach": lambda torch, x: x.detach(),
    "clone": lambda torch, x: x.clone(),
    "contiguous": lambda torch, x: x.contiguous(),
    "flip": lambda torch, x: x.flip(0),
    "expanded": lambda torch, x: x[:1].expand(3, 4),
    "mT": lambda torch, x: x.mT,
}


@pytest.mark.parametrize("name", VIEWS)
def test_writes_to_views(name: str) -> None:
    compare(_written(VIEWS[name]))


def _in_place(torch: Any) -> Any:
    w = _data(torch, (1, 3, 4)).requires_grad_()
    x = w * 2
    part = x[0, 1]
    x.squeeze_(0)
    x.t_()
    x.unsqueeze_(-1)
    x.transpose_(0, 1)
    x.mul_(w[0, 0, 0])
    part.add_(1)
    loss = (x * x).sum() + part.sum()
    loss.backward()
    return x, part, w.grad, x._version


def _complex_views(torch: Any) -> Any:
    z = _data(torch, (3,), torch.complex128).requires_grad_()
    y = z * (1 + 2j)
    y.real.mul_(2.0)
    y.imag.add_(y.real.detach())
    pairs = torch.view_as_real(y)
    pairs[0, 1] = 3.0
    loss = (pairs * pairs).sum() + y.abs().sum()
    loss.backward()
    return y, pairs, z.grad, torch.view_as_complex(pairs * 2)


def _complex_of_pairs(torch: Any) -> Any:
    x = _data(torch, (3, 2)).requires_grad_()
    y = x * 2
    z = torch.view_as_complex(y)
    z.mul_(1j)
    (first,) = torch.autograd.grad((y**3).sum() + z.real.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return y, z, first, second


def _parts_assigned(torch: Any) -> Any:
    z = _data(torch, (3,), torch.complex64)
    z.real = torch.arange(3.0)
    z.imag = 2.0
    return z, z.real, z.imag


def _conjugates(torch: Any) -> Any:
    z = _data(torch, (2, 3), torch.complex128).requires_grad_()
    found = z.H, z.mH, z.adjoint(), z.T
    sum((f * f).abs().sum() for f in found).backward()
    return found, z.grad


def _dtype_views(torch: Any) -> Any:
    x = torch.tensor([1.0, -2.0])
    bits = x.view(torch.int32)
    bits[0] = 0
    return x, bits, x.view(torch.uint8).shape, x.view(dtype=torch.float32) is x


def _indices(torch: Any) -> Any:
    return (
        torch.tril_indices(3, 4),
        torch.triu_indices(3, 4, 1),
        torch.tril_indices(2, 2, offset=-1, dtype=torch.int32),
        torch.repeat_interleave(torch.tensor([1, 0, 2])),
    )


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "shapes in place": _in_place,
    "complex views": _complex_views,
    "complex of pairs": _complex_of_pairs,
    "parts assigned": _parts_assigned,
    "conjugates": _conjugates,
    "dtype views": _dtype_views,
    "indices": _indices,
    "empty split": lambda torch: torch.zeros(0, 3).split(2),
    "empty chunk": lambda torch: torch.zeros(0, 3).chunk(2),
    "empty cat": lambda torch: torch.cat([torch.zeros(0), torch.zeros(0)]),
    "empty flatten": lambda torch: torch.zeros(2, 0).flatten(),
    "empty unfold": lambda torch: torch.arange(4.0).unfold(0, 4, 1),
    "repeat none": lambda torch: torch.ones(3).repeat(0, 2),
    "0-d flatten": lambda torch: torch.tensor(1.0).flatten(),
    "0-d reshape": lambda torch: torch.ones(1).reshape(()),
    "0-d transpose": lambda torch: torch.tensor(1.0).transpose(0, -1),
    "0-d flip": lambda torch: torch.tensor(1.0).flip(0),
    "0-d squeeze": lambda torch: torch.tensor(1.0).squeeze(0),
    "0-d unfold": lambda torch: torch.tensor(1.0).unfold(0, 1, 1),
    "0-d tensor sizes": lambda torch: torch.ones(6).view(torch.tensor(2), 3),
    "cat dtypes": lambda torch: torch.cat([torch.ones(2), torch.ones(1, dtype=torch.float64)]),
    "stack dtypes": lambda torch: torch.stack([torch.ones(2), torch.tensor([1, 2])]),
    "cat out": lambda torch: torch.cat([torch.ones(2), torch.ones(1)], out=torch.empty(3)),
    "tril ints": lambda torch: torch.arange(9).reshape(3, 3).tril(),
    "tril_": lambda torch: torch.arange(9.0).reshape(3, 3).tril_(1),
    "triu_": lambda torch: torch.arange(9.0).reshape(3, 3).triu_(),
    "T of three": lambda torch: torch.zeros(2, 3, 4).T.shape,
    "block_diag none": lambda torch: torch.block_diag(),
    "combinations of 0": lambda torch: torch.combinations(torch.arange(3), 0),
    "in order": lambda torch: [
        torch.cat([x, x], 1).view(-1)
        if (x := torch.arange(6.0).reshape(3, 2).t()) is not None
        else 0,
        torch.stack([x, x]).view(-1),
        torch.hstack([x, x]).view(-1),
        x.roll(1, 0).view(-1),
        torch.constant_pad_nd(x, (1, 1)).view(-1),
        x.index_select(1, torch.tensor([0, 2])).view(-1),
        x[:, torch.tensor([0, 2])].view(-1),
        x.gather(1, torch.tensor([[0], [2]])).view(-1),
        x.repeat(2, 1).view(-1),
        x.expand(2, 2, 3).clone().view(-1),
        (x.expand(2, 2, 3) > 1).clone().view(-1),
    ],
    "is same": lambda torch: [
        x.contiguous() is x if (x := torch.ones(2)) is not None else None,
        torch.atleast_1d(x) is x,
        x.flatten() is x,
        x.real is x,
    ],
    "shares": lambda torch: [
        x.view(-1).data_ptr() == x.data_ptr() if (x := torch.ones(2, 2)) is not None else None,
        x.reshape(4).data_ptr() == x.data_ptr(),
        x.t().reshape(4).data_ptr() == x.data_ptr(),
        x.expand(3, 2, 2).data_ptr() == x.data_ptr(),
        x[1:]._base is x,
        x[1:].t()._base is x,
        x.clone()._base is None,
    ],
}
BAD: dict[str, Callable[[Any], Any]] = {
    "view": lambda torch: torch.ones(6).view(4, 2),
    "view transposed": lambda torch: torch.ones(2, 3).t().view(6),
    "view two -1": lambda torch: torch.ones(6).view(-1, -1),
    "view -2": lambda torch: torch.ones(6).view(-2, 3),
    "view float": lambda torch: torch.ones(6).view(2.0, 3),
    "view nothing": lambda torch: torch.ones(6).view(),
    "view empty -1": lambda torch: torch.ones(0).view(-1, 0),
    "reshape": lambda torch: torch.ones(6).reshape(5),
    "reshape nothing": lambda torch: torch.reshape(torch.ones(6)),
    "reshape str": lambda torch: torch.ones(6).reshape("a"),
    "flatten order": lambda torch: torch.ones(2, 3).flatten(1, 0),
    "flatten range": lambda torch: torch.ones(2, 3).flatten(2),
    "unflatten": lambda torch: torch.ones(6).unflatten(0, (4, 2)),
    "squeeze range": lambda torch: torch.ones(6).squeeze(1),
    "unsqueeze range": lambda torch: torch.ones(6).unsqueeze(3),
    "unsqueeze nothing": lambda torch: torch.ones(6).unsqueeze(),
    "transpose range": lambda torch: torch.ones(2, 3).transpose(0, 2),
    "t": lambda torch: torch.ones(2, 3, 4).t(),
    "mT": lambda torch: torch.ones(2).mT,
    "H": lambda torch: torch.ones(2, 2, 2).H,
    "adjoint": lambda torch: torch.ones(2).adjoint(),
    "permute twice": lambda torch: torch.ones(2, 3).permute(0, 0),
    "permute few": lambda torch: torch.ones(2, 3).permute(0),
    "movedim": lambda torch: torch.ones(2, 3).movedim((0, 1), (0,)),
    "expand": lambda torch: torch.ones(2, 3).expand(2, 4),
    "expand few": lambda torch: torch.ones(2, 3).expand(3),
    "expand lead": lambda torch: torch.ones(2).expand(-1, 2),
    "narrow": lambda torch: torch.ones(3).narrow(0, 1, 3),
    "narrow start": lambda torch: torch.ones(3).narrow(0, 5, 1),
    "select": lambda torch: torch.ones(3).select(0, 3),
    "select 0-d": lambda torch: torch.tensor(1.0).select(0, 0),
    "diagonal": lambda torch: torch.ones(3).diagonal(),
    "diagonal same": lambda torch: torch.ones(3, 3).diagonal(0, 1, 1),
    "unfold": lambda torch: torch.ones(3).unfold(0, 4, 1),
    "unfold step": lambda torch: torch.ones(3).unfold(0, 2, 0),
    "as_strided": lambda torch: torch.ones(3).as_strided((2, 3), (2, 1)),
    "imag": lambda torch: torch.ones(3).imag,
    "view_as_real": lambda torch: torch.view_as_real(torch.ones(3)),
    "view_as_complex": lambda torch: torch.view_as_complex(torch.ones(3)),
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
    "constant_pad_nd": lambda torch: torch.constant_pad_nd(torch.ones(3), (1,)),
    "constant_pad_nd many": lambda torch: torch.constant_pad_nd(torch.ones(3), (1, 1, 1, 1)),
    "tril": lambda torch: torch.ones(3).tril(),
    "diag": lambda torch: torch.ones(2, 2, 2).diag(),
    "vander": lambda torch: torch.vander(torch.ones(2, 2)),
    "slice_scatter": lambda torch: torch.ones(3).slice_scatter(torch.ones(3), 0, 0, 2),
    "select_scatter": lambda torch: torch.ones(3, 2).select_scatter(torch.ones(3), 0, 0),
    "list": lambda torch: torch.transpose([[1.0]], 0, 1),
    "t_ of leaf": lambda torch: torch.ones(2, 2, requires_grad=True).t_(),
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


def test_a_view_without_elements_does_not_know_where_it_begins() -> None:
    empty = torch.arange(6.0)[3:3]
    with pytest.raises(RuntimeError, match="give storage_offset"):
        empty.as_strided((2,), (1,))
    assert empty.as_strided((2,), (1,), 3).tolist() == [3.0, 4.0]
