"""torch.nn.functional: affine maps, embeddings, dropout and attention."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind, Quick, named, warn
from wengert.dialects.torch.axes import kind_of, labelled, unable
from wengert.dialects.torch.generators import default_generator
from wengert.dialects.torch.kinds import Input, Int, read_tensor
from wengert.dialects.torch.memory import overwrite
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.arguments import Alike, F, functional, is_batched, misfit, wrong
from wengert.dialects.torch.random import happens
from wengert.dialects.torch.table import guarded, in_place, plain, put
from wengert.dialects.torch.tensors import (
    Native,
    Tensor,
    fast,
    ns,
    only_tensor,
    trace,
    values_of,
    wrap_native,
)
from wengert.engine.record import witnesses
from wengert.errors import users_frame
from wengert.ops import contractions
from wengert.ops.batching import drawn
from wengert.ops.neural import attention, layers
from wengert.ops.neural.bags import bagged

# -- affine maps -----------------------------------------------------------------------------------


_affine = fast(
    layers.affine_by_rows.op, lambda *_: NotImplemented, "f", 0,
    "_x0.ndim > 1 and _x1.ndim == 2 and _x2.shape == _x1.shape[:1] and "
    "_x0.shape[-1] == _x1.shape[1] and (_d := _x0.dtype) is _x1.dtype and _d is _x2.dtype and "
    "_d in _usual_dtypes",
)  # fmt: skip


def _quick_linear(input: Any, weight: Any, bias: Any) -> Any:
    """Return `linear` of matrices of real numbers with a bias; else NotImplemented.

    PyTorch has two nodes for it: `grad_fns` makes these of the one where a program looks.
    """
    if witnesses:
        return NotImplemented
    y = _affine(input, weight, bias)
    if y is not NotImplemented and y._node is not None:
        y._node.label = "AddmmBackward0" if len(y._raw.shape) == 2 else "ViewBackward0"
        trace(y._node, users_frame(3))
    return y


@functional(label="AddmmBackward0", quick=Quick(_quick_linear, None, {}, 3))
def linear(input: Alike, weight: Alike, bias: Alike = None) -> Native:
    """Return input @ weight.T + bias."""
    x, w, b = input, weight, bias
    if not x.ndim or w.ndim not in (1, 2) or x.shape[-1] != w.shape[-1]:
        raise misfit("linear", "as many columns to both", input=x, weight=w)
    if w.ndim == 1:
        y = contractions.matmul(x, w)
        return y if b is None else y + b
    turned = ns.matrix_transpose(w)
    if b is None:
        label = "MmBackward0" if x.ndim == 2 else "UnsafeViewBackward0"
        return labelled(contractions.matmul(x, turned), label)
    if b.shape == w.shape[:1] and kind_of(x) in "fc":
        label = "AddmmBackward0" if x.ndim == 2 else "ViewBackward0"
        return labelled(layers.linear(x, turned, b), label)
    return contractions.matmul(x, turned) + b


@functional("bilinear", label="AddBackward0")
def bilinear(input1: Alike, input2: Alike, weight: Alike, bias: Alike = None) -> Native:
    """Return input1 @ weight[k] @ input2 for each k, plus bias."""
    given = {"input1": input1, "input2": input2, "weight": weight}
    sizes = (*weight.shape[:1], *input1.shape[-1:], *input2.shape[-1:])
    fits = weight.shape == sizes and input1.shape[:-1] == input2.shape[:-1]
    if not fits or (bias is not None and bias.shape != weight.shape[:1]):
        raise misfit("bilinear", "(*, n), (*, m) and (out, n, m)", **given)
    y = ns.einsum("...i,oij,...j->...o", input1, weight, input2)
    return y if bias is None else y + bias


# -- rows by their indices -------------------------------------------------------------------------


def _read_indices(value: Any, at: Argument, x: Any) -> Any:
    given = read_tensor(value, at)
    if given._raw.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{at} has dtype {given.dtype}; write x.long()")
    return values_of(given._raw)


#: Whole numbers that nobody else can write to.
Indices = Annotated[Any, Kind(_read_indices)]


def _check_rows(where: Any, count: int) -> None:
    values = where if type(where) is np.ndarray else np.zeros(0)
    if values.size and (values.min() < 0 or values.max() >= count):
        raise IndexError(
            f"the indices go from {values.min()} to {values.max()}, and there are {count} rows"
        )


def _rows(w: Native, where: Any, padding_idx: int, scale_grad_by_freq: bool) -> Native:
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


@functional()
def embedding(
    input: Indices, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Native:  # fmt: skip
    """Return the rows of a matrix at indices; the row `padding_idx` gets no gradient."""
    count = read_tensor(weight, _TABLE).shape[0]
    if padding_idx is not None and not -count <= padding_idx < count:
        raise AssertionError("padding_idx names a row that the table does not have")
    padding = -1 if padding_idx is None else padding_idx % count
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return _rows(read_tensor(weight, _TABLE), input, padding, scale_grad_by_freq)


_TABLE = Argument("embedding", "weight")


@functional()
def embedding_bag(
    input: Indices, weight: Any, offsets: Indices | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Input | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Native:  # fmt: skip
    """Return the sum, mean or largest of the rows at the indices of each bag."""
    where, shares = input, per_sample_weights
    if shares is not None and shares.shape != where.shape:
        raise misfit(
            "embedding_bag", "one weight for each index", wrong, input=where, weights=shares
        )
    if mode not in ("sum", "mean", "max"):
        raise wrong("embedding_bag: unknown mode; give 'sum', 'mean' or 'max'")
    starts = _starts(where, offsets, include_last_offset)
    where, count = where.reshape(-1), len(starts)
    bags = np.repeat(np.arange(count), np.diff([*starts, len(where)]))
    if shares is not None:
        if mode != "sum":
            raise misfit("embedding_bag", "'sum' with weights", NotImplementedError, mode=mode)
        shares = ns.reshape(shares, (len(where), 1))
    if max_norm is not None:
        _shorten(weight, where, max_norm, norm_type)
    w = read_tensor(weight, _TABLE)
    if w.ndim != 2:
        raise wrong(f"embedding_bag: the weight has {w.ndim} axes; give a matrix of rows")
    if padding_idx is not None:
        kept = where != padding_idx % w.shape[0]
        where, bags = where[kept], bags[kept]
        shares = None if shares is None else shares[np.flatnonzero(kept)]
    rows = _rows(w, where, -1, scale_grad_by_freq)
    return bagged(rows if shares is None else rows * shares, bags, count, mode)


def _starts(where: Any, offsets: Any, include_last_offset: bool) -> list[int]:
    """Return where each bag begins in a row of indices."""
    expected = "a matrix of bags, or a vector and offsets"
    if where.ndim not in (1, 2) or (offsets is None) == (where.ndim == 1):
        raise misfit("embedding_bag", expected, wrong, input=where, offsets=offsets)
    if where.ndim == 2:
        return list(range(0, where.size, where.shape[1])) if where.size else [0] * where.shape[0]
    if offsets.ndim != 1:
        raise wrong("embedding_bag: the offsets have other than one axis; give a vector")
    if offsets.size and (offsets[0] != 0 or offsets[-1] > len(where)):
        raise misfit("embedding_bag", f"0 to {len(where)}", offsets=offsets.tolist())
    found: list[int] = offsets.tolist()
    return found[:-1] if include_last_offset else found


@functional(label="")
def one_hot(tensor: Input, num_classes: Int = -1) -> Native:
    """Return 1 at each index along a new last axis, else 0."""
    if tensor._raw.dtype != np.int64:
        raise RuntimeError("one_hot: the classes are not of dtype int64; write x.long()")
    where, count = values_of(tensor._raw), num_classes
    if is_batched(tensor):
        if count < 0:
            raise RuntimeError("one_hot: inside of vmap, give num_classes")
        return layers.one_hot(where, count, dtype=np.int64)
    if where.size:
        largest = int(where.max())
        count = largest + 1 if count == -1 else count
        if where.min() < 0 or largest >= count:
            raise RuntimeError(
                f"one_hot: the classes go from {where.min()} to {largest}; number them from 0 on, "
                f"below num_classes={count}"
            )
    elif count <= 0:
        raise RuntimeError("one_hot: there are no classes to count; give num_classes")
    return layers.one_hot(where, count, dtype=np.int64)


# -- dropout ---------------------------------------------------------------------------------------

#: Where a unit of self-normalising networks is when it is off.
_OFF = 1.7580993408473766


def _check_chance(p: Any) -> float:
    chance = float(p)
    if not 0 <= chance <= 1:
        raise wrong(f"dropout: p is {p}; give a probability from 0 to 1")
    return chance


def dropped(x: Native, p: float, by_channel: bool = False, alpha: bool = False) -> Native:
    """Return x with elements or channels dropped, as PyTorch's generator says."""
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
    order = _in_memory(x._raw) if not by_channel else None
    kept = drawn("dropout", lambda size: _kept(size, 1 - p, kind, order), shape)
    if not alpha:
        return x * (kept / (1 - p))
    scale = 1 / math.sqrt((_OFF * _OFF * p + 1) * (1 - p))
    return x * (kept * scale) + ((kept - 1) * (_OFF * scale) + _OFF * scale * p)


