"""Gradients of outputs that are given: several for one node, recorded and not."""

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = {}


def program(function):
    """Put a program among those that are compared."""
    PROGRAMS[function.__name__] = function
    return function


@program
def same_twice(torch):
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0, -1.0], requires_grad=True)
    b = a * a
    (r,) = torch.autograd.grad([b, b], [a], [g1, g2], create_graph=True)
    return r, torch.autograd.grad(r.sum(), [g1, g2, a], allow_unused=True)


@program
def same_thrice(torch):
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0, -1.0], requires_grad=True)
    b = a * a
    (r,) = torch.autograd.grad([b, b, b], [a], [g1, g2, g1], create_graph=True)
    return r, torch.autograd.grad(r.sum(), [g1, g2, a], allow_unused=True)


@program
def two_outputs_of_node(torch):
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b, c = (a * a).unbind()
    (r,) = torch.autograd.grad([b, c], [a], [g1, g2], create_graph=True)
    return r, torch.autograd.grad(r.sum(), [g1, g2, a], allow_unused=True)


@program
def two_outputs_svd(torch):
    a = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True, dtype=torch.float64)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True, dtype=torch.float64)
    g2 = torch.eye(2, requires_grad=True, dtype=torch.float64)
    w, v = torch.linalg.eigh(a)
    (r,) = torch.autograd.grad([w, v.abs()], [a], [g1, g2], create_graph=True)
    return r, torch.autograd.grad(r.sum(), [g1, g2, a], allow_unused=True)


@program
def two_outputs_max(torch):
    a = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True, dtype=torch.float64)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True, dtype=torch.float64)
    w, _i = torch.max(a, 1)
    (r,) = torch.autograd.grad([w, w], [a], [g1, g1 * 2], create_graph=True)
    return r, torch.autograd.grad((r**2).sum(), [g1, a], allow_unused=True)


@program
def custom_two(torch):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x, x * x * x

        @staticmethod
        def backward(ctx, g, h):
            (x,) = ctx.saved_tensors
            return g * 2 * x + h * 3 * x * x

    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b, c = F.apply(a)
    (r,) = torch.autograd.grad([b, c], [a], [g1, g2], create_graph=True)
    return r, torch.autograd.grad(r.sum(), [g1, g2, a], allow_unused=True)


@program
def leaf_is_output(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    (r,) = torch.autograd.grad([a, a], [a], [g1, g1 * g1], create_graph=True)
    return r, torch.autograd.grad(r.sum(), [g1], allow_unused=True)


@program
def output_on_path(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b = a * a
    c = b.sin()
    r = torch.autograd.grad([b, c], [a, b], [g1, g2], create_graph=True)
    return r, torch.autograd.grad(r[0].sum() + r[1].sum(), [g1, g2, a], allow_unused=True)


@program
def mixed_seed(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0])
    b = a * a
    r = torch.autograd.grad([b, b], [a], [g2, g1], create_graph=True)
    return r, torch.autograd.grad(r[0].sum(), [g1, a], allow_unused=True)


@program
def linear_seed(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b = a + 1
    r = torch.autograd.grad([b, b], [a], [g2, g1], create_graph=True)
    return r, torch.autograd.grad(r[0].sum(), [g1, g2], allow_unused=True)


@program
def seed_no_create(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    b = a * a
    return torch.autograd.grad([b, b], [a], [g1, g1])


@program
def seed_other_dtype(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True, dtype=torch.float64)
    b = a * a
    r = torch.autograd.grad([b, b], [a], [g1, g1], create_graph=True)
    return r, torch.autograd.grad(r[0].sum(), [g1])


@program
def batched_create(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.eye(2, requires_grad=True)
    b = a * a
    r = torch.autograd.grad([b, b], [a], [g1, g1 * 2], create_graph=True, is_grads_batched=True)
    return r, torch.autograd.grad(r[0].sum(), [g1, a])


@program
def batched_one(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.eye(2, requires_grad=True)
    b = a * a
    r = torch.autograd.grad([b], [a], [g1], create_graph=True, is_grads_batched=True)
    return r, torch.autograd.grad(r[0].sum(), [g1, a])


@program
def backward_two(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b = a * a
    torch.autograd.backward([b, b], [g1, g2], create_graph=True)
    return a.grad.detach(), a.grad.requires_grad, torch.autograd.grad(a.grad.sum(), [g1, g2, a])


@program
def view_pair(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b = a * a
    r = torch.autograd.grad([b, b.view(2), b[:]], [a], [g1, g2, g1 * g2], create_graph=True)
    return r, torch.autograd.grad(r[0].sum(), [g1, g2, a])


@program
def chunk(torch):
    a = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    g1 = torch.tensor([1.0, 0.5], requires_grad=True)
    g2 = torch.tensor([3.0, 1.0], requires_grad=True)
    b, c = (a * a).chunk(2)
    r = torch.autograd.grad([b, c, b], [a], [g1, g2, g1 * g2], create_graph=True)
    return r, torch.autograd.grad((r[0] ** 2).sum(), [g1, g2, a])


@program
def mat(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.ones(3, requires_grad=True)
    r = torch.autograd.grad((a * a).sum(), [a, c], materialize_grads=True)
    return r, [x.requires_grad for x in r]


@program
def mat2(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.ones(3, requires_grad=True)
    r = torch.autograd.grad((a * a).sum(), [a, c], materialize_grads=True, create_graph=True)
    return (
        [x.detach() for x in r],
        [x.requires_grad for x in r],
        [x.is_leaf for x in r],
        [x.grad_fn is None for x in r],
    )


@program
def mat3(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        pass
    y = (a * a).sum()
    with torch.no_grad():
        r = torch.autograd.grad(y, [a, c], materialize_grads=True, create_graph=True)
    return [x.detach() for x in r], [x.requires_grad for x in r]


@program
def mat4(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.ones(3, requires_grad=True, dtype=torch.float64)
    g = torch.eye(2).reshape(2, 2)
    r = torch.autograd.grad(a * a, [a, c], [g], materialize_grads=True, is_grads_batched=True)
    return [x.detach() for x in r], [x.requires_grad for x in r]


@program
def mat5(torch):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.ones(3, requires_grad=True)
    r = torch.autograd.grad((a * a).sum(), [a, c], materialize_grads=True, create_graph=True)
    return torch.autograd.grad(r[1].sum(), [a, r[1]], allow_unused=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])
