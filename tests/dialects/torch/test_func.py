"""torch.func, torch.autograd.functional and forward_ad beside PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def _x(torch: Any, *shape: int, start: float = 0.3, dtype: Any = None) -> Any:
    count = 1
    for n in shape:
        count *= n
    values = [start + 0.37 * k - 0.01 * k * k for k in range(count)]
    return torch.tensor(values, dtype=dtype).reshape(shape)


def _cube(x: Any) -> Any:
    return (x**3).sum()


def _mlp(torch: Any) -> tuple[Any, dict[str, Any]]:
    weights = {"w1": _x(torch, 3, 4), "b1": _x(torch, 4), "w2": _x(torch, 4, 2, start=-0.5)}

    def predict(p: Any, x: Any) -> Any:
        return torch.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]

    return predict, weights


def _per_example(torch: Any) -> Any:
    predict, weights = _mlp(torch)

    def loss(p: Any, x: Any, y: Any) -> Any:
        return ((predict(p, x) - y) ** 2).sum()

    xs, ys = _x(torch, 5, 3, start=-1.0) * 0.2, _x(torch, 5, 2)
    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, xs, ys)


def _outer_backward(torch: Any) -> Any:
    """A gradient inside of a graph that is swept by backward."""
    w = _x(torch, 3).requires_grad_()
    x = _x(torch, 3, start=1.0)
    slope = torch.func.grad(lambda x: (torch.sin(x) * w).sum())(x)
    (slope**2).sum().backward()
    return w.grad, slope


def _meta(torch: Any) -> Any:
    """A step of gradient descent inside of a gradient."""

    def inner(w: Any, x: Any) -> Any:
        return ((w * x - 1) ** 2).mean()

    def outer(w: Any, x: Any) -> Any:
        stepped = w - 0.1 * torch.func.grad(inner)(w, x)
        return inner(stepped, x)

    return torch.func.grad(outer)(_x(torch, 4), _x(torch, 4, start=1.0))


def _ensemble(torch: Any) -> Any:
    predict, weights = _mlp(torch)
    stacked = {k: torch.stack([v, v * 2, v - 1]) for k, v in weights.items()}
    x = _x(torch, 6, 3)
    return torch.func.vmap(predict, in_dims=({"w1": 0, "b1": 0, "w2": 0}, None))(stacked, x)


def _dual(torch: Any) -> Any:
    fwd = torch.autograd.forward_ad
    with fwd.dual_level():
        x = fwd.make_dual(_x(torch, 3), torch.ones(3))
        y = torch.sin(x) * x
        return fwd.unpack_dual(y).tangent, fwd.unpack_dual(torch.ones(2)).tangent


def _dual_of_backward(torch: Any) -> Any:
    fwd = torch.autograd.forward_ad
    p = _x(torch, 3).requires_grad_()
    with fwd.dual_level():
        x = fwd.make_dual(p, torch.tensor([1.0, 0.0, 2.0]))
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return fwd.unpack_dual(g).tangent


def _dual_tangent_backward(torch: Any) -> Any:
    fwd = torch.autograd.forward_ad
    p = _x(torch, 3).requires_grad_()
    with fwd.dual_level():
        y = torch.exp(fwd.make_dual(p, torch.tensor([1.0, 0.5, 2.0])))
        fwd.unpack_dual(y).tangent.sum().backward()
    return p.grad


def _in_place_in_vmap(torch: Any) -> Any:
    def f(x: Any) -> Any:
        y = x.clone()
        y[0] = y[1] * 2
        y.mul_(x)
        return y

    return torch.func.vmap(f)(_x(torch, 3, 2))


def _in_place_in_grad(torch: Any) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        y[1:] += x[:-1]
        y.exp_()
        return y.sum()

    return torch.func.grad(f)(_x(torch, 4))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda t: t.func.grad(_cube)(_x(t, 3)),
    "grad of a method": lambda t: t.func.grad(lambda x: x.sin().sum())(_x(t, 2, 2)),
    "grad twice": lambda t: t.func.grad(t.func.grad(lambda x: x**3))(t.tensor(2.0)),
    "grad thrice": lambda t: t.func.grad(t.func.grad(t.func.grad(t.sin)))(t.tensor(0.3)),
    "argnums": lambda t: t.func.grad(lambda x, y: (x * y**2).sum(), argnums=(0, 1))(
        _x(t, 3), _x(t, 3, start=1.0)
    ),
    "argnums 1": lambda t: t.func.grad(lambda x, y: (x * y**2).sum(), argnums=1)(
        _x(t, 3), _x(t, 3, start=1.0)
    ),
    "argnums of one in a tuple": lambda t: t.func.grad(lambda x: (x * x).sum(), argnums=(0,))(
        _x(t, 3)
    ),
    "aux": lambda t: t.func.grad(lambda x: ((x**2).sum(), x * 2), has_aux=True)(_x(t, 3)),
    "grad and value": lambda t: t.func.grad_and_value(_cube)(_x(t, 3)),
    "grad and value with aux": lambda t: t.func.grad_and_value(
        lambda x: ((x**2).sum(), {"twice": x * 2}), has_aux=True
    )(_x(t, 3)),
    "of a dict": lambda t: t.func.grad(lambda p: (p["a"] * p["b"]).sum())(
        {"a": _x(t, 2), "b": _x(t, 2, start=1.0)}
    ),
    "double": lambda t: t.func.grad(_cube)(_x(t, 3, dtype=t.float64)),
    "independent": lambda t: t.func.grad(lambda x, y: (y * 2).sum())(_x(t, 3), _x(t, 3)),
    "not a number": lambda t: t.func.grad(lambda x: x * 2)(_x(t, 3)),
    "not a tensor": lambda t: t.func.grad(lambda x: 2.0)(_x(t, 3)),
    "argnums too large": lambda t: t.func.grad(_cube, argnums=2)(_x(t, 3)),
    "keyword arguments": lambda t: t.func.grad(lambda x, scale: (x * scale).sum())(
        _x(t, 3), scale=3.0
    ),
    "outer backward": _outer_backward,
    "meta": _meta,
    "requires grad outside": lambda t: t.func.grad(_cube)(_x(t, 3).requires_grad_()),
    "vjp": lambda t: (lambda r: (r[0], r[1](t.ones(3))))(t.func.vjp(t.sin, _x(t, 3))),
    "vjp of two": lambda t: (lambda r: (r[0], r[1](t.ones(3))))(
        t.func.vjp(lambda x, y: x * y, _x(t, 3), _x(t, 3))
    ),
    "vjp of several results": lambda t: (lambda r: (r[0], r[1]((t.ones(3), t.ones(3) * 2))))(
        t.func.vjp(lambda x: (x.sin(), x.cos()), _x(t, 3))
    ),
    "vjp aux": lambda t: (lambda r: (r[0], r[1](t.ones(3)), r[2]))(
        t.func.vjp(lambda x: (x.sin(), x * 2), _x(t, 3), has_aux=True)
    ),
    "vjp twice": lambda t: (lambda r: (r[1](t.ones(3)), r[1](t.ones(3) * 2)))(
        t.func.vjp(t.exp, _x(t, 3))
    ),
    "jvp": lambda t: t.func.jvp(t.sin, (_x(t, 3),), (t.ones(3),)),
    "jvp of two": lambda t: t.func.jvp(
        lambda x, y: x * y, (_x(t, 3), _x(t, 3, start=1.0)), (t.ones(3), t.ones(3))
    ),
    "jvp aux": lambda t: t.func.jvp(
        lambda x: (x.sin(), x * 2), (_x(t, 3),), (t.ones(3),), has_aux=True
    ),
    "jvp not a tuple": lambda t: t.func.jvp(t.sin, _x(t, 3), t.ones(3)),
    "jvp of grad": lambda t: t.func.jvp(t.func.grad(_cube), (_x(t, 3),), (t.ones(3),)),
    "linearize": lambda t: (lambda r: (r[0], r[1](t.ones(3))))(t.func.linearize(t.sin, _x(t, 3))),
    "jacrev": lambda t: t.func.jacrev(lambda x: x.sin() * x[0])(_x(t, 3)),
    "jacfwd": lambda t: t.func.jacfwd(lambda x: x.sin() * x[0])(_x(t, 3)),
    "jacrev of a matrix": lambda t: t.func.jacrev(lambda x: x @ x)(_x(t, 2, 2)),
    "jacfwd of a matrix": lambda t: t.func.jacfwd(lambda x: x @ x.T)(_x(t, 2, 3)),
    "jacrev chunks": lambda t: t.func.jacrev(lambda x: x.sin() * x[0], chunk_size=2)(_x(t, 3)),
    "jacrev argnums": lambda t: t.func.jacrev(lambda x, y: x * y, argnums=(0, 1))(
        _x(t, 3), _x(t, 3)
    ),
    "jacrev aux": lambda t: t.func.jacrev(lambda x: (x**2, x * 2), has_aux=True)(_x(t, 3)),
    "jacfwd aux": lambda t: t.func.jacfwd(lambda x: (x**2, x * 2), has_aux=True)(_x(t, 3)),
    "jacrev of several": lambda t: t.func.jacrev(lambda x: (x.sin(), x.sum()))(_x(t, 3)),
    "jacrev of a dict": lambda t: t.func.jacrev(lambda x: {"s": x.sin(), "c": x.cos()})(_x(t, 3)),
    "jacrev in a dict": lambda t: t.func.jacrev(lambda p: p["a"] * p["b"].sum())(
        {"a": _x(t, 3), "b": _x(t, 2)}
    ),
    "jacrev of a number": lambda t: t.func.jacrev(_cube)(_x(t, 3)),
    "jacrev twice": lambda t: t.func.jacrev(t.func.jacrev(_cube))(_x(t, 3)),
    "hessian": lambda t: t.func.hessian(lambda x: x[0] * x[1] ** 2 + x.exp().sum())(_x(t, 3)),
    "hessian of a matrix": lambda t: t.func.hessian(lambda x: (x @ x).sum())(_x(t, 2, 2)),
    "hessian argnums": lambda t: t.func.hessian(lambda x, y: (x * y**2).sum(), argnums=1)(
        _x(t, 2), _x(t, 2)
    ),
    "vmap": lambda t: t.func.vmap(lambda x: x.sum())(_x(t, 4, 3)),
    "torch.vmap": lambda t: t.vmap(t.dot)(_x(t, 4, 3), _x(t, 4, 3, start=1.0)),
    "vmap in_dims": lambda t: t.vmap(t.dot, in_dims=(1, 0))(_x(t, 3, 4), _x(t, 4, 3)),
    "vmap in_dims None": lambda t: t.vmap(lambda x, y: x * y, in_dims=(0, None))(
        _x(t, 4), _x(t, 3)
    ),
    "vmap out_dims": lambda t: t.vmap(lambda x: x * 2, out_dims=1)(_x(t, 4, 3)),
    "vmap several results": lambda t: t.vmap(lambda x: (x.sum(), x * 2), out_dims=(0, 1))(
        _x(t, 4, 3)
    ),
    "vmap nested": lambda t: t.vmap(t.vmap(lambda x, y: x * y, (None, 0)), (0, None))(
        _x(t, 3), _x(t, 4)
    ),
    "vmap chunk": lambda t: t.vmap(lambda x: x.sin().sum(), chunk_size=2)(_x(t, 5, 3)),
    "vmap of grad": lambda t: t.vmap(t.func.grad(_cube))(_x(t, 4, 3)),
    "grad of vmap": lambda t: t.func.grad(lambda x: t.vmap(lambda r: r.prod())(x).sum())(
        _x(t, 4, 3)
    ),
    "vmap of hessian": lambda t: t.vmap(t.func.hessian(_cube))(_x(t, 2, 3)),
    "vmap and backward": lambda t: (
        lambda x: (t.vmap(lambda r: (r * r).sum())(x).sum().backward(), x.grad)
    )(_x(t, 4, 3).requires_grad_()),
    "vmap of indexing": lambda t: t.vmap(lambda r, k: r[k])(
        _x(t, 3, 4), t.tensor([[0, 1], [2, 3], [1, 1]])
    ),
    "vmap of where": lambda t: t.vmap(lambda r: t.where(r > 0.5, r, -r))(_x(t, 3, 4)),
    "vmap of matmul": lambda t: t.vmap(lambda a, b: a @ b)(_x(t, 3, 2, 4), _x(t, 3, 4, 2)),
    "vmap of stack": lambda t: t.vmap(lambda a: t.stack([a, a * 2]))(_x(t, 3, 2)),
    "vmap of cat": lambda t: t.vmap(lambda a: t.cat([a, a * 2]))(_x(t, 3, 2)),
    "vmap of softmax": lambda t: t.vmap(lambda a: t.softmax(a, 0))(_x(t, 3, 2)),
    "vmap of shapes": lambda t: t.vmap(lambda a: a.reshape(2, 2).transpose(0, 1).flatten())(
        _x(t, 2, 4)
    ),
    "vmap no inputs": lambda t: t.vmap(lambda: 1)(),
    "vmap wrong sizes": lambda t: t.vmap(lambda x, y: x * y)(_x(t, 3), _x(t, 4)),
    "vmap not a tensor": lambda t: t.vmap(lambda x: 1.0)(_x(t, 3)),
    "vmap in place": _in_place_in_vmap,
    "grad in place": _in_place_in_grad,
    "per example": _per_example,
    "ensemble": _ensemble,
    "dual": _dual,
    "dual of backward": _dual_of_backward,
    "dual tangent backward": _dual_tangent_backward,
    "dual without level": lambda t: t.autograd.forward_ad.make_dual(t.ones(2), t.ones(2)),
    "functional vjp": lambda t: t.autograd.functional.vjp(t.sin, _x(t, 3), t.ones(3)),
    "functional vjp of a number": lambda t: t.autograd.functional.vjp(_cube, _x(t, 3)),
    "functional vjp of two": lambda t: t.autograd.functional.vjp(
        lambda x, y: (x * y, x + y), (_x(t, 2), _x(t, 2)), (t.ones(2), t.ones(2))
    ),
    "functional vjp without v": lambda t: t.autograd.functional.vjp(t.sin, _x(t, 3)),
    "functional jvp": lambda t: t.autograd.functional.jvp(t.sin, _x(t, 3), t.ones(3)),
    "functional jvp of two": lambda t: t.autograd.functional.jvp(
        lambda x, y: x * y, (_x(t, 2), _x(t, 2)), (t.ones(2), t.ones(2))
    ),
    "functional jacobian": lambda t: t.autograd.functional.jacobian(
        lambda x: x.sin() * x[0], _x(t, 3)
    ),
    "functional jacobian of two": lambda t: t.autograd.functional.jacobian(
        lambda x, y: x * y.sum(), (_x(t, 3), _x(t, 2))
    ),
    "functional jacobian of several": lambda t: t.autograd.functional.jacobian(
        lambda x, y: (x * y.sum(), y), (_x(t, 3), _x(t, 2))
    ),
    "functional jacobian vectorized": lambda t: t.autograd.functional.jacobian(
        lambda x: x.exp(), _x(t, 3), vectorize=True
    ),
    "functional jacobian forward": lambda t: t.autograd.functional.jacobian(
        lambda x: x.exp(), _x(t, 3), vectorize=True, strategy="forward-mode"
    ),
    "functional jacobian create_graph": lambda t: (
        lambda x: (
            t.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True).sum().backward(),
            x.grad,
        )
    )(_x(t, 3).requires_grad_()),
    "functional hessian": lambda t: t.autograd.functional.hessian(_cube, _x(t, 3)),
    "functional hessian of two": lambda t: t.autograd.functional.hessian(
        lambda x, y: (x * y**2).sum(), (_x(t, 2), _x(t, 2))
    ),
    "functional hessian of many": lambda t: t.autograd.functional.hessian(t.sin, _x(t, 2)),
    "functional hvp": lambda t: t.autograd.functional.hvp(_cube, _x(t, 3), t.ones(3)),
    "functional vhp": lambda t: t.autograd.functional.vhp(_cube, _x(t, 3), t.ones(3)),
    "functional hvp of two": lambda t: t.autograd.functional.hvp(
        lambda x, y: (x * y**2).sum(), (_x(t, 2), _x(t, 2)), (t.ones(2), t.ones(2))
    ),
    "functional of a list": lambda t: t.autograd.functional.jacobian(lambda x: [1, 2], _x(t, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
