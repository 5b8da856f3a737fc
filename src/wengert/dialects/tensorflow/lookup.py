"""tf.lookup: tables from keys to values, which are plain data without a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.errors import FailedPreconditionError, invalid
from wengert.dialects.tensorflow.hashing import fingerprint
from wengert.dialects.tensorflow.strings import read
from wengert.dialects.tensorflow.table import plain
from wengert.dialects.tensorflow.tensors import data_of, is_tensor, made

_UNSAVED = "a checkpoint does not hold it"


def _array(value: Any, dtype: Any) -> np.ndarray:
    """Return values as an array of a dtype; tensors of another one are a ValueError."""
    found: np.ndarray = data_of(value, dtype)._raw
    if dtypes.of_numpy(found.dtype) != dtype:
        name = dtypes.of_numpy(found.dtype).name
        raise ValueError(f"got a tensor of {name} where {dtype.name} is expected; write tf.cast")
    return found


# -- where the contents of a table come from -------------------------------------------------------


@plain("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer:
    """Keys and their values, as two tensors."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
        name: Any = None,
    ) -> None:  # fmt: skip
        wanted = [dtype and dtypes.any_dtype(dtype) for dtype in (key_dtype, value_dtype)]
        self._keys, self._values = data_of(keys, wanted[0])._raw, data_of(values, wanted[1])._raw
        self._key_dtype = dtypes.of_numpy(self._keys.dtype)
        self._value_dtype = dtypes.of_numpy(self._values.dtype)

    @property
    def key_dtype(self) -> Any:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> Any:
        """The dtype of values."""
        return self._value_dtype

    def initialize(self, table: Any) -> None:
        """Put the contents into a table."""
        table.fill(self._keys, self._values)


@plain("lookup.TextFileIndex")
class TextFileIndex:
    """What of a line is a key or a value, if it is no column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@plain("lookup.TextFileInitializer")
class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values from the lines of a file, or from columns in them."""

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: Any = None,
        value_index_offset: int = 0,
    ) -> None:  # fmt: skip
        self._key_dtype = dtypes.any_dtype(key_dtype)
        self._value_dtype = dtypes.any_dtype(value_dtype)
        given = ("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype)
        for name, index, dtype in given:
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"{name}_dtype is {dtype!r}; expected tf.int64: numbers of lines")
            if index == TextFileIndex.WHOLE_LINE and dtype not in (dtypes.int64, dtypes.string):
                raise ValueError(f"{name}_dtype is {dtype!r}; expected tf.string or tf.int64")
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"{name}_index is {index}; expected -2 or more")
        self._file, self._columns = filename, (key_index, value_index)
        self._size, self._delimiter, self._offset = vocab_size, delimiter, value_index_offset

    def initialize(self, table: Any) -> None:
        """Put the contents of the file into a table."""
        lines = read(self._file).split(b"\n")
        lines = (lines[:-1] if lines[-1] == b"" else lines)[: self._size]
        if self._size is not None and len(lines) < self._size:
            raise invalid(f"{self._file!r} has {len(lines)} lines, and vocab_size is {self._size}")
        kinds = self._key_dtype, self._value_dtype
        found = []
        for offset, index, dtype in zip((0, self._offset), self._columns, kinds, strict=True):
            cells = [self._cell(n, line, index, dtype) for n, line in enumerate(lines)]
            if offset and index == TextFileIndex.LINE_NUMBER:
                cells = [n + offset for n in cells]
            found.append(np.array(cells, dtype._numpy))
        table.fill(*found)

    def _cell(self, number: int, line: bytes, index: int, dtype: Any) -> Any:
        """Return a key or a value of one line."""
        if index == TextFileIndex.LINE_NUMBER:
            return number
        parts = (
            [line] if index == TextFileIndex.WHOLE_LINE else line.split(self._delimiter.encode())
        )
        where = f"{self._file!r}, line {number + 1}"
        if not line or max(index, 0) >= len(parts):
            raise invalid(f"{where}: {line!r:.60} has no column {index}; is it a blank line?")
        text = parts[max(index, 0)]
        try:
            return text if dtype == dtypes.string else dtype.as_numpy_dtype(text.decode())
        except ValueError:
            raise invalid(f"{where}: {text!r:.60} is no number of {dtype.name}") from None


# -- tables ----------------------------------------------------------------------------------------


