"""What the functions of torch.nn.functional share: checks, and how one is offered."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind, Quick
from wengert.dialects.torch.axes import misfit as misfit
from wengert.dialects.torch.axes import type_name
from wengert.dialects.torch.kinds import READERS, read_tensor, tensor
from wengert.dialects.torch.memory import change
from wengert.dialects.torch.modes import GRAD, current
from wengert.dialects.torch.table import as_is, guarded, put
from wengert.dialects.torch.tensors import Native, Tensor, camel, static
from wengert.ops.batching import constant

Ints = tuple[int, ...]


def refuse_gradient(x: Native, at: Argument | str) -> Native:
    """Return a tensor as a constant; raise if gradients are wanted, which PyTorch has not got."""
    if x._node is not None and GRAD in x._node.tokens and GRAD in current():
        raise RuntimeError(
            f"{at} has no derivative, and the one given requires a gradient; write x.detach()"
        )
    return constant(x)


def check_one_dtype(name: str, **tensors: Native | None) -> None:
    """Raise unless all tensors that are given have one dtype."""
    given = {what: x for what, x in tensors.items() if x is not None}
    if len({x._raw.dtype for x in given.values()}) > 1:
        kinds = ", ".join(f"{what} of {type_name(x)}" for what, x in given.items())
        raise RuntimeError(
            f"{name}: expected tensors of one type, got {kinds}; convert one, as y.to(x.dtype)"
        )


def wrong(message: str) -> Exception:
    """Return the ValueError that PyTorch's Python functions raise, which goes out as it is."""
    return as_is(ValueError(message))


def number(value: Any) -> Any:
    """Return a Python number, which may be given as a tensor."""
    return value if type(value) is float or type(value) is int else static(value)


def lengths(value: Any, count: int, name: str, what: str) -> Ints:
    """Return a number, or one for each of some axes, as a tuple of such."""
    found = READERS.integers(value, Argument(name, what))
    if len(found) not in (1, count):
        raise misfit(name, f"a whole number, or {count} of them", **{what: value})
    return found * (count // len(found))


# -- kinds -----------------------------------------------------------------------------------------


def _read_alike(values: Any, at: tuple[Argument, ...], x: Any) -> list[Native | None]:
    given = [None if v is None else read_tensor(v, a) for v, a in zip(values, at, strict=True)]
    kind = given[0]._raw.dtype  # type: ignore[union-attr]
    for v in given:
        if v is not None and v._raw.dtype is not kind:
            check_one_dtype(at[0].function, **{a.name: v for a, v in zip(at, given, strict=True)})
            break
    return given


def _read_constant(value: Any, at: Argument, x: Any) -> Native:
    return refuse_gradient(read_tensor(value, at), at)


#: Tensors of floating numbers; of floating and complex ones. PyTorch has no other kernels.
Floats = Annotated[Native, tensor("f", NotImplementedError)]
Fractional = Annotated[Native, tensor("fc", NotImplementedError)]
#: Tensors that must have one dtype, where None is left out.
Alike = Annotated[Any, Kind(_read_alike, tensor=True, together=True)]
#: A tensor for which there is no gradient.
Constant = Annotated[Native, Kind(_read_constant, tensor=True)]


# -- offering --------------------------------------------------------------------------------------

F = "nn.functional."


def functional(
    *also: str, label: str = "", raises: tuple[type[Exception], ...] = (),
    quick: Quick | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Return a decorator that offers a function as torch.nn.functional.name.

    The names in `also` are dotted ones below `torch`.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        call = guarded(function, label or f"{camel(name)}Backward0", *raises, quick=quick)
        put((F + name, *also), call)
        return call

    return declare


def ranked(
    name: str, label: str, *, first: str = "", also: Ints = (), ranks: Ints = (1, 2, 3)
) -> Callable[[Callable[[int], Any]], Callable[[int], Any]]:
    """Return a decorator that offers functions for one, two and three axes of space.

    What is decorated returns the body for a number of axes, which "{}" stands for in names and
    labels. `first` is the label for one axis, and `also` has those that torch itself offers.
    """

    def declare(body_for: Callable[[int], Any]) -> Callable[[int], Any]:
        for rank in ranks:
            body, its = body_for(rank), name.format(rank)
            body.__name__ = body.__qualname__ = its
            called = first if rank == 1 and first else label.format(rank)
            put((F + its, *((its,) if rank in also else ())), guarded(body, called))
        return body_for

    return declare


_KIND = Parameter.POSITIONAL_OR_KEYWORD
_INPUT = Parameter("input", _KIND, annotation="Any")
_INPLACE = Parameter("inplace", _KIND, default=False, annotation="bool")


def activation(
    name: str, *also: str, underscored: tuple[str, ...] = (), doc: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers an activation, with an argument `inplace` after its own.

    What is decorated takes the arguments after `input`, and returns what computes the activation.
    The names in `also` are for the activation without `inplace`, and those in `underscored` for the
    one that always works in place.
    """

    def declare(choose: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
        count = choose.__code__.co_argcount

        def call(input: Any, *args: Any, inplace: bool = False, **options: Any) -> Any:
            if len(args) > count:
                *args, inplace = args  # type: ignore[assignment]
            function = choose(*args, **options)
            return change(input, function) if inplace else function(input)

        def without(input: Any, *args: Any, **options: Any) -> Any:
            return choose(*args, **options)(input)

        def changed(input: Any, *args: Any, **options: Any) -> Any:
            return change(input, choose(*args, **options))

        takes = [_INPUT, *signature(choose).parameters.values()]
        functions: Any = ((call, name), (without, name), (changed, f"{name}_"))
        for function, its in functions:
            function.__name__ = function.__qualname__ = its
            function.__doc__ = doc or choose.__doc__
            function.__signature__ = Signature([*takes, _INPLACE] if function is call else takes)
        put((F + name,), call)
        put(also, without)
        put(underscored, changed)
        return without

    return declare


def is_batched(input: Any) -> bool:
    """Return whether a tensor differs between the examples of a vmap, so that it has no values."""
    raw = input._raw if isinstance(input, (Tensor, Native)) else input
    return type(raw) is not np.ndarray
