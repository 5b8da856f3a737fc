"""torch.nn.functional: affine maps, embeddings, dropout and attention."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.dialects.torch.axes import kind_of, labelled
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.memory import overwrite
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.arguments import (
    F,
    check_one_dtype,
    functional,
    is_batched,
    optional,
    real,
    whole,
    wrong,
)
from wengert.dialects.torch.random import happens
from wengert.dialects.torch.table import guarded, in_place, offered, plain, put
from wengert.dialects.torch.tensors import Tensor, ns, only_tensor, values_of
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import contractions
from wengert.ops.batching import drawn
from wengert.ops.neural import attention, layers

# -- affine maps -----------------------------------------------------------------------------------


@functional("linear", label="AddmmBackward0")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return input @ weight.T + bias."""
    x, w = only_tensor(input, "linear"), only_tensor(weight, "linear", "weight")
    b = optional(bias, "linear", "bias")
    check_one_dtype("linear", input=x, weight=w, bias=b)
    if not x.ndim or not w.ndim:
        raise RuntimeError(
            f"linear: the input has {x.ndim} axes and the weight {w.ndim}; give 1 or more of each"
        )
    if w.ndim > 2 or x.shape[-1] != w.shape[-1]:
        raise RuntimeError(
            f"linear: inputs of shape {list(x.shape)} do not fit a weight of {list(w.shape)}; "
            "their last axes must be equal"
        )
    if w.ndim == 1:
        y = contractions.matmul(x, w)
        return y if b is None else y + b
    turned = ns.matrix_transpose(w)
    if b is None:
        label = "MmBackward0" if x.ndim == 2 else "UnsafeViewBackward0"
        return labelled(contractions.matmul(x, turned), label)
    if b.shape == w.shape[:1] and kind_of(x) in "fc":
        return labelled(
            layers.linear(x, turned, b), "AddmmBackward0" if x.ndim == 2 else "ViewBackward0"
        )
    return contractions.matmul(x, turned) + b


@functional("bilinear", "bilinear", label="AddBackward0")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Return input1 @ weight[k] @ input2 for each k, plus bias."""
    x1, x2 = only_tensor(input1, "bilinear", "input1"), only_tensor(input2, "bilinear", "input2")
    w, b = only_tensor(weight, "bilinear", "weight"), optional(bias, "bilinear", "bias")
    check_one_dtype("bilinear", input1=x1, input2=x2, weight=w, bias=b)
    if (
        x1.shape[:-1] != x2.shape[:-1]
        or w.ndim != 3
        or (x1.shape[-1:], x2.shape[-1:]) != (w.shape[1:2], w.shape[2:3])
        or (b is not None and b.shape != w.shape[:1])
    ):
        raise RuntimeError(
            f"bilinear(): shapes {list(x1.shape)}, {list(x2.shape)} and {list(w.shape)} do not "
            "fit; expected (*, n), (*, m) and (out, n, m)"
        )
    y = ns.einsum("...i,oij,...j->...o", x1, w, x2)
    return y if b is None else y + b


# -- rows by their indices -------------------------------------------------------------------------


def _indices(input: Any, name: str, what: str = "indices") -> Any:
    """Return indices as whole numbers that nobody else can write to."""
    x = only_tensor(input, name, what)
    if x._raw.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            f"{what} has dtype {x.dtype}; whole numbers are needed, so write x.long()"
        )
    return values_of(input)


def _check_rows(where: Any, count: int) -> None:
    values = where if type(where) is np.ndarray else np.zeros(0)
    if values.size and (values.min() < 0 or values.max() >= count):
        raise IndexError(
            f"the indices go from {values.min()} to {values.max()}, and there are {count} rows"
        )


def _rows(weight: Any, where: Any, padding_idx: int, scale_grad_by_freq: bool) -> Native:
    w = only_tensor(weight, "embedding", "weight")
    if w.ndim != 2:
        raise RuntimeError(f"the weight has shape {list(w.shape)}; give a matrix of rows")
    _check_rows(where, w.shape[0])
    padding = padding_idx if padding_idx >= 0 else None
    if kind_of(w) not in "fc":
        return ns.take(w, where, axis=0) if not where.ndim else w[where]
    rows = layers.embedding(where, w, padding_idx=padding)
    if scale_grad_by_freq and type(where) is np.ndarray:
        counts = np.bincount(where.reshape(-1), minlength=w.shape[0])[where]
        share = wrap_native((1 / counts)[..., None].astype(w._raw.dtype))
        rows = wrap_native(rows._raw) * (1 - share) + rows * share
    return rows


def _shorten(weight: Any, where: np.ndarray, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are looked up, and are longer than a limit, in place."""
    chosen = np.unique(where)
    raw = weight._raw
    _check_rows(where, raw.shape[0])
    sizes = np.linalg.norm(raw[chosen].astype(np.float64), norm_type, axis=1)
    long = sizes > max_norm
    if long.any():
        new = raw.copy()
        factors = max_norm / (sizes[long] + 1e-7)
        new[chosen[long]] = (raw[chosen[long]] * factors[:, None]).astype(raw.dtype)
        with no_grad():
            overwrite(weight, wrap_native(new))