def _in_memory(raw: Any) -> list[int] | None:
    """Return axes in the order of their strides, where that is not their own order."""
    strides = getattr(raw, "strides", ())
    if min(strides, default=0) <= 0 or list(strides) == sorted(strides, reverse=True):
        return None
    return sorted(range(len(strides)), key=lambda axis: -strides[axis])


def _kept(
    size: tuple[int, ...], chance: float, kind: np.dtype, order: list[int] | None = None
) -> np.ndarray:
    """Return 1 or 0 for each element, drawn one after the other as they are in memory."""
    kept = happens(default_generator, chance, math.prod(size)).astype(kind)
    if order is None or len(order) != len(size):
        return kept.reshape(size)
    turned = kept.reshape([size[axis] for axis in order])
    return turned.transpose([order.index(axis) for axis in range(len(size))])


def _dropout(name: str, default: bool, by_channel: bool = False, alpha: bool = False) -> Any:
    """Offer a kind of dropout, which may be in place."""
    label = "AddBackward0" if alpha else "MulBackward0"

    def body(input: Input, p: float) -> Native:
        return dropped(input, p, by_channel, alpha)

    compute = guarded(body, label)
    changed = in_place(compute, f"{name}_")

    @named(name, "Return x with some elements or channels dropped by chance.")
    def drop(input: Any, p: float = 0.5, training: bool = default, inplace: bool = False) -> Any:
        chance = _check_chance(p)
        if not isinstance(input, Tensor):
            only_tensor(input, name)
        if not training or chance == 0 or 0 in input._raw.shape:
            return input
        return changed(input, chance) if inplace else compute(input, chance)

    if not by_channel:
        put((F + name,), drop)
    return drop


