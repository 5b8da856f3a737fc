"""Functions of each element of CuPy's arrays, as kernels that are launched at once.

CuPy's own functions take arrays of any shapes, strides and dtypes, and look at them for longer than
a launch takes. Here are kernels for arrays of one real dtype that lie in memory in one piece, with
one shape or without axes. All other arrays go to CuPy's function.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.backends.namespace import FUNCTIONS

#: Further functions of the standard, as expressions of C.
_OPERATORS = {
    "add": ("x1", "x2", "x1 + x2"),
    "subtract": ("x1", "x2", "x1 - x2"),
    "multiply": ("x1", "x2", "x1 * x2"),
    "divide": ("x1", "x2", "x1 / x2"),
    "negative": ("x", "-x"),
}
#: A sum that is written into its first operand.
_GROW = ("x1", "x2"), "x1 + x2"
_TYPES = {np.dtype("float64"): "double", np.dtype("float32"): "float"}


def functions(m: Any) -> SimpleNamespace:
    """Return functions of the standard by name; `m` is CuPy, or what a test has in its place."""
    texts = _OPERATORS | {name: ("x", f"{name}(x)") for name in FUNCTIONS}
    found = SimpleNamespace()
    for name, (*arguments, text) in texts.items():
        setattr(found, name, launched(m, f"{name}_of_all", arguments, text, getattr(m, name)))
    found.grow = launched(m, "grow", *_GROW, operator.iadd, in_place=True)
    return found


def launched(
    m: Any,
    name: str,
    arguments: Sequence[str],
    text: str,
    otherwise: Callable[..., Any],
    in_place: bool = False,
) -> Callable[..., Any]:
    """Return a function of each element by an expression of C; `otherwise` takes other arrays.

    The function is written for its arguments. A kernel is compiled when it is first called. If
    `in_place`, the result is written into the first argument, whose shape it has.
    """
    kernels = {
        (dtype, *whole): m.RawKernel(_source(name, arguments, whole, text, kind), name)
        for dtype, kind in _TYPES.items()
        for whole in product((True, False), repeat=len(arguments))
        if any(whole)
    }
    first, *others = arguments
    given = ", ".join(arguments)
    # a private name of CuPy's, since `flags` makes an object with each look
    flat = "_c_contiguous" if hasattr(m.ndarray, "_c_contiguous") else "flags.c_contiguous"
    conditions = [f"{x}.dtype is _dtype" for x in others]
    conditions += [f"((_all_{x} := _{x} == _shape) or not _{x})" for x in arguments]
    conditions += [f"{x}.{flat}" for x in arguments]
    if m.cuda.runtime.getDeviceCount() > 1:
        conditions += [f"{x}.data.device_id == _current()" for x in arguments]
    source = f"""def call({given}):
    _dtype = {first}.dtype
    {", ".join(f"_{x}" for x in arguments)} = {", ".join(f"{x}.shape" for x in arguments)}
    _shape = {f"_{first}" if in_place else " or ".join(f"_{x}" for x in arguments)}
    if {" and ".join(conditions)}:
        _kernel = _kernels.get((_dtype, {", ".join(f"_all_{x}" for x in arguments)}))
        if _kernel is not None:
            _result = {first if in_place else "_new(_shape, _dtype)"}
            _count = _result.size
            if _count:
                _kernel.kernel.linear_launch(_count, ({given}, _result, _integer(_count)))
            return _result
    return _otherwise({given})
"""
    known = {
        "_kernels": kernels, "_new": m.ndarray, "_otherwise": otherwise,
        "_current": m.cuda.runtime.getDevice,
        # what CuPy makes of an integer otherwise takes it longer than an array
        "_integer": getattr(m.cuda.function, "CIntptr", int),
    }  # fmt: skip
    exec(source, known)
    call: Callable[..., Any] = known["call"]
    return call


def _source(
    name: str, arguments: Sequence[str], whole: Sequence[bool], text: str, kind: str
) -> str:
    """Return a kernel's source; what is not whole has no axes, and is the same for all elements."""
    given = ", ".join(f"const T* _{x}" for x in arguments)
    values = " ".join(
        f"const T {x} = _{x}[{'_i' if is_whole else '0'}];"
        for x, is_whole in zip(arguments, whole, strict=True)
    )
    return f"""typedef {kind} T;
extern "C" __global__ void {name}({given}, T* _result, long long _count) {{
    const long long _first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long _step = (long long)gridDim.x * blockDim.x;
    for (long long _i = _first; _i < _count; _i += _step) {{
        {values}
        _result[_i] = {text};
    }}
}}
"""