@functional("embedding")
def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Return the rows of a matrix at indices; the row `padding_idx` gets no gradient."""
    count = only_tensor(weight, "embedding", "weight").shape[0]
    padding = -1
    if padding_idx is not None:
        if not -count <= padding_idx < count:
            raise AssertionError("padding_idx names a row that the table does not have")
        padding = padding_idx % count
    where = _indices(input, "embedding")
    if max_norm is not None:
        _shorten(weight, where, max_norm, norm_type)
    return _rows(weight, where, padding, scale_grad_by_freq)


@offered("embedding", method=False)
def _embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:  # fmt: skip
    """Return the rows of a matrix at indices, in the order of torch.embedding."""
    return _rows(weight, _indices(indices, "embedding"), padding_idx, scale_grad_by_freq)


@functional("embedding_bag")
def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Return the sum, mean or largest of the rows at the indices of each bag."""
    w, where = only_tensor(weight, "embedding_bag", "weight"), _indices(input, "embedding_bag")
    shares = optional(per_sample_weights, "embedding_bag", "per_sample_weights")
    if shares is not None and shares.shape != where.shape:
        raise wrong(
            f"embedding_bag: per_sample_weights has shape {list(shares.shape)} for indices of "
            f"shape {list(where.shape)}; give one weight for each index"
        )
    if w.ndim != 2:
        raise wrong(f"embedding_bag: the weight has {w.ndim} axes; give a matrix of rows")
    if mode not in ("sum", "mean", "max"):
        raise wrong("embedding_bag: unknown mode; give 'sum', 'mean' or 'max'")
    starts = _starts(where, offsets, include_last_offset)
    where, count = where.reshape(-1), len(starts)
    bags = np.repeat(np.arange(count), np.diff([*starts, len(where)]))
    if shares is not None:
        if mode != "sum":
            raise NotImplementedError(
                f"embedding_bag: per_sample_weights with mode='{mode}'; write mode='sum'"
            )
        shares = ns.reshape(shares, (len(where), 1))
    if max_norm is not None:
        _shorten(weight, where, max_norm, norm_type)
    if padding_idx is not None:
        kept = where != padding_idx % w.shape[0]
        where, bags = where[kept], bags[kept]
        shares = None if shares is None else shares[np.flatnonzero(kept)]
    return _bagged(_rows(weight, where, -1, scale_grad_by_freq), shares, bags, count, mode)


def _starts(where: Any, offsets: Any, include_last_offset: bool) -> list[int]:
    """Return where each bag begins in a row of indices."""
    if where.ndim == 2:
        if offsets is not None:
            raise wrong(
                f"embedding_bag: offsets of type {type(offsets)} were given for a matrix of "
                "indices, where each row is a bag; leave offsets out"
            )
        return list(range(0, where.size, where.shape[1])) if where.size else [0] * where.shape[0]
    if where.ndim != 1:
        raise wrong(f"embedding_bag: the indices have {where.ndim} axes; give 1 or 2")
    if offsets is None:
        raise wrong("embedding_bag: give offsets, which say where each bag begins")
    starts = _indices(offsets, "embedding_bag", "offsets")
    if starts.ndim != 1:
        raise wrong("embedding_bag: the offsets have other than one axis; give a vector")
    if starts.size and starts[0] != 0:
        raise RuntimeError(f"embedding_bag: the first offset is {starts[0]}; it must be 0")
    if starts.size and starts[-1] > len(where):
        raise RuntimeError(
            f"embedding_bag: an offset of {starts[-1]} lies beyond the {len(where)} indices"
        )
    found: list[int] = starts.tolist()
    return found[:-1] if include_last_offset else found


