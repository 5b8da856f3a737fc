"""Products of matrices and sums of products, in the dialect and for real."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.torch.differentiation import differentiated, names
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

#: Expressions of which values, dtypes and errors must agree.
VALUES = [
    "x@x",
    "x@x.T",
    "x[0]@x[0]",
    "x@x[0]",
    "x[0]@x.T",
    "x@x.double().T",
    "z@x",
    "x@2",
    "x@[1]",
    "i@i.T",
    "b@b.T",
    "torch.ones(2,3,4)@torch.ones(4,5)",
    "torch.ones(2,3,4)@torch.ones(3,4,5)",
    "torch.mm(x,x[0])",
    "torch.mm(x,x)",
    "torch.mm(x,i.T)",
    "torch.bmm(x,x)",
    "torch.bmm(torch.ones(2,3,4),torch.ones(2,3,4))",
    "torch.mv(x,x[0])",
    "torch.mv(x,x)",
    "torch.dot(x[0],x[0])",
    "torch.dot(x,x)",
    "torch.dot(x[0],i[0])",
    "torch.dot(x[0],x[0,:2])",
    "torch.vdot(c,c)",
    "torch.dot(c,c)",
    "torch.inner(x,x)",
    "torch.inner(x,z)",
    "torch.inner(x[0],x[0])",
    "torch.inner(x,x.T)",
    "torch.outer(x[0],i[1])",
    "torch.outer(x,x)",
    "torch.ger(x[0],x[1])",
    "torch.addmm(x,x,torch.ones(3,3))",
    "torch.addmm(x[0],x,torch.ones(3,3),beta=2,alpha=3)",
    "torch.addmm(torch.tensor(1.),x,torch.ones(3,3))",
    "torch.addmm(x,x,x)",
    "torch.addmm(i,x,torch.ones(3,3))",
    "torch.addmm(x*nan,x,torch.ones(3,3),beta=0)",
    "torch.addmm(i,i,torch.ones(3,3,dtype=torch.int64),alpha=.5)",
    "torch.addmv(x[:,0],x,x[0])",
    "torch.addmv(z,x,x[0],beta=.5)",
    "torch.baddbmm(torch.ones(2,3,3),torch.ones(2,3,4),torch.ones(2,4,3),alpha=2)",
    "torch.baddbmm(torch.ones(3),torch.ones(2,3,4),torch.ones(2,4,3))",
    'torch.einsum("ij,kj->ik",x,x)',
    'torch.einsum("ij,kj",x,x)',
    'torch.einsum("ij->ji",x)',
    'torch.einsum("ii",x[:,:2])',
    'torch.einsum("...j->...",x)',
    'torch.einsum("ij,kj->ik",x,x.double())',
    'torch.einsum("ij,jk->ik",x,x)',
    'torch.einsum("ij,ij->ij",x,i)',
    'torch.einsum("ij->ik",x)',
    'torch.einsum("ij->ii",x)',
    'torch.einsum("i",x)',
    'torch.einsum("ij,ij",x)',
    'torch.einsum("ij,j->i",[x,x[0]])',
    'torch.einsum("i j , k j -> i k",x,x)',
    'torch.einsum("i1->i",x)',
    'torch.einsum("aB->Ba",x)',
    'torch.einsum("Ba",x)',
    'torch.einsum("b,a",x[0],x[1])',
    "torch.tensordot(x,x.T,1)",
    "torch.tensordot(x,x,dims=2)",
    "torch.tensordot(x,x,dims=([1],[1]))",
    "torch.tensordot(x,x,dims=([0,1],[0,1]))",
    "torch.tensordot(x,x,dims=torch.tensor([[1],[1]]))",
    "torch.tensordot(x,x,1)",
    "torch.tensordot(x,x,-1)",
    "torch.tensordot(x,i,2)",
    "torch.kron(x,x)",
    "torch.kron(x[0],i)",
    "torch.cross(x[0],x[1])",
    "torch.cross(x[0],x[1],dim=0)",
    "torch.cross(x,x+1)",
    "torch.cross(x,x[0])",
    "torch.cross(x,x[0],dim=1)",
    "torch.cross(x,x,0)",
    "torch.cdist(x,x+1)",
    "torch.cdist(x,x,p=1)",
    "torch.cdist(x,x,inf)",
    "torch.cdist(x,x,p=0)",
    "torch.cdist(x,x.T)",
    "torch.cdist(x[0],x[0])",
    "torch.cdist(i,i)",
    "torch.cdist(x,x,p=-1)",
    "torch.cdist(torch.ones(4,1,2,3),torch.ones(5,2,3)).shape",
    "torch.pdist(x)",
    "torch.pdist(x,1.)",
    "x.matmul(x.T)",
    "x.mm(x.T)",
    "x.addmm(x,torch.ones(3,3))",
    "torch.matmul(x,other=x.T)",
    "torch.matmul(input=x,other=x.T)",
    "torch.mm(input=x,mat2=x.T)",
    "torch.mv(x,vec=x[0])",
    "torch.dot(x[0],tensor=x[0])",
    "torch.outer(x[0],vec2=x[0])",
    "torch.bmm(torch.ones(1,2,3),mat2=torch.ones(1,3,2))",
]
#: The same: places for results, in place, dtypes, shapes and bad arguments.
MORE = [
    "torch.mm(x, x.T, out=torch.tensor([[0.0, 0.0], [0.0, 0.0]]))",
    "torch.matmul(x, x.T, out=torch.tensor([[0.0, 0.0], [0.0, 0.0]]))",
    "torch.matmul(x, x[0], out=torch.tensor([0.0, 0.0]))",
    "x.clone().addmm_(x, torch.ones(3, 3))",
    "x.clone().addmm_(x, torch.ones(3, 3), beta=0.5, alpha=2)",
    "x[:, 0].clone().addmv_(x, x[0])",
    "torch.ones(2, 3, 3).baddbmm_(torch.ones(2, 3, 4), torch.ones(2, 4, 3))",
    "x[0].clone().addmm_(x, torch.ones(3, 3))",
    "c @ c",
    "c.outer(c) @ c",
    "torch.vdot(c, c * 1j)",
    "i.mv(i[0])",
    "i[0].dot(i[1])",
    "torch.einsum('ij,kj->ik', i, i)",
    "x.half() @ x.half().T",
    "x.double() @ x.double().T",
    "torch.ones(0, 3) @ torch.ones(3, 2)",
    "torch.ones(2, 0) @ torch.ones(0, 3)",
    "torch.ones(2, 3, 0) @ torch.ones(0, 2)",
    "torch.ones(5, 1, 2, 3) @ torch.ones(4, 3, 2)",
    "torch.ones(3) @ torch.ones(2, 3, 4)",
    "torch.ones(2, 4, 3) @ torch.ones(3)",
    "torch.ones(0).dot(torch.ones(0))",
    "torch.bmm(torch.ones(0, 2, 3), torch.ones(0, 3, 4))",
    "[1.0] @ x",
    "2 @ x",
    "torch.matmul(x, 2)",
    "torch.matmul(2, x)",
    "torch.mm(x, 2)",
    "torch.mm(x)",
    "x.matmul()",
    "torch.dot(x[0], 2)",
    "torch.outer(x[0], 2)",
    "torch.addmm(1, x, x)",
    "torch.addmm(x, x, x.T)",
    "torch.addmm(torch.ones(5), x, torch.ones(3, 3))",
    "torch.addmv(x, x, x[0])",
    "torch.addmv(x[0], x, x[0])",
    "torch.bmm(torch.ones(2, 3, 4), torch.ones(3, 4, 3))",
    "torch.einsum('ij')",
    "torch.einsum('ij,jk->ik', x, 2)",
    "torch.einsum('...ij,...jk->...ik', torch.ones(4, 2, 3), torch.ones(3, 5))",
    "torch.einsum('...ij->...ji', torch.ones(4, 2, 3))",
    "torch.einsum('ij...->...', torch.ones(4, 2, 3))",
    "torch.einsum('i...j', torch.ones(4, 2, 3))",
    "torch.einsum('ab,cd->dbca', x, x)",
    "torch.einsum('iij->ij', torch.ones(2, 2, 3))",
    "torch.einsum('iij->ij', torch.ones(2, 1, 3))",
    "torch.einsum('->', z)",
    "torch.einsum(',ij->ij', z, x)",
    "torch.einsum('i.j', x)",
    "torch.einsum('ij,ij,ij->i', x, x, x)",
    "torch.einsum('ij->j', b)",
    "torch.einsum('ij->j', i)",
    "torch.einsum('ij->ji', b)",
    "torch.tensordot(x, x, dims=([0], [0, 1]))",
    "torch.tensordot(x, x, dims=5)",
    "torch.tensordot(x, x, dims=([2], [0]))",
    "torch.tensordot(x, x, dims=([-1], [-1]))",
    "torch.tensordot(x, x)",
    "torch.kron(z, x)",
    "torch.kron(z, z)",
    "torch.kron(torch.ones(2, 2, 2), x)",
    "torch.cross(torch.ones(2, 4), torch.ones(2, 4))",
    "torch.cross(i, i + 1, dim=1)",
    "torch.cross(x, i, dim=1)",
    "torch.cross(x, x[:1], dim=1)",
    "torch.cdist(x.double(), x)",
    "torch.cdist(torch.ones(0, 3), x)",
    "torch.cdist(torch.ones(2, 0), torch.ones(3, 0))",
    "torch.cdist(torch.ones(5, 2, 3), torch.ones(5, 4, 3), p=1.5)",
    "torch.cdist(torch.ones(40, 3), 2 * torch.ones(30, 3))",
    "torch.cdist(x, x, compute_mode='donot_use_mm_for_euclid_dist')",
    "torch.pdist(x[:1])",
    "torch.pdist(x[0])",
    "torch.pdist(i)",
]

#: Expressions of leaves, differentiated twice.
GRADIENTS = [
    "m @ w",
    "torch.matmul(m, w)",
    "m.matmul(v)",
    "v @ w",
    "v @ v",
    "m @ m.T @ m",
    "k @ w[:3]",
    "k @ k.transpose(1, 2)",
    "v[:2] @ k",
    "k @ v[:3]",
    "k[:, None] @ w[:3]",
    "m.mm(w)",
    "torch.bmm(k, k.transpose(1, 2))",
    "m.mv(v)",
    "v.dot(v * v)",
    "torch.vdot(c, c * c)",
    "torch.dot(c, c * c)",
    "c.outer(c)",
    "torch.inner(m, v)",
    "torch.inner(k, w.T[:2, :3])",
    "torch.inner(v, s)",
    "torch.outer(v, v * 2)",
    "v.ger(v)",
    "torch.addmm(w[:3], m, w)",
    "torch.addmm(v[:3], m, w, beta=2.0, alpha=0.5)",
    "torch.addmm(w[:3], m, w, beta=0)",
    "torch.addmv(v[:3], m, v, alpha=3)",
    "torch.baddbmm(k[:, :, :2], k, k.transpose(1, 2), alpha=2)",
    "torch.einsum('ij,jk->ik', m, w)",
    "torch.einsum('ij,jk', m, w)",
    "torch.einsum('ij->', m)",
    "torch.einsum('ii->i', w[:3])",
    "torch.einsum('ii', w[:3])",
    "torch.einsum('i,j->ij', v, v)",
    "torch.einsum('bij,bkj->bik', k, k)",
    "torch.einsum('...ij,jl->...il', k, w[:3])",
    "torch.einsum('i,ij,jk,k->', v[:3], m, w, v[:3])",
    "torch.einsum('ij,ij->i', m, m)",
    "torch.einsum('ij,kj->ik', m[:, :1], m)",
    "torch.einsum('i,i->', c, c)",
    "torch.einsum('ij,jk->ik', [m, w])",
    "torch.tensordot(m, w, 1)",
    "torch.tensordot(k, k, dims=([0, 2], [0, 2]))",
    "torch.tensordot(v, v, 0)",
    "torch.kron(m, v)",
    "torch.kron(m[:2, :2], w[:2])",
    "torch.cross(w[0], w[1])",
    "torch.cross(w, w * w, dim=1)",
    "w.cross(w * w + 1, dim=-1)",
    "m.double() @ w",
    "torch.mm(m, w) * m.sum()",
]

#: The same, differentiated once: PyTorch has no second derivative of most.
ONCE = [
    "torch.cdist(m, w.T * 2)",
    "torch.cdist(m, m * 1.5, p=1)",
    "torch.cdist(m, w.T, p=3.0)",
    "torch.cdist(m, w.T, p=inf)",
    "torch.cdist(k, k[:1] + 1)",
    "torch.pdist(m)",
    "torch.pdist(m, 1.0)",
    "torch.cdist(m, m)",
    "torch.cdist(m, m, p=1)",
    "torch.cdist(m,m,p=0.5)",
]


@pytest.mark.parametrize("text", VALUES + MORE)
def test_values(text: str) -> None:
    compare(lambda torch: eval(text, names(torch)))


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text: str) -> None:
    compare(differentiated(text), rtol=1e-9)


@pytest.mark.parametrize("text", ONCE)
def test_first_derivatives(text: str) -> None:
    compare(differentiated(text, 1), rtol=1e-9)


def _after_writes(torch: Any) -> Any:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = torch.tensor([[0.5, -1.0], [2.0, 1.5]], requires_grad=True)
    y = torch.zeros(2, 2)
    y.addmm_(a, b, alpha=2.0)
    y.cumsum_(1)
    (y * y).sum().backward()
    return y, a.grad, b.grad


def _written_after_use(torch: Any) -> Any:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = torch.ones(2, 2)
    y = a @ b
    b.add_(1)
    y.sum().backward()


def _swept_twice(torch: Any) -> Any:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (a @ a).sum()
    y.backward()
    y.backward()


def _sums_swept_twice(torch: Any) -> Any:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = a.sum(1).mean()
    y.backward()
    y.backward()
    return a.grad


def _one_sided(torch: Any) -> Any:
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    b = torch.tensor([[0.5, -1.0], [2.0, 1.5]], requires_grad=True)
    (a @ b).sum().backward()
    left = b.grad.clone()
    (b @ a).max().backward()
    with torch.no_grad():
        flags = (a @ b).requires_grad, b.sum().requires_grad
    return left, b.grad, flags, (a @ a).requires_grad


def _vmapped(torch: Any) -> Any:
    a = torch.tensor([[1.0, 2.0, 3.0], [3.0, 4.0, -1.0]])
    w = torch.tensor([[0.5, -1.0], [2.0, 1.5], [0.3, 0.2]])
    vmap, grad = torch.func.vmap, torch.func.grad
    return (
        vmap(lambda r: r @ w)(a),
        vmap(lambda r: r.sum())(a),
        vmap(lambda r: r.max(0))(a),
        vmap(lambda r: r.sort().values)(a),
        vmap(lambda r: torch.einsum("i,ij->j", r, w))(a),
        vmap(grad(lambda r: (r @ w).norm() + r.var() + r.amax()))(a),
    )


PROGRAMS = [
    _after_writes,
    _written_after_use,
    _swept_twice,
    _sums_swept_twice,
    _one_sided,
    _vmapped,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: Any) -> None:
    compare(program)