_dropout("alpha_dropout", False, alpha=True)
_channels = _dropout("feature_dropout", True, by_channel=True)
_elements = _dropout("dropout", True)


@plain("dropout")
def dropout(input: Any, p: float, train: bool) -> Any:
    """Return x with some elements dropped by chance, in the order of torch.dropout."""
    try:
        return _elements(input, p, train)
    except ValueError as error:
        raise RuntimeError(str(error)) from None


def _dropout_of_channels(axes: int, ndims: tuple[int, ...]) -> None:
    """Offer the dropout of channels of tensors that have so many axes, with or without a batch."""
    name = f"dropout{axes}d"

    @plain(F + name)
    @named(name, "Return x with some channels dropped by chance.")
    def drop(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        _check_chance(p)
        if input.ndim not in ndims:
            message = f"{name}: the input has {input.ndim} axes; give {ndims[-1]}: batch, channels"
            if axes == 1:
                raise RuntimeError(message)
            warn(message)
        if input.ndim == ndims[-1] - 1 and len(ndims) == 2:
            dropped = _channels(input.unsqueeze(0), p, training, inplace)
            return input if inplace else dropped.squeeze(0)
        return _channels(input, p, training, inplace)


_dropout_of_channels(1, (2, 3))
_dropout_of_channels(2, (4,))
_dropout_of_channels(3, (4, 5))


# -- attention -------------------------------------------------------------------------------------


def _repeated(x: Native, heads: int) -> Native:
    """Return each head of keys or values as often as there are heads of queries for it."""
    if x.shape[-3] == heads:
        return x
    return ns.repeat(x, heads // x.shape[-3], axis=-3)


@functional(label="ScaledDotProductFlashAttentionForCpuBackward0")
def scaled_dot_product_attention(
    query: Alike, key: Alike, value: Alike, attn_mask: Input | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Native:  # fmt: skip
    """Return softmax(query @ key.T * scale + mask) @ value."""
    name, mask = "scaled_dot_product_attention", attn_mask
    q, k, v = query, key, value
    if kind_of(q) != "f":
        raise unable(name, q)
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
    weights = attention.attention_weights(q, k, **options)
    return contractions.matmul(dropped(weights, _check_chance(dropout_p)), v)
