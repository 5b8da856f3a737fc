"""backward, grad, hooks, modes, Function, gradcheck and checkpoint, as in PyTorch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.peers

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    assert function.__name__ not in PROGRAMS
    PROGRAMS[function.__name__] = function
    return function


def also(**programs: Callable[[Any], Any]) -> None:
    for name, function in programs.items():
        assert name not in PROGRAMS
        PROGRAMS[name] = function


def two(torch: Any, dtype: Any = None) -> Any:
    return torch.tensor([1.0, 2.0], dtype=dtype or torch.float64, requires_grad=True)


def three(torch: Any) -> Any:
    return torch.tensor([0.5, -1.0, 2.0], requires_grad=True)


def ones(torch: Any, n: int = 2) -> Any:
    return torch.ones(n, dtype=torch.float64)


# -- backward --------------------------------------------------------------------------------------


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


also(
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
    backward_under_no_grad_raises=lambda torch: _no_grad(
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


def _no_grad(torch: Any, function: Any) -> Any:
    with torch.no_grad():
        return function()


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


also(
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
def backward_grad_variables(torch: Any) -> Any:
    x = two(torch)
    torch.autograd.backward(x * x, grad_variables=ones(torch))
    return x


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


also(
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


also(
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


also(
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


# -- complex ---------------------------------------------------------------------------------------


def z_of(torch: Any) -> Any:
    return torch.tensor([1.0 + 2.0j, 0.5 - 1.0j], dtype=torch.complex128, requires_grad=True)


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


also(
    complex_scalar_raises=lambda torch: z_of(torch).sum().backward(),
    complex_seed_for_real=lambda torch: two(torch).backward(torch.ones(2) * 1j),
    real_seed_for_complex=lambda torch: z_of(torch).backward(torch.ones(2, dtype=torch.float64)),
)


# -- autograd.grad ---------------------------------------------------------------------------------


def of_grad(torch: Any, function: Any, **options: Any) -> Any:
    x, w = two(torch), two(torch)
    return torch.autograd.grad(function(x, w), [x, w], **options)


also(
    grad_tuple=lambda torch: of_grad(torch, lambda x, w: (x * w).sum()),
    grad_unused=lambda torch: of_grad(torch, lambda x, w: x.sum()),
    grad_allow_unused=lambda torch: of_grad(torch, lambda x, w: x.sum(), allow_unused=True),
    grad_materialize=lambda torch: of_grad(torch, lambda x, w: x.sum(), materialize_grads=True),
    grad_materialize_and_not_allow=lambda torch: of_grad(
        torch, lambda x, w: x.sum(), materialize_grads=True, allow_unused=False
    ),
    grad_with_outputs=lambda torch: of_grad(
        torch, lambda x, w: x * w, grad_outputs=ones(torch) * 2
    ),
    grad_with_outputs_list=lambda torch: of_grad(
        torch, lambda x, w: x * w, grad_outputs=[ones(torch) * 2]
    ),
    grad_several_outputs=lambda torch: of_grad(
        torch, lambda x, w: [x * w, (x * x).sum()], grad_outputs=[ones(torch), None]
    ),
    grad_wrong_number_of_outputs=lambda torch: of_grad(
        torch, lambda x, w: x * w, grad_outputs=[ones(torch), ones(torch)]
    ),
    grad_non_scalar=lambda torch: of_grad(torch, lambda x, w: x * w),
    grad_wrong_shape=lambda torch: of_grad(torch, lambda x, w: x * w, grad_outputs=torch.ones(3)),
    grad_create_graph=lambda torch: [
        (g.requires_grad, g.detach())
        for g in of_grad(torch, lambda x, w: (x * w * w).sum(), create_graph=True)
    ],
    grad_only_inputs=lambda torch: of_grad(torch, lambda x, w: (x * w).sum(), only_inputs=True),
    grad_positional=lambda torch: _grad_positional(torch),
    grad_of_unneeding=lambda torch: torch.autograd.grad(two(torch).sum(), torch.ones(2)),
    grad_of_nothing=lambda torch: torch.autograd.grad(two(torch).sum(), []),
    grad_of_a_number=lambda torch: torch.autograd.grad(two(torch).sum(), 3.0),
    grad_of_outputs_that_do_not_need=lambda torch: torch.autograd.grad(torch.ones(()), two(torch)),
    grad_dict=lambda torch: _grad_dict(torch),
)


def _grad_positional(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    return torch.autograd.grad(x.sum(), (x, w), None, True, False, True, True)


def _grad_dict(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    return torch.autograd.grad((x * w * w).sum(), {"x": x, "w": w})


@program
def grad_leaves_grad_alone(torch: Any) -> Any:
    x = two(torch)
    g = torch.autograd.grad((x * x).sum(), x)
    return g, x.grad


@program
def grad_same_input_twice(torch: Any) -> Any:
    x = two(torch)
    return torch.autograd.grad((x * x).sum(), [x, x])


@program
def grad_of_the_output_itself(torch: Any) -> Any:
    x = two(torch)
    y = (x * x).sum()
    return torch.autograd.grad(y, [y, x])


@program
def grad_of_a_leaf_itself(torch: Any) -> Any:
    x = torch.tensor(2.0, requires_grad=True)
    return torch.autograd.grad(x, x)


@program
def grad_of_intermediate(torch: Any) -> Any:
    x = two(torch)
    y = x.exp()
    z = (y * y).sum()
    return torch.autograd.grad(z, [y, x])


@program
def grad_third_order(torch: Any) -> Any:
    x = two(torch)
    y = (x**4).sum()
    found = []
    for _ in range(3):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        found.append(g.detach())
        y = g.sum()
    return found


@program
def grad_hessian_vector(torch: Any) -> Any:
    x = three(torch)
    (g,) = torch.autograd.grad((x.sin() * x).sum(), x, create_graph=True)
    return torch.autograd.grad(g, x, grad_outputs=torch.tensor([1.0, 2.0, 3.0]))


@program
def grad_mixed_derivative(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    (g,) = torch.autograd.grad((x * x * w).sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), w)


@program
def grad_of_constant_gradient_raises(torch: Any) -> Any:
    x = two(torch)
    (g,) = torch.autograd.grad((x * 2).sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)


@program
def grad_without_create_graph_is_constant(torch: Any) -> Any:
    x = two(torch)
    (g,) = torch.autograd.grad((x * x).sum(), x)
    return g.requires_grad, torch.autograd.grad(g.sum(), x)


@program
def grad_penalty(torch: Any) -> Any:
    w = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    x = torch.tensor([[0.3, 0.7]], requires_grad=True)
    out = (x @ w).tanh().sum()
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    ((g**2).sum() - 1).pow(2).backward()
    return w, x


@program
def grad_batched(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    return torch.autograd.grad(
        y, x, grad_outputs=torch.eye(2, dtype=torch.float64), is_grads_batched=True
    )


@program
def grad_batched_several(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = (x * w).exp()
    seeds = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]], dtype=torch.float64)
    return torch.autograd.grad([y], [x, w], grad_outputs=[seeds], is_grads_batched=True)


@program
def grad_batched_create_graph(torch: Any) -> Any:
    x = two(torch)
    (g,) = torch.autograd.grad(
        x**3, x, torch.eye(2, dtype=torch.float64), is_grads_batched=True, create_graph=True
    )
    return torch.autograd.grad(g.sum(), x)


# -- what programs see of the graph ----------------------------------------------------------------


def names(fn: Any, depth: int = 4) -> Any:
    if fn is None or not depth:
        return None if fn is None else "..."
    return [fn.name(), [(names(n, depth - 1), k) for n, k in fn.next_functions]]


also(
    grad_fn_names=lambda torch: names((two(torch) * two(torch) + 1).exp().grad_fn),
    grad_fn_of_sum=lambda torch: names((two(torch) * 2).sum().grad_fn),
    grad_fn_of_mean=lambda torch: names(two(torch).mean().grad_fn),
    grad_fn_of_product_with_constant=lambda torch: names((two(torch) * ones(torch)).grad_fn),
    grad_fn_of_constant_first=lambda torch: names((ones(torch) * two(torch)).grad_fn),
    grad_fn_of_leaf=lambda torch: two(torch).grad_fn,
    grad_fn_of_constant=lambda torch: torch.ones(2).grad_fn,
    grad_fn_class=lambda torch: type(two(torch).exp().grad_fn).__name__,
    grad_fn_is_node=lambda torch: isinstance(two(torch).exp().grad_fn, torch.autograd.graph.Node),
    grad_fn_requires_grad=lambda torch: two(torch).exp().grad_fn.requires_grad,
    saved_result=lambda torch: two(torch).exp().grad_fn._saved_result.detach(),
    saved_self_and_other=lambda torch: [
        (f._saved_self, f._saved_other) for f in [(two(torch) * two(torch)).grad_fn]
    ],
    saved_missing=lambda torch: two(torch).exp().grad_fn._saved_nothing,
)


@program
def grad_fn_identity(torch: Any) -> Any:
    x = two(torch)
    y = x.exp()
    fn = y.grad_fn
    fn.metadata["a"] = 1
    return fn is y.grad_fn, y.grad_fn.metadata["a"], (y * 2).grad_fn.next_functions[0][0] is fn


@program
def grad_fn_variable(torch: Any) -> Any:
    x = two(torch)
    leaf = x.exp().grad_fn.next_functions[0][0]
    return leaf.variable is x, leaf.name(), leaf.next_functions


@program
def grad_fn_has_no_variable(torch: Any) -> Any:
    return two(torch).exp().grad_fn.variable


@program
def grad_fn_several_results(torch: Any) -> Any:
    a, b = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True).max(0)[0], None
    f = function(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3)
    a, b = f.apply(a)
    return a.grad_fn is b.grad_fn, a.output_nr, b.output_nr, (a * b).grad_fn.next_functions[1][1]


@program
def grad_fn_called(torch: Any) -> Any:
    return (two(torch) * 3).exp().grad_fn(ones(torch))


@program
def saved_self_is_the_leaf(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    return y.grad_fn._saved_self is x


@program
def saved_after_free(torch: Any) -> Any:
    y = two(torch).exp()
    y.sum().backward()
    return y.grad_fn._saved_result


@program
def gradient_edges(torch: Any) -> Any:
    x = two(torch)
    y = x.exp()
    edge = torch.autograd.graph.get_gradient_edge(y)
    leaf = torch.autograd.graph.get_gradient_edge(x)
    found = torch.autograd.grad((y * y).sum(), [edge, leaf], retain_graph=True)
    (x * 2).sum().backward()
    return found, edge.output_nr, edge.node.name(), leaf.node.name()


@program
def gradient_edge_as_output(torch: Any) -> Any:
    x = two(torch)
    edge = torch.autograd.graph.get_gradient_edge((x * x).exp())
    return torch.autograd.grad(edge, x, grad_outputs=ones(torch))


@program
def gradient_edge_of_one_of_several(torch: Any) -> Any:
    x = two(torch)
    f = function(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3)
    a, b = f.apply(x)
    edge = torch.autograd.graph.get_gradient_edge(b)
    return torch.autograd.grad((a * b * b).sum(), edge), edge.output_nr


also(
    gradient_edge_of_constant=lambda torch: torch.autograd.graph.get_gradient_edge(torch.ones(2)),
)


# -- hooks -----------------------------------------------------------------------------------------


@program
def hook_sees(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x * 2
    y.register_hook(seen.append)
    (y * y).sum().backward()
    return seen, x.grad


@program
def hook_replaces(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    (y * y).sum().backward()
    return x


@program
def hook_on_leaf(torch: Any) -> Any:
    x = two(torch)
    x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    (x * x).sum().backward()
    return x


@program
def hook_removed(torch: Any) -> Any:
    x = two(torch)
    handle = x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    handle.remove()
    handle.remove()
    (x * x).sum().backward()
    return x


@program
def hook_as_context(torch: Any) -> Any:
    x = two(torch)
    with x.register_hook(lambda g: g * 10):
        (x * x).sum().backward()
    (x * x).sum().backward()
    return x


@program
def hooks_in_order(torch: Any) -> Any:
    x = two(torch)
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: None)
    (x * 3).sum().backward()
    return x


@program
def hook_registered_after_use(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    z = (y * y).sum()
    y.register_hook(lambda g: g * 0)
    z.backward()
    return x


@program
def hook_in_place(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.register_hook(lambda g: g.mul_(3))
    (y * y).sum().backward()
    return x


@program
def hook_clamps(torch: Any) -> Any:
    x = three(torch)
    x.register_hook(lambda g: torch.clamp(g, -1, 1))
    (x**3).sum().backward()
    return x


@program
def hook_and_grad(torch: Any) -> Any:
    x = two(torch)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    return torch.autograd.grad((y * y).sum(), [y, x])


@program
def hook_second_order(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    y.register_hook(lambda g: g * y)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    return g.detach(), torch.autograd.grad(g.sum(), x)


@program
def hook_on_both_sides(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x * 2
    z = y.exp()
    for name, t in (("x", x), ("y", y), ("z", z)):
        t.register_hook(lambda g, name=name: seen.append((name, g)))
    z.sum().backward()
    return seen


@program
def hook_order_of_leaves(torch: Any) -> Any:
    seen: list[str] = []
    b, a, x = two(torch), two(torch), two(torch)
    y = x * a
    z = y * b
    for name, t in (("b", b), ("a", a), ("x", x), ("y", y), ("z", z)):
        t.register_hook(lambda g, name=name: seen.append(name))
    for name, t in (("b", b), ("a", a)):
        t.register_post_accumulate_grad_hook(lambda t, name=name: seen.append(f"{name} has it"))
    z.sum().backward()
    return seen


also(
    hook_on_constant=lambda torch: torch.ones(2).register_hook(print),
    hook_returning_a_number=lambda torch: _hooked(torch, lambda g: 3.0),
    hook_returning_other_shape=lambda torch: _hooked(torch, lambda g: torch.ones(3)),
    hook_returning_other_dtype=lambda torch: _hooked(torch, lambda g: g.float()),
    hook_raising=lambda torch: _hooked(torch, lambda g: 1 / 0),
)


def _hooked(torch: Any, hook: Any) -> Any:
    x = two(torch)
    x.register_hook(hook)
    (x * x).sum().backward()
    return x


@program
def post_accumulate_hook(torch: Any) -> Any:
    x, seen = two(torch), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.clone())))
    (x * x).sum().backward()
    (x * x).sum().backward()
    return seen, x


@program
def post_accumulate_hook_optimises(torch: Any) -> Any:
    x = two(torch)

    def step(t: Any) -> None:
        with torch.no_grad():
            t -= 0.1 * t.grad
        t.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).sum().backward()
    handle.remove()
    (x * x).sum().backward()
    return x


@program
def post_accumulate_hook_not_in_grad(torch: Any) -> Any:
    x, seen = two(torch), []
    x.register_post_accumulate_grad_hook(seen.append)
    torch.autograd.grad((x * x).sum(), x)
    return len(seen)


also(
    post_accumulate_hook_on_non_leaf=lambda torch: (
        two(torch) * 2
    ).register_post_accumulate_grad_hook(print),
    post_accumulate_hook_on_constant=lambda torch: torch.ones(2).register_post_accumulate_grad_hook(
        print
    ),
)


@program
def entry_hook(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    (y * 3).sum().backward()
    return seen, x


@program
def entry_hook_replaces(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, gi[1] * 3))
    y.sum().backward()
    return x, w


@program
def entry_prehook(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    y = x * w
    handle = y.grad_fn.register_prehook(lambda go: (go[0] * 5,))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return x, w


@program
def entry_hooks_and_tensor_hooks(torch: Any) -> Any:
    x, seen = two(torch), []
    y = x.exp()
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_prehook(lambda go: seen.append("before"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("after"))
    y.sum().backward()
    return seen, x


@program
def entry_hook_of_leaf(torch: Any) -> Any:
    x, seen = two(torch), []
    leaf = x.exp().grad_fn.next_functions[0][0]
    leaf.register_hook(lambda gi, go: seen.append((gi, go, x.grad.clone())))
    leaf.register_prehook(lambda go: (go[0] * 2,))
    (x * x).sum().backward()
    return seen, x


@program
def entry_hook_of_wrong_number(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: (gi[0],))
    y.sum().backward()


@program
def multi_grad_hook_all(torch: Any) -> Any:
    a, b, c, seen = two(torch), two(torch), two(torch), []
    torch.autograd.graph.register_multi_grad_hook((a, b, c), seen.append)
    (a * b).sum().backward()
    (a * b * c).sum().backward()
    return [list(s) for s in seen]


@program
def multi_grad_hook_any(torch: Any) -> Any:
    a, b, seen = two(torch), two(torch), []
    handle = torch.autograd.graph.register_multi_grad_hook((a, b), seen.append, mode="any")
    (a * 2 + b).sum().backward()
    handle.remove()
    (a * b).sum().backward()
    return len(seen)


also(
    multi_grad_hook_bad_mode=lambda torch: torch.autograd.graph.register_multi_grad_hook(
        (two(torch),), print, mode="some"
    ),
)


# -- what is saved ---------------------------------------------------------------------------------


@program
def saved_tensors_hooks_count(torch: Any) -> Any:
    packed, unpacked = [], []
    x, w = two(torch), two(torch)

    def pack(t: Any) -> Any:
        packed.append(t.detach().clone())
        return t

    def unpack(t: Any) -> Any:
        unpacked.append(1)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * w).exp().sum()
    z = y + (x * x).sum()
    z.backward()
    return packed, len(unpacked), x, w


@program
def saved_tensors_hooks_change(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t + 1):
        y = x.exp()
    y.sum().backward()
    return x


@program
def saved_tensors_hooks_nested(torch: Any) -> Any:
    hooks, seen = torch.autograd.graph.saved_tensors_hooks, []
    x = two(torch)
    with hooks(lambda t: (seen.append("outer"), t)[1], lambda t: t):
        a = x.exp()
        with hooks(lambda t: (seen.append("inner"), t)[1], lambda t: t):
            b = x.exp()
        c = x.exp()
    (a + b + c).sum().backward()
    return seen, x


@program
def saved_tensors_hooks_retain_graph(torch: Any) -> Any:
    seen: list[int] = []
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (seen.append(1), t)[1]):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    return len(seen), x


@program
def saved_tensors_hooks_freed(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp().sum()
    y.backward()
    y.backward()


@program
def saved_tensors_hooks_second_order(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), torch.from_numpy):
        y = (x**3).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)


@program
def saved_tensors_hooks_in_a_function(torch: Any) -> Any:
    seen: list[Any] = []
    x = two(torch)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (seen.append(t.detach().clone()), t)[1], lambda t: t * 2
    ):
        y = square_of(torch).apply(x)
    y.sum().backward()
    return seen, x


also(
    saved_tensors_hooks_bad_unpack=lambda torch: _bad_unpack(torch),
    saved_tensors_hooks_disabled=lambda torch: _disabled(torch),
    save_on_cpu=lambda torch: _in_context(torch, torch.autograd.graph.save_on_cpu()),
    save_on_cpu_pinned=lambda torch: _in_context(
        torch, torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t)
    ),
)


def _bad_unpack(torch: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 3, lambda t: t):
        y = two(torch).exp()
    y.sum().backward()


def _disabled(torch: Any) -> Any:
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        y = two(torch).exp()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return y


def _in_context(torch: Any, context: Any) -> Any:
    x = two(torch)
    with context:
        y = ((x * x).exp() * x).sum()
    y.backward()
    return x


@program
def mutation_allowed_on_saved(torch: Any) -> Any:
    x = two(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        a = x.clone()
        y = (a * a).sum()
        a.add_(10)
        y.backward()
    return x, a


# -- modes -----------------------------------------------------------------------------------------


@program
def no_grad_context(torch: Any) -> Any:
    x = two(torch)
    with torch.no_grad():
        y = x * 2
        inside = torch.is_grad_enabled()
        with torch.enable_grad():
            z = x * 3
    return inside, torch.is_grad_enabled(), y.requires_grad, z.requires_grad, y.is_leaf


@program
def no_grad_decorators(torch: Any) -> Any:
    x = two(torch)

    @torch.no_grad()
    def f(t: Any) -> Any:
        return t * 2

    @torch.no_grad
    def g(t: Any) -> Any:
        return t * 2

    @torch.enable_grad()
    def h(t: Any) -> Any:
        return t * 2

    with torch.no_grad():
        back = h(x).requires_grad
    return f(x).requires_grad, g(x).requires_grad, back, f.__name__, torch.is_grad_enabled()


@program
def no_grad_generator(torch: Any) -> Any:
    x = two(torch)

    @torch.no_grad()
    def f(t: Any) -> Any:
        got = yield t * 2
        yield (t * 3, got)
        return 5

    made = f(x)
    first = next(made)
    outside = torch.is_grad_enabled()
    second, got = made.send("sent")
    end = None
    try:
        next(made)
    except StopIteration as stop:
        end = stop.value
    return first.requires_grad, outside, second.requires_grad, got, end


@program
def no_grad_generator_throw(torch: Any) -> Any:
    @torch.no_grad()
    def f() -> Any:
        try:
            yield torch.is_grad_enabled()
        except ValueError:
            yield ("caught", torch.is_grad_enabled())

    made = f()
    first = next(made)
    return first, made.throw(ValueError()), torch.is_grad_enabled()


@program
def no_grad_after_an_error(torch: Any) -> Any:
    try:
        with torch.no_grad():
            raise KeyError
    except KeyError:
        return torch.is_grad_enabled()


@program
def no_grad_reused(torch: Any) -> Any:
    mode, seen = torch.no_grad(), []
    for _ in range(2):
        with mode:
            seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    return seen


@program
def set_grad_enabled_forms(torch: Any) -> Any:
    seen = []
    torch.set_grad_enabled(False)
    seen.append(torch.is_grad_enabled())
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        seen.append(torch.is_grad_enabled())
    seen.append(torch.is_grad_enabled())

    @torch.set_grad_enabled(False)
    def f() -> Any:
        return torch.is_grad_enabled()

    return seen, torch.is_grad_enabled(), f(), torch.is_grad_enabled()


@program
def no_grad_method(torch: Any) -> Any:
    class A:
        @torch.no_grad()
        def f(self, x: Any) -> Any:
            return x * 2

    return A().f(two(torch)).requires_grad


@program
def requires_grad_made_under_no_grad(torch: Any) -> Any:
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
        y = x * 2
    return x.requires_grad, y.requires_grad, x.is_leaf


@program
def inference_mode_flags(torch: Any) -> Any:
    x = two(torch)
    with torch.inference_mode():
        y = x * 2
        inside = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
        z = torch.ones(2)
        flags = y.is_inference(), z.is_inference(), x.is_inference(), torch.is_inference(y)
    return inside, flags, y.requires_grad, torch.is_inference_mode_enabled(), y


@program
def inference_mode_decorator(torch: Any) -> Any:
    @torch.inference_mode()
    def f(x: Any) -> Any:
        return x * 2

    @torch.inference_mode
    def g(x: Any) -> Any:
        return x * 2

    x = two(torch)
    return f(x).is_inference(), g(x).is_inference(), f(x).requires_grad, (x * 2).is_inference()


def _inferred(torch: Any) -> Any:
    with torch.inference_mode():
        return torch.ones(2, dtype=torch.float64) * 2


also(
    inference_tensor_requires_grad=lambda torch: _inferred(torch).requires_grad_(),
    inference_tensor_in_place=lambda torch: _inferred(torch).add_(1),
    inference_tensor_in_place_no_grad=lambda torch: _no_grad(
        torch, lambda: _inferred(torch).mul_(2)
    ),
    inference_tensor_saved=lambda torch: _inferred(torch) * two(torch),
    inference_tensor_added=lambda torch: (_inferred(torch) + two(torch)).requires_grad,
    inference_tensor_computed_with=lambda torch: (_inferred(torch) * 3).is_inference(),
    inference_tensor_cloned=lambda torch: (_inferred(torch).clone() * two(torch)).requires_grad,
    inference_tensor_version=lambda torch: _inferred(torch)._version,
    inference_tensor_view=lambda torch: _inferred(torch).reshape(2, 1).is_inference(),
    inference_mode_off_inside=lambda torch: _inference_off(torch),
    inference_mode_enable_grad=lambda torch: _inference_enable(torch),
    inference_tensor_in_place_inside=lambda torch: _inference_write(torch),
)


def _inference_off(torch: Any) -> Any:
    with torch.inference_mode(), torch.inference_mode(mode=False):
        x = two(torch)
        return (x * 2).requires_grad, torch.is_grad_enabled(), x.is_inference()


def _inference_enable(torch: Any) -> Any:
    with torch.inference_mode(), torch.enable_grad():
        return (two(torch) * 2).requires_grad, torch.is_grad_enabled()


def _inference_write(torch: Any) -> Any:
    x = torch.ones(2)
    with torch.inference_mode():
        y = x * 2
        y.add_(1)
        x.add_(1)
        v = x.reshape(2, 1)
        return y, x, x.is_inference(), v.is_inference(), y.is_inference()


@program
def anomaly_found(torch: Any) -> Any:
    with torch.autograd.detect_anomaly():
        x = torch.tensor([0.0, 2.0], requires_grad=True)
        (x.sqrt() * 0).sum().backward()


@program
def anomaly_found_by_name(torch: Any) -> Any:
    try:
        with torch.autograd.set_detect_anomaly(True):
            x = torch.tensor([0.0, 2.0], requires_grad=True)
            (x.sqrt() * 0).sum().backward()
    except RuntimeError as error:
        return "SqrtBackward0" in str(error), torch.is_anomaly_enabled()


@program
def anomaly_not_checked(torch: Any) -> Any:
    with torch.autograd.detect_anomaly(check_nan=False):
        x = torch.tensor([0.0, 2.0], requires_grad=True)
        (x.sqrt() * 0).sum().backward()
        return x.grad, torch.is_anomaly_check_nan_enabled()


@program
def anomaly_absent(torch: Any) -> Any:
    with torch.autograd.detect_anomaly():
        x = two(torch)
        y = (x.exp() * x).sum()
        y.backward(retain_graph=True)
        (g,) = torch.autograd.grad(y, x)
    return x, g


@program
def anomaly_set(torch: Any) -> Any:
    torch.autograd.set_detect_anomaly(True)
    inside = torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    return inside, torch.is_anomaly_enabled()


@program
def threads(torch: Any) -> Any:
    x, found = two(torch), []

    def work() -> None:
        found.append(torch.is_grad_enabled())
        (x * x).sum().backward()

    with torch.no_grad():
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return x, found


@program
def variables(torch: Any) -> Any:
    from_autograd = torch.autograd.Variable
    x = from_autograd(torch.tensor([1.0, 2.0]), requires_grad=True)
    (x * x).sum().backward()
    return x, isinstance(x, from_autograd), from_autograd(torch.ones(2)).requires_grad


# -- Function --------------------------------------------------------------------------------------


def square_of(torch: Any) -> Any:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            (x,) = ctx.saved_tensors
            return g * 2 * x

    return Square


def function(torch: Any, forward: Any, backward: Any, **further: Any) -> Any:
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    methods.update({k: staticmethod(v) if callable(v) else v for k, v in further.items()})
    return type("F", (torch.autograd.Function,), methods)


@program
def function_square(torch: Any) -> Any:
    x = two(torch)
    y = square_of(torch).apply(x)
    y.sum().backward()
    return y.detach(), x, y.grad_fn.name(), type(y.grad_fn).__name__


@program
def function_second_order(torch: Any) -> Any:
    x = two(torch)
    y = square_of(torch).apply(x * x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    return g.detach(), h.detach(), torch.autograd.grad(h.sum(), x)


@program
def function_saves_the_result(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = two(torch)
    y = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), torch.autograd.grad(g.sum(), x)


@program
def function_setup_context(torch: Any) -> Any:
    def forward(x: Any, k: Any) -> Any:
        return x * x * k

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        x, k = inputs
        ctx.save_for_backward(x)
        ctx.k = k

    def backward(ctx: Any, g: Any) -> Any:
        return 2 * g * ctx.saved_tensors[0] * ctx.k, None

    x = two(torch)
    f = function(torch, forward, backward, setup_context=setup)
    f.apply(x, 3).sum().backward()
    return x


@program
def function_with_everything_as_argument(torch: Any) -> Any:
    seen = []

    def forward(ctx: Any, x: Any, number: Any, text: Any, nothing: Any, w: Any) -> Any:
        seen.append((ctx.needs_input_grad, number, text, nothing))
        return x * number + w

    x, w = two(torch), ones(torch)
    f = function(torch, forward, lambda ctx, g: (g * 3, None, None, None, None))
    y = f.apply(x, 3, "a", None, w)
    y.sum().backward()
    return seen, x, w.grad


@program
def function_several_results(torch: Any) -> Any:
    seen = []

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append((a, b))
        return a * 2 + b * 3

    x = two(torch)
    f = function(torch, lambda ctx, x: (x * 2, x * 3), backward)
    a, b = f.apply(x)
    a.sum().backward(retain_graph=True)
    (a * b).sum().backward()
    return seen, x, a.grad_fn is b.grad_fn, b.output_nr


@program
def function_does_not_materialize(torch: Any) -> Any:
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx: Any, a: Any, b: Any) -> Any:
        seen.append((a is None, b is None))
        return b * 3

    x = two(torch)
    function(torch, forward, backward).apply(x)[1].sum().backward()
    return seen, x


@program
def function_non_differentiable(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        values, places = x.sort()
        ctx.mark_non_differentiable(places)
        ctx.save_for_backward(places)
        return values, places

    def backward(ctx: Any, g: Any, unused: Any) -> Any:
        (places,) = ctx.saved_tensors
        found = torch.zeros_like(g)
        found[places] = g
        return found

    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, places = function(torch, forward, backward).apply(x)
    (values * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    return x, places, places.requires_grad


@program
def function_non_differentiable_float(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    x = two(torch)
    a, b = function(torch, forward, lambda ctx, g, h: g * 2 + h).apply(x)
    a.sum().backward()
    return x, b.requires_grad, b.is_leaf


@program
def function_integer_result(torch: Any) -> Any:
    y = function(torch, lambda ctx, x: x.long(), lambda ctx, g: g).apply(two(torch))
    return y, y.requires_grad


@program
def function_returning_other_things(torch: Any) -> Any:
    f = function(torch, lambda ctx, x: (x * 2, None, 3, "a"), lambda ctx, g, *more: g * 2)
    x = two(torch)
    y, nothing, three, text = f.apply(x)
    y.sum().backward()
    return x, nothing, three, text


@program
def function_returning_its_input(torch: Any) -> Any:
    x = two(torch)
    y = function(torch, lambda ctx, x: x, lambda ctx, g: g * 7).apply(x)
    y.sum().backward()
    return x, y is x, y.requires_grad, y.is_leaf


@program
def function_returning_a_view_of_its_input(torch: Any) -> Any:
    x = two(torch)
    y = function(torch, lambda ctx, x: x.reshape(2, 1), lambda ctx, g: g.reshape(2)).apply(x)
    (y * y).sum().backward()
    return x, y.detach()


@program
def function_marking_dirty(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x = two(torch)
    a = x * 1
    b = function(torch, forward, lambda ctx, g: g * 2).apply(a)
    (a * a).sum().backward()
    return x, a is b, a.detach(), a.grad_fn.name(), a._version


@program
def function_marking_a_view_dirty(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x = two(torch)
    a = x * 1
    function(torch, forward, lambda ctx, g: g * 2).apply(a[:1])
    (a * a).sum().backward()
    return x, a.detach()


def _dirty(ctx: Any, x: Any) -> Any:
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


also(
    function_dirty_leaf=lambda torch: function(torch, _dirty, lambda ctx, g: g).apply(two(torch)),
    function_dirty_not_returned=lambda torch: function(
        torch, lambda ctx, x: _dirty(ctx, x) * 1, lambda ctx, g: g
    ).apply(two(torch) * 1),
    function_dirty_under_no_grad=lambda torch: _no_grad(
        torch, lambda: function(torch, _dirty, lambda ctx, g: g).apply(ones(torch))
    ),
    function_instance_called=lambda torch: square_of(torch)()(two(torch)),
    function_without_forward=lambda torch: type("F", (torch.autograd.Function,), {}).apply(
        two(torch)
    ),
    function_without_backward=lambda torch: (
        type("F", (torch.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
        .apply(two(torch))
        .sum()
        .backward()
    ),
    function_with_keywords=lambda torch: _run(
        function(torch, lambda ctx, x, k=2: x * k, lambda ctx, g: (g * 2, None)), torch, k=2
    ),
)


def _run(f: Any, torch: Any, **options: Any) -> Any:
    x = two(torch)
    f.apply(x, **options).sum().backward()
    return x


def _answering(torch: Any, answer: Any) -> Any:
    return _run(function(torch, lambda ctx, x: x * 2, lambda ctx, g: answer(g)), torch)


also(
    function_too_many_gradients=lambda torch: _answering(torch, lambda g: (g, g)),
    function_further_nones=lambda torch: _answering(torch, lambda g: (g, None, None)),
    function_gradient_of_wrong_shape=lambda torch: _answering(torch, lambda g: torch.ones(3)),
    function_gradient_too_small=lambda torch: _answering(torch, lambda g: torch.ones(1)),
    function_gradient_0d=lambda torch: _answering(torch, lambda g: torch.tensor(1.0)),
    function_gradient_summed=lambda torch: _answering(torch, lambda g: torch.ones(3, 2)),
    function_gradient_of_other_dtype=lambda torch: _answering(torch, lambda g: g.float()),
    function_gradient_integer=lambda torch: _answering(torch, lambda g: g.long()),
    function_gradient_complex=lambda torch: _answering(torch, lambda g: g * 1j),
    function_gradient_number=lambda torch: _answering(torch, lambda g: 1.0),
    function_gradient_list=lambda torch: _answering(torch, lambda g: [g]),
    function_gradient_none=lambda torch: _answering(torch, lambda g: None),
    function_gradient_tuple=lambda torch: _answering(torch, lambda g: (g,)),
    function_raising=lambda torch: _answering(torch, lambda g: {}["a"]),
)


@program
def function_gradient_none_to_grad(torch: Any) -> Any:
    x, w = two(torch), two(torch)
    f = function(torch, lambda ctx, x, w: x * w, lambda ctx, g: (g, None))
    y = f.apply(x, w).sum()
    return torch.autograd.grad(y, [x, w], allow_unused=True)


@program
def function_gradient_none_raises_in_grad(torch: Any) -> Any:
    x = two(torch)
    f = function(torch, lambda ctx, x: x * 2, lambda ctx, g: None)
    return torch.autograd.grad(f.apply(x).sum(), x)


@program
def function_gradient_none_beside_another_path(torch: Any) -> Any:
    x = two(torch)
    f = function(torch, lambda ctx, x: x * 2, lambda ctx, g: None)
    (f.apply(x) + x * 3).sum().backward()
    return x


@program
def function_too_few_gradients(torch: Any) -> Any:
    f = function(torch, lambda ctx, x, k: x * k, lambda ctx, g: g)
    f.apply(two(torch), 3).sum().backward()


@program
def function_gradient_for_a_number(torch: Any) -> Any:
    f = function(torch, lambda ctx, x, k: x * k, lambda ctx, g: (g, g))
    f.apply(two(torch), 3).sum().backward()


@program
def function_freed(torch: Any) -> Any:
    y = square_of(torch).apply(two(torch))
    y.sum().backward()
    y.sum().backward()


@program
def function_freed_saved_tensors(torch: Any) -> Any:
    y = square_of(torch).apply(two(torch))
    y.sum().backward()
    return y.grad_fn.saved_tensors


@program
def function_saved_tensors_of_grad_fn(torch: Any) -> Any:
    y = square_of(torch).apply(two(torch))
    return y.grad_fn.saved_tensors


@program
def function_that_saves_nothing_twice(torch: Any) -> Any:
    x = two(torch)
    y = function(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.sum().backward()
    y.sum().backward()
    return x


@program
def function_retain_graph(torch: Any) -> Any:
    x = two(torch)
    y = square_of(torch).apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x


@program
def function_saved_was_overwritten(torch: Any) -> Any:
    a = two(torch) * 1
    y = square_of(torch).apply(a).sum()
    a.add_(1)
    y.backward()


@program
def function_attributes(torch: Any) -> Any:
    def forward(ctx: Any, x: Any, k: Any) -> Any:
        ctx.k = k
        ctx.shape = x.shape
        return x * k

    def backward(ctx: Any, g: Any) -> Any:
        return g.expand(ctx.shape) * ctx.k, None

    x = two(torch)
    y = function(torch, forward, backward).apply(x, 4)
    y.sum().backward()
    return x, y.grad_fn.k


@program
def function_under_no_grad(torch: Any) -> Any:
    with torch.no_grad():
        y = square_of(torch).apply(two(torch))
    return y, y.requires_grad


@program
def function_of_constants(torch: Any) -> Any:
    y = square_of(torch).apply(ones(torch))
    return y, y.requires_grad, y.grad_fn


@program
def function_inside_sees_no_grad(torch: Any) -> Any:
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        seen.append((torch.is_grad_enabled(), x.requires_grad, (x * 2).requires_grad))
        return x * 2

    def backward(ctx: Any, g: Any) -> Any:
        seen.append((torch.is_grad_enabled(), g.requires_grad))
        return g * 2

    x = two(torch)
    f = function(torch, forward, backward)
    f.apply(x).sum().backward()
    torch.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    return seen


@program
def function_calls_a_function(torch: Any) -> Any:
    square = square_of(torch)

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return square.apply(x) * 3

    def backward(ctx: Any, g: Any) -> Any:
        return square.apply(ctx.saved_tensors[0]) * g

    x = two(torch)
    (g,) = torch.autograd.grad(
        function(torch, forward, backward).apply(x).sum(), x, create_graph=True
    )
    return g.detach(), torch.autograd.grad(g.sum(), x)


@program
def function_uses_autograd_inside(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = (x**3).sum()
            (ctx.g,) = torch.autograd.grad(y, x)
        return y.detach()

    x = two(torch)
    function(torch, forward, lambda ctx, g: g * ctx.g).apply(x).backward()
    return x


@program
def function_chain(torch: Any) -> Any:
    f = square_of(torch).apply
    x = two(torch)
    f(f(f(x))).sum().backward()
    return x


@program
def function_same_argument_twice(torch: Any) -> Any:
    f = function(torch, lambda ctx, a, b: a * b, lambda ctx, g: (g * 2, g * 3))
    x = two(torch)
    f.apply(x, x).sum().backward()
    return x


@program
def function_saves_none(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(None, x)
        return x * 2

    x = two(torch)
    f = function(torch, forward, lambda ctx, g: g * 2 if ctx.saved_tensors[0] is None else g * 0)
    f.apply(x).sum().backward()
    return x


@program
def function_once_differentiable(torch: Any) -> Any:
    backward = torch.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = two(torch)
    y = function(torch, lambda ctx, x: x * 2, backward).apply(x)
    (y * y).sum().backward()
    return x


@program
def function_once_differentiable_twice(torch: Any) -> Any:
    backward = torch.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = two(torch)
    y = function(torch, lambda ctx, x: x * 2, backward).apply(x)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    g.sum().backward()


@program
def function_straight_through(torch: Any) -> Any:
    f = function(torch, lambda ctx, x: (x > 0).float(), lambda ctx, g: g.clamp(-1, 1))
    x = three(torch)
    (f.apply(x) * torch.tensor([2.0, 0.5, -3.0])).sum().backward()
    return x


@program
def function_relu(torch: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        g = g.clone()
        g[x < 0] = 0
        return g

    x = three(torch)
    (function(torch, forward, backward).apply(x) * 2).sum().backward()
    return x


@program
def function_linear(torch: Any) -> Any:
    def forward(ctx: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        ctx.save_for_backward(x, weight, bias)
        output = x.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    def backward(ctx: Any, g: Any) -> Any:
        x, weight, bias = ctx.saved_tensors
        gx = gw = gb = None
        if ctx.needs_input_grad[0]:
            gx = g.mm(weight)
        if ctx.needs_input_grad[1]:
            gw = g.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            gb = g.sum(0)
        return gx, gw, gb

    x = torch.tensor([[1.0, 2.0], [3.0, -1.0]], dtype=torch.float64)
    w = torch.tensor([[0.5, 1.0], [2.0, 0.0], [1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    f = function(torch, forward, backward)
    f.apply(x, w, b).pow(2).sum().backward()
    f.apply(x, w).sum().backward()
    return w, b, x.grad, torch.autograd.gradcheck(f.apply, (x.requires_grad_(), w, b))


@program
def function_hooks(torch: Any) -> Any:
    x, seen = two(torch), []
    y = square_of(torch).apply(x)
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    y.sum().backward()
    return seen, x


@program
def function_complex(torch: Any) -> Any:
    def forward(ctx: Any, z: Any) -> Any:
        ctx.save_for_backward(z)
        return z * z

    z = z_of(torch)
    f = function(torch, forward, lambda ctx, g: g * (2 * ctx.saved_tensors[0]).conj())
    f.apply(z).abs().sum().backward()
    return z, torch.autograd.gradcheck(f.apply, z)


@program
def function_vmap_rule(torch: Any) -> Any:
    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    f = function(
        torch,
        lambda x: x**3,
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=setup,
        generate_vmap_rule=True,
    )
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = torch.func.vmap(f.apply)(x)
    y.sum().backward()
    return y.detach(), x, torch.func.vmap(torch.func.grad(lambda v: f.apply(v).sum()))(x.detach())


@program
def function_own_vmap(torch: Any) -> Any:
    seen = []

    def vmap(info: Any, in_dims: Any, x: Any, k: Any) -> Any:
        seen.append((info.batch_size, in_dims, tuple(x.shape)))
        return x * k, in_dims[0]

    f = function(
        torch,
        lambda x, k: x * k,
        lambda ctx, g: (g * 2, None),
        setup_context=lambda ctx, inputs, output: None,
        vmap=vmap,
    )
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return torch.func.vmap(lambda v: f.apply(v, 2))(x), seen


@program
def function_under_func_grad(torch: Any) -> Any:
    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    f = function(
        torch, lambda x: x**3, lambda ctx, g: g * 7 * ctx.saved_tensors[0], setup_context=setup
    )
    x = torch.tensor([1.0, 2.0])
    once = torch.func.grad(lambda v: f.apply(v).sum())
    return once(x), torch.func.grad(lambda v: once(v).sum())(x)


# -- gradcheck -------------------------------------------------------------------------------------


def _wrong(torch: Any) -> Any:
    return function(torch, lambda ctx, x: x * x, lambda ctx, g: g * 3)


also(
    gradcheck_right=lambda torch: torch.autograd.gradcheck(lambda x: x.exp() * x, (two(torch),)),
    gradcheck_one_tensor=lambda torch: torch.autograd.gradcheck(lambda x: x.sin(), two(torch)),
    gradcheck_fast=lambda torch: torch.autograd.gradcheck(
        lambda x: x.exp() * x, two(torch), fast_mode=True
    ),
    gradcheck_wrong=lambda torch: torch.autograd.gradcheck(_wrong(torch).apply, two(torch)),
    gradcheck_wrong_false=lambda torch: torch.autograd.gradcheck(
        _wrong(torch).apply, two(torch), raise_exception=False
    ),
    gradcheck_wrong_fast=lambda torch: torch.autograd.gradcheck(
        _wrong(torch).apply, two(torch), raise_exception=False, fast_mode=True
    ),
    gradcheck_options=lambda torch: torch.autograd.gradcheck(
        lambda x: x**3, two(torch), eps=1e-5, atol=1e-3, rtol=1e-2, check_undefined_grad=False,
        nondet_tol=1e-5, check_grad_dtypes=True, check_batched_grad=True,
    ),
    gradcheck_several=lambda torch: torch.autograd.gradcheck(
        lambda x, w, k: (x * w, (x + w).exp() * k), (two(torch), two(torch), 3)
    ),
    gradcheck_complex=lambda torch: torch.autograd.gradcheck(
        lambda z: z * z.conj() * z, z_of(torch)
    ),
    gradcheck_nothing=lambda torch: torch.autograd.gradcheck(lambda x: x, ones(torch)),
    gradcheck_float32=lambda torch: torch.autograd.gradcheck(
        lambda x: x * 2, two(torch, torch.float32), eps=1e-2, atol=1e-2
    ),
    gradcheck_no_outputs=lambda torch: torch.autograd.gradcheck(
        lambda x: ones(torch) * 3, two(torch)
    ),
    gradcheck_module=lambda torch: torch.autograd.gradcheck.__name__.rpartition(".")[2],
    gradgradcheck_right=lambda torch: torch.autograd.gradgradcheck(lambda x: x**3, two(torch)),
    gradgradcheck_given=lambda torch: torch.autograd.gradgradcheck(
        lambda x: x.sin() * x, (two(torch),), (two(torch),)
    ),
    gradgradcheck_wrong=lambda torch: torch.autograd.gradgradcheck(
        function(
            torch, lambda ctx, x: ctx.save_for_backward(x) or x * x,
            lambda ctx, g: g * 2 * ctx.saved_tensors[0].detach(),
        ).apply,
        two(torch),
    ),
)  # fmt: skip


# -- checkpoint ------------------------------------------------------------------------------------


def checkpointed(torch: Any, reentrant: bool, body: Any, **options: Any) -> Any:
    x, w = two(torch), two(torch)
    count = [0]

    def f(a: Any) -> Any:
        count[0] += 1
        return body(a, w)

    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant, **options)
    total = sum(p.sum() for p in y) if isinstance(y, tuple) else y.sum()
    total.backward()
    return x, w, count


for _reentrant in (False, True):
    _name = "reentrant" if _reentrant else "not_reentrant"
    also(
        **{
            f"checkpoint_{_name}": lambda torch, r=_reentrant: checkpointed(
                torch, r, lambda a, w: (a * w).exp() * a
            ),
            f"checkpoint_{_name}_tuple": lambda torch, r=_reentrant: checkpointed(
                torch, r, lambda a, w: ((a * w).exp(), a * a)
            ),
            f"checkpoint_{_name}_random_state": lambda torch, r=_reentrant: checkpointed(
                torch, r, lambda a, w: a * w * a, preserve_rng_state=False
            ),
        }
    )


@program
def checkpoint_keywords(torch: Any) -> Any:
    x = two(torch)
    f = torch.utils.checkpoint.checkpoint
    f(lambda a, k: (a * k).exp(), x, use_reentrant=False, k=2).sum().backward()
    return x


@program
def checkpoint_second_order(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: (a**3).exp(), x * 0.3, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), torch.autograd.grad(g.sum(), x)


@program
def checkpoint_nested(torch: Any) -> Any:
    x = two(torch)
    f = torch.utils.checkpoint.checkpoint

    def inner(a: Any) -> Any:
        return (a * 0.1).exp() * a

    def outer(a: Any) -> Any:
        return f(inner, f(inner, a, use_reentrant=False), use_reentrant=False) * 2

    f(outer, x, use_reentrant=False).sum().backward()
    return x


@program
def checkpoint_chain(torch: Any) -> Any:
    x = two(torch)
    y = x
    for _ in range(4):
        y = torch.utils.checkpoint.checkpoint(lambda a: (a * 0.5).sin() + x, y, use_reentrant=False)
    y.sum().backward()
    return x


@program
def checkpoint_retain_graph(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: a.exp(), x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x


@program
def checkpoint_freed(torch: Any) -> Any:
    y = torch.utils.checkpoint.checkpoint(lambda a: a.exp(), two(torch), use_reentrant=False).sum()
    y.backward()
    y.backward()


@program
def checkpoint_does_something_else(torch: Any) -> Any:
    count = [0]

    def f(a: Any) -> Any:
        count[0] += 1
        return a * a if count[0] == 1 else a + a + a

    y = torch.utils.checkpoint.checkpoint(f, two(torch), use_reentrant=False)
    y.sum().backward()


@program
def checkpoint_of_constants(torch: Any) -> Any:
    y = torch.utils.checkpoint.checkpoint(lambda a: a * 2, ones(torch), use_reentrant=False)
    return y, y.requires_grad


@program
def checkpoint_under_no_grad(torch: Any) -> Any:
    with torch.no_grad():
        y = torch.utils.checkpoint.checkpoint(lambda a: a * 2, two(torch), use_reentrant=False)
    return y, y.requires_grad


@program
def checkpoint_reentrant_and_grad(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: a * a, x, use_reentrant=True)
    return torch.autograd.grad(y.sum(), x)


@program
def checkpoint_reentrant_keywords(torch: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(lambda a, k: a, two(torch), use_reentrant=True, k=1)


@program
def checkpoint_default(torch: Any) -> Any:
    x = two(torch)
    torch.utils.checkpoint.checkpoint(lambda a: a.exp(), x).sum().backward()
    return x


for _reentrant in (False, True):
    also(
        **{f"checkpoint_sequential_{_reentrant}": lambda torch, r=_reentrant: _sequential(torch, r)}
    )


def _sequential(torch: Any, reentrant: bool) -> Any:
    x = two(torch)
    steps = [torch.sin, torch.exp, torch.cos, torch.tanh, lambda a: a * 2]
    f = torch.utils.checkpoint.checkpoint_sequential
    y = f(steps, 2, x, use_reentrant=reentrant)
    y.sum().backward()
    return y.detach(), x


# -- one thing inside of another -------------------------------------------------------------------


def mat(torch: Any) -> Any:
    rows = [[1.0, 2.0, -1.0], [0.5, 3.0, 0.25]]
    return torch.tensor(rows, dtype=torch.float64, requires_grad=True)


@program
def retain_then_inplace(t: Any) -> Any:
    x = two(t)
    y = x * 1
    y.retain_grad()
    y.mul_(2)
    (y * y).sum().backward()
    return x, y.grad


@program
def hook_then_inplace(t: Any) -> Any:
    x = two(t)
    seen = []
    y = x * 1
    y.register_hook(lambda g: seen.append(("old", g)))
    y.mul_(2)
    y.register_hook(lambda g: seen.append(("new", g)))
    (y * y).sum().backward()
    return x, seen


@program
def hook_on_view(t: Any) -> Any:
    x = mat(t)
    v = x[0]
    v.register_hook(lambda g: g * 10)
    (x.sum() + v.sum()).backward()
    return x


@program
def hook_base_then_view_write(t: Any) -> Any:
    x = mat(t)
    a = x * 1
    seen = []
    a.register_hook(seen.append)
    a[0].mul_(3)
    (a * a).sum().backward()
    return x, seen


@program
def saved_hooks_composites(t: Any) -> Any:
    x = mat(t)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v.clone(), lambda v: v):
        y = (
            x.exp().log().mean()
            + x.var()
            + x.std(0).sum()
            + (x @ x.T).norm()
            + x.logsumexp(0).sum()
            + x.prod()
            + x.cumsum(0).tanh().sum()
        )
    y.backward()
    return x


@program
def saved_hooks_mod_matmul(t: Any) -> Any:
    x = mat(t)
    w = mat(t)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v * 2, lambda v: v):
        y = (x @ w.T).sum()
    y.backward()
    return x, w


@program
def anomaly_composites(t: Any) -> Any:
    with t.autograd.set_detect_anomaly(True):
        x = mat(t)
        y = (
            x.exp().log().mean()
            + x.var()
            + (x @ x.T).norm()
            + x.prod()
            + t.stack([x, x]).max(0)[0].sum()
        )
        y.backward()
        return x


@program
def anomaly_function(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * float("nan")

    try:
        with t.autograd.set_detect_anomaly(True):
            x = two(t)
            F.apply(x).sum().backward()
    except RuntimeError as e:
        return "FBackward" in str(e)


@program
def anomaly_div(t: Any) -> Any:
    try:
        with t.autograd.set_detect_anomaly(True):
            x = t.zeros(2, requires_grad=True)
            (x / x).sum().backward()
    except RuntimeError as e:
        return "DivBackward0" in str(e), str(e)[:60]


@program
def anomaly_norm(t: Any) -> Any:
    try:
        with t.autograd.set_detect_anomaly(True):
            x = t.zeros(2, requires_grad=True)
            y = (x * x).sum().sqrt()
            y.backward()
    except RuntimeError as e:
        return str(e)[:60]


@program
def anomaly_log_second(t: Any) -> Any:
    with t.autograd.set_detect_anomaly(True):
        x = two(t)
        (g,) = t.autograd.grad(x.log().sum(), x, create_graph=True)
        return t.autograd.grad(g.sum(), x)


@program
def ckpt_inplace(t: Any) -> Any:
    def f(a: Any) -> Any:
        b = a * 2
        b.add_(1)
        b[0] = b[1] * 3
        return b * b

    x = two(t)
    t.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum().backward()
    return x


@program
def ckpt_function(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 * ctx.saved_tensors[0]

    x = two(t)
    t.utils.checkpoint.checkpoint(
        lambda a: F.apply(a * 3).exp(), x * 0.1, use_reentrant=False
    ).sum().backward()
    return x


@program
def ckpt_hooks(t: Any) -> Any:
    x = two(t)
    seen = []
    x.register_hook(lambda g: seen.append(g))
    x.register_post_accumulate_grad_hook(lambda v: seen.append(v.grad.clone()))
    t.utils.checkpoint.checkpoint(
        lambda a: (a * x).exp(), x * 1, use_reentrant=False
    ).sum().backward()
    return x, seen


@program
def ckpt_returns_input(t: Any) -> Any:
    x = two(t)
    y = t.utils.checkpoint.checkpoint(lambda a: (a, a * a), x, use_reentrant=False)
    (y[0] + y[1]).sum().backward()
    return x, y[0] is x


@program
def ckpt_dict(t: Any) -> Any:
    x = two(t)
    y = t.utils.checkpoint.checkpoint(lambda a: {"u": a.exp(), "k": 3}, x, use_reentrant=False)
    y["u"].sum().backward()
    return x, y["k"]


@program
def ckpt_saved_hooks(t: Any) -> Any:
    x = two(t)
    with t.autograd.graph.saved_tensors_hooks(lambda v: v.clone(), lambda v: v):
        y = t.utils.checkpoint.checkpoint(lambda a: (a * a).exp(), x, use_reentrant=False)
    y.sum().backward()
    return x


@program
def ckpt_grad_inside(t: Any) -> Any:
    def f(a: Any) -> Any:
        with t.enable_grad():
            b = a.detach().requires_grad_()
            (g,) = t.autograd.grad((b**3).sum(), b)
        return a * g

    x = two(t)
    t.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum().backward()
    return x


@program
def ckpt_double_inside(t: Any) -> Any:
    def f(a: Any) -> Any:
        y = (a**3).sum()
        (g,) = t.autograd.grad(y, a, create_graph=True)
        return g * a

    x = two(t)
    t.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum().backward()
    return x


@program
def ckpt_re_params(t: Any) -> Any:
    w = two(t)

    def f(a: Any) -> Any:
        return (a * w).sin()

    x = two(t)
    y = x
    for _ in range(3):
        y = t.utils.checkpoint.checkpoint(f, y, use_reentrant=True)
    y.sum().backward()
    return x, w


@program
def ckpt_re_none(t: Any) -> Any:
    x = two(t)
    y = t.utils.checkpoint.checkpoint(
        lambda a, b: a * 2 if b is None else a, x, None, use_reentrant=True
    )
    y.sum().backward()
    return x


@program
def ckpt_re_twice(t: Any) -> Any:
    x = two(t)
    y = t.utils.checkpoint.checkpoint(lambda a: a.exp(), x, use_reentrant=True).sum()
    y.backward()
    y.backward()


@program
def backward_in_hook(t: Any) -> Any:
    x = two(t)
    w = two(t)
    y = x * 2

    def h(g: Any) -> Any:
        (w * 3).sum().backward()

    y.register_hook(h)
    y.sum().backward()
    return x, w


@program
def grad_in_backward(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            with t.enable_grad():
                z = x.detach().requires_grad_()
                (r,) = t.autograd.grad((z**3).sum(), z)
            return g * r

    x = two(t)
    F.apply(x).sum().backward()
    return x


@program
def zero_size(t: Any) -> Any:
    x = t.zeros(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    return x


@program
def expanded(t: Any) -> Any:
    x = two(t)
    y = x.expand(3, 2)
    (y * y).sum().backward()
    return x


@program
def int_intermediate(t: Any) -> Any:
    x = two(t)
    (x * x.long()).sum().backward()
    return x


@program
def bool_mask(t: Any) -> Any:
    x = two(t)
    (x * (x > 1)).sum().backward()
    return x


@program
def func_multi(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a * b, a + b, a.sum()

        @staticmethod
        def backward(ctx: Any, g1: Any, g2: Any, g3: Any) -> Any:
            a, b = ctx.saved_tensors
            return g1 * b + g2 + g3, g1 * a + g2

    x, w = two(t), two(t)
    a, b, c = F.apply(x, w)
    (a * b * c).sum().backward(retain_graph=True)
    g = t.autograd.grad((a * b * c).sum(), [x, w], create_graph=True)
    return x, w, t.autograd.grad((g[0] * g[1]).sum(), [x, w])


@program
def func_batched(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, i: Any, o: Any) -> Any:
            ctx.save_for_backward(*i)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = two(t)
    y = F.apply(x)
    return t.autograd.grad(y, x, t.eye(2, dtype=t.float64), is_grads_batched=True)


@program
def func_jvp(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, i: Any, o: Any) -> Any:
            ctx.save_for_backward(*i)
            ctx.save_for_forward(*i)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0] ** 2

        @staticmethod
        def jvp(ctx: Any, v: Any) -> Any:
            return v * 7 * ctx.saved_tensors[0]

    x = t.tensor([1.0, 2.0])
    return t.func.jvp(F.apply, (x,), (t.ones(2),))


@program
def func_jvp_dual(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

        @staticmethod
        def jvp(ctx: Any, v: Any) -> Any:
            return v * 7 * ctx.saved_tensors[0]

    fw = t.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(t.tensor([1.0, 2.0]), t.ones(2))
        return tuple(fw.unpack_dual(F.apply(d)))


@program
def func_jacrev(t: Any) -> Any:
    class F(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, i: Any, o: Any) -> Any:
            ctx.save_for_backward(*i)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = t.tensor([1.0, 2.0])
    return t.func.jacrev(F.apply)(x)


@program
def func_functional(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = t.tensor([1.0, 2.0])
    return t.autograd.functional.jacobian(F.apply, x), t.autograd.functional.hessian(
        lambda v: F.apply(v).sum(), x
    )


@program
def func_view_in_forward(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[0], x[1]

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return t.stack([g, h])

    x = mat(t)
    a, b = F.apply(x)
    (a * b).sum().backward()
    return x


@program
def func_none_output_grad(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, flag: Any) -> Any:
            ctx.flag = flag
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (g * 2 if ctx.flag else None), None

    x = two(t)
    (F.apply(x, True) + F.apply(x, False)).sum().backward()
    return x


@program
def func_nondiff_input_int(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, i: Any) -> Any:
            ctx.save_for_backward(i)
            ctx.n = x.shape[0]
            return x[i]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (i,) = ctx.saved_tensors
            r = t.zeros(ctx.n, dtype=g.dtype)
            r.index_add_(0, i, g)
            return r, None

    x = two(t)
    F.apply(x, t.tensor([0, 1, 1])).sum().backward()
    return x


@program
def func_dirty_saved_output(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = two(t)
    a = x * 1
    F.apply(a)
    a.sum().backward()
    return x


@program
def func_inplace_output(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = two(t)
    y = F.apply(x)
    y.mul_(3)
    y[0] = 0
    y.sum().backward()
    return x, y.detach()


@program
def func_inplace_alias(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = two(t)
    y = F.apply(x)
    y.mul_(3)
    y.sum().backward()
    return x


@program
def func_requires_grad_flag(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            return x * w

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            assert ctx.needs_input_grad == (False, True)
            return None, g

    x, w = t.ones(2, dtype=t.float64), two(t)
    F.apply(x, w).sum().backward()
    return w


@program
def func_exc_forward(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise KeyError("a")

    try:
        F.apply(two(t))
    except KeyError:
        return t.is_grad_enabled()


@program
def func_ctx_isinstance(t: Any) -> Any:
    seen = []

    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(isinstance(ctx, t.autograd.function.FunctionCtx))
            ctx.a = 1
            del ctx.a
            return x * 2

    F.apply(two(t))
    return seen


@program
def func_grad_shape_keep(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.expand(2)

    x = two(t)
    F.apply(x).backward()
    x.grad.add_(1)
    return x


@program
def multi_hook_nonleaf(t: Any) -> Any:
    x = two(t)
    seen = []
    a = x * 2
    b = x * 3
    t.autograd.graph.register_multi_grad_hook((a, b), lambda gs: seen.append(list(gs)))
    (a * b).sum().backward()
    return seen, x


@program
def retain_grad_view(t: Any) -> Any:
    x = mat(t)
    v = x[0]
    v.retain_grad()
    (v * v).sum().backward()
    return v.grad, x


@program
def grad_wrt_view(t: Any) -> Any:
    x = mat(t)
    v = x[0]
    return t.autograd.grad((x * x).sum(), v, allow_unused=True)


@program
def grad_modes_nested_create(t: Any) -> Any:
    x = two(t)
    with t.no_grad():
        with t.enable_grad():
            y = (x**3).sum()
        (g,) = t.autograd.grad(y, x, create_graph=True)
    return g.requires_grad, g.detach()


@program
def grad_under_nograd_create(t: Any) -> Any:
    x = two(t)
    y = (x**3).sum()
    with t.no_grad():
        (g,) = t.autograd.grad(y, x, create_graph=True)
        z = g * 2
    return g.requires_grad, z.requires_grad


@program
def backward_under_nograd(t: Any) -> Any:
    x = two(t)
    y = (x**3).sum()
    with t.no_grad():
        y.backward()
    return x


@program
def accumulate_after_create(t: Any) -> Any:
    x = two(t)
    (x**3).sum().backward(create_graph=True)
    (x**2).sum().backward()
    return x.grad.detach(), x.grad.requires_grad


@program
def leaf_grad_noncontig(t: Any) -> Any:
    x = mat(t)
    (x.T * t.ones(3, 2, dtype=t.float64)).sum().backward()
    return x, x.grad.stride(), x.grad.is_contiguous()


@program
def data_write(t: Any) -> Any:
    x = two(t)
    y = x * x
    x.data.mul_(2)
    y.sum().backward()
    return x


@program
def nograd_write_saved(t: Any) -> Any:
    x = two(t)
    y = x * x
    with t.no_grad():
        x.mul_(2)
    y.sum().backward()
    return x


@program
def detach_write_saved(t: Any) -> Any:
    x = two(t)
    y = x * x
    x.detach().mul_(2)
    y.sum().backward()
    return x


@program
def version_counts(t: Any) -> Any:
    x = t.ones(3)
    a = x._version
    x.add_(1)
    x[0] = 2
    v = x[1:]
    v.mul_(2)
    return a, x._version, v._version, x.detach()._version


@program
def zero_grad_pattern(t: Any) -> Any:
    x = two(t)
    out = []
    for i in range(3):
        if x.grad is not None:
            x.grad.detach_()
            x.grad.zero_()
        (x * i).sum().backward()
        out.append(x.grad.clone())
    return out


@program
def grad_is_leaf_flags(t: Any) -> Any:
    x = two(t)
    (x * x).sum().backward()
    return x.grad.is_leaf, x.grad.requires_grad, x.grad.grad_fn is None, x.grad.grad is None


@program
def param_shared(t: Any) -> Any:
    x = two(t)
    y = x.view(2)
    (x * y).sum().backward()
    return x


@program
def node_hook_remove_self(t: Any) -> Any:
    x = two(t)
    n = [0]
    y = x * 2

    def h(g: Any) -> Any:
        n[0] += 1
        handle.remove()

    handle = y.register_hook(h)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return n


@program
def graph_walk(t: Any) -> Any:
    x = two(t)
    w = two(t)
    y = ((x * w).sin() + x / w).sum()
    out = []

    def walk(f: Any, d: Any = 0) -> Any:
        if f is None:
            return
        out.append((d, type(f).__name__))
        for g, _ in f.next_functions:
            walk(g, d + 1)

    walk(y.grad_fn)
    return out


@program
def graph_walk2(t: Any) -> Any:
    m = mat(t)
    y = (m @ m.T).relu().mean() - m.log().exp().sum(0)[0]
    out = []

    def walk(f: Any, d: Any = 0) -> Any:
        if f is None:
            return
        out.append((d, type(f).__name__))
        for g, _ in f.next_functions:
            walk(g, d + 1)

    walk(y.grad_fn)
    return out


@program
def allow_mut(t: Any) -> Any:
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        x = two(t)
        a = x.clone()
        y = a.exp() * a
        a.zero_()
        y.sum().backward()
    return x


def cube(torch: Any) -> Any:
    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0], output)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[1] / ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx: Any, v: Any) -> Any:
            return v * 3 * ctx.saved_tensors[0] ** 2

    return Cube.apply


@program
def function_in_vmap_and_jacrev(t: Any) -> Any:
    f = cube(t)
    x = mat(t).detach()
    return (
        t.func.vmap(t.func.grad(lambda v: f(v).sum()))(x),
        t.func.jacrev(f)(x[0]),
        t.func.vmap(t.func.jacrev(f))(x),
    )


@program
def function_in_jacfwd(t: Any) -> Any:
    f = cube(t)
    x = mat(t).detach()
    return t.func.jacfwd(f)(x[0])


@program
def function_in_hessian(t: Any) -> Any:
    f = cube(t)
    x = mat(t).detach()
    return t.func.hessian(lambda v: f(v).sum())(x[0])


@program
def function_in_vmap_dims(t: Any) -> Any:
    f = cube(t)
    x = mat(t).detach()
    return t.func.vmap(f, in_dims=1, out_dims=1)(x), t.vmap(
        lambda a, b: f(a) * b, in_dims=(0, None)
    )(x, x[0])


@program
def function_in_vjp_and_jvp(t: Any) -> Any:
    f = cube(t)
    x = mat(t).detach()
    return t.func.vjp(f, x)[1](t.ones_like(x)), t.func.jvp(f, (x,), (t.ones_like(x),))


@program
def function_batched_gradients(t: Any) -> Any:
    f = cube(t)
    x = mat(t)
    return t.autograd.grad(f(x[0]), x, t.eye(3, dtype=t.float64), is_grads_batched=True)


@program
def function_grad_of_grad(t: Any) -> Any:
    f = cube(t)
    x = mat(t).detach()
    return t.func.grad(t.func.grad(lambda v: f(v)))(x[0, 0])


@program
def function_in_functional(t: Any) -> Any:
    f = cube(t)
    x = mat(t)
    return (
        t.autograd.functional.hessian(lambda v: f(v).sum(), x[0].detach()),
        t.autograd.functional.jvp(f, x.detach(), t.ones_like(x)),
        t.autograd.functional.hvp(lambda v: f(v).sum(), x.detach(), t.ones_like(x)),
    )


@program
def hooks_in_vmap_batched(t: Any) -> Any:
    x = two(t)
    y = x * x
    y.register_hook(lambda g: g * 2)
    return t.autograd.grad(y, x, t.eye(2, dtype=t.float64), is_grads_batched=True)


@program
def double_backward_hook(t: Any) -> Any:
    x = two(t)
    seen = []
    x.register_hook(lambda g: seen.append(g.detach()))
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()
    return seen, x


@program
def functional_create(t: Any) -> Any:
    x = two(t)
    j = t.autograd.functional.jacobian(lambda v: v**3, x, create_graph=True)
    j.sum().backward()
    return x


@program
def once_cls(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    x = two(t)
    y = (F.apply(x) ** 2).sum()
    y.backward(create_graph=True)
    return x.grad.requires_grad, x.grad.detach()


@program
def once_err(t: Any) -> Any:
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    x = two(t)
    (g,) = t.autograd.grad((F.apply(x) ** 2).sum(), x, create_graph=True)
    return t.autograd.grad(g.sum(), x)


@program
def f_super(t: Any) -> Any:
    class A(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    class B(A):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return A.backward(ctx, g) * 10

    x = two(t)
    y = B.apply(x)
    y.sum().backward()
    return x, y.grad_fn.name()


@program
def f_classmethod(t: Any) -> Any:
    class A(t.autograd.Function):
        @classmethod
        def forward(cls: Any, ctx: Any, x: Any) -> Any:
            return x * x

        @classmethod
        def backward(cls: Any, ctx: Any, g: Any) -> Any:
            return g * 5

    x = two(t)
    A.apply(x).sum().backward()
    return x


@program
def f_kwarg_default(t: Any) -> Any:
    class A(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, a: Any = 2, *, b: Any = 3) -> Any:
            return x * a * b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 5, None

    x = two(t)
    A.apply(x).sum().backward()
    return x


@program
def f_kwarg_default2(t: Any) -> Any:
    class A(t.autograd.Function):
        @staticmethod
        def forward(x: Any, a: Any = 2) -> Any:
            return x * a

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> Any:
            ctx.n = len(inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (g * 5,) + (None,) * (ctx.n - 1)

    x = two(t)
    A.apply(x).sum().backward()
    A.apply(x, a=3).sum().backward()
    return x


@program
def f_list_tensor(t: Any) -> Any:
    class A(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, n: Any, *xs: Any) -> Any:
            ctx.k = len(xs)
            return sum(xs) * n

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return (None, *[g * (i + 1) for i in range(ctx.k)])

    x, w = two(t), two(t)
    A.apply(2, x, w, x).sum().backward()
    return x, w


@program
def f_saved_inter(t: Any) -> Any:
    class A(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            s = x.sigmoid()
            ctx.save_for_backward(s)
            return x * s

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (s,) = ctx.saved_tensors
            return g * s

    x = two(t)
    (g,) = t.autograd.grad(A.apply(x).sum(), x, create_graph=True)
    return g.requires_grad, g.detach()


@program
def f_memory(t: Any) -> Any:
    class A(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.x = x
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            g2 = g
            return g2

    x = two(t)
    s = t.ones(2, dtype=t.float64)
    A.apply(x).backward(s)
    s.mul_(5)
    x.grad.add_(1)
    return x, s


@program
def acc_types(t: Any) -> Any:
    x = t.tensor([1.0, 2.0], dtype=t.float16, requires_grad=True)
    (x.float() * t.tensor([1.5, 2.5])).sum().backward()
    return x


@program
def inf_model(t: Any) -> Any:
    w = two(t)

    @t.inference_mode()
    def predict(v: Any) -> Any:
        return (v * w).sum()

    out = predict(t.ones(2, dtype=t.float64))
    loss = (w * w).sum()
    loss.backward()
    return out, out.is_inference(), w


@program
def inf_item(t: Any) -> Any:
    with t.inference_mode():
        x = t.arange(6.0).reshape(2, 3)
        y = x @ x.T
        y += 1
        y[0, 0] = 5
    return y, y.sum().item(), (y + 1).is_inference()


@program
def inf_nested_view(t: Any) -> Any:
    x = t.ones(2, 2)
    with t.inference_mode():
        v = x[0]
    v.add_(1)
    return x, v.is_inference()


@program
def setattr_ok(t: Any) -> Any:
    with t.inference_mode():
        x = t.ones(2)
        x.foo = 3
    return x.foo, x.is_inference()


@program
def mode_class(t: Any) -> Any:
    @t.no_grad()
    class M:
        def __init__(self: Any) -> Any:
            self.g = t.is_grad_enabled()

        def f(self: Any) -> Any:
            return t.is_grad_enabled()

    m = M()
    return m.g, m.f()


@program
def mode_async_gen_close(t: Any) -> Any:
    log = []

    @t.no_grad()
    def f() -> Any:
        try:
            yield 1
        finally:
            log.append(t.is_grad_enabled())

    g = f()
    next(g)
    g.close()
    return log, t.is_grad_enabled()


@program
def grad_dict_alias(t: Any) -> Any:
    x = two(t)
    y = {"a": (x * x).sum()}
    return t.autograd.grad(tuple(y.values()), [x])


@program
def gen_inputs(t: Any) -> Any:
    x, w = two(t), two(t)
    return t.autograd.grad((x * w).sum(), (v for v in [x, w]))


@program
def nonscalar_list(t: Any) -> Any:
    x = two(t)
    t.autograd.backward([x * 2, x * 3], [t.ones(2, dtype=t.float64)] * 2)
    return x


@program
def tensor_backward_kw(t: Any) -> Any:
    x = two(t)
    (x * 2).backward(
        gradient=t.ones(2, dtype=t.float64), retain_graph=False, create_graph=False, inputs=[x]
    )
    return x


@program
def unused_none_grad(t: Any) -> Any:
    x, w = two(t), two(t)
    (x * 2).sum().backward()
    return w.grad


@program
def bad_inputs_type(t: Any) -> Any:
    x = two(t)
    x.sum().backward(inputs=3)


@program
def bad_outputs2(t: Any) -> Any:
    return t.autograd.backward(3.0)


@program
def vec_in_nograd(t: Any) -> Any:
    x = two(t)
    with t.no_grad():
        y = x * 2
    y.sum().backward()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    import torch.utils.checkpoint  # noqa: F401

    compare(PROGRAMS[name])
