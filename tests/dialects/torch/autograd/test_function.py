"""torch.autograd.Function: forward, backward, contexts and misuse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import (
    function,
    ones,
    square_of,
    three,
    two,
    under_no_grad,
    z_of,
)
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


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


PROGRAMS.update(
    function_dirty_leaf=lambda torch: function(torch, _dirty, lambda ctx, g: g).apply(two(torch)),
    function_dirty_not_returned=lambda torch: function(
        torch, lambda ctx, x: _dirty(ctx, x) * 1, lambda ctx, g: g
    ).apply(two(torch) * 1),
    function_dirty_under_no_grad=lambda torch: under_no_grad(
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


PROGRAMS.update(
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
