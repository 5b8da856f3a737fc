"""no_grad, enable_grad, inference_mode and their like."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import two, under_no_grad
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def no_grad_context(torch: Any) -> Any:
    x = two(torch)
    with torch.no_grad():
        y = x * 2
        inside = torch.is_grad_enabled()
        with torch.enable_grad():
            z = x * 3
    return inside, torch.is_grad_enabled(), y.requires_grad, z.requires_grad, y.is_leaf


@program
def no_grad_decorators(torch: Any) -> Any:
    x = two(torch)

    @torch.no_grad()
    def f(t: Any) -> Any:
        return t * 2

    @torch.no_grad
    def g(t: Any) -> Any:
        return t * 2

    @torch.enable_grad()
    def h(t: Any) -> Any:
        return t * 2

    with torch.no_grad():
        back = h(x).requires_grad
    return f(x).requires_grad, g(x).requires_grad, back, f.__name__, torch.is_grad_enabled()


@program
def no_grad_generator(torch: Any) -> Any:
    x = two(torch)

    @torch.no_grad()
    def f(t: Any) -> Any:
        got = yield t * 2
        yield (t * 3, got)
        return 5

    made = f(x)
    first = next(made)
    outside = torch.is_grad_enabled()
    second, got = made.send("sent")
    end = None
    try:
        next(made)
    except StopIteration as stop:
        end = stop.value
    return first.requires_grad, outside, second.requires_grad, got, end


@program
def no_grad_generator_throw(torch: Any) -> Any:
    @torch.no_grad()
    def f() -> Any:
        try:
            yield torch.is_grad_enabled()
        except ValueError:
            yield ("caught", torch.is_grad_enabled())

    made = f()
    first = next(made)
    return first, made.throw(ValueError()), torch.is_grad_enabled()


@program
def no_grad_after_an_error(torch: Any) -> Any:
    try:
        with torch.no_grad():
            raise KeyError
    except KeyError:
        return torch.is_grad_enabled()


@program
def no_grad_reused(torch: Any) -> Any:
    mode, seen = torch.no_grad(), []
    for _ in range(2):
        with mode:
            seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    return seen


@program
def set_grad_enabled_forms(torch: Any) -> Any:
    seen = []
    torch.set_grad_enabled(False)
    seen.append(torch.is_grad_enabled())
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        seen.append(torch.is_grad_enabled())
    seen.append(torch.is_grad_enabled())

    @torch.set_grad_enabled(False)
    def f() -> Any:
        return torch.is_grad_enabled()

    return seen, torch.is_grad_enabled(), f(), torch.is_grad_enabled()


@program
def no_grad_method(torch: Any) -> Any:
    class A:
        @torch.no_grad()
        def f(self, x: Any) -> Any:
            return x * 2

    return A().f(two(torch)).requires_grad


@program
def requires_grad_made_under_no_grad(torch: Any) -> Any:
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
        y = x * 2
    return x.requires_grad, y.requires_grad, x.is_leaf


@program
def inference_mode_flags(torch: Any) -> Any:
    x = two(torch)
    with torch.inference_mode():
        y = x * 2
        inside = torch.is_inference_mode_enabled(), torch.is_grad_enabled()
        z = torch.ones(2)
        flags = y.is_inference(), z.is_inference(), x.is_inference(), torch.is_inference(y)
    return inside, flags, y.requires_grad, torch.is_inference_mode_enabled(), y


@program
def inference_mode_decorator(torch: Any) -> Any:
    @torch.inference_mode()
    def f(x: Any) -> Any:
        return x * 2

    @torch.inference_mode
    def g(x: Any) -> Any:
        return x * 2

    x = two(torch)
    return f(x).is_inference(), g(x).is_inference(), f(x).requires_grad, (x * 2).is_inference()


def _inferred(torch: Any) -> Any:
    with torch.inference_mode():
        return torch.ones(2, dtype=torch.float64) * 2


PROGRAMS.update(
    inference_tensor_requires_grad=lambda torch: _inferred(torch).requires_grad_(),
    inference_tensor_in_place=lambda torch: _inferred(torch).add_(1),
    inference_tensor_in_place_no_grad=lambda torch: under_no_grad(
        torch, lambda: _inferred(torch).mul_(2)
    ),
    inference_tensor_saved=lambda torch: _inferred(torch) * two(torch),
    inference_tensor_added=lambda torch: (_inferred(torch) + two(torch)).requires_grad,
    inference_tensor_computed_with=lambda torch: (_inferred(torch) * 3).is_inference(),
    inference_tensor_cloned=lambda torch: (_inferred(torch).clone() * two(torch)).requires_grad,
    inference_tensor_version=lambda torch: _inferred(torch)._version,
    inference_tensor_view=lambda torch: _inferred(torch).reshape(2, 1).is_inference(),
    inference_mode_off_inside=lambda torch: _inference_off(torch),
    inference_mode_enable_grad=lambda torch: _inference_enable(torch),
    inference_tensor_in_place_inside=lambda torch: _inference_write(torch),
)


def _inference_off(torch: Any) -> Any:
    with torch.inference_mode(), torch.inference_mode(mode=False):
        x = two(torch)
        return (x * 2).requires_grad, torch.is_grad_enabled(), x.is_inference()


def _inference_enable(torch: Any) -> Any:
    with torch.inference_mode(), torch.enable_grad():
        return (two(torch) * 2).requires_grad, torch.is_grad_enabled()


def _inference_write(torch: Any) -> Any:
    x = torch.ones(2)
    with torch.inference_mode():
        y = x * 2
        y.add_(1)
        x.add_(1)
        v = x.reshape(2, 1)
        return y, x, x.is_inference(), v.is_inference(), y.is_inference()


@program
def anomaly_found(torch: Any) -> Any:
    with torch.autograd.detect_anomaly():
        x = torch.tensor([0.0, 2.0], requires_grad=True)
        (x.sqrt() * 0).sum().backward()


@program
def anomaly_found_by_name(torch: Any) -> Any:
    try:
        with torch.autograd.set_detect_anomaly(True):
            x = torch.tensor([0.0, 2.0], requires_grad=True)
            (x.sqrt() * 0).sum().backward()
    except RuntimeError as error:
        return "SqrtBackward0" in str(error), torch.is_anomaly_enabled()


@program
def anomaly_not_checked(torch: Any) -> Any:
    with torch.autograd.detect_anomaly(check_nan=False):
        x = torch.tensor([0.0, 2.0], requires_grad=True)
        (x.sqrt() * 0).sum().backward()
        return x.grad, torch.is_anomaly_check_nan_enabled()


@program
def anomaly_absent(torch: Any) -> Any:
    with torch.autograd.detect_anomaly():
        x = two(torch)
        y = (x.exp() * x).sum()
        y.backward(retain_graph=True)
        (g,) = torch.autograd.grad(y, x)
    return x, g


@program
def anomaly_set(torch: Any) -> Any:
    torch.autograd.set_detect_anomaly(True)
    inside = torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    return inside, torch.is_anomaly_enabled()


@program
def threads(torch: Any) -> Any:
    x, found = two(torch), []

    def work() -> None:
        found.append(torch.is_grad_enabled())
        (x * x).sum().backward()

    with torch.no_grad():
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return x, found


@program
def variables(torch: Any) -> Any:
    from_autograd = torch.autograd.Variable
    x = from_autograd(torch.tensor([1.0, 2.0]), requires_grad=True)
    (x * x).sum().backward()
    return x, isinstance(x, from_autograd), from_autograd(torch.ones(2)).requires_grad


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
