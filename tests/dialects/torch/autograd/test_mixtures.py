"""One thing inside of another: hooks, checkpoints, anomalies, writes in place, modes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import mat, two
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


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
        return "DivBackward0" in str(e), "nan" in str(e)


@program
def anomaly_norm(t: Any) -> Any:
    try:
        with t.autograd.set_detect_anomaly(True):
            x = t.zeros(2, requires_grad=True)
            y = (x * x).sum().sqrt()
            y.backward()
    except RuntimeError as e:
        return "MulBackward0" in str(e)


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
    compare(PROGRAMS[name])
