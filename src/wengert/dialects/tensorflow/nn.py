"""tf.nn without its windows: activations, losses, normalisation, dropout and embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backends.numpy_windows import Geometry
from wengert.dialects.tensorflow.conventions import rsqrt
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import invalid
from wengert.dialects.tensorflow.random import global_generator, of_seed
from wengert.dialects.tensorflow.table import NAMES, offered, put
from wengert.dialects.tensorflow.tensors import (
    check_dtypes,
    convert,
    is_tensor,
    of_one,
    pair,
    static,
    tensor_of,
)
from wengert.engine.tensor import Tensor as Native
from wengert.ops import elementwise, special
from wengert.ops.neural import activations, losses, pooling
from wengert.transforms.gradients import stop_gradient

ns = Native._namespace
_CHECKS: Any = (ValueError, TypeError)


def _real(value: Any, name: str, like: Any = None) -> Native:
    """Return a tensor of floating-point numbers; others are an error."""
    x = convert(value, None, like)
    if x.dtype.kind != "f":
        raise invalid(
            f"{name} of {of_numpy(x.dtype).name}; expected floating-point numbers: write "
            "tf.cast(x, tf.float32)"
        )
    return x


# -- activations --------------------------------------------------------------------------------

_relu = of_one(activations.relu, "Relu", kinds="f")


@offered("nn.relu")
def relu(features: Any, name: str | None = None) -> Any:
    """Return x where it is positive, else 0."""
    x = convert(features)
    return ns.maximum(x, 0) if x.dtype.kind in "iu" else _relu(x)


@offered("nn.relu6")
def relu6(features: Any, name: str | None = None) -> Any:
    """Return x clipped to the interval from 0 to 6."""
    x = convert(features)
    if x.dtype.kind in "iu":
        return ns.clip(x, 0, 6)
    return activations.relu6(_real(x, "Relu6"))


@offered("nn.leaky_relu", raises=_CHECKS)
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    """Return x where it is positive, else alpha * x."""
    x = convert(features)
    x = ns.astype(x, np.float32) if x.dtype.kind in "iu" else _real(x, "LeakyRelu")
    if not isinstance(alpha, (int, float, np.number)):
        raise TypeError(f"alpha={alpha!r}; expected a Python number")
    return activations.leaky_relu(x, float(np.float32(alpha)))  # an attribute of single precision


@offered("nn.elu")
def elu(features: Any, name: str | None = None) -> Any:
    """Return x where it is positive, else exp(x) - 1."""
    return activations.elu(_real(features, "Elu"))


@offered("nn.selu")
def selu(features: Any, name: str | None = None) -> Any:
    """Return elu with a slope and a scale that keep the mean 0 and the variance 1."""
    x = _real(features, "Selu")
    # at 0 the slope is that of the straight line in TensorFlow, and the other one in Wengert
    return ns.where(x >= 0, x * activations.SELU["scale"], activations.selu(x))


@offered("nn.gelu", raises=_CHECKS)
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """Return x times the chance that a normal number is smaller than x."""
    x = convert(features)
    if x.dtype.kind != "f":
        raise ValueError(
            f"gelu of {of_numpy(x.dtype).name}; expected floating-point numbers: write "
            "tf.cast(x, tf.float32)"
        )
    return activations.gelu(x, approximate="tanh" if approximate else "none")


@offered("nn.silu", "nn.swish", named=False)
def silu(features: Any, beta: Any = 1.0) -> Any:
    """Return x * sigmoid(beta * x)."""
    x = _real(features, "Sigmoid")
    if type(beta) in (int, float) and beta == 1:
        return activations.silu(x)
    beta = convert(beta, None, x.dtype)
    check_dtypes("Mul", x, beta)
    return x * activations.sigmoid(beta * x)


@offered("nn.crelu", raises=_CHECKS)
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Any:
    """Return relu of x and of -x, side by side."""
    x = convert(features)
    return relu(ns.concat([x, -x], axis=static(axis)))


def _checked_axis(x: Native, axis: Any) -> int:
    axis = -1 if axis is None else static(axis)
    if not isinstance(axis, int):
        raise TypeError(f"axis is {axis!r}; expected an integer")
    if not -x.ndim <= axis < x.ndim:
        raise invalid(
            f"axis={axis} of a tensor with {x.ndim} axes; expected {-x.ndim} to {x.ndim - 1}"
        )
    return axis


def _softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return exp(x) over its sum along an axis."""
    x = _real(logits, "Softmax")
    return activations.softmax(x, axis=_checked_axis(x, axis))


