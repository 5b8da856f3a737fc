"""Arrays of many examples that a function sees as one: what `vmap` computes with.

Inside of `vmap` a tensor holds a `Batched` raw array: a tensor with one more axis, the first,
that counts examples, and that the function does not see. Each operation knows what to call on
tensors with that axis (`Op.batch`). There are two records, one on either side: tapes that were
opened inside write nodes of the shapes the function sees, and tapes that were opened outside
write nodes of the operations on all examples. So derivatives of any order nest with `vmap` in
any order, and a sweep inside is itself computed for all examples at once.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from wengert import backends
from wengert.engine.node import NOBODY, Tokens, active, meet
from wengert.engine.tensor import Tensor, wrap


class Level:
    """One `vmap` that runs: the number of examples, and the tapes that were open around it.

    `randomness` says what drawing a random number gives: one for all examples ("same"), one for
    each ("different"), or an error.
    """

    __slots__ = ("randomness", "size", "tapes", "units")

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness
        #: an array whose rows are some of those of the unit matrix, and which: those of a Jacobian
        self.units: tuple[Any, range] | None = None
        self.tapes: Tokens = active.get()


#: The levels that are open in this thread or async task, the innermost last.
levels: ContextVar[tuple[Level, ...]] = ContextVar("wengert_levels", default=())


@contextlib.contextmanager
def opened(size: int, randomness: str = "same") -> Iterator[Level]:
    """Return a context in which a level is open."""
    level = Level(size, randomness)
    before = levels.get()
    levels.set((*before, level))
    try:
        yield level
    finally:
        levels.set(before)


class outside:
    """A context for operations on all examples of a level: that and those within are not there.

    Each operation inside of `vmap` opens one, and a class opens faster than a generator.
    """

    __slots__ = ("before", "level", "recording")

    def __init__(self, level: Level) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, self.recording = levels.get(), active.get()
        levels.set(self.before[: self.before.index(self.level)])
        active.set(meet(self.recording, self.level.tapes) or NOBODY)

    def __exit__(self, *error: object) -> None:
        levels.set(self.before)
        active.set(self.recording)


class Batched:
    """A raw array: one for each example of a level, in a tensor whose first axis counts them."""

    __slots__ = ("level", "values")
    __array_ufunc__ = None

    def __init__(self, level: Level, values: Tensor) -> None:
        self.level = level
        self.values = values

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis of one example."""
        return self.values.shape[1:]

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of axes of one example."""
        return self.values.ndim - 1

    @property
    def device(self) -> Any:
        """Where the values are."""
        return self.values.device

    def __wengert_namespace__(self) -> Any:
        return _namespace(plain_namespace(self.values._raw))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError(
            f"inside of vmap a tensor of shape {self.shape} stands for {self.level.size} examples "
            "and has no single value: it cannot become a NumPy array or a Python number, decide an "
            "`if`, or be a mask that selects elements. Write wg.where(condition, a, b) for a "
            "choice, and return what is wanted as a number"
        )

    def __repr__(self) -> str:
        return f"<{self.level.size} examples: {self.values!r}>"


def plain_namespace(raw: Any) -> Any:
    """Return the namespace of the library that computes a raw array, batched or not."""
    while type(raw) is Batched:
        raw = raw.values._raw
    return backends.namespace_of(raw)


def is_traced(raw: Any) -> bool:
    """Whether a raw array, batched or not, stands for what a compiled program will compute."""
    while type(raw) is Batched:
        raw = raw.values._raw
    control = backends.namespace_of(raw).control
    return control is not None and control.is_traced(raw)


class _Namespace:
    """Functions of batched raw arrays, by way of tensors; of others, those of their library."""

    writable = False
    immutable = True

    def __init__(self, inner: Any, extension: str = "") -> None:
        self.inner = inner
        self.extension = extension
        self.name = "" if extension else inner.name

    def __getattr__(self, name: str) -> Any:
        own = getattr(self.inner, name)
        if isinstance(own, types.ModuleType):  # xp.nn, xp.linalg
            return _namespace(own, name)
        if not callable(own) or isinstance(own, type):
            return own

        @functools.wraps(own)
        def function(*args: Any, **options: Any) -> Any:
            if not any(map(_is_batched, args)):
                return own(*args, **options)
            if name.endswith("_like"):  # zeros and such are the same for all examples
                options["dtype"] = options.get("dtype") or args[0].dtype
                make = getattr(self.inner, name.removesuffix("_like"))
                return make(args[0].shape, *args[1:], **options)
            ours = Tensor._namespace
            ours = getattr(ours, self.extension) if self.extension else ours
            return _raw(getattr(ours, name)(*map(_tensor, args), **options))

        setattr(self, name, function)
        return function


_namespace = functools.cache(_Namespace)


def _is_batched(value: Any) -> bool:
    return type(value) is Batched or (type(value) is list and any(map(_is_batched, value)))


def _tensor(value: Any) -> Any:
    if type(value) is list:
        return [*map(_tensor, value)]
    is_array = hasattr(value, "shape") and not isinstance(value, type)  # np.float32 has it, too
    return wrap(value) if is_array else value


def _raw(value: Any) -> Any:
    return value._raw if type(value) is Tensor else value


def _by_tensor(name: str) -> Callable[..., Any]:
    def operator(*args: Any) -> Any:
        return _raw(getattr(wrap(args[0]), name)(*map(_tensor, args[1:])))

    return operator


for _name in (
    "__and__", "__or__", "__invert__", "__add__", "__sub__", "__mul__", "__ne__", "__getitem__",
):  # fmt: skip
    setattr(Batched, _name, _by_tensor(_name))
# NumPy's masks come first in some sums, and leave the answer to these
for _name, _other in (("__rand__", "__and__"), ("__ror__", "__or__")):
    setattr(Batched, _name, _by_tensor(_other))


def highest(raws: Any, params: Any) -> Level | None:
    """Return the innermost level that an operation's arrays or parameters belong to."""
    found, there = None, levels.get()
    for raw in (*raws, *parts(params)) if params else raws:
        if type(raw) is Batched and raw.level is not found:
            if raw.level not in there:
                raise TypeError(
                    "a tensor from inside of vmap was used after its function returned; return it "
                    "from the function, to have it for all examples"
                )
            if found is None or there.index(raw.level) > there.index(found):
                found = raw.level
    return found


def parts(params: Any) -> Iterator[Any]:
    """Yield what parameters hold: themselves, and the parts of tuples such as index keys."""
    values = params.values() if type(params) is dict else params
    for value in values:
        if type(value) is tuple:
            yield from parts(value)
        else:
            yield value


def substituted(params: Any, change: Callable[[Any], Any]) -> Any:
    """Return parameters with `change` made to every batched array in them."""
    if type(params) is dict:
        return {name: substituted(value, change) for name, value in params.items()}
    if type(params) is tuple:
        return tuple(substituted(value, change) for value in params)
    return change(params) if type(params) is Batched else params
