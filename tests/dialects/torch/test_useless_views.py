"""Views that a write to their base has made useless: what they still say."""

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = {}


def program(function):
    """Put a program among those that are compared."""
    PROGRAMS[function.__name__] = function
    return function


@program
def repr2(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[0]
        v.mul_(2)
    return repr(v)


@program
def repr3(torch):
    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        v = x[0]
        v.mul_(2)
    return repr(v)


@program
def repr4(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.unbind()[0]
    with torch.no_grad():
        y.mul_(2)
    return repr(v)


@program
def repr5(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.unbind()[0]
    y.mul_(2)
    return repr(v)


@program
def repr6(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[0]
    y.mul_(2)
    return repr(v), str(v)


@program
def repr7(torch):
    x = torch.ones(2, 2, requires_grad=True)
    v = x.view(4)
    x.data.mul_(2)
    return repr(v), repr(v.detach()), repr(v.data)


@program
def use4(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.unbind()[0]
    with torch.no_grad():
        y.mul_(2)
    return v.tolist(), v.numpy(force=True), v.shape, v.sum().item()


@program
def use5(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.unbind()[0]
    y.mul_(2)
    return v.tolist(), v.detach().numpy(), v.requires_grad


@program
def use6(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.unbind()[0]
    y.mul_(2)
    return v.is_leaf


@program
def use7(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.unbind()[0]
    y.mul_(2)
    return v.clone()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])
