# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = ...,
    kwargs: Any = ...,
    *,
    tie_weights: Any = ...,
    strict: Any = ...,
) -> Any: ...
def grad(func: Any, argnums: Any = ..., has_aux: Any = ...) -> Any: ...
def grad_and_value(func: Any, argnums: Any = ..., has_aux: Any = ...) -> Any: ...
def hessian(func: Any, argnums: Any = ...) -> Any: ...
def jacfwd(func: Any, argnums: Any = ..., has_aux: Any = ..., *, randomness: Any = ...) -> Any: ...
def jacrev(
    func: Any,
    argnums: Any = ...,
    *,
    has_aux: Any = ...,
    chunk_size: Any = ...,
    _preallocate_and_copy: Any = ...,
) -> Any: ...
def jvp(
    func: Any, primals: Any, tangents: Any, *, strict: Any = ..., has_aux: Any = ...
) -> Any: ...
def linearize(func: Any, *primals: Any) -> Any: ...
def stack_module_state(models: Any) -> Any: ...
def vjp(func: Any, *primals: Any, has_aux: Any = ...) -> Any: ...
def vmap(
    func: Any,
    in_dims: Any = ...,
    out_dims: Any = ...,
    randomness: Any = ...,
    *,
    chunk_size: Any = ...,
) -> Any: ...