def _log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the logarithm of softmax."""
    x = _real(logits, "LogSoftmax")
    return activations.log_softmax(x, axis=_checked_axis(x, axis))


def _softplus(features: Any, name: str | None = None) -> Any:
    """Return log(1 + exp(x))."""
    return activations.softplus(_real(features, "Softplus"))


def _softsign(features: Any, name: str | None = None) -> Any:
    """Return x / (1 + abs(x))."""
    return activations.softsign(_real(features, "Softsign"))


def _zero_fraction(value: Any, name: str | None = None) -> Any:
    """Return how much of x is 0."""
    x = np.asarray(convert(value)._raw)
    part = np.count_nonzero(x == 0) / x.size if x.size else np.nan
    return ns.asarray(np.asarray(part, np.float32))


def _l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: Any = None, dim: Any = None
) -> Any:
    """Return x over its Euclidean norm along some axes, or over sqrt(epsilon) if that is more.

    `dim` is an old name of `axis`.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError(f"axis={axis!r} and dim={dim!r} say the same; give one of them")
        axis = dim
    x = convert(x)
    if x.dtype.kind == "b":
        raise invalid("l2_normalize of bool; expected floating-point numbers")
    if x.dtype.kind not in "fc":
        raise TypeError(
            f"l2_normalize of {x.dtype.name}; expected floating-point numbers: write "
            "tf.cast(x, tf.float32)"
        )
    where = static(axis)
    where = tuple(where) if isinstance(where, list) else where
    squares = ns.sum(ns.real(x * ns.conj(x)) if x.dtype.kind == "c" else x * x,
                     axis=where, keepdims=True)  # fmt: skip
    # of equal numbers tf.maximum takes the derivative of the first
    floor = ns.where(squares >= epsilon, squares, epsilon)
    return x * ns.astype(rsqrt(floor), x.dtype)


# -- losses -------------------------------------------------------------------------------------


@offered("nn.softmax_cross_entropy_with_logits", raises=_CHECKS)
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Any:
    """Return -sum(labels * log_softmax(logits)) along an axis; labels are probabilities."""
    x = _real(logits, "SoftmaxCrossEntropyWithLogits")
    p = convert(labels, None, x.dtype)
    p = p if p.dtype == x.dtype else ns.astype(p, x.dtype)
    axis = _checked_axis(x, axis)
    x, p = (t if axis in (-1, t.ndim - 1) else ns.moveaxis(t, axis, -1) for t in (x, p))
    rows = x.shape[:-1]
    x, p = (t if t.ndim == 2 else ns.reshape(t, (-1, *t.shape[-1:])) for t in (x, p))
    if any(n not in (1, m) and m != 1 for n, m in zip(p.shape, x.shape, strict=True)):
        raise invalid(
            f"labels of {p.shape} rows and classes for logits of {x.shape}; expected the same "
            "numbers, or 1"
        )
    loss = -ns.sum(p * activations.log_softmax(x, axis=1), axis=1)
    excess = stop_gradient(ns.sum(p, axis=1)) - 1.0
    if np.any(excess._raw):
        # TensorFlow's derivative is softmax(logits) - labels also where labels do not add up to 1
        total = special.logsumexp(x, axis=1)
        loss = loss - excess * (total - stop_gradient(total))
    return ns.reshape(loss, rows)


@offered("nn.sparse_softmax_cross_entropy_with_logits", raises=_CHECKS)
def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """Return -log_softmax(logits)[label] for each row; labels are indices of classes."""
    x = _real(logits, "SparseSoftmaxCrossEntropyWithLogits")
    where = np.asarray(convert(labels).numpy())
    if where.ndim != x.ndim - 1:
        raise ValueError(
            f"labels of shape {where.shape} and logits of shape {x.shape}; expected one label for "
            "each row of logits"
        )
    if where.shape != x.shape[:-1]:
        raise ValueError(
            f"labels of shape {where.shape}; expected {x.shape[:-1]}, which logits of shape "
            f"{x.shape} have without their last axis"
        )
    if where.dtype not in (np.int32, np.int64):
        raise invalid(f"labels of {where.dtype}; expected whole numbers of tf.int32 or tf.int64")
    if where.size and (where.min() < 0 or where.max() >= x.shape[-1]):
        raise invalid(
            f"label {where.max() if where.min() >= 0 else where.min()}; the logits have classes "
            f"0 to {x.shape[-1] - 1}"
        )
    return losses.cross_entropy(x, where, reduction="none")


