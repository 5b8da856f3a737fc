"""torch.func: functions of functions, which are Wengert's own transforms of PyTorch's tensors."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wengert.dialects.quiet import aloud
from wengert.dialects.torch.axes import misfit
from wengert.dialects.torch.callbacks import transforms_by_reverse
from wengert.dialects.torch.modes import Tracking
from wengert.dialects.torch.table import plain, translated
from wengert.dialects.torch.tensors import Native, Tensor, convert, made, marked, ns
from wengert.errors import UnconnectedWarning
from wengert.transforms import forward, gradients, jacobians
from wengert.transforms import vmap as vmaps
from wengert.trees import flatten, map_leaves


def inward(tree: Any) -> Any:
    """Return a nest with Wengert's tensors in the place of PyTorch's."""
    return map_leaves(lambda v: convert(v) if isinstance(v, Tensor) else v, tree)


def outward(tree: Any) -> Any:
    """Return a nest with PyTorch's tensors in the place of Wengert's."""
    return map_leaves(lambda v: made(v._raw, v._node) if type(v) is Native else v, tree)


def lowered(
    func: Callable[..., Any], has_aux: bool = False, check: Callable[[Any], None] | None = None
) -> Callable[..., Any]:
    """Return a function of PyTorch's tensors as one of Wengert's, whose value is checked."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = aloud(func, *outward(args), **kwargs)
        if has_aux and (not isinstance(result, tuple) or len(result) != 2):
            raise RuntimeError(
                "has_aux=True needs a function that returns (output, aux), and it returned "
                f"{type(result).__name__}"
            )
        value = inward(result[0] if has_aux else result)
        if check is not None:
            check(value)
        return (value, result[1]) if has_aux else value

    return call


@contextlib.contextmanager
def transforming(name: str) -> Iterator[None]:
    """Return a context for Wengert's transforms, in which they warn and fail as PyTorch does."""
    by_reverse = name in ("grad", "vjp", "jacrev")
    hooks = transforms_by_reverse(name) if by_reverse else contextlib.nullcontext()
    with hooks, Tracking(), warnings.catch_warnings(), translated(name, ValueError):
        warnings.simplefilter("ignore", UnconnectedWarning)
        yield


