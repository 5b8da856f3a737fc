"""torch.autograd.functional: Jacobians, Hessians and products with them, at given inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import named
from wengert.dialects.torch import func as transforms
from wengert.dialects.torch import gradients
from wengert.dialects.torch.callbacks import no_transform
from wengert.dialects.torch.modes import enable_grad
from wengert.dialects.torch.nodes import alias
from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor, made


def _tuple(value: Any, what: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether a value is a tuple, and it as one."""
    several = isinstance(value, tuple)
    parts = value if several else (value,)
    for position, part in enumerate(parts):
        if not isinstance(part, Tensor):
            raise TypeError(f"{what}: element {position} is a {type(part).__name__}; give tensors")
    return several, parts


def _inputs(parts: tuple[Any, ...], create_graph: bool) -> list[Any]:
    """Return inputs that gradients are taken of: leaves, or new names of what is recorded."""
    leaves = []
    for part in parts:
        if create_graph and part.requires_grad:
            leaves.append(made(part._raw, alias(part._node)))
        else:
            leaves.append(made(part._raw).requires_grad_())
    return leaves


def _outputs(func: Callable[..., Any], inputs: Sequence[Any]) -> tuple[bool, tuple[Any, ...]]:
    with enable_grad():
        return _tuple(func(*inputs), "outputs of the function")


def _weights(v: Any, like: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    if v is None:
        if len(like) != 1 or like[0]._raw.size != 1:
            raise RuntimeError(
                f"v can only be left out where the {what} is one number; give a tensor of its shape"
            )
        return (made(np.ones_like(like[0]._raw)),)
    parts = _tuple(v, "v")[1]
    if len(parts) != len(like):
        raise RuntimeError(f"v has {len(parts)} parts, and the {what} has {len(like)}")
    for position, (part, one) in enumerate(zip(parts, like, strict=True)):
        if part._raw.shape != one._raw.shape:
            raise RuntimeError(
                f"v has shape {list(part._raw.shape)} in part {position}, and the {what} has "
                f"{list(one._raw.shape)}"
            )
    return parts


def _finished(tensors: Any, several: bool, create_graph: bool) -> Any:
    parts = tuple(t if create_graph else made(t._raw) for t in tensors)
    return parts if several else parts[0]


def _refuse_strict(strict: bool) -> None:
    if strict:
        raise NotImplementedError(
            "strict=True is not offered; leave it out: zeros say that there is no dependence"
        )


def _pulled(outputs: Any, inputs: Any, weights: Any, create: bool) -> tuple[Any, ...]:
    """Return the products of weights and a Jacobian, zeros for inputs that nothing depends on."""
    connected = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
    slopes: tuple[Any, ...] = (None,) * len(inputs)
    if connected:
        slopes = gradients.grad(
            [o for o, _ in connected],
            inputs,
            [w for _, w in connected],
            create_graph=create,
            allow_unused=True,
        )
    return tuple(
        made(np.zeros_like(x._raw)) if g is None else g for g, x in zip(slopes, inputs, strict=True)
    )


def _product(v_like: str, result_like: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a product with a Jacobian or a Hessian.

    It is computed from the outputs as the function gave them, the inputs, v and `create_graph`.
    """

    def offer(compute: Callable[..., Any]) -> Any:
        @named(compute.__name__, compute.__doc__)
        def product(
            func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
            strict: bool = False,
        ) -> tuple[Any, Any]:  # fmt: skip
            _refuse_strict(strict)
            several, parts = _tuple(inputs, "inputs")
            weights = _weights(v, parts, "input") if v_like == "inputs" else ()
            leaves = _inputs(parts, create_graph)
            many, outputs = _outputs(func, leaves)
            weights = weights or _weights(v, outputs, "output")
            products = compute(outputs, leaves, weights, create_graph)
            value = _finished(outputs, many, create_graph)
            return value, _finished(
                products, many if result_like == "outputs" else several, create_graph
            )

        return plain(f"autograd.functional.{compute.__name__}")(product)

    return offer


@_product("outputs", "inputs")
def vjp(outputs: Any, inputs: Any, v: Any, create: bool) -> Any:
    """Return the function's outputs, and the product of v and its Jacobian."""
    return _pulled(outputs, inputs, v, create)


@_product("inputs", "outputs")
def jvp(outputs: Any, inputs: Any, v: Any, create: bool) -> Any:
    """Return the function's outputs, and the product of its Jacobian and v.

    The gradient is linear in its weights: the product is its derivative by them.
    """
    with enable_grad():
        weights = [made(np.zeros_like(o._raw)).requires_grad_() for o in outputs]
        slopes = _pulled(outputs, inputs, weights, True)
        return _pulled(slopes, weights, v, create)


@plain("autograd.functional.hvp")
@_product("inputs", "inputs")
def vhp(outputs: Any, inputs: Any, v: Any, create: bool) -> Any:
    """Return the function's value, and the product of v and its Hessian."""
    value = _number(outputs)
    with enable_grad():
        slopes = _pulled((value,), inputs, (made(np.ones_like(value._raw)),), True)
    return _pulled(slopes, inputs, v, create)


@plain("autograd.functional.jacobian")
def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Return the Jacobian of a function: for each output, that with respect to each input."""
    _refuse_strict(strict)
    forward = _is_forward(strategy, "strategy")
    if forward and (create_graph or not vectorize):
        raise NotImplementedError(
            "strategy='forward-mode' needs vectorize=True and create_graph=False; write these, or "
            "use 'reverse-mode'"
        )
    several, parts = _tuple(inputs, "inputs")
    primals = parts if forward else tuple(made(p._raw) for p in parts)
    if create_graph:
        primals = tuple(_inputs(parts, True))
    seen: list[bool] = []

    def outputs(*args: Any) -> Any:
        many, found = _tuple(func(*args), "outputs of the function")
        seen.append(many)
        return found

    take = transforms.jacfwd if forward else transforms.jacrev
    with enable_grad(), no_transform():
        found = take(outputs, tuple(range(len(parts))))(*primals)
    # forward mode records tangents too
    rows = tuple(_finished(row, several, create_graph or forward) for row in found)
    return rows if seen[0] else rows[0]


def _is_forward(strategy: str, name: str) -> bool:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f'{name} is {strategy!r}; give "forward-mode" or "reverse-mode"')
    return strategy == "forward-mode"


def _number(outputs: tuple[Any, ...]) -> Tensor:
    """Return the result of a function, which must be one number."""
    if len(outputs) != 1 or outputs[0]._raw.size != 1:
        shapes = [list(output._raw.shape) for output in outputs]
        raise RuntimeError(f"the function must return one number, and it returned shapes {shapes}")
    value: Tensor = outputs[0]
    return value


@plain("autograd.functional.hessian")
def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Return the Hessian of a function of one number: for each pair of inputs."""
    _is_forward(outer_jacobian_strategy, "outer_jacobian_strategy")
    several, parts = _tuple(inputs, "inputs")

    def total(*args: Any) -> Any:
        return _number(_tuple(func(*args), "outputs")[1]).sum()

    slopes = transforms.grad(total, tuple(range(len(parts))))
    found = jacobian(slopes, parts, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if several else found[0][0]
