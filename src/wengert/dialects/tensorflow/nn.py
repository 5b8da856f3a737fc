"""tf.nn without its windows: activations, losses, normalisation, dropout and embeddings."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert import backends
from wengert.backends.numpy_windows import Geometry
from wengert.dialects.kernel.functions import Kind
from wengert.dialects.tensorflow import kinds as K
from wengert.dialects.tensorflow import tensors as eager
from wengert.dialects.tensorflow.conventions import rsqrt
from wengert.dialects.tensorflow.dtypes import of_numpy
from wengert.dialects.tensorflow.errors import invalid, unfit
from wengert.dialects.tensorflow.random import global_generator, of_seed
from wengert.dialects.tensorflow.reductions import mean_of
from wengert.dialects.tensorflow.table import NAMES, offered, put, quick_call, row
from wengert.dialects.tensorflow.tensors import Native, ns
from wengert.ops import special
from wengert.ops.families.narrow import in_single
from wengert.ops.neural import activations, losses, pooling
from wengert.transforms.gradients import stop_gradient

_CHECKS: Any = (ValueError, TypeError)
_OTHERS = "other random numbers than TensorFlow's"
#: One axis, where lists are a TypeError; numbers with fractions, where others are a ValueError.
_Axis = Annotated[int, Kind(K.READERS.axis)]
_Fractions = Annotated[Native, K.tensor("f", ValueError)]


# -- activations --------------------------------------------------------------------------------


def _relu(x: Native) -> Native:
    return ns.maximum(x, 0) if x.dtype.kind in "iu" else activations.relu(x)


def _relu6(x: Native) -> Native:
    return ns.clip(x, 0, 6) if x.dtype.kind in "iu" else activations.relu6(x)


def _selu(x: Native) -> Native:
    # at 0 the slope is that of the straight line in TensorFlow, and the other one in Wengert
    return ns.where(x >= 0, x * activations.SELU["scale"], activations.selu(x))


relu = row(
    "nn.relu", _relu, "x where it is positive, else 0", features=K.Real,
    quick=quick_call(activations.relu, {}, "f"),
)  # fmt: skip
row("nn.relu6", _relu6, "x clipped to the interval from 0 to 6", features=K.Real)
row("nn.elu", activations.elu, "x where it is positive, else exp(x) - 1", features=K.Floating)
selu = row("nn.selu", _selu, "elu with slopes that keep mean and variance", features=K.Floating)
row("nn.softplus math.softplus", activations.softplus, "log(1 + exp(x))", features=K.Floating)
row("nn.softsign math.softsign", activations.softsign, "x / (1 + abs(x))", features=K.Floating)


@offered("nn.leaky_relu", raises=_CHECKS)
def leaky_relu(features: K.Real, alpha: float = 0.2) -> Native:
    """Return x where it is positive, else alpha * x."""
    x = ns.astype(features, np.float32) if features.dtype.kind in "iu" else features
    if not isinstance(alpha, (int, float, np.number)):
        raise TypeError(f"alpha={alpha!r}; expected a Python number")
    return activations.leaky_relu(x, float(np.float32(alpha)))  # an attribute of single precision


@offered("nn.gelu", raises=_CHECKS)
def gelu(features: _Fractions, approximate: bool = False) -> Native:
    """Return x times the chance that a normal number is smaller than x."""
    return activations.gelu(features, approximate="tanh" if approximate else "none")


@offered("nn.silu", "nn.swish", named=False)
def silu(features: K.Floating, beta: Any = 1.0) -> Native:
    """Return x * sigmoid(beta * x)."""
    if type(beta) in (int, float) and beta == 1:
        return activations.silu(features)
    slope = eager.convert(beta, None, features.dtype)
    eager.check_dtypes("Mul", features, slope)
    return features * activations.sigmoid(slope * features)


def _along_axis(name: str, compute: Any, doc: str) -> None:
    """Offer a function of logits along an axis."""

    @offered(f"nn.{name}", f"math.{name}", raises=_CHECKS, doc=f"Return {doc}.")
    def call(logits: K.Floating, axis: _Axis | None = None) -> Native:
        return compute(logits, axis=-1 if axis is None else axis)


_along_axis("softmax", activations.softmax, "exp(x) over its sum along an axis")
_along_axis("log_softmax", activations.log_softmax, "the logarithm of softmax")


@offered("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize", raises=_CHECKS)
def l2_normalize(
    x: K.Numbers, axis: K.Axes = None, epsilon: float = 1e-12, name: Any = None,
    dim: K.Axes | None = None,
) -> Native:  # fmt: skip
    """Return x over its Euclidean norm along some axes, or over sqrt(epsilon) if that is more.

    `dim` is an old name of `axis`.
    """
    if dim is not None and len(axis) != x.ndim:
        raise ValueError(f"axis={axis!r} and dim={dim!r} say the same; give one of them")
    if not backends.is_inexact(x.dtype):
        raise TypeError(f"l2_normalize of {x.dtype.name}; write tf.cast(x, tf.float32)")
    squares = ns.real(x * ns.conj(x)) if x.dtype.kind == "c" else x * x
    total = ns.sum(squares, axis=axis if dim is None else dim, keepdims=True)
    # of equal numbers tf.maximum takes the derivative of the first
    floor = ns.where(total >= epsilon, total, epsilon)
    return x * ns.astype(rsqrt(floor), x.dtype)


# -- losses -------------------------------------------------------------------------------------


@offered("nn.softmax_cross_entropy_with_logits", raises=_CHECKS)
@in_single
def softmax_cross_entropy_with_logits(labels: Any, logits: K.Floating, axis: _Axis = -1) -> Native:
    """Return -sum(labels * log_softmax(logits)) along an axis; labels are probabilities."""
    p = ns.astype(eager.convert(labels, None, logits.dtype), logits.dtype, copy=False)
    if axis != logits.ndim - 1:
        logits, p = ns.moveaxis(logits, axis, -1), ns.moveaxis(p, axis, -1)
    rows = logits.shape[:-1]
    x, p = (t if t.ndim == 2 else ns.reshape(t, (-1, *t.shape[-1:])) for t in (logits, p))
    if any(n not in (1, m) and m != 1 for n, m in zip(p.shape, x.shape, strict=True)):
        raise unfit("as many rows and classes, or 1", labels=p, logits=x)
    loss = -ns.sum(p * activations.log_softmax(x, axis=1), axis=1)
    excess = stop_gradient(ns.sum(p, axis=1)) - 1.0
    if np.any(excess._raw):
        # TensorFlow's derivative is softmax(logits) - labels also where labels do not add up to 1
        total = special.logsumexp(x, axis=1)
        loss = loss - excess * (total - stop_gradient(total))
    return ns.reshape(loss, rows)


@offered("nn.sparse_softmax_cross_entropy_with_logits", raises=_CHECKS)
def sparse_softmax_cross_entropy_with_logits(labels: K.Array, logits: K.Floating) -> Native:
    """Return -log_softmax(logits)[label] for each row; labels are indices of classes."""
    if labels.shape != logits.shape[:-1] or not logits.ndim:
        raise unfit("a label for each row of logits", ValueError, labels=labels, logits=logits)
    if labels.dtype not in (np.int32, np.int64):
        raise invalid(f"labels of {labels.dtype}; expected whole numbers of tf.int32 or tf.int64")
    outside = labels[(labels < 0) | (labels >= logits.shape[-1])]
    if outside.size:
        raise invalid(f"label {outside[0]}; the logits have classes 0 to {logits.shape[-1] - 1}")
    return losses.cross_entropy(logits, labels, reduction="none")


def _check_alike(x: Native, z: Native, kinds: str = "f") -> None:
    """Raise unless logits and labels, or the like, have one shape and one dtype."""
    if x.shape != z.shape:
        raise unfit("one shape", ValueError, values=x, labels=z)
    eager.check_kind(x, kinds, "Sigmoid")
    eager.check_dtypes("Mul", x, z)


@offered("nn.sigmoid_cross_entropy_with_logits", raises=_CHECKS)
def sigmoid_cross_entropy_with_logits(
    labels: K.Input | None = None, logits: K.Input | None = None
) -> Native:
    """Return the cross-entropy of the probabilities sigmoid(logits) and the labels."""
    if labels is None or logits is None:
        raise unfit("both of them", ValueError, labels=labels, logits=logits)
    _check_alike(logits, labels)
    return activations.softplus(logits) - logits * labels


@offered("nn.weighted_cross_entropy_with_logits", raises=_CHECKS)
def weighted_cross_entropy_with_logits(
    labels: K.Input, logits: K.Input, pos_weight: K.Like
) -> Native:
    """Return the cross-entropy with a factor on the part for positive labels."""
    _check_alike(logits, labels)
    # in these terms, so that the derivative at 0 is TensorFlow's
    rest = ns.log1p(ns.exp(-ns.abs(logits))) + activations.relu(-logits)
    return (1 - labels) * logits + (1 + (pos_weight - 1) * labels) * rest


row("nn.l2_loss", lambda t: ns.sum(t * t) / 2.0, "half the sum of squares", t=K.Floating)


@offered("nn.compute_average_loss", raises=_CHECKS, named=False)
def compute_average_loss(
    per_example_loss: K.Input, sample_weight: Any = None, global_batch_size: K.Int | None = None
) -> Native:
    """Return the sum of losses, perhaps weighted, over the number of examples."""
    x = per_example_loss
    usual = x.shape[0] if x.ndim else 1
    if sample_weight is not None:
        weight = eager.convert(sample_weight, None, x.dtype)
        if weight.ndim == x.ndim - 1 > 0:  # one for each row
            weight = ns.expand_dims(weight, axis=-1)
        elif weight.ndim == x.ndim + 1:
            weight = ns.squeeze(weight, axis=-1)
        x = x * weight
    count = usual if global_batch_size is None else global_batch_size
    return ns.sum(x) / count if count else ns.sum(x * 0)


# -- normalisation ------------------------------------------------------------------------------


@offered("nn.moments", raises=_CHECKS)
def moments(
    x: K.Input, axes: K.Axes, shift: Any = None, keepdims: bool = False
) -> tuple[Native, Native]:
    """Return the mean and the variance along some axes."""
    values = ns.astype(x, np.float32) if backends.is_narrow(x.dtype) else x
    mean = mean_of(values, axes, True)
    difference = values - stop_gradient(mean)
    variance = mean_of(difference * difference, axes, keepdims)
    if not axes and not keepdims:  # then TensorFlow drops all axes of length 1
        axes = tuple(a for a, n in enumerate(x.shape) if n == 1)
        variance = ns.squeeze(variance, axis=axes)
    mean = mean if keepdims else ns.squeeze(mean, axis=axes)
    return ns.astype(mean, x.dtype, copy=False), ns.astype(variance, x.dtype, copy=False)


@offered("nn.batch_normalization", raises=_CHECKS)
def batch_normalization(
    x: K.Input, mean: K.Like, variance: K.Like, offset: K.Like | None, scale: K.Like | None,
    variance_epsilon: K.Like,
) -> Native:  # fmt: skip
    """Return x normalised by a mean and a variance, then scaled and shifted."""
    inverse: Any = rsqrt(variance + variance_epsilon)
    inverse = inverse if scale is None else inverse * scale
    shift = -mean * inverse
    return x * inverse + (shift if offset is None else offset + shift)


@offered("nn.local_response_normalization", "nn.lrn", raises=(TypeError,))
def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Native:  # fmt: skip
    """Return x over a power of the sum of squares of neighbouring channels."""
    for word, value in (("bias", bias), ("alpha", alpha), ("beta", beta)):
        if eager.is_tensor(value):  # for which there would be no derivative
            raise TypeError(f"{word} is a tensor; expected a number: write float({word})")
    single = isinstance(input, np.ndarray) and input.dtype == np.float64  # tensors stay as they are
    x = eager.convert(input.astype(np.float32) if single else input)
    if x.dtype != np.float32 and not backends.is_narrow(x.dtype):
        raise invalid(f"lrn of {x.dtype.name}; write tf.cast(x, tf.float32)")
    if x.ndim != 4:
        raise invalid(f"lrn of shape {x.shape}; expected (batch, rows, columns, channels)")
    radius = int(depth_radius)
    around = pooling.window_sum(
        x * x, kernel=(2 * radius + 1,), size=x.shape[-1:],
        geometry=Geometry((1,), (radius,), (1,)),
    )  # fmt: skip
    return x * (bias + alpha * around) ** -float(beta)


@offered("nn.bias_add", raises=_CHECKS)
def bias_add(value: K.Input, bias: K.Like, data_format: str | None = None) -> Native:
    """Return a number for each channel added to x."""
    layout = data_format or "NC"
    first = data_format is not None and layout.startswith("NC")
    if not first and not (layout.startswith("N") and layout.endswith("C")):
        raise ValueError(f"data_format={data_format!r}; expected one such as 'NHWC' or 'NCHW'")
    if value.ndim < 2:
        raise unfit("a batch and channels", value=value)
    channels = value.shape[1 if first else -1]
    if bias.shape != (channels,):
        raise unfit(f"one number for each of {channels} channels", bias=bias, value=value)
    return value + (ns.reshape(bias, (-1, *(1,) * (value.ndim - 2))) if first else bias)


# -- chance and tables --------------------------------------------------------------------------


@offered("nn.dropout", raises=_CHECKS, differs=_OTHERS)
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None) -> Any:
    """Return x with each element 0 by chance `rate`, and the others divided by 1 - rate."""
    return _dropped(x, rate, noise_shape, global_generator(seed))


@offered("nn.experimental.stateless_dropout", raises=_CHECKS, differs=_OTHERS)
def stateless_dropout(
    x: Any, rate: Any, seed: Any, rng_alg: Any = "auto_select", noise_shape: Any = None
) -> Any:
    """Return `dropout` that drops the same elements for the same seed."""
    return _dropped(x, rate, noise_shape, of_seed(seed))


def _dropped(given: Any, rate: Any, noise_shape: Any, rng: np.random.Generator) -> Any:
    x = eager.convert(given)
    if not backends.is_inexact(x.dtype):
        raise ValueError(f"dropout of {x.dtype.name}; write tf.cast(x, tf.float32)")
    chance = float(eager.static(rate))
    if not 0 <= chance < 1:
        raise unfit("a chance from 0 to less than 1", ValueError, rate=chance)
    if not chance and not eager.is_tensor(rate):
        return eager.tensor_of(given)
    lengths = x.shape if noise_shape is None else tuple(eager.static(noise_shape))
    lengths = tuple(m if n is None else n for n, m in zip(lengths, x.shape, strict=True))
    kept = rng.random(lengths, dtype=np.float32) >= chance
    if eager.is_tensor(rate):
        scaled = x / (1 - eager.convert(rate, of_numpy(x.dtype)))
    else:
        scaled = x * (1 / (1 - chance))
    return ns.where(ns.asarray(kept), scaled, 0.0)


@offered(
    "nn.embedding_lookup",
    raises=_CHECKS,
    differs="tables in a list of several have dense gradients",
)
def embedding_lookup(params: Any, ids: K.Input, max_norm: float | None = None) -> Any:
    """Return rows of a table; the gradient is `tf.IndexedSlices`."""
    if params is None:
        raise ValueError("params=None; expected a table, or a list of tables")
    whole = params
    if isinstance(params, (list, tuple)) and params and hasattr(type(params[0]), "dtype"):
        whole = (
            params[0] if len(params) == 1 else ns.concat([eager.convert(p) for p in params], axis=0)
        )
    rows = NAMES["gather"](whole, ids)
    if max_norm is None:
        return rows
    return NAMES["clip_by_norm"](rows, max_norm, list(range(ids.ndim, rows.ndim)))


for _name in ("sigmoid", "tanh"):
    put((f"nn.{_name}",), NAMES[_name])
