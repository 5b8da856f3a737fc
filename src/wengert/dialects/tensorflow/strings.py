"""Functions of strings, which are plain data without a derivative, and whole files as strings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.tensorflow.debugging import tensor_text
from wengert.dialects.tensorflow.dtypes import string
from wengert.dialects.tensorflow.errors import NotFoundError, invalid, type_error, value_error
from wengert.dialects.tensorflow.kinds import Data, Dtype, one_of
from wengert.dialects.tensorflow.structures import flatten
from wengert.dialects.tensorflow.table import absent, offered, row
from wengert.dialects.tensorflow.tensors import data_of
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap

absent(
    {
        "substr": "tf.constant(text.numpy()[start : start + length])",
        "regex_full_match": "[re.fullmatch(pattern, text) is not None for text in x.numpy()]",
        "to_hash_bucket_strong": "tf.strings.to_hash_bucket_fast(x, n); in Keras, without salt",
        **dict.fromkeys(("unicode_split", "bytes_split"), "list(text.numpy().decode())"),
        "ngrams": "[b' '.join(words[i : i + n]) for i in range(len(words) - n + 1)]",
    },
    "strings.",
)


def _read_strings(value: Any, at: Argument, x: Any = None) -> np.ndarray:
    found: np.ndarray = data_of(value)._raw
    if found.dtype.kind not in "OS":
        raise invalid(f"{at} is of {found.dtype.name}; give strings, or tf.strings.as_string(x)")
    return found


#: Strings, as NumPy's array of bytes.
Strings = Annotated[np.ndarray, Kind(_read_strings)]


def each(function: Callable[[Any], Any], values: np.ndarray, dtype: Any = object) -> Native:
    """Return a function of each element."""
    found = np.empty(values.shape, dtype)
    for place, value in np.ndenumerate(values):
        found[place] = function(value)
    return wrap(found)


# -- strings of strings ----------------------------------------------------------------------------


@offered("strings.join", raises=(TypeError, ValueError))
def join(inputs: Any, separator: str = "") -> Native:
    """Return strings one after the other; one alone goes with each of an array."""
    parts = [data_of(part, string)._raw for part in inputs]
    if not parts:
        raise ValueError("strings.join: inputs is empty; give at least one string")
    shape = next((part.shape for part in parts if part.ndim), ())
    if any(part.shape not in ((), shape) for part in parts):
        raise invalid(f"shapes {[part.shape for part in parts]}; expected one, or () for some")
    rows = zip(*(np.broadcast_to(part, shape).flat for part in parts), strict=True)
    joined = [separator.encode().join(texts) for texts in rows]
    return wrap(np.array(joined, object).reshape(shape))


def _in_case(name: str) -> None:
    """Offer tf.strings.lower or upper."""

    @offered(f"strings.{name}", doc=f"Return strings in {name} case: the letters of ASCII, or all.")
    def changed(input: Strings, encoding: Annotated[str, one_of("", "utf-8")] = "") -> Native:
        if encoding:
            return each(lambda text: getattr(text.decode(), name)().encode(), input)
        return each(lambda text: getattr(text, name)(), input)


_in_case("lower")
_in_case("upper")
row(
    "strings.strip", lambda input: each(bytes.strip, input),
    "strings without the space around them", input=Strings,
)  # fmt: skip


@offered("strings.split", raises=(TypeError, ValueError), differs="takes one string")
def split(input: Strings, sep: str | None = None, maxsplit: int = -1) -> Any:
    """Return the parts of a string between separators, or between spaces."""
    if input.ndim:
        raise value_error(
            f"strings of shape {input.shape}; give one string: the parts of several are rows of "
            "several lengths, so write [tf.strings.split(s) for s in strings]"
        )
    return data_of(input.item().split(sep.encode() if sep else None, maxsplit), string)


def _pattern(pattern: Any) -> re.Pattern[bytes]:
    text = data_of(pattern, string).item()
    try:
        return re.compile(text)
    except re.error as error:
        raise invalid(f"{text!r:.80} is no regular expression: {error}") from None


_PYTHONS = "patterns are Python's"


@offered("strings.regex_replace", raises=(TypeError, ValueError), differs=_PYTHONS)
def regex_replace(
    input: Strings, pattern: Any, rewrite: Any, replace_global: bool = True
) -> Native:
    """Return strings in which what matches a pattern is replaced, everywhere or once."""
    found = _pattern(pattern)
    new = data_of(rewrite, string).item().replace(b"\\0", b"\\g<0>")
    return each(lambda text: found.sub(new, text, 0 if replace_global else 1), input)


@offered("strings.length")
def length(input: Strings, unit: str = "BYTE") -> Native:
    """Return the number of bytes, or of characters, of each string."""
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise invalid(f"unit is {unit!r}; expected 'BYTE' or 'UTF8_CHAR'")
    return each(lambda text: len(text if unit == "BYTE" else text.decode()), input, np.int32)


# -- numbers ---------------------------------------------------------------------------------------


@offered("strings.as_string", "as_string", raises=(TypeError, ValueError))
def as_string(
    input: Data, precision: int = -1, scientific: bool = False, shortest: bool = False,
    width: int = -1, fill: str = "",
) -> Native:  # fmt: skip
    """Return numbers and booleans as strings."""
    kind = backends.kind_of(input.dtype)
    if kind in "OS":
        return input
    if scientific and shortest:
        raise invalid("scientific and shortest are both True; give one of them")
    if kind not in "fc" and (scientific or shortest or precision >= 0):
        raise invalid(f"precision, scientific and shortest are for floats, not {input.dtype.name}")
    start = f"%{fill}{width if width >= 0 else ''}"
    letter = "e" if scientific else "g" if shortest else "f"
    form = f"{start}{f'.{precision}' if precision >= 0 else ''}{letter}" if kind in "fc" else ""

    def text(value: Any) -> bytes:
        if kind == "b":
            return (f"{start}s" % str(bool(value)).lower()).encode()
        if kind == "c":
            return f"({form % value.real},{form % value.imag})".encode()
        return ((form or f"{start}d") % value).encode()

    return each(text, np.asarray(input._raw))


_NUMBER = re.compile(rb"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.IGNORECASE)
_NAMED = re.compile(rb"\s*[+-]?(inf|infinity|nan)\s*", re.IGNORECASE)


@offered("strings.to_number", raises=(TypeError,))
def to_number(input: Strings, out_type: Dtype = np.float32) -> Native:
    """Return the numbers that strings spell."""
    whole = out_type.kind in "iu"

    def number(text: bytes) -> Any:
        if not (_NUMBER.fullmatch(text) or (_NAMED.fullmatch(text) and not whole)):
            raise invalid(f"{text!r:.60} is no number")
        try:
            return out_type.type(text.strip().decode())
        except (ValueError, OverflowError):
            raise invalid(f"{text!r:.60} is no number of {out_type.name}") from None

    return each(number, input, out_type)


@offered("strings.format", raises=(TypeError, ValueError))
def format_(template: Any, inputs: Any, placeholder: str = "{}", summarize: int = 3) -> Native:
    """Return a template whose placeholders are replaced by tensors, as tf.print writes them."""
    values = flatten(inputs)
    pieces = str(template).split(placeholder)
    if len(pieces) != len(values) + 1:
        raise value_error(
            f"the template has {len(pieces) - 1} placeholders {placeholder!r}, and there are "
            f"{len(values)} values; give as many"
        )
    texts = [tensor_text(np.asarray(data_of(v)._raw), summarize, quoted=True) for v in values]
    whole = pieces[0] + "".join(t + p for t, p in zip(texts, pieces[1:], strict=True))
    return data_of(whole)


# -- files -----------------------------------------------------------------------------------------


def _path(value: Any) -> str:
    found = data_of(value)._raw
    if found.dtype.kind not in "OS" or found.ndim:
        raise type_error(f"got {value!r:.80}; expected the name of a file, as one string")
    return os.fsdecode(found[()])


def read(filename: Any) -> bytes:
    """Return what a file holds; one that is not there is a NotFoundError."""
    path = _path(filename)
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise NotFoundError(None, None, f"there is no file {path!r}") from None


row("io.read_file", lambda name: data_of(read(name)), "a file's bytes as one string",
    filename=Annotated[Any, Kind(lambda value, *_: value)])  # fmt: skip


@offered("io.write_file", raises=(TypeError, OSError))
def write_file(filename: Any, contents: Strings) -> None:
    """Write one string to a file, whose folder is made if need be; return None."""
    path = _path(filename)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(contents.item())
