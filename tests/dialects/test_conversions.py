"""Conversions of recorded tensors to numbers and arrays are what each framework makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
import wengert.tensorflow as tf
import wengert.torch as torch


def test_numbers_of_torch_are_a_habit() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (x**2).sum()
    assert float(loss) == loss.item() == 5.0 and int(loss) == 5
    assert loss.detach().numpy() == 5.0
    loss.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_numbers_of_torch_inside_of_its_transforms() -> None:
    seen: list[float] = []

    def f(x: Any) -> Any:
        y = (x**2).sum()
        seen.append(float(y.detach()))
        return y

    assert torch.func.grad(f)(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert seen == [5.0]


def test_numbers_of_tensorflow_are_a_habit() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x**2)
        assert float(loss) == 5.0 and int(loss) == 5 and np.asarray(loss) == 5.0
    assert tape.gradient(loss, x).numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("convert", [float, int, complex, np.asarray])
def test_numbers_of_autograd_are_an_error(convert: Any) -> None:
    from wengert.autograd import elementwise_grad, grad, jacobian

    for transform in (grad, elementwise_grad, jacobian):
        with pytest.raises(TypeError):
            transform(lambda x: x * convert(x))(2.0)
        with pytest.raises(wg.CutPathError, match="takes plain numbers"):
            transform(lambda x: x * convert(x))(2.0)
