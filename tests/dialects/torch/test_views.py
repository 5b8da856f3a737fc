"""Views: the same programs on PyTorch and on Wengert's dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import wengert.torch as torch
from tests.dialects.torch.parity import compare
from tests.dialects.torch.shape_programs import (
    checks_of,
    data,
)

pytestmark = pytest.mark.parity

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
    "views of views": lambda torch, x: x.permute(1, 0, 2)[1:].reshape(2, -1)[:, ::3].t().diagonal(),
    "real of real": lambda torch, x: torch.real(x * 2),
}
#: Composites whose last step, and so the name of their node, is another than PyTorch's.
LABELS_DIFFER = {"flatten none"}

test_function, test_dtypes, test_second_sweep = checks_of(FUNCTIONS, LABELS_DIFFER)


def _written(view: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Return a program that writes to a view of a computed tensor."""

    def program(torch: Any) -> Any:
        w = data(torch, (3, 4)).requires_grad_()
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
    w = data(torch, (1, 3, 4)).requires_grad_()
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
    z = data(torch, (3,), torch.complex128).requires_grad_()
    y = z * (1 + 2j)
    y.real.mul_(2.0)
    y.imag.add_(y.real.detach())
    pairs = torch.view_as_real(y)
    pairs[0, 1] = 3.0
    loss = (pairs * pairs).sum() + y.abs().sum()
    loss.backward()
    return y, pairs, z.grad, torch.view_as_complex(pairs * 2)


def _complex_of_pairs(torch: Any) -> Any:
    x = data(torch, (3, 2)).requires_grad_()
    y = x * 2
    z = torch.view_as_complex(y)
    z.mul_(1j)
    (first,) = torch.autograd.grad((y**3).sum() + z.real.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return y, z, first, second


def _parts_assigned(torch: Any) -> Any:
    z = data(torch, (3,), torch.complex64)
    z.real = torch.arange(3.0)
    z.imag = 2.0
    return z, z.real, z.imag


def _conjugates(torch: Any) -> Any:
    z = data(torch, (2, 3), torch.complex128).requires_grad_()
    found = z.H, z.mH, z.adjoint(), z.T
    sum((f * f).abs().sum() for f in found).backward()
    return found, z.grad


def _dtype_views(torch: Any) -> Any:
    x = torch.tensor([1.0, -2.0])
    bits = x.view(torch.int32)
    bits[0] = 0
    return x, bits, x.view(torch.uint8).shape, x.view(dtype=torch.float32) is x


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "shapes in place": _in_place,
    "complex views": _complex_views,
    "complex of pairs": _complex_of_pairs,
    "parts assigned": _parts_assigned,
    "conjugates": _conjugates,
    "dtype views": _dtype_views,
    "empty flatten": lambda torch: torch.zeros(2, 0).flatten(),
    "empty unfold": lambda torch: torch.arange(4.0).unfold(0, 4, 1),
    "0-d flatten": lambda torch: torch.tensor(1.0).flatten(),
    "0-d reshape": lambda torch: torch.ones(1).reshape(()),
    "0-d transpose": lambda torch: torch.tensor(1.0).transpose(0, -1),
    "0-d squeeze": lambda torch: torch.tensor(1.0).squeeze(0),
    "0-d unfold": lambda torch: torch.tensor(1.0).unfold(0, 1, 1),
    "0-d tensor sizes": lambda torch: torch.ones(6).view(torch.tensor(2), 3),
    "T of three": lambda torch: torch.zeros(2, 3, 4).T.shape,
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
    "list": lambda torch: torch.transpose([[1.0]], 0, 1),
    "t_ of leaf": lambda torch: torch.ones(2, 2, requires_grad=True).t_(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    compare(BAD[name])


def test_elements_that_are_not_the_tensors_are_refused() -> None:
    part = torch.arange(6.0)[3:5]
    assert part.as_strided((2,), (1,), 3).tolist() == [3.0, 4.0]
    for start in (2, 4, -1):
        with pytest.raises(RuntimeError, match="a part of its 2 elements"):
            part.as_strided((2,), (1,), start)
