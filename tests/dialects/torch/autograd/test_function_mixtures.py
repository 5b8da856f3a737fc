"""torch.autograd.Function inside of other things: vmap, duals, writes in place, hooks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import mat, two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
