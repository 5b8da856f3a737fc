"""PyTorch's own kernels of operations and of their rules, by the operations' names.

They are those that PyTorch's eager mode launches. Where its convention is not ours (at ties, say)
or its kernel is less exact than our formula, there is no row. What a kernel does not take, it
leaves to the operation by returning NotImplemented.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from wengert.backends.namespace import Kept, Own
from wengert.backends.numpy_windows import Geometry, Ints
from wengert.backends.torch_kernels import tensor
from wengert.backends.torch_neural import convolution_padding, convolve

functional: Any = torch.nn.functional


def _kernel(name: str) -> Any:
    """Return a kernel by its name; the class that PyTorch has around it has a call in Python."""
    overload: Any = getattr(torch.ops.aten, name).default
    return getattr(overload, "_op", overload)


_attend = functional.scaled_dot_product_attention
#: A product with a transposed matrix, in one call.
_times_transposed = functional.linear
_tanh_pull = _kernel("tanh_backward")
_threshold_pull = _kernel("threshold_backward")
_gelu_pull = _kernel("gelu_backward")
_silu_pull = _kernel("silu_backward")
_layer_pull = _kernel("native_layer_norm_backward")
_batch_pull = _kernel("native_batch_norm_backward")
_convolution_pull = _kernel("convolution_backward")
_embedding_backward = _kernel("embedding_dense_backward")
_nll = _kernel("nll_loss_forward")
_nll_pull = _kernel("nll_loss_backward")


def _alike(*arrays: Any) -> bool:
    """Return whether arrays have one dtype, of real floats that kernels take."""
    dtype = arrays[0].dtype
    for array in arrays:
        if array.dtype is not dtype:
            return False
    return dtype.is_floating_point


# -- lines: softmax and normalisation ---------------------------------------------------------


def _on_one_axis(function: Any) -> Any:
    def compute(x: Any, axis: tuple[int, ...]) -> Any:
        if len(axis) != 1 or not x.numel() or not x.is_floating_point():
            return NotImplemented
        return function(x, axis[0])

    return compute


def _pull_on_one_axis(function: Any) -> Any:
    def rule(g: Any, y: Any, axis: tuple[int, ...]) -> Any:
        return function(g, y, axis[0], y.dtype) if len(axis) == 1 else NotImplemented

    return rule


def _layer_norm(x: Any, weight: Any, bias: Any, eps: float) -> Any:
    if not _alike(x, weight, bias):
        return NotImplemented
    y, mean, scale = torch.native_layer_norm(x, x.shape[-1:], weight, bias, eps)
    return Kept(y, (mean, scale))


def _layer_norm_pull(g: Any, wanted: Any, x: Any, weight: Any, saved: Any) -> Any:
    if saved is None:
        return NotImplemented
    # of the bias only its shape is looked at
    return _layer_pull(g, x, list(x.shape[-1:]), *saved, weight, weight, wanted)


def _batch_norm(x: Any, weight: Any, bias: Any, axis: tuple[int, ...], eps: float) -> Any:
    if not _alike(x, weight, bias):
        return NotImplemented
    y, mean, scale = torch.native_batch_norm(x, weight, bias, None, None, True, 0.0, eps)
    return Kept(y, (mean, scale))


def _batch_norm_pull(g: Any, wanted: Any, x: Any, weight: Any, eps: float, saved: Any) -> Any:
    if saved is None:
        return NotImplemented
    return _batch_pull(g, x, weight, None, None, *saved, True, eps, wanted)


def _with_moments(x: Any, weight: Any, bias: Any, axis: tuple[int, ...], eps: float) -> Any:
    """Return `_batch_norm` with means and variances, which PyTorch moves from 0 all the way."""
    if not _alike(x, weight, bias):
        return NotImplemented
    means, variances = x.new_zeros(x.shape[1]), x.new_zeros(x.shape[1])
    y, *saved = torch.native_batch_norm(x, weight, bias, means, variances, True, 1.0, eps)
    return Kept((y, means, variances), saved)


def _with_moments_pull(g: Any, wanted: Any, x: Any, weight: Any, eps: float, saved: Any) -> Any:
    if g[1] is not None or g[2] is not None:
        return NotImplemented
    return _batch_norm_pull(g[0], wanted, x, weight, eps, saved)


# -- products ---------------------------------------------------------------------------------


def _rows(x: Any) -> Any:
    """Return x as a matrix, with all axes but the last made one."""
    return x if x.ndim == 2 else x.flatten(0, -2)


def _matmul(x1: Any, x2: Any) -> Any:
    return torch.matmul(x1, x2) if x1.dtype is x2.dtype else NotImplemented


def _matmul_pull(g: Any, wanted: Any, x1: Any, x2: Any, shapes: Any) -> Any:
    """Return cotangents of factors, of one matrix for all others by one product."""
    if 1 in map(len, shapes):
        return NotImplemented
    dtype, of_one = g.dtype, len(shapes[1]) == 2
    by_first = by_second = None
    if wanted[0]:
        if x2.dtype is not dtype:
            return NotImplemented
        by_first = _times_transposed(g, x2) if of_one else torch.matmul(g, x2.mT)
    if wanted[1]:
        if x1.dtype is not dtype:
            return NotImplemented
        rows, found = (_rows(x1), _rows(g)) if of_one else (x1, g)
        by_second = torch.matmul(rows.mT, found)
    return by_first, by_second


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    if not _alike(x, weight, bias):
        return NotImplemented
    if x.ndim == 2:
        return torch.addmm(bias, x, weight)
    return _times_transposed(x, weight.mT, bias)


def _linear_pull(g: Any, wanted: Any, x: Any, weight: Any) -> Any:
    dtype, rows = g.dtype, _rows(g)
    by_x = by_weight = by_bias = None
    if wanted[0]:
        if weight.dtype is not dtype:
            return NotImplemented
        by_x = _times_transposed(g, weight)
    if wanted[1]:
        if x.dtype is not dtype:
            return NotImplemented
        by_weight = torch.matmul(_rows(x).mT, rows)
    if wanted[2]:
        by_bias = torch.sum(rows, dim=0)
    return by_x, by_weight, by_bias


def _convolve_pull(
    g: Any,
    wanted: list[bool],
    x: Any,
    w: Any,
    x_shape: Ints,
    w_shape: Ints,
    geometry: Geometry,
    groups: int,
) -> Any:
    """Return cotangents of images, kernels and, if there is one, a bias, by one call."""
    if x is None and w is None:
        return NotImplemented
    x = g.new_empty(x_shape) if x is None else x  # of what is not read, the shape is
    w = g.new_empty(w_shape) if w is None else w
    size = g.shape
    padding = convolution_padding(x.shape, w.shape, size[2:], geometry)
    if padding is None or not _alike(g, x, w):
        return NotImplemented
    asked, bias = ((*wanted, False), None) if len(wanted) == 2 else (wanted, (size[1],))
    return _convolution_pull(
        g, x, w, bias, geometry.stride, padding, geometry.dilation, False,
        (0,) * len(padding), groups, asked,
    )  # fmt: skip


# -- parts ------------------------------------------------------------------------------------


_ALL = slice(None)


def _sliced(x: Any, parts: tuple[Any, ...]) -> Any:
    count = len(parts)
    while count and parts[count - 1] == _ALL:  # each part takes PyTorch some time
        count -= 1
    try:
        return x[parts[:count]]
    except ValueError:  # for a slice that goes back
        return NotImplemented


# -- rows of a table --------------------------------------------------------------------------


def _embedding(weight: Any, indices: Any, padding_idx: int | None) -> Any:
    if not isinstance(indices, np.ndarray):  # then nobody knows yet whether they are in the table
        return NotImplemented
    return torch.embedding(weight, tensor(indices, weight.device))


def _embedding_pull(g: Any, weight_shape: Ints, indices: Any, padding_idx: int | None) -> Any:
    rows = weight_shape[0]
    if not isinstance(indices, np.ndarray) or indices.size < rows:  # few rows are a Block
        return NotImplemented
    if g.dtype.itemsize < 4:  # PyTorch's kernel rounds each sum
        return NotImplemented
    padding = -1 if padding_idx is None else padding_idx
    return _embedding_backward(g, tensor(indices, g.device), rows, padding, False)


# -- attention --------------------------------------------------------------------------------


def _attention(query: Any, key: Any, value: Any, scale: float, is_causal: bool) -> Any:
    """Return attention by whichever kernel PyTorch takes, with what its rule needs of it.

    That differs between kernels, devices and versions, so PyTorch records this one call.
    """
    given = query, key, value
    if not _alike(*given):
        return NotImplemented
    for a in given:  # PyTorch does not record what was made in its mode of inference
        if not a.numel() or a.is_inference():
            return NotImplemented
    if not torch.is_grad_enabled():
        with torch.enable_grad():
            return _attention(query, key, value, scale, is_causal)
    leaves = [a.detach().requires_grad_() for a in given]
    y = _attend(*leaves, is_causal=is_causal, scale=scale)
    return Kept(y.detach(), (y, leaves))


def _attention_pull(g: Any, wanted: list[bool], saved: Any) -> Any:
    if saved is None:
        return NotImplemented
    y, leaves = saved
    kernel = y.grad_fn
    ends = [getattr(node, "variable", None) for node, _ in kernel.next_functions[:3]]
    if len(ends) == 3 and ends[0] is leaves[0] and ends[1] is leaves[1] and ends[2] is leaves[2]:
        with torch.no_grad():  # one kernel: called here, and not by PyTorch's threads
            return kernel(g)
    asked = [leaf for leaf, is_wanted in zip(leaves, wanted, strict=True) if is_wanted]
    found = iter(torch.autograd.grad(y, asked, g, retain_graph=True))
    return [next(found) if is_wanted else None for is_wanted in wanted]


# -- losses -----------------------------------------------------------------------------------


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return _labelled(logits, labels, 0)


def _cross_entropy_pull(g: Any, labels: Any, saved: Any) -> Any:
    return _labelled_pull(g, saved, 0)


def _total_cross_entropy(logits: Any, labels: Any, scale: float) -> Any:
    found = _labelled(logits, labels, 2)
    return found if found is NotImplemented else Kept(found.result * scale, found.saved)


def _total_cross_entropy_pull(g: Any, scale: float, saved: Any) -> Any:
    return _labelled_pull(g * scale, saved, 2)


def _labelled(logits: Any, labels: Any, reduction: int) -> Any:
    """Return losses of rows (reduction 0) or their sum (2), with logarithms of probabilities."""
    if not logits.numel() or not logits.is_floating_point():
        return NotImplemented
    if not isinstance(labels, torch.Tensor):
        labels = torch.as_tensor(labels, device=logits.device)
    logs = torch.log_softmax(logits, 1)
    losses, count = _nll(logs, labels, None, reduction, -100)
    return Kept(losses, (logs, labels, count))


def _labelled_pull(g: Any, saved: Any, reduction: int) -> Any:
    if saved is None:
        return NotImplemented
    logs, labels, count = saved
    by_logs = _nll_pull(g, logs, labels, None, reduction, -100, count)
    return torch._log_softmax_backward_data(by_logs, logs, 1, logs.dtype)


def _over(function: Any) -> Any:
    """Return a reduction of real floats, which adds up narrow ones in float32."""

    def compute(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
        if not axis or not x.dtype.is_floating_point:
            return NotImplemented
        return function(x, axis, keepdims)

    return compute


OWN: dict[str, Own] = {
    "tanh": Own(rule=lambda g, y: _tanh_pull(g, y)),
    "sum": Own(_over(torch.sum)),
    "mean": Own(_over(torch.mean)),
    "reshape": Own(torch.reshape),
    "permute_dims": Own(lambda x, axes: x.permute(axes)),
    "matmul": Own(_matmul, _matmul_pull),
    "nn.relu": Own(torch.relu, lambda g, y: _threshold_pull(g, y, 0)),
    "nn.silu": Own(functional.silu, lambda g, x: _silu_pull(g, x)),
    "nn.gelu": Own(
        functional.gelu,
        lambda g, x, approximate: _gelu_pull(g, x, approximate=approximate),
    ),
    "special.softmax": Own(
        _on_one_axis(torch.softmax), _pull_on_one_axis(torch._softmax_backward_data)
    ),
    "special.log_softmax": Own(
        _on_one_axis(torch.log_softmax), _pull_on_one_axis(torch._log_softmax_backward_data)
    ),
    "nn.layer_norm": Own(_layer_norm, _layer_norm_pull),
    "nn.batch_norm": Own(_batch_norm, _batch_norm_pull),
    "nn.batch_norm_with_moments": Own(_with_moments, _with_moments_pull),
    "nn.linear": Own(_linear, _linear_pull),
    "nn.convolve": Own(convolve, _convolve_pull),
    "nn.convolve_biased": Own(convolve, _convolve_pull),
    "slice": Own(_sliced),
    "nn.embedding": Own(_embedding, _embedding_pull),
    "nn.attention": Own(_attention, _attention_pull),
    "nn.cross_entropy": Own(_cross_entropy, _cross_entropy_pull),
    "nn.total_cross_entropy": Own(_total_cross_entropy, _total_cross_entropy_pull),
}
