"""Programs with modules, on Wengert and on real PyTorch: the same values, texts and errors.

Both draw the same numbers from one seed, so that modules begin alike; `alike` copies the state of
PyTorch's module where a test is about something else.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import wengert.torch as ours
from tests.dialects.torch import parity as torch_parity
from tests.dialects.torch.parity import compare, printed

pytestmark = pytest.mark.peers


def numbers(
    torch: Any, *shape: int, seed: int = 0, grad: bool = False, dtype: str = "float32"
) -> Any:
    """Return the same normal numbers in both libraries."""
    raw = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    return torch.tensor(raw).requires_grad_(grad)


def alike(theirs: Any, mine: Any) -> None:
    """Copy the state of PyTorch's module to ours."""
    mine.load_state_dict({k: ours.tensor(v.numpy()) for k, v in theirs.state_dict().items()})


def everything(module: Any, *tensors: Any) -> list[Any]:
    """Return a module's state, the gradients of its parameters, and those of tensors."""
    state = {k: v.detach().clone() for k, v in module.state_dict().items()}
    return [state, {k: p.grad for k, p in module.named_parameters()}, [t.grad for t in tensors]]


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
    "lp_pool1d": (lambda nn: nn.LPPool1d(3, 2), (2, 3, 8)),
    "lp_pool2d": (lambda nn: nn.LPPool2d(2, 3, stride=2), (2, 3, 7, 7)),
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
    "rrelu_eval": (lambda nn: nn.RReLU(0.1, 0.3).eval(), (3, 4)),
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
    "softmax2d": (lambda nn: nn.Softmax2d(), (2, 3, 2, 2)),
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
    "channel_shuffle": (lambda nn: nn.ChannelShuffle(2), (1, 4, 2, 3)),
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


# -- losses ----------------------------------------------------------------------------------------

_NUMBERS = [
    ("l1", lambda nn: nn.L1Loss()),
    ("l1_sum", lambda nn: nn.L1Loss(reduction="sum")),
    ("mse", lambda nn: nn.MSELoss()),
    ("mse_none", lambda nn: nn.MSELoss(reduction="none")),
    ("mse_old", lambda nn: nn.MSELoss(size_average=False)),
    ("mse_old_none", lambda nn: nn.MSELoss(reduce=False)),
    ("smooth_l1", lambda nn: nn.SmoothL1Loss(beta=0.5)),
    ("huber", lambda nn: nn.HuberLoss("sum", 0.7)),
    ("poisson", lambda nn: nn.PoissonNLLLoss(full=True)),
    ("kl", lambda nn: nn.KLDivLoss(reduction="batchmean", log_target=True)),
    ("soft_margin", lambda nn: nn.SoftMarginLoss()),
    ("hinge", lambda nn: nn.HingeEmbeddingLoss(0.5)),
    ("bce_logits", lambda nn: nn.BCEWithLogitsLoss()),
]


@pytest.mark.parametrize("make", [m for _, m in _NUMBERS], ids=[n for n, _ in _NUMBERS])
def test_loss_of_two_tensors(make: Any) -> None:
    def program(torch: Any) -> Any:
        loss = make(torch.nn)
        x = numbers(torch, 4, 3, grad=True)
        y = numbers(torch, 4, 3, seed=1).sigmoid().round()
        found = loss(x, 2 * y - 1 if "Margin" in repr(loss) or "Hinge" in repr(loss) else y)
        found.sum().backward()
        return [repr(loss), found, x.grad, loss.reduction]

    compare(program)