def _through(name: str, native: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what one of Wengert's functions gives for PyTorch's tensors, as PyTorch's."""
    with transforming(name):
        found = outward(native(*inward(args), **kwargs))
    for value in flatten(found)[0]:
        if isinstance(value, Tensor):
            marked(value.__dict__.get("_node"))  # that of a written view is not asked for
    return found


def _check_argnums(argnums: Any, args: Sequence[Any], name: str) -> None:
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers or not all(isinstance(n, int) and -len(args) <= n < len(args) for n in numbers):
        raise misfit(name, f"positions of {len(args)} arguments", argnums=argnums)


@plain("func.grad_and_value")
def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that gives the gradient and the value of another one."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check_argnums(argnums, args, "grad_and_value")
        inner = gradients.value_and_grad(lowered(func, has_aux, _check_scalar), argnums, has_aux)
        value, gradient = _through("grad", inner, *args, **kwargs)
        return gradient, value

    return call


def _check_scalar(value: Any) -> None:
    if type(value) is not Native or value.ndim:
        got = f"shape {list(value.shape)}" if type(value) is Native else type(value).__name__
        raise RuntimeError(
            "the function must return a tensor without axes (one number) for its gradient, got "
            f"{got}; write .sum() in it"
        )


@plain("func.grad")
def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that gives the gradient of another one."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


@plain("func.vjp")
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return a function's value, and a function from cotangents to gradients of its arguments."""
    if not primals:
        raise RuntimeError("vjp: got no primals; give the function's arguments")
    value, pull, *aux = _through(
        "vjp", gradients.vjp, lowered(func, has_aux), *primals, has_aux=has_aux
    )

    def pulled(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        return _through("vjp", pull, cotangents)

    return (value, pulled, *aux)


@plain("func.jvp")
def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False,
    has_aux: bool = False,
) -> Any:  # fmt: skip
    """Return a function's value and its derivative in a direction."""
    for given, name in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(given, tuple):
            raise RuntimeError(f"jvp: {name} is a {type(given).__name__}; give a tuple of tensors")
    inner = lowered(func, has_aux)
    return tuple(_through("jvp", forward.jvp, inner, primals, tangents, has_aux=has_aux))


@plain("func.linearize")
def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """Return a function's value, and the linear function from tangents to its tangent."""
    value, push = _through("linearize", forward.linearize, lowered(func), *primals)
    return value, lambda *tangents: _through("linearize", push, *tangents)


def _jacobian(
    func: Callable[..., Any], argnums: Any, has_aux: bool, chunk_size: Any, mode: str, name: str
) -> Callable[..., Any]:
    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check_argnums(argnums, args, name)
        holomorphic = any(
            isinstance(leaf, Tensor) and leaf.dtype.is_complex for leaf in flatten(args)[0]
        )
        inner = jacobians.jacobian(
            lowered(func, has_aux),
            argnums,
            mode,
            chunk_size="auto" if chunk_size is None else chunk_size,
            has_aux=has_aux,
            holomorphic=holomorphic,
        )
        return _through(name, inner, *args, **kwargs)

    return call


@plain("func.jacrev")
def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False,
    chunk_size: int | None = None, _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that gives the Jacobian of another one, by reverse sweeps."""
    return _jacobian(func, argnums, has_aux, chunk_size, "reverse", "jacrev")


@plain("func.jacfwd")
def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of another one, by forward sweeps."""
    return _jacobian(func, argnums, has_aux, None, "forward", "jacfwd")


@plain("func.hessian")
def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function that gives the Hessian of another one."""
    return jacfwd(jacrev(func, argnums), argnums)


@plain("func.vmap", "vmap")
def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that calls another one with each example of its arguments, all at once."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"randomness is {randomness!r}; give 'error', 'different' or 'same'")
    checked = lowered(func, check=_check_tensors)
    inner = vmaps.vmap(checked, in_dims, out_dims, chunk_size, randomness)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check_dims(in_dims, args)
        return _through("vmap", inner, *args, **kwargs)

    return call


def _check_dims(in_dims: Any, args: tuple[Any, ...]) -> None:
    """Raise if `in_dims` is wrong, in terms of PyTorch's parameter."""
    if not flatten(args)[0]:
        raise ValueError("vmap: got no inputs; give tensors with an axis of examples")
    dims = (in_dims,) * len(args) if isinstance(in_dims, int) else in_dims
    if not isinstance(dims, (tuple, list)) or len(dims) != len(args):
        raise misfit(
            "vmap", f"an axis, or one for each of {len(args)} inputs", ValueError, in_dims=in_dims
        )
    sizes = set()
    for position, (value, dim) in enumerate(zip(args, dims, strict=True)):
        if isinstance(value, Tensor) and isinstance(dim, int):
            if not -value.ndim <= dim < value.ndim:
                raise misfit(
                    "vmap", f"an axis of input {position}", ValueError, input=value, in_dims=dim
                )
            sizes.add(tuple(value.shape)[dim])
    if len(sizes) > 1:
        raise ValueError(
            f"vmap: the numbers of examples differ: {sorted(sizes)}; give all inputs the same "
            "number, or write None in in_dims for what is the same for all"
        )


def _check_tensors(value: Any) -> None:
    for leaf in flatten(value)[0]:
        if type(leaf) is not Native:
            raise ValueError(
                f"vmap: the function must return tensors, and it returned {type(leaf).__name__}"
            )


@plain("func.functional_call")
def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other tensors in the place of its parameters and buffers."""
    given = _merged(parameter_and_buffer_dicts)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Any]:
    """Return one dict of several, which have no name in common."""
    parts = [dicts] if isinstance(dicts, Mapping) else dicts
    if not isinstance(parts, Sequence) or not all(isinstance(part, Mapping) for part in parts):
        raise ValueError(
            f"functional_call: got {dicts!r:.50}; give a dictionary of parameters and buffers, or "
            "a tuple of dictionaries"
        )
    names = [name for part in parts for name in part]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"functional_call: {', '.join(twice)} is given twice")
    return {name: value for part in parts for name, value in part.items()}


@contextlib.contextmanager
def _replaced(module: Any, given: dict[str, Any], tie: bool, strict: bool) -> Iterator[None]:
    """Return a context in which a module has other tensors under some names."""
    tensors = {
        name: value
        for each in (module.named_parameters, module.named_buffers)
        for name, value in each(remove_duplicate=False)
    }
    chosen = _tied(given, tensors) if tie else dict(given)
    if strict and chosen.keys() != tensors.keys():
        unknown = [name for name in chosen if name not in tensors]
        absent = [name for name in tensors if name not in chosen]
        raise RuntimeError(
            f"functional_call: with strict=True give each name once; unknown: "
            f"{', '.join(unknown)}; not given: {', '.join(absent)}"
        )
    with contextlib.ExitStack() as stack:
        for path, value in chosen.items():
            above, _, name = path.rpartition(".")
            part = module.get_submodule(above)
            holders = [names for names in (part._parameters, part._buffers) if name in names]
            names = holders[-1] if holders else part.__dict__
            if name in names:
                stack.callback(names.__setitem__, name, names[name])
            else:
                stack.callback(names.pop, name, None)
            if not (value is None or isinstance(value, Tensor)):
                raise TypeError(f"functional_call: {value!r:.50} was given; give a tensor")
            names[name] = value
        yield


def _tied(given: dict[str, Any], tensors: dict[str, Any]) -> dict[str, Any]:
    """Return what is given, also for the other names of tensors that have several."""
    by_tensor: dict[int, tuple[str, Any]] = {}
    for name, value in given.items():
        if name in tensors:
            first, other = by_tensor.setdefault(id(tensors[name]), (name, value))
            if other is not value:
                raise ValueError(
                    f"functional_call: {[first, name]} are one tensor, and two values were "
                    "given; give one of them, or write tie_weights=False"
                )
    chosen = dict(given)
    for name, tensor in tensors.items():
        if id(tensor) in by_tensor:
            chosen.setdefault(name, by_tensor[id(tensor)][1])
    return chosen


@plain("func.stack_module_state")
def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of modules of one kind, stacked."""
    if len({(type(m), m.training) for m in models}) != 1:
        raise RuntimeError(
            "stack_module_state: give modules of one class, one at least, with train() or eval() "
            "called on all of them"
        )
    return (
        _stacked([dict(m.named_parameters()) for m in models]),
        _stacked([dict(m.named_buffers()) for m in models]),
    )


def _stacked(states: list[dict[str, Any]]) -> dict[str, Any]:
    stacks = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        learns = {t.requires_grad for t in tensors}
        if len(learns) > 1:
            raise RuntimeError(f"set requires_grad of {name} alike in all modules")
        stack = outward(ns.stack([convert(t.detach()) for t in tensors]))
        stacks[name] = stack.requires_grad_(learns.pop())
    return stacks
