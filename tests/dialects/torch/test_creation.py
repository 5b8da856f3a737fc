"""Tensors made, converted, printed and drawn, with values that are known by hand."""

from __future__ import annotations

import copy
import pickle
from operator import attrgetter

import numpy as np
import pytest

import wengert.torch as torch


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ([1, 2], "int64"),
        ([1, 2.0], "float32"),
        ([True, False], "bool"),
        ([1, 2j], "complex64"),
        ([], "float32"),
        (np.arange(3.0), "float64"),
        ([np.float64(1)], "float64"),
        ([np.int32(1), 2.5], "float32"),
    ],
)
def test_dtypes_are_inferred(data: object, kind: str) -> None:
    assert torch.tensor(data).dtype is getattr(torch, kind)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ([[1], [2, 3]], ValueError),
        ([[1, 2], 3], TypeError),
        ("a", TypeError),
        (None, RuntimeError),
        ({1: 2}, RuntimeError),
        (2**63, ValueError),
        (np.arange(3)[::-1], ValueError),
    ],
)
def test_what_cannot_be_a_tensor_is_refused(data: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        torch.tensor(data)


def test_tensors_are_printed_in_columns() -> None:
    assert repr(torch.tensor([1.0, 2.5])) == "tensor([1.0000, 2.5000])"
    assert repr(torch.tensor([1.0, 20.0])) == "tensor([ 1., 20.])"
    assert repr(torch.tensor([[1, -2], [30, 4]])) == "tensor([[ 1, -2],\n        [30,  4]])"
    assert repr(torch.tensor([1e-5, 1.0])) == "tensor([1.0000e-05, 1.0000e+00])"
    assert repr(torch.tensor(1.0, requires_grad=True)) == "tensor(1., requires_grad=True)"
    assert repr(torch.ones(1, requires_grad=True) * 2) == "tensor([2.], grad_fn=<MulBackward0>)"
    assert repr(torch.zeros(0, 2)) == "tensor([], size=(0, 2))"
    assert repr(torch.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert repr(torch.tensor([1 + 2j])) == "tensor([1.+2.j])"


def test_print_options_are_kept() -> None:
    torch.set_printoptions(precision=2, sci_mode=True)
    assert repr(torch.tensor([0.5])) == "tensor([5.00e-01])"
    torch.set_printoptions(profile="default")
    assert repr(torch.tensor([0.5])) == "tensor([0.5000])"


def test_memory_is_shared_with_numpy() -> None:
    array = np.zeros(3)
    x = torch.from_numpy(array)
    x[0] = 4.0
    array[1] = 5.0
    assert x.tolist() == [4.0, 5.0, 0.0] and x.numpy()[0] == 4.0


def test_numpy_is_refused_where_it_would_lose_gradients() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()
    with pytest.raises(RuntimeError, match="detach"):
        np.sin(x)


def test_gradients_go_through_a_change_of_dtype() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x.double() * 3).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [3.0, 3.0]


def test_copies_and_pickles() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y is not x and y.tolist() == [1.0, 2.0] and y.requires_grad and y.is_leaf
    with pytest.raises(RuntimeError, match="not copied by deepcopy"):
        copy.deepcopy(x * 2)


def test_numbers_of_a_seed_are_those_of_pytorch() -> None:
    # a Mersenne twister with seed 0: what PyTorch 2.13 prints for these
    torch.manual_seed(0)
    np.testing.assert_allclose(
        torch.rand(3).numpy(), [0.49625659, 0.76822180, 0.08847743], rtol=1e-6
    )
    torch.manual_seed(0)
    np.testing.assert_allclose(
        torch.randn(3).numpy(), [1.5409961, -0.2934289, -2.1787894], rtol=1e-6
    )
    torch.manual_seed(0)
    assert torch.randint(0, 10, (5,)).tolist() == [4, 9, 3, 0, 3]
    torch.manual_seed(0)
    assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_random_numbers_have_their_moments() -> None:
    torch.manual_seed(1)
    n = 20_000
    drawn = {
        "uniform": (torch.rand(n), 0.5, 1 / 12),
        "normal": (torch.randn(n), 0.0, 1.0),
        "exponential": (torch.empty(n).exponential_(2.0), 0.5, 0.25),
        "bernoulli": (torch.empty(n).bernoulli_(0.3), 0.3, 0.21),
    }
    for name, (values, mean, variance) in drawn.items():
        found = values.numpy().astype(np.float64)
        assert abs(found.mean() - mean) < 5 * (variance / found.size) ** 0.5, name
        assert abs(found.var() / variance - 1) < 0.15, name


def test_a_generator_has_a_state_of_its_own() -> None:
    first = torch.Generator().manual_seed(5)
    state = first.get_state()
    one = torch.randn(7, generator=first)
    first.set_state(state)
    torch.manual_seed(3)
    assert torch.equal(one, torch.randn(7, generator=first))
    with pytest.raises(RuntimeError, match="3 bytes"):
        first.set_state(torch.zeros(3, dtype=torch.uint8))


def test_there_is_no_accelerator() -> None:
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    with pytest.raises(AssertionError, match="CUDA"):
        torch.ones(2).to("cuda")
    with pytest.raises(RuntimeError, match="mps"):
        torch.ones(2, device="mps")
    with pytest.raises(RuntimeError, match=r"tensors here have numbers; write device='cpu'"):
        torch.nn.Linear(2, 1, device="meta")


@pytest.mark.parametrize(
    "name",
    [
        "fx", "nn.utils.prune", "nn.CTCLoss", "nn.functional.ctc_loss", "quantization",
        "ao.quantization", "quantize_per_tensor", "distributions.Weibull",
    ],
)  # fmt: skip
def test_names_that_are_absent_say_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=r"is not offered: \w+ \w+"):
        attrgetter(name)(torch)


def test_names_that_are_unknown_are_told_from_names_alike() -> None:
    with pytest.raises(AttributeError, match=r"is not offered by .*did you mean torch\.uint8"):
        torch.quint8  # noqa: B018


def test_assert_close_says_where() -> None:
    torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)
    with pytest.raises(AssertionError, match=r"index \(1,\)"):
        torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]))


def test_operators_and_arrays_are_as_in_pytorch() -> None:
    x = torch.arange(3.0)
    assert (x * np.ones(3)).dtype is torch.float64
    assert (x == np.arange(3.0)).tolist() == [True, True, True]
    with pytest.raises(TypeError):
        np.ones(3) * x