class Table:
    """What tables have in common: a dict from Python's values to rows of NumPy's."""

    name: Any = None

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any) -> None:
        self.key_dtype, self.value_dtype = (
            dtypes.any_dtype(key_dtype),
            dtypes.any_dtype(value_dtype),
        )
        self._default = _array(default_value, self.value_dtype)
        self._rows: dict[Any, Any] = {}

    def _read_keys(self, keys: Any) -> np.ndarray:
        if is_tensor(keys) and keys.dtype != self.key_dtype:
            raise TypeError(
                f"keys are of {keys.dtype.name}, and the table's of {self.key_dtype.name}; "
                "write tf.cast"
            )
        return _array(keys, self.key_dtype)

    def _found(self, keys: np.ndarray, default: Any) -> np.ndarray:
        """Return the values of some keys; `default` gives those of others, by position."""
        rows, kind = self._rows, self.value_dtype._numpy
        found = np.empty((keys.size, *self._default.shape), kind)
        for place, key in enumerate(keys.ravel().tolist()):
            found[place] = rows[key] if key in rows else default(place)
        return found.reshape(keys.shape + self._default.shape)

    def lookup(self, keys: Any, name: Any = None) -> Any:
        """Return the values of some keys, and the default value of others."""
        return made(self._found(self._read_keys(keys), lambda place: self._default[()]))

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: Any = None) -> Any:
        """Return the number of keys."""
        return made(np.asarray(len(self._rows), np.int64))

    def export(self, name: Any = None) -> tuple[Any, Any]:
        """Return all keys, and their values."""
        keys = np.array(list(self._rows), self.key_dtype._numpy)
        return made(keys), made(self._found(keys, None))

    def _pairs(self, keys: np.ndarray, values: np.ndarray) -> Any:
        """Return keys with their values, whose shapes must fit."""
        if values.shape != keys.shape + self._default.shape:
            raise invalid(
                f"keys of shape {keys.shape} and values of shape {values.shape}; expected values "
                f"of shape {keys.shape + self._default.shape}"
            )
        rows = values.reshape(keys.size, *self._default.shape)
        return zip(keys.ravel().tolist(), rows, strict=True)


@plain("lookup.StaticHashTable", differs="export gives keys in their order")
class StaticHashTable(Table):
    """A table whose contents are given once."""

    def __init__(
        self, initializer: Any, default_value: Any, name: Any = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value)
        if self._default.ndim:
            raise ValueError(f"default_value has shape {self._default.shape}; give one value")
        self._filled = False
        initializer.initialize(self)

    @property
    def default_value(self) -> Any:
        """What keys that are not in the table have."""
        return made(self._default)

    def fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Take keys and values; a key must not have two."""
        for key, value in self._pairs(keys, values):
            if self._rows.setdefault(key, value) != value:
                raise FailedPreconditionError(None, None, f"the key {key!r} has two values")
        self._filled = True

    def lookup(self, keys: Any, name: Any = None) -> Any:
        """Return the values of some keys, and the default value of others."""
        if not self._filled:
            raise FailedPreconditionError(None, None, "the table was not given any contents")
        return super().lookup(keys)


@plain("lookup.StaticVocabularyTable")
class StaticVocabularyTable:
    """A table from a vocabulary to numbers, with further numbers for what is not in it."""

    name: Any = None

    def __init__(
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None,
        name: Any = None, experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError(
                f"num_oov_buckets is {num_oov_buckets}; write tf.lookup.StaticHashTable"
            )
        self._buckets = num_oov_buckets
        self._table = None if initializer is None else StaticHashTable(initializer, -1)
        if self._table is not None and self._table.value_dtype != dtypes.int64:
            raise TypeError(f"values are of {self._table.value_dtype.name}; expected int64")
        within = dtypes.string if self._table is None else self._table.key_dtype
        self.key_dtype = dtypes.any_dtype(lookup_key_dtype or within)
        if (self.key_dtype == dtypes.string) != (within == dtypes.string):
            raise TypeError(f"keys are of {within.name}, and lookup_key_dtype is not")
        self.value_dtype = dtypes.int64

    def lookup(self, keys: Any, name: Any = None) -> Any:
        """Return the numbers of some keys; those of others follow the vocabulary, by their hash."""
        if is_tensor(keys) and keys.dtype != self.key_dtype:
            raise TypeError(f"keys are of {keys.dtype.name}; expected {self.key_dtype.name}")
        rows = {} if self._table is None else self._table._rows
        given = _array(keys, self.key_dtype)
        found = np.empty(given.shape, np.int64)
        for place, key in np.ndenumerate(given):
            text = key if type(key) is bytes else str(key).encode()
            found[place] = rows.get(key, len(rows) + fingerprint(text) % self._buckets)
        return made(found)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: Any = None) -> Any:
        """Return the size of the vocabulary, and of what follows it."""
        within = 0 if self._table is None else len(self._table._rows)
        return made(np.asarray(within + self._buckets, np.int64))


@plain(
    "lookup.experimental.MutableHashTable", differs=f"export gives keys in their order; {_UNSAVED}"
)
class MutableHashTable(Table):
    """A table that can be changed; values may have axes of their own."""

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any,
        name: str = "MutableHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value)
        self.name = name

    def lookup(  # type: ignore[override]
        self, keys: Any, dynamic_default_values: Any = None, name: Any = None
    ) -> Any:
        """Return the values of some keys; those of others are the default, or are given here."""
        if dynamic_default_values is None:
            return super().lookup(keys)
        given = self._read_keys(keys)
        others = _array(dynamic_default_values, self.value_dtype)
        if others.shape != self._default.shape:
            others = np.array([value for _, value in self._pairs(given, others)])
        else:
            others = np.broadcast_to(others, (given.size, *others.shape))
        return made(self._found(given, others.__getitem__))

    def insert(self, keys: Any, values: Any, name: Any = None) -> None:
        """Give some keys values."""
        given = _array(keys, self.key_dtype), _array(values, self.value_dtype)
        for key, value in self._pairs(*given):
            self._rows[key] = np.array(value) if np.ndim(value) else value

    def remove(self, keys: Any, name: Any = None) -> None:
        """Take keys out of the table; it is no error if some are not in it."""
        for key in self._read_keys(keys).ravel().tolist():
            self._rows.pop(key, None)
