"""Normalisations of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, weighed, with_gradients

pytestmark = pytest.mark.parity


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
