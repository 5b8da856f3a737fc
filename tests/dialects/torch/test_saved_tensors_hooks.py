"""Hooks on saved tensors: how long they are in force, and derivatives taken under them."""

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = {}


def program(function):
    """Put a program among those that are compared."""
    PROGRAMS[function.__name__] = function
    return function


@program
def sth_in_backward(torch):
    log = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            c = torch.autograd.graph.saved_tensors_hooks(
                lambda t: (log.append("pack"), t)[1], lambda t: t
            )
            c.__enter__()
            return g * 2

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    a = torch.ones(2, requires_grad=True)
    y = (a * a).sum()
    y.backward()
    r = list(log)
    return r, a.grad


@program
def sth_with_in_backward(torch):
    log = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with (
                torch.autograd.graph.saved_tensors_hooks(
                    lambda t: (log.append("pack"), t)[1], lambda t: t
                ),
                torch.enable_grad(),
            ):
                b = g.detach().requires_grad_()
                (b * b).sum().backward()
            return g * 2

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    a = torch.ones(2, requires_grad=True)
    y = (a * a).sum()
    y.backward()
    return log, a.grad


@program
def sth_hook_enter(torch):
    log = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    c = torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append("pack"), t)[1], lambda t: t)
    y.register_hook(lambda g: c.__enter__())
    (y * y).sum().backward()
    z = torch.ones(3, requires_grad=True)
    (z * z).sum().backward()
    return log


def under(torch):
    return torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t)


@program
def jac(torch):
    with under(torch):
        return torch.autograd.functional.jacobian(lambda x: x * x.sum(), torch.ones(2))


@program
def jac_vec(torch):
    with under(torch):
        return torch.autograd.functional.jacobian(
            lambda x: x * x.sum(), torch.ones(2), vectorize=True
        )


@program
def jac_fwd(torch):
    with under(torch):
        return torch.autograd.functional.jacobian(
            lambda x: x * x.sum(), torch.ones(2), vectorize=True, strategy="forward-mode"
        )


@program
def hes(torch):
    with under(torch):
        return torch.autograd.functional.hessian(lambda x: (x * x * x.sum()).sum(), torch.ones(2))


@program
def hvp(torch):
    with under(torch):
        return torch.autograd.functional.hvp(
            lambda x: (x * x * x.sum()).sum(), torch.ones(2), torch.ones(2)
        )


@program
def vhp(torch):
    with under(torch):
        return torch.autograd.functional.vhp(
            lambda x: (x * x * x.sum()).sum(), torch.ones(2), torch.ones(2)
        )


@program
def ajvp(torch):
    with under(torch):
        return torch.autograd.functional.jvp(
            lambda x: x * x * x.sum(), torch.ones(2), torch.ones(2)
        )


@program
def avjp(torch):
    with under(torch):
        return torch.autograd.functional.vjp(
            lambda x: x * x * x.sum(), torch.ones(2), torch.ones(2)
        )


@program
def fjvp(torch):
    with under(torch):
        return torch.func.jvp(lambda x: x * x, (torch.ones(2),), (torch.ones(2),))


@program
def fgrad(torch):
    with under(torch):
        return torch.func.grad(lambda x: (x * x).sum())(torch.ones(2))


@program
def fvjp(torch):
    with under(torch):
        y, f = torch.func.vjp(lambda x: x * x, torch.ones(2))
        return y, f(torch.ones(2))


@program
def fjacrev(torch):
    with under(torch):
        return torch.func.jacrev(lambda x: x * x)(torch.ones(2))


@program
def fjacfwd(torch):
    with under(torch):
        return torch.func.jacfwd(lambda x: x * x)(torch.ones(2))


@program
def fhes(torch):
    with under(torch):
        return torch.func.hessian(lambda x: (x * x * x).sum())(torch.ones(2))


@program
def vmap(torch):
    with under(torch):
        return torch.func.vmap(lambda x: x * x)(torch.ones(2, 2))


