"""Convolutions and windows of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, weighed, with_gradients

pytestmark = pytest.mark.parity


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
    "max_pool1d-indices": lambda t: t.nn.functional.max_pool1d(
        data(t, 2, 8), 3, return_indices=True
    ),
    "torch.max_pool2d": lambda t: t.max_pool2d(data(t, 1, 1, 4, 4), 2),
    "torch.avg_pool1d": lambda t: t.avg_pool1d(data(t, 1, 1, 4), 2),
    "torch.adaptive_avg_pool1d": lambda t: t.adaptive_avg_pool1d(data(t, 1, 1, 4), 2),
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
