"""What PyTorch calls our operations, with our parameters.

An operation that is not here is compared with JAX or with differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

Call = Callable[..., Any]


def _broadcast(*arrays: Any) -> Any:
    return torch.broadcast_tensors(*arrays)


def _same(function: Call) -> Call:
    """Return a function of arrays that are made to have one dtype."""

    def call(*arrays: Any, **params: Any) -> Any:
        return function(*_one_dtype(arrays), **params)

    return call


def _one_dtype(arrays: Any) -> list[Any]:
    complex_ones = any(a.is_complex() for a in arrays)
    return [a.to(torch.complex128) if complex_ones else a for a in arrays]


def _amax(name: str) -> Call:
    def call(x: Any, axis: Any, keepdims: bool) -> Any:
        return getattr(torch, name)(x, dim=axis, keepdim=keepdims) if axis else x.clone()

    return call


def _sum(x: Any, axis: Any, keepdims: bool) -> Any:
    return torch.sum(x, dim=axis, keepdim=keepdims) if axis else x.clone()


def _count(x: Any, axis: Any) -> int:
    return int(np.prod([x.shape[a] for a in axis]))


def _prod(x: Any, axis: Any, keepdims: bool) -> Any:
    for a in sorted((a % x.ndim for a in axis), reverse=True):
        x = torch.prod(x, dim=a, keepdim=keepdims)
    return x


def _var(x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    count = _count(x, axis)
    middle = _sum(x, axis, True) / count
    return _sum((x - middle) ** 2, axis, keepdims) / (count - correction)


def _pad(x: Any, widths: Any, mode: str, value: Any) -> Any:
    places = np.arange(x.numel()).reshape(tuple(x.shape))
    if mode == "constant":
        places = np.pad(places, widths, constant_values=-1)
    else:
        places = np.pad(places, widths, mode)
    taken = x.reshape(-1)[torch.as_tensor(np.maximum(places, 0))]
    return torch.where(torch.as_tensor(places < 0), torch.as_tensor(value, dtype=x.dtype), taken)


def _flat_places(shape: Any, key: Any) -> Any:
    places = np.arange(int(np.prod(shape))).reshape(tuple(shape))[key]
    return torch.as_tensor(np.array(places))  # a copy: PyTorch knows no negative strides


def _index(x: Any, key: Any) -> Any:
    return x.reshape(-1)[_flat_places(x.shape, key)]


def _scatter(values: Any, shape: Any, key: Any) -> Any:
    zeros = torch.zeros(int(np.prod(shape)), dtype=values.dtype)
    return zeros.index_add(0, _flat_places(shape, key).reshape(-1), values.reshape(-1)).reshape(
        tuple(shape)
    )


def _gather_flat(x: Any, shape: Any, positions: Any) -> Any:
    places = torch.as_tensor(positions)
    taken = x.reshape(-1)[places.clamp(min=0)]
    return torch.where(places < 0, torch.zeros((), dtype=x.dtype), taken).reshape(tuple(shape))


def _scatter_flat(values: Any, shape: Any, positions: Any) -> Any:
    kept = torch.as_tensor(np.flatnonzero(np.asarray(positions) >= 0))
    places = torch.as_tensor(np.asarray(positions)[np.asarray(positions) >= 0])
    zeros = torch.zeros(int(np.prod(shape)), dtype=values.dtype)
    return zeros.index_add(0, places, values.reshape(-1)[kept]).reshape(tuple(shape))


def _diagonal(x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    return torch.diagonal(x, offset, axis1, axis2)


def _at(combine: Call) -> Call:
    def call(x: Any, values: Any, key: Any, winners: Any = None) -> Any:
        return updated(x, values, key, combine)

    return call


def updated(x: Any, values: Any, key: Any, combine: Call) -> Any:
    """Return x with combine(element, value) at the key; duplicates take turns."""
    shape = tuple(x.shape)
    places = np.arange(int(np.prod(shape))).reshape(shape)[key]
    values = values.broadcast_to(places.shape).reshape(-1)
    flat, places = x.reshape(-1), places.reshape(-1)
    left = np.arange(places.size)
    while left.size:
        _, first = np.unique(places[left], return_index=True)
        now = left[np.sort(first)]
        here = torch.as_tensor(places[now])
        flat = flat.index_put((here,), combine(flat[here], values[torch.as_tensor(now)]))
        left = np.setdiff1d(left, now)
    return flat.reshape(shape)


def _segment(start: float, combine: Call) -> Call:
    def call(data: Any, segment_ids: Any, num_segments: int) -> Any:
        rows = [start_row(data, start) for _ in range(num_segments)]
        for i, s in enumerate(np.asarray(segment_ids)):
            rows[s] = data[i] if rows[s] is None else combine(rows[s], data[i])
        blank = torch.full(data.shape[1:], start, dtype=data.dtype)
        return torch.stack([blank if r is None else r for r in rows]) if rows else data[:0]

    def start_row(data: Any, start: float) -> Any:
        return None

    return call


def _norm(x: Any, axis: Any, keepdims: bool, ord: float) -> Any:
    return _sum(torch.abs(x) ** ord, axis, keepdims) ** (1 / ord)


def _fft(name: str) -> Call:
    def call(x: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
        return getattr(torch.fft, name)(x, n=n, dim=axis, norm=norm)

    return call


def _fftn(name: str, default: Any = None) -> Call:
    def call(x: Any, s: Any = None, axes: Any = default, norm: Any = None) -> Any:
        return getattr(torch.fft, name)(x, s=s, dim=axes, norm=norm)

    return call


def _shift(name: str) -> Call:
    return lambda x, axes=None: getattr(torch.fft, name)(x, dim=axes)


#: Functions that PyTorch has by our names.
SAME_NAME = """
    add subtract multiply divide negative positive square reciprocal remainder hypot sqrt pow exp
    log log2 log10 logaddexp sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh abs
    imag copysign sign floor ceil trunc round isfinite isinf isnan signbit less less_equal
    greater greater_equal maximum minimum logical_and logical_or logical_xor logical_not
