"""Hooks and kept gradients of tensors that share memory, some of which are then written to."""

import itertools

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

#: What is looked at: views of y, a matrix of three rows, which is computed from a leaf.
LOOKED_AT = {
    "base": lambda y: y,
    "row": lambda y: y[0],
    "part": lambda y: y[0:2],
    "part of a part": lambda y: y[0:2][:, 1:],
    "transposed": lambda y: y.t(),
    "flat": lambda y: y.view(-1),
    "whole": lambda y: y[:],
    "alias": lambda y: y.view_as(y),
    "chunk": lambda y: y.chunk(3)[0],
    "split": lambda y: y.split([1, 2])[1],
    "unbound": lambda y: y.unbind()[1],
    "expanded": lambda y: y[0].expand(2, 2),
    "diagonal": lambda y: y.diagonal(),
}


def _without_grad(torch, x):
    with torch.no_grad():
        x.mul_(3)


def _set(torch, x):
    x[0] = 2.0


def _set_computed(torch, x):
    x[0] = (x[0] * 3).sum()


WRITES = {
    "none": lambda torch, x: None,
    "mul_": lambda torch, x: x.mul_(4),
    "twice": lambda torch, x: x.mul_(4).add_(1),
    "square": lambda torch, x: x.mul_(x),
    "zero_": lambda torch, x: x.zero_(),
    "set": _set,
    "set computed": _set_computed,
    "no_grad": _without_grad,
    "data": lambda torch, x: x.data.mul_(3),
    "detached": lambda torch, x: x.detach().mul_(3),
    "sin_": lambda torch, x: x.sin_(),
}
#: What is written to.
PLACES = {
    "itself": lambda y, v: v,
    "base": lambda y, v: y,
    "sibling": lambda y, v: y[1],
    "other": lambda y, v: y[2:],
}


def _program(view, write, place, how, used):
    def run(torch):
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
        y = x * 1
        v = LOOKED_AT[view](y)
        seen = []
        if "retain" in how:
            v.retain_grad()
        if "hook" in how:
            v.register_hook(lambda g: seen.append(("v", g.clone())))
        if "change" in how:
            v.register_hook(lambda g: g * 10)
        if "base" in how:
            y.retain_grad()
            y.register_hook(lambda g: seen.append(("y", g.clone())))
        before = v * 2 if "before" in used else None
        WRITES[write](torch, PLACES[place](y, v))
        if "again" in how:
            v.register_hook(lambda g: seen.append(("again", g.clone())))
        total = 0
        if "view" in used:
            total = total + (v * torch.arange(1.0, v.numel() + 1).reshape(v.shape)).sum()
        if "base" in used:
            total = total + (y * torch.arange(1.0, 7.0).reshape(3, 2)).sum()
        if before is not None:
            total = total + before.sum()
        total.backward()
        kept = v.grad if "retain" in how else None
        return x.grad, kept, y.grad if "base" in how else None, seen, v.retains_grad, y.retains_grad

    return run


HOW = ["retain", "hook", "change", "retain hook", "retain change again", "retain base", "hook base"]
USED = ["view", "base", "view base", "view before", "base before", "before"]


@pytest.mark.parametrize("view", LOOKED_AT)
@pytest.mark.parametrize("place", PLACES)
def test_views_that_are_looked_at_and_written_to(view, place):
    # a fifth of all for each pair, and others for the next; all of them take a minute
    first = (list(LOOKED_AT).index(view) + list(PLACES).index(place)) % 5
    for write, how, used in list(itertools.product(WRITES, HOW, USED))[first::5]:
        if (view, place, write) == ("expanded", "itself", "zero_"):
            continue  # which PyTorch writes, and then refuses in the sweep
        try:
            compare(_program(view, write, place, how, used))
        except AssertionError as error:
            raise AssertionError(
                f"{view}, {write} to {place}, {how}, used {used}: {error}"
            ) from None
