# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

def adaptive_avg_pool1d(input: Any, output_size: Any, **_options: Any) -> Any: ...
def adaptive_avg_pool2d(input: Any, output_size: Any, **_options: Any) -> Any: ...
def adaptive_avg_pool3d(input: Any, output_size: Any, **_options: Any) -> Any: ...
def adaptive_max_pool1d(
    input: Any, output_size: Any, return_indices: bool = ..., **_options: Any
) -> Any: ...
def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = ..., **_options: Any
) -> Any: ...
def adaptive_max_pool2d(
    input: Any, output_size: Any, return_indices: bool = ..., **_options: Any
) -> Any: ...
def adaptive_max_pool2d_with_indices(
    input: Any, output_size: Any, return_indices: bool = ..., **_options: Any
) -> Any: ...
def adaptive_max_pool3d(
    input: Any, output_size: Any, return_indices: bool = ..., **_options: Any
) -> Any: ...
def adaptive_max_pool3d_with_indices(
    input: Any, output_size: Any, return_indices: bool = ..., **_options: Any
) -> Any: ...
def affine_grid(
    theta: Any, size: Any, align_corners: bool | None = ..., **_options: Any
) -> Any: ...
def alpha_dropout(input: Any, p: Any = ..., training: Any = ..., inplace: Any = ...) -> Any: ...
def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    ceil_mode: bool = ...,
    count_include_pad: bool = ...,
    **_options: Any,
) -> Any: ...
def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    ceil_mode: bool = ...,
    count_include_pad: bool = ...,
    divisor_override: int | None = ...,
    **_options: Any,
) -> Any: ...
def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    ceil_mode: bool = ...,
    count_include_pad: bool = ...,
    divisor_override: int | None = ...,
    **_options: Any,
) -> Any: ...
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = ...,
    bias: Any = ...,
    training: bool = ...,
    momentum: float = ...,
    eps: float = ...,
    **_options: Any,
) -> Any: ...
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = ..., **_options: Any) -> Tensor: ...
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: _Tensor | None = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def binary_cross_entropy_with_logits(
    input: _Tensor,
    target: _Tensor,
    weight: _Tensor | None = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    pos_weight: _Tensor | None = ...,
    **_options: Any,
) -> Any: ...
def celu(input: Any, alpha: Any = ..., inplace: Any = ...) -> Any: ...
def celu_(input: Any, alpha: Any = ...) -> Any: ...
def channel_shuffle(input: Any, groups: int, **_options: Any) -> Any: ...
def conv1d(
    input: Any,
    weight: Any,
    bias: Any = ...,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    groups: int = ...,
    **_options: Any,
) -> Any: ...
def conv2d(
    input: Any,
    weight: Any,
    bias: Any = ...,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    groups: int = ...,
    **_options: Any,
) -> Any: ...
def conv3d(
    input: Any,
    weight: Any,
    bias: Any = ...,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    groups: int = ...,
    **_options: Any,
) -> Any: ...
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = ..., **_options: Any) -> Any: ...
def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = ...,
    stride: Any = ...,
    padding: Any = ...,
    output_padding: Any = ...,
    groups: int = ...,
    dilation: Any = ...,
    **_options: Any,
) -> Any: ...
def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = ...,
    stride: Any = ...,
    padding: Any = ...,
    output_padding: Any = ...,
    groups: int = ...,
    dilation: Any = ...,
    **_options: Any,
) -> Any: ...
def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = ...,
    stride: Any = ...,
    padding: Any = ...,
    output_padding: Any = ...,
    groups: int = ...,
    dilation: Any = ...,
    **_options: Any,
) -> Any: ...
def cosine_embedding_loss(
    input1: _Tensor,
    input2: _Tensor,
    target: _Tensor,
    margin: float = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def cosine_similarity(
    x1: _Tensor, x2: _Tensor, dim: int = ..., eps: float = ..., **_options: Any
) -> Tensor: ...
def cross_entropy(
    input: _Tensor,
    target: _Tensor,
    weight: _Tensor | None = ...,
    size_average: Any = ...,
    ignore_index: int = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    label_smoothing: float = ...,
    **_options: Any,
) -> Tensor: ...
def dropout(input: Any, p: Any = ..., training: Any = ..., inplace: Any = ...) -> Any: ...
def dropout1d(input: Any, p: Any = ..., training: Any = ..., inplace: Any = ...) -> Any: ...
def dropout2d(input: Any, p: Any = ..., training: Any = ..., inplace: Any = ...) -> Any: ...
def dropout3d(input: Any, p: Any = ..., training: Any = ..., inplace: Any = ...) -> Any: ...
def elu(input: Any, alpha: Any = ..., inplace: Any = ...) -> Any: ...
def elu_(input: Any, alpha: Any = ...) -> Any: ...
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = ...,
    max_norm: float | None = ...,
    norm_type: float = ...,
    scale_grad_by_freq: bool = ...,
    sparse: bool = ...,
    **_options: Any,
) -> Tensor: ...
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = ...,
    max_norm: float | None = ...,
    norm_type: float = ...,
    scale_grad_by_freq: bool = ...,
    mode: str = ...,
    sparse: bool = ...,
    per_sample_weights: _Tensor | None = ...,
    include_last_offset: bool = ...,
    padding_idx: int | None = ...,
    **_options: Any,
) -> Tensor: ...
def feature_alpha_dropout(
    input: Any, p: Any = ..., training: Any = ..., inplace: Any = ...
) -> Any: ...
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = ...,
    padding: Any = ...,
    stride: Any = ...,
    **_options: Any,
) -> Any: ...
def gaussian_nll_loss(
    input: _Tensor,
    target: _Tensor,
    var: Any,
    full: bool = ...,
    eps: float = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Tensor: ...
def gelu(input: Any, *, approximate: Any = ...) -> Any: ...
def glu(input: _Tensor, dim: int = ..., **_options: Any) -> Tensor: ...
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = ...,
    padding_mode: str = ...,
    align_corners: bool | None = ...,
    **_options: Any,
) -> Any: ...
def group_norm(
    input: Any,
    num_groups: int,
    weight: Any = ...,
    bias: Any = ...,
    eps: float = ...,
    **_options: Any,
) -> Any: ...
def gumbel_softmax(
    logits: _Tensor,
    tau: float = ...,
    hard: bool = ...,
    eps: float = ...,
    dim: int = ...,
    **_options: Any,
) -> Tensor: ...
def hardshrink(input: Any, lambd: Any = ...) -> Any: ...
def hardsigmoid(input: Any, inplace: Any = ...) -> Any: ...
def hardswish(input: Any, inplace: Any = ...) -> Any: ...
def hardtanh(input: Any, min_val: Any = ..., max_val: Any = ..., inplace: Any = ...) -> Any: ...
def hardtanh_(input: Any, min_val: Any = ..., max_val: Any = ...) -> Any: ...
def hinge_embedding_loss(
    input: _Tensor,
    target: _Tensor,
    margin: float = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def huber_loss(
    input: _Tensor,
    target: _Tensor,
    reduction: Any = ...,
    delta: float = ...,
    weight: _Tensor | None = ...,
    **_options: Any,
) -> Tensor: ...
def instance_norm(
    input: Any,
    running_mean: Any = ...,
    running_var: Any = ...,
    weight: Any = ...,
    bias: Any = ...,
    use_input_stats: bool = ...,
    momentum: float = ...,
    eps: float = ...,
    **_options: Any,
) -> Any: ...
def interpolate(
    input: Any,
    size: Any = ...,
    scale_factor: Any = ...,
    mode: str = ...,
    align_corners: bool | None = ...,
    recompute_scale_factor: bool | None = ...,
    antialias: bool = ...,
    **_options: Any,
) -> Any: ...
def kl_div(
    input: _Tensor,
    target: _Tensor,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: str = ...,
    log_target: bool = ...,
    **_options: Any,
) -> Tensor: ...
def l1_loss(
    input: _Tensor,
    target: _Tensor,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    weight: _Tensor | None = ...,
    **_options: Any,
) -> Tensor: ...
def layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = ...,
    bias: Any = ...,
    eps: float = ...,
    **_options: Any,
) -> Any: ...
def leaky_relu(input: Any, negative_slope: Any = ..., inplace: Any = ...) -> Any: ...
def leaky_relu_(input: Any, negative_slope: Any = ...) -> Any: ...
def linear(input: Any, weight: Any, bias: Any = ..., **_options: Any) -> Tensor: ...
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = ...,
    weight: Any = ...,
    reduction: str = ...,
    ignore_index: int | None = ...,
    label_smoothing: float = ...,
    options: Any = ...,
    **_options: Any,
) -> Any: ...
def local_response_norm(
    input: Any, size: int, alpha: float = ..., beta: float = ..., k: float = ..., **_options: Any
) -> Any: ...
def log_softmax(input: Any, dim: Any = ..., _stacklevel: Any = ..., dtype: Any = ...) -> Any: ...
def logsigmoid(input: _Tensor, **_options: Any) -> Tensor: ...
def lp_pool1d(
    input: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = ...,
    ceil_mode: bool = ...,
    **_options: Any,
) -> Any: ...
def lp_pool2d(
    input: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = ...,
    ceil_mode: bool = ...,
    **_options: Any,
) -> Any: ...
def lp_pool3d(
    input: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any = ...,
    ceil_mode: bool = ...,
    **_options: Any,
) -> Any: ...
def margin_ranking_loss(
    input1: _Tensor,
    input2: _Tensor,
    target: _Tensor,
    margin: float = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    ceil_mode: bool = ...,
    return_indices: bool = ...,
    **_options: Any,
) -> Any: ...
def max_pool1d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    ceil_mode: bool = ...,
    return_indices: bool = ...,
    **_options: Any,
) -> Any: ...
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    ceil_mode: bool = ...,
    return_indices: bool = ...,
    **_options: Any,
) -> Any: ...
def max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    ceil_mode: bool = ...,
    return_indices: bool = ...,
    **_options: Any,
) -> Any: ...
def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    ceil_mode: bool = ...,
    return_indices: bool = ...,
    **_options: Any,
) -> Any: ...
def max_pool3d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    dilation: Any = ...,
    ceil_mode: bool = ...,
    return_indices: bool = ...,
    **_options: Any,
) -> Any: ...
def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    output_size: Any = ...,
    **_options: Any,
) -> Any: ...
def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    output_size: Any = ...,
    **_options: Any,
) -> Any: ...
def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = ...,
    padding: Any = ...,
    output_size: Any = ...,
    **_options: Any,
) -> Any: ...
def mish(input: Any, inplace: Any = ...) -> Any: ...
def mse_loss(
    input: _Tensor,
    target: _Tensor,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    weight: _Tensor | None = ...,
    **_options: Any,
) -> Tensor: ...
def multi_margin_loss(
    input: _Tensor,
    target: _Tensor,
    p: int = ...,
    margin: float = ...,
    weight: _Tensor | None = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def multilabel_margin_loss(
    input: _Tensor,
    target: _Tensor,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def multilabel_soft_margin_loss(
    input: _Tensor,
    target: _Tensor,
    weight: _Tensor | None = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def native_channel_shuffle(input: Any, groups: int, **_options: Any) -> Any: ...
def nll_loss(
    input: _Tensor,
    target: _Tensor,
    weight: _Tensor | None = ...,
    size_average: Any = ...,
    ignore_index: int = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Tensor: ...
def normalize(
    input: Any, p: float = ..., dim: Any = ..., eps: float = ..., **_options: Any
) -> Any: ...
def one_hot(tensor: _Tensor, num_classes: int = ..., **_options: Any) -> Tensor: ...
def pad(input: Any, pad: Any, mode: str = ..., value: Any = ..., **_options: Any) -> Any: ...
def pairwise_distance(
    x1: _Tensor, x2: _Tensor, p: float = ..., eps: float = ..., keepdim: bool = ..., **_options: Any
) -> Tensor: ...
def pdist(input: _Tensor, p: Any = ..., **_options: Any) -> Tensor: ...
def pixel_shuffle(input: Any, upscale_factor: int, **_options: Any) -> Any: ...
def pixel_unshuffle(input: Any, downscale_factor: int, **_options: Any) -> Any: ...
def poisson_nll_loss(
    input: _Tensor,
    target: _Tensor,
    log_input: bool = ...,
    full: bool = ...,
    size_average: Any = ...,
    eps: float = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Tensor: ...
def prelu(input: Any, weight: Any, **_options: Any) -> Tensor: ...
def relu(input: Any, inplace: Any = ...) -> Any: ...
def relu6(input: Any, inplace: Any = ...) -> Any: ...
def relu_(self: Any, *args: Any, **options: Any) -> Any: ...
def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = ..., eps: float | None = ..., **_options: Any
) -> Any: ...
def rrelu(
    input: Any, lower: Any = ..., upper: Any = ..., training: Any = ..., inplace: Any = ...
) -> Any: ...
def rrelu_(input: Any, lower: Any = ..., upper: Any = ..., training: Any = ...) -> Any: ...
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: _Tensor | None = ...,
    dropout_p: float = ...,
    is_causal: bool = ...,
    scale: float | None = ...,
    enable_gqa: bool = ...,
    **_options: Any,
) -> Tensor: ...
def selu(input: Any, inplace: Any = ...) -> Any: ...
def selu_(input: Any) -> Any: ...
def sigmoid(input: Any, *, out: Any = ...) -> Any: ...
def silu(input: Any, inplace: Any = ...) -> Any: ...
def smooth_l1_loss(
    input: _Tensor,
    target: _Tensor,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    beta: float = ...,
    **_options: Any,
) -> Tensor: ...
def soft_margin_loss(
    input: _Tensor,
    target: _Tensor,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def softmax(input: Any, dim: Any = ..., _stacklevel: Any = ..., dtype: Any = ...) -> Any: ...
def softmin(input: Any, dim: Any = ..., _stacklevel: Any = ..., dtype: Any = ...) -> Any: ...
def softplus(input: Any, beta: Any = ..., threshold: Any = ...) -> Any: ...
def softshrink(input: Any, lambd: Any = ...) -> Any: ...
def softsign(input: _Tensor, **_options: Any) -> Tensor: ...
def tanh(input: Any, *, out: Any = ...) -> Any: ...
def tanhshrink(input: _Tensor, **_options: Any) -> Tensor: ...
def threshold(input: Any, threshold: Any, value: Any, inplace: Any = ...) -> Any: ...
def threshold_(input: Any, threshold: Any, value: Any) -> Any: ...
def triplet_margin_loss(
    anchor: _Tensor,
    positive: _Tensor,
    negative: _Tensor,
    margin: float = ...,
    p: float = ...,
    eps: float = ...,
    swap: bool = ...,
    size_average: Any = ...,
    reduce: Any = ...,
    reduction: Any = ...,
    **_options: Any,
) -> Any: ...
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Any = ...,
    margin: Any = ...,
    swap: Any = ...,
    reduction: Any = ...,
) -> Any: ...
def unfold(
    input: Any,
    kernel_size: Any,
    dilation: Any = ...,
    padding: Any = ...,
    stride: Any = ...,
    **_options: Any,
) -> Any: ...
def upsample(
    input: Any, size: Any = ..., scale_factor: Any = ..., mode: Any = ..., align_corners: Any = ...
) -> Any: ...
def upsample_bilinear(input: Any, size: Any = ..., scale_factor: Any = ...) -> Any: ...
def upsample_nearest(input: Any, size: Any = ..., scale_factor: Any = ...) -> Any: ...