def _largest_of_bags(rows: Native, bags: np.ndarray, count: int) -> Native:
    """Return the largest row of each bag by its elements; the first of equal ones has the share."""
    some = np.bincount(bags, minlength=count) > 0
    largest = ns.segment_max(rows, bags, num_segments=count)
    raw, last = rows._raw, len(bags)
    if type(raw) is np.ndarray:
        first = np.full((count, raw.shape[1]), last)
        there = raw == largest._raw[bags]
        np.minimum.at(first, bags, np.where(there, np.arange(last)[:, None], last))
        if (first[some] < last).all():  # and nothing is NaN
            first[~some] = 0
            largest = ns.take_along_axis(rows, wrap_native(first), axis=0) if last else largest
    return ns.where(wrap_native(some[:, None]), largest, 0.0)


def _bagged(rows: Native, shares: Any, bags: np.ndarray, count: int, mode: str) -> Native:
    if shares is not None:
        rows = rows * shares
    if mode == "max":
        return _largest_of_bags(rows, bags, count)
    sums = ns.segment_sum(rows, bags, num_segments=count)
    if mode == "sum":
        return sums
    sizes = np.maximum(np.bincount(bags, minlength=count), 1)
    return sums / wrap_native(sizes[:, None].astype(sums._raw.dtype))


@functional("one_hot", label="")
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return 1 at each index along a new last axis, else 0."""
    x = only_tensor(tensor, "one_hot", "tensor")
    if x._raw.dtype != np.int64:
        raise RuntimeError("one_hot: the classes are not of dtype int64; write x.long()")
    count = whole(num_classes, "one_hot", "num_classes")
    where = values_of(tensor)
    if is_batched(tensor):
        if count < 0:
            raise RuntimeError("one_hot: inside of vmap, give num_classes")
        return layers.one_hot(where, count, dtype=np.int64)
    if not where.size:
        if count <= 0:
            raise RuntimeError("one_hot: there are no classes to count; give num_classes")
        return wrap_native(np.zeros((*where.shape, count), np.int64))
    if where.min() < 0:
        raise RuntimeError("one_hot: a class is negative; number the classes from 0")
    if count == -1:
        count = int(where.max()) + 1
    if count < 1:
        raise RuntimeError("one_hot: num_classes is 0 or less; give 1 or more")
    if where.max() >= count:
        raise RuntimeError("one_hot: a class exceeds num_classes - 1; give more")
    return layers.one_hot(where, count, dtype=np.int64)


# -- dropout ---------------------------------------------------------------------------------------

#: Where a unit of self-normalising networks is when it is off.
_OFF = 1.7580993408473766


def _check_chance(p: Any) -> float:
    chance = float(p)
    if not 0 <= chance <= 1:
        raise wrong(f"dropout: p is {p}; give a probability from 0 to 1")
    return chance


def _dropped(input: Any, p: float, by_channel: bool, alpha: bool) -> Native:
    """Return x with elements or channels dropped, as PyTorch's generator says."""
    x = only_tensor(input, "dropout")
    if kind_of(x) not in "fc":
        raise RuntimeError(
            f"dropout scales what is left, and {x.dtype} has no fractions; write x.float()"
        )
    if by_channel and x.ndim < 2:
        raise RuntimeError("dropout of channels: the tensor has none; give 2 axes")
    kind = x._raw.dtype
    if p == 1:
        return x * wrap_native(np.zeros((), kind))
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2)) if by_channel else x.shape
    kept = drawn("dropout", lambda size: _kept(size, 1 - p, kind), shape)
    if not alpha:
        return x * (kept / (1 - p))
    scale = 1 / math.sqrt((_OFF * _OFF * p + 1) * (1 - p))
    return x * (kept * scale) + ((kept - 1) * (_OFF * scale) + _OFF * scale * p)


def _kept(size: tuple[int, ...], chance: float, kind: np.dtype) -> np.ndarray:
    return happens(default_generator, chance, math.prod(size)).reshape(size).astype(kind)


