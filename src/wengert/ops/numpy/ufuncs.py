"""NumPy's ufuncs on tensors: a table from np.sin and the like to the operations they are.

A ufunc that has the name of one of our operations is that operation. The others in the table
are compositions. `METHODS` holds the table for calls, `UFUNCS`, and one for each of reduce,
accumulate and outer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched, Level, highest, levels, outside
from wengert.engine.tensor import Tensor, wrap
from wengert.errors import NoRuleError
from wengert.ops import batching
from wengert.ops.checks import array_like
from wengert.ops.namespace import PUBLIC
from wengert.ops.shapes import tensor

wg: Any = Tensor._namespace
Function = Callable[..., Any]


def by_name(*functions: Function) -> dict[str, Function]:
    """Return functions by their names without an underscore, which are NumPy's."""
    return {function.__name__.strip("_"): function for function in functions}


# -- between tensors and NumPy ----------------------------------------------------------------


def values(x: Any) -> Any:
    """Return what NumPy computes with: tensors become arrays, also those inside of lists."""
    if type(x) in (list, tuple):
        return type(x)(map(values, x))
    return tensor(x, "numpy").numpy() if is_tensor(x) else x


def is_tensor(x: Any) -> bool:
    """Return whether x is a tensor, a variable or what stands for one."""
    return type(x) is Tensor or hasattr(type(x), "__wengert_tensor__")


def is_inexact(*xs: Any) -> bool:
    """Return whether one of the arrays or numbers is floating or complex."""
    return any(
        backends.is_inexact(x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype) for x in xs
    )


def in_dtype(x: Any, dtype: Any) -> Any:
    """Return x as a tensor, in another dtype if there is one."""
    x = tensor(x, "astype")
    return x if dtype is None else wg.astype(x, np.dtype(dtype))


def floating(x: Any) -> Any:
    """Return x as a tensor, of floats where it holds integers."""
    x = tensor(x, "astype")
    return x if is_inexact(x) else wg.multiply(x, 1.0)


def double(x: Any) -> Any:
    """Return x as a tensor of float64, or of complex128."""
    x = tensor(x, "astype")
    return wg.astype(x, wg.complex128 if backends.kind_of(x.dtype) == "c" else wg.float64)


def constant(array: Any, like: Tensor) -> Tensor:
    """Return a NumPy array as a tensor of the library that `like` is computed by."""
    return wrap(array_like(np.asarray(array), like._raw))


def numpy_dtype(x: Tensor) -> Any:
    """Return the dtype of a tensor of any library as NumPy has it."""
    return x.dtype if isinstance(x.dtype, np.dtype) else batching.all_values(x._raw).dtype


def number(value: Any, like: Tensor) -> Tensor:
    """Return numbers in the dtype of `like`, if that is a floating one, and in its library."""
    dtype = numpy_dtype(like) if is_inexact(like) else None
    return constant(np.asarray(value, dtype=dtype), like)


def on_values(function: Function) -> Function:
    """Return a NumPy function for tensors whose answers are indices, counts, truths or text.

    Those have no derivative. An answer that could have one is refused, so that no value
    leaves the tape this way. Inside of vmap it is called for one example after the other, if
    its answers for all of them have one shape.
    """
    name = function.__name__

    def wrapped(answer: Any, like: Tensor) -> Any:
        if isinstance(answer, (tuple, list)):
            return type(answer)(wrapped(part, like) for part in answer)
        if not isinstance(answer, (np.ndarray, np.generic, float, complex)):
            return answer
        if is_inexact(answer):
            raise NoRuleError(
                f"np.{name}: its answer is of {np.asarray(answer).dtype}, whose derivative wengert "
                f"has no rule for; write np.{name}(x.numpy()) if none is needed"
            )
        return constant(answer, like)

    def call(*args: Any, **params: Any) -> Any:
        level = None if name in _OF_ONE_ARRAY else highest(_raws((args, params)), ())
        if level is not None:
            return _for_each(call, level, args, params)
        answer = function(*values(args), **{key: values(value) for key, value in params.items()})
        first = next(filter(is_tensor, (*args, *params.values())), 0)
        return wrapped(answer, tensor(first, name))

    return call


#: What has no answer for many examples: text, and places of which each has another number.
_OF_ONE_ARRAY = {
    "argwhere", "array2string", "array_repr", "array_str", "flatnonzero", "may_share_memory",
    "save", "savetxt", "shares_memory",
}  # fmt: skip


