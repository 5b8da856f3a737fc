"""Linear algebra against PyTorch: values, gradients and second derivatives, complex and batched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

RANDOM = np.random.default_rng(11)
la: Any = wg.linalg
tl: Any = torch.linalg


def normal(shape: tuple[int, ...], complex: bool) -> np.ndarray:
    x = RANDOM.standard_normal(shape)
    return x + 1j * RANDOM.standard_normal(shape) if complex else x


def adjoint(x: Any) -> Any:
    return x.swapaxes(-1, -2).conj() if isinstance(x, np.ndarray) else x.mH


def regular(shape: tuple[int, ...], complex: bool) -> np.ndarray:
    return normal(shape, complex) + 3 * np.eye(*shape[-2:])


def positive(shape: tuple[int, ...], complex: bool) -> np.ndarray:
    x = normal(shape, complex)
    return x @ adjoint(x) + np.eye(shape[-1])


def size(x: Any) -> Any:
    """Return what does not depend on phases: squares of absolute values."""
    return wg.abs(x) ** 2 if isinstance(x, wg.Tensor) else torch.abs(x) ** 2


def of_wg(part: Any) -> Any:
    return wg.conj(wg.matrix_transpose(part))


#: name: (ours, theirs, makers of the arguments)
CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]] = {
    "cholesky": (la.cholesky, lambda x: tl.cholesky((x + x.mH) / 2), [positive]),
    "cholesky upper": (
        lambda x: la.cholesky(x, upper=True),
        lambda x: tl.cholesky((x + x.mH) / 2).mH,
        [positive],
    ),
    "solve": (la.solve, tl.solve, [regular, normal]),
    "inv": (la.inv, tl.inv, [regular]),
    "det": (la.det, tl.det, [regular]),
    "slogdet": (lambda x: la.slogdet(x)[1], lambda x: tl.slogdet(x)[1], [regular]),
    "pinv": (la.pinv, tl.pinv, [regular]),
    "expm": (lambda x: la.expm(x / 4), lambda x: tl.matrix_exp(x / 4), [normal]),
    "matrix_power": (lambda x: la.matrix_power(x, -2), lambda x: tl.matrix_power(x, -2), [regular]),
    "eigvalsh": (la.eigvalsh, lambda x: tl.eigvalsh((x + x.mH) / 2), [positive]),
    "eigh": (
        lambda x: (lambda w, v: size(v) * w[..., None, :])(*la.eigh(x)),
        lambda x: (lambda w, v: size(v) * w[..., None, :])(*tl.eigh((x + x.mH) / 2)),
        [positive],
    ),
    "svdvals": (la.svdvals, tl.svdvals, [normal]),
    "svd": (
        lambda x: (lambda u, s, vh: size(u) + s[..., None, :] * size(of_wg(vh)))(
            *la.svd(x, full_matrices=False)
        ),
        lambda x: (lambda u, s, vh: size(u) + s[..., None, :] * size(vh.mH))(
            *tl.svd(x, full_matrices=False)
        ),
        [normal],
    ),
    "eig": (
        lambda x: size(la.eig(x).eigenvectors),
        lambda x: size(tl.eig(x).eigenvectors),
        [normal],
    ),
    "qr": (
        lambda x: (lambda q, r: q @ wg.abs(r))(*la.qr(x)),
        lambda x: (lambda q, r: q @ (torch.abs(r) + 0 * q))(*tl.qr(x)),
        [regular],
    ),
    "solve_triangular": (
        lambda a, b: la.solve_triangular(a, b, lower=True),
        lambda a, b: tl.solve_triangular(a.tril(), b, upper=False),
        [regular, normal],
    ),
    "nuclear norm": (
        lambda x: la.matrix_norm(x, ord="nuc"),
        lambda x: tl.matrix_norm(x, ord="nuc"),
        [normal],
    ),
    "spectral norm": (
        lambda x: la.matrix_norm(x, ord=2),
        lambda x: tl.matrix_norm(x, ord=2),
        [normal],
    ),
    "norm": (
        lambda x: la.vector_norm(x, ord=3, axis=-1),
        lambda x: tl.vector_norm(x, ord=3, dim=-1),
        [normal],
    ),
    "lstsq": (
        lambda a, b: la.lstsq(a, b).solution,
        lambda a, b: tl.lstsq(a, b).solution,
        [regular, normal],
    ),
    "cond": (la.cond, tl.cond, [regular]),
}


def weighted_wg(y: Any, w: Any) -> Any:
    return wg.sum(wg.real(y * w)) if np.iscomplexobj(w) else wg.sum(y * w)


def both_orders_wg(f: Any, arrays: list[np.ndarray], w: Any, again: list[Any]) -> Any:
    tensors = [wg.asarray(a) for a in arrays]
    with wg.GradientTape() as outer:
        outer.watch(tensors)
        with wg.GradientTape() as inner:
            inner.watch(tensors)
            y = f(*tensors)
            loss = weighted_wg(y, w)
        firsts = inner.gradient(loss, tensors)
        total = sum(weighted_wg(g, v) for g, v in zip(firsts, again, strict=True))
    seconds = outer.gradient(total, tensors)
    return y.numpy(), [g.numpy() for g in firsts], [g.numpy() for g in seconds]


def both_orders_torch(f: Any, arrays: list[np.ndarray], w: Any, again: list[Any]) -> Any:
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    y = f(*tensors)
    loss = (y * torch.tensor(w)).sum().real
    firsts = torch.autograd.grad(loss, tensors, create_graph=True)
    total = sum((g * torch.tensor(v)).sum().real for g, v in zip(firsts, again, strict=True))
    seconds = torch.autograd.grad(total, tensors)
    return plain(y), list(map(plain, firsts)), list(map(plain, seconds))


def plain(x: Any) -> np.ndarray:
    return x.detach().resolve_conj().numpy()


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (40, 40)], ids=str)
@pytest.mark.parametrize("complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", CALLS)
def test_two_orders(name: str, complex: bool, shape: tuple[int, ...]) -> None:
    mine, theirs, makers = CALLS[name]
    arrays = [make(shape, complex) for make in makers]
    example = np.asarray(mine(*map(wg.asarray, arrays)).numpy())
    w = RANDOM.standard_normal(example.shape).astype(example.dtype)
    again = [RANDOM.standard_normal(a.shape).astype(a.dtype) for a in arrays]
    ours = both_orders_wg(mine, arrays, w, again)
    expected = both_orders_torch(theirs, arrays, w, again)
    np.testing.assert_allclose(ours[0], expected[0], rtol=1e-9, atol=1e-9)
    for got, want, rtol in ((ours[1], expected[1], 1e-8), (ours[2], expected[2], 1e-6)):
        for g, e in zip(got, want, strict=True):
            np.testing.assert_allclose(g, e, rtol=rtol, atol=rtol * max(1.0, np.abs(e).max()))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 2)], ids=str)
@pytest.mark.parametrize("complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", ["svd", "svdvals", "pinv", "qr", "nuclear norm"])
def test_matrices_that_are_not_square(name: str, complex: bool, shape: tuple[int, ...]) -> None:
    mine, theirs, _ = CALLS[name]
    if name == "qr":
        mine = lambda x: la.qr(x).R  # noqa: E731
        theirs = lambda x: tl.qr(x).R  # noqa: E731
    elif name == "svd":
        mine = lambda x: size(la.svd(x, full_matrices=False).U)  # noqa: E731
        theirs = lambda x: size(tl.svd(x, full_matrices=False).U)  # noqa: E731
    test_with = regular(shape, complex)
    if name == "qr" and shape[-2] < shape[-1]:
        # PyTorch has no derivative of QR of a wide matrix; its first columns are one that has
        wide = la.qr(test_with).R.numpy()
        np.testing.assert_allclose(wide, tl.qr(torch.tensor(test_with)).R.numpy(), atol=1e-12)
        return
    example = mine(wg.asarray(test_with)).numpy()
    w = RANDOM.standard_normal(example.shape).astype(example.dtype)
    again = [RANDOM.standard_normal(shape).astype(test_with.dtype)]
    ours = both_orders_wg(mine, [test_with], w, again)
    expected = both_orders_torch(theirs, [test_with], w, again)
    for got, want in zip(ours[1] + ours[2], expected[1] + expected[2], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-7 * np.abs(want).max())


def test_torch_tensors_compute_themselves() -> None:
    x = positive((2, 3, 3), False)
    for f in (la.cholesky, la.inv, la.det, la.expm, lambda x: la.eigh(x).eigenvalues, la.pinv):
        results = []
        for make in (lambda a: wg.asarray(torch.tensor(a)), wg.asarray):
            t = make(x)
            with wg.GradientTape() as tape:
                tape.watch(t)
                y = wg.sum(f(t) ** 2)
            results.append(tape.gradient(y, t).numpy())
        np.testing.assert_allclose(*results, atol=1e-10)