@program
def vmap_req(torch):
    x = torch.ones(2, 2, requires_grad=True)
    with under(torch):
        y = torch.func.vmap(lambda x: x * x)(x)
    y.sum().backward()
    return x.grad


@program
def dual(torch):
    fw = torch.autograd.forward_ad
    with under(torch), fw.dual_level():
        x = fw.make_dual(torch.ones(2), torch.ones(2))
        return tuple(fw.unpack_dual(x * x))


@program
def dual_req(torch):
    fw = torch.autograd.forward_ad
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    with under(torch), fw.dual_level():
        x = fw.make_dual(a, torch.ones(2))
        _p, t = fw.unpack_dual(x * x)
        t.sum().backward()
        return a.grad


@program
def cpu(torch):
    with torch.autograd.graph.save_on_cpu():
        return torch.autograd.functional.jacobian(
            lambda x: x * x.sum(), torch.ones(2)
        ), torch.func.grad(lambda x: (x * x).sum())(torch.ones(2))


@program
def cpu2(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    return x.grad


@program
def second(torch):
    x = torch.ones(2, requires_grad=True)
    log = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append(1), t)[1], lambda t: t):
        y = (x * x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
    return g, h


@program
def nested_order(torch):
    log = []

    def h(n):
        return torch.autograd.graph.saved_tensors_hooks(
            lambda t: (log.append(n), t)[1], lambda t: t
        )

    x = torch.ones(2, requires_grad=True)
    with h("a"):
        x.exp()
        with h("b"):
            x.exp()
        x.exp()
    x.exp()
    return log


@program
def exit_order(torch):
    log = []

    def h(n):
        return torch.autograd.graph.saved_tensors_hooks(
            lambda t: (log.append(n), t)[1], lambda t: t
        )

    x = torch.ones(2, requires_grad=True)
    a, b = h("a"), h("b")
    a.__enter__()
    b.__enter__()
    a.__exit__()
    x.exp()
    b.__exit__()
    x.exp()
    return log


@program
def disable(torch):
    with torch.autograd.graph.disable_saved_tensors_hooks("no"), under(torch):
        pass


@program
def disable2(torch):
    with under(torch), torch.autograd.graph.disable_saved_tensors_hooks("no"):
        pass


@program
def raise_in_pack(torch):
    def bad(t):
        raise ValueError("x")

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(bad, lambda t: t):
        x.exp()


@program
def raise_then(torch):
    log = []

    def bad(t):
        raise ValueError("x")

    x = torch.ones(2, requires_grad=True)
    try:
        with torch.autograd.graph.saved_tensors_hooks(bad, lambda t: t):
            x.exp()
    except ValueError:
        log.append("v")
    (x * x).sum().backward()
    return log, x.grad


@program
def unpack_bad(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    y.sum().backward()


@program
def unpack_shape(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t[:1]):
        y = x.exp()
    y.sum().backward()
    return x.grad


@program
def inplace_in_pack(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        y = x * x
    return y


@program
def thread(torch):
    import threading

    log = []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append(1), t)[1], lambda t: t):
        t = threading.Thread(target=lambda: x.exp())
        t.start()
        t.join()
    return log


@program
def unpack_in_grad_mode(torch):
    log = []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (log.append(torch.is_grad_enabled()), t)[1],
        lambda t: (log.append(torch.is_grad_enabled()), t)[1],
    ):
        y = x.exp()
    y.sum().backward()
    return log


@program
def ckpt_hooks(torch):
    log = []
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append(1), t)[1], lambda t: t):
        y = torch.utils.checkpoint.checkpoint(lambda a: (a.exp() * a).sin(), x, use_reentrant=False)
    y.sum().backward()
    return x.grad


@program
def func_hooks_log(torch):
    log = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (log.append(1), t)[1], lambda t: t):
        r = torch.func.grad(lambda x: (x.exp()).sum())(torch.ones(2))
    return r


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name])
