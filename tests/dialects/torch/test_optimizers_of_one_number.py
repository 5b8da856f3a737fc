"""Optimizers of a parameter without axes."""

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = {}


def program(function):
    """Put a program among those that are compared."""
    PROGRAMS[function.__name__] = function
    return function


@program
def sgd0(torch):
    r = []
    for kw in (
        {"momentum": 0.9},
        {"momentum": 0.9, "weight_decay": 0.1},
        {"weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"momentum": 0.9, "dampening": 0.5},
        {"maximize": True, "weight_decay": 0.1, "momentum": 0.5},
    ):
        p = torch.tensor(2.0, requires_grad=True)
        o = torch.optim.SGD([p], lr=0.1, **kw)
        for _ in range(3):
            o.zero_grad()
            (p * p).backward()
            o.step()
        r.append(p.detach().clone())
        r.append(o.state_dict()["state"])
    return r


@program
def all0(torch):
    r = []
    for n in (
        "Adam",
        "AdamW",
        "Adagrad",
        "RMSprop",
        "Adadelta",
        "Adamax",
        "NAdam",
        "RAdam",
        "Rprop",
        "ASGD",
    ):
        for kw in ({}, {"weight_decay": 0.1}):
            if n == "Rprop" and kw:
                continue
            for dt in (torch.float32, torch.float64, torch.complex64):
                if dt is torch.complex64 and n in ("Adamax",):
                    pass
                p = torch.tensor(2.0, requires_grad=True, dtype=dt)
                o = getattr(torch.optim, n)([p], lr=0.1, **kw)
                for _ in range(3):
                    o.zero_grad()
                    (p * p).abs().backward()
                    o.step()
                r.append(p.detach().clone())
    return r


@program
def rms0(torch):
    r = []
    for kw in (
        {"momentum": 0.9},
        {"centered": True},
        {"momentum": 0.9, "centered": True, "weight_decay": 0.1},
    ):
        p = torch.tensor(2.0, requires_grad=True)
        o = torch.optim.RMSprop([p], lr=0.1, **kw)
        for _ in range(3):
            o.zero_grad()
            (p * p).backward()
            o.step()
        r.append(p.detach().clone())
    for kw in ({"amsgrad": True}, {"amsgrad": True, "weight_decay": 0.1}, {"maximize": True}):
        p = torch.tensor(2.0, requires_grad=True)
        o = torch.optim.Adam([p], lr=0.1, **kw)
        for _ in range(3):
            o.zero_grad()
            (p * p).backward()
            o.step()
        r.append(p.detach().clone())
    return r


@program
def lbfgs0(torch):
    p = torch.tensor(2.0, requires_grad=True)
    o = torch.optim.LBFGS([p], lr=0.1)

    def c():
        o.zero_grad()
        loss = p * p
        loss.backward()
        return loss

    for _ in range(3):
        o.step(c)
    return p.detach()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])
