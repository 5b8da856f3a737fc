"""Pickles of plain data: containers, numbers, texts, and calls of functions on a list.

Python's own reader calls whatever a file names, and trusts the sizes that it says. The reader here
knows the opcodes that PyTorch's files of weights are made of, calls the functions that it is given
and no others, and holds no more than a file can fill. The writer is Python's own.
"""

from __future__ import annotations

import functools
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from pickle import PicklingError, UnpicklingError
from typing import Any, NamedTuple

# -- what is neither a container nor a number ------------------------------------------------------


class Name(NamedTuple):
    """A module and a name in it."""

    module: str
    name: str

    def __call__(self) -> Any:
        """Raise: a file names what is called when it is read, which need not be here."""
        raise PicklingError(f"{self.module}.{self.name} is only named")


#: The same object each time, so that a file says it once.
name_of = functools.cache(Name)


class Call(NamedTuple):
    """A function of a list, and its arguments."""

    function: Name
    args: tuple[Any, ...]


class Stored(NamedTuple):
    """What is held outside of the pickle, by its description."""

    description: tuple[Any, ...]


def _plain(value: Any) -> Any:
    """Return a value of Python's that has no opcode as a call; None for another value."""
    kind = type(value)
    if kind is OrderedDict:  # its attributes are those of a state_dict
        function = name_of("collections", "OrderedDict")
        return function, (), vars(value) or None, None, iter(value.items())
    if kind is complex:
        return Call(name_of("__builtin__", "complex"), (value.real, value.imag))
    if kind is set:
        return Call(name_of("__builtin__", "set"), (list(value),))
    if kind is bytes:
        return Call(name_of("_codecs", "encode"), (value.decode("latin1"), "latin1"))
    if kind is bytearray:
        return Call(name_of("__builtin__", "bytearray"), (bytes(value),))
    if kind is Counter:
        return Call(name_of("collections", "Counter"), (dict(value),))
    return None


def _check_keys(keys: Iterable[Any], most: int) -> None:
    """Raise if `Reader` would not take keys of a dict, or the elements of a set."""
    for key in keys:
        cost = _key_cost(key)
        if cost is None or cost > most:
            raise PicklingError(
                f"{key!r:.60} is a key of a dict or in a set; only texts and numbers are saved "
                "there, and in dicts tuples of them"
            )


# -- writing ---------------------------------------------------------------------------------------


#: What has opcodes, of which Python's own writer uses those that the reader knows.
_WITH_OPCODES = {type(None), bool, int, float, str, tuple, list, dict}


class Writer(pickle._Pickler):
    """Writes a value to a file.

    Parameters
    ----------
    file
        An open file.
    describe
        Takes a value that is not Python's own. Returns a `Name`, a `Call` or `Stored`.
    """

    def __init__(self, file: Any, describe: Callable[[Any], Any]) -> None:
        super().__init__(file, 2)
        self._describe = describe

    def persistent_id(self, value: Any) -> Any:
        """Return the description of what is held outside of the pickle."""
        return value.description if type(value) is Stored else None

    def reducer_override(self, value: Any) -> Any:
        """Return how a value is written: as a name, or as a call."""
        kind = type(value)
        if kind in (dict, OrderedDict, set):
            _check_keys(value, 0 if kind is set else _TUPLE_KEY_COST)
        if kind is int and value.bit_length() >= 255 * 8:
            raise ValueError("a whole number of more than 255 bytes is not saved; write str(x)")
        if kind in _WITH_OPCODES:
            return NotImplemented
        known = kind in (Name, Call)
        found = value if known else _plain(value) or self._describe(value)
        return "\n".join(found) if type(found) is Name else found

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a name, of what need not be here."""
        self.write(f"c{name}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]


# -- reading ---------------------------------------------------------------------------------------


class Function:
    """What a pickle may call, with what a call costs: about as many objects as it makes."""

    def __init__(self, call: Callable[..., Any], cost: int = 1) -> None:
        self.call, self.cost = call, cost


def _empty() -> OrderedDict[Any, Any]:
    return OrderedDict()


def _encoded(text: str, coding: str) -> bytes:
    if type(text) is not str or type(coding) is not str or coding != "latin1":
        raise UnpicklingError("bytes are of a text in latin1")
    return text.encode("latin1")


def _complex(real: float, imag: float) -> complex:
    if type(real) is not float or type(imag) is not float:
        raise UnpicklingError("the parts of a complex number are not floating numbers")
    return complex(real, imag)


def _of(given: type, made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that makes something of a value of one class and takes no other."""

    def make(value: Any) -> Any:
        if type(value) is not given:
            raise UnpicklingError(f"a {type(value).__name__} was found, not a {given.__name__}")
        return made(value)

    return make


def _set(values: list[Any]) -> set[Any]:
    if any(_key_cost(value) != 0 for value in values):
        raise UnpicklingError("a set holds more than texts and numbers")
    return set(values)


#: What a pickle may always call.
_PLAIN = {
    "collections.OrderedDict": Function(_empty, 2),
    "collections.Counter": Function(_of(dict, Counter), 2),
    "_codecs.encode": Function(_encoded),
    "builtins.complex": Function(_complex),
    "builtins.set": Function(_of(list, _set), 2),
    "builtins.bytearray": Function(_of(bytes, bytearray)),
}
_ATOMS = (str, float, bool, bytes, type(None))
#: How many objects a file may make: containers, results of calls. About 200,000 tensors.
_MOST = 2**21
_TUPLE_KEY_COST = 256


def _key_cost(key: Any) -> int | None:
    """Return what a key of a dict costs; None for one that may take long to look up."""
    if type(key) is tuple and len(key) <= 16:
        return _TUPLE_KEY_COST if all(_key_cost(part) == 0 for part in key) else None
    if type(key) is int:
        return 0 if abs(key) < 2**64 else None
    return 0 if type(key) in _ATOMS else None


