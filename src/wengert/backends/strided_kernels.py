"""Kernels for a library that is NumPy on other memory, as CuPy is.

`kernels(module)` and `neural(module)` take that library. With NumPy itself as the library they
compute what `numpy_kernels` and `numpy_neural` compute, which is how they are tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.backends.numpy_windows import Geometry, Ints, frame_of
from wengert.backends.taps import Taps


def common(m: Any) -> dict[str, Callable[..., Any]]:
    """Return those of the kernels that only call functions which have NumPy's names."""

    def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
        options = {"constant_values": constant_values} if mode == "constant" else {}
        return m.pad(x, pad_width, mode=mode, **options)

    return {
        "cumulative_prod": lambda x, axis: m.cumprod(x, axis=axis, dtype=x.dtype),
        "cumulative_sum": lambda x, axis: m.cumsum(x, axis=axis, dtype=x.dtype),
        "diagonal": lambda x, *, offset=0, axis1=0, axis2=1: m.diagonal(x, offset, axis1, axis2),
        "keep": lambda x, mask: m.where(mask, x, x.dtype.type(0)),
        "pad": pad,
    }


def kernels(m: Any, at: Mapping[str, Callable[..., None]]) -> dict[str, Callable[..., Any]]:
    """Return the kernels of `numpy_kernels`.

    ``at["add"](x, key, values)`` adds to x, also repeatedly; "max", "min" and "multiply" do
    likewise, where the library has them.
    """
    add_at, shared = at["add"], common(m)

    def on_device(key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(m.asarray(part) if isinstance(part, np.ndarray) else part for part in key)
        return m.asarray(key) if isinstance(key, np.ndarray) else key

    def embed(values: Any, shape: Ints, key: Any) -> Any:
        out = m.zeros(shape, values.dtype)
        out[key] = values
        return out

    def put(x: Any, values: Any, key: Any) -> Any:
        out = m.array(x, order="C")
        out[on_device(key)] = values
        return out

    def put_by(change: Callable[..., None]) -> Callable[..., Any]:
        def kernel(x: Any, values: Any, key: Any) -> Any:
            out = m.array(x, order="C")
            change(out, on_device(key), values)
            return out

        return kernel

    def scatter(values: Any, shape: Ints, key: Any) -> Any:
        out = m.zeros(shape, values.dtype)
        add_at(out, on_device(key), values)
        return out

    def scatter_flat(values: Any, shape: Ints, positions: Any) -> Any:
        length = math.prod(shape)
        places, values = m.asarray(positions).reshape(-1), values.reshape(-1)
        out = m.zeros(length + 1, values.dtype)  # one more, for what is dropped
        add_at(out, (m.where(places < 0, length, places),), values)
        return out[:length].reshape(shape)

    def gather_flat(x: Any, shape: Ints, positions: Any) -> Any:
        places = m.asarray(positions)
        flat = x.reshape(-1) if x.size else m.zeros(1, x.dtype)
        return shared["keep"](flat[m.maximum(places, 0)], places >= 0).reshape(shape)

    return {
        **shared,
        "copy": lambda x: m.array(x),
        "einsum": lambda subscripts, *operands: m.einsum(
            subscripts, *operands, optimize=len(operands) > 1
        ),
        "embed": embed,
        "gather_flat": gather_flat,
        "index": lambda x, key: x[on_device(key)],
        "put": put,
        **{f"put_{name}": put_by(change) for name, change in at.items()},
        "scatter": scatter,
        "scatter_flat": scatter_flat,
    }


def extreme_at(m: Any, change: Callable[..., None], nan: int) -> Callable[..., None]:
    """Return ``(x, key, values)``, which has x become the larger or the smaller of both at a key.

    `change` does that exactly for unsigned integers, of which CuPy's does so for floats only to
    seven digits. `nan` is the integer, of all its bits or of none, that wins.
    """

    def at(x: Any, key: Any, values: Any) -> None:
        if x.dtype.kind != "f":
            return change(x, key, values)
        kind = np.dtype(f"u{x.dtype.itemsize}").type
        sign = kind(1 << 8 * x.dtype.itemsize - 1)

        def ordered(floats: Any) -> Any:
            bits = floats.view(kind)
            turned = m.where((bits & sign) != 0, ~bits, bits | sign)
            return m.where(m.isnan(floats), kind(nan % 2 ** (8 * x.dtype.itemsize)), turned)

        integers = ordered(x)
        change(integers, key, ordered(m.asarray(values, x.dtype)))
        bits = m.where((integers & sign) != 0, integers ^ sign, ~integers)
        x[...] = bits.view(x.dtype)
        return None

    return at


def neural(m: Any) -> dict[str, Callable[..., Any]]:
    """Return the kernels of windows: convolutions by products, pooling tap by tap."""
    taps = Taps(
        m,
        lambda shape, number, dtype, like: m.full(shape, number, dtype),
        lambda value, like, dtype=None: m.asarray(value, dtype),
    )

    def windows(x: Any, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
        """Return the windows of x as a view (..., *kernel, *size) of a frame with 0 outside."""
        lead = x.ndim - len(kernel)
        extent, inner, outer = frame_of(x.shape[lead:], kernel, size, geometry)
        frame = m.zeros((*x.shape[:lead], *extent), x.dtype)
        frame[(..., *outer)] = x[(..., *inner)]
        steps = frame.strides[lead:]
        strides = [
            *(step * d for step, d in zip(steps, geometry.dilation, strict=True)),
            *(step * s for step, s in zip(steps, geometry.stride, strict=True)),
        ]
        return m.lib.stride_tricks.as_strided(
            frame, (*x.shape[:lead], *kernel, *size), (*frame.strides[:lead], *strides)
        )

    def unfold(x: Any, *, kernel: Ints, size: Ints, geometry: Geometry) -> Any:
        if 0 in size:
            return m.zeros((*x.shape[:2], *kernel, *size), x.dtype)
        return m.array(windows(x, kernel, size, geometry))

    def columns(x: Any, kernel: Ints, size: Ints, geometry: Geometry, groups: int) -> Any:
        """Return windows as matrices (batch, groups, taps, places)."""
        laid = unfold(x, kernel=kernel, size=size, geometry=geometry)
        taps = x.shape[1] // groups * math.prod(kernel)
        return laid.reshape(x.shape[0], groups, taps, math.prod(size))

    def convolve(
        x: Any, w: Any, bias: Any = None, *, size: Ints, geometry: Geometry, groups: int
    ) -> Any:
        by_group = w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))
        z = m.matmul(by_group, columns(x, w.shape[2:], size, geometry, groups))
        z = z.reshape(x.shape[0], w.shape[0], *size)
        return z if bias is None else z + bias.reshape(-1, *(1 for _ in size))

    def convolve_weight(x: Any, z: Any, *, size: Ints, geometry: Geometry, groups: int) -> Any:
        given = columns(x, size, z.shape[2:], geometry, groups)
        asked = z.reshape(z.shape[0], groups, z.shape[1] // groups, math.prod(z.shape[2:]))
        total = m.matmul(asked, given.swapaxes(-1, -2)).sum(axis=0)
        return total.reshape(z.shape[1], x.shape[1] // groups, *size)

    def convolve_input(z: Any, w: Any, *, size: Ints, geometry: Geometry, groups: int) -> Any:
        kernel, places = w.shape[2:], z.shape[2:]
        by_group = w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:])).swapaxes(-1, -2)
        asked = z.reshape(z.shape[0], groups, z.shape[1] // groups, math.prod(z.shape[2:]))
        laid = m.matmul(by_group, asked)
        laid = laid.reshape(z.shape[0], groups * w.shape[1], *kernel, *places)
        return taps.fold_windows(laid, size=size, geometry=geometry)

    return {
        **taps.kernels(), "convolve": convolve, "convolve_input": convolve_input,
        "convolve_weight": convolve_weight, "unfold_windows": unfold,
    }  # fmt: skip
