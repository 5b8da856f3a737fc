"""autograd.Function: what it marks, saves and returns, right and wrong."""

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = {}


def program(function):
    """Put a program among those that are compared."""
    PROGRAMS[function.__name__] = function
    return function


def fn(torch, fwd, bwd=None, jvp=None, setup=None, name="F"):
    d = {}
    d["forward"] = staticmethod(fwd)
    if bwd:
        d["backward"] = staticmethod(bwd)
    if jvp:
        d["jvp"] = staticmethod(jvp)
    if setup:
        d["setup_context"] = staticmethod(setup)
    return type(name, (torch.autograd.Function,), d)


def run(torch, F, *args, **k):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = F.apply(x * 1, *args)
    ys = y if isinstance(y, tuple) else (y,)
    sum((t * t).sum() for t in ys if t.requires_grad).backward()
    return y, x.grad


@program
def dirty_not_input(torch):
    def f(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def dirty_not_input_nograd(torch):
    def f(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    return fn(torch, f, lambda ctx, g: g * 2).apply(torch.ones(2))


@program
def dirty_not_returned(torch):
    def f(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x * 1

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def dirty_ok(torch):
    def f(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def dirty_unwritten(torch):
    def f(ctx, x):
        ctx.mark_dirty(x)
        return x

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def dirty_nontensor(torch):
    def f(ctx, x):
        ctx.mark_dirty(3)
        return x * 1

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def dirty_other_tensor(torch):
    o = torch.ones(2)

    def f(ctx, x):
        ctx.mark_dirty(o)
        return x * 1, o

    return run(torch, fn(torch, f, lambda ctx, g, h: g * 2))


@program
def dirty_leaf(torch):
    def f(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x = torch.ones(2, requires_grad=True)
    return fn(torch, f, lambda ctx, g: g * 2).apply(x)


@program
def dirty_view(torch):
    def f(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x = torch.ones(4, requires_grad=True)
    y = x * 1
    v = y[:2]
    r = fn(torch, f, lambda ctx, g: g * 2).apply(v)
    (y * torch.arange(4.0)).sum().backward()
    return x.grad, r


@program
def dirty_chunk(torch):
    def f(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    x = torch.ones(4, requires_grad=True)
    y = x * 1
    v = y.chunk(2)[0]
    r = fn(torch, f, lambda ctx, g: g * 2).apply(v)
    (y * torch.arange(4.0)).sum().backward()
    return x.grad, r


@program
def dirty_two(torch):
    def f(ctx, x, z):
        x.mul_(2)
        z.mul_(3)
        ctx.mark_dirty(x, z)
        return x, z

    x = torch.ones(4, requires_grad=True)
    a, b = x * 1, x * 2
    r = fn(torch, f, lambda ctx, g, h: (g * 2, h * 3)).apply(a, b)
    (r[0] * r[1]).sum().backward()
    return x.grad, r


@program
def dirty_two_views(torch):
    def f(ctx, x, z):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, z * 1

    x = torch.ones(4, requires_grad=True)
    a = x * 1
    b = a[:2]
    r = fn(torch, f, lambda ctx, g, h: (g * 2, h * 3)).apply(b, a)
    (r[0].sum() * r[1].sum()).backward()
    return x.grad, r


@program
def nd_not_output(torch):
    def f(ctx, x):
        ctx.mark_non_differentiable(x)
        return x * 1

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def nd_nontensor(torch):
    def f(ctx, x):
        ctx.mark_non_differentiable(3)
        return x * 1

    return run(torch, fn(torch, f, lambda ctx, g: g * 2))


@program
def nd(torch):
    def f(ctx, x):
        y = x * 1
        ctx.mark_non_differentiable(y)
        return y, x * 2

    return run(torch, fn(torch, f, lambda ctx, g, h: g * 2 + h * 2))


@program
def nd_none(torch):
    def f(ctx, x):
        ctx.set_materialize_grads(False)
        y = x * 1
        ctx.mark_non_differentiable(y)
        return y, x * 2

    return run(torch, fn(torch, f, lambda ctx, g, h: h * 2 if g is None else g * 100))


@program
def few_grads(torch):
    return run(torch, fn(torch, lambda ctx, x, a: x * a, lambda ctx, g: g * 2), 3.0)


@program
def many_grads(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: (g * 2, g)))


@program
def many_none(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: (g * 2, None, None)))


@program
def list_grads(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: [g * 2]))


@program
def none_grads(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: None))


@program
def float_grad(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: 2.0))


@program
def grad_for_number(torch):
    return run(torch, fn(torch, lambda ctx, x, a: x * a, lambda ctx, g: (g * 2, g)), 3.0)


@program
def shape_wrong(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(3)))


@program
def shape_bcast(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(3, 2)))


