"""torch.nn.functional of the dialect against PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.peers

Program = Callable[[Any], Any]


def data(torch: Any, *shape: int, seed: int = 0, dtype: str = "float64", low: float = -2.5,
         high: float = 2.5, grad: bool = True) -> Any:  # fmt: skip
    """Return a tensor of the same numbers in both libraries."""
    numbers = np.random.default_rng(seed).uniform(low, high, shape)
    return torch.tensor(numbers.tolist(), dtype=getattr(torch, dtype), requires_grad=grad)


def labels(torch: Any, count: int, *shape: int, seed: int = 0) -> Any:
    """Return whole numbers below a count."""
    return torch.tensor(np.random.default_rng(seed).integers(0, count, shape).tolist())


def weighed(torch: Any, y: Any) -> Any:
    """Return a number that depends on all elements of a result."""
    scale = torch.tensor(np.linspace(0.3, 1.7, max(int(y.numel()), 1)).tolist(), dtype=y.dtype)
    return (y * scale[: y.numel()].reshape(y.shape)).sum()


def with_gradients(
    call: Callable[..., Any], *shapes: Any, second: bool = True, **options: Any
) -> Program:
    """Return a program: a function's values, its gradients, and gradients of those."""

    def program(torch: Any) -> Any:
        arrays = [data(torch, *shape, seed=k, **options) for k, shape in enumerate(shapes)]
        y = call(torch, *arrays)
        whole = weighed(torch, y)
        gradients = torch.autograd.grad(
            whole, arrays, create_graph=second, allow_unused=True, retain_graph=True
        )
        if not second:
            return y, gradients
        total = sum(
            ((g * (k + 1)).sin().sum() for k, g in enumerate(gradients) if g is not None),
            y.sum() * 0,
        )
        further = torch.autograd.grad(total, arrays, allow_unused=True)
        return y, [g if g is None else g.detach() for g in gradients], further

    return program


def check(program: Program, rtol: float | None = None) -> None:
    compare(program, rtol)


# -- activations -------------------------------------------------------------------------------

ACTIVATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "relu": lambda F, x: F.relu(x),
    "relu6": lambda F, x: F.relu6(x * 4),
    "leaky_relu": lambda F, x: F.leaky_relu(x),
    "leaky_relu-slope": lambda F, x: F.leaky_relu(x, 0.3),
    "leaky_relu-keyword": lambda F, x: F.leaky_relu(x, negative_slope=0.2),
    "elu": lambda F, x: F.elu(x),
    "elu-alpha": lambda F, x: F.elu(x, alpha=0.4),
    "selu": lambda F, x: F.selu(x),
    "celu": lambda F, x: F.celu(x),
    "celu-alpha": lambda F, x: F.celu(x, 0.7),
    "gelu": lambda F, x: F.gelu(x),
    "gelu-tanh": lambda F, x: F.gelu(x, approximate="tanh"),
    "silu": lambda F, x: F.silu(x),
    "mish": lambda F, x: F.mish(x),
    "softplus": lambda F, x: F.softplus(x),
    "softplus-beta": lambda F, x: F.softplus(x, beta=3, threshold=4),
    "softplus-positional": lambda F, x: F.softplus(x, 2, 1),
    "softsign": lambda F, x: F.softsign(x),
    "softshrink": lambda F, x: F.softshrink(x),
    "softshrink-lambd": lambda F, x: F.softshrink(x, lambd=1),
    "hardshrink": lambda F, x: F.hardshrink(x),
    "hardshrink-lambd": lambda F, x: F.hardshrink(x, 1.0),
    "tanhshrink": lambda F, x: F.tanhshrink(x),
    "hardtanh": lambda F, x: F.hardtanh(x),
    "hardtanh-bounds": lambda F, x: F.hardtanh(x, -0.5, max_val=2),
    "hardsigmoid": lambda F, x: F.hardsigmoid(x * 2),
    "hardswish": lambda F, x: F.hardswish(x * 2),
    "logsigmoid": lambda F, x: F.logsigmoid(x),
    "sigmoid": lambda F, x: F.sigmoid(x),
    "tanh": lambda F, x: F.tanh(x),
    "threshold": lambda F, x: F.threshold(x, 0.5, 2.0),
    "rrelu": lambda F, x: F.rrelu(x),
    "softmax": lambda F, x: F.softmax(x, dim=-1),
    "softmax-0": lambda F, x: F.softmax(x, 0),
    "softmin": lambda F, x: F.softmin(x, dim=1),
    "log_softmax": lambda F, x: F.log_softmax(x, dim=0),
    "log_softmax-1": lambda F, x: F.log_softmax(x, -1),
    "glu": lambda F, x: F.glu(x),
    "glu-0": lambda F, x: F.glu(x, dim=0),
    "normalize": lambda F, x: F.normalize(x),
    "normalize-p": lambda F, x: F.normalize(x, p=3, dim=0),
    "normalize-1": lambda F, x: F.normalize(x, p=1.0, dim=-1, eps=1e-3),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_activation(name: str, dtype: str) -> None:
    call = ACTIVATIONS[name]
    program = with_gradients(
        lambda t, x: call(t.nn.functional, x),
        (4, 6),
        dtype=dtype,
        second=dtype == "float64" and name != "hardsigmoid",
    )
    # a second derivative may be what cancellation leaves; PyTorch's celu has one of 32 bits
    check(program, 1e-7 if name in ("softmin", "celu-alpha") and dtype == "float64" else None)


@pytest.mark.parametrize("name", [n for n in ACTIVATIONS if "soft" not in n or "shrink" in n])
def test_kinks(name: str) -> None:
    """Whole and half numbers are where derivatives jump."""

    def program(torch: Any) -> Any:
        x = torch.tensor([[-3.0, -1, -0.5, 0], [0.5, 1, 3, 6], [2, -2, 0, 1.5], [0, 4, -4, 0.25]])
        x.requires_grad_()
        y = ACTIVATIONS[name](torch.nn.functional, x)
        (y * 3).sum().backward()
        return y, x

    check(program)


@pytest.mark.parametrize(
    "name",
    ["relu", "elu", "gelu", "silu", "softplus", "hardtanh", "relu6", "softsign", "tanhshrink",
     "leaky_relu", "hardswish", "hardsigmoid", "threshold", "softmax", "logsigmoid", "mish", "selu",
     "hardshrink", "softshrink", "sigmoid", "tanh"],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["int64", "bool", "float16"])
def test_activation_of_other_numbers(name: str, dtype: str) -> None:
    def program(torch: Any) -> Any:
        x = torch.tensor([[0, 1, 1, 0], [1, 0, 0, 1]], dtype=getattr(torch, dtype))
        return ACTIVATIONS[name](torch.nn.functional, x)

    check(program)


INPLACE = {
    "relu": lambda F, x: F.relu(x, inplace=True),
    "relu-positional": lambda F, x: F.relu(x, True),
    "relu_": lambda F, x: F.relu_(x),
    "relu6": lambda F, x: F.relu6(x, inplace=True),
    "leaky_relu": lambda F, x: F.leaky_relu(x, 0.1, True),
    "leaky_relu_": lambda F, x: F.leaky_relu_(x, 0.1),
    "elu": lambda F, x: F.elu(x, inplace=True),
    "elu_": lambda F, x: F.elu_(x),
    "selu": lambda F, x: F.selu(x, inplace=True),
    "selu_": lambda F, x: F.selu_(x),
    "celu_": lambda F, x: F.celu_(x, 0.5),
    "silu": lambda F, x: F.silu(x, inplace=True),
    "mish": lambda F, x: F.mish(x, True),
    "hardtanh": lambda F, x: F.hardtanh(x, inplace=True),
    "hardtanh_": lambda F, x: F.hardtanh_(x, -0.5, 0.5),
    "hardswish": lambda F, x: F.hardswish(x, inplace=True),
    "hardsigmoid": lambda F, x: F.hardsigmoid(x, inplace=True),
    "threshold": lambda F, x: F.threshold(x, 0.1, 20, inplace=True),
    "threshold_": lambda F, x: F.threshold_(x, 0.1, 20),
    "rrelu": lambda F, x: F.rrelu(x, inplace=True),
    "dropout": lambda F, x: F.dropout(x, 0.5, inplace=True),
    "dropout-off": lambda F, x: F.dropout(x, 0.5, training=False, inplace=True),
}


