"""Activations, normalisation, losses and attention, compared with PyTorch: two orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wengert as wg

pytestmark = pytest.mark.peers

torch = pytest.importorskip("torch")
F = torch.nn.functional
RANDOM = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def positive(*shape: int) -> np.ndarray:
    return RANDOM.uniform(0.2, 0.8, shape)


@dataclass(frozen=True)
class Program:
    """The same function of the same arrays in both libraries."""

    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    arrays: Sequence[np.ndarray]
    rtol: float = 1e-9


def both(name: str, *arrays: np.ndarray, **options: Any) -> Program:
    """Return a program that has one name and the same options in both."""
    mine, other = getattr(wg.nn, name), getattr(F, name)
    return Program(lambda *a: mine(*a, **options), lambda *a: other(*a, **options), arrays)


X, Y, Z = normal(4, 5), normal(4, 5), normal(3, 4, 2, 2)
W, B, M = normal(5), normal(5), normal(4)
V = positive(4)
LOGITS, LABELS = normal(6, 4), np.array([0, 3, -100, 1, 2, 2])
SHARES = np.exp(normal(6, 4))
SHARES /= SHARES.sum(1, keepdims=True)
Q, K, U = normal(2, 4, 3), normal(2, 5, 3), normal(2, 5, 2)
SEEN = RANDOM.random((4, 5)) < 0.6
SEEN[:, 0] = True
SIGNS = np.array([1.0, -1.0, -1.0, 1.0])

PROGRAMS: dict[str, Program] = {
    name: both(name, X)
    for name in (
        *("relu", "leaky_relu", "elu", "selu", "celu", "relu6", "gelu", "silu", "mish"),
        *("softplus", "softsign", "hardtanh", "hardswish", "sigmoid"),
    )
}
PROGRAMS |= {
    "leaky_relu slope": both("leaky_relu", X, negative_slope=0.3),
    "elu alpha": both("elu", X, alpha=0.7),
    # PyTorch's second derivative has 1 / alpha in single precision
    "celu alpha": Program(
        lambda x: wg.nn.celu(x, alpha=0.7), lambda x: F.celu(x, alpha=0.7), [X], rtol=1e-6
    ),
    # PyTorch's own has no second derivative
    "hardsigmoid": Program(wg.nn.hardsigmoid, lambda x: F.relu6(x + 3) / 6, [X]),
    "gelu tanh": both("gelu", X, approximate="tanh"),
    "softplus beta": both("softplus", X, beta=2.0),
    "log_sigmoid": Program(wg.nn.log_sigmoid, F.logsigmoid, [X]),
    "hardtanh ends": Program(
        lambda x: wg.nn.hardtanh(x, -0.5, 0.7), lambda x: F.hardtanh(x, -0.5, 0.7), [X]
    ),
    "prelu": Program(
        lambda x, w: wg.nn.prelu(x, wg.reshape(w, (4, 1, 1))), lambda x, w: F.prelu(x, w), [Z, M]
    ),
    "softmax": Program(wg.nn.softmax, lambda x: F.softmax(x, -1), [X]),
    "log_softmax": Program(wg.nn.log_softmax, lambda x: F.log_softmax(x, -1), [X]),
    "softmin": Program(lambda x: wg.nn.softmin(x, axis=0), lambda x: F.softmin(x, dim=0), [X]),
    "glu": Program(lambda x: wg.nn.glu(x, axis=0), lambda x: F.glu(x, 0), [X]),
    "linear": Program(
        wg.nn.linear, lambda x, w, b: F.linear(x, w.T, b), [X, normal(5, 3), normal(3)]
    ),
    "layer_norm": Program(wg.nn.layer_norm, lambda x, w, b: F.layer_norm(x, (5,), w, b), [X, W, B]),
    "layer_norm two axes": Program(
        lambda x, w, b: wg.nn.layer_norm(x, w, b, axis=(2, 3), eps=0.1),
        lambda x, w, b: F.layer_norm(x, (2, 2), w, b, eps=0.1),
        [Z, normal(2, 2), normal(2, 2)],
    ),
    "layer_norm alone": Program(wg.nn.layer_norm, lambda x: F.layer_norm(x, (5,)), [X]),
    "rms_norm": Program(wg.nn.rms_norm, lambda x, w: F.rms_norm(x, (5,), w, eps=1e-6), [X, W]),
    "batch_norm": Program(  # PyTorch has no derivatives by the statistics
        lambda x, w, b: wg.nn.batch_norm(x, M, V, w, b),
        lambda x, w, b: F.batch_norm(x, torch.tensor(M), torch.tensor(V), w, b),
        [Z, normal(4), normal(4)],
    ),
    "batch_norm training": Program(
        lambda x, w, b: wg.nn.batch_norm(x, None, None, w, b, training=True)[0],
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        [Z, normal(4), normal(4)],
    ),
    "group_norm": Program(
        lambda x, w, b: wg.nn.group_norm(x, 2, w, b),
        lambda x, w, b: F.group_norm(x, 2, w, b),
        [Z, M, normal(4)],
    ),
    "instance_norm": Program(
        wg.nn.instance_norm,
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        [Z, M, normal(4)],
    ),
    "normalize": Program(wg.nn.normalize, lambda x: F.normalize(x, dim=-1), [X]),
    "embedding": Program(
        lambda w: wg.nn.embedding(np.array([[0, 2], [2, 1]]), w, padding_idx=1),
        lambda w: F.embedding(torch.tensor([[0, 2], [2, 1]]), w, padding_idx=1),
        [normal(3, 4)],
    ),
    "attention": both("scaled_dot_product_attention", Q, K, U),
    "attention causal": both("scaled_dot_product_attention", Q, K, U, is_causal=True),
    "attention scale": both("scaled_dot_product_attention", Q, K, U, scale=0.3),
    "attention mask": Program(
        lambda *a: wg.nn.scaled_dot_product_attention(*a, mask=SEEN),
        lambda *a: F.scaled_dot_product_attention(*a, attn_mask=torch.tensor(SEEN)),
        [Q, K, U],
    ),
    "attention numbers": Program(
        lambda *a: wg.nn.scaled_dot_product_attention(*a[:3], mask=a[3]),
        lambda *a: F.scaled_dot_product_attention(*a[:3], attn_mask=a[3]),
        [Q, K, U, normal(4, 5)],
    ),
    "cosine_similarity": Program(
        wg.nn.cosine_similarity, lambda a, b: F.cosine_similarity(a, b, dim=-1), [X, Y]
    ),
}
for reduction in ("mean", "sum", "none"):
    rest = {"reduction": reduction}
    for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss"):
        PROGRAMS[f"{name} {reduction}"] = both(name, X, Y, **rest)
    PROGRAMS |= {
        f"huber_loss delta {reduction}": both("huber_loss", X, Y, delta=0.4, **rest),
        f"smooth_l1_loss beta {reduction}": both("smooth_l1_loss", X, Y, beta=0.4, **rest),
        f"kl_div {reduction}": both("kl_div", X, positive(4, 5), **rest),
        f"kl_div log {reduction}": both("kl_div", X, Y, log_target=True, **rest),
        f"bce_loss {reduction}": Program(
            lambda x, t, w, rest=rest: wg.nn.bce_loss(x, t, weight=w, **rest),
            lambda x, t, w, rest=rest: F.binary_cross_entropy(x, t, weight=w, **rest),
            [positive(4, 5)],
        ),
        f"bce_with_logits {reduction}": Program(
            lambda x, t, rest=rest: wg.nn.bce_with_logits(
                x, t, weight=V[:, None], pos_weight=W**2, **rest
            ),
            lambda x, t, rest=rest: F.binary_cross_entropy_with_logits(
                x, t, weight=torch.tensor(V[:, None]), pos_weight=torch.tensor(W**2), **rest
            ),
            [X, positive(4, 5)],
        ),
        f"gaussian_nll_loss {reduction}": both(
            "gaussian_nll_loss", X, Y, positive(4, 5), full=True, **rest
        ),
        f"poisson_nll_loss {reduction}": both("poisson_nll_loss", X, positive(4, 5), **rest),
        f"hinge_embedding_loss {reduction}": Program(
            lambda x, rest=rest: wg.nn.hinge_embedding_loss(x, np.sign(Y), **rest),
            lambda x, rest=rest: F.hinge_embedding_loss(x, torch.tensor(np.sign(Y)), **rest),
            [X],
        ),
        f"cosine_embedding_loss {reduction}": Program(
            lambda a, b, rest=rest: wg.nn.cosine_embedding_loss(a, b, SIGNS, margin=0.1, **rest),
            lambda a, b, rest=rest: F.cosine_embedding_loss(
                a, b, torch.tensor(SIGNS), margin=0.1, **rest
            ),
            [X, Y],
        ),
        # PyTorch adds eps to each difference
        f"triplet_margin_loss {reduction}": Program(
            lambda *a, rest=rest: wg.nn.triplet_margin_loss(*a, **rest),
            lambda *a, rest=rest: F.triplet_margin_loss(*a, eps=0, **rest),
            [X, Y, normal(4, 5)],
        ),
        f"nll_loss {reduction}": Program(
            lambda x, rest=rest: wg.nn.nll_loss(x, LABELS, weight=V, **rest),
            lambda x, rest=rest: F.nll_loss(
                x, torch.tensor(LABELS), weight=torch.tensor(V), **rest
            ),
            [LOGITS],
        ),
    }
    for weight in (None, V):
        for smoothing in (0.0, 0.1):
            options = {"label_smoothing": smoothing, **rest}
            theirs = {"weight": None if weight is None else torch.tensor(weight), **options}
            ours = {"weight": weight, **options}
            key = f"{'weights ' if weight is not None else ''}smoothing {smoothing} {reduction}"
            PROGRAMS |= {
                f"cross_entropy indices {key}": Program(
                    lambda x, o=ours: wg.nn.cross_entropy(x, LABELS, **o),
                    lambda x, o=theirs: F.cross_entropy(x, torch.tensor(LABELS), **o),
                    [LOGITS],
                ),
                f"cross_entropy shares {key}": Program(
                    lambda x, t, o=ours: wg.nn.cross_entropy(x, t, **o),
                    lambda x, t, o=theirs: F.cross_entropy(x, t, **o),
                    [LOGITS, SHARES],
                ),
                f"cross_entropy axis {key}": Program(
                    lambda x, o=ours: wg.nn.cross_entropy(x, LABELS.reshape(2, 3), axis=1, **o),
                    lambda x, o=theirs: F.cross_entropy(x, torch.tensor(LABELS).reshape(2, 3), **o),
                    [normal(2, 4, 3)],
                ),
            }
for name, program in PROGRAMS.items():
    if name.startswith("bce_loss"):  # the weight, and the target that PyTorch differentiates, too
        PROGRAMS[name] = Program(
            lambda x, f=program.ours: f(x, SHARES[:4, :1] * np.ones(5), V[:, None]),
            lambda x, f=program.theirs: f(
                x, torch.tensor(SHARES[:4, :1] * np.ones(5)), torch.tensor(V[:, None])
            ),
            program.arrays,
        )


def weights(shape: Any) -> np.ndarray:
    return np.cos(np.arange(int(np.prod(shape)), dtype=float)).reshape(shape)


def of_torch(program: Program) -> tuple[Any, list[Any], list[Any]]:
    """Return the value, the gradients of a weighted sum of it, and theirs in turn."""
    leaves = [torch.tensor(a, requires_grad=True) for a in program.arrays]
    y = program.theirs(*leaves)
    total = (y * y * torch.tensor(weights(tuple(y.shape)))).sum()
    first = torch.autograd.grad(total, leaves, create_graph=True)
    again = sum((g * torch.tensor(weights(tuple(g.shape)))).sum() for g in first)
    second = torch.autograd.grad(again, leaves, allow_unused=True, materialize_grads=True)
    return y.detach(), [g.detach() for g in first], list(second)


def of_wengert(program: Program) -> tuple[Any, list[Any], list[Any]]:
    leaves = [wg.asarray(a) for a in program.arrays]
    with wg.GradientTape() as outer:
        outer.watch(leaves)
        with wg.GradientTape() as inner:
            inner.watch(leaves)
            y = program.ours(*leaves)
            total = wg.sum(y * y * weights(y.shape))
        first = inner.gradient(total, leaves)
        again = [wg.sum(g * weights(g.shape)) for g in first]
    second = outer.gradient(again, leaves, unconnected_gradients="zero")
    return y, first, second


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")  # PyTorch, of its kl_div
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives_of_two_orders_are_those_of_torch(name: str) -> None:
    program = PROGRAMS[name]
    mine, other = of_wengert(program), of_torch(program)
    np.testing.assert_allclose(mine[0].numpy(), other[0].numpy(), rtol=1e-10, atol=1e-12)
    for order in (1, 2):
        for i, (got, want) in enumerate(zip(mine[order], other[order], strict=True)):
            expected = want.detach().numpy()
            limit = program.rtol * max(1.0, np.abs(expected).max(initial=0))
            np.testing.assert_allclose(
                got.numpy(), expected, rtol=program.rtol, atol=limit, err_msg=f"{order} {i}"
            )


def test_running_statistics_are_those_of_torch() -> None:
    mean, variance = torch.tensor(M), torch.tensor(V)
    F.batch_norm(torch.tensor(Z), mean, variance, training=True, momentum=0.3)
    _, mine, spread = wg.nn.batch_norm(Z, M, V, training=True, momentum=0.3)
    np.testing.assert_allclose(mine.numpy(), mean.numpy())
    np.testing.assert_allclose(spread.numpy(), variance.numpy())


LARGE = normal(300, 256).astype(np.float32)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (wg.nn.gelu, F.gelu),
        (lambda x: wg.nn.gelu(x, approximate="tanh"), lambda x: F.gelu(x, approximate="tanh")),
        (wg.nn.layer_norm, lambda x: F.layer_norm(x, (256,))),
        (
            lambda x: wg.nn.cross_entropy(x, np.arange(300) % 256),
            lambda x: F.cross_entropy(x, torch.arange(300) % 256),
        ),
        (
            lambda x: wg.nn.scaled_dot_product_attention(x, x, x, is_causal=True),
            lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0],
        ),
    ],
    ids=["gelu", "gelu tanh", "layer_norm", "cross_entropy", "attention"],
)
def test_large_arrays_in_single_precision(ours: Any, theirs: Any) -> None:
    mine, other = wg.asarray(LARGE), torch.tensor(LARGE, requires_grad=True)
    with wg.GradientTape() as tape:
        tape.watch(mine)
        y = ours(mine)
    want = theirs(other)
    np.testing.assert_allclose(y.numpy(), want.detach().numpy(), rtol=1e-5, atol=1e-5)
    (expected,) = torch.autograd.grad(want, [other], torch.ones_like(want))
    np.testing.assert_allclose(
        tape.gradient(y, mine).numpy(), expected.numpy(), rtol=1e-4, atol=1e-5
    )
