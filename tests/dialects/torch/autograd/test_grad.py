"""torch.autograd.grad, and what programs see of the graph."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import function, ones, three, two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


# -- autograd.grad ---------------------------------------------------------------------------------


def of_grad(torch: Any, function: Any, **options: Any) -> Any:
    x, w = two(torch), two(torch)
    return torch.autograd.grad(function(x, w), [x, w], **options)


PROGRAMS.update(
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


PROGRAMS.update(
    grad_fn_names=lambda torch: names((two(torch) * two(torch) + 1).exp().grad_fn),
    grad_fn_of_sum=lambda torch: names((two(torch) * 2).sum().grad_fn),
    grad_fn_of_mean=lambda torch: names(two(torch).mean().grad_fn),
    grad_fn_of_product_with_constant=lambda torch: names((two(torch) * ones(torch)).grad_fn),
    grad_fn_of_constant_first=lambda torch: names((ones(torch) * two(torch)).grad_fn),
    grad_fn_of_number_times=lambda torch: names((2 * two(torch).sin()).grad_fn),
    grad_fn_of_number_plus=lambda torch: names((2 + two(torch).sin()).grad_fn),
    grad_fn_of_number_minus=lambda torch: names((2 - two(torch).sin()).grad_fn),
    grad_fn_of_power_of_number=lambda torch: names((2 ** two(torch).sin()).grad_fn),
    grad_fn_of_remainder=lambda torch: names((two(torch).sin() % 2).grad_fn),
    grad_fn_of_clamp=lambda torch: names(two(torch).sin().clamp(0, 1).grad_fn),
    grad_fn_of_where=lambda torch: names(
        torch.where(two(torch) > 1, ones(torch), two(torch).sin()).grad_fn
    ),
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
    return fn is y.grad_fn, (y * 2).grad_fn.next_functions[0][0] is fn


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
def saved_self_is_the_leaf(torch: Any) -> Any:
    x = two(torch)
    y = x * x
    return y.grad_fn._saved_self is x


@program
def saved_after_free(torch: Any) -> Any:
    y = two(torch).exp()
    y.sum().backward()
    return y.grad_fn._saved_result


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])


# -- what has no gradient ----------------------------------------------------------------------


@program
def out_of_a_dual(torch: Any) -> Any:
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        torch.add(x, 1, out=torch.empty(2))


@program
def dual_as_tangent(torch: Any) -> Any:
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        torch.autograd.forward_ad.make_dual(torch.ones(2), x)


@program
def dual_of_a_dual(torch: Any) -> Any:
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))
        torch.autograd.forward_ad.make_dual(x, torch.ones(2))


@program
def out_of_inference_mode(torch: Any) -> Any:
    with torch.inference_mode():
        out = torch.ones(2)
    torch.add(torch.ones(2), 1, out=out)


# -- dtypes of gradients -----------------------------------------------------------------------


@program
def grad_dtype_of_a_leaf(torch: Any) -> Any:
    x = two(torch)
    before = x.grad_dtype
    x.grad_dtype = torch.float32
    for _ in range(2):
        (x * 2).sum().backward()
    return before, x.grad_dtype, x.grad


@program
def grad_of_any_dtype(torch: Any) -> Any:
    x = two(torch)
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float32)
    return x.grad_dtype, x.grad


@program
def grad_of_another_dtype(torch: Any) -> Any:
    two(torch).grad = torch.ones(2, dtype=torch.float32)


@program
def grad_dtype_beside_a_gradient(torch: Any) -> Any:
    x = two(torch)
    x.sum().backward()
    x.grad_dtype = torch.float32


@program
def grad_dtype_of_a_result(torch: Any) -> Any:
    two(torch).exp().grad_dtype = torch.float32


@program
def grad_dtype_of_another_type(torch: Any) -> Any:
    two(torch).grad_dtype = "float32"