@pytest.mark.parametrize("name", INPLACE)
def test_in_place(name: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(3)
        x = data(torch, 3, 4)
        h = x * 2
        y = INPLACE[name](torch.nn.functional, h)
        weighed(torch, y).backward()
        return y is h, y, h._version, x

    check(program)


@pytest.mark.parametrize("name", ["relu", "elu", "hardtanh", "threshold", "dropout"])
def test_in_place_on_a_leaf(name: str) -> None:
    check(lambda torch: INPLACE[name](torch.nn.functional, data(torch, 3)))


IN_TORCH: dict[str, Program] = {
    "softmax": lambda torch: torch.softmax(data(torch, 2, 3), 1),
    "Tensor.softmax": lambda torch: data(torch, 2, 3).softmax(dim=0),
    "softmax-dtype": lambda torch: torch.softmax(torch.tensor([1, 2]), 0, dtype=torch.float64),
    "Tensor.log_softmax": lambda torch: data(torch, 2, 3).log_softmax(-1),
    "log_softmax-0d": lambda torch: torch.log_softmax(data(torch), 0),
    "selu": lambda torch: torch.selu(data(torch, 3)),
    "selu_": lambda torch: torch.selu_(data(torch, 3, grad=False)),
    "celu": lambda torch: torch.celu(data(torch, 3), 0.5),
    "celu_": lambda torch: torch.celu_(data(torch, 3, grad=False), alpha=0.5),
    "threshold": lambda torch: torch.threshold(data(torch, 3), 0.5, 1),
    "prelu": lambda torch: torch.prelu(data(torch, 3), torch.tensor(0.3, dtype=torch.float64)),
    "Tensor.prelu": lambda torch: data(torch, 2, 3).prelu(data(torch, 3, seed=1)),
    "hardshrink": lambda torch: torch.hardshrink(data(torch, 3)),
    "Tensor.hardshrink": lambda torch: data(torch, 3).hardshrink(1.0),
    "rrelu": lambda torch: torch.rrelu(data(torch, 3)),
    "softmax-without-dim": lambda torch: torch.nn.functional.softmax(data(torch, 3, 4)),
    "softmin-without-dim": lambda torch: torch.nn.functional.softmin(data(torch, 3)),
    "softmax-no-axis": lambda torch: torch.softmax(data(torch, 3), 1),
    "softmax-integers": lambda torch: torch.softmax(torch.tensor([1, 2]), 0),
    "glu-odd": lambda torch: torch.nn.functional.glu(data(torch, 3)),
    "glu-0d": lambda torch: torch.nn.functional.glu(data(torch)),
    "gelu-wrong": lambda torch: torch.nn.functional.gelu(data(torch, 3), approximate="x"),
    "softshrink-negative": lambda torch: torch.nn.functional.softshrink(data(torch, 3), -1.0),
    "hardtanh-wrong": lambda torch: torch.nn.functional.hardtanh(data(torch, 3), 2.0, 1.0),
    "relu-number": lambda torch: torch.nn.functional.relu(1.0),
    "elu-list": lambda torch: torch.nn.functional.elu([1.0]),
    "prelu-channels": lambda torch: torch.prelu(data(torch, 2, 3, 2), data(torch, 3, seed=1)),
    "prelu-mismatch": lambda torch: torch.prelu(data(torch, 2, 3), data(torch, 2)),
    "prelu-2d-weight": lambda torch: torch.prelu(data(torch, 2, 3), data(torch, 1, 3)),
    "dropout-wrong": lambda torch: torch.nn.functional.dropout(data(torch, 3), 1.5),
    "torch.dropout-wrong": lambda torch: torch.dropout(data(torch, 3), 1.5, True),
    "softmax-empty": lambda torch: torch.softmax(torch.zeros(0, 3), 0),
    "gelu-empty": lambda torch: torch.nn.functional.gelu(torch.zeros(0, 3)),
    "relu-hook": lambda torch: torch.nn.functional.relu(data(torch, 3)).grad_fn.name(),
    "softmax-name": lambda torch: torch.softmax(data(torch, 3), 0).grad_fn.name(),
    "gelu-name": lambda torch: torch.nn.functional.gelu(data(torch, 3)).grad_fn.name(),
    "softplus-far": lambda torch: torch.nn.functional.softplus(
        torch.tensor([-1000.0, -30, 30, 1000], dtype=torch.float64)
    ),
    "logsigmoid-far": lambda torch: torch.nn.functional.logsigmoid(
        torch.tensor([-1000.0, -30, 30, 1000])
    ),
    "silu-complex": lambda torch: torch.nn.functional.silu(torch.tensor([1 + 2j, -0.5j])),
    "softsign-complex": lambda torch: torch.nn.functional.softsign(torch.tensor([3 + 4j])),
}


@pytest.mark.parametrize("name", IN_TORCH)
def test_forms_of_activations(name: str) -> None:
    check(IN_TORCH[name])


SEEDED: dict[str, Program] = {
    "dropout": lambda torch: torch.nn.functional.dropout(data(torch, 4, 5)),
    "dropout-p": lambda torch: torch.nn.functional.dropout(data(torch, 4, 5), p=0.2),
    "dropout-float32": lambda torch: torch.nn.functional.dropout(
        data(torch, 40, dtype="float32"), 0.3
    ),
    "dropout-1": lambda torch: torch.nn.functional.dropout(data(torch, 4), 1.0),
    "dropout-0": lambda torch: torch.nn.functional.dropout(data(torch, 4), 0.0),
    "torch.dropout": lambda torch: torch.dropout(data(torch, 4, 5), 0.5, True),
    "torch.dropout-keywords": lambda torch: torch.dropout(data(torch, 4), p=0.5, train=True),
    "torch.dropout_": lambda torch: torch.dropout_(data(torch, 4, grad=False), 0.5, True),
    "alpha_dropout": lambda torch: torch.nn.functional.alpha_dropout(data(torch, 4, 5), 0.4, True),
    "alpha_dropout-off": lambda torch: torch.nn.functional.alpha_dropout(data(torch, 4, 5), 0.4),
    "feature_alpha_dropout": lambda torch: torch.nn.functional.feature_alpha_dropout(
        data(torch, 2, 5, 3), 0.4, training=True
    ),
    "dropout1d": lambda torch: torch.nn.functional.dropout1d(data(torch, 2, 5, 3)),
    "dropout1d-unbatched": lambda torch: torch.nn.functional.dropout1d(data(torch, 5, 3), 0.4),
    "dropout2d": lambda torch: torch.nn.functional.dropout2d(data(torch, 2, 5, 2, 2)),
    "dropout2d-3d": lambda torch: torch.nn.functional.dropout2d(data(torch, 2, 5, 2)),
    "dropout3d": lambda torch: torch.nn.functional.dropout3d(data(torch, 2, 5, 2, 2, 1)),
    "dropout3d-unbatched": lambda torch: torch.nn.functional.dropout3d(data(torch, 5, 2, 2, 1)),
    "feature_dropout": lambda torch: torch.feature_dropout(data(torch, 2, 5, 2), 0.5, True),
    "rrelu": lambda torch: torch.nn.functional.rrelu(data(torch, 4, 5), training=True),
    "rrelu-bounds": lambda torch: torch.nn.functional.rrelu(data(torch, 4, 5), 0.2, 0.9, True),
    "gumbel": lambda torch: torch.nn.functional.gumbel_softmax(data(torch, 3, 4)),
    "gumbel-tau": lambda torch: torch.nn.functional.gumbel_softmax(
        data(torch, 3, 4), tau=0.3, dim=0
    ),
    "gumbel-hard": lambda torch: torch.nn.functional.gumbel_softmax(data(torch, 3, 4), hard=True),
    "gumbel-float32": lambda torch: torch.nn.functional.gumbel_softmax(
        data(torch, 3, 4, dtype="float32")
    ),
    "attention": lambda torch: torch.nn.functional.scaled_dot_product_attention(
        data(torch, 2, 3, 4), data(torch, 2, 5, 4), data(torch, 2, 5, 6), dropout_p=0.3
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_seeded(name: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(7)
        y = SEEDED[name](torch)
        return y, torch.rand(3)

    check(program)


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "rrelu", "gumbel-hard", "dropout1d"])
def test_gradients_of_seeded(name: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(7)
        F = torch.nn.functional
        x = data(torch, 2, 6, 3)
        calls = {
            "dropout": lambda: F.dropout(x), "alpha_dropout": lambda: F.alpha_dropout(x, 0.5, True),
            "rrelu": lambda: F.rrelu(x, training=True), "dropout1d": lambda: F.dropout1d(x),
            "gumbel-hard": lambda: F.gumbel_softmax(x, hard=True),
        }  # fmt: skip
        weighed(torch, calls[name]()).backward()
        return x

    check(program)


# -- layers ------------------------------------------------------------------------------------

LAYERS: dict[str, Program] = {
    "linear": with_gradients(
        lambda t, x, w, b: t.nn.functional.linear(x, w, b), (3, 4), (5, 4), (5,)
    ),
    "linear-3d": with_gradients(
        lambda t, x, w, b: t.nn.functional.linear(x, w, bias=b), (2, 3, 4), (5, 4), (5,)
    ),
    "linear-1d": with_gradients(
        lambda t, x, w, b: t.nn.functional.linear(x, w, b), (4,), (5, 4), (5,)
    ),
    "linear-no-bias": with_gradients(lambda t, x, w: t.nn.functional.linear(x, w), (3, 4), (5, 4)),
    "linear-vector": with_gradients(lambda t, x, w: t.nn.functional.linear(x, w), (3, 4), (4,)),
    "linear-empty": lambda t: t.nn.functional.linear(t.zeros(0, 4), t.zeros(5, 4), t.zeros(5)),
    "linear-integers": lambda t: t.nn.functional.linear(t.ones(2, 3).long(), t.ones(4, 3).long()),
    "linear-shapes": lambda t: t.nn.functional.linear(data(t, 3, 4), data(t, 5, 3)),
    "linear-dtypes": lambda t: t.nn.functional.linear(
        data(t, 3, 4, dtype="float32"), data(t, 5, 4)
    ),
    "linear-number": lambda t: t.nn.functional.linear(2.0, data(t, 5, 4)),
    "bilinear": with_gradients(
        lambda t, x, y, w, b: t.nn.functional.bilinear(x, y, w, b), (3, 4), (3, 2), (5, 4, 2), (5,)
    ),
    "torch.bilinear": with_gradients(
        lambda t, x, y, w: t.bilinear(x, y, w, None), (2, 3, 4), (2, 3, 2), (5, 4, 2)
    ),
    "embedding": with_gradients(
        lambda t, w: t.nn.functional.embedding(labels(t, 6, 2, 3), w), (6, 4)
    ),
    "embedding-padding": with_gradients(
        lambda t, w: t.nn.functional.embedding(t.tensor([[1, 5, 0], [5, 5, 2]]), w, padding_idx=-1),
        (6, 4),
        second=False,
    ),
    "embedding-0d": with_gradients(
        lambda t, w: t.nn.functional.embedding(t.tensor(2), w), (6, 4), second=False
    ),
    "embedding-frequency": with_gradients(
        lambda t, w: t.nn.functional.embedding(t.tensor([1, 1, 0, 1]), w, scale_grad_by_freq=True),
        (6, 4),
        second=False,
    ),
    "embedding-int32": lambda t: t.nn.functional.embedding(
        t.tensor([1, 0], dtype=t.int32), data(t, 6, 4)
    ),
    "embedding-out": lambda t: t.nn.functional.embedding(t.tensor([6]), data(t, 6, 4)),
    "embedding-negative": lambda t: t.nn.functional.embedding(t.tensor([-1]), data(t, 6, 4)),
    "embedding-float": lambda t: t.nn.functional.embedding(t.tensor([1.0]), data(t, 6, 4)),
    "embedding-wrong-padding": lambda t: t.nn.functional.embedding(
        t.tensor([1]), data(t, 6, 4), padding_idx=9
    ),
    "torch.embedding": lambda t: t.embedding(data(t, 6, 4), t.tensor([1, 3])),
    "embedding-integers": lambda t: t.nn.functional.embedding(
        t.tensor([[1], [0]]), t.tensor([[1, 2], [3, 4]])
    ),
    "one_hot": lambda t: t.nn.functional.one_hot(t.tensor([[0, 2], [1, 0]])),
    "one_hot-classes": lambda t: t.nn.functional.one_hot(t.tensor([0, 2]), num_classes=5),
    "one_hot-0d": lambda t: t.nn.functional.one_hot(t.tensor(3)),
    "one_hot-few": lambda t: t.nn.functional.one_hot(t.tensor([0, 2]), 2),
    "one_hot-negative": lambda t: t.nn.functional.one_hot(t.tensor([-1, 2])),
    "one_hot-float": lambda t: t.nn.functional.one_hot(t.tensor([1.0])),
    "one_hot-int32": lambda t: t.nn.functional.one_hot(t.tensor([1], dtype=t.int32)),
    "one_hot-empty": lambda t: t.nn.functional.one_hot(t.zeros(0, dtype=t.int64), 3),
    "one_hot-empty-unknown": lambda t: t.nn.functional.one_hot(t.zeros(0, dtype=t.int64)),
    "prelu": with_gradients(lambda t, x, w: t.nn.functional.prelu(x, w), (2, 3, 2), (3,)),
    "prelu-one": with_gradients(lambda t, x, w: t.nn.functional.prelu(x, w), (2, 3), (1,)),
    "attention": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v),
        (2, 3, 4),
        (2, 5, 4),
        (2, 5, 6),
        second=False,
    ),
    "attention-causal": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        (2, 2, 3, 4),
        (2, 2, 3, 4),
        (2, 2, 3, 4),
        second=False,
    ),
    "attention-mask": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=t.tensor([[True, False], [True, True], [False, True]])
        ),
        (2, 3, 4),
        (2, 2, 4),
        (2, 2, 4),
        second=False,
    ),
    "attention-bias": with_gradients(
        lambda t, q, k, v, m: t.nn.functional.scaled_dot_product_attention(q, k, v, m, scale=0.3),
        (2, 3, 4),
        (2, 2, 4),
        (2, 2, 4),
        (3, 2),
        second=False,
    ),
    "attention-gqa": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        (1, 4, 3, 2),
        (1, 2, 5, 2),
        (1, 2, 5, 2),
        second=False,
    ),
    "attention-all-masked": lambda t: t.nn.functional.scaled_dot_product_attention(
        data(t, 1, 2, 4),
        data(t, 1, 2, 4),
        data(t, 1, 2, 4),
        t.tensor([[False, False], [True, True]]),
    ),
    "attention-both": lambda t: t.nn.functional.scaled_dot_product_attention(
        data(t, 1, 2, 4), data(t, 1, 2, 4), data(t, 1, 2, 4), t.ones(2, 2).bool(), is_causal=True
    ),
    "embedding_bag": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(
            t.tensor([1, 2, 4, 5, 4, 3]), w, t.tensor([0, 2, 2])
        ),
        (6, 4),
        second=False,
    ),
    "embedding_bag-2d": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(t.tensor([[1, 2], [4, 5]]), w, mode="sum"),
        (6, 4),
        second=False,
    ),
    "embedding_bag-max": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(t.tensor([[1, 2], [4, 5]]), w, mode="max"),
        (6, 4),
        second=False,
    ),
    "embedding_bag-weights": with_gradients(
        lambda t, w, s: t.nn.functional.embedding_bag(
            t.tensor([[1, 2], [4, 5]]), w, mode="sum", per_sample_weights=s
        ),
        (6, 4),
        (2, 2),
        second=False,
    ),
    "embedding_bag-padding": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(t.tensor([[1, 2], [4, 1]]), w, padding_idx=1),
        (6, 4),
        second=False,
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str) -> None:
    check(LAYERS[name])