def _raws(x: Any) -> Any:
    """Yield the raw arrays of the tensors in nested arguments."""
    if isinstance(x, (list, tuple, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            yield from _raws(part)
    elif is_tensor(x):
        yield tensor(x, "numpy")._raw


def _for_each(function: Function, level: Level, args: Any, params: Any) -> Any:
    """Return the answers of a function of values for all examples of a level."""

    def example(x: Any, i: int) -> Any:
        if type(x) in (list, tuple):
            return type(x)(example(part, i) for part in x)
        return batching.example(x, level, i)

    with outside(level):
        answers = [
            function(*example(args, i), **{key: example(v, i) for key, v in params.items()})
            for i in range(level.size or 1)
        ]
        return _joined(answers, level)


def _joined(answers: list[Any], level: Level) -> Any:
    first = answers[0]
    if isinstance(first, (tuple, list)):
        return type(first)(_joined([*parts], level) for parts in zip(*answers, strict=True))
    if type(first) is not Tensor and all(answer == first for answer in answers):
        return first  # a dtype, or the same truth for all
    return wrap(Batched(level, wg.stack([wg.asarray(a) for a in answers])[: level.size]))


def in_line(function: Function, *xs: Any, like: Tensor | None = None) -> Tensor:
    """Return a NumPy function whose answer has no derivative, of the values of all examples.

    It must take more axes in front; several arrays broadcast. The answer is an array of the
    library of `like`, or of the first.
    """
    given = [tensor(x, "numpy") for x in xs]
    ndim = max(x.ndim for x in given)
    wide = [wg.reshape(x, (1,) * (ndim - x.ndim) + x.shape) for x in given]
    arrays = [batching.values_in_line(x._raw) for x in wide]
    answer = constant(function(*arrays), given[0] if like is None else like)
    return batching.out_of_line(answer._raw, (1,) * len(levels.get()), *arrays)


# -- compositions -----------------------------------------------------------------------------


def _of_two(function: Function) -> Function:
    """Return a function of two tensors where a number takes the dtype of the tensor beside it."""

    @wraps(function)
    def call(x1: Any, x2: Any, /) -> Any:
        if type(x1) in (int, float):
            x2 = tensor(x2, function.__name__)
            return function(number(x1, x2), x2)
        x1 = tensor(x1, function.__name__)
        return function(x1, number(x2, x1) if type(x2) in (int, float) else x2)

    return call


def _signed(y: Any, x: Any) -> Any:
    """Return -y where x is negative or -0.0, else y."""
    return wg.where(wg.signbit(x), wg.negative(y), y)


def _magnitude(x: Any) -> Any:
    """Return abs(x) whose derivative at 0 is that of x, for functions that put the sign back."""
    return _signed(x, x)


def _without_nan(function: Function) -> Function:
    @_of_two
    def call(x1: Any, x2: Any, /) -> Any:
        return wg.where(wg.isnan(x1), x2, wg.where(wg.isnan(x2), x1, function(x1, x2)))

    return call


@_of_two
def _fmod(x1: Any, x2: Any, /) -> Any:
    if not is_inexact(x1, x2):
        return on_values(np.fmod)(x1, x2)
    return _signed(wg.remainder(_magnitude(x1), _magnitude(x2)), x1)


def _modf(x: Any, /) -> tuple[Any, Any]:
    whole = wg.trunc(x)
    return wg.where(wg.isinf(x), 0.0, wg.subtract(x, whole)), whole


def _ldexp(x1: Any, x2: Any, /) -> Any:
    x1 = tensor(x1, "ldexp")
    one = np.ones((), numpy_dtype(x1))
    for part in (lambda e: e // 2, lambda e: e - e // 2):  # two steps, because 2**1074 overflows
        power = in_line(lambda e, part=part: np.ldexp(one, part(e)), x2, like=x1)
        x1 = wg.multiply(x1, power)
    return x1


def frexp(x: Any, /) -> tuple[Any, Any]:
    """Return numbers from 0.5 to 1, and the powers of 2 that they are to be multiplied with."""
    exponent = in_line(lambda v: np.frexp(v)[1], x)
    return _ldexp(x, wg.negative(exponent)), exponent


@_of_two
def _heaviside(x1: Any, x2: Any, /) -> Any:
    return wg.where(wg.equal(x1, 0), x2, wg.multiply(wg.add(wg.sign(x1), 1.0), 0.5))


@_of_two
def _logaddexp2(x1: Any, x2: Any, /) -> Any:
    ln2 = math.log(2)
    return wg.divide(wg.logaddexp(wg.multiply(x1, ln2), wg.multiply(x2, ln2)), ln2)


_COMPOSED: dict[str, Function] = {
    **by_name(_fmod, frexp, _heaviside, _ldexp, _logaddexp2, _modf),
    **dict.fromkeys(("deg2rad", "radians"), lambda x, /: wg.multiply(x, math.pi / 180)),
    **dict.fromkeys(("rad2deg", "degrees"), lambda x, /: wg.multiply(x, 180 / math.pi)),
    "cbrt": lambda x, /: _signed(wg.pow(_magnitude(x), 1 / 3), x),
    "divmod": lambda x1, x2, /: (wg.floor_divide(x1, x2), wg.remainder(x1, x2)),
    "exp2": lambda x, /: wg.pow(2.0, x),
    "fabs": lambda x, /: wg.abs(floating(x)),
    "float_power": lambda x1, x2, /: wg.pow(
        *(x if type(x) in (int, float) else double(x) for x in (x1, x2))
    ),
    "fmax": _without_nan(wg.maximum),
    "fmin": _without_nan(wg.minimum),
    "matvec": lambda x1, x2, /: wg.matmul(x1, wg.expand_dims(x2, axis=-1))[..., 0],
    "rint": wg.round,
    "vecmat": lambda x1, x2, /: wg.matmul(wg.expand_dims(wg.conj(x1), axis=-2), x2)[..., 0, :],
    **{
        name: on_values(getattr(np, name))
        for name in ("bitwise_count", "gcd", "lcm")
        if hasattr(np, name)
    },
}
#: What a call of a ufunc on tensors is. A family of ours that has the name comes first.
UFUNCS: dict[Any, Function] = {
    getattr(np, name): function
    for name, function in {**_COMPOSED, **PUBLIC}.items()
    if isinstance(getattr(np, name, None), np.ufunc)
}

# -- methods ----------------------------------------------------------------------------------


def reduction(name: str, neutral: Any, combine: Function) -> Function:
    """Return one of our reductions with NumPy's parameters `initial` and `where`.

    `neutral` is what an element left out counts as; None where only `initial` can say.
    """
    function = getattr(wg, name)

    def reduce(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        a = in_dtype(a, dtype)
        if where is not True:
            blank = initial if neutral is None else neutral
            if blank is None:
                raise ValueError(
                    f"np.{name}: where= leaves elements out; say what they are, with initial="
                )
            a = wg.where(where, a, blank)
        y = function(a, axis=axis, keepdims=bool(keepdims))
        return y if initial is None else combine(y, initial)

    return reduce


REDUCTIONS: dict[str, Function] = {
    "sum": reduction("sum", 0, wg.add),
    "prod": reduction("prod", 1, wg.multiply),
    "max": reduction("max", None, wg.maximum),
    "min": reduction("min", None, wg.minimum),
    "all": reduction("all", True, wg.logical_and),
    "any": reduction("any", False, wg.logical_or),
}
_REDUCE = {
    np.add: REDUCTIONS["sum"],
    np.multiply: REDUCTIONS["prod"],
    np.maximum: REDUCTIONS["max"],
    np.minimum: REDUCTIONS["min"],
    np.logical_and: REDUCTIONS["all"],
    np.logical_or: REDUCTIONS["any"],
}
_ACCUMULATE = {np.add: wg.cumulative_sum, np.multiply: wg.cumulative_prod}


def _outer(function: Function) -> Function:
    def outer(x1: Any, x2: Any, /) -> Any:
        x1, x2 = tensor(x1, "outer"), tensor(x2, "outer")
        return function(wg.reshape(x1, x1.shape + (1,) * x2.ndim), x2)

    return outer


#: What each method of a ufunc is: from the ufunc to a function, or nothing.
METHODS: dict[str, dict[Any, Function]] = {
    "__call__": UFUNCS,
    "reduce": {ufunc: partial(function, axis=0) for ufunc, function in _REDUCE.items()},
    "accumulate": {ufunc: partial(function, axis=0) for ufunc, function in _ACCUMULATE.items()},
    "outer": {
        ufunc: _outer(f) for ufunc, f in UFUNCS.items() if ufunc.nin == 2 and not ufunc.signature
    },
}