"""
#: The same of torch.special. Its digamma and polygamma are good to 1e-9 only, so they are not here.
SAME_SPECIAL_NAME = "erf erfc erfcx erfinv ndtr log_ndtr ndtri expit xlog1py i0 i1 i0e i1e"


def _elementwise() -> dict[str, Call]:
    calls: dict[str, Call] = {name: getattr(torch, name) for name in SAME_NAME.split()}
    calls["real"] = lambda x: x.real if x.is_complex() else x.clone()
    calls["conj"] = lambda x: torch.conj_physical(x)
    calls["floor_divide"] = lambda a, b: torch.floor(a / b).detach()
    calls["equal"], calls["not_equal"] = torch.eq, torch.ne
    calls["log1p"] = lambda x: torch.log(1 + x) if x.is_complex() else torch.log1p(x)
    calls["expm1"] = lambda x: torch.exp(x) - 1 if x.is_complex() else torch.expm1(x)
    for name in SAME_SPECIAL_NAME.split():
        calls[f"special.{name}"] = getattr(torch.special, name)
    calls |= {
        "pow_number": lambda x, exponent: x**exponent,
        "complex": torch.complex,
        "keep": lambda x, mask: torch.where(mask, x, torch.zeros((), dtype=x.dtype)),
        "where": lambda c, a, b: torch.where(c, *_one_dtype([a, b])),
        "clip": lambda x, low, high: torch.minimum(torch.maximum(x, low), high),
        "clip_below": torch.minimum,
        "clip_above": torch.maximum,
        "special.xlogy": torch.xlogy,
        "special.erfcinv": lambda x: torch.erfinv(1 - x),
        "special.logit": lambda x: torch.log(x) - torch.log1p(-x),
        "special.log_expit": F.logsigmoid,
        "special.entr": lambda x: -x * torch.log(x),
        "special.rel_entr": lambda x, y: x * torch.log(x / y),
        "special.kl_div": lambda x, y: x * torch.log(x / y) - x + y,
        "special.exp2": torch.exp2,
        "special.exp10": lambda x: 10.0**x,
        "special.cbrt": lambda x: x ** (1 / 3),
        "special.exprel": lambda x: torch.expm1(x) / x,
        "nn.relu": F.relu,
        "nn.prelu": lambda x, weight: torch.where(x > 0, x, weight * x),
        "nn.hardswish": lambda x: x * torch.clamp(x + 3, 0, 6) / 6,
        "nn.elu": lambda x, alpha, scale, width: (
            scale * torch.where(x > 0, x, alpha * torch.expm1(torch.clamp(x, max=0) / width))
        ),
        "nn.softplus": lambda x, beta: torch.log1p(torch.exp(beta * x)) / beta,
        "nn.silu": F.silu,
        "nn.mish": F.mish,
        "nn.softsign": F.softsign,
        "nn.gelu": lambda x, approximate: F.gelu(x, approximate=approximate),
        "nn.huber": lambda x, delta: torch.where(
            torch.abs(x) <= delta, x * x / 2, delta * (torch.abs(x) - delta / 2)
        ),
    }
    return calls


def _shapes() -> dict[str, Call]:
    return {
        "reshape": lambda x, shape: torch.reshape(x, shape),
        "permute_dims": lambda x, axes: torch.permute(x, axes),
        "broadcast_to": lambda x, shape: torch.broadcast_to(x, shape),
        "tile": lambda x, repetitions: torch.tile(x, repetitions),
        "repeat": lambda x, repeats, axis: torch.repeat_interleave(
            x, torch.as_tensor(repeats), dim=axis
        ),
        "flip": lambda x, axis: torch.flip(x, axis),
        "roll": lambda x, shift, axis: torch.roll(x, shift, axis),
        "pad": _pad,
        "diagonal": _diagonal,
        "tril": lambda x, k: torch.tril(x, k),
        "triu": lambda x, k: torch.triu(x, k),
        "concat": lambda *arrays, axis: torch.cat(_one_dtype(arrays), axis),
        "embed": _scatter,
        "scatter": _scatter,
        "scatter_flat": _scatter_flat,
        "gather_flat": _gather_flat,
        "to_device": lambda x, device, back: x.clone(),
        "slice": lambda x, parts: _index(x, parts),
        "index": _index,
        "at_set": _at(lambda x, v: v),
        "at_add": _at(torch.add),
        "at_max": _at(torch.maximum),
        "at_min": _at(torch.minimum),
        "astype": lambda x, dtype: (
            x.to(torch.complex128)
            if np.dtype(dtype).kind == "c"
            else (x.real if x.is_complex() else x.clone())
        ),
    }


def _reductions() -> dict[str, Call]:
    def cumulative(name: str) -> Call:
        def call(x: Any, axis: int) -> Any:
            found = getattr(torch, name)(x, axis)
            return found if isinstance(found, torch.Tensor) else found[0]

        return call

    def logcumsumexp(x: Any, axis: int) -> Any:
        # the second derivative of torch.logcumsumexp is wrong where a cotangent is 0
        if not x.shape[axis]:
            return x + 0
        parts = [torch.logsumexp(x.narrow(axis, 0, n + 1), axis) for n in range(x.shape[axis])]
        return torch.stack(parts, axis)

    return {
        "sum": _sum,
        "mean": lambda x, axis, keepdims: _sum(x, axis, keepdims) / _count(x, axis),
        "max": _amax("amax"),
        "min": _amax("amin"),
        "prod": _prod,
        "var": _var,
        "std": lambda x, **params: torch.sqrt(_var(x, **params)),
        "matmul": _same(torch.matmul),
        "einsum": lambda *arrays, subscripts: torch.einsum(subscripts, *_one_dtype(arrays)),
        "tensordot": lambda a, b, axes: torch.tensordot(*_one_dtype([a, b]), dims=axes),
        "vecdot": lambda a, b, axis=-1: torch.linalg.vecdot(*_one_dtype([a, b]), dim=axis),
        "outer": lambda a, b: torch.outer(*_one_dtype([a.reshape(-1), b.reshape(-1)])),
        "segment_sum": _segment(0.0, torch.add),
        "segment_prod": _segment(1.0, torch.mul),
        "segment_max": _segment(-np.inf, torch.maximum),
        "segment_min": _segment(np.inf, torch.minimum),
        "segment_logsumexp": _segment(-np.inf, torch.logaddexp),
        "cumulative_sum": cumulative("cumsum"),
        "cumulative_prod": cumulative("cumprod"),
        "cumulative_logsumexp": logcumsumexp,
        "cumulative_max": cumulative("cummax"),
        "cumulative_min": cumulative("cummin"),
        "sort": lambda x, axis: torch.sort(x, dim=axis)[0],
        "order_statistics": lambda x, positions: torch.sort(x, dim=-1)[0][..., list(positions)],
        "argsort": lambda x, axis, descending, stable: torch.argsort(
            x, dim=axis, descending=descending, stable=stable
        ),
        "special.softmax": lambda x, axis: (
            torch.exp(x) / _sum(torch.exp(x), axis, True) if axis else torch.ones_like(x) + 0 * x
        ),
        "special.log_softmax": lambda x, axis: (
            x - torch.logsumexp(x, axis, True) if axis else 0 * x
        ),
        "special.logsumexp": lambda x, axis, keepdims: (
            torch.logsumexp(x, axis, keepdims) if axis else x.clone()
        ),
    }


def _extensions() -> dict[str, Call]:
    linalg = torch.linalg
    calls: dict[str, Call] = {
        "linalg.inv": linalg.inv,
        "linalg.det": linalg.det,
        "linalg.slogdet": lambda x: tuple(linalg.slogdet(x)),
        "linalg.expm": linalg.matrix_exp,
        "linalg.cross": lambda a, b, axis=-1: linalg.cross(
            *torch.broadcast_tensors(*_one_dtype([a, b])), dim=axis
        ),
        "linalg.diagonal": lambda x, offset=0: torch.diagonal(x, offset, -2, -1),
        "linalg.trace": lambda x, offset=0: torch.diagonal(x, offset, -2, -1).sum(-1),
        "linalg.kron": _same(torch.kron),
        "linalg.vector_norm": _norm,
        "linalg.solve_triangular": lambda a, b, lower, unit: linalg.solve_triangular(
            *_one_dtype([a, b]), upper=not lower, unitriangular=unit
        ),
        "fft.forward": lambda x, axes, norm: torch.fft.fftn(x, dim=axes, norm=norm),
        "fft.inverse": lambda x, axes, norm: torch.fft.ifftn(x, dim=axes, norm=norm),
        "fft.from_real": lambda x, axis, norm: torch.fft.rfft(x, dim=axis, norm=norm),
        "fft.to_real": lambda x, n, axis, norm: torch.fft.irfft(x, n=n, dim=axis, norm=norm),
        "fft.fftshift": _shift("fftshift"),
        "fft.ifftshift": _shift("ifftshift"),
        "nn.glu": lambda x, axis=-1: F.glu(x, axis),
        "nn.linear": lambda x, weight, bias: _linear(*_one_dtype([x, weight, bias])),
        "nn.linear_by_rows": lambda x, weight, bias: _linear(
            *_one_dtype([x, weight.transpose(0, 1), bias])
        ),
        "nn.embedding": lambda weight, indices, padding_idx: weight[torch.as_tensor(indices)],
        "nn.standard": _standard,
        "nn.layer_norm": lambda x, weight, bias, eps: _standard(x, (-1,), eps) * weight + bias,
        "nn.length": lambda x, axis, keepdims: torch.sqrt(_sum(x * x, axis, keepdims)),
        "nn.cross_entropy": lambda x, labels: F.cross_entropy(
            x, torch.as_tensor(labels), reduction="none"
        ),
        "nn.total_cross_entropy": lambda x, labels, scale: (
            scale * F.cross_entropy(x, torch.as_tensor(labels), reduction="sum")
        ),
    }
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        calls[f"fft.{name}"] = _fft(name)
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        calls[f"fft.{name}"] = _fftn(name)
    for name in ("fft2", "ifft2", "rfft2", "irfft2"):
        calls[f"fft.{name}"] = _fftn(name, (-2, -1))
    return calls


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight + bias


def _standard(x: Any, axis: Any, eps: float) -> Any:
    middle = x - torch.mean(x, axis, keepdim=True)
    return middle / torch.sqrt(torch.mean(middle**2, axis, keepdim=True) + eps)


TORCH_CALLS: dict[str, Call] = _elementwise() | _shapes() | _reductions() | _extensions()