class Reader:
    """Reads a value.

    Parameters
    ----------
    data
        The pickle.
    named
        Takes a name with its module. Returns a value or a `Function`; None for other names.
    stored
        Takes the description of what is held outside of the pickle. Returns that.
    """

    def __init__(
        self, data: bytes, named: Callable[[str], Any], stored: Callable[[Any], Any]
    ) -> None:
        self._data, self._named, self._stored = data, named, stored
        self._at, self._left = 0, _MOST
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # what is under each mark
        self._known: dict[int, Any] = {}

    def read(self) -> Any:
        """Return the value; raise `UnpicklingError` for whatever is none."""
        try:
            if self._take(2) != b"\x80\x02":
                raise UnpicklingError("it is no pickle of protocol 2, which PyTorch writes")
            while (code := self._take(1)) != b".":
                self._step(code)
            return self._stack.pop()
        except UnpicklingError:
            raise
        except (
            IndexError,
            KeyError,
            TypeError,
            ValueError,
            OverflowError,
            AttributeError,
        ) as error:
            raise UnpicklingError(f"the pickle is damaged at byte {self._at}: {error}") from None

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise UnpicklingError(f"the pickle ends at byte {len(self._data)}, too early")
        found, self._at = self._data[self._at : end], end
        return found

    def _line(self) -> str:
        end = self._data.index(b"\n", self._at)
        return self._take(end + 1 - self._at)[:-1].decode()

    def _number(self, layout: str) -> Any:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _marked(self) -> list[Any]:
        found, self._stack = self._stack, self._below.pop()
        return found

    def _spend(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise UnpicklingError(f"the pickle makes more than {_MOST} objects")

    def _step(self, code: bytes) -> None:
        stack = self._stack
        if code in _CONSTANTS:
            stack.append(_CONSTANTS[code])
        elif code in _NUMBERS:
            stack.append(self._number(_NUMBERS[code]))
        elif code == b"\x8a":
            stack.append(int.from_bytes(self._take(self._number("B")), "little", signed=True))
        elif code == b"X":
            stack.append(self._take(self._number("<I")).decode("utf-8", "surrogatepass"))
        elif code in b"qr":
            self._known[self._number("B" if code == b"q" else "<I")] = stack[-1]
        elif code in b"hj":
            stack.append(self._known[self._number("B" if code == b"h" else "<I")])
        elif code == b"c":
            stack.append(self._global(f"{self._line()}.{self._line()}"))
        else:
            self._spend(1)
            self._make(code)

    def _global(self, name: str) -> Any:
        name = name.replace("__builtin__.", "builtins.")
        found = _PLAIN.get(name) or self._named(name)
        if found is None:
            raise UnpicklingError(
                f"the file asks for {name:.80}, and loading calls nothing but what tensors and "
                "containers are made of; save a state_dict() and plain values"
            )
        return found

    def _make(self, code: bytes) -> None:
        """Do the step of an opcode that makes or fills an object."""
        stack = self._stack
        if code == b"(":
            self._below.append(stack)
            self._stack = []
        elif code in b"]}":
            stack.append([] if code == b"]" else {})
        elif code in b"\x85\x86\x87":
            count = code[0] - 0x84
            parts = tuple(stack[-count:])
            if len(parts) < count:
                raise IndexError("a tuple lacks values")
            stack[-count:] = [parts]
        elif code == b"t":
            parts = tuple(self._marked())
            self._stack.append(parts)
        elif code in b"ae":
            values = [stack.pop()] if code == b"a" else self._marked()
            self._filled(self._stack[-1], list).extend(values)
        elif code in b"su":
            values = [stack.pop() for _ in "kv"][::-1] if code == b"s" else self._marked()
            self._set_items(self._filled(self._stack[-1], dict, OrderedDict), values)
        elif code == b"Q":
            stack.append(self._stored(stack.pop()))
        elif code == b"R":
            args, function = stack.pop(), stack.pop()
            stack.append(self._called(function, args))
        elif code == b"b":
            state, made = stack.pop(), stack[-1]
            if (
                type(made) is not OrderedDict
                or type(state) is not dict
                or [*state] != ["_metadata"]
            ):
                raise UnpicklingError(f"the file gives a {type(made).__name__} other attributes")
            made._metadata = state["_metadata"]  # type: ignore[attr-defined]
        else:
            raise UnpicklingError(f"opcode {code!r} is not of PyTorch's files of weights")

    def _filled(self, container: Any, *kinds: type) -> Any:
        if type(container) not in kinds:
            raise UnpicklingError(f"values are put into a {type(container).__name__}")
        return container

    def _set_items(self, container: Any, values: list[Any]) -> None:
        for key, value in zip(values[::2], values[1::2], strict=True):
            cost = _key_cost(key)
            if cost is None:
                raise UnpicklingError(f"a {type(key).__name__} is a key of a dict")
            self._spend(cost)
            container[key] = value

    def _called(self, function: Any, args: Any) -> Any:
        if type(function) is not Function or type(args) is not tuple:
            raise UnpicklingError(f"the file calls a {type(function).__name__}")
        self._spend(function.cost)
        for value in args:  # of which the function may make a copy
            if isinstance(value, (str, bytes)):
                self._spend(len(value) // 256)
            elif isinstance(value, (tuple, list, dict)):
                self._spend(len(value) // 4)
        return function.call(*args)


_CONSTANTS: dict[bytes, Any] = {b"N": None, b"\x88": True, b"\x89": False, b")": ()}
_NUMBERS = {b"K": "B", b"M": "<H", b"J": "<i", b"G": ">d"}
