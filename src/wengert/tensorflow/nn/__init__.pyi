# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

from . import experimental as experimental

def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def atrous_conv2d_transpose(
    value: Any,
    filters: Any,
    output_shape: Any,
    rate: int,
    padding: Any,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def bias_add(
    value: Any, bias: Any, data_format: Any = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = ..., global_batch_size: Any = ..., **_options: Any
) -> Any: ...
def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = ...,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = ...,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = ...,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = ...,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def convolution(
    input: Any,
    filters: Any,
    strides: Any = ...,
    padding: Any = ...,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def crelu(features: Any, axis: int = ..., name: str | None = ..., **_options: Any) -> Any: ...
def depth_to_space(
    input: Any, block_size: int, data_format: str = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def dropout(
    x: Any,
    rate: Any,
    noise_shape: Any = ...,
    seed: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def elu(features: Any, name: str | None = ..., **_options: Any) -> Any: ...
def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def gelu(
    features: Any, approximate: bool = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def in_top_k(
    targets: Any, predictions: Any, k: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def l2_loss(t: Any, name: str | None = ..., **_options: Any) -> Any: ...
def l2_normalize(
    x: Any, axis: Any = ..., epsilon: float = ..., name: Any = ..., dim: Any = ..., **_options: Any
) -> Any: ...
def leaky_relu(
    features: Any, alpha: float = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def local_response_normalization(
    input: Any,
    depth_radius: int = ...,
    bias: float = ...,
    alpha: float = ...,
    beta: float = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def log_poisson_loss(
    targets: Any,
    log_input: Any,
    compute_full_loss: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def log_softmax(logits: Any, axis: Any = ..., name: str | None = ..., **_options: Any) -> Any: ...
def lrn(
    input: Any,
    depth_radius: int = ...,
    bias: float = ...,
    alpha: float = ...,
    beta: float = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = ...,
    output_dtype: Any = ...,
    include_batch_in_index: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def moments(
    x: Any,
    axes: Any,
    shift: Any = ...,
    keepdims: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = ...,
    padding: Any = ...,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def relu(features: Any, name: str | None = ..., **_options: Any) -> Any: ...
def relu6(features: Any, name: str | None = ..., **_options: Any) -> Any: ...
def scale_regularization_loss(regularization_loss: Any, **_options: Any) -> Any: ...
def selu(features: Any, name: str | None = ..., **_options: Any) -> Any: ...
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = ...,
    dilations: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def sigmoid(x: Any, name: Any = ...) -> Any: ...
def sigmoid_cross_entropy_with_logits(
    labels: Any = ..., logits: Any = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def silu(features: Any, beta: Any = ..., **_options: Any) -> Any: ...
def softmax(logits: Any, axis: Any = ..., name: str | None = ..., **_options: Any) -> Any: ...
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def softplus(features: Any, name: str | None = ..., **_options: Any) -> Any: ...
def softsign(features: Any, name: str | None = ..., **_options: Any) -> Any: ...
def space_to_batch(
    input: Any, block_shape: Any, paddings: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def space_to_depth(
    input: Any, block_size: int, data_format: str = ..., name: str | None = ..., **_options: Any
) -> Any: ...
def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = ...,
    keepdims: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def swish(features: Any, beta: Any = ..., **_options: Any) -> Any: ...
def tanh(x: Any, name: Any = ...) -> Any: ...
def top_k(
    input: Any,
    k: Any = ...,
    sorted: bool = ...,
    index_type: Any = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = ..., **_options: Any
) -> Any: ...
def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    keepdims: bool = ...,
    name: str | None = ...,
    **_options: Any,
) -> Any: ...
def zero_fraction(value: Any, name: str | None = ..., **_options: Any) -> Any: ...
