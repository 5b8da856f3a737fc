"""Losses as modules."""

from __future__ import annotations

from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, layer, offer
from wengert.dialects.torch.nn.losses import reduction_of


class _Loss(Call, takes="size_average=None, reduce=None, reduction='mean'"):
    """A loss of which the mean, the sum, or each number is given."""

    reduction: str

    def _init_with(self, **options: Any) -> None:
        size_average, reduce = options.pop("size_average", None), options.pop("reduce", None)
        if size_average is not None or reduce is not None:
            options["reduction"] = reduction_of(size_average, reduce, None)
        for name in ("weight", "pos_weight"):
            if name in options:
                self.register_buffer(name, options.pop(name))
        super()._init_with(**options)


class _WeightedLoss(_Loss, takes="weight=None, size_average=None, reduce=None, reduction='mean'"):
    """A loss with a weight for each class or number."""


_OLD = "size_average, reduce, reduction"


class TripletMarginLoss(
    _Loss, function="triplet_margin_loss", takes=f"margin, p=2.0, eps, swap, {_OLD}"
):
    """How far a positive example is from being nearer than a negative one, by a margin."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**options)
        if self.margin <= 0:
            raise ValueError(f"margin is {self.margin}; give a positive number")


offer(
    "loss",
    *(_Loss, _WeightedLoss, TripletMarginLoss),
    layer("L1Loss", _Loss, function="l1_loss"),
    layer("MSELoss", _Loss, function="mse_loss"),
    layer("SmoothL1Loss", _Loss, function="smooth_l1_loss", takes=f"{_OLD}, beta"),
    layer("HuberLoss", _Loss, function="huber_loss", takes="reduction, delta"),
    layer("GaussianNLLLoss", _Loss, function="gaussian_nll_loss", takes="*, full, eps, reduction"),
    layer(
        "CrossEntropyLoss",
        _WeightedLoss,
        function="cross_entropy",
        takes="weight, size_average, ignore_index, reduce, reduction, label_smoothing",
    ),
    layer(
        "NLLLoss",
        _WeightedLoss,
        function="nll_loss",
        takes="weight, size_average, ignore_index, reduce, reduction",
    ),
    layer(
        "PoissonNLLLoss",
        _Loss,
        function="poisson_nll_loss",
        takes="log_input, full, size_average, eps, reduce, reduction",
    ),
    layer("KLDivLoss", _Loss, function="kl_div", takes=f"{_OLD}, log_target"),
    layer("BCELoss", _WeightedLoss, function="binary_cross_entropy"),
    layer(
        "BCEWithLogitsLoss",
        _Loss,
        function="binary_cross_entropy_with_logits",
        takes=f"weight, {_OLD}, pos_weight",
    ),
    layer("SoftMarginLoss", _Loss, function="soft_margin_loss"),
    layer("MultiLabelSoftMarginLoss", _WeightedLoss, function="multilabel_soft_margin_loss"),
    layer("HingeEmbeddingLoss", _Loss, function="hinge_embedding_loss", takes=f"margin, {_OLD}"),
    *(
        layer(_name, _Loss, function=_function, takes=f"margin=0.0, {_OLD}")
        for _name, _function in (
            ("CosineEmbeddingLoss", "cosine_embedding_loss"),
            ("MarginRankingLoss", "margin_ranking_loss"),
        )
    ),
)
