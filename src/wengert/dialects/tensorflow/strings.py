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
from wengert.dialects.tensorflow.kinds import Array, Data, Dtype, one_of
from wengert.dialects.tensorflow.structures import flatten
from wengert.dialects.tensorflow.table import NAMES, offered, row
from wengert.dialects.tensorflow.tensors import data_of, made
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap


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


def _rows(function: Callable[[bytes], list[bytes]], input: np.ndarray) -> Any:
    """Return the parts of one string, or a ragged tensor of the parts of several."""
    if not input.ndim:
        return data_of(function(input.item()), string)
    if input.ndim > 1:
        raise value_error(f"strings of shape {input.shape}; give one string, or one axis of them")
    rows = [function(text) for text in input]
    flat = made(np.array([part for row in rows for part in row], object))
    return NAMES["RaggedTensor"].from_row_lengths(flat, [len(row) for row in rows])


_ONE_AXIS = "takes one string, or one axis of them"


@offered("strings.split", raises=(TypeError, ValueError), differs=_ONE_AXIS)
def split(input: Strings, sep: str | None = None, maxsplit: int = -1) -> Any:
    """Return the parts of each string between separators, or between spaces."""
    return _rows(lambda text: text.split(sep.encode() if sep else None, maxsplit), input)


@offered("strings.bytes_split", raises=(TypeError, ValueError), differs=_ONE_AXIS)
def bytes_split(input: Strings) -> Any:
    """Return the bytes of each string."""
    return _rows(lambda text: [text[n : n + 1] for n in range(len(text))], input)


@offered("strings.unicode_split", raises=(TypeError, ValueError), differs=_ONE_AXIS)
def unicode_split(
    input: Strings, input_encoding: Annotated[str, one_of("UTF-8")],
    errors: Annotated[str, one_of("replace", "strict", "ignore")] = "replace",
    replacement_char: int = 65533,
) -> Any:  # fmt: skip
    """Return the characters of each string."""

    def characters(text: bytes) -> list[bytes]:
        try:
            found = text.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise invalid(f"{text!r:.60} is not UTF-8: {error.reason}") from None
        return [c.replace("\ufffd", chr(replacement_char)).encode() for c in found]

    return _rows(characters, input)


@offered("strings.ngrams", raises=(TypeError, ValueError))
def ngrams(
    data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None,
    padding_width: int | None = None, preserve_short_sequences: bool = False,
) -> Any:  # fmt: skip
    """Return what some numbers of strings that follow each other are, joined, in each row."""
    widths = ngram_width if isinstance(ngram_width, (list, tuple)) else (ngram_width,)
    ends = (pad_values,) * 2 if isinstance(pad_values, (str, bytes)) else pad_values
    left, right = (data_of(end, string).item() for end in ends) if ends else (b"", b"")

    def joined(row: list[bytes]) -> list[bytes]:
        found = []
        for n in widths:
            fill = 0 if not ends else n - 1 if padding_width is None else min(padding_width, n - 1)
            parts = [left] * fill + row + [right] * fill
            starts = range(len(parts) - n + 1)
            found += [separator.encode().join(parts[s : s + n]) for s in starts]
        if row and not found and preserve_short_sequences:
            found = [separator.encode().join([left] * fill + row + [right] * fill)]
        return found

    dense = not hasattr(data, "row_splits")
    given: Any = np.asarray(data_of(data)._raw) if dense else data
    if dense and given.ndim == 1:
        return data_of(joined(given.tolist()), string)
    rows = [joined(row) for row in (given.tolist() if dense else given.to_list())]
    if dense:
        return made(np.array(rows, object).reshape(len(rows), -1))
    flat = made(np.array([part for row in rows for part in row], object))
    return type(data).from_row_lengths(flat, [len(row) for row in rows])


@offered("strings.substr", raises=(TypeError, ValueError))
def substr(input: Strings, pos: Array, len: Array, unit: str = "BYTE") -> Native:
    """Return a part of each string, by its first position and its length."""
    whole = _unit(unit)

    def part(text: bytes, first: int, count: int) -> bytes:
        given = whole(text)
        size = given.__len__()
        if not -size <= first <= size:
            raise invalid(f"pos is {first} for {text!r:.60}; expected one from {-size} to {size}")
        start = first if first >= 0 else first + size
        found = given[start : start + max(count, 0)]
        return found if isinstance(found, bytes) else found.encode()

    texts, firsts, counts = np.broadcast_arrays(input, pos, len)
    parts = zip(texts.flat, firsts.ravel().tolist(), counts.ravel().tolist(), strict=True)
    return wrap(np.array([part(*each) for each in parts], object).reshape(texts.shape))


def _unit(unit: str) -> Callable[[bytes], Any]:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise invalid(f"unit is {unit!r}; expected 'BYTE' or 'UTF8_CHAR'")
    return bytes if unit == "BYTE" else bytes.decode


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


@offered("strings.regex_full_match", raises=(TypeError, ValueError), differs=_PYTHONS)
def regex_full_match(input: Strings, pattern: Any) -> Native:
    """Return whether a pattern matches each string as a whole."""
    found = _pattern(pattern)
    return each(lambda text: found.fullmatch(text) is not None, input, np.bool_)


@offered("strings.length")
def length(input: Strings, unit: str = "BYTE") -> Native:
    """Return the number of bytes, or of characters, of each string."""
    whole = _unit(unit)
    return each(lambda text: len(whole(text)), input, np.int32)


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