def test_max_norm_shortens_rows_in_place() -> None:
    def program(torch: Any) -> Any:
        w = data(torch, 5, 3)
        y = torch.nn.functional.embedding(torch.tensor([[1, 3], [1, 1]]), w.detach(), max_norm=1.0)
        return y, w.detach().clone()

    check(program)


# -- convolutions and windows ------------------------------------------------------------------


def conv(name: str, *shapes: Any, second: bool = True, **options: Any) -> Program:
    return with_gradients(
        lambda t, x, w, *b: getattr(t.nn.functional, name)(x, w, *b, **options), *shapes,
        second=second,
    )  # fmt: skip


CONVOLUTIONS: dict[str, Program] = {
    "conv1d": conv("conv1d", (2, 3, 8), (4, 3, 3), (4,)),
    "conv1d-options": conv(
        "conv1d", (2, 4, 9), (6, 2, 3), (6,), stride=2, padding=1, dilation=2, groups=2
    ),
    "conv1d-unbatched": conv("conv1d", (3, 8), (4, 3, 3), stride=(2,), padding=(1,)),
    "conv1d-same": conv("conv1d", (2, 3, 8), (4, 3, 4), padding="same"),
    "conv2d": conv("conv2d", (2, 3, 6, 5), (4, 3, 3, 2), (4,)),
    "conv2d-same": conv("conv2d", (2, 3, 6, 5), (4, 3, 3, 2), (4,), padding="same", dilation=2),
    "conv2d-valid": conv("conv2d", (2, 3, 6, 5), (4, 3, 3, 2), (4,), padding="valid", stride=2),
    "conv2d-pairs": conv("conv2d", (1, 2, 6, 7), (2, 2, 3, 3), stride=(2, 1), padding=(1, 2)),
    "conv2d-depthwise": conv("conv2d", (2, 4, 5, 5), (8, 1, 3, 3), (8,), groups=4, padding=1),
    "conv2d-unbatched": conv("conv2d", (3, 6, 5), (4, 3, 3, 2), (4,)),
    "conv3d": conv("conv3d", (1, 2, 4, 4, 3), (3, 2, 2, 2, 2), (3,), padding=1),
    "conv_transpose1d": conv("conv_transpose1d", (2, 3, 5), (3, 4, 3), (4,), stride=2, padding=1),
    "conv_transpose2d": conv(
        "conv_transpose2d",
        (2, 4, 3, 4),
        (4, 2, 3, 3),
        (4,),
        stride=2,
        padding=1,
        output_padding=1,
        groups=2,
    ),
    "conv_transpose2d-dilation": conv("conv_transpose2d", (1, 2, 3, 3), (2, 3, 2, 2), dilation=2),
    "conv_transpose2d-unbatched": conv("conv_transpose2d", (2, 3, 3), (2, 3, 2, 2), (3,)),
    "conv_transpose3d": conv("conv_transpose3d", (1, 2, 2, 3, 2), (2, 3, 2, 2, 2), (3,), stride=2),
    "torch.conv2d": lambda t: t.conv2d(data(t, 1, 1, 4, 4), data(t, 2, 1, 3, 3), None, 1, 1),
    "torch.conv1d": lambda t: t.conv1d(data(t, 1, 1, 4), data(t, 2, 1, 3), padding=1),
    "torch.conv_transpose2d": lambda t: t.conv_transpose2d(
        data(t, 1, 2, 3, 3), data(t, 2, 1, 3, 3), None, 2, 1, 1, 1, 1
    ),
    "conv2d-float32": lambda t: t.nn.functional.conv2d(
        data(t, 2, 3, 8, 8, dtype="float32"), data(t, 4, 3, 3, 3, dtype="float32"), padding=1
    ),
    "conv2d-complex": lambda t: t.nn.functional.conv2d(
        data(t, 1, 2, 4, 4).detach() * (1 + 2j), data(t, 1, 2, 2, 2).detach() * (1 - 1j)
    ),
    "conv2d-integers": lambda t: t.nn.functional.conv2d(
        t.arange(16).reshape(1, 1, 4, 4), t.ones(1, 1, 2, 2, dtype=t.int64)
    ),
    "conv2d-dtypes": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 1, 1, 2, 2, dtype="float32")
    ),
    "conv2d-channels": lambda t: t.nn.functional.conv2d(data(t, 1, 3, 4, 4), data(t, 1, 2, 2, 2)),
    "conv2d-large": lambda t: t.nn.functional.conv2d(data(t, 1, 1, 2, 2), data(t, 1, 1, 3, 3)),
    "conv2d-axes": lambda t: t.nn.functional.conv2d(data(t, 4, 4), data(t, 1, 1, 3, 3)),
    "conv2d-same-stride": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 1, 1, 3, 3), stride=2, padding="same"
    ),
    "conv2d-word": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 1, 1, 3, 3), padding="full"
    ),
    "conv2d-stride-0": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 1, 1, 3, 3), stride=0
    ),
    "conv2d-negative": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 1, 1, 3, 3), padding=-1
    ),
    "conv2d-bias": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 2, 1, 3, 3), data(t, 3)
    ),
    "conv2d-name": lambda t: t.nn.functional.conv2d(
        data(t, 1, 1, 4, 4), data(t, 2, 1, 3, 3)
    ).grad_fn.name(),
    "conv_tbc": lambda t: t.conv_tbc(data(t, 5, 2, 3), data(t, 3, 3, 4), data(t, 4), 1),
    "unfold": with_gradients(lambda t, x: t.nn.functional.unfold(x, 2), (2, 3, 4, 5)),
    "unfold-options": with_gradients(
        lambda t, x: t.nn.functional.unfold(x, (2, 3), dilation=(1, 2), padding=1, stride=2),
        (1, 2, 6, 7),
    ),
    "unfold-unbatched": with_gradients(lambda t, x: t.nn.functional.unfold(x, 2), (3, 4, 5)),
    "fold": with_gradients(
        lambda t, x: t.nn.functional.fold(x, (4, 5), (2, 2), padding=1, stride=2), (1, 8, 9)
    ),
    "fold-square": with_gradients(lambda t, x: t.nn.functional.fold(x, 4, 2), (2, 4, 9)),
    "fold-unbatched": with_gradients(lambda t, x: t.nn.functional.fold(x, (3, 4), 2), (4, 6)),
    "fold-wrong": lambda t: t.nn.functional.fold(data(t, 1, 4, 5), (4, 4), 2),
    "unfold-2d": lambda t: t.nn.functional.unfold(data(t, 4, 5), 2),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name: str) -> None:
    check(CONVOLUTIONS[name])


