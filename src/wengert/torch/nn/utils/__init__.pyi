# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

from . import parametrizations as parametrizations
from . import parametrize as parametrize
from . import rnn as rnn
from . import stateless as stateless

def clip_grad_norm(
    parameters: Any,
    max_norm: Any,
    norm_type: Any = ...,
    error_if_nonfinite: Any = ...,
    foreach: Any = ...,
) -> Any: ...
def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = ...,
    error_if_nonfinite: bool = ...,
    foreach: bool | None = ...,
    **_options: Any,
) -> Any: ...
def clip_grad_value_(
    parameters: Any, clip_value: float, foreach: bool | None = ..., **_options: Any
) -> Any: ...
def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = ..., **_options: Any
) -> Any: ...
def get_total_norm(
    tensors: Any,
    norm_type: float = ...,
    error_if_nonfinite: bool = ...,
    foreach: bool | None = ...,
    **_options: Any,
) -> Any: ...
def parameters_to_vector(parameters: Any) -> Any: ...

remove_spectral_norm: Any
remove_weight_norm: Any

def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any: ...
def spectral_norm(
    module: Any, name: Any = ..., n_power_iterations: Any = ..., eps: Any = ..., dim: Any = ...
) -> Any: ...
def vector_to_parameters(vec: Any, parameters: Any) -> Any: ...
def weight_norm(module: Any, name: Any = ..., dim: Any = ...) -> Any: ...
