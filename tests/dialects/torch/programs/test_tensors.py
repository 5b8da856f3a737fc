"""Indices, views, writes in place, broadcasts and reductions in programs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def inplace_on_leaf(torch: Any) -> Any:
    a = torch.tensor([1.0], requires_grad=True)
    try:
        a += 1
    except RuntimeError as e:
        print(type(e).__name__)
    try:
        a.add_(1)
    except RuntimeError as e:
        print(type(e).__name__)
    try:
        a[0] = 3
    except RuntimeError as e:
        print(type(e).__name__)
    with torch.no_grad():
        a += 1
        a.mul_(2)
    return a, a._version, a.is_leaf


@program
def versions_counter(torch: Any) -> Any:
    x = torch.ones(3)
    print(x._version)
    x.add_(1)
    print(x._version)
    y = x.view(3, 1)
    y.mul_(2)
    print(x._version, y._version)
    z = x.detach()
    z.zero_()
    print(x._version, z._version)
    x.data.add_(1)
    print(x._version)
    return x


@program
def inplace_correctness(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y += 1
    y.mul_(3)
    y[0] = 0
    y[1:] *= x[1:]
    y.sum().backward()
    a = torch.ones(2, requires_grad=True)
    b = a.sigmoid()
    b.add_(1)
    try:
        b.sum().backward()
    except RuntimeError as e:
        print(type(e).__name__)
    c = a.clone()
    d = c[0]
    c.mul_(2)
    (d * 3).backward()
    e = a.clone()
    v = e.view(2, 1)
    v.pow_(2)
    e.sum().backward()
    with torch.no_grad():
        a.fill_(5.0)
    u = torch.zeros(3)
    u[:2] = a
    u[2] = a.sum()
    u.sum().backward()
    print(d, e, u, y)
    return x, a


@program
def inplace_views_error(torch: Any) -> Any:
    x = torch.ones(2, 2, requires_grad=True)
    y = x.clone()
    a, _b = y.unbind(0)
    try:
        a.mul_(2)
    except RuntimeError as e:
        print("unbind" in str(e).lower(), "modified" in str(e))
    v = x.view(4)
    try:
        v.mul_(2)
    except RuntimeError as e:
        print(type(e).__name__)
    with torch.no_grad():
        w = x.view(4)
    try:
        w.mul_(2)
    except RuntimeError as e:
        print(type(e).__name__)
    p = y.chunk(2)
    try:
        p[0].add_(1)
    except RuntimeError as e:
        print(type(e).__name__)
    q = y.detach()
    q.add_(1)
    print(y)


@program
def indexing_idioms(torch: Any) -> Any:
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
    i = torch.tensor([0, 2])
    m = torch.tensor([True, False, True])
    outs = [
        x[0],
        x[:, 1],
        x[..., -1],
        x[:, i],
        x[:, m],
        x[:, :, ::2],
        x[0, i, i],
        x[:, None, 0],
        x[x > 10],
        x[1, 2, 3],
        x[[0, 1], [1, 2]],
        x[torch.tensor([[0, 1], [1, 0]])],
        x[:, [2, 0]][..., 1:3],
        x[-1, :2],
        x[(0, 1)],
        x[slice(None), 0],
        x[True].shape,
        x[None, ..., None].shape,
        x[:, -2:],
    ]
    tot = sum(o.sum() for o in outs if isinstance(o, torch.Tensor))
    tot.backward()
    return x, outs[:-3]


@program
def assignment_idioms(torch: Any) -> Any:
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = torch.zeros(3, 4)
    z[0, :3] = w
    z[1] = w.sum()
    z[:, 3] = 5
    z[z == 0] = -1
    z[2, [0, 1]] = w[:2] * 2
    z[torch.tensor([0]), torch.tensor([1])] += w[1]
    z[..., 0].add_(w)
    z[1:, 1:3] = w[:2].view(1, 2)
    z.diagonal().mul_(2)
    z.masked_fill_(z > 8, 0.5)
    z.index_add_(0, torch.tensor([0]), w.repeat(2)[None, :4])
    z.clamp_(min=-3)
    z.t()[0] = 1.5
    (z**2).sum().backward()
    print(z)
    return z, w


@program
def scatter_gather_idioms(torch: Any) -> Any:
    src = torch.randn(3, 4, requires_grad=True)
    idx = torch.tensor([[0, 1, 2, 0], [1, 1, 0, 2], [2, 0, 1, 1]])
    a = torch.zeros(3, 4).scatter(0, idx, src)
    b = torch.zeros(3, 4).scatter_add(1, idx, src)
    c = src.gather(1, idx[:, :2])
    d = torch.zeros(3, 4).scatter_reduce(0, idx, src, "mean", include_self=False)
    e = src.take_along_dim(src.argsort(1), 1)
    f = torch.zeros(3, 5).scatter_(1, idx, 1.0)
    g = torch.index_select(src, 1, torch.tensor([3, 3]))
    h = src.masked_select(src > 0)
    k = torch.take(src, torch.tensor([0, 5]))
    oh = torch.zeros(3, 3).scatter_(1, torch.tensor([[2], [0], [1]]), 1)
    (
        a.sum()
        + (b**2).sum()
        + c.sum()
        + d.pow(2).sum()
        + e[:, 0].sum()
        + g.sum()
        + h.sum()
        + k.sum()
    ).backward()
    return a, b, c, d, e, f, g, h, k, oh, src


@program
def where_nan_gradient(torch: Any) -> Any:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.where(x > 0, x.log(), torch.zeros(2))
    y.sum().backward()
    print(x.grad)
    x.grad = None
    z = torch.where(x > 0, torch.where(x > 0, x, torch.ones(2)).log(), torch.zeros(2))
    z.sum().backward()
    print(x.grad)
    n = torch.zeros(2, requires_grad=True)
    n.norm().backward()
    print(n.grad)
    s = torch.zeros(1, requires_grad=True)
    s.sqrt().backward()
    print(s.grad)
    a = torch.zeros(2, requires_grad=True)
    a.abs().sum().backward()
    print(a.grad)
    m = torch.tensor([1.0, 1.0], requires_grad=True)
    m.max().backward()
    print(m.grad)
    m.grad = None
    m.max(0)[0].backward()
    print(m.grad)
    m.grad = None
    torch.maximum(m, torch.ones(2)).sum().backward()
    print(m.grad)
    c = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    c.clamp(0, 1).sum().backward()
    print(c.grad)
    p = torch.zeros(1, requires_grad=True)
    (p**0).backward()
    print(p.grad)
    q = torch.zeros(1, requires_grad=True)
    (q**2.5).backward()
    print(q.grad)
    r = torch.zeros(2, requires_grad=True)
    torch.relu(r).sum().backward()
    print(r.grad)
    t = torch.tensor([0.0, 2.0], requires_grad=True)
    t.prod().backward()
    print(t.grad)
    (0 / torch.zeros(1, requires_grad=True)).backward()


@program
def dtype_promotion_gradients(torch: Any) -> Any:
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    r = a * b + torch.tensor([1, 2])
    r.sum().backward()
    print(
        r.dtype,
        a.grad.dtype,
        b.grad.dtype,
        (a + 1j).dtype,
        (a * 2).dtype,
        (torch.ones(2, dtype=torch.int64) / 2).dtype,
        (torch.tensor(1) + torch.tensor(1.0)).dtype,
        (torch.ones(1, dtype=torch.half) + torch.tensor(1.0, dtype=torch.float64)).dtype,
        (torch.tensor([1]) * 1.5).dtype,
        (torch.tensor([True]) + 1).dtype,
        torch.arange(3).dtype,
        torch.arange(3.0).dtype,
        torch.tensor([1, 2.0]).dtype,
        torch.tensor([1, 2]).sum().dtype,
        torch.tensor([True, False]).sum(),
        torch.tensor([1, 2]).float().mean(),
        torch.result_type(torch.ones(1), 1.0),
        torch.promote_types(torch.int8, torch.uint8),
        torch.tensor(1) // 2,
        torch.tensor(-7) // 2,
        torch.tensor(-7) % 3,
        7 // torch.tensor(2),
        2 ** torch.tensor(3),
        torch.tensor(2) ** -1.0,
    )
    torch.set_default_dtype(torch.float64)
    print(torch.ones(1).dtype, torch.tensor(1.0), torch.get_default_dtype())
    torch.set_default_dtype(torch.float32)
    return a, b


@program
def einsum_zoo(torch: Any) -> Any:
    a, b = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)
    c = torch.randn(2, 3, 4, requires_grad=True)
    e = torch.einsum
    r = [
        e("ij,jk->ik", a, b),
        e("ij->ji", a),
        e("ij->", a),
        e("ij->j", a),
        e("ij,ij->i", a, a),
        e("bij,jk->bik", c, b),
        e("...ij,...ij->...", c, c),
        e("i,j->ij", a[0], b[:, 0]),
        e("bij,bij", c, c),
        e("ij,jk,kl->il", a, b, b.T),
        e("ii->i", a[:, :3]),
        e(
            "bn,anm,bm->ba",
            a[:2],
            c.transpose(1, 2)[:, :, :].transpose(1, 2).expand(2, 3, 4)[:, :, :].transpose(1, 2),
            a[:2, :3],
        ),
    ]
    sum((x**2).sum() for x in r).backward()
    return r, a, b, c


@program
def stack_of_everything_shapes(torch: Any) -> Any:
    a, b = torch.ones(2, 3, requires_grad=True), torch.zeros(2, 3)
    r = [
        torch.cat((a, b)),
        torch.cat([a, b], -1),
        torch.stack((a, b), dim=2),
        torch.hstack([a, b]),
        torch.vstack([a, b]),
        torch.dstack([a, b]),
        torch.column_stack([a, b]),
        a.repeat(2, 1),
        a.repeat_interleave(2, 0),
        a.tile(2),
        a.flip(0),
        a.rot90(),
        a.roll((1, 1), (0, 1)),
        *torch.split(a, 1),
        *a.chunk(3, 1),
        *a.unbind(1),
        *torch.tensor_split(a, 2, 1),
        a.unflatten(1, (3, 1)),
        a.diagonal(),
        torch.diag_embed(a),
        torch.tril(a),
        a.triu(1),
        torch.block_diag(a, b),
        torch.meshgrid(a[0], b[0], indexing="xy")[0],
        torch.cartesian_prod(a[0], b[0]),
        torch.combinations(a[0]),
        a.unfold(1, 2, 1),
        torch.movedim(a, 0, 1),
        a.squeeze(),
        a.unsqueeze(1).expand(-1, 4, -1),
        a.contiguous().view(-1),
        torch.atleast_3d(a),
        torch.broadcast_to(a, (2, 2, 3)),
        a.narrow(1, 1, 2),
        a.select(1, 0),
        torch.permute(a, (1, 0)),
        a.ravel(),
        a.expand_as(torch.ones(4, 2, 3)),
        a.swapdims(0, 1),
        a.adjoint(),
        a.as_strided((2, 2), (1, 2)),
        torch.trapezoid(a),
        torch.cumsum(a, 0),
        torch.cumprod(a, 1),
        torch.diff(a),
        torch.logcumsumexp(a, 0),
    ]
    sum((x * 1.5).sum() for x in r).backward()
    return r, a


@program
def reductions_zoo(torch: Any) -> Any:
    x = torch.randn(3, 4, requires_grad=True)
    r = [
        x.sum(),
        x.sum(0),
        x.sum((0, 1)),
        x.sum(-1, keepdim=True),
        x.mean(1),
        x.std(),
        x.std(0, unbiased=False),
        x.var(1),
        torch.var_mean(x, 1)[0],
        x.prod(1),
        x.max(),
        x.min(1)[0],
        x.amax((0, 1)),
        x.amin(0),
        x.median(),
        x.median(1).values,
        x.quantile(0.3),
        x.logsumexp(1),
        x.norm(),
        x.norm(1),
        x.norm(dim=1),
        x.norm(p=float("inf")),
        torch.std_mean(x)[0],
        x.nansum(),
        x.nanmean(),
        x.cumsum(1)[:, -1],
        torch.dist(x, x + 1),
        x.sum(dim=1, dtype=torch.float64),
        x.std(correction=0),
        x.kthvalue(2, 1).values,
        x.mode(1)[0],
        x.amin(),
        x.abs().max(),
    ]
    sum(v.sum() for v in r).backward()
    print(x.argmax(), x.argmin(1), x.any(), (x > 5).all(), x.count_nonzero(), (x > 0).sum(1).dtype)
    return r, x


@program
def view_semantics(torch: Any) -> Any:
    x = torch.arange(6.0)
    v = x.view(2, 3)
    v[0, 0] = 100
    r = x.reshape(3, 2)
    r[0, 1] = 7
    t = v.t()
    t[2, 1] = -1
    s = x[1:3]
    s += 10
    e = x.expand(2, 6)
    c = x.clone()
    c[0] = 0
    f = v.flatten()
    f[5] = 55
    n = x.numpy()
    n[3] = 33
    print(
        x,
        v,
        t,
        x.data_ptr() == v.data_ptr(),
        v._base is x,
        s._is_view(),
        c._is_view(),
        v.is_contiguous(),
        t.is_contiguous(),
        e.stride(),
        s.storage_offset(),
    )
    g = torch.arange(6.0)[[0, 1]]
    h = torch.arange(6.0)[torch.tensor([True] * 6)]
    print(g._is_view(), h._is_view())
    d = x.detach()
    d[1] = 0
    y = x.data
    y[2] = 0
    z = torch.as_tensor(x)
    print(z is x, x)
    return x


@program
def loop_with_inplace_list_assign(torch: Any) -> Any:
    w = torch.tensor(0.5, requires_grad=True)
    h = torch.zeros(5)
    for t in range(1, 5):
        h[t] = torch.tanh(w * h[t - 1].clone() + t)
    try:
        h.sum().backward()
        print("ok")
    except RuntimeError as e:
        print("modified" in str(e))
    k = torch.zeros(4)
    for t in range(1, 4):
        k[t] = k[t - 1] * w + 1
    try:
        k.sum().backward()
        print("ok")
    except RuntimeError as e:
        print("modified" in str(e))
    return w


@program
def expand_inplace_errors(torch: Any) -> Any:
    x = torch.ones(1).expand(3)
    for f in (
        lambda: x.add_(1),
        lambda: x.mul_(2),
        lambda: x[0].add_(1),
        lambda: x.copy_(torch.zeros(3)),
        lambda: x.view(3),
    ):
        try:
            f()
            print("fine", x)
        except RuntimeError:
            print("RuntimeError")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
