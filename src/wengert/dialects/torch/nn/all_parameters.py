"""torch.nn.utils: functions of all parameters: clipped gradients, one vector, no first values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch import func
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.table import NAMES, put
from wengert.dialects.torch.tensors import is_tensor


def _offered(where: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        put((f"nn.utils.{name}", f"nn.utils.{where}.{name}"), function)
        return function

    return declare


# -- gradients -------------------------------------------------------------------------------------


def _gradients(parameters: Any) -> list[Any]:
    several = [parameters] if is_tensor(parameters) else list(parameters)
    return [p.grad for p in several if p.grad is not None]


@_offered("clip_grad")
@no_grad
def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    """Return the norm of all numbers of some tensors."""
    several = [tensors] if is_tensor(tensors) else list(tensors)
    if not several:
        return NAMES["tensor"](0.0)
    power = float(norm_type)
    norms = [t.detach().norm(power) for t in several]
    total = norms[0] if len(norms) == 1 else NAMES["stack"](norms).norm(power)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"the norm of order {norm_type} of the gradients is infinite or nan, so they cannot "
            "be scaled to another; look for what overflowed, or write error_if_nonfinite=False"
        )
    return total


@_offered("clip_grad")
@no_grad
def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scale the gradients of parameters so that their norm, which is given, is no larger."""
    scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.detach().mul_(scale)


@_offered("clip_grad")
@no_grad
def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:  # fmt: skip
    """Scale the gradients of parameters so that their norm is no larger, and return what it was."""
    several = [parameters] if is_tensor(parameters) else list(parameters)
    if not several:
        warn("got no parameters to clip; is the generator used up?")
    total = get_total_norm(_gradients(several), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(several, max_norm, total)
    return total


@_offered("clip_grad")
@no_grad
def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Clip the numbers of gradients to an interval around 0."""
    bound = float(clip_value)
    for gradient in _gradients(parameters):
        gradient.detach().clamp_(-bound, bound)


@_offered("clip_grad")
def clip_grad_norm(*args: Any, **options: Any) -> Any:
    """Call `clip_grad_norm_` by its old name."""
    warn("clip_grad_norm is the old name; write clip_grad_norm_", FutureWarning)
    return clip_grad_norm_(*args, **options)


# -- parameters ------------------------------------------------------------------------------------


@_offered("convert_parameters")
def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return the numbers of all parameters in one vector."""
    return NAMES["cat"]([p.reshape(-1) for p in parameters])


@_offered("convert_parameters")
def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give parameters the numbers of one vector, whose memory they share from then on."""
    if not is_tensor(vec):
        raise TypeError(f"vector_to_parameters: got a {type(vec).__name__}; give a vector")
    begin = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[begin : begin + count].view_as(parameter).data
        begin += count


put(("nn.utils.stateless.functional_call",), func.functional_call)
