"""torch.testing: comparisons that raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.dialects.kernel.functions import Argument
from wengert.dialects.torch import dtypes
from wengert.dialects.torch.creation import new
from wengert.dialects.torch.devices import check_device
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.kinds import read_lengths
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
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless tensors, numbers or nests of them are almost equal."""
    if (rtol is None) != (atol is None):
        raise ValueError("one of rtol and atol was given; give both or none")
    given = None if rtol is None or atol is None else (rtol, atol)
    try:
        _compare(actual, expected, given, equal_nan, check_dtype, check_stride)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from error


def _compare(
    actual: Any, expected: Any, given: Any, equal_nan: bool, check_dtype: bool, check_stride: bool
) -> None:
    rest = (given, equal_nan, check_dtype, check_stride)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            raise AssertionError(
                f"the dictionaries have the keys {list(actual)} and {list(expected)}"
            )
        for key in actual:
            _compare(actual[key], expected[key], *rest)
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise AssertionError(f"the sequences have {len(actual)} and {len(expected)} elements")
        for one, two in zip(actual, expected, strict=True):
            _compare(one, two, *rest)
    elif actual is None and expected is None:
        pass
    elif isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        if check_dtype and type(actual) is not type(expected):
            raise AssertionError(f"the numbers are of {type(actual)} and of {type(expected)}.")
        _close(np.asarray(actual), np.asarray(expected), given, equal_nan)
    elif _is_array(actual) and _is_array(expected) and type(actual) is type(expected):
        _compare_arrays(actual, expected, *rest)
    else:
        raise TypeError(
            f"{type(actual)} and {type(expected)} are not compared; give tensors or numbers"
        )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_array(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray))


def _compare_arrays(
    actual: Any, expected: Any, given: Any, equal_nan: bool, check_dtype: bool, check_stride: bool
) -> None:
    one, two = (v._raw if isinstance(v, Tensor) else v for v in (actual, expected))
    for name, checked in (("shape", True), ("dtype", check_dtype), ("strides", check_stride)):
        mine, theirs = getattr(one, name), getattr(two, name)
        if checked and mine != theirs:
            raise AssertionError(f"the tensors differ in {name}: {mine} and {theirs}.")
    _close(one, two, given, equal_nan)


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
        apart = np.abs(one - two)
    if near.all():
        return
    apart = np.where(near, 0, np.nan_to_num(apart, nan=np.inf))
    place = tuple(int(k) for k in np.unravel_index(np.argmax(apart), apart.shape))
    raise AssertionError(
        f"{int((~near).sum())} of {near.size} elements ({(~near).mean():.1%}) differ, most by "
        f"{abs(one[place] - two[place])} at index {place}; atol={atol} and rtol={rtol} were "
        "allowed"
    )


@plain("testing.assert_allclose")
def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Raise AssertionError unless tensors are almost equal, whatever their dtypes."""
    one, two = (v if isinstance(v, Tensor) else new(np.asarray(v)) for v in (actual, expected))
    assert_close(
        one, two, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )


@plain("testing.make_tensor", differs="other random numbers")
def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a tensor of random numbers between bounds, by default from -9 to 9."""
    check_device(device)
    sizes = read_lengths(shape, Argument("make_tensor", "shape"))
    kind = dtypes.to_numpy(dtype)
    least = {"b": 0.0, "u": 0.0}.get(kind.kind, -9.0) if low is None else low
    most = {"b": 2.0, "u": 10.0, "i": 10.0}.get(kind.kind, 9.0) if high is None else high
    count = int(np.prod(sizes)) * (2 if kind.kind == "c" else 1)
    drawn = default_generator.uniform(count, np.dtype(np.float64)) * (most - least) + least
    if kind.kind == "c":
        drawn = drawn[::2] + 1j * drawn[1::2]
    raw = np.asarray(np.floor(drawn) if kind.kind in "iub" else drawn).astype(kind)
    if exclude_zero:
        raw[raw == 0] = 1
    return new(raw.reshape(sizes), device=device, requires_grad=requires_grad)
