"""torch.func: functions of functions, which are Wengert's own transforms of PyTorch's tensors."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wengert.dialects.quiet import aloud
from wengert.dialects.torch.callbacks import transforms_by_reverse
from wengert.dialects.torch.modes import Tracking
from wengert.dialects.torch.table import put, translated
from wengert.dialects.torch.tensors import Tensor, convert, made, ns
from wengert.engine.errors import UnconnectedWarning
from wengert.engine.tensor import Tensor as Native
from wengert.transforms import forward, gradients, jacobians
from wengert.transforms import vmap as vmaps
from wengert.trees import flatten, map_leaves


def inward(tree: Any) -> Any:
    """Return a nest with Wengert's tensors in the place of PyTorch's."""
    return map_leaves(lambda v: convert(v) if isinstance(v, Tensor) else v, tree)


def outward(tree: Any) -> Any:
    """Return a nest with PyTorch's tensors in the place of Wengert's."""
    return map_leaves(lambda v: made(v._raw, v._node) if type(v) is Native else v, tree)


def lowered(func: Callable[..., Any], has_aux: bool = False) -> Callable[..., Any]:
    """Return a function of PyTorch's tensors as one of Wengert's."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = aloud(func, *outward(args), **kwargs)
        if not has_aux:
            return inward(result)
        if not isinstance(result, tuple) or len(result) != 2:
            raise RuntimeError(
                "has_aux=True needs a function that returns (output, aux), and it returned "
                f"{type(result).__name__}"
            )
        return inward(result[0]), result[1]

    return call


@contextlib.contextmanager
def transforming(name: str) -> Iterator[None]:
    """Return a context for Wengert's transforms, in which they warn and fail as PyTorch does."""
    by_reverse = name in ("grad", "vjp", "jacrev")
    hooks = transforms_by_reverse(name) if by_reverse else contextlib.nullcontext()
    with hooks, Tracking(), warnings.catch_warnings(), translated(name, ValueError):
        warnings.simplefilter("ignore", UnconnectedWarning)
        yield


def _check_argnums(argnums: Any, args: Sequence[Any], name: str) -> None:
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers:
        raise RuntimeError(f"{name}: argnums is empty; name one argument at least")
    for number in numbers:
        if not isinstance(number, int):
            raise RuntimeError(
                f"{name}: argnums is {argnums!r}; give one position, or a tuple of them"
            )
        if not -len(args) <= number < len(args):
            raise RuntimeError(
                f"{name}: argnums is {argnums}, and there are {len(args)} arguments by position"
            )


def _offered(function: Callable[..., Any]) -> Callable[..., Any]:
    put((f"func.{function.__name__}",), function)
    return function


@_offered
def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that gives the gradient and the value of another one."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check_argnums(argnums, args, "grad_and_value")
        inner = gradients.value_and_grad(_scalar(func, has_aux), argnums, has_aux)
        with transforming("grad"):
            value, found = inner(*inward(args), **kwargs)
        if has_aux:
            value, aux = value
            return outward(found), (outward(value), outward(aux))
        return outward(found), outward(value)

    return call


