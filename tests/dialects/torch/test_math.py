"""Elementwise functions and operators of the PyTorch dialect, against values known by hand."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import wengert.torch as torch


def values(tensor: torch.Tensor) -> list[float]:
    """Return a tensor's numbers."""
    return tensor.detach().numpy().tolist()


def gradient_of(function, *numbers: float) -> list[float]:
    """Return the gradient of a function at some numbers."""
    x = torch.tensor(list(numbers), requires_grad=True)
    y = function(x)
    y.backward(torch.tensor([1.0] * len(numbers)))
    assert x.grad is not None
    return values(x.grad)


def test_operators_and_their_gradients() -> None:
    assert gradient_of(lambda x: 3 * x**2 - x / 2 + 1, 1.0, 2.0) == [5.5, 11.5]
    assert gradient_of(lambda x: 2 - x, 1.0) == [-1.0]
    assert gradient_of(lambda x: 6 / x, 1.0, 2.0) == [-6.0, -1.5]
    assert gradient_of(lambda x: x % 2, 5.5) == [1.0]


def test_kinks_and_ties() -> None:
    assert gradient_of(torch.abs, -2.0, 0.0, 3.0) == [-1.0, 0.0, 1.0]
    assert gradient_of(torch.relu, -2.0, 0.0, 3.0) == [0.0, 0.0, 1.0]
    assert gradient_of(lambda x: x.clamp(0, 1), -1.0, 0.0, 0.5, 1.0, 2.0) == [0, 1, 1, 1, 0]
    assert gradient_of(lambda x: torch.maximum(x, torch.tensor([1.0])), 0.0, 1.0, 2.0) == [
        0,
        0.5,
        1,
    ]
    assert gradient_of(lambda x: torch.fmax(x, torch.tensor([1.0])), 0.0, 1.0, 2.0) == [0, 1, 1]


def test_flat_functions_have_zeros_for_gradients() -> None:
    for function in (torch.floor, torch.ceil, torch.round, torch.trunc, torch.sign):
        assert gradient_of(function, 0.4, -1.6) == [0.0, 0.0]


def test_dtypes() -> None:
    whole = torch.tensor([1, 2])
    assert (whole + 1).dtype == torch.int64
    assert (whole + 0.5).dtype == torch.float32
    assert (whole / 2).dtype == torch.float32
    assert (torch.tensor([True]) + 1).dtype == torch.int64
    assert (whole * torch.tensor(2.5)).dtype == torch.float32
    assert (torch.tensor([1.0], dtype=torch.float64) + 1j).dtype == torch.complex128


def test_a_gradient_goes_through_a_change_of_dtype() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert y.dtype == torch.float64 and y.requires_grad
    y.backward(torch.tensor([1.0, 1.0], dtype=torch.float64))
    assert x.grad.dtype == torch.float32 and values(x.grad) == [3.0, 4.0]


@pytest.mark.parametrize(
    "function",
    [
        lambda: torch.tensor([1]).add_(1.5),
        lambda: torch.tensor([1]).div_(2),
        lambda: torch.tensor([True]) - torch.tensor([False]),
        lambda: torch.tensor([1]) // 0,
        lambda: torch.tensor([2]) ** -1,
        lambda: torch.tensor([1.0, 2.0]) + torch.tensor([1.0, 2.0, 3.0]),
        lambda: torch.sin(torch.tensor([1.0]), out=torch.tensor([1])),
        lambda: torch.clamp(torch.tensor([1.0])),
    ],
)
def test_what_is_refused(function) -> None:
    with pytest.raises(RuntimeError):
        function()


def test_wrong_kinds_of_arguments() -> None:
    with pytest.raises(TypeError, match=r"torch\.tensor"):
        torch.sin(2.0)
    with pytest.raises(TypeError):
        torch.tensor([1.0]) + "a"
    with pytest.raises(TypeError):
        torch.maximum(torch.tensor([1.0]), 2)


def test_whole_powers() -> None:
    found = torch.pow(torch.tensor([1, -1, 2, -1]), torch.tensor([-1, -1, -1, -2]))
    assert values(found) == [1, -1, 0, 1]


def test_labels() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    for made, name in (
        (x + 1, "AddBackward0"), (2 - x, "RsubBackward1"), (x**2, "PowBackward0"),
        (x**x, "PowBackward1"), (2**x, "PowBackward2"), (x.clamp(0, 1), "ClampBackward1"),
        (torch.log1p(x), "Log1PBackward0"),
    ):  # fmt: skip
        assert made.grad_fn.name() == name


def test_polynomials_are_left_to_scipy() -> None:
    for name, instead in (
        ("chebyshev_polynomial_t", "eval_chebyt"),
        ("laguerre_polynomial_l", "eval_"),
    ):
        with pytest.raises(AttributeError, match=f"scipy.special.{instead}"):
            getattr(torch.special, name)
    with pytest.raises(AttributeError, match="eval_sh_jacobi"):
        torch.special.shifted_chebyshev_polynomial_w  # noqa: B018


def test_infinities_are_silent() -> None:
    """NumPy warns of log(0); a program of PyTorch sees and hears nothing."""
    program = (
        "import wengert.torch as torch\n"
        "x = torch.tensor([0.0, -1.0], requires_grad=True)\n"
        "y = torch.log(x) + 1 / x + torch.sigmoid(x * 1e9)\n"
        "y.backward(torch.tensor([1.0, 1.0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_values_at_the_ends() -> None:
    with np.errstate(all="ignore"):
        assert values(torch.log(torch.tensor([0.0]))) == [-math.inf]
        assert gradient_of(torch.sqrt, 0.0) == [math.inf]
        assert values(torch.sigmoid(torch.tensor([-1000.0]))) == [0.0]