LOSSES: dict[str, Any] = {
    "cross_entropy": lambda t, x, k: t.nn.CrossEntropyLoss()(x, k),
    "cross_entropy_weight": lambda t, x, k: t.nn.CrossEntropyLoss(
        t.tensor([1.0, 2.0, 3.0]), ignore_index=1, label_smoothing=0.1
    )(x, k),
    "cross_entropy_chances": lambda t, x, k: t.nn.CrossEntropyLoss(reduction="sum")(
        x, x.detach().roll(1, 0).softmax(1)
    ),
    "nll": lambda t, x, k: t.nn.NLLLoss()(x.log_softmax(1), k),
    "nll_weight": lambda t, x, k: t.nn.NLLLoss(weight=t.tensor([1.0, 2.0, 0.5]), reduction="none")(
        x.log_softmax(1), k
    ),
    "bce": lambda t, x, k: t.nn.BCELoss()(x.sigmoid(), t.nn.functional.one_hot(k, 3).float()),
    "bce_weight": lambda t, x, k: t.nn.BCELoss(t.tensor([1.0, 2.0, 3.0]), reduction="sum")(
        x.sigmoid(), t.nn.functional.one_hot(k, 3).float()
    ),
    "bce_logits_pos": lambda t, x, k: t.nn.BCEWithLogitsLoss(
        weight=t.tensor([1.0, 2.0, 3.0]), pos_weight=t.tensor([2.0, 1.0, 3.0])
    )(x, t.nn.functional.one_hot(k, 3).float()),
    "multi_margin": lambda t, x, k: t.nn.MultiMarginLoss(p=2, margin=0.5)(x, k),
    "multilabel_margin": lambda t, x, k: t.nn.MultiLabelMarginLoss()(
        x, t.tensor([[2, 0, -1], [1, -1, 0], [0, 1, 2], [0, -1, -1]])
    ),
    "multilabel_soft_margin": lambda t, x, k: t.nn.MultiLabelSoftMarginLoss()(
        x, t.nn.functional.one_hot(k, 3).float()
    ),
    "margin_ranking": lambda t, x, k: t.nn.MarginRankingLoss(0.2)(
        x[:, 0], x[:, 1], t.tensor([1.0, -1.0, 1.0, -1.0])
    ),
    "cosine_embedding": lambda t, x, k: t.nn.CosineEmbeddingLoss(0.1)(
        x, x.roll(1, 0), t.tensor([1, -1, 1, -1])
    ),
    "triplet": lambda t, x, k: t.nn.TripletMarginLoss(2.0, swap=True)(
        x, x.roll(1, 0), x.roll(2, 0)
    ),
    "triplet_distance": lambda t, x, k: t.nn.TripletMarginWithDistanceLoss(
        distance_function=lambda a, b: 1 - t.nn.functional.cosine_similarity(a, b)
    )(x, x.roll(1, 0), x.roll(2, 0)),
    "gaussian": lambda t, x, k: t.nn.GaussianNLLLoss(full=True)(x, x.detach() * 2, x.exp()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss(name: str) -> None:
    def program(torch: Any) -> Any:
        x = numbers(torch, 4, 3, grad=True)
        found = LOSSES[name](torch, x, torch.tensor([0, 2, 1, 2]))
        found.sum().backward()
        return [found, x.grad]

    compare(program)


# -- modules ---------------------------------------------------------------------------------------


def net(torch: Any, seed: int = 0) -> Any:
    """Return a small network of a class with parameters, buffers and parts."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 4)
            self.scale = nn.Parameter(torch.tensor([1.0, 2.0]))
            self.register_buffer("count", torch.tensor(3))
            self.register_buffer("passing", torch.ones(2), persistent=False)
            self.inner = nn.Sequential(nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))

        def forward(self, x: Any) -> Any:
            return self.inner(torch.relu(self.first(x))) * self.scale

    torch.manual_seed(seed)
    return Net()


def raising(function: Any) -> Any:
    """Return what a function gives, or the name of the class of its exception."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__


MODULES: dict[str, Any] = {}


def module_program(function: Any) -> Any:
    MODULES[function.__name__] = function
    return function


@module_program
def names(torch: Any) -> Any:
    model = net(torch)
    return [
        repr(model),
        [n for n, _ in model.named_parameters()],
        [n for n, _ in model.named_buffers()],
        [n for n, _ in model.named_modules()],
        [n for n, _ in model.named_children()],
        [n for n, _ in model.named_parameters("p", recurse=False)],
        [n for n, _ in model.named_modules(prefix="q")],
        sum(p.numel() for p in model.parameters()),
        len(list(model.buffers())),
        [type(m).__name__ for m in model.modules()],
        "scale" in dir(model),
        "first" in dir(model),
    ]


@module_program
def states(torch: Any) -> Any:
    model = net(torch)
    return [
        model.state_dict(),
        model.state_dict(prefix="x."),
        list(model.state_dict()._metadata),
        model.state_dict()._metadata["inner.0"]["version"],
        model.state_dict(keep_vars=True)["scale"] is model.scale,
        model.state_dict()["scale"].requires_grad,
        model.state_dict()["scale"].data_ptr() == model.scale.data_ptr(),
    ]


@module_program
def loading(torch: Any) -> Any:
    one, two = net(torch, 0), net(torch, 1)
    before = two.scale
    answer = two.load_state_dict(one.state_dict())
    return [repr(answer), two.scale is before, two.state_dict(), list(answer.missing_keys)]


@module_program
def loading_assigned(torch: Any) -> Any:
    one, two = net(torch, 0), net(torch, 1)
    before, state = two.scale, one.state_dict()
    two.load_state_dict(state, assign=True)
    return [
        two.scale is before,
        two.scale.data_ptr() == state["scale"].data_ptr(),
        two.state_dict(),
        type(two.scale).__name__,
        two.scale.requires_grad,
    ]


@module_program
def loading_loosely(torch: Any) -> Any:
    model = net(torch)
    state = model.state_dict()
    del state["first.bias"]
    state["more"] = torch.ones(2)
    state["inner.9.weight"] = torch.ones(2)
    answer = model.load_state_dict(state, strict=False)
    return [
        answer.missing_keys,
        answer.unexpected_keys,
        repr(answer),
        raising(lambda: model.load_state_dict(state)),
        tuple(answer),
    ]


@module_program
def loading_wrongly(torch: Any) -> Any:
    model = net(torch)
    state = dict(model.state_dict(), scale=torch.ones(3))
    return [
        raising(lambda: model.load_state_dict(state)),
        raising(lambda: model.load_state_dict(state, strict=False)),
        raising(lambda: model.load_state_dict([1])),
        raising(lambda: model.load_state_dict({"scale": 3}, strict=False)),
    ]


@module_program
def loading_other_dtype(torch: Any) -> Any:
    one, two = net(torch, 0), net(torch, 1).double()
    two.load_state_dict(one.state_dict())
    return two.state_dict()


@module_program
def loading_plain_dict(torch: Any) -> Any:
    model = torch.nn.BatchNorm1d(2)
    state = {k: torch.full((2,), 3.0) for k in ("weight", "bias", "running_mean", "running_var")}
    return [repr(model.load_state_dict(state)), model.state_dict()]


@module_program
def extra_state(torch: Any) -> Any:
    class Kept(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = 1

        def get_extra_state(self) -> Any:
            return {"kept": self.kept}

        def set_extra_state(self, state: Any) -> None:
            self.kept = state["kept"]

    one, two = torch.nn.Sequential(Kept()), torch.nn.Sequential(Kept())
    one[0].kept = 5
    two.load_state_dict(one.state_dict())
    return [dict(one.state_dict()), two[0].kept, raising(lambda: two.load_state_dict({}))]


@module_program
def state_hooks(torch: Any) -> Any:
    model, seen = torch.nn.Linear(2, 1), []
    model.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    model.register_state_dict_post_hook(lambda m, s, prefix, about: seen.append(list(s)))
    model.register_load_state_dict_pre_hook(
        lambda m, s, *rest: seen.append(("load", len(s), rest[0]))
    )
    model.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    model.load_state_dict({"weight": torch.ones(1, 2)})
    return [model.state_dict()["weight"], seen]


@module_program
def setting_attributes(torch: Any) -> Any:
    nn = torch.nn
    model = net(torch)
    order = []
    model.scale = nn.Parameter(torch.zeros(3))
    model.other = nn.Parameter(torch.zeros(1))
    order.append([n for n, _ in model.named_parameters()])
    model.first = None
    order.append([n for n, _ in model.named_children()])
    model.count = torch.tensor(9)
    model.passing = None
    order.append(list(model.state_dict()))
    model.plain = 3
    model.plain = nn.Linear(1, 1)
    order.append(["plain" in model.__dict__, [n for n, _ in model.named_children()]])
    model.scale = None
    order.append(model._parameters["scale"])
    model.tensor = torch.ones(1)
    order.append([n for n, _ in model.named_buffers()])
    model.buffer = nn.Buffer(torch.ones(1))
    model.flying = nn.Buffer(torch.ones(1), persistent=False)
    order.append([[n for n, _ in model.named_buffers()], list(model.state_dict())])
    del model.other, model.buffer, model.inner
    order.append([list(model._parameters), list(model._buffers), list(model._modules)])
    return order


@module_program
def wrong_attributes(torch: Any) -> Any:
    nn = torch.nn
    model = net(torch)

    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.value = value
            super().__init__()

    return [
        raising(lambda: setattr(model, "scale", torch.ones(2))),
        raising(lambda: setattr(model, "scale", 3)),
        raising(lambda: setattr(model, "first", 3)),
        raising(lambda: setattr(model, "count", 3)),
        raising(lambda: model.register_parameter("a.b", None)),
        raising(lambda: model.register_parameter("", None)),
        raising(lambda: model.register_parameter(3, None)),
        raising(lambda: model.register_parameter("forward", None)),
        raising(lambda: model.register_parameter("p", torch.ones(1))),
        raising(lambda: model.register_parameter("p", nn.Parameter(torch.ones(1)) * 2)),
        raising(lambda: model.register_buffer("first", torch.ones(1))),
        raising(lambda: model.register_buffer("b.c", torch.ones(1))),
        raising(lambda: model.register_buffer("b", 3)),
        raising(lambda: model.add_module("scale", nn.ReLU())),
        raising(lambda: model.add_module("", nn.ReLU())),
        raising(lambda: model.add_module("r", 3)),
        raising(lambda: model.add_module(3, nn.ReLU())),
        raising(lambda: model.nothing),
        raising(lambda: delattr(model, "nothing")),
        raising(lambda: Early(nn.Parameter(torch.ones(1)))),
        raising(lambda: Early(nn.ReLU())),
        raising(lambda: Early(3).value),
        raising(lambda: nn.Module(3)),
        raising(lambda: nn.Module()(3)),
        raising(lambda: model.train(1)),
        raising(lambda: nn.Parameter([1.0])),
        raising(lambda: nn.Parameter(torch.tensor([1]))),
        raising(lambda: nn.Parameter(torch.tensor([1]), requires_grad=False)),
        raising(lambda: model.to(torch.int64)),
        raising(lambda: model.get_submodule("inner.7")),
        raising(lambda: model.get_submodule("scale")),
        raising(lambda: model.get_parameter("inner.0")),
        raising(lambda: model.get_buffer("scale")),
    ]


@module_program
def paths(torch: Any) -> Any:
    model = net(torch)
    model.set_submodule("inner.1", torch.nn.Tanh())
    return [
        repr(model.get_submodule("inner.0")),
        model.get_submodule("") is model,
        model.get_parameter("inner.2.weight"),
        model.get_buffer("inner.0.running_var"),
        repr(model),
        raising(lambda: model.set_submodule("", torch.nn.Tanh())),
        raising(lambda: model.set_submodule("inner.9", torch.nn.Tanh(), strict=True)),
    ]


@module_program
def shared_parts(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(1)
    one = nn.Linear(2, 2)
    model = nn.Sequential(one, nn.Tanh(), one)
    other = nn.Linear(2, 2)
    other.weight = one.weight
    model.append(other)
    model(torch.ones(3, 2)).sum().backward()
    return [
        [n for n, _ in model.named_parameters()],
        list(model.state_dict()),
        [n for n, _ in model.named_parameters(remove_duplicate=False)],
        [n for n, _ in model.named_modules()],
        [n for n, _ in model.named_modules(remove_duplicate=False)],
        [n for n, _ in model.named_children()],
        model[0].weight.grad,
        other.bias.grad,
    ]


@module_program
def modes(torch: Any) -> Any:
    model = net(torch)
    model.eval()
    found = [m.training for m in model.modules()]
    model.inner.train()
    return [found, [m.training for m in model.modules()], model.train() is model]


@module_program
def frozen(torch: Any) -> Any:
    model = net(torch)
    model.first.requires_grad_(False)
    model(numbers(torch, 4, 3)).sum().backward()
    found = [{n: p.grad for n, p in model.named_parameters()}]
    model.zero_grad(set_to_none=False)
    found.append({n: p.grad for n, p in model.named_parameters()})
    model.zero_grad()
    return [*found, [p.grad for p in model.parameters()]]


@module_program
def applying(torch: Any) -> Any:
    seen: list[str] = []

    def start(module: Any) -> None:
        seen.append(type(module).__name__)
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.constant_(module.weight, 0.5)
            module.bias.data.fill_(0.01)

    model = net(torch).apply(start)
    return [seen, model.state_dict()]


@module_program
def dtypes(torch: Any) -> Any:
    model = net(torch)
    weight = model.first.weight
    model(numbers(torch, 4, 3)).sum().backward()
    found = []
    for change in (
        lambda m: m.double(), lambda m: m.half(), lambda m: m.float(),
        lambda m: m.to(torch.float64), lambda m: m.to("cpu"),
        lambda m: m.to(torch.device("cpu"), torch.float32),
        lambda m: m.to(dtype=torch.float64), lambda m: m.to(torch.ones(1)), lambda m: m.cpu(),
        lambda m: m.type(torch.float64),
    ):  # fmt: skip
        assert change(model) is model
        found.append([weight is model.first.weight, str(weight.dtype), str(weight.grad.dtype),
                      [str(v.dtype) for v in model.state_dict().values()]])  # fmt: skip
    return found


@module_program
def to_cuda(torch: Any) -> Any:
    return [
        raising(lambda: torch.nn.Linear(1, 1).cuda()),
        raising(lambda: torch.nn.ReLU().cuda()._modules),
    ]


@module_program
def copies(torch: Any) -> Any:
    model = net(torch)
    twin = copy.deepcopy(model)
    twin(numbers(torch, 4, 3)).sum().backward()
    with torch.no_grad():
        twin.scale.add_(1)
    return [
        model.scale,
        twin.scale,
        model.first.weight.grad,
        twin.first.weight.grad,
        [p.requires_grad for p in twin.parameters()],
        twin.inner[0].running_mean,
    ]


@module_program
def deep_copy_of_shared(torch: Any) -> Any:
    one = torch.nn.Linear(2, 2)
    twin = copy.deepcopy(torch.nn.ModuleList([one, one]))
    return twin[0] is twin[1]


@module_program
def pickles(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())
    model[0].bias.requires_grad_(False)
    back = pickle.loads(pickle.dumps(model))
    return [
        repr(back),
        back.state_dict(),
        back(numbers(torch, 4, 3)),
        back[0].bias.requires_grad,
        pickle.loads(pickle.dumps(model.state_dict())),
    ]


@module_program
def parameter_texts(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    return [
        repr(p),
        str(torch.nn.Parameter(torch.ones(1), requires_grad=False)),
        repr(p * 2)[:20],
        repr(torch.nn.Buffer(torch.ones(2))),
        repr(type(p)),
        isinstance(p, torch.Tensor),
        isinstance(p * 1, torch.nn.Parameter),
        repr(torch.nn.Parameter()),
    ]


@module_program
def parameters(torch: Any) -> Any:
    nn = torch.nn
    x = torch.tensor([1.0, 2.0])
    p = nn.Parameter(x)
    with torch.no_grad():
        p.mul_(2)
        q = nn.Parameter(torch.ones(2))
    y = (p * q).sum()
    y.backward()
    p.data = torch.tensor([5.0, 6.0])
    return [
        x,
        p,
        q,
        p.is_leaf,
        q.requires_grad,
        (p * q).sum(),
        nn.Parameter(p) is p,
        nn.Parameter(y).is_leaf,
        raising(lambda: p.add_(1)),
        p.data.requires_grad,
        copy.deepcopy(p),
        isinstance(nn.Buffer(x), nn.Buffer),
        isinstance(x, nn.Buffer),
        hash(p) == hash(p),
        p in {p},
    ]


@module_program
def to_empty_and_compile(torch: Any) -> Any:
    model = torch.nn.Linear(2, 3)
    model.compile()
    return [list(model.to_empty(device="cpu").weight.shape), model.share_memory() is model]


@module_program
def custom_repr(torch: Any) -> Any:
    nn = torch.nn

    class Two(nn.Module):
        def extra_repr(self) -> str:
            return "a=1\nb=2"

    class Three(Two):
        def __init__(self) -> None:
            super().__init__()
            self.two = Two()
            self.list = nn.ModuleList([nn.Sequential(nn.ReLU(), Two()) for _ in range(3)])
            self.none = None
            self.add_module("gone", None)

    return [
        repr(Two()),
        repr(Three()),
        repr(nn.ModuleList()),
        repr(nn.Sequential()),
        repr(nn.ModuleDict({"a": nn.ReLU(), "b": Two()})),
        str(nn.Sequential(Three())),
    ]


# -- containers ------------------------------------------------------------------------------------


@module_program
def sequential(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    found = [len(model), repr(model[0]), repr(model[-1]), repr(model[1:]), repr(model[::2])]
    model[1] = nn.ELU()
    model.append(nn.GELU()).extend([nn.SiLU(), nn.Mish()])
    model.insert(1, nn.Softplus())
    found.append(repr(model))
    del model[0]
    del model[2:4]
    found += [repr(model), repr(model.pop(0)), repr(model)]
    found += [repr(model + nn.Sequential(nn.ReLU())), repr(model * 2), repr(2 * model)]
    model += nn.Sequential(nn.ReLU())
    model *= 2
    return [*found, repr(model), [repr(m) for m in model], list(model._modules)]


@module_program
def sequential_by_name(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(
        OrderedDict([("a", nn.Linear(2, 3)), ("b", nn.ReLU()), ("c", nn.Linear(3, 1))])
    )
    found = [repr(model), repr(model.a), list(model.state_dict()), repr(model[:2]), repr(model[1])]
    model[1] = nn.Tanh()
    model.append(nn.ReLU())
    model.add_module("last", nn.Sigmoid())
    found.append(repr(model))
    del model[0]
    return [*found, repr(model)]


@module_program
def sequential_wrong(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.ReLU())
    return [
        raising(lambda: model[1]),
        raising(lambda: model[-2]),
        raising(lambda: model["a"]),
        raising(lambda: nn.Sequential(3)),
        raising(lambda: model.append(3)),
        raising(lambda: model.insert(5, nn.ReLU())),
        raising(lambda: model.insert(0, 3)),
        raising(lambda: model.__add__([nn.ReLU()])),
        raising(lambda: model * 0),
        raising(lambda: model * 1.5),
        raising(lambda: model(1, 2)),
        raising(lambda: nn.Sequential()(3)),
    ]


@module_program
def module_list(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)] + [nn.ReLU()])
    found = [repr(parts), len(parts), repr(parts[1:]), repr(parts[-1]), type(parts[:2]).__name__]
    parts.append(nn.Tanh())
    parts.extend([nn.ReLU(), nn.ReLU()])
    parts.insert(1, nn.Sigmoid())
    parts[0] = nn.ELU()
    del parts[2]
    found += [repr(parts), list(parts.state_dict()), repr(parts.__add__([nn.GELU()]))]
    parts += [nn.Mish()]
    found += [repr(parts.pop(-1)), repr(parts.pop(0)), [repr(m) for m in parts]]
    return [
        *found,
        raising(lambda: parts(1)),
        raising(lambda: parts[99]),
        raising(lambda: parts.append(1)),
        raising(lambda: parts.extend(3)),
        nn.ReLU() in parts,
        parts[0] in parts,
    ]


@module_program
def module_dict(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 2)})
    parts["c"] = nn.Tanh()
    parts.update([["d", nn.GELU()], ("b", nn.ELU())])
    found = [
        repr(parts),
        list(parts),
        list(parts.keys()),
        "a" in parts,
        len(parts),
        [repr(v) for v in parts.values()],
        [k for k, _ in parts.items()],
        repr(parts.pop("c")),
        list(parts.state_dict()),
        repr(parts.a),
    ]
    del parts["a"]
    parts.update(nn.ModuleDict({"z": nn.ReLU()}))
    found.append(repr(parts))
    parts.clear()
    return [
        *found,
        len(parts),
        raising(lambda: parts["q"]),
        raising(lambda: parts.update(3)),
        raising(lambda: parts.update([3])),
        raising(lambda: parts.update([(1, 2, 3)])),
        raising(lambda: parts.__setitem__("update", nn.ReLU())),
        raising(lambda: parts(1)),
    ]


@module_program
def parameter_list(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ParameterList([nn.Parameter(torch.ones(2, 3)), torch.zeros(1)])
    parts.append(torch.ones(()))
    parts.extend([nn.Parameter(torch.ones(1), requires_grad=False), "text"])
    parts += [torch.tensor([2.0])]
    found = [
        repr(parts),
        len(parts),
        list(parts.state_dict()),
        type(parts[1]).__name__,
        parts[-1],
        repr(parts[:2]),
        [n for n, _ in parts.named_parameters()],
    ]
    parts[0] = torch.full((2,), 7.0)
    sum(p.sum() for p in parts if p != "text").backward()
    return [
        *found,
        parts[0],
        raising(lambda: parts()),
        raising(lambda: parts[9]),
        raising(lambda: parts.extend(torch.ones(2))),
        raising(lambda: parts.extend(3)),
    ]


@module_program
def parameter_dict(torch: Any) -> Any:
    nn = torch.nn
    parts = nn.ParameterDict({"b": torch.ones(2), "a": nn.Parameter(torch.zeros(1))})
    parts["c"] = torch.ones(1, 2)
    found = [
        repr(parts),
        list(parts),
        len(parts),
        "a" in parts,
        parts["c"],
        parts.get("q"),
        parts.get("q", 3),
        list(parts.state_dict()),
        [k for k, _ in parts.items()],
        list(reversed(parts)),
        parts.setdefault("d", torch.ones(1)),
        parts.pop("a"),
    ]
    parts |= nn.ParameterDict({"e": torch.ones(3)})
    found += [
        parts.popitem(),
        list(parts.keys()),
        list(parts.values()),
        list(parts | {"y": torch.ones(1)}),
        list(parts.copy()),
        list(parts.fromkeys("pq", 1)),
    ]
    parts.update([("x", 1)])
    found.append(repr(parts))
    del parts["b"]
    parts.clear()
    return [
        *found,
        len(parts),
        raising(lambda: parts["q"]),
        raising(lambda: parts()),
        raising(lambda: parts.update(3)),
        raising(lambda: parts.__setitem__(1, 2)),
    ]


# -- hooks -----------------------------------------------------------------------------------------


@module_program
def forward_hooks(torch: Any) -> Any:
    torch.manual_seed(0)
    model, seen = torch.nn.Linear(2, 2), []
    x = torch.ones(1, 2)
    before = model.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    model.register_forward_pre_hook(lambda m, args: seen.append(args))
    after = model.register_forward_hook(lambda m, args, result: result + 1)
    model.register_forward_hook(lambda m, args, result: seen.append((args, result)), prepend=True)
    one = model(x)
    before.remove()
    two = model(x)
    after.remove()
    with model.register_forward_hook(lambda m, args, result: 7):
        three = model(x)
    return [one, two, three, model(x), seen, len(model._forward_hooks)]


@module_program
def hooks_with_kwargs(torch: Any) -> Any:
    class Scaled(torch.nn.Module):
        def forward(self, x: Any, by: int = 1) -> Any:
            return x * by

    model, seen = Scaled(), []
    model.register_forward_pre_hook(lambda m, a, k: (a, {"by": k["by"] + 1}), with_kwargs=True)
    model.register_forward_hook(lambda m, a, k, y: seen.append((a, k, y)), with_kwargs=True)
    found = model(torch.ones(1), by=2)
    model.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    return [found, seen, raising(lambda: model(torch.ones(1), by=2))]


@module_program
def hooks_always_called(torch: Any) -> Any:
    class Failing(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            raise KeyError("no")

    model, seen = Failing(), []
    model.register_forward_hook(lambda m, a, y: seen.append(y), always_call=True)
    model.register_forward_hook(lambda m, a, y: seen.append("never"))
    return [raising(lambda: model(1)), seen]


@module_program
def backward_hooks(torch: Any) -> Any:
    torch.manual_seed(0)
    model, seen = torch.nn.Linear(2, 2), []
    model.register_full_backward_hook(lambda m, gi, go: seen.append(("full", gi, go)))
    model.register_full_backward_pre_hook(lambda m, go: seen.append(("pre", go)))
    x = numbers(torch, 3, 2, grad=True)
    model(x).sum().backward()
    seen.append(x.grad)
    model(x.detach()).sum().backward()
    with torch.no_grad():
        model(x)
    return [seen, model.weight.grad]


@module_program
def backward_hooks_that_change(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    model[1].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    model[2].register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    x = numbers(torch, 3, 2, grad=True)
    model(x).sum().backward()
    return everything(model, x)


@module_program
def backward_hooks_of_two(torch: Any) -> Any:
    class Two(torch.nn.Module):
        def forward(self, x: Any, n: int, y: Any) -> Any:
            return x * n, (x * y).sum(), "text"

    model, seen = Two(), []
    model.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    x, y = numbers(torch, 3, grad=True), numbers(torch, 3, seed=1)
    one, two, _ = model(x, 2, y)
    (one.sum() + 3 * two).backward()
    one, two, _ = model(x, 2, y)
    two.backward()
    return [seen, x.grad, str(two.grad_fn.name())]


@module_program
def backward_hooks_wrong(torch: Any) -> Any:
    x = numbers(torch, 3, 2, grad=True)

    def run(*answer: Any) -> Any:
        model = torch.nn.ReLU()
        model.register_full_backward_hook(lambda m, gi, go: answer)
        return raising(lambda: model(x).sum().backward())

    both = torch.nn.ReLU()
    both.register_full_backward_hook(lambda m, gi, go: None)
    return [
        run(1, 2),
        run(torch.ones(3, 2)),
        run(torch.ones(1)),
        raising(lambda: both.register_backward_hook(lambda m, gi, go: None)),
    ]


@module_program
def old_backward_hooks(torch: Any) -> Any:
    seen: list[Any] = []
    model = torch.nn.Tanh()
    model.register_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    x = numbers(torch, 3, grad=True)
    model(x).sum().backward()
    return [seen, x.grad]


@module_program
def hooks_for_every_module(torch: Any) -> Any:
    place = torch.nn.modules.module
    seen: list[Any] = []
    x = numbers(torch, 3, 2, grad=True)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    with contextlib.ExitStack() as hooks:
        for handle in (
            place.register_module_forward_pre_hook(lambda m, a: seen.append(type(m).__name__)),
            place.register_module_forward_hook(lambda m, a, y: seen.append(y)),
            place.register_module_full_backward_hook(lambda m, gi, go: seen.append((gi, go))),
        ):
            hooks.enter_context(handle)
        model(x).sum().backward()
    model(x)
    return seen


@module_program
def parameter_hooks(torch: Any) -> Any:
    torch.manual_seed(0)
    model, seen = torch.nn.Linear(2, 1), []
    model.weight.register_hook(lambda g: g * 2)
    model.bias.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    model(torch.ones(3, 2)).sum().backward()
    return [model.weight.grad, model.bias.grad, seen]


# -- layers with arguments of their own ------------------------------------------------------------


@module_program
def embedding(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.Embedding(5, 3, padding_idx=-1)
    layer(torch.tensor([[0, 4], [2, 2]])).sum().backward()
    return [repr(layer), layer.weight, layer.padding_idx]


@module_program
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


@module_program
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


@module_program
def embedding_bag(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.EmbeddingBag(6, 3, mode="sum", padding_idx=0)
    x = layer(torch.tensor([1, 2, 4, 5, 4, 3, 2, 0]), torch.tensor([0, 4]))
    x.pow(2).sum().backward()
    return [x, layer.weight, repr(layer), repr(torch.nn.EmbeddingBag(6, 3))]


@module_program
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


@module_program
def adaptive_with_indices(torch: Any) -> Any:
    x = numbers(torch, 1, 2, 5, 6, grad=True)
    y, where = torch.nn.AdaptiveMaxPool2d((2, 3), return_indices=True)(x)
    y.sum().backward()
    return [y, where, x.grad]


@module_program
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


@module_program
def rrelu_draws(torch: Any) -> Any:
    torch.manual_seed(0)
    x = numbers(torch, 3, 4, grad=True)
    y = torch.nn.RReLU()(x)
    y.sum().backward()
    return [y, x.grad]


@module_program
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


@module_program
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
        raising(lambda: nn.Softmax2d()(x)),
        raising(lambda: nn.Hardtanh(1.0, -1.0)),
        raising(lambda: nn.Bilinear(0, 1, 1)),
        raising(lambda: nn.MultiMarginLoss(p=3)),
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


@module_program
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


@module_program
def empty_batches(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    y = layer(torch.ones(0, 3))
    y.sum().backward()
    return [y, layer.weight.grad, nn.Flatten()(torch.ones(0, 2, 3)), nn.ReLU()(torch.ones(0))]


@module_program
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


@module_program
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


# -- initialisation --------------------------------------------------------------------------------

INITS: dict[str, Any] = {
    "uniform": lambda i, t: i.uniform_(t, -1, 2),
    "normal": lambda i, t: i.normal_(t, 1.0, 0.5),
    "trunc_normal": lambda i, t: i.trunc_normal_(t, 0.1, 0.5, -0.4, 1.0),
    "constant": lambda i, t: i.constant_(t, 0.3),
    "ones": lambda i, t: i.ones_(t),
    "zeros": lambda i, t: i.zeros_(t),
    "xavier_uniform": lambda i, t: i.xavier_uniform_(t, gain=2.0),
    "xavier_normal": lambda i, t: i.xavier_normal_(t),
    "kaiming_uniform": lambda i, t: i.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
    "kaiming_uniform_leaky": lambda i, t: i.kaiming_uniform_(t, a=0.3),
    "kaiming_normal": lambda i, t: i.kaiming_normal_(t, nonlinearity="tanh"),
    "orthogonal": lambda i, t: i.orthogonal_(t, gain=1.5),
    "kaiming_old": lambda i, t: i.kaiming_normal(t),
    "xavier_old": lambda i, t: i.xavier_uniform(t),
}


@pytest.mark.parametrize("shape", [(6, 8), (8, 3), (5, 4, 3)], ids=str)
@pytest.mark.parametrize("name", INITS)
def test_init(name: str, shape: tuple[int, ...]) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(7)
        tensor = torch.nn.Parameter(torch.empty(shape))
        answer = INITS[name](torch.nn.init, tensor)
        return [tensor, answer is tensor]

    compare(program)


@module_program
def inits_of_matrices(torch: Any) -> Any:
    init = torch.nn.init
    torch.manual_seed(0)
    return [
        init.eye_(torch.empty(3, 4)),
        init.sparse_(torch.empty(7, 5), 0.3),
        init.dirac_(torch.empty(4, 2, 3)),
        init.dirac_(torch.empty(4, 2, 3, 3), groups=2),
        init.dirac_(torch.empty(3, 3, 2, 2, 3)),
        init.orthogonal_(torch.empty(3, 3, dtype=torch.float64)),
        init.uniform_(torch.empty(3), generator=torch.Generator().manual_seed(1)),
    ]


@module_program
def inits_wrong(torch: Any) -> Any:
    init = torch.nn.init
    line, flat = torch.empty(3), torch.empty(3, 4)
    return [
        raising(lambda: init.eye_(line)),
        raising(lambda: init.dirac_(flat)),
        raising(lambda: init.dirac_(torch.empty(3, 2, 2), groups=2)),
        raising(lambda: init.xavier_uniform_(line)),
        raising(lambda: init.kaiming_normal_(line)),
        raising(lambda: init.kaiming_normal_(flat, mode="fan")),
        raising(lambda: init.kaiming_normal_(flat, nonlinearity="mish")),
        raising(lambda: init.orthogonal_(line)),
        raising(lambda: init.sparse_(line, 0.1)),
        raising(lambda: init.uniform_(flat, 2, 1)),
        raising(lambda: init.calculate_gain("gelu")),
        raising(lambda: init.calculate_gain("leaky_relu", "a")),
        [
            init.calculate_gain(n)
            for n in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu")
        ],
        init.calculate_gain("leaky_relu", 0.2),
        init._calculate_fan_in_and_fan_out(torch.empty(3, 4, 5)),
        init.kaiming_uniform_(torch.empty(0, 3)),
    ]


# -- utilities -------------------------------------------------------------------------------------


def swept(torch: Any) -> Any:
    """Return a network with gradients."""
    model = net(torch)
    (model(numbers(torch, 4, 3)) * 10).sum().backward()
    return model


@pytest.mark.parametrize("norm_type", [2.0, 1, float("inf"), 3])
@pytest.mark.parametrize("max_norm", [0.5, 1e4])
def test_clip_grad_norm(norm_type: float, max_norm: float) -> None:
    def program(torch: Any) -> Any:
        model = swept(torch)
        utils = torch.nn.utils
        grads = [p.grad for p in model.parameters()]
        total = utils.get_total_norm(grads, norm_type)
        return [
            total,
            utils.clip_grad_norm_(model.parameters(), max_norm, norm_type),
            [p.grad for p in model.parameters()],
            grads[0] is next(model.parameters()).grad,
        ]

    compare(program)


@module_program
def clipping(torch: Any) -> Any:
    utils = torch.nn.utils
    model = swept(torch)
    utils.clip_grad_value_(model.parameters(), 0.5)
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.tensor([float("inf"), 1.0])
    return [
        [p.grad for p in model.parameters()],
        utils.clip_grad_norm_([], 1.0),
        raising(lambda: utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)),
        utils.clip_grad_norm_(x, 1.0),
        x.grad,
        utils.clip_grad_norm_([torch.ones(2)], 1.0),
    ]


@module_program
def vectors(torch: Any) -> Any:
    utils = torch.nn.utils
    model = net(torch)
    vector = utils.parameters_to_vector(model.parameters())
    utils.vector_to_parameters(vector * 2, model.parameters())
    vector.sum().backward()
    return [
        vector,
        model.state_dict(),
        model.scale.grad,
        raising(lambda: utils.vector_to_parameters([1], [])),
        model.scale.requires_grad,
    ]


@module_program
def weight_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))
    layer(numbers(torch, 4, 3)).pow(2).sum().backward()
    found = [
        repr(layer),
        *everything(layer),
        layer.weight,
        [n for n, _ in layer.named_parameters()],
    ]
    torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    return [*found, repr(layer), layer.weight, type(layer).__name__]


@module_program
def weight_norm_dims(torch: Any) -> Any:
    torch.manual_seed(0)
    found = []
    for dim in (0, 1, None):
        layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(2, 3, 2), dim=dim)
        layer(numbers(torch, 1, 2, 4)).pow(2).sum().backward()
        found.append(everything(layer))
    return found


@module_program
def old_weight_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(3, 2), name="weight")
    for _ in range(2):
        layer(numbers(torch, 4, 3)).pow(2).sum().backward()
    found = [repr(layer), *everything(layer), layer.weight]
    torch.nn.utils.remove_weight_norm(layer)
    return [*found, layer.state_dict(), raising(lambda: torch.nn.utils.remove_weight_norm(layer))]


@module_program
def spectral_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 4))
    layer(numbers(torch, 4, 3)).pow(2).sum().backward()
    found = [repr(layer), *everything(layer)]
    layer.eval()
    return [*found, layer.weight, layer(numbers(torch, 4, 3))]


@module_program
def old_spectral_norm(torch: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.utils.spectral_norm(torch.nn.Conv2d(2, 3, 2))
    for _ in range(2):
        layer(numbers(torch, 1, 2, 3, 3)).pow(2).sum().backward()
    found = [repr(layer), *everything(layer)]
    torch.nn.utils.remove_spectral_norm(layer)
    return [*found, layer.state_dict()]


@module_program
def own_parametrization(torch: Any) -> Any:
    class Symmetric(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Halved(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x / 2

    parametrize = torch.nn.utils.parametrize
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    one = layer.weight
    layer.weight = torch.ones(3, 3)
    two = layer.weight
    parametrize.register_parametrization(layer, "weight", Halved())
    with parametrize.cached():
        same = layer.weight is layer.weight
    layer(torch.ones(1, 3)).sum().backward()
    return [
        one,
        two,
        layer.weight,
        same,
        repr(layer),
        everything(layer),
        parametrize.is_parametrized(layer),
        parametrize.is_parametrized(layer, "bias"),
        copy.deepcopy(layer).weight,
        raising(lambda: setattr(layer, "weight", torch.ones(3, 3))),
        raising(lambda: parametrize.register_parametrization(layer, "none", Halved())),
    ]


@module_program
def sequences(torch: Any) -> Any:
    rnn = torch.nn.utils.rnn
    parts = [numbers(torch, n, 2, seed=n, grad=True) for n in (3, 1, 2)]
    padded = rnn.pad_sequence(parts, batch_first=True, padding_value=-1.0)
    padded.pow(2).sum().backward()
    return [
        padded,
        rnn.pad_sequence(parts),
        rnn.pad_sequence(parts, padding_side="left"),
        [p.grad for p in parts],
        rnn.unpad_sequence(padded, torch.tensor([3, 1, 2]), batch_first=True),
    ]


# -- other parameters ------------------------------------------------------------------------------


@module_program
def functional_calls(torch: Any) -> Any:
    call = torch.func.functional_call
    model = net(torch)
    x = numbers(torch, 4, 3)
    other = {k: (v.detach() * 2).requires_grad_() for k, v in model.named_parameters()}
    y = call(model, other, (x,))
    y.sum().backward()
    before = model.scale
    return [
        y,
        {k: v.grad for k, v in other.items()},
        model.scale.grad,
        model.scale is before,
        call(model, {"scale": torch.zeros(2)}, x),
        call(model, ({}, {"scale": torch.ones(2)}), (x,)),
        model.inner[0].num_batches_tracked,
        torch.nn.utils.stateless.functional_call(model, {"scale": torch.zeros(2)}, x),
    ]


@module_program
def functional_calls_wrong(torch: Any) -> Any:
    call = torch.func.functional_call
    model = torch.nn.Linear(2, 1)
    x, w = torch.ones(1, 2), torch.ones(1, 2)
    return [
        raising(lambda: call(model, {"w": w}, x).shape),
        raising(lambda: call(model, {"a.b": w}, x)),
        raising(lambda: call(model, {"weight": w}, x, strict=True)),
        raising(lambda: call(model, {"weight": w, "bias": w[0, :1], "q": w}, x, strict=True)),
        raising(lambda: call(model, ({"weight": w}, {"weight": w}), x)),
        raising(lambda: call(model, {"weight": 3}, x)),
        raising(lambda: call(model, 3, x)),
        "w" in dir(model),
        model.weight.requires_grad,
    ]


@module_program
def functional_calls_tied(torch: Any) -> Any:
    nn = torch.nn

    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Parameter(torch.ones(2))
            self.b = self.a

        def forward(self, x: Any) -> Any:
            return x * self.a + self.b

    call, x, model = torch.func.functional_call, torch.ones(2), Tied()
    return [
        call(model, {"a": torch.zeros(2)}, x),
        call(model, {"b": torch.zeros(2)}, x),
        call(model, {"a": torch.zeros(2)}, x, tie_weights=False),
        raising(lambda: call(model, {"a": torch.zeros(2), "b": torch.ones(2)}, x)),
    ]


@module_program
def stacked_modules(torch: Any) -> Any:
    models = [net(torch, k).eval() for k in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    base = copy.deepcopy(models[0])
    x = numbers(torch, 4, 3)
    together = torch.vmap(lambda p, b: torch.func.functional_call(base, (p, b), (x,)))(
        params, buffers
    )
    return [
        params,
        buffers,
        together,
        torch.stack([m(x) for m in models]),
        raising(lambda: torch.func.stack_module_state([])),
        raising(lambda: torch.func.stack_module_state([models[0], net(torch)])),
        raising(lambda: torch.func.stack_module_state([models[0], torch.nn.ReLU().eval()])),
    ]


@module_program
def gradients_of_examples(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    params = {k: v.detach() for k, v in model.named_parameters()}

    def loss(p: Any, x: Any, y: Any) -> Any:
        return (torch.func.functional_call(model, p, (x,)) - y).pow(2).sum()

    x, y = numbers(torch, 5, 3), numbers(torch, 5, 1, seed=1)
    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)


@module_program
def hessian_of_parameters(torch: Any) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sigmoid(), torch.nn.Linear(2, 1))
    loss = model(numbers(torch, 3, 2)).pow(2).mean()
    params = list(model.parameters())
    first = torch.autograd.grad(loss, params, create_graph=True)
    product = sum((g * torch.ones_like(g)).sum() for g in first)
    return [first, torch.autograd.grad(product, params)]


@module_program
def second_order_with_hooks(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Softplus(), nn.Linear(3, 1))
    model[0].register_full_backward_hook(lambda m, gi, go: None)
    x = numbers(torch, 4, 2, grad=True)
    (g,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    g.pow(2).sum().backward()
    return [g, *everything(model, x)]


@module_program
def classes_of_results(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2))
    results = [p.detach(), p.data, p.clone(), p[0], p.view(1, 2), p + 1, -p, p.float(), p.double()]
    results += [p.cpu(), p.to(torch.float32), torch.relu(p), p.requires_grad_(), p * p, 2 / p]
    return [type(x).__name__ for x in results]


@module_program
def writes_to_parameters(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2))
    found = [
        raising(lambda: p.zero_()),
        raising(lambda: p.__setitem__(0, 1.0)),
        raising(lambda: p.data.add_(1)),
        raising(lambda: p.detach().add_(1)),
    ]
    with torch.no_grad():
        p.copy_(torch.tensor([4.0, 5.0]))
        p[0] = 7.0
    p.requires_grad = False
    p.add_(1)
    return [found, p, p._version]


@module_program
def derivatives_of_modules(torch: Any) -> Any:
    torch.manual_seed(0)
    x, model = torch.randn(2, 3), torch.nn.Linear(3, 2)
    cubed = torch.func.hessian(lambda x: model(x).pow(3).sum())(x)
    whole = torch.autograd.functional.jacobian(model, x)
    return [whole, torch.func.jacrev(model)(x), cubed, torch.func.vmap(model)(x)]


@module_program
def wrong_calls(torch: Any) -> Any:
    nn = torch.nn
    image = torch.ones(1, 1, 2, 2)
    return [
        raising(lambda: nn.Linear(2, 2)(np.ones((1, 2)))),
        raising(lambda: nn.Linear(2.0, 2)),
        raising(lambda: nn.Linear(-1, 2)),
        raising(lambda: nn.Sequential([nn.ReLU()])),
        raising(lambda: nn.ModuleList(nn.ReLU())),
        raising(lambda: nn.ModuleDict({"a.b": nn.ReLU()})),
        raising(lambda: nn.ModuleDict({1: nn.ReLU()})),
        raising(lambda: nn.BatchNorm1d(2)(torch.ones(2, 2, dtype=torch.int64))),
        raising(lambda: nn.CrossEntropyLoss()(torch.ones(2, 3), torch.tensor([0, 3]))),
        raising(lambda: nn.ReLU()(torch.ones(2, dtype=torch.bool))),
        raising(lambda: nn.Softmax(dim=5)(torch.ones(2))),
        raising(lambda: nn.MaxPool2d(3)(image)),
        raising(lambda: nn.PixelShuffle(2)(torch.ones(1, 3, 2, 2))),
        raising(lambda: nn.Upsample(scale_factor=2, size=3)(image)),
        raising(lambda: nn.Upsample()(image)),
        raising(lambda: nn.GLU()(torch.ones(3))),
        raising(lambda: nn.Conv2d(1, 1, 3)(image)),
    ]


# -- whole programs --------------------------------------------------------------------------------


def descend(torch: Any, module: Any, rate: float) -> None:
    """Take a step of gradient descent."""
    with torch.no_grad():
        for p in module.parameters():
            if p.grad is not None:
                p -= rate * p.grad
    module.zero_grad()


@module_program
def train_mlp(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    x, y = torch.randn(30, 4), torch.randint(0, 3, (30,))
    losses = []
    for _ in range(20):
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        descend(torch, model, 0.5)
        losses.append(loss.item())
    return [losses, model.state_dict(), (model(x).argmax(1) == y).float().mean()]


@module_program
def train_cnn(torch: Any) -> Any:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
                nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(),
                nn.AdaptiveAvgPool2d(1),
            )  # fmt: skip
            self.head = nn.Linear(8, 2)

        def forward(self, x: Any) -> Any:
            return self.head(torch.flatten(self.features(x), 1))

    torch.manual_seed(0)
    model, x, y = Net(), torch.randn(8, 1, 8, 8), torch.randint(0, 2, (8,))
    losses = []
    for _ in range(6):
        loss = nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        descend(torch, model, 0.1)
        losses.append(loss.item())
    model.eval()
    return [losses, model.state_dict(), model(x)]


@module_program
def train_autoencoder(torch: Any) -> Any:
    nn = torch.nn

    class Autoencoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv1d(1, 3, 3, 2, 1), nn.GELU(), nn.Flatten())
            self.decoder = nn.Sequential(
                nn.Unflatten(1, (3, 4)), nn.ConvTranspose1d(3, 1, 4, 2, 1), nn.Sigmoid()
            )

        def forward(self, x: Any) -> Any:
            return self.decoder(self.encoder(x))

    torch.manual_seed(1)
    model, x = Autoencoder(), torch.rand(6, 1, 8)
    losses = []
    for _ in range(10):
        loss = nn.BCELoss()(model(x), x)
        loss.backward()
        descend(torch, model, 1.0)
        losses.append(loss.item())
    return [losses, model.state_dict()]


@module_program
def train_gan(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(2)
    maker = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2))
    judge = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(8, 1))
    loss, found = nn.BCEWithLogitsLoss(), []
    real = torch.randn(10, 2) + 3
    for _ in range(4):
        fake = maker(torch.randn(10, 2))
        of_judge = loss(judge(real), torch.ones(10, 1)) + loss(
            judge(fake.detach()), torch.zeros(10, 1)
        )
        judge.zero_grad()
        of_judge.backward()
        descend(torch, judge, 0.1)
        of_maker = loss(judge(fake), torch.ones(10, 1))
        maker.zero_grad()
        of_maker.backward()
        descend(torch, maker, 0.1)
        judge.zero_grad()
        found.append([of_judge.item(), of_maker.item()])
    return [found, maker.state_dict(), judge.state_dict()]


@module_program
def train_wgan_gp(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(3)
    critic = nn.Sequential(nn.Linear(2, 6), nn.Softplus(), nn.Linear(6, 1))
    real, fake = torch.randn(5, 2) + 1, torch.randn(5, 2)
    mix = torch.rand(5, 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (g,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    loss = critic(fake).mean() - critic(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()
    loss.backward()
    return [loss, g.detach(), *everything(critic)]


@module_program
def train_vae(torch: Any) -> Any:
    nn = torch.nn

    class VAE(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.mean, self.logvar = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
            self.out = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 6), nn.Sigmoid())

        def forward(self, x: Any, noise: Any) -> Any:
            h = nn.functional.relu(self.hidden(x))
            mean, logvar = self.mean(h), self.logvar(h)
            return self.out(mean + noise * torch.exp(0.5 * logvar)), mean, logvar

    torch.manual_seed(4)
    model, x, noise = VAE(), torch.rand(7, 6), torch.randn(7, 2)
    losses = []
    for _ in range(5):
        again, mean, logvar = model(x, noise)
        rebuilt = nn.functional.binary_cross_entropy(again, x, reduction="sum")
        divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
        (rebuilt + divergence).backward()
        descend(torch, model, 0.01)
        losses.append([rebuilt.item(), divergence.item()])
    return [losses, model.state_dict()]


@module_program
def train_siamese(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(5)
    tower = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    a, p, n = (torch.randn(6, 4) for _ in range(3))
    found = []
    for _ in range(4):
        loss = nn.TripletMarginLoss(1.0)(tower(a), tower(p), tower(n))
        loss = loss + nn.CosineEmbeddingLoss()(tower(a), tower(p), torch.ones(6))
        loss.backward()
        nn.utils.clip_grad_norm_(tower.parameters(), 0.5)
        descend(torch, tower, 0.2)
        found.append(loss.item())
    return [found, tower.state_dict()]


@module_program
def train_pinn(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(6)
    model = nn.Sequential(
        nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)
    ).double()
    x = torch.linspace(0, 1, 9, dtype=torch.float64).reshape(-1, 1).requires_grad_()
    losses = []
    for _ in range(5):
        u = model(x)
        (du,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
        (ddu,) = torch.autograd.grad(du, x, torch.ones_like(du), create_graph=True)
        loss = (ddu + u).pow(2).mean() + (u[0] - 1).pow(2).sum() + u[-1].pow(2).sum()
        loss.backward()
        descend(torch, model, 0.01)
        losses.append(loss.item())
    return [losses, model.state_dict()]


@module_program
def train_dqn(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(7)
    online = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    target = copy.deepcopy(online).eval().requires_grad_(False)
    s, s2, r = torch.randn(9, 4), torch.randn(9, 4), torch.randn(9)
    a, done = torch.randint(0, 2, (9, 1)), torch.rand(9) < 0.3
    losses = []
    for _ in range(4):
        q = online(s).gather(1, a).squeeze(1)
        with torch.no_grad():
            wanted = r + 0.99 * target(s2).max(1).values * (~done).float()
        loss = nn.SmoothL1Loss()(q, wanted)
        loss.backward()
        nn.utils.clip_grad_value_(online.parameters(), 0.1)
        descend(torch, online, 0.5)
        for p, t in zip(online.parameters(), target.parameters(), strict=True):
            t.data.mul_(0.9).add_(p.data, alpha=0.1)
        losses.append(loss.item())
    return [losses, target.state_dict()]


@module_program
def train_maml(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
    total = 0
    for task in range(3):
        x = torch.randn(5, 1)
        y = torch.sin(x + task)
        fast = dict(model.named_parameters())
        for _ in range(2):
            loss = nn.functional.mse_loss(torch.func.functional_call(model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {k: p - 0.1 * g for (k, p), g in zip(fast.items(), grads, strict=True)}
        total = total + nn.functional.mse_loss(torch.func.functional_call(model, fast, (x,)), y)
    total.backward()
    return [total, *everything(model)]


@module_program
def train_resnet_block(torch: Any) -> Any:
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, channels: int, out: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(channels, out, 3, padding=1, bias=False)
            self.norm1 = nn.BatchNorm2d(out)
            self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(out)
            self.shortcut = nn.Sequential() if channels == out else nn.Conv2d(channels, out, 1)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            y = self.relu(self.norm1(self.conv1(x)))
            y = self.norm2(self.conv2(y))
            y += self.shortcut(x)
            return self.relu(y)

    torch.manual_seed(9)
    model = nn.Sequential(
        Block(2, 2), Block(2, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 1)
    )
    x = torch.randn(3, 2, 5, 5, requires_grad=True)
    model(x).pow(2).mean().backward()
    return everything(model, x)


@module_program
def train_attention(torch: Any) -> Any:
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(10, 8)
            self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 10)
            self.norm = nn.LayerNorm(8)

        def forward(self, k: Any) -> Any:
            x = self.embed(k)
            q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
            x = x + nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(x)

    torch.manual_seed(10)
    model, k = Attention(), torch.randint(0, 10, (2, 5))
    loss = nn.CrossEntropyLoss()(model(k[:, :-1]).transpose(1, 2), k[:, 1:])
    loss.backward()
    return [loss, *everything(model)]


@module_program
def train_rnn_by_hand(torch: Any) -> Any:
    nn = torch.nn

    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ih, self.hh = nn.Linear(2, 4), nn.Linear(4, 4, bias=False)

        def forward(self, x: Any, h: Any) -> Any:
            return torch.tanh(self.ih(x) + self.hh(h))

    torch.manual_seed(11)
    cell, out, h = Cell(), nn.Linear(4, 1), torch.zeros(3, 4)
    x = torch.randn(6, 3, 2)
    for step in x:
        h = cell(step, h)
    out(h).sum().backward()
    return [everything(cell), everything(out)]


@module_program
def train_with_accumulation(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(12)
    model = nn.Linear(3, 1)
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    for k in range(0, 8, 2):
        (nn.MSELoss()(model(x[k : k + 2]), y[k : k + 2]) / 4).backward()
    parts = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    nn.MSELoss()(model(x), y).backward()
    return [parts, [p.grad for p in model.parameters()]]


@module_program
def train_frozen_features(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(13)
    body, head = nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2)
    for p in body.parameters():
        p.requires_grad = False
    y = head(body(torch.randn(5, 3)))
    y.sum().backward()
    return [everything(body), everything(head), y.requires_grad, body[0].weight.requires_grad]


@module_program
def moving_average_of_weights(torch: Any) -> Any:
    model = net(torch)
    average = copy.deepcopy(model)
    for k in range(3):
        model(numbers(torch, 4, 3, seed=k)).sum().backward()
        descend(torch, model, 0.1)
        with torch.no_grad():
            for a, p in zip(average.parameters(), model.parameters(), strict=True):
                a.lerp_(p, 0.5)
    return average.state_dict()


@module_program
def checkpointed(torch: Any) -> Any:
    from_ = torch.utils.checkpoint
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    x = numbers(torch, 2, 3, grad=True)
    from_.checkpoint(model, x, use_reentrant=False).sum().backward()
    return everything(model, x)


@module_program
def printing(torch: Any) -> Any:
    def show(torch: Any) -> None:
        model = net(torch)
        print(model)
        print(model.first.bias)
        for name, p in model.named_parameters():
            print(name, p.shape, p.requires_grad, p.dtype)
        print(list(model.inner.children()))

    return printed(show)(torch)


@module_program
def import_forms(torch: Any) -> Any:
    names = [
        "nn.functional",
        "nn.init",
        "nn.utils",
        "nn.modules.loss",
        "nn.parameter",
        "nn.utils.rnn",
    ]
    return [
        name
        for name in names
        if hasattr(__import__("operator").attrgetter(name)(torch), "__name__")
    ]


@pytest.mark.parametrize("name", MODULES)
def test_program(name: str) -> None:
    compare(MODULES[name])


# -- by copied states ------------------------------------------------------------------------------


def test_states_travel_between_the_libraries() -> None:
    import torch as theirs

    mine, real = net(ours, 0), net(theirs, 1)
    alike(real, mine)
    results = [model(numbers(t, 4, 3)) for t, model in ((ours, mine), (theirs, real))]
    for result in results:
        result.sum().backward()
    torch_parity.assert_same(results[0], results[1])
    torch_parity.assert_same(everything(mine), everything(real))


def test_import_statements() -> None:
    code = """
import wengert.torch as torch
import wengert.torch.nn as nn
import wengert.torch.nn.functional as F
from wengert.torch import nn as other, optim
from wengert.torch.nn import Module, Linear
from wengert.torch.nn.modules.loss import _Loss
from wengert.torch.nn.parameter import Parameter
from wengert.torch.nn.utils import clip_grad_norm_
from wengert.torch.nn.utils.parametrizations import weight_norm
import wengert.torch.nn.init as init
assert nn is other and nn.Module is Module and F.relu is nn.functional.relu
assert isinstance(Linear(1, 1).weight, Parameter)
"""
    exec(code, {})