def test_one_pixel_of_several_convolutions() -> None:
    def program(torch: Any) -> Any:
        F = torch.nn.functional
        x = data(torch, 1, 2, 12, 12)
        h = x
        for k in range(3):
            h = torch.tanh(F.conv2d(h, data(torch, 2, 2, 3, 3, seed=k, grad=False), padding=1))
        return torch.autograd.grad(h[0, 1, 5, 6], x)

    check(program)


def pool(name: str, shape: Any, *args: Any, **options: Any) -> Program:
    return with_gradients(lambda t, x: getattr(t.nn.functional, name)(x, *args, **options), shape)


def tied(torch: Any) -> Any:
    numbers = np.random.default_rng(0).integers(0, 3, (2, 2, 6, 6)).tolist()
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


POOLS: dict[str, Program] = {
    "max_pool1d": pool("max_pool1d", (2, 3, 8), 2),
    "max_pool1d-options": pool("max_pool1d", (2, 3, 9), 3, stride=2, padding=1, dilation=2),
    "max_pool2d": pool("max_pool2d", (2, 3, 6, 6), 2),
    "max_pool2d-ceil": pool("max_pool2d", (1, 2, 7, 6), 3, 2, ceil_mode=True),
    "max_pool2d-options": pool("max_pool2d", (2, 7, 7), (3, 2), stride=(2, 1), padding=(1, 0)),
    "max_pool2d-dilation": pool("max_pool2d", (1, 2, 7, 7), 2, 1, 0, 2),
    "max_pool3d": pool("max_pool3d", (1, 2, 4, 4, 4), 2),
    "max_pool3d-padding": pool("max_pool3d", (1, 2, 5, 4, 4), 3, 2, 1),
    "avg_pool1d": pool("avg_pool1d", (2, 3, 8), 2),
    "avg_pool1d-options": pool("avg_pool1d", (2, 3, 9), 3, 2, 1, True, False),
    "avg_pool2d": pool("avg_pool2d", (2, 3, 6, 6), 2),
    "avg_pool2d-ceil": pool("avg_pool2d", (1, 2, 7, 6), 3, 2, 1, ceil_mode=True),
    "avg_pool2d-without-pad": pool("avg_pool2d", (1, 2, 7, 6), 3, 2, 1, count_include_pad=False),
    "avg_pool2d-divisor": pool("avg_pool2d", (1, 2, 6, 6), 2, divisor_override=3),
    "avg_pool3d": pool("avg_pool3d", (1, 2, 4, 4, 4), 2, padding=1),
    "lp_pool1d": pool("lp_pool1d", (2, 3, 8), 2, 2),
    "lp_pool2d": pool("lp_pool2d", (2, 3, 6, 6), 2, 2),
    "lp_pool2d-3": pool("lp_pool2d", (1, 2, 7, 6), 3, (3, 2), stride=2, ceil_mode=True),
    "lp_pool3d": pool("lp_pool3d", (1, 2, 4, 4, 4), 2, 2),
    "adaptive_avg_pool1d": pool("adaptive_avg_pool1d", (2, 3, 8), 3),
    "adaptive_avg_pool2d": pool("adaptive_avg_pool2d", (2, 3, 6, 6), 2),
    "adaptive_avg_pool2d-1": pool("adaptive_avg_pool2d", (2, 3, 5, 7), (1, 1)),
    "adaptive_avg_pool2d-none": pool("adaptive_avg_pool2d", (2, 3, 5, 7), (None, 3)),
    "adaptive_avg_pool3d": pool("adaptive_avg_pool3d", (1, 2, 5, 4, 6), (2, 3, 4)),
    "adaptive_max_pool1d": pool("adaptive_max_pool1d", (2, 3, 8), 3),
    "adaptive_max_pool2d": pool("adaptive_max_pool2d", (2, 3, 6, 6), 2),
    "adaptive_max_pool2d-uneven": pool("adaptive_max_pool2d", (2, 3, 5, 7), (2, 3)),
    "adaptive_max_pool3d": pool("adaptive_max_pool3d", (1, 2, 5, 4, 6), (2, 3, 4)),
    "max_pool2d-ties": lambda t: t.autograd.grad(
        weighed(t, t.nn.functional.max_pool2d(x := tied(t), 3, 1, 1)), x
    ),
    "max_pool2d-indices": lambda t: t.nn.functional.max_pool2d(tied(t), 2, return_indices=True),
    "max_pool2d_with_indices": lambda t: t.nn.functional.max_pool2d_with_indices(tied(t), 3, 2, 1),
    "max_pool1d-indices": lambda t: t.nn.functional.max_pool1d(
        data(t, 2, 8), 3, return_indices=True
    ),
    "torch.max_pool2d": lambda t: t.max_pool2d(data(t, 1, 1, 4, 4), 2),
    "torch.max_pool1d_with_indices": lambda t: t.max_pool1d_with_indices(data(t, 1, 1, 4), 2),
    "torch.avg_pool1d": lambda t: t.avg_pool1d(data(t, 1, 1, 4), 2),
    "torch.adaptive_avg_pool1d": lambda t: t.adaptive_avg_pool1d(data(t, 1, 1, 4), 2),
    "torch.adaptive_max_pool1d": lambda t: t.adaptive_max_pool1d(data(t, 1, 1, 5), 2),
    "adaptive_max_pool2d-ties": lambda t: t.autograd.grad(
        weighed(t, t.nn.functional.adaptive_max_pool2d(x := tied(t), 4)), x
    ),
    "adaptive_max_pool2d-indices": lambda t: t.nn.functional.adaptive_max_pool2d(
        tied(t), (2, 4), return_indices=True
    ),
    "max_unpool2d": lambda t: t.nn.functional.max_unpool2d(
        *t.nn.functional.max_pool2d(data(t, 1, 2, 4, 4), 2, return_indices=True), 2
    ),
    "max_unpool2d-size": lambda t: t.nn.functional.max_unpool2d(
        *t.nn.functional.max_pool2d(data(t, 1, 2, 5, 5), 2, return_indices=True),
        2,
        output_size=(5, 5),
    ),
    "max_unpool1d": lambda t: t.nn.functional.max_unpool1d(
        *t.nn.functional.max_pool1d(data(t, 1, 2, 6), 2, return_indices=True), 2
    ),
    "max_unpool3d": lambda t: t.nn.functional.max_unpool3d(
        *t.nn.functional.max_pool3d(data(t, 1, 2, 4, 4, 4), 2, return_indices=True), 2
    ),
    "max_pool2d-integers": lambda t: t.nn.functional.max_pool2d(
        t.arange(16).reshape(1, 1, 4, 4), 2
    ),
    "avg_pool2d-integers": lambda t: t.nn.functional.avg_pool2d(
        t.arange(16).reshape(1, 1, 4, 4), 2
    ),
    "max_pool2d-padding": lambda t: t.nn.functional.max_pool2d(data(t, 1, 1, 4, 4), 2, padding=2),
    "max_pool2d-large": lambda t: t.nn.functional.max_pool2d(data(t, 1, 1, 2, 2), 3),
    "max_pool2d-2d": lambda t: t.nn.functional.max_pool2d(data(t, 4, 4), 2),
    "avg_pool2d-divisor-0": lambda t: t.nn.functional.avg_pool2d(
        data(t, 1, 1, 4, 4), 2, divisor_override=0
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_pool(name: str) -> None:
    check(POOLS[name])


def test_gradient_of_unpooling() -> None:
    def program(torch: Any) -> Any:
        F = torch.nn.functional
        x = data(torch, 1, 2, 6, 6)
        y, where = F.max_pool2d(x, 2, return_indices=True)
        weighed(torch, F.max_unpool2d(y, where, 2)).backward()
        return x

    check(program)


# -- normalisation -----------------------------------------------------------------------------

NORMS: dict[str, Program] = {
    "layer_norm": with_gradients(lambda t, x: t.nn.functional.layer_norm(x, (5,)), (3, 5)),
    "layer_norm-affine": with_gradients(
        lambda t, x, w, b: t.nn.functional.layer_norm(x, [4, 5], w, b, 1e-3),
        (3, 4, 5),
        (4, 5),
        (4, 5),
    ),
    "torch.layer_norm": with_gradients(lambda t, x, w: t.layer_norm(x, (5,), w), (3, 5), (5,)),
    "layer_norm-wrong": lambda t: t.nn.functional.layer_norm(data(t, 3, 5), (4,)),
    "layer_norm-int": lambda t: t.nn.functional.layer_norm(data(t, 3, 5), 5),
    "rms_norm": with_gradients(lambda t, x, w: t.nn.functional.rms_norm(x, (5,), w), (3, 5), (5,)),
    "rms_norm-eps": with_gradients(lambda t, x: t.rms_norm(x, (4, 5), eps=0.1), (3, 4, 5)),
    "group_norm": with_gradients(
        lambda t, x, w, b: t.nn.functional.group_norm(x, 2, w, b), (3, 4, 5), (4,), (4,)
    ),
    "group_norm-plain": with_gradients(lambda t, x: t.nn.functional.group_norm(x, 2), (3, 4, 2, 3)),
    "torch.group_norm": lambda t: t.group_norm(data(t, 2, 4, 3), 2),
    "group_norm-wrong": lambda t: t.nn.functional.group_norm(data(t, 3, 4, 5), 3),
    "instance_norm": with_gradients(lambda t, x: t.nn.functional.instance_norm(x), (2, 3, 5)),
    "instance_norm-affine": with_gradients(
        lambda t, x, w, b: t.nn.functional.instance_norm(x, weight=w, bias=b),
        (2, 3, 4, 2),
        (3,),
        (3,),
    ),
    "instance_norm-one": lambda t: t.nn.functional.instance_norm(data(t, 2, 3, 1)),
    "batch_norm-training": with_gradients(
        lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, training=True),
        (4, 3),
        (3,),
        (3,),
    ),
    "batch_norm-images": with_gradients(
        lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True, eps=1e-2),
        (2, 3, 4, 2),
    ),
    "batch_norm-eval": with_gradients(
        lambda t, x, w, b: t.nn.functional.batch_norm(
            x, data(t, 3, grad=False), data(t, 3, low=0.5, grad=False), w, b
        ),
        (4, 3, 2),
        (3,),
        (3,),
    ),
    "batch_norm-one": lambda t: t.nn.functional.batch_norm(
        data(t, 1, 3), None, None, training=True
    ),
    "batch_norm-nothing": lambda t: t.nn.functional.batch_norm(data(t, 4, 3), None, None),
    "batch_norm-wrong": lambda t: t.nn.functional.batch_norm(
        data(t, 4, 3), t.zeros(2, dtype=t.float64), t.ones(2, dtype=t.float64)
    ),
    "torch.batch_norm": lambda t: t.batch_norm(
        data(t, 4, 3), None, None, None, None, True, 0.1, 1e-5, False
    ),
    "local_response_norm": with_gradients(
        lambda t, x: t.nn.functional.local_response_norm(x, 3, alpha=0.1), (2, 5, 3)
    ),
    "local_response_norm-4d": with_gradients(
        lambda t, x: t.nn.functional.local_response_norm(x, 2, 0.1, 0.5, 2.0), (2, 5, 3, 2)
    ),
    "local_response_norm-2d": lambda t: t.nn.functional.local_response_norm(data(t, 2, 3), 2),
    "normalize-zeros": lambda t: t.autograd.grad(
        t.nn.functional.normalize(x := t.zeros(2, 3, requires_grad=True)).sum(), x
    ),
    "normalize-axes": lambda t: t.nn.functional.normalize(data(t, 2, 3, 4), dim=(1, 2)),
    "layer_norm-integers": lambda t: t.nn.functional.layer_norm(t.arange(4), (4,)),
    "batch_norm-name": lambda t: t.nn.functional.batch_norm(
        data(t, 4, 3), None, None, training=True
    ).grad_fn.name(),
}


