# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.torch import Tensor as Tensor

def hessian(
    func: Any,
    inputs: Any,
    create_graph: Any = ...,
    strict: Any = ...,
    vectorize: Any = ...,
    outer_jacobian_strategy: Any = ...,
) -> Any: ...
def hvp(
    outputs: Any, inputs: Any, v: Any, create: bool, strict: bool, many: bool, **_options: Any
) -> Any: ...
def jacobian(
    func: Any,
    inputs: Any,
    create_graph: Any = ...,
    strict: Any = ...,
    vectorize: Any = ...,
    strategy: Any = ...,
) -> Any: ...
def jvp(
    outputs: Any, inputs: Any, v: Any, create: bool, strict: bool, _: bool, **_options: Any
) -> Any: ...
def vhp(
    outputs: Any, inputs: Any, v: Any, create: bool, strict: bool, many: bool, **_options: Any
) -> Any: ...
def vjp(
    outputs: Any, inputs: Any, v: Any, create: bool, strict: bool, _: bool, **_options: Any
) -> Any: ...
