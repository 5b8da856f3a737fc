"""Tensor.backward and the gradients that it leaves, of real and of complex numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import ones, two, under_no_grad, z_of
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def backward_of_a_scalar(torch: Any) -> Any:
    x = two(torch)
    (x * x).sum().backward()
    return x, x.grad, x.grad.requires_grad, x.grad.is_leaf


@program
def backward_twice_adds(torch: Any) -> Any:
    x = two(torch)
    for _ in range(3):
        (x * x).sum().backward()
    return x.grad


@program
def backward_adds_in_place(torch: Any) -> Any:
    x = two(torch)
    (x * x).sum().backward()
    held = x.grad
    (x * x).sum().backward()
    return held, held is x.grad


@program
def backward_create_graph_adds_anew(torch: Any) -> Any:
    x = two(torch)
    (x * x).sum().backward(create_graph=True)
    held = x.grad
    (x * x).sum().backward(create_graph=True)
    return held.detach(), held is x.grad, x.grad.detach(), x.grad.requires_grad


@program
def backward_second_order_by_grad_of_grad(torch: Any) -> Any:
    x = two(torch)
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    x.grad = None
    g.sum().backward()
    return x.grad, g.detach(), g.requires_grad


@program
def backward_double_accumulates_into_grad(torch: Any) -> Any:
    x = two(torch)
    (x**3).sum().backward(create_graph=True)
    x.grad.sum().backward()
    return x.grad.detach()


@program
def backward_retain_graph(torch: Any) -> Any:
    x = two(torch)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@program
def backward_second_time_raises(torch: Any) -> Any:
    x = two(torch)
    y = (x * x).sum()
    y.backward()
    y.backward()


@program
def backward_second_time_through_shared_part_raises(torch: Any) -> Any:
    x = two(torch)
    y = x.exp()
    y.sum().backward()
    (y * 2).sum().backward()


@program
def backward_second_time_of_sums_works(torch: Any) -> Any:
    x = two(torch)
    y = (x + 1 - x.clone()).sum() + x.sum()
    y.backward()
    y.backward()
    return x.grad


@program
def grad_does_not_free_what_it_does_not_pass(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x.exp()
    z = (y * w).sum()
    first = torch.autograd.grad(z, w, retain_graph=True)
    torch.autograd.grad((y * 3).sum(), x)
    return first


@program
def grad_past_a_freed_part_raises_only_if_needed(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x.exp()
    y.sum().backward()
    return torch.autograd.grad((y * w).sum(), w)


@program
def grad_past_a_freed_part_raises(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x.exp()
    y.sum().backward()
    return torch.autograd.grad((y * w).sum(), [w, x])


@program
def grad_of_a_freed_tensor_itself(torch: Any) -> Any:
    x = two(torch)
    y = x.exp()
    y.sum().backward()
    return torch.autograd.grad((y * 2).sum(), y)


@program
def grad_ignores_writes_that_are_not_on_the_way(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    a = x * 1
    y = a * a
    z = (y * w).sum()
    a.add_(1)
    return torch.autograd.grad(z, w)


@program
def write_on_the_way_raises(torch: Any) -> Any:
    x = two(torch)
    a = x * 1
    y = (a * a).sum()
    a.add_(1)
    y.backward()


PROGRAMS.update(
    backward_of_a_vector_raises=lambda torch: (two(torch) * 2).backward(),
    backward_with_gradient=lambda torch: _backed(torch, lambda x: x * x, ones(torch) * 3),
    backward_with_gradient_of_other_dtype=lambda torch: _backed(
        torch, lambda x: x * x, torch.ones(2, dtype=torch.float32)
    ),
    backward_with_integers=lambda torch: _backed(torch, lambda x: x * x, torch.tensor([1, 2])),
    backward_with_gradient_of_other_shape=lambda torch: _backed(
        torch, lambda x: x * x, torch.ones(3)
    ),
    backward_with_0d_gradient=lambda torch: _backed(torch, lambda x: x * x, torch.tensor(1.0)),
    backward_with_a_number=lambda torch: _backed(torch, lambda x: x * x, 2.0),
    backward_with_a_list=lambda torch: _backed(torch, lambda x: x * x, [ones(torch)]),
    backward_with_none=lambda torch: _backed(torch, lambda x: (x * x).sum(), None),
    backward_of_one_element=lambda torch: _backed(torch, lambda x: x[:1] * x[1:], None),
    backward_of_shape_1_1=lambda torch: _backed(torch, lambda x: (x[:1] * 2).reshape(1, 1), None),
    backward_of_detached_raises=lambda torch: two(torch).detach().sum().backward(),
    backward_of_integers_raises=lambda torch: torch.tensor([1, 2]).sum().backward(),
    backward_under_no_grad_raises=lambda torch: under_no_grad(
        torch, lambda: two(torch).sum()
    ).backward(),
    backward_twice_no_retain_create=lambda torch: [
        g.detach()
        for g in _twice(torch, lambda y: y.backward(create_graph=True, retain_graph=False))
    ],
)


def _backed(torch: Any, function: Any, gradient: Any) -> Any:
    x = two(torch)
    function(x).backward(gradient)
    return x


def _twice(torch: Any, step: Any) -> Any:
    x = two(torch)
    y = (x * x).sum()
    step(y)
    step(y)
    return [x.grad]


@program
def backward_on_a_leaf(torch: Any) -> Any:
    x = torch.tensor(3.0, requires_grad=True)
    x.backward()
    x.backward(torch.tensor(2.0))
    return x


@program
def backward_inputs(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    (x * w).sum().backward(inputs=[x])
    return x, w


@program
def backward_inputs_one_tensor(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    (x * w).sum().backward(inputs=w)
    return x, w


@program
def backward_inputs_non_leaf(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    return x.grad, y.grad, y.retains_grad


@program
def backward_inputs_leaf_and_non_leaf(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    (y * y).sum().backward(inputs=[y, x])
    return x.grad, y.grad


PROGRAMS.update(
    backward_inputs_empty=lambda torch: two(torch).sum().backward(inputs=[]),
    backward_inputs_not_needing=lambda torch: two(torch).sum().backward(inputs=[torch.ones(2)]),
    backward_inputs_unused=lambda torch: _unused_input(torch),
)


def _unused_input(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    x.sum().backward(inputs=[w])
    return x.grad, w.grad


@program
def backward_of_several(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    torch.autograd.backward([(x * w).sum(), (x * 3)], [None, ones(torch)])
    return x, w


@program
def backward_of_several_tuple(torch: Any) -> Any:
    x = two(torch)
    torch.autograd.backward((x.sum(), (x * x).sum()))
    return x


@program
def backward_of_the_same_twice(torch: Any) -> Any:
    x = two(torch)
    y = (x * x).sum()
    torch.autograd.backward([y, y])
    return x


@program
def backward_of_wrong_number_of_gradients(torch: Any) -> Any:
    x = two(torch)
    torch.autograd.backward([x.sum(), x.sum()], [torch.tensor(1.0)])


@program
def gradient_has_its_own_memory(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    (x + w).sum().backward()
    x.grad.add_(5)
    x.grad.zero_()
    return x, w


@program
def gradient_does_not_share_the_seed(torch: Any) -> Any:
    x, seed = two(torch), ones(torch)
    (x + 1).backward(seed)
    seed.mul_(7)
    return x


@program
def gradient_does_not_share_with_a_hook(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x + 1
    y.register_hook(seen.append)
    (y * 3).sum().backward()
    x.grad.zero_()
    return seen[0]


@program
def gradient_none_patterns(torch: Any) -> Any:
    x = two(torch)
    (x * 2).sum().backward()
    x.grad = None
    (x * 3).sum().backward()
    first = x.grad.clone()
    x.grad.zero_()
    (x * 4).sum().backward()
    second = x.grad.clone()
    del x.grad
    return first, second, x.grad


@program
def gradient_assigned(torch: Any) -> Any:
    x = two(torch)
    x.grad = ones(torch) * 10
    (x * 2).sum().backward()
    return x


@program
def gradient_in_place_by_data(torch: Any) -> Any:
    x = two(torch)
    (x * 2).sum().backward()
    x.grad.data.mul_(3)
    x.grad.detach_()
    x.grad += 1
    return x


PROGRAMS.update(
    gradient_assigned_number=lambda torch: setattr(two(torch), "grad", 3.0),
    gradient_assigned_shape=lambda torch: setattr(two(torch), "grad", torch.ones(3)),
    gradient_assigned_dtype=lambda torch: setattr(two(torch), "grad", torch.ones(2)),
    gradient_assigned_to_unneeding=lambda torch: _set_grad(torch.ones(2), torch.ones(2)).grad,
)


def _set_grad(x: Any, g: Any) -> Any:
    x.grad = g
    return x


@program
def gradient_of_float32_and_float64(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = two(torch)
    (x * w).sum().backward()
    return x, w, x.grad.dtype, w.grad.dtype


@program
def gradient_through_astype(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x.double() ** 2).sum().backward()
    return x


@program
def gradient_of_a_loop(torch: Any) -> Any:
    w = torch.tensor(0.5, requires_grad=True)
    for _ in range(5):
        loss = (w * 2 - 3) ** 2
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()
    return w


@program
def gradient_of_a_loop_by_new_leaves(torch: Any) -> Any:
    w = torch.tensor([0.5, 1.0], requires_grad=True)
    for _ in range(3):
        loss = ((w * 2 - 3) ** 2).sum()
        (g,) = torch.autograd.grad(loss, w)
        w = (w - 0.1 * g).detach().requires_grad_()
    return w


@program
def tensor_in_two_graphs(torch: Any) -> Any:
    x = two(torch)
    a, b = (x * 2).sum(), (x * x).sum()
    a.backward()
    b.backward()
    return x


@program
def leaf_used_many_times(torch: Any) -> Any:
    x = two(torch)
    y = x
    for _ in range(4):
        y = y * x + x
    y.sum().backward()
    return x


@program
def retain_grad(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    return x, y.grad, y.retains_grad, x.retains_grad, y.is_leaf


@program
def retain_grad_adds(torch: Any) -> Any:
    x = two(torch)
    y = x + 2
    y.retain_grad()
    y.retain_grad()
    y.sum().backward()
    y.sum().backward()
    return x, y.grad


@program
def retain_grad_with_autograd_grad(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.retain_grad()
    g = torch.autograd.grad((y * y).sum(), x)
    return g, y.grad, x.grad


PROGRAMS.update(
    retain_grad_of_leaf=lambda torch: _retained(two(torch)),
    retain_grad_of_constant=lambda torch: torch.ones(2).retain_grad(),
)


def _retained(x: Any) -> Any:
    x.retain_grad()
    (x * 2).sum().backward()
    return x, x.retains_grad


@program
def retain_grad_after_use(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    z = (y * y).sum()
    y.retain_grad()
    z.backward()
    return y.grad


@program
def retain_grad_sees_hooks(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    return y.grad, x.grad


@program
def retain_grad_on_two_levels(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    z = y.exp()
    y.retain_grad()
    z.retain_grad()
    z.sum().backward()
    return x.grad, y.grad, z.grad


@program
def grad_of_non_leaf_is_none(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.sum().backward()
    return y.grad


@program
def requires_grad_in_steps(torch: Any) -> Any:
    x = torch.ones(2)
    a = x * 2
    x.requires_grad_()
    b = x * 2
    return a.requires_grad, b.requires_grad, a.is_leaf, b.is_leaf, b.detach().requires_grad


PROGRAMS.update(
    requires_grad_of_integers=lambda torch: torch.tensor([1]).requires_grad_(),
    requires_grad_of_integers_at_birth=lambda torch: torch.tensor([1], requires_grad=True),
    requires_grad_off_for_non_leaf=lambda torch: (two(torch) * 2).requires_grad_(False),
    requires_grad_on_for_non_leaf=lambda torch: (two(torch) * 2).requires_grad_().requires_grad,
    in_place_on_leaf=lambda torch: two(torch).add_(1),
)


@program
def detach_shares_memory(torch: Any) -> Any:
    x = two(torch)
    d = x.detach()
    d.add_(1)
    return x, d, d.requires_grad


@program
def detach_cuts(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    (y.detach() * x).sum().backward()
    return x


@program
def complex_abs(torch: Any) -> Any:
    z = z_of(torch)
    (z.abs() ** 2).sum().backward()
    return z


@program
def complex_product_real_part(torch: Any) -> Any:
    z = z_of(torch)
    (z * z * (1 + 1j)).real.sum().backward()
    return z


@program
def complex_with_gradient(torch: Any) -> Any:
    z = z_of(torch)
    (z * z).backward(torch.tensor([1.0 + 0j, 1j], dtype=torch.complex128))
    return z


@program
def complex_and_real(torch: Any) -> Any:
    z, x = z_of(torch), two(torch)
    (z * x).imag.sum().backward()
    return z, x


PROGRAMS.update(
    complex_scalar_raises=lambda torch: z_of(torch).sum().backward(),
    complex_seed_for_real=lambda torch: two(torch).backward(torch.ones(2) * 1j),
    real_seed_for_complex=lambda torch: z_of(torch).backward(torch.ones(2, dtype=torch.float64)),
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