@pytest.mark.parametrize("name", NORMS)
def test_normalisation(name: str) -> None:
    check(NORMS[name])


@pytest.mark.parametrize("function", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("momentum", [0.1, 0.5])
def test_running_statistics_move_in_place(function: str, momentum: float) -> None:
    def program(torch: Any) -> Any:
        mean = torch.zeros(3, dtype=torch.float64)
        variance = torch.ones(3, dtype=torch.float64)
        x = data(torch, 4, 3, 5)
        for k in range(3):
            options = {"training": True} if function == "batch_norm" else {"use_input_stats": True}
            y = getattr(torch.nn.functional, function)(
                x * (k + 1), mean, variance, momentum=momentum, **options
            )
        weighed(torch, y).backward()
        return y, mean, variance, mean._version, x

    check(program)


# -- losses ------------------------------------------------------------------------------------


def loss(name: str, *shapes: Any, second: bool = True, low: float = -2.5, high: float = 2.5,
         **options: Any) -> Program:  # fmt: skip
    return with_gradients(
        lambda t, *arrays: getattr(t.nn.functional, name)(*arrays, **options), *shapes,
        second=second, low=low, high=high,
    )  # fmt: skip


def classes(
    name: str, shape: Any, count: int, *of: int, second: bool = True, **options: Any
) -> Program:
    def call(t: Any, x: Any) -> Any:
        more = {k: v(t) if callable(v) else v for k, v in options.items()}
        return getattr(t.nn.functional, name)(x, labels(t, count, *of), **more)

    return with_gradients(call, shape, second=second)


LOSSES: dict[str, Program] = {
    **{
        f"{name}-{reduction}": loss(name, (3, 4), (3, 4), reduction=reduction)
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
        for reduction in ("mean", "sum", "none")
    },
    "mse_loss": loss("mse_loss", (3,), (3,)),
    "mse_loss-broadcast": loss("mse_loss", (3, 4), (4,)),
    "mse_loss-weight": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1), weight=t.tensor([1.0, 2, 3], dtype=t.float64)
    ),
    "l1_loss-weight": lambda t: t.nn.functional.l1_loss(
        data(t, 3), data(t, 3, seed=1), weight=t.tensor([1.0, 2, 3], dtype=t.float64)
    ),
    "mse_loss-legacy": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1), size_average=False
    ),
    "mse_loss-no-reduce": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1), reduce=False
    ),
    "mse_loss-dtypes": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1, dtype="float32")
    ),
    "mse_loss-integers": lambda t: t.nn.functional.mse_loss(t.tensor([1, 2]), t.tensor([1, 3])),
    "mse_loss-word": lambda t: t.nn.functional.mse_loss(data(t, 3), data(t, 3), reduction="all"),
    "mse_loss-shapes": lambda t: t.nn.functional.mse_loss(data(t, 3), data(t, 4)),
    "l1_loss-ties": lambda t: t.autograd.grad(
        t.nn.functional.l1_loss(
            x := t.tensor([1.0, 2, 0], requires_grad=True), t.tensor([1.0, 1, 1])
        ),
        x,
    ),
    "smooth_l1_loss-beta": loss("smooth_l1_loss", (3, 4), (3, 4), beta=0.5),
    "smooth_l1_loss-0": loss("smooth_l1_loss", (3, 4), (3, 4), beta=0.0),
    "huber_loss-delta": loss("huber_loss", (3, 4), (3, 4), delta=0.5),
    "huber_loss-wrong": lambda t: t.nn.functional.huber_loss(data(t, 3), data(t, 3), delta=0.0),
    **{
        f"cross_entropy-{reduction}": classes("cross_entropy", (5, 4), 4, 5, reduction=reduction)
        for reduction in ("mean", "sum", "none")
    },
    "cross_entropy-1d": classes("cross_entropy", (4,), 4),
    "cross_entropy-images": classes("cross_entropy", (2, 4, 3, 2), 4, 2, 3, 2),
    "cross_entropy-images-none": classes("cross_entropy", (2, 4, 3), 4, 2, 3, reduction="none"),
    "cross_entropy-weight": classes(
        "cross_entropy", (5, 4), 4, 5, weight=lambda t: data(t, 4, low=0.1, grad=False)
    ),
    "cross_entropy-smoothing": classes("cross_entropy", (5, 4), 4, 5, label_smoothing=0.1),
    "cross_entropy-smooth-weight": classes(
        "cross_entropy",
        (5, 4),
        4,
        5,
        weight=lambda t: data(t, 4, low=0.1, grad=False),
        label_smoothing=0.2,
        ignore_index=1,
    ),
    "cross_entropy-ignore": classes("cross_entropy", (5, 4), 4, 5, ignore_index=2),
    "cross_entropy-ignore-none": classes(
        "cross_entropy", (5, 4), 4, 5, ignore_index=2, reduction="none"
    ),
    "cross_entropy-probabilities": with_gradients(
        lambda t, x, p: t.nn.functional.cross_entropy(x, p), (5, 4), (5, 4), low=0.1
    ),
    "cross_entropy-probabilities-images": with_gradients(
        lambda t, x, p: t.nn.functional.cross_entropy(x, p, label_smoothing=0.1),
        (2, 4, 3),
        (2, 4, 3),
        low=0.1,
    ),
    "cross_entropy-probabilities-weight": with_gradients(
        lambda t, x, p: t.nn.functional.cross_entropy(
            x, p, weight=data(t, 4, low=0.1, grad=False), reduction="sum"
        ),
        (5, 4),
        (5, 4),
        low=0.1,
    ),
    "cross_entropy-float32": lambda t: t.nn.functional.cross_entropy(
        data(t, 20, 7, dtype="float32"), labels(t, 7, 20)
    ),
    "cross_entropy-minus-100": lambda t: t.nn.functional.cross_entropy(
        data(t, 3, 4), t.tensor([1, -100, 2])
    ),
    "cross_entropy-all-ignored": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([-100, -100])
    ),
    "cross_entropy-out": lambda t: t.nn.functional.cross_entropy(data(t, 2, 4), t.tensor([1, 4])),
    "cross_entropy-batches": lambda t: t.nn.functional.cross_entropy(data(t, 2, 4), t.tensor([1])),
    "cross_entropy-int32": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2], dtype=t.int32)
    ),
    "cross_entropy-float-labels": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1.0, 2.0])
    ),
    "cross_entropy-integers": lambda t: t.nn.functional.cross_entropy(
        t.ones(2, 3).long(), t.tensor([1, 2])
    ),
    "cross_entropy-wrong-smoothing": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2]), label_smoothing=1.5
    ),
    "cross_entropy-wrong-weight": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2]), weight=t.ones(3, dtype=t.float64)
    ),
    "cross_entropy-name": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2])
    ).grad_fn.name(),
    **{
        f"nll_loss-{reduction}": classes("nll_loss", (5, 4), 4, 5, reduction=reduction)
        for reduction in ("mean", "sum", "none")
    },
    "nll_loss-images": classes("nll_loss", (2, 4, 3, 2), 4, 2, 3, 2, ignore_index=1),
    "nll_loss-weight": classes(
        "nll_loss", (5, 4), 4, 5, weight=lambda t: data(t, 4, low=0.1, grad=False)
    ),
    "nll_loss-1d": classes("nll_loss", (4,), 4),
    "nll_loss-out": lambda t: t.nn.functional.nll_loss(data(t, 2, 4), t.tensor([1, 9])),
    "linear_cross_entropy": lambda t: t.nn.functional.linear_cross_entropy(
        data(t, 3, 4), data(t, 5, 4), t.tensor([1, 2, 0])
    ),
    "kl_div": loss("kl_div", (3, 4), (3, 4), low=0.1, reduction="batchmean"),
    "kl_div-mean": loss("kl_div", (3, 4), (3, 4), low=0.1),
    "kl_div-log": loss("kl_div", (3, 4), (3, 4), log_target=True, reduction="sum"),
    "kl_div-none": loss("kl_div", (3, 4), (3, 4), low=0.1, reduction="none"),
    "kl_div-zeros": lambda t: t.nn.functional.kl_div(
        data(t, 3), t.tensor([0.0, 0.5, 0.5], dtype=t.float64), reduction="sum"
    ),
    "torch.kl_div": lambda t: t.kl_div(data(t, 3), data(t, 3, low=0.1), 2),
    "bce": loss("binary_cross_entropy", (3, 4), (3, 4), low=0.05, high=0.95),
    "bce-sum": loss("binary_cross_entropy", (3, 4), (3, 4), low=0.05, high=0.95, reduction="sum"),
    "bce-weight": lambda t: t.nn.functional.binary_cross_entropy(
        data(t, 2, 3, low=0.1, high=0.9),
        data(t, 2, 3, low=0, high=1, seed=1),
        weight=t.tensor([1.0, 2, 3], dtype=t.float64),
        reduction="none",
    ),
    "bce-edges": lambda t: t.autograd.grad(
        t.nn.functional.binary_cross_entropy(
            x := t.tensor([0.0, 1, 0, 1], requires_grad=True), t.tensor([0.0, 1, 1, 0])
        ),
        x,
    ),
    "bce-outside": lambda t: t.nn.functional.binary_cross_entropy(t.tensor([1.5]), t.tensor([1.0])),
    "bce-shapes": lambda t: t.nn.functional.binary_cross_entropy(
        t.tensor([0.5]), t.tensor([1.0, 1.0])
    ),
    "bce-dtypes": lambda t: t.nn.functional.binary_cross_entropy(t.tensor([0.5]), t.tensor([1])),
    "bce_with_logits": loss("binary_cross_entropy_with_logits", (3, 4), (3, 4)),
    "bce_with_logits-none": loss(
        "binary_cross_entropy_with_logits", (3, 4), (3, 4), reduction="none"
    ),
    "bce_with_logits-weights": with_gradients(
        lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(
            x, y, data(t, 4, low=0.1, grad=False), pos_weight=data(t, 4, low=0.2, grad=False)
        ),
        (3, 4),
        (3, 4),
    ),
    "bce_with_logits-shapes": lambda t: t.nn.functional.binary_cross_entropy_with_logits(
        data(t, 3), data(t, 4)
    ),
    "torch.bce_with_logits": lambda t: t.binary_cross_entropy_with_logits(data(t, 3), data(t, 3)),
    "hinge_embedding_loss": with_gradients(
        lambda t, x: t.nn.functional.hinge_embedding_loss(
            x, t.tensor([1, -1, 1, -1, 0]), margin=1.5
        ),
        (5,),
    ),
    "margin_ranking_loss": with_gradients(
        lambda t, x, y: t.nn.functional.margin_ranking_loss(
            x, y, t.tensor([1.0, -1, 1], dtype=t.float64), margin=0.5
        ),
        (3,),
        (3,),
    ),
    "margin_ranking_loss-dims": lambda t: t.nn.functional.margin_ranking_loss(
        data(t, 3), data(t, 3), data(t, 3, 1)
    ),
    "triplet_margin_loss": loss("triplet_margin_loss", (3, 4), (3, 4), (3, 4)),
    "triplet_margin_loss-swap": loss(
        "triplet_margin_loss", (3, 4), (3, 4), (3, 4), margin=3.0, p=1, swap=True, reduction="none"
    ),
    "triplet_margin_loss-margin": lambda t: t.nn.functional.triplet_margin_loss(
        data(t, 3, 4), data(t, 3, 4), data(t, 3, 4), margin=0
    ),
    "triplet_margin_with_distance_loss": with_gradients(
        lambda t, a, p, n: t.nn.functional.triplet_margin_with_distance_loss(
            a, p, n, distance_function=lambda x, y: (x - y).abs().max(1).values, swap=True
        ),
        (3, 4),
        (3, 4),
        (3, 4),
        second=False,
    ),
    "triplet_margin_with_distance_loss-usual": with_gradients(
        lambda t, a, p, n: t.nn.functional.triplet_margin_with_distance_loss(a, p, n),
        (3, 4),
        (3, 4),
        (3, 4),
    ),
    "cosine_embedding_loss": with_gradients(
        lambda t, x, y: t.nn.functional.cosine_embedding_loss(
            x, y, t.tensor([1, -1, 1]), margin=0.2
        ),
        (3, 4),
        (3, 4),
    ),
    "cosine_embedding_loss-0d": with_gradients(
        lambda t, x, y: t.nn.functional.cosine_embedding_loss(x, y, t.tensor(1)), (4,), (4,)
    ),
    "cosine_embedding_loss-dims": lambda t: t.nn.functional.cosine_embedding_loss(
        data(t, 4), data(t, 4), t.tensor([1])
    ),
    "multi_margin_loss": classes("multi_margin_loss", (5, 4), 4, 5, second=False),
    "multi_margin_loss-2": classes(
        "multi_margin_loss", (5, 4), 4, 5, p=2, margin=0.5, second=False
    ),
    "multi_margin_loss-weight": classes(
        "multi_margin_loss",
        (5, 4),
        4,
        5,
        weight=lambda t: data(t, 4, low=0.1, grad=False),
        reduction="none",
        second=False,
    ),
    "multi_margin_loss-1d": lambda t: t.nn.functional.multi_margin_loss(data(t, 4), t.tensor(2)),
    "multi_margin_loss-p": lambda t: t.nn.functional.multi_margin_loss(
        data(t, 1, 4), t.tensor([2]), p=3
    ),
    "multilabel_margin_loss": with_gradients(
        lambda t, x: t.nn.functional.multilabel_margin_loss(
            x, t.tensor([[3, 0, -1, 1], [1, -1, 2, 2], [-1, 0, 0, 0]]), reduction="none"
        ),
        (3, 4),
        second=False,
    ),
    "multilabel_margin_loss-1d": lambda t: t.nn.functional.multilabel_margin_loss(
        data(t, 4), t.tensor([3, 0, -1, 1])
    ),
    "multilabel_soft_margin_loss": with_gradients(
        lambda t, x: t.nn.functional.multilabel_soft_margin_loss(
            x,
            t.tensor([[1.0, 0, 1], [0, 0, 1]], dtype=t.float64),
            weight=t.tensor([1.0, 2, 3], dtype=t.float64),
        ),
        (2, 3),
    ),
    "soft_margin_loss": with_gradients(
        lambda t, x: t.nn.functional.soft_margin_loss(x, t.tensor([1.0, -1, 1], dtype=t.float64)),
        (3,),
    ),
    "poisson_nll_loss": loss("poisson_nll_loss", (3, 4), (3, 4), low=0.1),
    "poisson_nll_loss-rates": loss("poisson_nll_loss", (3, 4), (3, 4), low=0.1, log_input=False),
    "poisson_nll_loss-full": lambda t: t.nn.functional.poisson_nll_loss(
        data(t, 4), t.tensor([0.0, 1, 2, 5], dtype=t.float64), full=True, reduction="none"
    ),
    "poisson_nll_loss-word": lambda t: t.nn.functional.poisson_nll_loss(
        data(t, 4), data(t, 4), reduction="all"
    ),
    "gaussian_nll_loss": loss("gaussian_nll_loss", (3, 4), (3, 4), (3, 4), low=0.1),
    "gaussian_nll_loss-full": loss(
        "gaussian_nll_loss", (3, 4), (3, 4), (3, 1), low=0.1, full=True, reduction="sum"
    ),
    "gaussian_nll_loss-rows": loss("gaussian_nll_loss", (3, 4), (3, 4), (3,), low=0.1),
    "gaussian_nll_loss-small": loss(
        "gaussian_nll_loss", (3, 4), (3, 4), (3, 4), low=0.1, eps=1.0, second=False
    ),
    "gaussian_nll_loss-number": lambda t: t.nn.functional.gaussian_nll_loss(
        data(t, 3), data(t, 3, seed=1), 0.5
    ),
    "gaussian_nll_loss-negative": lambda t: t.nn.functional.gaussian_nll_loss(
        data(t, 3), data(t, 3), -t.ones(3)
    ),
    "gaussian_nll_loss-size": lambda t: t.nn.functional.gaussian_nll_loss(
        data(t, 3), data(t, 3), t.ones(2)
    ),
    "cosine_similarity": loss("cosine_similarity", (3, 4), (3, 4)),
    "cosine_similarity-0": loss("cosine_similarity", (3, 4), (4,), dim=-1, eps=1e-3),
    "torch.cosine_similarity": lambda t: t.cosine_similarity(data(t, 3, 4), data(t, 3, 4, seed=1)),
    "cosine_similarity-zeros": lambda t: t.autograd.grad(
        t.cosine_similarity(x := t.zeros(2, 3, requires_grad=True), t.ones(2, 3)).sum(), x
    ),
    "cosine_similarity-integers": lambda t: t.cosine_similarity(
        t.ones(2, 3).long(), t.ones(2, 3).long()
    ),
    "pairwise_distance": loss("pairwise_distance", (3, 4), (3, 4)),
    "pairwise_distance-1": loss("pairwise_distance", (3, 4), (3, 4), p=1.0, keepdim=True),
    "pairwise_distance-3": loss("pairwise_distance", (3, 4), (4,), p=3),
    "pdist": loss("pdist", (4, 3), second=False),
    "mse_loss-empty": lambda t: t.nn.functional.mse_loss(t.zeros(0), t.zeros(0), reduction="sum"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss(name: str) -> None:
    check(LOSSES[name], 1e-9 if name in ("bce", "bce-sum") else None)


# -- images ------------------------------------------------------------------------------------


def resize(shape: Any, *args: Any, **options: Any) -> Program:
    return with_gradients(
        lambda t, x: t.nn.functional.interpolate(x, *args, **options), shape, second=False
    )


def sampled(mode: str, padding_mode: str, align_corners: bool, spatial: int = 2) -> Program:
    def call(t: Any, x: Any, g: Any) -> Any:
        return t.nn.functional.grid_sample(
            x, g * 0.6, mode=mode, padding_mode=padding_mode, align_corners=align_corners
        )

    image, grid = (
        ((2, 3, 4, 5), (2, 3, 4, 2)) if spatial == 2 else ((1, 2, 3, 4, 3), (1, 2, 3, 2, 3))
    )
    return with_gradients(call, image, grid, second=False)


IMAGES: dict[str, Program] = {
    "nearest": resize((1, 2, 4, 5), (7, 3)),
    "nearest-scale": resize((1, 2, 4, 5), scale_factor=2),
    "nearest-fraction": resize((1, 2, 4, 5), scale_factor=1.7),
    "nearest-1d": resize((2, 3, 5), 8),
    "nearest-3d": resize((1, 2, 3, 3, 2), scale_factor=(2, 1, 2)),
    "nearest-exact": resize((1, 2, 4, 5), (7, 3), mode="nearest-exact"),
    "linear": resize((2, 3, 5), 8, mode="linear"),
    "linear-corners": resize((2, 3, 5), 8, mode="linear", align_corners=True),
    "bilinear": resize((1, 2, 4, 5), (7, 3), mode="bilinear"),
    "bilinear-scale": resize((1, 2, 4, 5), scale_factor=2.0, mode="bilinear", align_corners=False),
    "bilinear-corners": resize((1, 2, 4, 5), (7, 9), mode="bilinear", align_corners=True),
    "bilinear-fraction": resize((1, 2, 4, 5), scale_factor=1.6, mode="bilinear"),
    "bilinear-recompute": resize(
        (1, 2, 4, 5), scale_factor=1.6, mode="bilinear", recompute_scale_factor=True
    ),
    "bilinear-antialias": resize((1, 2, 8, 9), (3, 4), mode="bilinear", antialias=True),
    "bicubic-antialias": resize((1, 2, 8, 9), (3, 4), mode="bicubic", antialias=True),
    "bicubic": resize((1, 2, 4, 5), (7, 3), mode="bicubic"),
    "bicubic-corners": resize((1, 2, 4, 5), (7, 3), mode="bicubic", align_corners=True),
    "trilinear": resize((1, 2, 3, 3, 2), (4, 5, 3), mode="trilinear"),
    "area": resize((1, 2, 5, 6), (2, 4), mode="area"),
    "area-scale": resize((1, 2, 6, 6), scale_factor=0.5, mode="area"),
    "both": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2), 3, 2),
    "neither": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2)),
    "nearest-with-corners": lambda t: t.nn.functional.interpolate(
        data(t, 1, 1, 2, 2), 3, align_corners=True
    ),
    "bilinear-3d": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2), 3, mode="bilinear"),
    "unknown-mode": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2), 3, mode="cubic"),
    "wrong-sizes": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2), (3,)),
    "upsample": lambda t: t.nn.functional.upsample(data(t, 1, 1, 2, 2), scale_factor=2),
    "upsample_bilinear": lambda t: t.nn.functional.upsample_bilinear(data(t, 1, 1, 2, 2), (3, 4)),
    "upsample_nearest": lambda t: t.nn.functional.upsample_nearest(data(t, 1, 1, 2, 2), 3),
    **{
        f"grid_sample-{mode}-{padding}-{corners}": sampled(mode, padding, corners)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    },
    "grid_sample-3d": sampled("bilinear", "zeros", False, 3),
    "grid_sample-3d-nearest": sampled("nearest", "border", True, 3),
    "grid_sample-word": lambda t: t.nn.functional.grid_sample(
        data(t, 1, 1, 2, 2), data(t, 1, 2, 2, 2), mode="cubic"
    ),
    "grid_sample-batches": lambda t: t.nn.functional.grid_sample(
        data(t, 1, 1, 2, 2), data(t, 2, 2, 2, 2)
    ),
    "affine_grid": with_gradients(
        lambda t, m: t.nn.functional.affine_grid(m, (2, 3, 4, 5), align_corners=False), (2, 2, 3)
    ),
    "affine_grid-corners": with_gradients(
        lambda t, m: t.nn.functional.affine_grid(m, [2, 3, 4, 5], align_corners=True), (2, 2, 3)
    ),
    "affine_grid-3d": with_gradients(
        lambda t, m: t.nn.functional.affine_grid(m, (1, 1, 2, 3, 4), align_corners=False), (1, 3, 4)
    ),
    "affine_grid-shape": lambda t: t.nn.functional.affine_grid(data(t, 2, 2, 2), (2, 3, 4, 5)),
    "pixel_shuffle": with_gradients(lambda t, x: t.nn.functional.pixel_shuffle(x, 2), (1, 8, 2, 3)),
    "torch.pixel_shuffle": with_gradients(lambda t, x: t.pixel_shuffle(x, 2), (4, 2, 3)),
    "pixel_unshuffle": with_gradients(
        lambda t, x: t.nn.functional.pixel_unshuffle(x, 2), (1, 2, 4, 6)
    ),
    "pixel_shuffle-wrong": lambda t: t.pixel_shuffle(data(t, 1, 3, 2, 2), 2),
    "channel_shuffle": with_gradients(
        lambda t, x: t.nn.functional.channel_shuffle(x, 2), (1, 6, 2, 2)
    ),
    "channel_shuffle-wrong": lambda t: t.channel_shuffle(data(t, 1, 5, 2, 2), 2),
}


