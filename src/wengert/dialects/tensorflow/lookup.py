"""tf.lookup: tables from keys to values, which are plain data without a derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.dialects.tensorflow import dtypes
from wengert.dialects.tensorflow.errors import FailedPreconditionError, invalid
from wengert.dialects.tensorflow.strings import read
from wengert.dialects.tensorflow.table import absent, plain
from wengert.dialects.tensorflow.tensors import data_of, is_tensor, made

_UNSAVED = "a checkpoint does not hold it"
absent(
    {
        "StaticVocabularyTable": "tf.lookup.StaticHashTable, with one number for all other keys",
        "experimental.DenseHashTable": "tf.lookup.experimental.MutableHashTable",
    },
    "lookup.",
)


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


@plain("lookup.TextFileInitializer", differs="takes whole lines and their numbers, no columns")
class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values from a file: its lines, and their numbers."""

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: Any = None,
        value_index_offset: int = 0,
    ) -> None:  # fmt: skip
        self._key_dtype = dtypes.any_dtype(key_dtype)
        self._value_dtype = dtypes.any_dtype(value_dtype)
        given = ("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype)
        for name, index, dtype in given:
            if index not in (TextFileIndex.LINE_NUMBER, TextFileIndex.WHOLE_LINE):
                raise ValueError(
                    f"{name}_index is {index}; expected TextFileIndex.WHOLE_LINE or LINE_NUMBER: "
                    "of columns, write tf.lookup.KeyValueTensorInitializer(keys, values)"
                )
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"{name}_dtype is {dtype!r}; expected tf.int64: numbers of lines")
            if dtype not in (dtypes.int64, dtypes.string):
                raise ValueError(f"{name}_dtype is {dtype!r}; expected tf.string or tf.int64")
        self._file, self._indices = filename, (key_index, value_index)
        self._size, self._offset = vocab_size, value_index_offset

    def initialize(self, table: Any) -> None:
        """Put the contents of the file into a table."""
        lines = read(self._file).split(b"\n")
        lines = (lines[:-1] if lines[-1] == b"" else lines)[: self._size]
        if self._size is not None and len(lines) < self._size:
            raise invalid(f"{self._file!r} has {len(lines)} lines, and vocab_size is {self._size}")
        kinds = self._key_dtype, self._value_dtype
        found = []
        for offset, index, dtype in zip((0, self._offset), self._indices, kinds, strict=True):
            whole = index == TextFileIndex.WHOLE_LINE
            numbers = range(offset, offset + len(lines))
            try:
                cells = [_cell(line, dtype) for line in lines] if whole else list(numbers)
            except ValueError as error:
                raise invalid(f"{self._file!r}: {error}") from None
            found.append(np.array(cells, dtype._numpy))
        table.fill(*found)


def _cell(line: bytes, dtype: Any) -> Any:
    """Return a line as a string or a number."""
    if not line:
        raise ValueError("there is a blank line")
    return line if dtype == dtypes.string else int(line)


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

    def lookup(self, keys: Any, name: Any = None) -> Any:
        """Return the values of some keys, and the default value of others."""
        given = self._read_keys(keys)
        found = np.empty((given.size, *self._default.shape), self.value_dtype._numpy)
        for place, key in enumerate(given.ravel().tolist()):
            found[place] = self._rows.get(key, self._default[()])
        return made(found.reshape(given.shape + self._default.shape))

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: Any = None) -> Any:
        """Return the number of keys."""
        return made(np.asarray(len(self._rows), np.int64))

    def export(self, name: Any = None) -> tuple[Any, Any]:
        """Return all keys, and their values."""
        keys = np.array(list(self._rows), self.key_dtype._numpy)
        return made(keys), self.lookup(keys)

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

    def insert(self, keys: Any, values: Any, name: Any = None) -> None:
        """Give some keys values."""
        given = _array(keys, self.key_dtype), _array(values, self.value_dtype)
        for key, value in self._pairs(*given):
            self._rows[key] = np.array(value) if np.ndim(value) else value

    def remove(self, keys: Any, name: Any = None) -> None:
        """Take keys out of the table; it is no error if some are not in it."""
        for key in self._read_keys(keys).ravel().tolist():
            self._rows.pop(key, None)