@program
def shape_small(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(1)))


@program
def shape_scalar(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.tensor(1.0)))


@program
def dtype(torch):
    return run(
        torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(2, dtype=torch.float64))
    )


@program
def dtype_int(torch):
    return run(
        torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(2, dtype=torch.int64))
    )


@program
def dtype_bool(torch):
    return run(
        torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(2, dtype=torch.bool))
    )


@program
def complex(torch):
    return run(
        torch, fn(torch, lambda ctx, x: x * 2, lambda ctx, g: torch.ones(2, dtype=torch.complex64))
    )


@program
def no_backward(torch):
    return run(torch, fn(torch, lambda ctx, x: x * 2))


@program
def no_forward(torch):
    F = type("F", (torch.autograd.Function,), {})
    return run(torch, F)


@program
def instance(torch):
    F = fn(torch, lambda ctx, x: x * 2, lambda ctx, g: g)
    return F()(torch.ones(2))


@program
def instance2(torch):
    F = fn(torch, lambda ctx, x: x * 2, lambda ctx, g: g)
    return F().apply(torch.ones(2))


@program
def save_none(torch):
    def f(ctx, x):
        ctx.save_for_backward(None, x)
        return x * 2

    return run(torch, fn(torch, f, lambda ctx, g: g if ctx.saved_tensors[0] is None else g * 100))


@program
def save_twice(torch):
    def f(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 3)
        return x * 2

    return run(torch, fn(torch, f, lambda ctx, g: g * ctx.saved_tensors[0]))


@program
def save_inter(torch):
    def f(ctx, x):
        t = x * 5
        ctx.save_for_backward(t)
        return x * 2

    return run(torch, fn(torch, f, lambda ctx, g: g * ctx.saved_tensors[0]))


