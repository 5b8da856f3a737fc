"""torch.linalg and the older names of the same, in the dialect and for real."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

from tests.dialects.torch.differentiation import parts_of, weighed
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def names(torch: Any, dtype: Any = None) -> dict[str, Any]:
    """Return matrices by a letter, in single precision if nothing else is said."""
    kind = dtype or torch.float32

    def t(*rows: Any) -> Any:
        return torch.tensor([*rows], dtype=kind)

    a = t([4.0, 1.0, -2.0], [1.5, 3.0, 0.5], [2.0, -1.0, 5.0])
    p = a @ a.T + torch.eye(3, dtype=kind)
    r = t([1.0, 2.0], [3.0, -1.0], [0.5, 0.25], [2.0, 4.0])
    return {
        "torch": torch,
        "L": torch.linalg,
        "inf": math.inf,
        "nan": math.nan,
        "a": a,
        "p": p,
        "r": r,
        "w": (r * 0.5 + 0.1).T.contiguous(),
        "b": t([1.0, 2.0], [0.5, -1.0], [3.0, 0.0]),
        "v": t(1.0, -2.0, 0.5),
        "k": torch.stack([a, a.T @ a + 2 * torch.eye(3, dtype=kind)]),
        "q": torch.stack([p, p * 2 + torch.eye(3, dtype=kind)]),
        "c": torch.complex(a, a.flip(0) * 0.5),
        "d": torch.complex(p, (a - a.T) * 0.5),
        "f": torch.complex(r, r.flip(0) * 0.25),
    }


def given(torch: Any) -> dict[str, Any]:
    """Return the same, and what is not good for gradients."""
    return {
        **names(torch),
        "s": torch.tensor([[1.0, 2.0], [2.0, 4.0]]),
        "i": torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 10]]),
        "o": torch.eye(2),
        "e": torch.zeros(0, 0),
        "g": torch.zeros(0, 2, 2),
        "t": torch.zeros(0, 3),
        "z": torch.tensor(2.0),
    }


def leaves(torch: Any) -> dict[str, Any]:
    """Return the matrices as leaves, in double precision."""
    found = names(torch, torch.float64)
    return {
        k: x.requires_grad_() if k not in ("torch", "L", "inf", "nan") else x
        for k, x in found.items()
    }


def differentiated(text: str, order: int = 2) -> Any:
    """Return a program for the value of an expression, its gradients and theirs."""

    def program(torch: Any) -> Any:
        known = leaves(torch)
        y = eval(text, known)
        wanted = [known[k] for k in "abcdfkpqrvw"]
        first = torch.autograd.grad(
            weighed(torch, parts_of(y)), wanted, create_graph=True, allow_unused=True
        )
        again = parts_of([x for x in first if x is not None])
        if again and order > 1:
            weighed(torch, again).backward()
        return y, first, [None if x.grad is None else x.grad + 0 for x in wanted]

    return program


#: Expressions of which values, dtypes and errors must agree.
VALUES = [
    # norms
    "L.norm(a)", "L.norm(a,'fro')", "L.norm(a,2)", "L.norm(a,-2)", "L.norm(a,1)", "L.norm(a,-1)",
    "L.norm(a,inf)", "L.norm(a,-inf)", "L.norm(a,'nuc')", "L.norm(a,3)", "L.norm(a,'bad')",
    "L.norm(a,0)", "L.norm(v)", "L.norm(v,3)", "L.norm(v,inf)", "L.norm(v,0)", "L.norm(v,'fro')",
    "L.norm(v,-1)", "L.norm(k)", "L.norm(k,2)", "L.norm(k,'fro')", "L.norm(k,dim=1)",
    "L.norm(k,2,dim=(0,2))", "L.norm(k,dim=(0,1,2))", "L.norm(k,2,dim=(0,1,2))",
    "L.norm(k,'nuc',dim=(0,2),keepdim=True)", "L.norm(a,2,dim=())", "L.norm(a,2,dim=(0,0))",
    "L.norm(a,2,dim=5)", "L.norm(a,'fro',dim=0)", "L.norm(z)", "L.norm(z,2)", "L.norm(i)",
    "L.norm(i,dtype=torch.float32)", "L.norm(a,dtype=torch.float64)", "L.norm(c)", "L.norm(c,1)",
    "L.norm(a,axis=1,keepdims=True)", "L.norm(a.half())", "L.norm([1.,2.])", "L.norm(e)",
    "L.norm(a,ord=2,dim=-1)", "L.norm(c,2)", "L.norm(c,'nuc')",
    "L.vector_norm(a)", "L.vector_norm(a,3.5)", "L.vector_norm(a,1,dim=0)",
    "L.vector_norm(a,ord=inf,dim=(0,1),keepdim=True)", "L.vector_norm(k,2,(0,2))",
    "L.vector_norm(a,'fro')", "L.vector_norm(t,inf)", "L.vector_norm(t,-1)", "L.vector_norm(t,2)",
    "L.vector_norm(t,inf,dim=0)", "L.vector_norm(t,inf,dim=1)", "L.vector_norm(c,1,dim=1)",
    "L.vector_norm(a,dtype=torch.float64)", "L.vector_norm(a.double(),dtype=torch.float32)",
    "L.vector_norm(a,dtype=torch.complex64)", "L.vector_norm(c,dtype=torch.float32)",
    "L.vector_norm(c,dtype=torch.complex128)", "L.vector_norm(i)", "L.vector_norm(a,dim=7)",
    "L.vector_norm(a,0)", "L.vector_norm(a,dim=())", "L.vector_norm(x=a,ord=1)",
    "L.matrix_norm(a)", "L.matrix_norm(k)", "L.matrix_norm(k,1)", "L.matrix_norm(k,ord=2)",
    "L.matrix_norm(k,'nuc',dim=(0,1))", "L.matrix_norm(k,-inf,keepdim=True)",
    "L.matrix_norm(k,inf,(2,0),True)", "L.matrix_norm(v)", "L.matrix_norm(a,dim=(0,))",
    "L.matrix_norm(a,dim=(0,0))", "L.matrix_norm(a,'x')", "L.matrix_norm(a,3)",
    "L.matrix_norm(a,None)", "L.matrix_norm(i)", "L.matrix_norm(g,2)", "L.matrix_norm(t,'nuc')",
    "L.matrix_norm(t,2)", "L.matrix_norm(t,1)", "L.matrix_norm(a,2,dtype=torch.float64)",
    "L.matrix_norm(c,-1)", "L.matrix_norm(e,inf)",
    # condition and rank
    "L.matrix_rank(a)", "L.matrix_rank(s)", "L.matrix_rank(k)", "L.matrix_rank(r)",
    "L.matrix_rank(s,tol=100.)", "L.matrix_rank(s,0.1)", "L.matrix_rank(a,atol=4.)",
    "L.matrix_rank(a,rtol=.9)", "L.matrix_rank(a,rtol=torch.tensor([.9,.01]))",
    "L.matrix_rank(p,hermitian=True)", "L.matrix_rank(a,atol=4.,rtol=.1)", "L.matrix_rank(v)",
    "L.matrix_rank(i)", "L.matrix_rank(t)", "L.matrix_rank(e)", "L.matrix_rank(c)",
    "L.matrix_rank(torch.zeros(3,3))", "L.matrix_rank(a.requires_grad_())",
    # determinants and inverses
    "L.det(a)", "torch.det(a)", "a.det()", "L.det(A=a)", "L.det(k)", "L.det(c)", "L.det(s)",
    "L.det(i)", "L.det(v)", "L.det(r)", "L.det(e)", "L.det(g)", "L.det(a.half())", "L.det([[1.]])",
    "L.det(torch.eye(3).bool())", "torch.det(input=a)",
    "L.slogdet(a)", "torch.slogdet(a)", "a.slogdet()", "L.slogdet(-a).sign",
    "a.slogdet().logabsdet", "L.slogdet(k)", "L.slogdet(c)", "L.slogdet(s*1.)[1]", "L.slogdet(i)",
    "L.slogdet(e)", "L.slogdet(r)", "torch.logdet(a)", "a.logdet()", "torch.logdet(-a)",
    "torch.logdet(c)", "torch.logdet(s)", "torch.logdet(k)", "torch.logdet(i)", "torch.logdet(v)",
    "L.inv(a)", "torch.inverse(a)", "a.inverse()", "L.inv(k)", "L.inv(c)", "L.inv(s)",
    "L.inv(torch.stack([o,s]))", "L.inv(i)", "L.inv(v)", "L.inv(r)", "L.inv(e)", "L.inv(g)",
    "L.inv(a.half())", "L.inv(a.double())", "L.inv(a,out=torch.empty(3,3))",
    "torch.inverse(torch.zeros(2,2))",
    "L.pinv(a)", "L.pinv(r)", "L.pinv(w)", "L.pinv(torch.ones(3,2))", "L.pinv(k)", "L.pinv(f)",
    "L.pinv(torch.diag(torch.tensor([1.,.01])),.1)", "torch.pinverse(r)", "r.pinverse()",
    "L.pinv(torch.diag(torch.tensor([1.,.01])),rcond=.1)",
    "L.pinv(torch.diag(torch.tensor([1.,.01])),atol=.1)",
    "L.pinv(torch.diag(torch.tensor([1.,.01])),atol=1e-3,rtol=.1)",
    "L.pinv(torch.diag(torch.tensor([1.,.01])),rtol=torch.tensor(.1))",
    "L.pinv(p,hermitian=True)", "L.pinv(i)", "L.pinv(v)", "L.pinv(t)", "L.pinv(torch.zeros(2,3))",
    # equations
    "L.solve(a,b)", "L.solve(a,v)", "L.solve(A=a,B=b)", "L.solve(k,b)", "L.solve(k,a)",
    "L.solve(k,torch.ones(2,3))", "L.solve(torch.stack([o,o*2]),torch.ones(2,2))",
    "L.solve(a,b.T,left=False)", "L.solve(a,v,left=False)", "L.solve(a,b.double())",
    "L.solve(a,torch.ones(2))", "L.solve(a,z)", "L.solve(s,s)", "L.solve(i,i)", "L.solve(r,r)",
    "L.solve(c,c)", "L.solve(e,e)", "L.solve(v,v)", "L.solve(g,g)", "L.solve(a,[1.,2.,3.])",
    "L.solve_triangular(a,b,upper=True)", "L.solve_triangular(a,b,upper=False)",
    "L.solve_triangular(a,b.T,upper=True,left=False)",
    "L.solve_triangular(a,b,upper=True,unitriangular=True)", "L.solve_triangular(k,b,upper=False)",
    "L.solve_triangular(a,v,upper=True)", "L.solve_triangular(a,b)",
    "L.solve_triangular(torch.tensor([[1.,2.],[0.,0.]]),torch.ones(2,1),upper=True)",
    "L.solve_triangular(i,i,upper=True)", "L.solve_triangular(c,c,upper=True)",
    "L.solve_triangular(a,torch.ones(2,2),upper=True)", "L.solve_triangular(r,r,upper=True)",
    "torch.triangular_solve(b,a)", "b.triangular_solve(a,False)",
    "torch.triangular_solve(b,a,transpose=True)", "torch.triangular_solve(b,a,True,False,True)",
    "torch.triangular_solve(c,c,upper=False,transpose=True).solution",
    "torch.triangular_solve(v,a)", "torch.triangular_solve(b.double(),a)",
    "L.lstsq(r,r)", "L.lstsq(r,r[:,0])", "L.lstsq(r,r.flip(0),driver='gels')",
    "L.lstsq(r,r.flip(0),driver='gelsd')", "L.lstsq(r,r.flip(0),driver='gelss').residuals",
    "L.lstsq(r,r,driver='x')", "L.lstsq(w,b[:2])", "L.lstsq(w,b[:2],driver='gelsd')",
    "L.lstsq(torch.ones(3,2),torch.ones(3))", "L.lstsq(torch.ones(3,2),b,driver='gelsd').rank",
    "L.lstsq(torch.diag(torch.tensor([1.,.01])),o,rcond=.1)", "L.lstsq(k,b)", "L.lstsq(k,k)",
    "L.lstsq(k,torch.ones(2,3))", "L.lstsq(a,r)", "L.lstsq(a,b.double())", "L.lstsq(i,i)",
    "L.lstsq(c,c).solution", "L.lstsq(v,v)",
    # Cholesky
    "L.cholesky(p)", "L.cholesky(p,upper=True)", "torch.cholesky(p)", "torch.cholesky(p,True)",
    "p.cholesky()", "p.cholesky(upper=True)", "L.cholesky(q)", "L.cholesky(d)",
    "L.cholesky(d,upper=True)", "L.cholesky(p+a.triu(1))", "L.cholesky(p+a.tril(-1),upper=True)",
    "L.cholesky(-p)", "torch.cholesky(-p)", "L.cholesky(s)", "L.cholesky(i)", "torch.cholesky(i)",
    "L.cholesky(v)", "L.cholesky(r)", "L.cholesky(e)", "L.cholesky(g)", "L.cholesky(p.half())",
    "L.cholesky_ex(p)", "L.cholesky_ex(-p)", "L.cholesky_ex(-p,check_errors=True)",
    "L.cholesky_ex(s)", "L.cholesky_ex(torch.tensor([[4.,2,2],[2,1,5],[2,5,9]]))",
    "L.cholesky_ex(torch.stack([p,-p])).info", "L.cholesky_ex(q,upper=True).L",
    "torch.cholesky_solve(b,L.cholesky(p))", "b.cholesky_solve(L.cholesky(p,upper=True),True)",
    "torch.cholesky_solve(b,L.cholesky(q))", "torch.cholesky_solve(v,p)",
    "torch.cholesky_solve(c,L.cholesky(d))", "torch.cholesky_solve(b.double(),p)",
    "torch.cholesky_inverse(L.cholesky(p))", "L.cholesky(d).cholesky_inverse()",
    "torch.cholesky_inverse(L.cholesky(p,upper=True),upper=True)", "torch.cholesky_inverse(v)",
    # eigenvalues, which need no choice
    "L.eigvalsh(p)", "L.eigvalsh(a)", "L.eigvalsh(a,'U')", "L.eigvalsh(a,UPLO='u')",
    "L.eigvalsh(a,'X')", "L.eigvalsh(d)", "L.eigvalsh(q)", "L.eigvalsh(i)", "L.eigvalsh(r)",
    "L.eigvalsh(e)", "L.eigvalsh(v)", "L.eigvalsh(torch.full((2,2),nan))", "L.eigh(o)",
    "L.eigh(s)", "L.eigh(s).eigenvalues", "L.eigh(p).eigenvectors.abs()", "L.eigh(a,'U')[0]",
    "L.eigh(d)[1].abs()", "L.eigh(s,1)", "L.eigh(i)", "L.eigh(e)",
    "L.eigh(torch.full((2,2),nan)).eigenvalues",
    "L.eigvals(o)", "L.eigvals(torch.tensor([[0.,1.],[-1.,0.]]))", "L.eigvals(i)", "L.eigvals(v)",
    "L.eigvals(r)", "L.eigvals(e)", "L.eigvals(a.double()).sum()", "L.eigvals(c).abs().sum()",
    "L.eig(o)", "L.eig(torch.tensor([[2.,0.],[0.,3.]]))", "L.eig(a).eigenvectors.dtype",
    "L.eig(a.double())[1].dtype", "L.eig(i)", "L.eig(e)", "L.eig(torch.full((2,2),nan))",
    "L.eig(g)", "L.eigvals(a.half())",
    # singular values
    "L.svdvals(a)", "L.svdvals(r)", "L.svdvals(k)", "L.svdvals(c)", "L.svdvals(i)", "L.svdvals(v)",
    "L.svdvals(t)", "L.svdvals(torch.full((2,2),nan))", "L.svdvals(a.half())",
    "L.svdvals(a,driver='gesvd')", "L.svd(a).S", "L.svd(r)[0].shape", "L.svd(w)[2].shape",
    "L.svd(r,False)[0].shape", "L.svd(r,full_matrices=False).Vh.abs()",
    "L.svd(r,full_matrices=False).U.abs()", "L.svd(A=a).U.abs()", "L.svd(k,False)[0].abs()",
    "L.svd(t)", "L.svd(t,full_matrices=False)", "L.svd(e)", "L.svd(i)", "L.svd(a,full_matrices=1)",
    "L.svd(f).S", "torch.svd(r).V.abs()", "torch.svd(r).U.abs()", "r.svd(some=False)[0].shape",
    "torch.svd(r,compute_uv=False)", "torch.svd(w,True).V.shape", "torch.svd(f)[2].abs()",
    "torch.svd(v)",
    # QR
    "L.qr(a)", "L.qr(r)", "L.qr(w)", "L.qr(r,'complete')[1]", "L.qr(r,mode='complete')[0].shape",
    "L.qr(r,'r')", "L.qr(k)", "L.qr(c)", "L.qr(f)", "L.qr(a,'foo')", "L.qr(i)", "L.qr(v)",
    "L.qr(t)", "L.qr(e)", "L.qr(a).Q", "L.qr(a).R", "torch.qr(a)", "torch.qr(r,some=False).R",
    "a.qr()", "r.qr(False)[0].shape",
    # LU
    "L.lu(a)", "L.lu(r)", "L.lu(w)", "L.lu(k)", "L.lu(c)", "L.lu(s)", "L.lu(e)", "L.lu(t)",
    "L.lu(i)", "L.lu(v)", "L.lu(a,pivot=False)", "L.lu(a).P", "L.lu_factor(a)", "L.lu_factor(r)",
    "L.lu_factor(k).pivots", "L.lu_factor(s)", "L.lu_factor(a,pivot=False)", "L.lu_factor(g)",
    "torch.lu(a)", "a.lu()", "torch.lu(s)",
    "torch.lu_unpack(*torch.lu(a))", "torch.lu_unpack(*torch.lu(r))",
    "torch.lu_unpack(*torch.lu(k)).P", "torch.lu_unpack(*torch.lu(a),unpack_data=False)",
    "torch.lu_unpack(*torch.lu(a),unpack_pivots=False)", "torch.lu_unpack(a,torch.ones(3))",
    "L.lu_solve(*L.lu_factor(a),b)", "L.lu_solve(*L.lu_factor(a),b.T,left=False)",
    "L.lu_solve(*L.lu_factor(c),c,adjoint=True)", "L.lu_solve(*L.lu_factor(k),b)",
    "L.lu_solve(*L.lu_factor(c),c,left=False,adjoint=True)", "L.lu_solve(*L.lu_factor(a),v)",
    "L.lu_solve(*L.lu_factor(a),torch.ones(2,2))",
    "L.lu_solve(L.lu_factor(a)[0],torch.ones(1,dtype=torch.int32),b)",
    "L.lu_solve(*L.lu_factor(a),k)",
    # products
    "L.matrix_power(a,3)", "torch.matrix_power(a,2)", "a.matrix_power(0)", "L.matrix_power(a,-2)",
    "L.matrix_power(k,1)", "L.matrix_power(i,3)", "L.matrix_power(i,-1)", "L.matrix_power(s,-1)",
    "L.matrix_power(a,1.5)", "L.matrix_power(v,2)", "L.matrix_power(r,2)", "L.matrix_power(c,3)",
    "L.matrix_power(torch.eye(2).bool(),2)", "L.matrix_power(torch.eye(2).bool(),0)",
    "L.matrix_power(a.requires_grad_(),0)", "L.matrix_exp(a)", "torch.matrix_exp(a)",
    "a.matrix_exp()", "L.matrix_exp(k*.1)", "L.matrix_exp(c)", "L.matrix_exp(i)", "L.matrix_exp(v)",
    "L.matrix_exp(r)", "L.matrix_exp(e)", "L.matrix_exp(torch.zeros(2,2))",
    "L.multi_dot([a,b])", "L.multi_dot((a,b,w))", "L.multi_dot([v,a,b])", "L.multi_dot([v,a,v])",
    "L.multi_dot([a])", "L.multi_dot([a,b.double()])", "L.multi_dot([a,v,a])", "L.multi_dot([i,i])",
    "L.multi_dot([a,r])", "L.multi_dot(a)", "L.multi_dot([z,a])", "L.cross(v,v+1)",
    "L.cross(a,k[1])",
    "L.cross(a,a[:1])", "L.cross(a,b)", "L.cross(a,v)", "L.cross(b,b+1,dim=0)", "L.cross(r,r)",
    "L.cross(i,i+1)", "L.cross(v,v.double())", "L.cross(c,c*2)", "L.cross(z,z)",
    "L.cross(v,v,dim=3)",
    "L.vecdot(a,a)", "L.vecdot(a,v)", "L.vecdot(b,b,dim=0)", "L.vecdot(c,c)",
    "L.vecdot(c,c.conj())",
    "L.vecdot(a,v.double())", "L.vecdot(i,i)", "L.vecdot(a,r)", "L.vecdot(z,z)",
    "L.vecdot(a,a,dim=4)",
    "L.diagonal(a)", "L.diagonal(k,offset=1)", "L.diagonal(k,dim1=0,dim2=1)", "L.diagonal(v)",
    "L.diagonal(A=a)",
    "L.matmul(a,b)",
    # others

    "issubclass(L.LinAlgError,RuntimeError)", "L.LinAlgError.__name__",
    "repr(type(L.slogdet(a)).__name__)", "L.eigh(o).__class__.__name__", "L.inv(a,1)", "L.det()",
    "L.svd(o)._fields if hasattr(L.svd(o),'_fields') else ('U','S','Vh')",
]  # fmt: skip

#: Expressions of leaves, differentiated twice.
GRADIENTS = [
    "L.norm(a)", "L.norm(a,2)", "L.norm(a,-2)", "L.norm(a,1)", "L.norm(a,inf)", "L.norm(a,'nuc')",
    "L.norm(k,2,dim=(1,2))", "L.norm(v,3)", "L.norm(a,dim=0)", "L.norm(c)", "L.norm(c,2)",
    "L.norm(c,'nuc')", "L.vector_norm(k,1.5,dim=(0,2))", "L.vector_norm(a,1)",
    "L.vector_norm(a,inf,dim=1,keepdim=True)", "L.vector_norm(a,-2.0)",
    "L.matrix_norm(k)", "L.matrix_norm(k,-1,dim=(0,1))", "L.matrix_norm(w,'nuc',keepdim=True)",
    "L.matrix_norm(torch.eye(3,dtype=torch.float64)*a[0,0],inf)",
    "L.det(a)", "torch.det(k)", "a.det()", "L.det(c)", "L.det(a@a.T)",
    "L.slogdet(a)[1]", "torch.slogdet(k).logabsdet", "L.slogdet(c)", "torch.logdet(a)",
    "torch.logdet(p)", "torch.logdet(c)", "L.slogdet(a)",
    "L.inv(a)", "torch.inverse(k)", "a.inverse()", "L.inv(c)",
    "L.pinv(a)", "L.pinv(r)", "L.pinv(w)", "L.pinv(f)", "torch.pinverse(r)",
    "L.pinv(p,hermitian=True)",
    "L.solve(a,b)", "L.solve(a,v)", "L.solve(k,b)", "L.solve(a,b.T,left=False)", "L.solve(c,c.T)",
    "L.solve(a,k)",
    "L.solve_triangular(a,b,upper=True)", "L.solve_triangular(a,b,upper=False,unitriangular=True)",
    "L.solve_triangular(a,b.T,upper=False,left=False)", "L.solve_triangular(c,c.T,upper=True)",
    "L.solve_triangular(k,b,upper=True)", "torch.triangular_solve(b,a)[0]",
    "b.triangular_solve(a,upper=False,transpose=True).solution", "torch.triangular_solve(b,a)",
    "L.lstsq(r,r.flip(0)*v[0])[0]", "L.lstsq(w,b[:2])[0]", "L.lstsq(k,k.mT).solution",
    "L.lstsq(r,r.flip(0)[:,0])[0]",
    "L.cholesky(p)", "L.cholesky(p,upper=True)", "torch.cholesky(q)", "p.cholesky(True)",
    "L.cholesky(d)", "L.cholesky(d,upper=True)", "L.cholesky_ex(p).L", "L.cholesky(p+a.triu(1))",
    "torch.cholesky_solve(b,L.cholesky(p))", "b.cholesky_solve(p.triu(),True)",
    "torch.cholesky_inverse(p.tril())", "L.cholesky(d).cholesky_inverse()",
    "L.eigvalsh(p)", "L.eigvalsh(a)", "L.eigvalsh(a,'U')", "L.eigvalsh(d)", "L.eigvalsh(q)",
    "L.eigh(p)[0]", "L.eigh(p)[1]**2", "L.eigh(q).eigenvectors.abs()", "L.eigh(d)[1].abs()",
    "(lambda e: (e[1]*e[0].exp())@e[1].mT)(L.eigh(p))", "L.eigh(p[:2,:2])",
    "(lambda e: (e[1]*e[0].sin())@e[1].mH)(L.eigh(d))", "L.eigh(a)[1].abs()",
    "(L.eigvals(a)**3).sum()", "(L.eigvals(a)**2).sum()", "L.eigvals(c).abs().prod()",
    "(lambda e: (e[1]*e[0]**2)@L.inv(e[1]))(L.eig(a))", "L.eig(a)[1].abs().sum()",
    "(lambda e: (e[1]*e[0]**2)@L.inv(e[1]))(L.eig(c))", "L.eigvals(k).prod(-1)",
    "L.svdvals(a)", "L.svdvals(r)", "L.svdvals(w)", "L.svdvals(k)", "L.svdvals(c)", "L.svd(a).S",
    "L.svd(r,False)[0]**2", "L.svd(r,full_matrices=False)[2].abs()", "L.svd(r)[0][:,:2].abs()",
    "(lambda e: (e[0]*e[1].sin())@e[2])(L.svd(r,False))", "L.svd(w,False).Vh**2",
    "(lambda e: (e[0]*e[1].sin())@e[2])(L.svd(w,False))", "L.svd(k)[0].abs()",
    "(lambda e: (e[0]*e[1].sin())@e[2])(L.svd(f,False))", "L.svd(c).U.abs()",
    "(lambda e: (e.U*e.S.exp())@e.V.mH)(torch.svd(f))", "torch.svd(r).V**2",
    "(lambda e: (e[0]*e[1].sin())@e[2])(L.svd(c))",
    "L.qr(a)", "L.qr(r)", "L.qr(w)", "L.qr(k)", "L.qr(c)", "L.qr(f)[0]", "L.qr(w,'complete')",
    "torch.qr(r)", "a.qr().R", "L.qr(a).Q",
    "L.lu(a)[1:]", "L.lu(r)[1:]", "L.lu(w)[1:]", "L.lu(k).U", "L.lu(c)[1:]", "L.lu_factor(a)[0]",
    "L.lu_factor(r)[0]", "torch.lu(w)[0]", "torch.lu_unpack(*torch.lu(a))[1:]",
    "torch.lu_unpack(*torch.lu(r))[1:]", "L.lu_solve(*L.lu_factor(a),b)",
    "L.lu_solve(*L.lu_factor(c),c*c,adjoint=True)",
    "L.lu_solve(*L.lu_factor(a),b.T,left=False)", "L.lu_solve(*L.lu_factor(k),b)",
    "L.matrix_power(a,3)", "L.matrix_power(a,-2)", "a.matrix_power(1)", "L.matrix_power(c,2)",
    "L.matrix_exp(a*.3)", "torch.matrix_exp(k*.1)", "L.matrix_exp(c*.2)",
    "L.multi_dot([a,b,w])", "L.multi_dot([v,a,b])", "L.cross(a,k[1]**2)", "L.cross(v,v*v)",
    "L.cross(b,b*b,dim=0)", "L.vecdot(a,k)", "L.vecdot(c,c*c)", "L.vecdot(b,b*b,dim=0)",
    "L.diagonal(k)*v", "L.matmul(a,b)",
]  # fmt: skip

#: The same, differentiated once.
ONCE = [
    "L.matrix_power(a,0)", "L.svd(r).U", "L.svd(r)",
    "L.svd(c).U", "L.eigh(d)[1].real", "L.eig(c)[1].real", "L.eig(a)[1].real",
    "L.svd(c).U.real", "L.qr(r,'complete')", "L.qr(r,'r').R",
    "L.svdvals(torch.eye(3,dtype=torch.float64)*a)",
    "L.eigvalsh(torch.eye(3,dtype=torch.float64)*a[0,0])", "L.matrix_norm(a*0,2)",
    "L.matrix_norm(a*0,'nuc')", "L.matrix_norm(a*0)", "L.norm(v*0)", "L.vector_norm(a*0,1)",
    "L.eigh(torch.eye(3,dtype=torch.float64)*a[0,0])[1]**2", "torch.logdet(-a)",
    "L.svd(torch.eye(3,dtype=torch.float64)*a[0,0])[0]**2", "L.matrix_norm(p-p,1)",
    "L.eigh(p)[1].sum()*0+L.eigh(p)[0].sum()", "L.det(a*0)", "L.matrix_rank(a)+a.sum()",
    "L.lstsq(r,r.flip(0),driver='gelsd')[:2]",
]  # fmt: skip


def test_the_programs_are_many() -> None:
    assert len(VALUES) + len(GRADIENTS) + len(ONCE) > 500
    for texts in (VALUES, GRADIENTS, ONCE):
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    compare(lambda torch: eval(text, given(torch)), rtol=2e-4)


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text: str) -> None:
    compare(differentiated(text), rtol=1e-8)


@pytest.mark.parametrize("text", ONCE)
def test_first_derivatives(text: str) -> None:
    compare(differentiated(text, 1), rtol=1e-8)


# -- programs of several lines -----------------------------------------------------------------


def log_likelihood(torch: Any) -> Any:
    """Differentiate a Gaussian log-density in its mean and its covariance, twice."""
    known = names(torch, torch.float64)
    mean, cov = known["v"].requires_grad_(), known["p"].requires_grad_()
    factor = torch.linalg.cholesky(cov)
    away = torch.linalg.solve_triangular(factor, (1 - mean)[:, None], upper=False)
    value = -0.5 * (away**2).sum() - factor.diagonal().log().sum()
    first = torch.autograd.grad(value, (mean, cov), create_graph=True)
    first[1].pow(2).sum().backward()
    return value, first, mean.grad, cov.grad


def caught(torch: Any) -> Any:
    """Go on where a matrix is singular."""
    found = []
    for make in (torch.linalg.inv, torch.linalg.cholesky, torch.inverse, torch.linalg.eigh):
        try:
            found.append(make(torch.zeros(2, 2)))
        except torch.linalg.LinAlgError as error:
            found.append(isinstance(error, RuntimeError))
    try:
        torch.linalg.solve(torch.ones(2, 2), torch.ones(2))
    except RuntimeError as error:
        found.append("singular" in str(error))
    return found


def twice(torch: Any) -> Any:
    """Sweep a second time through what was given up."""
    a = names(torch)["a"].requires_grad_()
    y = torch.linalg.inv(a).sum()
    y.backward()
    y.backward()


def kept(torch: Any) -> Any:
    """Sweep a second time through what was kept."""
    a = names(torch, torch.float64)["a"].requires_grad_()
    y = torch.linalg.svdvals(a).sum() + torch.det(a)
    y.backward(retain_graph=True)
    y.backward()
    return a.grad


def overwritten(torch: Any) -> Any:
    """Write to a result that its own derivative needs."""
    a = names(torch)["a"].requires_grad_()
    y = torch.linalg.inv(a)
    y.mul_(2)
    y.sum().backward()


def overwritten_input(torch: Any) -> Any:
    """Write to a matrix that a derivative needs."""
    a = names(torch)["a"].requires_grad_() * 1
    y = torch.linalg.qr(a[:, :2]).R.sum() + torch.linalg.slogdet(a)[1]
    a.zero_()
    y.backward()


def named(torch: Any) -> Any:
    """Take results by name, by place and apart."""
    a = names(torch)["a"]
    e = torch.linalg.eigh(a @ a.T)
    values, vectors = e
    u, s, v = torch.svd(a)
    return (
        e.eigenvalues, e[0], values, len(e), isinstance(e, tuple), s,
        torch.linalg.slogdet(a).sign, torch.linalg.qr(a).R.shape, torch.linalg.lu_factor(a).pivots,
        torch.allclose(vectors @ torch.diag(values) @ vectors.T, a @ a.T, atol=1e-3),
        torch.allclose(u @ torch.diag(s) @ v.mT, a, atol=1e-4),
        e.eigenvalues.requires_grad, torch.linalg.cholesky_ex(a).info,
    )  # fmt: skip


def with_out(torch: Any) -> Any:
    """Put results where they are wanted."""
    a = names(torch)["a"]
    place = torch.empty(3, 3)
    one = torch.linalg.inv(a, out=place)
    values, vectors = torch.empty(3), torch.empty(3, 3)
    torch.linalg.eigh(a @ a.T, out=(values, vectors))
    return place, one is place, values, torch.fft.fft(a[0], out=torch.empty(0, dtype=torch.cfloat))


def without_grad(torch: Any) -> Any:
    """Decompose where nothing is recorded."""
    a = names(torch)["a"].requires_grad_()
    with torch.no_grad():
        q, r = torch.linalg.qr(a)
    return q, r, torch.linalg.det(a.detach()), torch.linalg.matrix_rank(a)


def labels(torch: Any) -> Any:
    """Name the entries."""
    a = names(torch)["a"].requires_grad_()
    linalg = torch.linalg
    made = [
        linalg.det(a), linalg.inv(a), linalg.solve(a, a), *linalg.eigh(a), *linalg.svd(a),
        *linalg.qr(a), linalg.pinv(a), linalg.norm(a), *linalg.slogdet(a), linalg.matrix_exp(a),
        linalg.svdvals(a), linalg.cholesky(a @ a.T), torch.fft.rfft(a), torch.fft.fft2(a),
        torch.fft.irfft(a), linalg.lu_factor(a)[0], torch.logdet(a), torch.fft.fftshift(a),
        linalg.eigvals(a), linalg.cross(a, a), linalg.diagonal(a),
    ]  # fmt: skip
    return [type(x.grad_fn).__name__ for x in made]


def mapped(torch: Any) -> Any:
    """Map decompositions over examples, and their gradients."""
    k = names(torch, torch.float64)["q"]
    vmap, grad, linalg = torch.func.vmap, torch.func.grad, torch.linalg
    return (
        vmap(linalg.inv)(k), vmap(linalg.det)(k), vmap(linalg.cholesky)(k),
        vmap(linalg.eigvalsh)(k),
        vmap(linalg.svdvals)(k), vmap(grad(lambda a: linalg.eigvalsh(a)[0]))(k),
        vmap(grad(linalg.det))(k), vmap(grad(lambda a: linalg.norm(a, 2)))(k),
        vmap(lambda a: linalg.solve(a, k[0, 0]))(k), vmap(grad(lambda a: linalg.qr(a).R.sum()))(k),
        vmap(torch.fft.rfft)(k), vmap(grad(lambda a: torch.fft.fft(a).abs().sum()))(k),
        vmap(grad(lambda a: linalg.cholesky(a).sum()))(k), vmap(linalg.matrix_norm)(k),
        vmap(grad(lambda a: linalg.slogdet(a)[1]))(k), vmap(lambda a: linalg.matrix_power(a, 3))(k),
        vmap(lambda a: linalg.lu_factor(a)[0])(k), vmap(grad(lambda a: linalg.pinv(a).sum()))(k),
    )  # fmt: skip


def pushed(torch: Any) -> Any:
    """Push tangents forward, and make whole derivatives."""
    a = names(torch, torch.float64)["a"]
    jvp, linalg = torch.func.jvp, torch.linalg
    jacobian, hessian = torch.autograd.functional.jacobian, torch.autograd.functional.hessian
    return (
        jvp(linalg.inv, (a,), (a.T,)), jvp(linalg.det, (a,), (a.T,)),
        jvp(lambda x: linalg.solve(x, a), (a,), (a.T,)), jacobian(linalg.inv, a),
        jvp(linalg.svdvals, (a,), (a.T,)), jvp(linalg.eigvalsh, (a @ a.T,), (a + a.T,)),
        hessian(linalg.det, a), hessian(torch.logdet, a), jacobian(torch.fft.rfft, a[0]),
        jvp(torch.fft.fft, (a,), (a.T,)), hessian(lambda x: torch.fft.rfft(x).abs().sum(), a[0]),
        jvp(lambda x: linalg.cholesky(x), (a @ a.T,), (a + a.T,)),
        jvp(linalg.matrix_exp, (a,), (a.T,)),
    )  # fmt: skip


def checked(torch: Any) -> Any:
    """Have gradients compared with finite differences."""
    a = names(torch, torch.float64)["a"].requires_grad_()
    check, linalg = torch.autograd.gradcheck, torch.linalg
    return (
        check(linalg.inv, a), check(linalg.det, a), check(linalg.pinv, a), check(linalg.svdvals, a),
        check(lambda x: linalg.lu(x)[1:], a), check(linalg.qr, a), check(torch.fft.fft, a),
        check(lambda x: linalg.eigvalsh(x + x.T), a), check(linalg.matrix_exp, a),
        torch.autograd.gradgradcheck(linalg.inv, a), check(torch.logdet, a),
    )  # fmt: skip


def triangles(torch: Any) -> Any:
    """Differentiate by factors that are leaves: zeros in the other triangle have derivatives."""
    known, found = names(torch, torch.float64), []
    for upper in (False, True):
        for matrix, b in (("p", "b"), ("q", "b"), ("d", "c")):
            factor = torch.linalg.cholesky(known[matrix], upper=upper).requires_grad_()
            for make in (
                lambda f, b=known[b], upper=upper: torch.cholesky_solve(b, f, upper),
                lambda f, upper=upper: torch.cholesky_inverse(f, upper),
            ):
                y = make(factor).abs().square().sum()
                (first,) = torch.autograd.grad(y, factor, create_graph=True)
                found += [first, *torch.autograd.grad((first * known["a"]).abs().sum(), factor)]
            change = known["a"].to(factor.dtype) + torch.zeros_like(factor)
            solve = functools.partial(torch.cholesky_solve, known[b], upper=upper)
            found += torch.func.jvp(solve, (factor.detach(),), (change,))
    return found


def of_one_triangle(torch: Any) -> Any:
    """Read the lower triangles of matrices that are not Hermitian."""
    known, pinv = names(torch, torch.float64), torch.linalg.pinv
    p = known["p"].clone().requires_grad_()
    pinv(p, hermitian=True).square().sum().backward()
    return [pinv(known[k], hermitian=True) for k in "ackpd"], p


def no_tangent_at_singular(torch: Any) -> Any:
    """See that the tangent of a logarithm at 0 is not a finite number."""
    at = torch.ones(2, 2), torch.eye(2)
    return torch.func.jvp(torch.logdet, at[:1], at[1:])[1].isfinite()


PROGRAMS = [
    triangles, of_one_triangle, no_tangent_at_singular,
    log_likelihood, caught, twice, kept, overwritten, overwritten_input, named, with_out,
    without_grad, labels, mapped, pushed, checked,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program: Any) -> None:
    compare(program, rtol=1e-5)