@pytest.mark.parametrize("name", IMAGES)
def test_image(name: str) -> None:
    check(IMAGES[name])


PADS: dict[str, Program] = {
    "constant": with_gradients(lambda t, x: t.nn.functional.pad(x, (1, 2)), (2, 3)),
    "constant-value": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 1), value=3.5), (2, 3)
    ),
    "constant-list": with_gradients(
        lambda t, x: t.nn.functional.pad(x, [1, 1, 2, 0, 0, 1], "constant", 1), (2, 3, 2)
    ),
    "constant-negative": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (-1, 2, 1, -1)), (3, 4)
    ),
    "constant-empty": with_gradients(lambda t, x: t.nn.functional.pad(x, ()), (3, 4)),
    "constant-integers": lambda t: t.nn.functional.pad(t.tensor([1, 2]), (1, 1), value=7),
    "constant-bool": lambda t: t.nn.functional.pad(t.tensor([True]), (1, 1), value=True),
    "reflect": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 2, 1), mode="reflect"), (1, 2, 3, 4)
    ),
    "reflect-1d": with_gradients(lambda t, x: t.nn.functional.pad(x, (2, 3), "reflect"), (2, 5)),
    "replicate": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 3, 1), mode="replicate"), (1, 2, 3, 4)
    ),
    "replicate-3d": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 0, 1, 1, 0, 2), mode="replicate"), (1, 2, 2, 3, 2)
    ),
    "circular": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 3, 0), mode="circular"), (1, 2, 3, 4)
    ),
    "circular-1d": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (3, 2), "circular"), (1, 2, 4)
    ),
    "replicate-negative": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (-1, 2), mode="replicate"), (1, 2, 4)
    ),
    "odd": lambda t: t.nn.functional.pad(data(t, 3), (1,)),
    "too-many": lambda t: t.nn.functional.pad(data(t, 3), (1, 1, 1, 1)),
    "reflect-large": lambda t: t.nn.functional.pad(data(t, 2, 3), (3, 0), mode="reflect"),
    "circular-large": lambda t: t.nn.functional.pad(data(t, 1, 2, 3), (4, 0), mode="circular"),
    "unknown": lambda t: t.nn.functional.pad(data(t, 1, 2, 3), (1, 0), mode="edge"),
    "reflect-axes": lambda t: t.nn.functional.pad(data(t, 3), (1, 1), mode="reflect"),
    "reflect-value": lambda t: t.nn.functional.pad(data(t, 2, 3), (1, 1), "reflect", 2.0),
}