@program
def save_output(torch):
    def f(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    return run(torch, fn(torch, f, lambda ctx, g: g * ctx.saved_tensors[0]))


@program
def saved_written(torch):
    def f(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    F = fn(torch, f, lambda ctx, g: g * ctx.saved_tensors[0])
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = F.apply(a)
    a.mul_(3)
    y.sum().backward()
    return x.grad


@program
def saved_out_written(torch):
    def f(ctx, x):
        y = x * 2
        ctx.save_for_backward(y)
        return y

    F = fn(torch, f, lambda ctx, g: g * ctx.saved_tensors[0])
    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    y.mul_(3)
    y.sum().backward()
    return x.grad


@program
def twice_backward(torch):
    def f(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    F = fn(torch, f, lambda ctx, g: g * ctx.saved_tensors[0])
    x = torch.ones(2, requires_grad=True)
    y = F.apply(x).sum()
    y.backward()
    y.backward()
    return x.grad


@program
def twice_backward_nosave(torch):
    F = fn(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    x = torch.ones(2, requires_grad=True)
    y = F.apply(x).sum()
    y.backward()
    y.backward()
    return x.grad


@program
def once_diff(torch):
    from_ = torch.autograd.function.once_differentiable
    F = fn(torch, lambda ctx, x: x * x, from_(lambda ctx, g: g * 2))
    x = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    return g.requires_grad, g.detach(), torch.autograd.grad(g.sum(), x)


@program
def once_diff2(torch):
    od = torch.autograd.function.once_differentiable
    F = fn(torch, lambda ctx, x, y: x * y, od(lambda ctx, g: (g * 2, g * 3)))
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, requires_grad=True)
    g = torch.autograd.grad(F.apply(x, y).sum(), [x, y], create_graph=True)
    return [t.requires_grad for t in g], [t.detach() for t in g]


def dual(torch, F, *rest, n=1):
    """Return primals and tangents of what a function gives for dual numbers."""
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        given = [fw.make_dual(torch.ones(2) * (i + 1), torch.ones(2) * (i + 2)) for i in range(n)]
        out = F.apply(*given, *rest)
        return [tuple(fw.unpack_dual(o)) for o in (out if isinstance(out, tuple) else (out,))]


@program
def jvp_missing(torch):
    fw = torch.autograd.forward_ad
    F = fn(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    with fw.dual_level():
        return fw.unpack_dual(F.apply(fw.make_dual(torch.ones(2), torch.ones(2))))


@program
def jvp_missing_unused(torch):
    fw = torch.autograd.forward_ad
    F = fn(torch, lambda ctx, x, y: x * 2, lambda ctx, g: (g * 2, None))
    with fw.dual_level():
        fw.make_dual(torch.ones(2), torch.ones(2))
        return F.apply(torch.ones(2), torch.ones(2))


@program
def func_jvp_missing(torch):
    F = fn(torch, lambda x: x * 2, lambda ctx, g: g * 2, setup=lambda ctx, i, o: None)
    return torch.func.jvp(F.apply, (torch.ones(2),), (torch.ones(2),))


@program
def jvp_ok(torch):
    return dual(torch, fn(torch, lambda ctx, x: x * 2, None, lambda ctx, t: t * 2))


@program
def jvp_shape(torch):
    return dual(torch, fn(torch, lambda ctx, x: x * 2, None, lambda ctx, t: torch.ones(3)))


@program
def jvp_shape1(torch):
    return dual(torch, fn(torch, lambda ctx, x: x * 2, None, lambda ctx, t: torch.ones(1)))


@program
def jvp_none(torch):
    return dual(torch, fn(torch, lambda ctx, x: x * 2, None, lambda ctx, t: None))


@program
def jvp_float(torch):
    return dual(torch, fn(torch, lambda ctx, x: x * 2, None, lambda ctx, t: 2.0))


@program
def jvp_many(torch):
    return dual(torch, fn(torch, lambda ctx, x: x * 2, None, lambda ctx, t: (t, t)))


@program
def jvp_few(torch):
    return dual(torch, fn(torch, lambda ctx, x: (x * 2, x * 3), None, lambda ctx, t: t))


@program
def jvp_few2(torch):
    return dual(torch, fn(torch, lambda ctx, x: (x * 2, x * 3), None, lambda ctx, t: (t,)))


@program
def jvp_two(torch):
    return dual(
        torch, fn(torch, lambda ctx, x: (x * 2, x * 3), None, lambda ctx, t: (t * 2, t * 3))
    )


@program
def jvp_two_none(torch):
    return dual(torch, fn(torch, lambda ctx, x: (x * 2, x * 3), None, lambda ctx, t: (t * 2, None)))


@program
def jvp_list(torch):
    return dual(
        torch, fn(torch, lambda ctx, x: (x * 2, x * 3), None, lambda ctx, t: [t * 2, t * 3])
    )


@program
def jvp_number_arg(torch):
    return dual(
        torch,
        fn(torch, lambda ctx, x, a: x * a, None, lambda ctx, t, a: t * 2 if a is None else t * 100),
        3.0,
    )


@program
def jvp_two_args(torch):
    return dual(torch, fn(torch, lambda ctx, x, y: x * y, None, lambda ctx, t, s: t + s), n=2)


@program
def jvp_one_dual(torch):
    fw = torch.autograd.forward_ad
    F = fn(torch, lambda ctx, x, y: x * y, None, lambda ctx, t, s: t * 2 if s is None else t + s)
    with fw.dual_level():
        return tuple(
            fw.unpack_dual(F.apply(fw.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2)))
        )


@program
def jvp_saved(torch):
    def f(ctx, x):
        ctx.save_for_forward(x)
        return x * x

    return dual(torch, fn(torch, f, None, lambda ctx, t: 2 * ctx.saved_tensors[0] * t))


@program
def jvp_view(torch):
    return dual(torch, fn(torch, lambda ctx, x: x.view(2), None, lambda ctx, t: t.view(2)))


@program
def jvp_inplace(torch):
    def f(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return dual(torch, fn(torch, f, None, lambda ctx, t: t.mul_(2)))


@program
def jvp_int_out(torch):
    return dual(
        torch, fn(torch, lambda ctx, x: (x * 2, x.argmax()), None, lambda ctx, t: (t * 2, None))
    )


@program
def mat_true(torch):
    return run(torch, fn(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3))


@program
def mat_one_used(torch):
    F = fn(torch, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3)
    x = torch.ones(2, requires_grad=True)
    a, _b = F.apply(x)
    a.sum().backward()
    return x.grad


@program
def mat_false_used(torch):
    seen = []

    def f(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def b(ctx, g, h):
        seen.append((g is None, h is None))
        return g * 2

    x = torch.ones(2, requires_grad=True)
    a, _ = fn(torch, f, b).apply(x)
    a.sum().backward()
    return x.grad, seen


@program
def mat_nonbool(torch):
    def f(ctx, x):
        ctx.set_materialize_grads(0)
        return x * 2

    return run(torch, fn(torch, f, lambda ctx, g: g))


@program
def return_list(torch):
    return run(torch, fn(torch, lambda ctx, x: [x * 2], lambda ctx, g: g))


@program
def return_none(torch):
    x = torch.ones(2, requires_grad=True)
    return fn(torch, lambda ctx, x: None, lambda ctx, g: g).apply(x)


@program
def return_number(torch):
    x = torch.ones(2, requires_grad=True)
    return fn(torch, lambda ctx, x: 3, lambda ctx, g: g).apply(x)


@program
def return_mixed(torch):
    x = torch.ones(2, requires_grad=True)
    r = fn(torch, lambda ctx, x: (x * 2, 3, "a"), lambda ctx, g, a, b: g * 2).apply(x)
    r[0].sum().backward()
    return r, x.grad


@program
def return_input(torch):
    x = torch.ones(2, requires_grad=True)
    y = fn(torch, lambda ctx, x: x, lambda ctx, g: g * 5).apply(x)
    y.sum().backward()
    return y is x, x.grad


@program
def return_input_twice(torch):
    return run(torch, fn(torch, lambda ctx, x: (x, x), lambda ctx, g, h: g * 5 + h))


@program
def return_view(torch):
    x = torch.ones(2, requires_grad=True)
    y = fn(torch, lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g])).apply(x * 1)
    y.sum().backward()
    return x.grad, y


@program
def return_view_write(torch):
    x = torch.ones(2, requires_grad=True)
    y = fn(torch, lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g])).apply(x * 1)
    y.mul_(2)
    y.sum().backward()
    return x.grad, y


@program
def needs(torch):
    seen = []

    def b(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, None

    x = torch.ones(2, requires_grad=True)
    fn(torch, lambda ctx, x, y, z: x * 1, b).apply(x, torch.ones(2), 3).sum().backward()
    return seen


@program
def kwargs(torch):
    x = torch.ones(2, requires_grad=True)
    return fn(torch, lambda ctx, x, a=1: x * a, lambda ctx, g: g).apply(x, a=2)


@program
def setup_ctx_and_ctx(torch):
    F = fn(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2, setup=lambda ctx, i, o: None)
    return run(torch, F)


@program
def saved_in_forward(torch):
    def f(ctx, x):
        ctx.save_for_backward(x)
        return x * len(ctx.saved_tensors)

    return run(torch, fn(torch, f, lambda ctx, g: g))


@program
def nongrad_input_dirty(torch):
    def f(ctx, x, z):
        z.mul_(3)
        ctx.mark_dirty(z)
        return z

    z = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    r = fn(torch, f, lambda ctx, g: (g * 7, g * 3)).apply(x, z)
    r.sum().backward()
    return r is z, x.grad, z


@program
def cplx_out(torch):
    F = fn(torch, lambda ctx, x: torch.complex(x, x), lambda ctx, g: g.real)
    x = torch.ones(2, requires_grad=True)
    F.apply(x).abs().sum().backward()
    return x.grad


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])
