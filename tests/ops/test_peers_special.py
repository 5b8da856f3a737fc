"""Special functions and Fourier transforms: PyTorch's values and derivatives, and its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import assert_near, second, vjp, weights_like

pytestmark = pytest.mark.peers

torch = pytest.importorskip("torch")

INSIDE, UNIT, POSITIVE = (
    np.linspace(low, high, 7) for low, high in ((-2.3, 2.4), (0.07, 0.93), (0.3, 3.3))
)
OTHER = POSITIVE[::-1].copy()

#: Functions of each element, and what they are called with.
ELEMENTS: dict[str, tuple[np.ndarray, ...]] = {
    "digamma": (POSITIVE,),
    "entr": (POSITIVE,),
    "erf": (INSIDE,),
    "erfc": (INSIDE,),
    "erfcx": (INSIDE,),
    "erfinv": (INSIDE / 3,),
    "exp2": (INSIDE,),
    "expit": (INSIDE,),
    "gammaln": (POSITIVE,),
    "i0": (INSIDE,),
    "i0e": (INSIDE,),
    "i1": (INSIDE,),
    "i1e": (INSIDE,),
    "log_ndtr": (INSIDE,),
    "logit": (UNIT,),
    "ndtr": (INSIDE,),
    "ndtri": (UNIT,),
    "psi": (POSITIVE,),
    "sinc": (INSIDE,),
    "xlog1py": (INSIDE, UNIT),
    "xlogy": (INSIDE, POSITIVE),
}


def torch_vjp(function: Any, arrays: Any, weights: Any) -> Any:
    """Return PyTorch's results, gradients, and gradients of weighted gradients."""
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    results = function(*tensors)
    firsts = torch.autograd.grad(results, tensors, torch.tensor(weights), create_graph=True)
    again = [
        torch.tensor(np.cos(np.arange(g.numel())).reshape(g.shape)).to(g.dtype) for g in firsts
    ]
    live = [(g, w) for g, w in zip(firsts, again, strict=True) if g.requires_grad]
    seconds = (
        torch.autograd.grad(
            [g for g, _ in live],
            tensors,
            [w for _, w in live],
            allow_unused=True,
            materialize_grads=True,
        )
        if live
        else [torch.zeros_like(t) for t in tensors]
    )
    return [p.detach().resolve_conj().numpy() for p in (results, *firsts, *seconds)]


def check(mine: Any, theirs: Any, arrays: Any, rtol: float = 1e-10) -> None:
    tensors = list(map(wg.asarray, arrays))
    (weights,) = weights_like(mine(*tensors))
    results, gradients = vjp(mine, tensors, [weights])
    seconds = second(mine, tensors, [weights])
    expected = torch_vjp(theirs, arrays, weights)
    for got, other in zip([*results, *gradients, *seconds], expected, strict=True):
        assert_near(got, other, rtol=rtol)


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements(name: str) -> None:
    check(getattr(wg.special, name), getattr(torch.special, name), ELEMENTS[name])


def test_polygamma() -> None:
    for n in (1, 2, 3):
        check(
            lambda x, n=n: wg.special.polygamma(n, x),
            lambda x, n=n: torch.special.polygamma(n, x),
            [POSITIVE],
        )


def test_the_part_of_zeta_that_both_have() -> None:
    x = POSITIVE + 1.5
    check(
        lambda q: wg.special.zeta(x, q), lambda q: torch.special.zeta(torch.tensor(x), q), [OTHER]
    )


def test_the_part_of_gammainc_that_both_have() -> None:
    a = torch.tensor(OTHER)
    for name in ("gammainc", "gammaincc"):
        mine, theirs = getattr(wg.special, name), getattr(torch.special, name)
        check(lambda x, f=mine: f(OTHER, x), lambda x, f=theirs: f(a, x), [POSITIVE])


def test_gamma_variables_follow_their_parameter() -> None:
    # PyTorch has it only in its sampler, to about three digits
    slope_a, slope_x = wg.grad(lambda a, x: wg.sum(wg.special.gammainc(a, x)), (0, 1))(
        OTHER, POSITIVE
    )
    theirs = torch._standard_gamma_grad(torch.tensor(OTHER), torch.tensor(POSITIVE)).numpy()
    np.testing.assert_allclose(-slope_a / slope_x, theirs, rtol=2e-3)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_along_an_axis(name: str) -> None:
    x = np.stack([INSIDE, INSIDE[::-1] * 2])
    mine, theirs = getattr(wg.special, name), getattr(torch.special, name)
    for axis in (0, 1):
        check(lambda x, a=axis: mine(x, axis=a), lambda x, a=axis: theirs(x, a), [x])


# -- Fourier transforms -------------------------------------------------------------------------

REAL = np.stack([INSIDE, INSIDE[::-1] * 2, POSITIVE])
COMPLEX = REAL + 1j * REAL[::-1]


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_along_an_axis(name: str, norm: str) -> None:
    x = REAL if name in ("rfft", "ihfft") else COMPLEX
    mine, theirs = getattr(wg.fft, name), getattr(torch.fft, name)
    for n, axis in ((None, 1), (5, 1), (8, 1), (4, 0)):
        check(
            lambda x, n=n, a=axis: mine(x, n=n, axis=a, norm=norm),
            lambda x, n=n, a=axis: theirs(x, n, a, norm),
            [x],
        )


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "irfft2"])
def test_transforms_over_axes(name: str) -> None:
    x = REAL if name == "rfftn" else COMPLEX
    mine, theirs = getattr(wg.fft, name), getattr(torch.fft, name)
    check(mine, theirs, [x])
    check(lambda x: mine(x, s=(4, 5)), lambda x: theirs(x, (4, 5)), [x])


# -- tensors around PyTorch's arrays --------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (lambda x: wg.special.log_ndtr(x) * wg.special.sinc(x), [INSIDE]),
        (lambda a, x: wg.special.gammainc(a, x), [OTHER, POSITIVE]),
        (lambda a, x: wg.special.betainc(a, a, x), [OTHER, UNIT]),
        (lambda x: wg.special.softmax(x, axis=0) + wg.special.log_softmax(x, axis=0), [INSIDE]),
        (lambda x, b: wg.special.logsumexp(x, b=b), [INSIDE, POSITIVE]),
        (lambda x: wg.special.logsumexp(x, axis=1), [REAL]),
        (lambda x: wg.special.polygamma(1, x) + wg.special.iv(1, x), [POSITIVE]),
        (lambda x: wg.fft.irfft(wg.fft.rfft(x, n=8) ** 2, n=5, axis=0), [REAL]),
        (
            lambda x: wg.fft.fftn(x, s=(4, 4)) + wg.fft.ifft(wg.fft.fft(x, n=4), n=4, axis=0),
            [COMPLEX],
        ),
        (lambda x: wg.fft.hfft(wg.fft.fftshift(x)), [COMPLEX]),
    ],
)
def test_on_arrays_of_pytorch(function: Any, arrays: list[np.ndarray]) -> None:
    on_numpy = list(map(wg.asarray, arrays))
    on_torch = [wg.asarray(torch.tensor(a)) for a in arrays]
    weights = weights_like(function(*on_numpy))
    theirs = [torch.tensor(w) for w in weights]
    results, gradients = vjp(function, on_numpy, weights)
    got, pulled = vjp(function, on_torch, theirs)
    for mine, expected in zip([*got, *pulled], [*results, *gradients], strict=True):
        assert isinstance(mine.data, torch.Tensor)
        assert_near(mine, expected, rtol=1e-11)