@pytest.mark.parametrize("name", PADS)
def test_pad(name: str) -> None:
    check(PADS[name])


# -- programs ----------------------------------------------------------------------------------


def test_training_of_a_small_network() -> None:
    def program(torch: Any) -> Any:
        F = torch.nn.functional
        x, y = data(torch, 8, 1, 8, 8, grad=False), labels(torch, 3, 8)
        w1, w2 = (data(torch, *s, seed=k) for k, s in enumerate([(4, 1, 3, 3), (3, 36)]))
        found = []
        for _ in range(3):
            h = F.max_pool2d(F.relu(F.conv2d(x, w1)), 2)
            loss = F.cross_entropy(F.linear(h.flatten(1), w2), y)
            loss.backward()
            with torch.no_grad():
                for w in (w1, w2):
                    w -= 0.1 * w.grad
                    w.grad = None
            found.append(loss.item())
        return found, w1, w2

    check(program)


def test_examples_of_vmap() -> None:
    def program(torch: Any) -> Any:
        F = torch.nn.functional

        def one(x: Any, label: Any) -> Any:
            h = F.softplus(F.leaky_relu(F.linear(x, w)))
            return F.cross_entropy(F.layer_norm(h, (4,)), label) + F.mse_loss(F.gelu(h), h)

        w = data(torch, 4, 3, grad=False)
        return torch.func.vmap(torch.func.grad(one))(
            data(torch, 5, 3, grad=False), labels(torch, 4, 5)
        )

    check(program)


