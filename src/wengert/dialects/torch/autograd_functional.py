"""torch.autograd.functional: Jacobians, Hessians and products with them, at given inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch import func as transforms
from wengert.dialects.torch import gradients
from wengert.dialects.torch.callbacks import no_transform
from wengert.dialects.torch.modes import enable_grad
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, made
from wengert.engine.node import new_node
from wengert.engine.op import ALIAS


def _offered(function: Callable[..., Any]) -> Callable[..., Any]:
    put((f"autograd.functional.{function.__name__}",), function)
    return function


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
    found = []
    for part in parts:
        if create_graph and part.requires_grad:
            node = part._node
            alias = new_node(ALIAS, node, 0, (), (), node.tokens, node.shape, node.dtype)
            found.append(made(part._raw, alias))
        else:
            found.append(made(part._raw).requires_grad_())
    return found


def _outputs(func: Callable[..., Any], inputs: list[Any]) -> tuple[bool, tuple[Any, ...]]:
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


def _strict(found: Any, create: bool, what: str, on: str = "input") -> None:
    """Raise where a derivative is none, or could not be differentiated though that is asked for."""
    for position, g in enumerate(found):
        if g is None or (create and not g.requires_grad):
            raise RuntimeError(
                f"strict=True, and {what} does not depend on {on} {position}; leave strict=True "
                "out for zeros"
            )


def _pulled(
    outputs: Any, inputs: Any, weights: Any, create: bool, strict: bool, what: str = "the output"
) -> tuple[Any, ...]:
    if strict:
        _check_outputs(outputs)
    connected = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
    found: tuple[Any, ...] = (None,) * len(inputs)
    if connected:
        found = gradients.grad(
            [o for o, _ in connected],
            inputs,
            [w for _, w in connected],
            create_graph=create,
            allow_unused=True,
        )
    if strict:
        _strict(found, create, what)
    return tuple(
        made(np.zeros_like(x._raw)) if g is None else g for g, x in zip(found, inputs, strict=True)
    )


def _check_outputs(outputs: Any, what: str = "output") -> None:
    """Raise if an output does not depend on any input."""
    for position, output in enumerate(outputs):
        if not output.requires_grad:
            raise RuntimeError(
                f"strict=True, and {what} {position} of the function does not depend on its inputs"
                "; leave strict=True out for zeros"
            )


@_offered
def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the function's outputs, and the product of v and its Jacobian."""
    several, parts = _tuple(inputs, "inputs")
    leaves = _inputs(parts, create_graph)
    many, outputs = _outputs(func, leaves)
    weights = _weights(v, outputs, "output")
    found = _pulled(outputs, leaves, weights, create_graph, strict)
    return _finished(outputs, many, create_graph), _finished(found, several, create_graph)


@_offered
def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the function's outputs, and the product of its Jacobian and v."""
    _, parts = _tuple(inputs, "inputs")
    tangents = _weights(v, parts, "input")
    leaves = _inputs(parts, create_graph)
    many, outputs = _outputs(func, leaves)
    with (
        enable_grad()
    ):  # the gradient is linear in its weights: its derivative by them is asked for
        ones = [made(np.zeros_like(o._raw)).requires_grad_() for o in outputs]
        slopes = _pulled(outputs, leaves, ones, True, strict)
        found = _pulled(slopes, ones, tangents, create_graph, False)
        if strict:
            _strict(found, create_graph, "the Jacobian", "output")
    return _finished(outputs, many, create_graph), _finished(found, many, create_graph)


def _check_strict(func: Callable[..., Any], parts: tuple[Any, ...], create: bool) -> None:
    leaves = _inputs(parts, create)
    _, outputs = _outputs(func, leaves)
    _check_outputs(outputs)
    for output in outputs:
        _pulled((output,), leaves, (made(np.ones_like(output._raw)),), create, True)


@_offered
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of a function: for each output, that with respect to each input."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f'strategy is {strategy!r}; give "forward-mode" or "reverse-mode"')
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError(
            "create_graph=True with strategy='forward-mode' is not there; use 'reverse-mode'"
        )
    several, parts = _tuple(inputs, "inputs")
    if strategy == "forward-mode" and strict:
        raise RuntimeError("strict=True does not go with strategy='forward-mode'")
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError("strategy='forward-mode' needs vectorize=True")
    if strict and vectorize:
        _outputs(func, _inputs(parts, False))  # which is looked at first
        raise RuntimeError("strict=True does not go with vectorize=True; leave one of them out")
    if strict:
        _check_strict(func, parts, create_graph)
    primals = tuple(made(p._raw) for p in parts)
    if create_graph:
        primals = tuple(_inputs(parts, True))
    elif strategy == "forward-mode":
        primals = parts
    seen: list[bool] = []

    def outputs(*args: Any) -> Any:
        many, found = _tuple(func(*args), "outputs of the function")
        seen.append(many)
        return found

    create_graph = create_graph or strategy == "forward-mode"  # whose tangents are recorded too
    take = transforms.jacfwd if strategy == "forward-mode" else transforms.jacrev
    with enable_grad(), no_transform():
        found = take(outputs, tuple(range(len(parts))))(*primals)
    rows = tuple(_finished(row, several, create_graph) for row in found)
    return rows if seen[0] else rows[0]


def _number(func: Callable[..., Any], strict: bool) -> Callable[..., Any]:
    """Return a function whose result is checked to be one number."""

    def call(*args: Any) -> Any:
        many, found = _tuple(func(*args), "outputs of the function")
        if strict:
            _check_outputs(found)
        if many or found[0]._raw.size != 1:
            given = "a tuple" if many else f"shape {list(found[0]._raw.shape)}"
            raise RuntimeError(f"the function must return one number, and it returned {given}")
        return found[0]

    return call


@_offered
def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a function of one number: for each pair of inputs."""
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'outer_jacobian_strategy is {outer_jacobian_strategy!r}; give "forward-mode" or '
            '"reverse-mode"'
        )
    several, parts = _tuple(inputs, "inputs")
    checked = _number(func, strict)

    def slopes(*args: Any) -> Any:
        value = checked(*args)
        found = _pulled((value,), args, (made(np.ones_like(value._raw)),), True, False)
        if strict:
            _check_outputs(found, "slope")
        return found

    def of_aliases(*args: Any) -> Any:
        return transforms.grad(lambda *xs: checked(*xs).sum(), tuple(range(len(args))))(*args)

    if outer_jacobian_strategy == "forward-mode" or not strict:
        options = {"vectorize": vectorize, "strategy": outer_jacobian_strategy}
        found = jacobian(of_aliases, parts, create_graph, strict, **options)
    elif vectorize:
        found = jacobian(slopes, parts, create_graph, strict, vectorize)
    else:
        _check_strict(slopes, parts, create_graph)
        checked = _number(func, False)
        found = jacobian(of_aliases, parts, create_graph)
    return found if several else found[0][0]


@_offered
def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the function's value, and the product of v and its Hessian."""
    several, parts = _tuple(inputs, "inputs")
    weights = _weights(v, parts, "input")
    leaves = _inputs(parts, create_graph)
    with enable_grad():
        value = _number(func, strict)(*leaves)
        slopes = _pulled((value,), leaves, (made(np.ones_like(value._raw)),), True, strict)
    found = _pulled(slopes, leaves, weights, create_graph, strict, "the Hessian")
    return _finished((value,), False, create_graph), _finished(found, several, create_graph)


@_offered
def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the function's value, and the product of its Hessian and v."""
    return vhp(func, inputs, v, create_graph, strict)
