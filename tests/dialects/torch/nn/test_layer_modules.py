"""Layers: what they compute, their arguments, and what they print."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import everything, numbers, raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def run_layer(make: Any, *shapes: Any, seed: int = 3) -> Any:
    """Return a program that calls a layer twice, in training and evaluation, and sweeps."""

    def program(torch: Any) -> Any:
        torch.manual_seed(seed)
        layer = make(torch.nn)
        inputs = [numbers(torch, *shape, seed=k, grad=True) for k, shape in enumerate(shapes)]
        result = layer(*inputs)
        (result * torch.linspace(-1, 1, result.numel()).reshape(result.shape)).sum().backward()
        found = [repr(layer), result, *everything(layer, *inputs)]
        layer.eval()
        return [*found, layer(*inputs)]

    return program


#: Layers: how they are made, and the shapes of their arguments.
LAYERS: dict[str, tuple[Any, ...]] = {
    "identity": (lambda nn: nn.Identity(54, unused=0.1), (2, 3)),
    "flatten": (lambda nn: nn.Flatten(), (2, 3, 4)),
    "flatten_dims": (lambda nn: nn.Flatten(0, 1), (2, 3, 4)),
    "unflatten": (lambda nn: nn.Unflatten(1, (2, 3)), (4, 6)),
    "unflatten_negative": (lambda nn: nn.Unflatten(-1, [2, -1]), (4, 6)),
    "linear": (lambda nn: nn.Linear(3, 4), (5, 3)),
    "linear_no_bias": (lambda nn: nn.Linear(3, 4, bias=False), (2, 5, 3)),
    "linear_vector": (lambda nn: nn.Linear(3, 4), (3,)),
    "bilinear": (lambda nn: nn.Bilinear(3, 4, 2), (5, 3), (5, 4)),
    "bilinear_no_bias": (lambda nn: nn.Bilinear(3, 4, 2, bias=False), (5, 3), (5, 4)),
    "conv1d": (lambda nn: nn.Conv1d(4, 6, 3, padding=1), (2, 4, 7)),
    "conv1d_groups": (lambda nn: nn.Conv1d(4, 6, 3, 2, 1, 1, 2, False), (2, 4, 7)),
    "conv1d_same": (lambda nn: nn.Conv1d(4, 6, 4, padding="same", dilation=2), (2, 4, 9)),
    "conv2d": (lambda nn: nn.Conv2d(3, 4, 3), (2, 3, 6, 5)),
    "conv2d_tuples": (lambda nn: nn.Conv2d(3, 4, (3, 2), (2, 1), (1, 0), (1, 2)), (2, 3, 6, 5)),
    "conv2d_reflect": (
        lambda nn: nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), (2, 3, 6, 5)
    ),
    "conv2d_circular": (
        lambda nn: nn.Conv2d(3, 4, 3, padding=(1, 2), padding_mode="circular"), (2, 3, 6, 5)
    ),
    "conv2d_replicate": (
        lambda nn: nn.Conv2d(3, 4, 3, padding="same", padding_mode="replicate"), (3, 6, 5)
    ),
    "conv2d_valid": (lambda nn: nn.Conv2d(3, 4, 3, padding="valid", groups=1), (2, 3, 6, 5)),
    "conv2d_depthwise": (lambda nn: nn.Conv2d(4, 8, 3, padding=1, groups=4), (2, 4, 5, 5)),
    "conv3d": (lambda nn: nn.Conv3d(2, 3, (2, 3, 2), stride=2), (2, 2, 5, 5, 4)),
    "conv_transpose1d": (lambda nn: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1), (2, 4, 5)),
    "conv_transpose2d": (
        lambda nn: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
        (2, 4, 5, 4),
    ),
    "conv_transpose2d_dilated": (
        lambda nn: nn.ConvTranspose2d(4, 2, (3, 2), dilation=2, bias=False), (2, 4, 5, 4)
    ),
    "conv_transpose3d": (lambda nn: nn.ConvTranspose3d(2, 3, 2, 2), (1, 2, 3, 2, 2)),
    "max_pool1d": (lambda nn: nn.MaxPool1d(2), (2, 3, 7)),
    "max_pool2d": (lambda nn: nn.MaxPool2d(3, 2, 1, ceil_mode=True), (2, 3, 6, 7)),
    "max_pool2d_dilated": (lambda nn: nn.MaxPool2d((2, 3), dilation=2), (2, 3, 6, 7)),
    "max_pool3d": (lambda nn: nn.MaxPool3d(2), (2, 2, 4, 4, 5)),
    "avg_pool1d": (lambda nn: nn.AvgPool1d(3, 2, 1), (2, 3, 7)),
    "avg_pool2d": (lambda nn: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (2, 3, 6, 7)),
    "avg_pool2d_divisor": (lambda nn: nn.AvgPool2d(2, divisor_override=3), (2, 3, 6, 7)),
    "avg_pool3d": (lambda nn: nn.AvgPool3d((2, 1, 2)), (2, 2, 4, 4, 5)),
    "adaptive_avg1d": (lambda nn: nn.AdaptiveAvgPool1d(3), (2, 3, 7)),
    "adaptive_avg2d": (lambda nn: nn.AdaptiveAvgPool2d((2, None)), (2, 3, 7, 5)),
    "adaptive_avg2d_one": (lambda nn: nn.AdaptiveAvgPool2d(1), (2, 3, 7, 5)),
    "adaptive_avg3d": (lambda nn: nn.AdaptiveAvgPool3d(2), (2, 3, 5, 4, 3)),
    "adaptive_max1d": (lambda nn: nn.AdaptiveMaxPool1d(3), (2, 3, 7)),
    "adaptive_max2d": (lambda nn: nn.AdaptiveMaxPool2d((3, 2)), (2, 3, 7, 5)),
    "adaptive_max3d": (lambda nn: nn.AdaptiveMaxPool3d(2), (2, 3, 5, 4, 3)),
    "fold": (lambda nn: nn.Fold((4, 5), (2, 2)), (2, 8, 12)),
    "unfold": (lambda nn: nn.Unfold((2, 3), padding=1, stride=2), (2, 3, 5, 6)),
    "zero_pad1d": (lambda nn: nn.ZeroPad1d(2), (2, 3, 4)),
    "zero_pad2d": (lambda nn: nn.ZeroPad2d((1, 2, 0, 1)), (2, 3, 4, 5)),
    "zero_pad3d": (lambda nn: nn.ZeroPad3d(1), (2, 3, 4, 2, 2)),
    "constant_pad1d": (lambda nn: nn.ConstantPad1d((1, 3), 2.5), (2, 3, 4)),
    "constant_pad2d": (lambda nn: nn.ConstantPad2d(2, -1), (2, 3, 4, 5)),
    "constant_pad3d": (lambda nn: nn.ConstantPad3d((1, 0, 1, 0, 2, 1), 0.5), (1, 2, 3, 4, 2)),
    "reflection_pad1d": (lambda nn: nn.ReflectionPad1d(2), (2, 3, 4)),
    "reflection_pad2d": (lambda nn: nn.ReflectionPad2d((1, 2, 0, 1)), (2, 3, 4, 5)),
    "reflection_pad3d": (lambda nn: nn.ReflectionPad3d(1), (1, 2, 3, 4, 2)),
    "replication_pad1d": (lambda nn: nn.ReplicationPad1d((2, 1)), (2, 3, 4)),
    "replication_pad2d": (lambda nn: nn.ReplicationPad2d(2), (2, 3, 4, 5)),
    "replication_pad3d": (lambda nn: nn.ReplicationPad3d(1), (1, 2, 3, 4, 2)),
    "circular_pad1d": (lambda nn: nn.CircularPad1d(2), (2, 3, 4)),
    "circular_pad2d": (lambda nn: nn.CircularPad2d((1, 2, 0, 1)), (2, 3, 4, 5)),
    "circular_pad3d": (lambda nn: nn.CircularPad3d(1), (1, 2, 3, 4, 2)),
    "batch_norm1d": (lambda nn: nn.BatchNorm1d(3), (5, 3)),
    "batch_norm1d_lines": (lambda nn: nn.BatchNorm1d(3, momentum=0.3), (5, 3, 4)),
    "batch_norm2d": (lambda nn: nn.BatchNorm2d(3, eps=1e-3), (2, 3, 4, 5)),
    "batch_norm2d_plain": (lambda nn: nn.BatchNorm2d(3, affine=False), (2, 3, 4, 5)),
    "batch_norm2d_mean": (lambda nn: nn.BatchNorm2d(3, momentum=None), (2, 3, 4, 5)),
    "batch_norm2d_untracked": (
        lambda nn: nn.BatchNorm2d(3, track_running_stats=False), (2, 3, 4, 5)
    ),
    "batch_norm2d_no_bias": (lambda nn: nn.BatchNorm2d(3, bias=False), (2, 3, 4, 5)),
    "batch_norm3d": (lambda nn: nn.BatchNorm3d(3), (2, 3, 2, 2, 3)),
    "layer_norm": (lambda nn: nn.LayerNorm(4), (2, 3, 4)),
    "layer_norm_shape": (lambda nn: nn.LayerNorm([3, 4], elementwise_affine=False), (2, 3, 4)),
    "layer_norm_no_bias": (lambda nn: nn.LayerNorm((4,), bias=False), (2, 3, 4)),
    "group_norm": (lambda nn: nn.GroupNorm(2, 6), (2, 6, 3, 3)),
    "group_norm_plain": (lambda nn: nn.GroupNorm(2, 6, affine=False), (2, 6)),
    "instance_norm1d": (lambda nn: nn.InstanceNorm1d(3), (2, 3, 5)),
    "instance_norm1d_one": (lambda nn: nn.InstanceNorm1d(3, affine=True), (3, 5)),
    "instance_norm2d": (
        lambda nn: nn.InstanceNorm2d(3, affine=True, track_running_stats=True), (2, 3, 4, 5)
    ),
    "instance_norm3d": (lambda nn: nn.InstanceNorm3d(3), (2, 3, 2, 3, 2)),
    "rms_norm": (lambda nn: nn.RMSNorm(4), (2, 3, 4)),
    "rms_norm_eps": (lambda nn: nn.RMSNorm([3, 4], 1e-3, False), (2, 3, 4)),
    "local_response_norm": (lambda nn: nn.LocalResponseNorm(3, alpha=0.5, k=2.0), (2, 5, 3, 3)),
    "relu": (lambda nn: nn.ReLU(), (3, 4)),
    "relu6": (lambda nn: nn.ReLU6(), (3, 4)),
    "leaky_relu": (lambda nn: nn.LeakyReLU(0.2), (3, 4)),
    "prelu": (lambda nn: nn.PReLU(), (3, 4)),
    "prelu_channels": (lambda nn: nn.PReLU(4, 0.1), (3, 4, 2)),
    "elu": (lambda nn: nn.ELU(0.5), (3, 4)),
    "celu": (lambda nn: nn.CELU(2.0), (3, 4)),
    "selu": (lambda nn: nn.SELU(), (3, 4)),
    "gelu": (lambda nn: nn.GELU(), (3, 4)),
    "gelu_tanh": (lambda nn: nn.GELU("tanh"), (3, 4)),
    "silu": (lambda nn: nn.SiLU(), (3, 4)),
    "mish": (lambda nn: nn.Mish(), (3, 4)),
    "softplus": (lambda nn: nn.Softplus(2, 10), (3, 4)),
    "softsign": (lambda nn: nn.Softsign(), (3, 4)),
    "softshrink": (lambda nn: nn.Softshrink(0.3), (3, 4)),
    "hardshrink": (lambda nn: nn.Hardshrink(), (3, 4)),
    "hardtanh": (lambda nn: nn.Hardtanh(-0.5, 0.7), (3, 4)),
    "hardsigmoid": (lambda nn: nn.Hardsigmoid(), (3, 4)),
    "hardswish": (lambda nn: nn.Hardswish(), (3, 4)),
    "tanh": (lambda nn: nn.Tanh(), (3, 4)),
    "tanhshrink": (lambda nn: nn.Tanhshrink(), (3, 4)),
    "sigmoid": (lambda nn: nn.Sigmoid(), (3, 4)),
    "logsigmoid": (lambda nn: nn.LogSigmoid(), (3, 4)),
    "threshold": (lambda nn: nn.Threshold(0.1, 20), (3, 4)),
    "glu": (lambda nn: nn.GLU(), (3, 4)),
    "glu_dim": (lambda nn: nn.GLU(0), (4, 3)),
    "softmax": (lambda nn: nn.Softmax(1), (3, 4)),
    "softmax_dim": (lambda nn: nn.Softmax(dim=-2), (3, 4)),
    "log_softmax": (lambda nn: nn.LogSoftmax(dim=1), (3, 4)),
    "softmin": (lambda nn: nn.Softmin(dim=0), (3, 4)),
    "softmax_implicit": (lambda nn: nn.Softmax(), (3, 4)),
    "dropout": (lambda nn: nn.Dropout(0.4), (3, 4)),
    "dropout_none": (lambda nn: nn.Dropout(0.0), (3, 4)),
    "dropout_all": (lambda nn: nn.Dropout(1.0), (3, 4)),
    "dropout1d": (lambda nn: nn.Dropout1d(0.5), (2, 6, 4)),
    "dropout2d": (lambda nn: nn.Dropout2d(0.5), (2, 6, 3, 3)),
    "dropout3d": (lambda nn: nn.Dropout3d(0.3), (2, 6, 2, 2, 2)),
    "alpha_dropout": (lambda nn: nn.AlphaDropout(0.3), (5, 6)),
    "cosine_similarity": (lambda nn: nn.CosineSimilarity(dim=1), (5, 4), (5, 4)),
    "pairwise_distance": (lambda nn: nn.PairwiseDistance(3, keepdim=True), (5, 4), (5, 4)),
    "pixel_shuffle": (lambda nn: nn.PixelShuffle(2), (1, 8, 2, 3)),
    "pixel_unshuffle": (lambda nn: nn.PixelUnshuffle(2), (1, 2, 4, 6)),
    "upsample": (lambda nn: nn.Upsample(scale_factor=2), (1, 2, 3, 4)),
    "upsample_bilinear": (
        lambda nn: nn.Upsample((5, 7), mode="bilinear", align_corners=False), (1, 2, 3, 4)
    ),
    "upsampling_nearest": (lambda nn: nn.UpsamplingNearest2d(scale_factor=2), (1, 2, 3, 4)),
    "upsampling_bilinear": (lambda nn: nn.UpsamplingBilinear2d(size=(6, 5)), (1, 2, 3, 4)),
    "sequential": (
        lambda nn: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Dropout(0.2), nn.Linear(5, 2)),
        (4, 3),
    ),
    "in_place": (
        lambda nn: nn.Sequential(
            nn.Linear(3, 5), nn.ReLU(inplace=True), nn.Linear(5, 4), nn.LeakyReLU(0.1, True),
            nn.Linear(4, 4), nn.Hardtanh(inplace=True), nn.Linear(4, 4), nn.ELU(inplace=True),
            nn.Linear(4, 4), nn.Threshold(0.1, 0.0, True),
        ),
        (4, 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str) -> None:
    compare(run_layer(*LAYERS[name]))


@program
def embedding(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.Embedding(5, 3, padding_idx=-1)
    layer(torch.tensor([[0, 4], [2, 2]])).sum().backward()
    return [repr(layer), layer.weight, layer.padding_idx]


@program
def embedding_pretrained(torch: Any) -> Any:
    table = numbers(torch, 4, 2)
    layer = torch.nn.Embedding.from_pretrained(table, padding_idx=1)
    free = torch.nn.Embedding.from_pretrained(table, freeze=False, max_norm=1.0)
    free(torch.tensor([1, 1, 3])).pow(2).sum().backward()
    return [
        layer(torch.tensor([0, 1])),
        layer.weight.requires_grad,
        repr(layer),
        repr(free),
        free.weight,
        layer.weight.data_ptr() == table.data_ptr(),
        raising(lambda: torch.nn.Embedding.from_pretrained(torch.ones(2))),
    ]


@program
def embedding_options(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.Embedding(5, 3, scale_grad_by_freq=True, norm_type=1.0)
    layer(torch.tensor([1, 1, 2])).sum().backward()
    return [
        repr(layer),
        layer.weight,
        raising(lambda: torch.nn.Embedding(3, 2, padding_idx=3)),
        raising(lambda: torch.nn.Embedding(3, 2, _weight=torch.ones(2, 2))),
        raising(lambda: layer(torch.tensor([9]))),
        raising(lambda: layer(torch.ones(2))),
    ]


@program
def embedding_bag(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.EmbeddingBag(6, 3, mode="sum", padding_idx=0)
    x = layer(torch.tensor([1, 2, 4, 5, 4, 3, 2, 0]), torch.tensor([0, 4]))
    x.pow(2).sum().backward()
    return [x, layer.weight, repr(layer), repr(torch.nn.EmbeddingBag(6, 3))]


@program
def max_unpool(torch: Any) -> Any:
    nn = torch.nn
    x = numbers(torch, 1, 2, 4, 6, grad=True)
    y, where = nn.MaxPool2d(2, return_indices=True)(x)
    z = nn.MaxUnpool2d(2)(y, where)
    z.pow(2).sum().backward()
    line, at = nn.MaxPool1d(2, 2, return_indices=True)(x.detach()[0])
    return [
        y,
        where,
        z,
        x.grad,
        nn.MaxUnpool1d(2, 2)(line, at, output_size=[7]),
        repr(nn.MaxUnpool2d(2)),
    ]


@program
def adaptive_with_indices(torch: Any) -> Any:
    x = numbers(torch, 1, 2, 5, 6, grad=True)
    y, where = torch.nn.AdaptiveMaxPool2d((2, 3), return_indices=True)(x)
    y.sum().backward()
    return [y, where, x.grad]


@program
def transposed_to_size(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    x = numbers(torch, 1, 2, 3, 4)
    return [
        layer(x, output_size=(6, 8)),
        layer(x, output_size=[1, 3, 5, 7]),
        layer(x),
        raising(lambda: layer(x, output_size=(9, 9))),
        raising(lambda: layer(x, output_size=(6,))),
    ]


@program
def batch_norm_over_time(torch: Any) -> Any:
    layer = torch.nn.BatchNorm1d(3, momentum=None)
    for k in range(4):
        layer(numbers(torch, 5, 3, seed=k))
    found = layer.state_dict()
    layer.eval()
    y = layer(numbers(torch, 5, 3, seed=9))
    found = {k: v.clone() for k, v in found.items()}
    layer.reset_running_stats()
    return [found, y, layer.state_dict()]


@program
def wrong_layers(torch: Any) -> Any:
    nn = torch.nn
    x = torch.ones(2, 3)
    return [
        raising(lambda: nn.Linear(3)),
        raising(lambda: nn.Linear(4, 2)(x)),
        raising(lambda: nn.Conv2d(3, 4, 3, groups=2)),
        raising(lambda: nn.Conv2d(4, 3, 3, groups=2)),
        raising(lambda: nn.Conv2d(4, 4, 3, groups=0)),
        raising(lambda: nn.Conv2d(4, 4, 3, padding="all")),
        raising(lambda: nn.Conv2d(4, 4, 3, 2, padding="same")),
        raising(lambda: nn.Conv2d(4, 4, 3, padding_mode="none")),
        raising(lambda: nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect")),
        raising(lambda: nn.Conv2d(3, 4, 3)(x)),
        raising(lambda: nn.BatchNorm2d(3)(x)),
        raising(lambda: nn.BatchNorm1d(3)(torch.ones(3))),
        raising(lambda: nn.BatchNorm1d(4)(x)),
        raising(lambda: nn.BatchNorm1d(3)(torch.ones(1, 3))),
        raising(lambda: nn.InstanceNorm1d(3)(torch.ones(3))),
        raising(lambda: nn.InstanceNorm1d(4, affine=True)(torch.ones(2, 3, 2))),
        raising(lambda: nn.GroupNorm(2, 3)),
        raising(lambda: nn.LayerNorm(4)(x)),
        raising(lambda: nn.Dropout(1.5)),
        raising(lambda: nn.Dropout(-0.1)),
        raising(lambda: nn.Unflatten(1, 3)),
        raising(lambda: nn.Unflatten(1, (1.0, 2))),
        raising(lambda: nn.Hardtanh(1.0, -1.0)),
        raising(lambda: nn.Bilinear(0, 1, 1)),
        raising(lambda: nn.TripletMarginLoss(margin=-1)),
        raising(lambda: nn.CrossEntropyLoss()(x, torch.ones(2, 4))),
        raising(lambda: nn.CrossEntropyLoss(reduction="all")(x, torch.tensor([0, 1]))),
        raising(lambda: nn.MaxPool2d(2)(x)),
        raising(lambda: nn.CircularPad2d(1)(x)),
        raising(lambda: nn.ReLU(1, 2)),
        raising(lambda: nn.ReLU()(3)),
        raising(lambda: nn.Tanh(3)),
        raising(lambda: nn.PReLU(2)(x)),
        raising(lambda: nn.Flatten()(torch.ones(3)).shape),
        raising(lambda: nn.Linear(3, 2).double()(x)),
        raising(lambda: nn.Linear(3, 2, device="cuda")),
    ]


@program
def dtypes_of_layers(torch: Any) -> Any:
    nn = torch.nn
    x = numbers(torch, 2, 3, dtype="float64")
    torch.manual_seed(0)
    found = [
        nn.Linear(3, 2, dtype=torch.float64)(x),
        nn.Linear(3, 2).double()(x),
        nn.BatchNorm1d(3, dtype=torch.float64)(x),
        nn.LayerNorm(3, dtype=torch.float64)(x),
    ]
    torch.set_default_dtype(torch.float64)
    layer = nn.Linear(3, 2)
    torch.set_default_dtype(torch.float32)
    return [*found, layer.weight, layer(x), nn.Linear(3, 2).half().weight.dtype]


@program
def empty_batches(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    y = layer(torch.ones(0, 3))
    y.sum().backward()
    return [y, layer.weight.grad, nn.Flatten()(torch.ones(0, 2, 3)), nn.ReLU()(torch.ones(0))]


@program
def subclasses(torch: Any) -> Any:
    nn = torch.nn

    class Masked(nn.Linear):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.register_buffer("mask", torch.tensor([[1.0, 0.0, 1.0]] * 2))

        def forward(self, x: Any) -> Any:
            return nn.functional.linear(x, self.weight * self.mask, self.bias)

    class Clipped(nn.Conv2d):
        def forward(self, x: Any) -> Any:
            return self._conv_forward(x, self.weight.clamp(-0.1, 0.1), self.bias)

    class Own(nn.modules.loss._Loss):
        def forward(self, a: Any, b: Any) -> Any:
            return (a - b).abs().max()

    torch.manual_seed(0)
    masked, conv = Masked(3, 2), Clipped(1, 2, 2)
    masked(torch.ones(4, 3)).sum().backward()
    return [
        masked.weight,
        repr(masked),
        conv(torch.ones(1, 1, 3, 3)),
        Own()(torch.ones(2), torch.zeros(2)),
        isinstance(nn.BatchNorm2d(1), nn.modules.batchnorm._BatchNorm),
        isinstance(conv, nn.modules.conv._ConvNd),
        isinstance(nn.MSELoss(), nn.modules.loss._Loss),
    ]


@program
def lazy_layers(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.LazyConv2d(4, 3),
        nn.Tanh(),
        nn.LazyBatchNorm2d(),
        nn.LazyConvTranspose2d(2, 2, groups=2, bias=False),
        nn.Tanh(),
        nn.LazyInstanceNorm2d(affine=True),
        nn.Flatten(),
        nn.LazyLinear(3),
    )
    found = [repr(model), model[0].has_uninitialized_params(), repr(model[-1].weight)]
    found.append(raising(lambda: model[-1].weight.shape))
    x = numbers(torch, 2, 3, 5, 5, grad=True)
    (model(x) ** 3).sum().backward()
    more = [len(model[0]._forward_pre_hooks), type(model[-1]).__name__, repr(model)]
    return [*found, *more, *everything(model, x)]


@program
def copies_of_lazy_layers(torch: Any) -> Any:
    lazy = torch.nn.LazyLinear(3)
    twin, weight = copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy.weight))
    shape = twin(numbers(torch, 2, 5)).shape
    return shape, repr(twin), repr(lazy), repr(lazy.weight), repr(weight), weight.requires_grad


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