def _same_shapes(x: Native, labels: Native, what: str = "logits and labels") -> None:
    if x.shape != labels.shape:
        raise ValueError(f"{what} have shapes {x.shape} and {labels.shape}; they must be equal")


@offered("nn.sigmoid_cross_entropy_with_logits", raises=_CHECKS)
def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """Return the cross-entropy of the probabilities sigmoid(logits) and the labels."""
    if labels is None or logits is None:
        raise ValueError(
            f"labels={labels} and logits={logits}; sigmoid_cross_entropy_with_logits needs both"
        )
    x, z = convert(logits), convert(labels)
    _same_shapes(x, z)
    check_dtypes("Mul", _real(x, "Sigmoid"), z)
    return activations.softplus(x) - x * z


@offered("nn.weighted_cross_entropy_with_logits", raises=_CHECKS)
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Any:
    """Return the cross-entropy with a factor on the part for positive labels."""
    x, z = convert(logits), convert(labels)
    _same_shapes(x, z)
    check_dtypes("Mul", _real(x, "Sigmoid"), z)
    weight = convert(pos_weight, None, x.dtype)
    check_dtypes("Mul", x, weight)
    # in these terms, so that the derivative at 0 is TensorFlow's
    rest = ns.log1p(ns.exp(-ns.abs(x))) + activations.relu(-x)
    return (1 - z) * x + (1 + (weight - 1) * z) * rest


@offered("nn.log_poisson_loss", raises=_CHECKS)
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Any:
    """Return exp(log_input) - targets * log_input, perhaps with Stirling's term of the targets."""
    x, z = convert(log_input), convert(targets)
    _same_shapes(x, z, "log_input and targets")
    check_dtypes("Mul", x, z)
    loss = ns.exp(x) - x * z
    if not compute_full_loss:
        return loss
    inside = ns.where(z > 0, z, 1.0)
    term = z * ns.log(inside) - z + 0.5 * ns.log(2.0 * np.pi * inside)
    return loss + ns.where((z >= 0) & (z <= 1), 0.0, term)


@offered("nn.l2_loss")
def l2_loss(t: Any, name: str | None = None) -> Any:
    """Return half the sum of squares."""
    x = _real(t, "L2Loss")
    return ns.sum(x * x) / 2.0


@offered("nn.compute_average_loss", raises=_CHECKS)
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """Return the sum of losses, perhaps weighted, over the number of examples."""
    x = convert(per_example_loss)
    count = (
        (x.shape[0] if x.ndim else 1) if global_batch_size is None else static(global_batch_size)
    )
    if not isinstance(count, int):
        raise TypeError(f"global_batch_size={count!r}; expected a whole number")
    if sample_weight is not None:
        x = x * convert(sample_weight, None, x.dtype)
    return ns.sum(x) / count


