"""backward, grad, hooks, modes, Function, gradcheck and checkpoint, with values known by hand."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from wengert.torch.autograd.gradcheck import GradcheckError

import wengert.torch as torch
from wengert.torch.utils.checkpoint import checkpoint


def two() -> Any:
    return torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)


def test_gradients_add_up_in_place() -> None:
    x = two()
    (x * x).sum().backward()
    held = x.grad
    (x * x).sum().backward()
    assert held is x.grad
    np.testing.assert_array_equal(held.numpy(), [4.0, 8.0])


def test_a_second_backward_names_both_lines() -> None:
    y = two().exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"a second time") as error:
        y.backward()
    assert str(error.value).count("test_autograd.py:") == 2


def test_gradients_of_gradients() -> None:
    x = two()
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), [6.0, 12.0])


def test_hooks_are_called_as_soon_as_a_gradient_is_complete() -> None:
    seen: list[str] = []
    b, a = two(), two()
    y = a * 2
    z = y * b
    for name, t in (("a", a), ("b", b), ("y", y)):
        t.register_hook(lambda g, name=name: seen.append(name))
    z.sum().backward()
    assert seen == ["b", "y", "a"] or seen == ["y", "b", "a"]


def test_gradients_share_memory_with_nothing_that_a_hook_kept() -> None:
    x, kept = two(), []
    y = x + 1
    y.register_hook(kept.append)
    y.sum().backward()
    x.grad.zero_()
    np.testing.assert_array_equal(kept[0].numpy(), [1.0, 1.0])


def test_an_anomaly_is_told_with_its_line() -> None:
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        y = (x.sqrt() * 0).sum()
        with (
            pytest.warns(UserWarning, match="SqrtBackward0"),
            pytest.raises(RuntimeError, match=r"SqrtBackward0.*nan.*test_autograd\.py"),
        ):
            y.backward()
    assert not torch.is_anomaly_enabled()


def test_what_a_function_saves_may_be_anything() -> None:
    class Pick(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, index: int) -> Any:
            ctx.save_for_backward(x, index)
            return x[index]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, index = ctx.saved_tensors
            found = torch.zeros_like(x)
            found[index] = g
            return found, None

    x = two()
    (Pick.apply(x, 1) * 3).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 3.0])


def test_an_entry_does_not_hold_the_results_of_its_function() -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    gc.disable()
    try:
        y = Exp.apply(two())
        gone = weakref.ref(y)
        del y
        assert gone() is None  # there is no cycle that only the collector could free
    finally:
        gc.enable()


def test_a_checkpoint_keeps_nothing_of_what_is_inside() -> None:
    kept: list[Any] = []

    def body(a: Any) -> Any:
        b = a.exp()
        kept.append(weakref.ref(b._raw))
        return b * b

    x = two()
    y = checkpoint(body, x, use_reentrant=False)
    assert kept[0]() is None
    y.sum().backward()
    assert len(kept) == 2
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([2.0, 4.0]))


def test_gradcheck_finds_a_wrong_rule() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    assert torch.autograd.gradcheck(lambda x: x * 2, two())
    with pytest.raises(GradcheckError, match="derivatives of output 0"):
        torch.autograd.gradcheck(Wrong.apply, two())


def test_threads_record_though_the_one_that_starts_them_does_not() -> None:
    x = two()

    def work() -> None:
        (x * x).sum().backward()

    with torch.no_grad():
        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    np.testing.assert_array_equal(x.grad.numpy(), [16.0, 32.0])


def test_inference_mode_leaves_nothing_behind() -> None:
    with torch.inference_mode():
        y = torch.ones(2, dtype=torch.float64)
    assert "__setattr__" not in vars(torch.Tensor)
    with pytest.raises(RuntimeError, match="inference tensor"):
        y * two()
    del y
    gc.collect()
    from wengert.engine.record import witnesses

    assert not witnesses


def test_saved_arrays_can_be_kept_elsewhere() -> None:
    x = two()
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t.detach().numpy().tolist(), lambda v: torch.tensor(v, dtype=torch.float64)
    ):
        y = (x.exp() * x).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]) * [2.0, 3.0])