def _dropout(name: str, default: bool, by_channel: bool = False, alpha: bool = False) -> Any:
    """Offer a kind of dropout in torch and in torch.nn.functional, also in place."""
    label = "AddBackward0" if alpha else "MulBackward0"
    compute = guarded(lambda input, p: _dropped(input, p, by_channel, alpha), label)
    changed = in_place(compute, f"{name}_")

    def drop(input: Any, p: float = 0.5, training: bool = default, inplace: bool = False) -> Any:
        chance = _check_chance(p)
        if not isinstance(input, Tensor):
            only_tensor(input, name)
        if not training or chance == 0 or 0 in input._raw.shape:
            return input
        return changed(input, chance) if inplace else compute(input, chance)

    def in_torch(input: Any, p: float, train: bool) -> Any:
        return _as_runtime_error(drop, input, p, train, False)

    def in_torch_in_place(input: Any, p: float, train: bool) -> Any:
        return _as_runtime_error(drop, input, p, train, True)

    for function, its in ((drop, name), (in_torch, name), (in_torch_in_place, f"{name}_")):
        function.__name__ = function.__qualname__ = its
        function.__doc__ = "Return x with some elements or channels dropped by chance."
    put((name,), in_torch)
    put((f"{name}_",), in_torch_in_place)
    return drop


def _as_runtime_error(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except ValueError as error:
        raise RuntimeError(str(error)) from None


put((F + "dropout",), _dropout("dropout", True))
put((F + "alpha_dropout",), _dropout("alpha_dropout", False, alpha=True))
put((F + "feature_alpha_dropout",), _dropout("feature_alpha_dropout", False, True, True))
_channels = _dropout("feature_dropout", True, by_channel=True)


def _in_a_batch(input: Any, drop: Callable[[Any], Any], inplace: bool) -> Any:
    """Drop channels of a tensor without a batch."""
    if inplace:
        drop(input.unsqueeze(0))
        return input
    return drop(input.unsqueeze(0)).squeeze(0)


@plain(F + "dropout1d")
def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return x, (batch, channels, length) or without a batch, with some channels dropped."""
    _check_chance(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: the input has {input.ndim} axes; give 3, or 2 without a batch"
        )
    if input.ndim == 2:
        return _in_a_batch(input, lambda x: _channels(x, p, training, inplace), inplace)
    return _channels(input, p, training, inplace)


@plain(F + "dropout2d")
def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return x, (batch, channels, rows, columns), with some channels dropped."""
    _check_chance(p)
    if input.ndim != 4:
        warnings.warn(
            f"dropout2d: the input has {input.ndim} axes, and the second is taken for channels; "
            "write dropout1d or add a batch",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace)


@plain(F + "dropout3d")
def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return x, (batch, channels, three axes) or without a batch, with some channels dropped."""
    _check_chance(p)
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: the input has {input.ndim} axes, and the second is taken for channels; "
            "write dropout instead",
            stacklevel=2,
        )
    if input.ndim == 4:
        return _in_a_batch(input, lambda x: _channels(x, p, training, inplace), inplace)
    return _channels(input, p, training, inplace)


# -- attention -------------------------------------------------------------------------------------


def _repeated(x: Native, heads: int) -> Native:
    """Return each head of keys or values as often as there are heads of queries for it."""
    if x.shape[-3] == heads:
        return x
    if heads % x.shape[-3]:
        raise RuntimeError(
            f"{x.shape[-3]} heads of keys and values do not divide {heads} heads of the query"
        )
    return ns.repeat(x, heads // x.shape[-3], axis=-3)


@functional("scaled_dot_product_attention", label="ScaledDotProductFlashAttentionForCpuBackward0")
def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Return softmax(query @ key.T * scale + mask) @ value."""
    name = "scaled_dot_product_attention"
    q, k, v = (
        real(x, name, what) for x, what in ((query, "query"), (key, "key"), (value, "value"))
    )
    check_one_dtype(name, query=q, key=k, value=v)
    mask = optional(attn_mask, name, "attn_mask")
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError(f"{name}: query, key or value is a vector; give matrices")
    if mask is not None and is_causal:
        raise RuntimeError(
            f"{name}: is_causal=True is a mask already; leave attn_mask out, or put both into one"
        )
    if mask is not None and kind_of(mask) != "b" and mask._raw.dtype != q._raw.dtype:
        raise RuntimeError(f"attn_mask has dtype {mask.dtype}; give booleans, or the query's dtype")
    if enable_gqa:
        k, v = _repeated(k, q.shape[-3]), _repeated(v, q.shape[-3])
    options: Any = {"mask": mask, "is_causal": bool(is_causal), "scale": scale}
    if not dropout_p:
        return attention.scaled_dot_product_attention(q, k, v, **options)
    each = wrap_native(np.eye(k.shape[-2], dtype=q._raw.dtype))
    weights = attention.scaled_dot_product_attention(q, k, each, **options)
    return contractions.matmul(_dropped(weights, _check_chance(dropout_p), False, False), v)
