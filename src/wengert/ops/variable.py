"""Variable: a named place whose value changes between steps, and which tapes watch when read."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Batched
from wengert.engine.node import Token, active, watch, watching
from wengert.engine.op import leaf
from wengert.engine.operand import Operand
from wengert.engine.record import lift
from wengert.engine.tensor import CONVERSIONS, Tensor, wrap
from wengert.errors import DtypeError, NoGradientError, ShapeError
from wengert.ops.gates import Structural

#: The operation of a variable's node, whose value tensors must not be assigned to behind its back.
VARIABLE = Structural("variable", (), lambda xp: None, ())


class Variable(Operand):
    """A value that can be assigned to; every operation reads its current value.

    Examples
    --------
    >>> import wengert as wg
    >>> w = wg.Variable([1.0, 2.0], name="w")
    >>> with wg.GradientTape() as tape:
    ...     loss = wg.sum(w * w)
    >>> w.assign_sub(0.5 * tape.gradient(loss, w))
    Variable('w', [0., 0.], dtype=float64)
    """

    __slots__ = ("__weakref__", "_leaf", "_value", "name", "trainable")
    __hash__ = object.__hash__

    def __init__(
        self, value: Any, trainable: bool = True, dtype: Any = None, name: str | None = None
    ) -> None:
        if not isinstance(trainable, bool):
            raise TypeError(
                f"Variable: trainable is {trainable!r}; for a name write name={trainable!r}"
            )
        self.trainable = trainable
        self.name = name or "variable"
        raw = _owned_raw(value)
        if dtype is not None:
            raw = _in_dtype(raw, dtype, self.name)
        self._leaf = leaf(tuple(raw.shape), raw.dtype)
        self._leaf.op = VARIABLE
        self._value = self._holding(raw)

    def _holding(self, raw: Any) -> Tensor:
        return wrap(raw, self._leaf if backends.is_inexact(raw.dtype) else None)

    def __wengert_tensor__(self) -> Tensor:
        recording = active.get()
        if recording and self._leaf.tokens is not recording:
            for token in recording - self._leaf.tokens:
                if token.watches_read and self.trainable and backends.is_inexact(self._value.dtype):
                    self._watched_by(token)
        return self._value

    def _watched_by(self, token: Token) -> None:
        """Have a tape record what is computed from this variable."""
        token.variables.setdefault(id(self), self)
        watch(self._leaf, token)

    def value(self) -> Tensor:
        """Return the current value as a Tensor; to a tape, this is a read."""
        return self.__wengert_tensor__()

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis, which assignment keeps."""
        return self._value.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the value, which assignment keeps."""
        return self._value.dtype

    def numpy(self) -> np.ndarray:
        """Return the current values as a NumPy array that cannot be written to."""
        return self._value.numpy()

    def _no_gradient(self, what: str) -> NoGradientError:
        """Return the error for a gradient that is None, with why it is, if that is known."""
        return NoGradientError(
            f"{what}: got None for variable {self.name!r}, which has no numbers to compute with"
            f"{self._why_none()}"
        )

    def _why_none(self) -> str:
        """Return why the last gradient by this variable was None; `explain.why` sets it."""
        return ""

    def assign(self, value: Any) -> Variable:
        """Replace the value. Derivatives do not follow it: the old value's history ends here."""
        if value is None:
            raise self._no_gradient("assign")
        raw = _owned_raw(value)
        if tuple(raw.shape) != self._value.shape:
            raise ShapeError(
                f"assign: variable {self.name!r} has shape {self.shape}, the value {raw.shape}; "
                "write wg.Variable(value) for one of another shape"
            )
        self._value = self._holding(_in_dtype(raw, self._value.dtype, self.name))
        if (watcher := watching.get()) is not None and type(value) is Tensor:
            watcher.noted("assign", self._value, value)
        return self

    def _is_sole_owner(self) -> bool:
        """Whether nothing but the variable refers to its array, so that it could be written to."""
        raw = self._value._raw
        if type(raw) is not np.ndarray or not raw.flags.owndata:  # others may see its memory
            return False
        del raw
        return _references(self._value) <= _ALONE

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta` to the value."""
        if delta is None:
            raise self._no_gradient("assign_add")
        return self.assign(wrap(self._value._raw + _raw(delta)))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta` from the value."""
        if delta is None:
            raise self._no_gradient("assign_sub")
        return self.assign(wrap(self._value._raw - _raw(delta)))

    def __setitem__(self, key: Any, value: Any) -> None:
        raw = self._value._raw
        xp = backends.namespace_of(raw)
        key = tuple(map(_raw, key)) if isinstance(key, tuple) else _raw(key)
        value = _in_dtype(_owned_raw(value), self._value.dtype, self.name)
        self._value = self._holding(xp.put(raw, value, key))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Variable' object has no attribute {name!r}")
        return getattr(self.value(), name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._value._raw, self.trainable, None, self.name)

    def __repr__(self) -> str:
        values = repr(self._value).removeprefix("Tensor(").removesuffix(")")
        return f"Variable({self.name!r}, {values})"


def _read_first(name: str) -> Any:
    return lambda self, *args, **options: getattr(self.value(), name)(*args, **options)


for _name in CONVERSIONS:
    setattr(Variable, _name, _read_first(_name))


def _references(tensor: Tensor) -> int:
    """Return how many references there are to the raw array, and to the tensor that holds it."""
    return sys.getrefcount(tensor._raw) + sys.getrefcount(tensor)


def _raw(value: Any) -> Any:
    if type(value) is Tensor:
        return value._raw
    return value._value._raw if isinstance(value, Variable) else value


def _in_dtype(raw: Any, dtype: Any, name: str) -> Any:
    if backends.loses(raw.dtype, dtype):
        raise DtypeError(
            f"variable {name!r} of {dtype} cannot hold values of {raw.dtype}; write "
            "wg.astype(value, dtype) if what is lost does not matter"
        )
    return raw if raw.dtype == dtype else backends.namespace_of(raw).astype(raw, dtype)


def _owned_raw(value: Any) -> Any:
    """Return the raw array of a value, copied if somebody else could write to it."""
    if type(getattr(value, "_raw", None)) is Batched:
        raise TypeError(
            "a variable cannot hold a tensor from inside of vmap, which has a value for each "
            "example; return it from the function, and assign what is made of all examples"
        )
    if type(value) is Tensor or isinstance(value, Variable):
        return _raw(value)
    lifted = lift(value, "Variable")
    return lifted._raw if type(lifted) is Tensor else np.asarray(lifted)


_probe = Variable(0.0)
#: What `_references` says where the variable is the only one to refer to its value.
_ALONE = _references(_probe._value)