def two_layers(torch: Any) -> Any:
    F = torch.nn.functional
    x, w, v = data(torch, 5, 3), data(torch, 4, 3, seed=1), data(torch, 1, 4, seed=2)
    (g,) = torch.autograd.grad(
        F.linear(F.leaky_relu(F.linear(x, w), 0.2), v).sum(), x, create_graph=True
    )
    ((g.norm(2, dim=1) - 1) ** 2).mean().backward()
    return w, v, x


def in_place_through_a_view(torch: Any) -> Any:
    x = torch.arange(-4.0, 4.0).requires_grad_()
    h = x * 2
    torch.nn.functional.relu(h[2:6], inplace=True)
    h.sum().backward()
    return h, x


def overwritten_result(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = torch.nn.functional.relu(x)
    y.mul_(2)
    y.sum().backward()


def overwritten_argument(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    h = x * 1
    y = torch.nn.functional.elu(h)
    h.mul_(2)
    y.sum().backward()


def two_sweeps(torch: Any) -> Any:
    y = torch.nn.functional.gelu(torch.ones(3, requires_grad=True)).sum()
    y.backward()
    y.backward()


def parameter(torch: Any) -> Any:
    w = torch.nn.Parameter(torch.ones(2, 3))
    torch.nn.functional.linear(torch.ones(1, 3), w).sum().backward()
    return w.grad, torch.nn.functional.relu(w)


def vanishing_probability(torch: Any) -> Any:
    p = torch.tensor([0.0, 1.0], requires_grad=True)
    torch.nn.functional.kl_div(torch.tensor([-1.0, -2.0]), p, reduction="sum").backward()
    return p


def names_of_entries(torch: Any) -> Any:
    F, t = torch.nn.functional, torch
    x, w, b = (t.ones(*s, requires_grad=True) for s in ((2, 3), (4, 3), (4,)))
    y, image = x * 2, t.ones(1, 2, 4, 4, requires_grad=True)
    results = [
        F.linear(x, w, b), F.linear(x, w), F.leaky_relu(x), F.elu(x), F.celu(x), F.softplus(x),
        F.silu(x), F.mse_loss(x, y), F.l1_loss(x, y), F.l1_loss(x, y, reduction="none"),
        F.kl_div(x, y, reduction="sum"), F.hardtanh(x), F.relu6(x), F.dropout(x),
        F.layer_norm(x, (3,)), F.nll_loss(x, t.tensor([1, 2])), F.log_softmax(x, 1),
        F.binary_cross_entropy_with_logits(x, y), F.embedding(t.tensor([1]), w), F.normalize(x),
        F.cosine_similarity(x, y), F.threshold(x, 0, 1), F.huber_loss(x, y), F.prelu(x, w[0, :1]),
        F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 2),
        F.unfold(image, 2), F.pad(x, (1, 1)), F.conv2d(image, t.ones(1, 2, 2, 2)),
    ]  # fmt: skip
    return [y.grad_fn.name() for y in results]


PROGRAMS: dict[str, Program] = {
    "two_layers": two_layers,
    "in_place_through_a_view": in_place_through_a_view,
    "overwritten_result": overwritten_result,
    "overwritten_argument": overwritten_argument,
    "two_sweeps": two_sweeps,
    "parameter": parameter,
    "vanishing_probability": vanishing_probability,
    "names_of_entries": names_of_entries,
    "hessian": lambda torch: torch.autograd.functional.hessian(
        lambda a: torch.nn.functional.layer_norm(a, (6,)).pow(3).sum(), data(torch, 6, grad=False)
    ),
    "jacobian": lambda torch: torch.autograd.functional.jacobian(
        lambda a: torch.nn.functional.conv2d(a, data(torch, 2, 1, 3, 3, grad=False), padding=1),
        data(torch, 1, 1, 4, 4, grad=False),
    ),
    "truth-target": lambda torch: torch.nn.functional.binary_cross_entropy_with_logits(
        torch.tensor([1.0, 2.0]), torch.tensor([True, False])
    ),
    "whole-target": lambda torch: torch.nn.functional.mse_loss(
        torch.tensor([1.0, 2.0]), torch.tensor([1, 0])
    ),
    "whole-l1": lambda torch: torch.nn.functional.l1_loss(torch.tensor([1]), torch.tensor([3])),
    "whole-l1-sum": lambda torch: torch.nn.functional.l1_loss(
        torch.tensor([1]), torch.tensor([3]), reduction="sum"
    ),
    "weighted-huber": lambda torch: torch.nn.functional.huber_loss(
        torch.tensor([1.0, 5.0]), torch.zeros(2), weight=torch.tensor([1.0, 3.0])
    ),
    "bytes": lambda torch: torch.nn.functional.interpolate(
        torch.arange(16, dtype=torch.uint8).reshape(1, 1, 4, 4), scale_factor=2
    ),
    "tensor-slope": lambda torch: torch.nn.functional.leaky_relu(
        torch.tensor([-1.0, 2.0]), negative_slope=torch.tensor(0.5)
    ),
    "keywords": lambda torch: torch.nn.functional.elu(
        input=torch.tensor([-1.0, 2.0]), alpha=2.0, inplace=False
    ),
    "complex-l1": lambda torch: torch.nn.functional.l1_loss(
        torch.tensor([3 + 4j]), torch.tensor([0j])
    ),
    "nothing": lambda torch: torch.nn.functional.cross_entropy(None, torch.tensor([1])),
    "strided": lambda torch: torch.nn.functional.softmax(
        data(torch, 2, 3, 4).transpose(1, 2), dim=2
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    check(PROGRAMS[name])
