"""Gradients and memory that go through conversions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def converted(*kinds: str) -> Any:
    """Return a program that differentiates through a chain of conversions."""

    def program(torch: Any) -> Any:
        x = torch.tensor([1.5, -2.0, 3.0], requires_grad=True)
        y = x * x
        for kind in kinds:
            y = y.to(getattr(torch, kind))
        if y.is_complex():
            y = y * (2 + 1j)
            y = y.real + y.imag
        (y * y).sum().backward()
        return x.grad, y

    return program


@pytest.mark.parametrize(
    "kinds",
    [
        ("float64",), ("float16",), ("float64", "float32"), ("complex64",), ("complex128",),
        ("float64", "complex64"), ("float32",), ("complex64", "float64"), ("int64",), ("bool",),
        ("float64", "int64", "float32"),
    ],
    ids="-".join,
)  # fmt: skip
def test_gradients_go_through_conversions(kinds: tuple[str, ...]) -> None:
    compare(converted(*kinds))


def _second_order(torch: Any) -> Any:
    x = torch.tensor([1.5, -2.0], requires_grad=True)
    y = (x.double() ** 3).float()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    return g, h


def _complex_parts(torch: Any) -> Any:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([0.5, -3.0], requires_grad=True)
    z = torch.complex(a, b) * (1 + 2j)
    (z * z).real.sum().backward()
    return z, a.grad, b.grad


def _polar_parts(torch: Any) -> Any:
    a = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
    b = torch.tensor([0.5, -3.0], requires_grad=True, dtype=torch.float64)
    z = torch.polar(a, b)
    (z.real * z.imag).sum().backward()
    (h,) = torch.autograd.grad(torch.polar(a, b).real.sum(), b, create_graph=True)
    return z, a.grad, b.grad, torch.autograd.grad(h.sum(), [a, b])


def _legacy_alias(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = torch.Tensor(x)
    (y * 3).sum().backward()
    return y, x.grad


def _as_tensor_keeps_the_graph(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = torch.as_tensor(x * 2, dtype=torch.float64)
    y.sum().backward()
    return y, x.grad


def _type_as(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x.type_as(torch.zeros(1, dtype=torch.float64)) * 2
    y.type(torch.float32).sum().backward()
    return x.grad


def _numpy_shares(torch: Any) -> Any:
    x = torch.zeros(3)
    a = x.numpy()
    a[0] = 5
    x[1] = 7
    x.add_(1)
    return x, a


def _from_numpy_shares(torch: Any) -> Any:
    a = np.zeros((2, 2))
    x = torch.from_numpy(a)
    x[0, 0] = 3
    a[1, 1] = 4
    y = torch.as_tensor(a)
    y.mul_(2)
    z = torch.tensor(a)
    z.zero_()
    return x, y, a.tolist(), torch.asarray(a).data_ptr() == a.ctypes.data


def _detach_shares(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    d = y.detach()
    d[0] = 10
    x.data[1] = 4
    return x, y, d, y._version, d._version, d.requires_grad, x.detach().is_leaf


def _detached_in_place(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * 3
    y.detach_()
    z.sum().backward()
    return y, y.is_leaf, x.grad


def _write_to_detached(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.detach().zero_()
    y.sum().backward()


def _iteration(torch: Any) -> Any:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    total = 0
    for k, row in enumerate(x):
        for v in row:
            total = total + v * v * (k + 1)
    total.backward()
    return total, x.grad


def _deepcopy(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.note = "kept"
    y, z = copy.deepcopy([x, x])
    (y * 3).sum().backward()
    return x, y, y is z, y is x, y.note, y.grad, x.grad


def _shallow_copy(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0])
    y = copy.copy(x)
    y[0] = 9
    return x, y, x is y


def _pickled(torch: Any) -> Any:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y, s, k = pickle.loads(pickle.dumps((x, x.shape, x.dtype)))
    (y * y).sum().backward()
    t = pickle.loads(pickle.dumps(x.t()))
    return y, s, k, t, x.grad


def _retained(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    before = y.retains_grad
    (y * y).sum().backward()
    return before, y.grad, x.grad, x.retains_grad, y.is_leaf


def _data_replaced(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    x.data = torch.tensor([3.0, 4.0])
    (x * x).sum().backward()
    return x, x.grad


def _default_dtype(torch: Any) -> Any:
    torch.set_default_dtype(torch.float64)
    found = (
        torch.tensor(1.5), torch.zeros(2), torch.arange(0, 1, 0.25), torch.tensor(1j),
        torch.full((1,), 2.0), torch.linspace(0, 1, 3), torch.tensor([1, 2]) / 2, torch.eye(2),
        torch.rand(1).dtype, torch.get_default_dtype(), torch.tensor([1]) + 1.5, torch.Tensor([1]),
    )  # fmt: skip
    text = repr((torch.tensor(1.5), torch.tensor(1.5, dtype=torch.float32), torch.tensor(1j)))
    torch.set_default_dtype(torch.float32)
    return found, text


def _sizes(torch: Any) -> Any:
    x = torch.zeros(2, 3, 4)
    n, *rest = x.shape
    return (
        n, rest, x.size(), x.size(-1), x.shape[1:], (*x.shape[:-1], 7), (7, *x.shape), len(x.shape),
        x.shape.numel(), x.shape == (2, 3, 4), x.shape == torch.Size([2, 3, 4]), list(x.shape),
        torch.zeros(x.shape[-1]), torch.zeros(x.shape[:2]), {x.shape: 1}[(2, 3, 4)], str(x.shape),
        f"{x.shape}", f"{tuple(x.shape)}", x.size(0) * 2, x.dim(), max(x.shape),
    )  # fmt: skip


def _numbers(torch: Any) -> Any:
    t = torch.tensor(2.5)
    n = torch.tensor(3)
    return (
        float(t), int(t), bool(t), n.item(), [1, 2, 3, 4][n], f"{t:.3f}", f"{t:.2f}", f"{n:4d}|",
        f"{t}", str(t), range(n), complex(t), np.float64(t), round(float(t), 1), t.tolist(),
        sum([torch.tensor(1.0), torch.tensor(2.0)]), max(torch.tensor(1.0), t), sorted([t, n])[0],
        [10, 20, 30, 40][torch.tensor([1])], abs(-t), -t, +t, t.numpy(), np.asarray(n),
    )  # fmt: skip


def _numpy_functions(torch: Any) -> Any:
    x = torch.tensor([1.0, 4.0])
    return (
        np.sqrt(x), np.add(x, 1), np.add(x, np.ones(2)), np.array(x), np.asarray(x, np.float64),
        np.concatenate([x, x]), np.stack([x, x]), np.array([x.numpy(), x.numpy()]), np.dot(x, x),
        np.allclose(x, x), np.array_equal(x, x), np.float64(2) * x, x * np.float64(2),
        x * np.ones(2),
        np.linalg.norm(x), np.isfinite(x), np.where(x > 2, 1, 0), np.broadcast_to(x, (3, 2)),
    )  # fmt: skip


def _types_shown(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    return [repr(type(v)) for v in (x, x.shape, x.dtype, x.device)], type(x) is torch.Tensor


def _strides(torch: Any) -> Any:
    x = torch.arange(24.0).reshape(2, 3, 4)
    found = [
        x,
        x.transpose(0, 2),
        x[:, ::2],
        x[..., 1],
        x.expand(2, 2, 3, 4),
        x[0, 0, 0],
        x[1:, 1:],
    ]
    return [(t.stride(), t.storage_offset(), t.is_contiguous()) for t in found], [
        torch.empty_like(t).stride() for t in found[:2]
    ]


def _storages(torch: Any) -> Any:
    x = torch.arange(6.0).reshape(2, 3)
    y, z = x[1], x.clone()
    return (
        x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr(),
        x.untyped_storage().data_ptr() == z.untyped_storage().data_ptr(),
        x.storage().data_ptr() == y.storage().data_ptr(),
        y.data_ptr() - x.data_ptr(),
        x.storage().tolist(),
        len(x.storage()),
        y.untyped_storage().nbytes(),
    )


def _equal_to_arrays(torch: Any) -> Any:
    x = torch.arange(3.0)
    a = np.array([0.0, 5.0, 2.0])
    return x == a, a == x, x**a, x - a, (x + 1) / a.clip(1), a / (x + 1), x != a


def _inplace_with_array(torch: Any) -> Any:
    x = torch.arange(3.0)
    x += np.ones(3)
    return x


def _device_usage(torch: Any) -> Any:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.ones(2, device=device).to(device)
    with torch.device("cpu"):
        y = torch.zeros(2)
    return x, y, x.device, str(device), x.device.type, x.is_cuda, x.cpu() is x, x.get_device()


def _switches(torch: Any) -> Any:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    on = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("high")
    found = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    after = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = before
    torch.set_default_device("cpu")
    torch.set_default_device(None)
    return torch.get_num_threads(), on, found, before, after


def _decorated(torch: Any) -> Any:
    @torch.jit.ignore
    def f(x: Any) -> Any:
        return x * 2

    return f(torch.ones(2)), torch.jit.is_scripting()


def _windows(torch: Any) -> Any:
    made = [torch.hann_window, torch.hamming_window, torch.blackman_window]
    return (
        [w(n, periodic=p, dtype=torch.float64)
         for w in made for n in (0, 1, 5, 8) for p in (True, False)],
        torch.hamming_window(6, True, 0.5, 0.5),
        torch.hann_window(4).dtype,
    )  # fmt: skip


def _bad_window(torch: Any) -> Any:
    return torch.hann_window(4, dtype=torch.int64)


def _casts_that_do_not_fit(torch: Any) -> Any:
    x = torch.tensor([-1.5, 1.5, 300.0, 3e9])
    return [x.to(k) for k in (torch.int64, torch.bool, torch.float16)], [
        torch.tensor([-1, 300, 70000]).to(k) for k in (torch.uint8, torch.int8, torch.int16)
    ]


def _close(torch: Any) -> Any:
    x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 0.0])
    y = torch.tensor([1.0 + 1e-6, float("nan"), float("inf"), float("inf"), 1e-9])
    z = torch.tensor([1 + 1j, 2.0])
    return (
        torch.isclose(x, y), torch.isclose(x, y, equal_nan=True), torch.isclose(x, y,
        rtol=0, atol=0),
        torch.allclose(x, y), torch.isclose(z, z + 1e-9), x.isclose(y, 0.1, 0.1), x.allclose(x),
        torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 3]), atol=1),
        torch.equal(x, x.clone()),
        torch.isclose(x[:, None], y), torch.isclose(torch.zeros(0), torch.zeros(0)),
    )  # fmt: skip


def _subclass(torch: Any) -> Any:
    class Mine(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Mine)
    return type(x).__name__, repr(x), isinstance(x, torch.Tensor)


PROGRAMS = [v for k, v in sorted(globals().items()) if k.startswith("_") and k[1] != "_"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs_agree(program: Any) -> None:
    compare(program)
