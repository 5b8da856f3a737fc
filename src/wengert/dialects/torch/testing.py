"""torch.testing: comparisons that raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.dialects.torch.table import plain
from wengert.dialects.torch.tensors import Tensor

#: Relative and absolute tolerances; whole numbers must be equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
_NUMBERS = (bool, int, float, complex)


@plain("testing.assert_close")
def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
    check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless tensors, numbers or nests of them are almost equal."""
    if (rtol is None) != (atol is None):
        raise ValueError("one of rtol and atol was given; give both or none")
    given = None if rtol is None or atol is None else (rtol, atol)
    compared = {"shape": True, "dtype": check_dtype, "strides": check_stride}

    def compare(one: Any, two: Any) -> None:
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            if one.keys() != two.keys():
                raise AssertionError(f"the dictionaries have the keys {list(one)} and {list(two)}")
            one, two = list(one.values()), [two[key] for key in one]
        if _is_sequence(one) and _is_sequence(two):
            if len(one) != len(two):
                raise AssertionError(f"the sequences have {len(one)} and {len(two)} elements")
            for parts in zip(one, two, strict=True):
                compare(*parts)
        elif isinstance(one, _NUMBERS) and isinstance(two, _NUMBERS):
            if check_dtype and type(one) is not type(two):
                raise AssertionError(f"the numbers are of {type(one)} and of {type(two)}.")
            _close(np.asarray(one), np.asarray(two), given, equal_nan)
        elif isinstance(one, (Tensor, np.ndarray)) and type(one) is type(two):
            one, two = (v._raw if isinstance(v, Tensor) else v for v in (one, two))
            for name, is_compared in compared.items():
                mine, theirs = getattr(one, name), getattr(two, name)
                if is_compared and mine != theirs:
                    raise AssertionError(f"the tensors differ in {name}: {mine} and {theirs}.")
            _close(one, two, given, equal_nan)
        elif one is not None or two is not None:
            raise TypeError(
                f"{type(one)} and {type(two)} are not compared; give tensors or numbers"
            )

    try:
        compare(actual, expected)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from error


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _close(actual: np.ndarray, expected: np.ndarray, given: Any, equal_nan: bool) -> None:
    """Raise unless two arrays are almost equal, and say where they are not."""
    both = [_TOLERANCES.get(a.dtype.name, (0.0, 0.0)) for a in (actual, expected)]
    rtol, atol = given or (max(b[0] for b in both), max(b[1] for b in both))
    wide: Any = np.complex128 if "c" in (actual.dtype.kind, expected.dtype.kind) else np.float64
    if {actual.dtype.kind, expected.dtype.kind} <= set("iub"):
        wide = np.int64
    one, two = actual.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        near = np.isclose(one, two, rtol, atol, equal_nan)
        errors = np.where(near, 0, np.nan_to_num(np.abs(one - two), nan=np.inf))
    if near.all():
        return
    index = tuple(int(k) for k in np.unravel_index(np.argmax(errors), errors.shape))
    raise AssertionError(
        f"{int((~near).sum())} of {near.size} elements ({(~near).mean():.1%}) differ, most by "
        f"{abs(one[index] - two[index])} at index {index}; atol={atol} and rtol={rtol} were "
        "allowed"
    )