@offered("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """Return the sum of a loss; there is one replica."""
    return ns.sum(convert(regularization_loss))


# -- normalisation ------------------------------------------------------------------------------


def _moments_axes(axes: Any) -> tuple[int, ...]:
    axes = static(axes)
    return tuple(axes) if isinstance(axes, (list, tuple)) else (axes,)


def _mean(x: Native, axes: tuple[int, ...], keepdims: bool) -> Native:
    """Return the mean, of whole numbers rounded towards 0."""
    if x.dtype.kind == "f":
        return ns.mean(x, axis=axes, keepdims=keepdims)
    return ns.astype(ns.mean(ns.astype(x, np.float64), axis=axes, keepdims=keepdims), x.dtype)


@offered("nn.moments", raises=_CHECKS)
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return the mean and the variance along some axes."""
    x = convert(x)
    over = _moments_axes(axes)
    values = ns.astype(x, np.float32) if x.dtype == np.float16 else x
    mean = _mean(values, over, True)
    difference = values - stop_gradient(mean)
    variance = _mean(difference * difference, over, keepdims)
    if not over and not keepdims:  # then TensorFlow drops all axes of length 1
        over = tuple(a for a, n in enumerate(x.shape) if n == 1)
        variance = ns.squeeze(variance, axis=over)
    mean = mean if keepdims else ns.squeeze(mean, axis=over)
    if x.dtype == np.float16:
        return ns.astype(mean, np.float16), ns.astype(variance, np.float16)
    return mean, variance


@offered("nn.weighted_moments", raises=_CHECKS)
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return the weighted mean and variance along some axes."""
    x, over = convert(x), _moments_axes(axes)
    weights = convert(frequency_weights, None, x.dtype)
    weights = weights if weights.dtype == x.dtype else ns.astype(weights, x.dtype)
    weights = ns.broadcast_to(weights, ns.broadcast_shapes(x.shape, weights.shape))
    total = ns.sum(weights, axis=over, keepdims=True)
    mean = ns.sum(weights * x, axis=over, keepdims=True) / total
    difference = x - mean
    variance = ns.sum(weights * difference * difference, axis=over, keepdims=True) / total
    if keepdims:
        return mean, variance
    return ns.squeeze(mean, axis=over), ns.squeeze(variance, axis=over)


@offered("nn.sufficient_statistics", raises=_CHECKS, recorded=False)
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return the number of elements, their sum, that of their squares, and the shift."""
    x = convert(x)
    over = tuple(sorted({a % x.ndim for a in _moments_axes(axes)}))
    count = ns.asarray(np.asarray(np.prod([x.shape[a] for a in over]), x.dtype))
    if shift is not None:
        shift = convert(shift, None, x.dtype)
        x = x - shift
    total = ns.sum(x, axis=over, keepdims=keepdims)
    return count, total, ns.sum(x * x, axis=over, keepdims=keepdims), shift


@offered("nn.normalize_moments", raises=_CHECKS)
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> Any:
    """Return the mean and the variance from sums."""
    mean_sum, square_sum = pair(mean_ss, variance_ss, "Mul")
    part = 1.0 / convert(counts, None, mean_sum.dtype)
    around = mean_sum * part
    mean = around if shift is None else around + convert(shift, None, mean_sum.dtype)
    return mean, square_sum * part - around * around


@offered("nn.batch_normalization", raises=_CHECKS)
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return x with a mean and a variance taken away, and others put in their place."""
    x = convert(x)
    given = {"mean": mean, "variance": variance, "offset": offset, "scale": scale}
    parts: dict[str, Any] = {
        key: None if value is None else convert(value, None, x.dtype)
        for key, value in given.items()
    }
    check_dtypes("Mul", x, *(part for part in parts.values() if part is not None))
    inverse: Any = rsqrt(parts["variance"] + convert(variance_epsilon, None, x.dtype))
    if parts["scale"] is not None:
        inverse = inverse * parts["scale"]
    shift = -parts["mean"] * inverse
    return x * inverse + (shift if parts["offset"] is None else parts["offset"] + shift)


@offered("nn.local_response_normalization", "nn.lrn", raises=(TypeError,))
def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return x over a power of the sum of squares of neighbouring channels."""
    for word, value in (("bias", bias), ("alpha", alpha), ("beta", beta)):
        if is_tensor(value):  # for which there would be no derivative
            raise TypeError(f"{word} is a tensor; expected a number: write float({word})")
    single = isinstance(input, np.ndarray) and input.dtype == np.float64  # tensors stay as they are
    x = _real(input.astype(np.float32) if single else input, "LRN")
    if x.dtype == np.float64:
        raise invalid("lrn of float64; expected tf.float32")
    if x.ndim != 4:
        raise invalid(f"lrn of shape {x.shape}; expected (batch, rows, columns, channels)")
    radius = int(depth_radius)
    around = pooling.window_sum(
        x * x, kernel=(2 * radius + 1,), size=x.shape[-1:],
        geometry=Geometry((1,), (radius,), (1,)),
    )  # fmt: skip
    return x * (bias + alpha * around) ** -float(beta)


@offered("nn.bias_add", raises=_CHECKS)
def bias_add(value: Any, bias: Any, data_format: Any = None, name: str | None = None) -> Any:
    """Return a number for each channel added to x."""
    first = data_format is not None and data_format.startswith("NC")
    if data_format is not None and not first and not (
        data_format.startswith("N") and data_format.endswith("C")
    ):  # fmt: skip
        raise ValueError(f"data_format={data_format!r}; expected one such as 'NHWC' or 'NCHW'")
    x, b = convert(value), None
    b = convert(bias, None, x.dtype)
    check_dtypes("BiasAdd", x, b)
    axis = 1 if first else x.ndim - 1
    if x.ndim < 2:
        raise invalid(f"bias_add to shape {x.shape}; expected a batch and channels")
    if b.ndim != 1 or b.shape[0] != x.shape[axis]:
        raise invalid(
            f"bias of shape {b.shape} for a tensor of shape {x.shape}; expected one number for "
            f"each of {x.shape[axis]} channels"
        )
    return x + (ns.reshape(b, (-1, *(1,) * (x.ndim - 2))) if first else b)


# -- chance and tables --------------------------------------------------------------------------


@offered("nn.dropout", raises=_CHECKS, differs="other random numbers than TensorFlow's")
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Any:
    """Return x with each element 0 by chance `rate`, and the others divided by 1 - rate."""
    return _dropped(x, rate, noise_shape, global_generator(seed))


@offered(
    "nn.experimental.stateless_dropout",
    raises=_CHECKS,
    differs="other random numbers than TensorFlow's",
)
def stateless_dropout(
    x: Any, rate: Any, seed: Any, rng_alg: Any = "auto_select", noise_shape: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return `dropout` that drops the same elements for the same seed."""
    return _dropped(x, rate, noise_shape, of_seed(seed))


def _dropped(given: Any, rate: Any, noise_shape: Any, rng: np.random.Generator) -> Any:
    x = convert(given)
    if x.dtype.kind not in "fc":
        raise ValueError(
            f"dropout of {of_numpy(x.dtype).name}; expected floating-point numbers: write "
            "tf.cast(x, tf.float32)"
        )
    chance = float(static(rate))
    if not 0 <= chance < 1:
        raise ValueError(
            f"rate={chance}, the chance of an element to be 0; expected from 0 to less than 1"
        )
    if not chance and not is_tensor(rate):
        return tensor_of(given)
    lengths = x.shape if noise_shape is None else tuple(static(noise_shape))
    lengths = tuple(m if n is None else n for n, m in zip(lengths, x.shape, strict=True))
    kept = rng.random(lengths, dtype=np.float32) >= chance
    if is_tensor(rate):
        scaled = x / (1 - convert(rate, of_numpy(x.dtype)))
    else:
        scaled = x * (1 / (1 - chance))
    return ns.where(ns.asarray(kept), scaled, 0.0)


@offered(
    "nn.embedding_lookup",
    raises=_CHECKS,
    differs="tables in a list of several have dense gradients",
)
def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
) -> Any:
    """Return rows of a table; the gradient is `tf.IndexedSlices`."""
    if params is None:
        raise ValueError("params=None; expected a table, or a list of tables")
    whole = params
    if isinstance(params, (list, tuple)) and params and hasattr(type(params[0]), "dtype"):
        whole = params[0] if len(params) == 1 else ns.concat([convert(p) for p in params], axis=0)
    where = convert(ids)
    rows = NAMES["gather"](whole, where)
    if max_norm is None:
        return rows
    return NAMES["clip_by_norm"](rows, max_norm, list(range(where.ndim, rows.ndim)))


#: What is in `tf.math` or `tf.linalg` as well.
_SHARED: dict[str, Any] = {
    "softmax": _softmax, "log_softmax": _log_softmax, "softplus": _softplus, "softsign": _softsign,
    "zero_fraction": _zero_fraction, "l2_normalize": _l2_normalize,
}  # fmt: skip
for _name, _function in _SHARED.items():
    _others = ("math", "linalg") if _name == "l2_normalize" else ("math",)
    _places = (f"nn.{_name}", *(f"{_other}.{_name}" for _other in _others))
    _recorded = _name != "zero_fraction"  # which TensorFlow computes with whole numbers
    offered(*_places, raises=_CHECKS, recorded=_recorded)(_function)
for _name, _op in (("sigmoid", special.expit), ("tanh", elementwise.tanh)):
    if f"nn.{_name}" not in NAMES:
        put((f"nn.{_name}",), of_one(_op, _name.capitalize()))