def _scalar(func: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    inner = lowered(func, has_aux)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = inner(*args, **kwargs)
        value = result[0] if has_aux else result
        if type(value) is not Native:
            raise RuntimeError(
                f"the function must return a tensor for its gradient, got {type(value).__name__}"
            )
        if value.ndim:
            raise RuntimeError(
                "the function must return a tensor without axes (one number), got shape "
                f"{list(value.shape)}; write .sum() in it"
            )
        return result

    return call


@_offered
def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that gives the gradient of another one."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return call


@_offered
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return a function's value, and a function from cotangents to gradients of its arguments."""
    if not primals:
        raise RuntimeError("vjp: got no primals; give the function's arguments")
    with transforming("vjp"):
        value, pull, *aux = gradients.vjp(lowered(func, has_aux), *inward(primals), has_aux=has_aux)

    def pulled(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        with transforming("vjp"):
            return outward(pull(inward(cotangents)))

    return (outward(value), pulled, *outward(aux))


@_offered
def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return a function's value and its derivative in a direction."""
    for given, name in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(given, tuple):
            raise RuntimeError(f"jvp: {name} is a {type(given).__name__}; give a tuple of tensors")
    if len(primals) != len(tangents):
        raise RuntimeError(
            f"jvp: got {len(primals)} primals and {len(tangents)} tangents; give one for each"
        )
    with transforming("jvp"):
        found = forward.jvp(
            lowered(func, has_aux), inward(primals), inward(tangents), has_aux=has_aux
        )
    return outward(tuple(found))


@_offered
def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """Return a function's value, and the linear function from tangents to its tangent."""
    with transforming("linearize"):
        value, push = forward.linearize(lowered(func), *inward(primals))

    def pushed(*tangents: Any) -> Any:
        with transforming("linearize"):
            return outward(push(*inward(tangents)))

    return outward(value), pushed


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
        with transforming(name):
            return outward(inner(*inward(args), **kwargs))

    return call


@_offered
def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of another one, by reverse sweeps."""
    return _jacobian(func, argnums, has_aux, chunk_size, "reverse", "jacrev")


@_offered
def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of another one, by forward sweeps."""
    return _jacobian(func, argnums, has_aux, None, "forward", "jacfwd")


@_offered
def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function that gives the Hessian of another one."""
    return jacfwd(jacrev(func, argnums), argnums)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that calls another one with each example of its arguments, all at once."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"randomness is {randomness!r}; give 'error', 'different' or 'same'")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("vmap: chunk_size is 0 or negative; give 1 or more, or None")

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check_dims(in_dims, args)
        inner = vmaps.vmap(_returning(func), in_dims, out_dims, chunk_size, randomness)
        with transforming("vmap"):
            return outward(inner(*inward(args), **kwargs))

    return call


def _check_dims(in_dims: Any, args: tuple[Any, ...]) -> None:
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"vmap: in_dims is a {type(in_dims).__name__}; give an axis, or a tuple with one for "
            "each argument"
        )
    if not flatten(args)[0]:
        raise ValueError("vmap: got no inputs; give tensors with an axis of examples")
    if isinstance(in_dims, (tuple, list)) and len(in_dims) != len(args):
        raise ValueError(
            f"vmap: in_dims has {len(in_dims)} parts, and there are {len(args)} inputs"
        )
    if isinstance(in_dims, int):
        in_dims = (in_dims,) * len(args)
    for position, (value, dim) in enumerate(zip(args, in_dims, strict=True)):
        if (
            isinstance(value, Tensor)
            and isinstance(dim, int)
            and not -value.ndim <= dim < value.ndim
        ):
            raise ValueError(
                f"vmap: input {position} has {value.ndim} axes, and in_dims says that examples are "
                f"along axis {dim}"
            )
    sizes = {
        tuple(a.shape)[d]
        for a, d in zip(args, in_dims, strict=True)
        if isinstance(a, Tensor) and isinstance(d, int) and -len(a.shape) <= d < len(a.shape)
    }
    if len(sizes) > 1:
        raise ValueError(
            f"vmap: the numbers of examples differ: {sorted(sizes)}; give all inputs the same "
            "number, or write None in in_dims for what is the same for all"
        )


def _returning(func: Callable[..., Any]) -> Callable[..., Any]:
    inner = lowered(func)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = inner(*args, **kwargs)
        for leaf in flatten(result)[0]:
            if type(leaf) is not Native:
                raise ValueError(
                    f"vmap: the function must return tensors, and it returned {type(leaf).__name__}"
                )
        return result

    return call


put(("func.vmap", "vmap"), vmap)


@_offered
def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers."""
    given = _merged(parameter_and_buffer_dicts)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Any]:
    """Return one dict of several, which have no name in common."""
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence) or isinstance(dicts, str):
        raise ValueError(
            f"functional_call: got a {type(dicts).__name__}; give a dictionary of parameters and "
            "buffers, or a tuple of dictionaries"
        )
    found: dict[str, Any] = {}
    for each in dicts:
        if not isinstance(each, Mapping):
            raise ValueError(
                f"functional_call: {each!r:.50} is no dictionary; give one, of tensors"
            )
        twice = [name for name in each if name in found]
        if twice:
            raise ValueError(f"functional_call: {', '.join(twice)} is given twice")
        found.update(each)
    return found


class _Place:
    """A name of a module that a tensor is put at, and brought back."""

    def __init__(self, module: Any, path: str) -> None:
        above, _, self.name = path.rpartition(".")
        part = module.get_submodule(above)
        self.names = part.__dict__
        for kind in (part._parameters, part._buffers):
            if self.name in kind:
                self.names = kind
        self.was = self.names.get(self.name, self)

    def put(self, value: Any) -> None:
        """Put a tensor there."""
        if not (value is None or isinstance(value, Tensor)):
            raise TypeError(f"functional_call: {value!r:.50} was given; give a tensor")
        self.names[self.name] = value

    def bring_back(self) -> None:
        """Put there what was."""
        if self.was is self:
            self.names.pop(self.name, None)
        else:
            self.names[self.name] = self.was


@contextlib.contextmanager
def _replaced(module: Any, given: dict[str, Any], tie: bool, strict: bool) -> Iterator[None]:
    tensors = {
        name: value
        for each in (module.named_parameters, module.named_buffers)
        for name, value in each(remove_duplicate=False)
    }
    chosen = _tied(given, tensors) if tie else dict(given)
    if strict:
        unknown = [name for name in chosen if name not in tensors]
        missing = [name for name in tensors if name not in chosen]
        if unknown or missing:
            raise RuntimeError(
                f"functional_call: with strict=True give each name once; unknown: "
                f"{', '.join(unknown)}; not given: {', '.join(missing)}"
            )
    places: list[_Place] = []
    try:
        for name, value in chosen.items():
            places.append(_Place(module, name))
            places[-1].put(value)
        yield
    finally:
        for place in reversed(places):
            place.bring_back()


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


@_offered
def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of modules of one kind, stacked."""
    if not models:
        raise RuntimeError("stack_module_state: got no modules; give one at least")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: call train() or eval() on all modules")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: give modules of one class")
    return (
        _stacked([dict(m.named_parameters()) for m in models]),
        _stacked([dict(m.named_buffers()) for m in models]),
    )


def _stacked(each: list[dict[str, Any]]) -> dict[str, Any]:
    found = {}
    for name in each[0]:
        tensors = [one[name] for one in each]
        learns = {t.requires_grad for t in tensors}
        if len(learns) > 1:
            raise RuntimeError(f"set requires_grad of {name} alike in all modules")
        stack = outward(ns.stack([convert(t.detach()) for t in tensors]))
        found[name] = stack.requires_grad_(learns.pop())
    return found
