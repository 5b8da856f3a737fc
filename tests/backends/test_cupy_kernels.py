"""CuPy's kernels of each element, with NumPy's arrays and a reader of C in CuPy's place."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wengert.backends.cupy_kernels import functions, launched
from wengert.backends.namespace import FUNCTIONS

HERE, ELSEWHERE = 0, 1


class Array:
    """What kernels look at of one of CuPy's arrays, and a NumPy array of its values."""

    _c_contiguous: bool

    def __init__(self, shape: Any, dtype: Any) -> None:
        self._hold(np.full(shape, 1, dtype))

    def _hold(self, values: np.ndarray, device: int = HERE) -> Array:
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.size, self._c_contiguous = values.size, values.flags.c_contiguous
        self.data = SimpleNamespace(device_id=device)
        return self


Array._c_contiguous = False  # the class has it, as CuPy's


def array(values: Any, dtype: Any = "f8", device: int = HERE) -> Array:
    return object.__new__(Array)._hold(np.asarray(values, dtype), device)


class Kernel:
    """A kernel that is read as Python: values of elements, and an expression."""

    launches = 0

    def __init__(self, code: str, name: str) -> None:
        assert f"void {name}(" in code
        (kind,) = re.findall(r"typedef (\w+) T;", code)
        self.dtype = {"double": np.dtype("f8"), "float": np.dtype("f4")}[kind]
        self.arguments = re.findall(r"const T (\w+) = _\1\[(\w+)\];", code)
        (self.text,) = re.findall(r"_result\[_i\] = (.*);", code)
        self.kernel = self

    def linear_launch(self, count: int, given: tuple[Any, ...]) -> None:
        *arrays, result, total = given
        assert count == total == result.size > 0
        names: dict[str, Any] = {name: getattr(np, name) for name in FUNCTIONS}
        for (name, place), x in zip(self.arguments, arrays, strict=True):
            assert x.dtype == self.dtype and x.values.flags.c_contiguous
            assert x.size == (count if place == "_i" else 1)
            names[name] = x.values
        result.values[...] = eval(self.text, {"T": self.dtype.type, **names})
        Kernel.launches += 1


def library(devices: int = 1) -> Any:
    """Return what stands for CuPy; its own functions say that they were called."""
    names = ("add", "subtract", "multiply", "divide", "negative", *FUNCTIONS)
    runtime = SimpleNamespace(getDevice=lambda: HERE, getDeviceCount=lambda: devices)
    return SimpleNamespace(
        ndarray=Array,
        RawKernel=Kernel,
        cuda=SimpleNamespace(runtime=runtime, function=SimpleNamespace(CIntptr=int)),
        **{name: lambda *arrays, name=name: ("CuPy's", name) for name in names},
    )


OWN = functions(library())


def launches(function: Any, *arrays: Array) -> tuple[Any, int]:
    before = Kernel.launches
    return function(*arrays), Kernel.launches - before


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["negative", *FUNCTIONS])
def test_functions_of_one_array_are_one_launch(name: str, dtype: str) -> None:
    for shape in [(2, 3), (), (1,)]:
        x = np.linspace(0.2, 0.9, int(np.prod(shape))).reshape(shape).astype(dtype)
        y, count = launches(getattr(OWN, name), array(x, dtype))
        assert count == 1 and y.shape == shape and y.dtype == dtype
        np.testing.assert_array_equal(y.values, getattr(np, name)(x))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("shapes", [[(2, 3)] * 2, [(2, 3), ()], [(), (2, 3)], [(), ()]], ids=str)
def test_functions_of_two_arrays_are_one_launch(name: str, dtype: str, shapes: Any) -> None:
    a, b = (np.full(shape, n, dtype) for n, shape in zip((3, 7), shapes, strict=True))
    y, count = launches(getattr(OWN, name), array(a, dtype), array(b, dtype))
    assert count == 1 and y.dtype == dtype
    np.testing.assert_array_equal(y.values, getattr(np, name)(a, b))


WHOLE = array(np.ones((2, 3)))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shapes", [[(2, 3)] * 2, [(2, 3), ()], [(), ()], [(0, 2)] * 2], ids=str)
def test_a_sum_that_grows_is_written_into_its_first_array(dtype: str, shapes: Any) -> None:
    a, b = (np.full(shape, n, dtype) for n, shape in zip((3, 7), shapes, strict=True))
    into = array(a.copy(), dtype)
    y, count = launches(OWN.grow, into, array(b, dtype))
    assert y is into and count == min(a.size, 1)
    np.testing.assert_array_equal(y.values, a + b)


def test_other_sums_grow_by_python() -> None:
    for arrays in [(array(np.ones((3, 2)).T), WHOLE), (array(1.0), WHOLE)]:
        with pytest.raises(TypeError, match=r"\+="):  # which what stands for an array has not
            OWN.grow(*arrays)


@pytest.mark.parametrize(
    "arrays",
    [
        [WHOLE, array(np.ones(3))],
        [array(np.ones((1, 3))), WHOLE],
        [WHOLE, array(np.ones((2, 3)), "f4")],
        [array(np.ones(3), "f2"), array(np.ones(3), "f2")],
        [array(np.ones(3), "i8"), array(np.ones(3), "i8")],
        [array(np.ones(3), "c16"), array(np.ones(3), "c16")],
        [array(np.ones((3, 2)).T), WHOLE],
        [WHOLE, array(np.ones((2, 6))[:, ::2])],
    ],
)
def test_other_arrays_are_cupys_to_compute(arrays: list[Array]) -> None:
    assert launches(OWN.add, *arrays) == (("CuPy's", "add"), 0)


def test_arrays_of_another_device_are_cupys_to_compute() -> None:
    there, add = array(np.ones((2, 3)), device=ELSEWHERE), functions(library(devices=2)).add
    assert launches(add, WHOLE, WHOLE)[1] == 1
    for arrays in [(WHOLE, there), (there, WHOLE), (there, there)]:
        assert launches(add, *arrays) == (("CuPy's", "add"), 0)


def test_no_elements_are_no_launch() -> None:
    y, count = launches(OWN.multiply, array(np.ones((0, 3))), array(2.0))
    assert count == 0 and y.shape == (0, 3)
    assert launches(OWN.sin, array(np.ones(0)))[0].shape == (0,)


def test_a_rule_may_have_an_argument_of_any_name() -> None:
    rule = launched(library(), "rule", ("g", "y"), "(g * (T(1.0) - (y * y)))", lambda *_: None)
    g, y = np.array([2.0, 3.0]), np.array([0.5, 0.25])
    part, count = launches(rule, array(g), array(y))
    assert count == 1
    np.testing.assert_array_equal(part.values, g * (1 - y * y))


def test_what_lies_in_one_piece_may_have_its_public_name_only() -> None:
    class Public(Array):
        def __init__(self, values: Any) -> None:
            self._hold(np.asarray(values, "f8"))
            self.flags = self.values.flags

    plain = library()
    plain.ndarray = type("Plain", (), {"__init__": Array.__init__, "_hold": Array._hold})
    add = launched(plain, "sum", ("x1", "x2"), "x1 + x2", lambda *_: "CuPy's")
    assert add(Public([1.0, 2.0]), Public([3.0, 4.0])).values.tolist() == [4.0, 6.0]
    assert add(Public([1.0, 2.0]), Public(np.ones(4)[::2])) == "CuPy's"
