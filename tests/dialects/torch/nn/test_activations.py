"""Activations and dropout of torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, weighed, with_gradients

pytestmark = pytest.mark.parity


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
    "alpha_dropout": lambda torch: torch.nn.functional.alpha_dropout(data(torch, 4, 5), 0.4, True),
    "alpha_dropout-off": lambda torch: torch.nn.functional.alpha_dropout(data(torch, 4, 5), 0.4),
    "dropout1d": lambda torch: torch.nn.functional.dropout1d(data(torch, 2, 5, 3)),
    "dropout1d-unbatched": lambda torch: torch.nn.functional.dropout1d(data(torch, 5, 3), 0.4),
    "dropout2d": lambda torch: torch.nn.functional.dropout2d(data(torch, 2, 5, 2, 2)),
    "dropout2d-3d": lambda torch: torch.nn.functional.dropout2d(data(torch, 2, 5, 2)),
    "dropout3d": lambda torch: torch.nn.functional.dropout3d(data(torch, 2, 5, 2, 2, 1)),
    "dropout3d-unbatched": lambda torch: torch.nn.functional.dropout3d(data(torch, 5, 2, 2, 1)),
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


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "gumbel-hard", "dropout1d"])
def test_gradients_of_seeded(name: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(7)
        F = torch.nn.functional
        x = data(torch, 2, 6, 3)
        calls = {
            "dropout": lambda: F.dropout(x), "alpha_dropout": lambda: F.alpha_dropout(x, 0.5, True),
            "gumbel-hard": lambda: F.gumbel_softmax(x, hard=True),
            "dropout1d": lambda: F.dropout1d(x),
        }  # fmt: skip
        weighed(torch, calls[name]()).backward()
        return x

    check(program)
