"""Convolutions, pooling, unfolding and interpolation: PyTorch's values and derivatives.

Each call is written once, with PyTorch's parameters, which are ours. Gradients are compared to
second order, of a sum that weighs each element of the result and its square.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

pytestmark = [
    pytest.mark.peers,
    # PyTorch says that it copies, where we do not
    pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths"),
]

torch = pytest.importorskip("torch")
Shapes = list[tuple[int, ...]]


def arrays_of(shapes: Shapes, kind: str = "f") -> list[np.ndarray]:
    """Return arrays of numbers without ties."""
    random = np.random.default_rng(5)
    sizes = [int(np.prod(s)) for s in shapes]
    values = random.permutation(sum(sizes)) / sum(sizes) * 4 - 2
    parts = np.split(values, np.cumsum(sizes)[:-1])
    arrays = [p.reshape(s) for p, s in zip(parts, shapes, strict=True)]
    if kind == "c":
        arrays = [a + 1j * random.uniform(-1, 1, a.shape) for a in arrays]
    return arrays


def _weights(shape: tuple[int, ...]) -> np.ndarray:
    return np.cos(np.arange(int(np.prod(shape)))).reshape(shape)


def _ours(function: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    xs = list(map(wg.asarray, arrays))
    with wg.GradientTape() as outer:
        outer.watch(xs)
        with wg.GradientTape() as tape:
            tape.watch(xs)
            y = function(*xs)
            loss = wg.sum(wg.real(y * _weights(y.shape)) + wg.abs(y * y) ** 2)
        first = tape.gradient(loss, xs)
        total = sum(
            wg.sum(wg.real(g) * _weights(g.shape)) for g in first if wg.isdtype(g.dtype, "numeric")
        )
    second = outer.gradient(total, xs)
    return [a.numpy() for a in (y, *first, *second)]


def _theirs(function: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    xs = [torch.tensor(a, requires_grad=True) for a in arrays]
    y = function(*xs)
    loss = torch.sum(torch.real(y * torch.tensor(_weights(y.shape))) + torch.abs(y * y) ** 2)
    first = torch.autograd.grad(loss, xs, create_graph=True)
    total = sum(torch.sum(torch.real(g) * torch.tensor(_weights(g.shape))) for g in first)
    second = torch.autograd.grad(total, xs, materialize_grads=True)
    return [a.detach().resolve_conj().numpy() for a in (y, *first, *second)]


def compare(name: str, shapes: Shapes, kind: str = "f", **params: Any) -> None:
    """Compare values and derivatives of two orders of the function of a name."""
    arrays = arrays_of(shapes, kind)
    ours = _ours(lambda *xs: getattr(wg.nn, name)(*xs, **params), arrays)
    theirs = _theirs(lambda *xs: getattr(torch.nn.functional, name)(*xs, **params), arrays)
    for got, expected in zip(ours, theirs, strict=True):
        assert got.shape == expected.shape
        scale = np.abs(expected).max(initial=1)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11 * scale)


def each(*cases: tuple[Any, ...]) -> Any:
    """Return a parametrisation by (name, shapes, parameters)."""
    names = [f"{c[0]}-{c[1]}-{c[2]}".replace(" ", "") for c in cases]
    return pytest.mark.parametrize(("name", "shapes", "params"), cases, ids=names)


@each(
    ("conv1d", [(2, 3, 7), (4, 3, 3)], {}),
    ("conv1d", [(3, 7), (4, 3, 3), (4,)], {"stride": 2, "padding": 2}),
    ("conv1d", [(2, 4, 7), (4, 2, 2), (4,)], {"dilation": 3, "groups": 2, "padding": "same"}),
    ("conv1d", [(2, 3, 7), (4, 3, 2)], {"padding": "valid"}),
    ("conv1d", [(0, 3, 7), (4, 3, 2), (4,)], {}),
    ("conv2d", [(2, 2, 5, 6), (3, 2, 3, 2)], {}),
    ("conv2d", [(2, 2, 5, 6), (3, 2, 3, 2), (3,)], {"padding": (1, 2)}),
    ("conv2d", [(2, 5, 6), (3, 2, 3, 3), (3,)], {"padding": "same"}),
    ("conv2d", [(2, 2, 5, 6), (3, 2, 4, 2)], {"padding": "same"}),
    ("conv2d", [(2, 2, 7, 6), (3, 2, 3, 2)], {"stride": 2, "padding": 1}),
    ("conv2d", [(2, 2, 7, 6), (3, 2, 3, 2)], {"stride": (3, 1), "dilation": (1, 2)}),
    ("conv2d", [(2, 4, 5, 6), (6, 2, 3, 3), (6,)], {"groups": 2, "padding": 1}),
    ("conv2d", [(2, 3, 5, 6), (3, 1, 3, 3)], {"groups": 3, "padding": 1}),
    ("conv2d", [(2, 3, 5, 6), (6, 1, 3, 3)], {"groups": 3, "stride": 2, "padding": 2}),
    ("conv2d", [(2, 3, 4, 4), (5, 3, 1, 1), (5,)], {}),
    ("conv2d", [(2, 3, 5, 4), (5, 3, 1, 1)], {"stride": 2}),
    ("conv2d", [(2, 3, 5, 4), (5, 3, 1, 1)], {"padding": 1}),
    ("conv2d", [(1, 1, 6, 6), (9, 1, 2, 2)], {"stride": 3}),
    ("conv2d", [(1, 2, 3, 3), (2, 2, 3, 3)], {}),
    ("conv3d", [(2, 2, 3, 4, 3), (2, 2, 2, 3, 2), (2,)], {"padding": (1, 0, 1)}),
    ("conv3d", [(4, 3, 4, 5), (4, 2, 2, 2, 2)], {"stride": 2, "groups": 2, "padding": 1}),
    ("conv_transpose1d", [(2, 3, 4), (3, 2, 3), (2,)], {"stride": 2, "output_padding": 1}),
    ("conv_transpose1d", [(3, 4), (3, 2, 3)], {"padding": 2}),
    ("conv_transpose2d", [(2, 3, 4, 3), (3, 2, 3, 2)], {}),
    ("conv_transpose2d", [(2, 4, 4, 3), (4, 1, 3, 2), (2,)],
     {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 2), "groups": 2}),
    ("conv_transpose2d", [(4, 4, 3), (4, 3, 3, 2)], {"dilation": 2, "stride": 2, "padding": 1}),
    ("conv_transpose3d", [(1, 2, 2, 3, 2), (2, 2, 2, 2, 3), (2,)], {"stride": 2, "padding": 1}),
)  # fmt: skip
def test_convolutions(name: str, shapes: Shapes, params: dict[str, Any]) -> None:
    compare(name, shapes, **params)


@each(
    ("conv1d", [(2, 3, 7), (4, 3, 3), (4,)], {"stride": 2, "padding": 2}),
    ("conv2d", [(2, 4, 5, 6), (6, 2, 3, 3), (6,)], {"groups": 2, "padding": 1}),
    ("conv_transpose2d", [(2, 4, 4, 3), (4, 1, 3, 2)], {"stride": 2, "groups": 2}),
)
def test_complex_convolutions(name: str, shapes: Shapes, params: dict[str, Any]) -> None:
    compare(name, shapes, kind="c", **params)


POOLS = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": 2, "stride": 3},
    {"kernel_size": 2, "stride": 3, "ceil_mode": True},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True},
]


def _axes(axes: int, batch: bool = True) -> tuple[int, ...]:
    return (*((2,) if batch else ()), 2, *(7, 6, 5)[:axes])


@pytest.mark.parametrize("params", POOLS, ids=str)
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_pooling(name: str, axes: int, params: dict[str, Any]) -> None:
    compare(f"{name}{axes}d", [_axes(axes, batch=axes != 2)], **params)
    if name == "avg_pool":
        compare(f"{name}{axes}d", [_axes(axes)], count_include_pad=False, **params)
    elif params["kernel_size"] == 2:
        compare(f"{name}{axes}d", [_axes(axes)], dilation=2, **params)


@pytest.mark.parametrize("params", POOLS, ids=str)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_where_the_largest_are(axes: int, params: dict[str, Any]) -> None:
    x = np.round(arrays_of([_axes(axes)])[0])  # with many ties
    got = getattr(wg.nn, f"max_pool{axes}d")(x, return_indices=True, **params)
    expected = getattr(torch.nn.functional, f"max_pool{axes}d")(
        torch.tensor(x), return_indices=True, **params
    )
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
def test_adaptive_pooling(name: str, axes: int, size: int) -> None:
    compare(f"{name}{axes}d", [_axes(axes)], output_size=(size, 4, 5)[:axes])
    compare(f"{name}{axes}d", [_axes(axes, batch=False)], output_size=size)
    if axes > 1:
        compare(f"{name}{axes}d", [_axes(axes)], output_size=(None, size, 5)[:axes])


@pytest.mark.parametrize(
    "params",
    [
        {"kernel_size": 2},
        {"kernel_size": (3, 2), "stride": 2, "padding": (1, 0)},
        {"kernel_size": (2, 3), "dilation": (3, 1), "padding": 1},
    ],
    ids=str,
)
def test_unfold_and_fold(params: dict[str, Any]) -> None:
    compare("unfold", [(2, 3, 6, 5)], **params)
    shape = wg.nn.unfold(np.zeros((2, 3, 6, 5)), **params).shape
    compare("fold", [shape], output_size=(6, 5), **params)


@pytest.mark.parametrize(
    "size",
    [
        {"size": (9, 11, 4)},
        {"size": (3, 2, 5)},
        {"size": (1, 1, 1)},
        {"scale_factor": (2.0, 2.0, 2.0)},
        {"scale_factor": (1.7, 0.6, 2.3)},
        {"scale_factor": (0.45, 1.0, 3.1)},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("mode", "axes"),
    [
        ("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("area", 1),
        ("area", 2), ("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2),
    ],
)  # fmt: skip
def test_interpolate(mode: str, axes: int, size: dict[str, Any]) -> None:
    params = {k: v[:axes] for k, v in size.items()}
    compare("interpolate", [_axes(axes)], mode=mode, **params)
    if "linear" in mode or "cubic" in mode:
        compare("interpolate", [_axes(axes)], mode=mode, align_corners=True, **params)


def test_pixel_shuffles() -> None:
    compare("pixel_shuffle", [(2, 12, 2, 3)], upscale_factor=2)
    compare("pixel_shuffle", [(9, 2, 3)], upscale_factor=3)
    compare("pixel_unshuffle", [(2, 2, 4, 6)], downscale_factor=2)


def test_a_tie_is_shared_here_and_goes_to_the_first_there() -> None:
    x = np.array([[[1.0, 1.0, 0.0, 2.0]]])
    there = torch.tensor(x, requires_grad=True)
    torch.nn.functional.max_pool1d(there, 2).sum().backward()
    assert there.grad.tolist() == [[[1, 0, 0, 1]]]
    here = wg.grad(lambda x: wg.sum(wg.nn.max_pool1d(x, 2)))(x)
    assert here.tolist() == [[[0.5, 0.5, 0, 1]]]


def test_a_whole_network() -> None:
    """Compare the gradients of a small convolutional classifier in single precision."""
    shapes: Shapes = [(4, 1, 12, 12), (4, 1, 3, 3), (4,), (8, 4, 3, 3), (8,), (8, 5)]
    arrays = [a.astype(np.float32) for a in arrays_of(shapes)]

    def ours(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, v: Any) -> Any:
        x = wg.nn.relu(wg.nn.conv2d(x, w1, b1, padding=1))
        x = wg.nn.relu(wg.nn.conv2d(wg.nn.max_pool2d(x, 2), w2, b2, stride=2))
        return wg.sum(wg.tanh(wg.reshape(wg.nn.adaptive_avg_pool2d(x, 1), (4, 8)) @ v) ** 2)

    def theirs(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, v: Any) -> Any:
        f = torch.nn.functional
        x = f.relu(f.conv2d(x, w1, b1, padding=1))
        x = f.relu(f.conv2d(f.max_pool2d(x, 2), w2, b2, stride=2))
        return torch.sum(torch.tanh(f.adaptive_avg_pool2d(x, 1).reshape(4, 8) @ v) ** 2)

    got = wg.grad(ours, argnums=tuple(range(6)))(*arrays)
    xs = [torch.tensor(a, requires_grad=True) for a in arrays]
    for mine, expected in zip(got, torch.autograd.grad(theirs(*xs), xs), strict=True):
        assert np.asarray(mine).dtype == np.float32
        np.testing.assert_allclose(np.asarray(mine), expected.numpy(), rtol=2e-4, atol=1e-5)
