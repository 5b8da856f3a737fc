"""Losses as modules."""

from __future__ import annotations

import warnings
from typing import Any

from wengert.dialects.torch.nn.layers.calls import Call, F, offer
from wengert.dialects.torch.nn.layers.shapes import PairwiseDistance
from wengert.dialects.torch.nn.losses import _way
from wengert.engine.errors import caller_depth


class _Loss(Call, takes="size_average=None, reduce=None, reduction='mean'"):
    """A loss of which the mean, the sum, or each number is given."""

    reduction: str

    def _init_with(self, **options: Any) -> None:
        size_average, reduce = options.pop("size_average", None), options.pop("reduce", None)
        if size_average is not None or reduce is not None:
            options["reduction"] = _way(size_average, reduce, None)
        for name in ("weight", "pos_weight"):
            if name in options:
                self.register_buffer(name, options.pop(name))
        super()._init_with(**options)


class _WeightedLoss(_Loss, takes="weight=None, size_average=None, reduce=None, reduction='mean'"):
    """A loss with a weight for each class or number."""


# -- of numbers ------------------------------------------------------------------------------------


class L1Loss(_Loss, function="l1_loss"):
    """abs(input - target)."""


class MSELoss(_Loss, function="mse_loss"):
    """(input - target) ** 2."""


class SmoothL1Loss(_Loss, function="smooth_l1_loss", takes="size_average, reduce, reduction, beta"):
    """A parabola up to `beta`, and a straight line beyond."""


class HuberLoss(_Loss, function="huber_loss", takes="reduction, delta"):
    """A parabola up to `delta`, and a straight line beyond, not scaled."""


class PoissonNLLLoss(
    _Loss,
    function="poisson_nll_loss",
    takes="log_input, full, size_average, eps, reduce, reduction",
):
    """The negative log-likelihood of Poisson's distribution."""

    def forward(self, log_input: Any, target: Any) -> Any:
        """Return the loss."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
            reduction=self.reduction,
        )  # fmt: skip


class GaussianNLLLoss(_Loss, function="gaussian_nll_loss", takes="*, full, eps, reduction"):
    """The negative log-likelihood of a normal distribution."""


# -- of classes ------------------------------------------------------------------------------------


class NLLLoss(
    _WeightedLoss,
    function="nll_loss",
    takes="weight, size_average, ignore_index, reduce, reduction",
):
    """Minus the log-chance of the right class."""


class NLLLoss2d(NLLLoss):
    """The old name of NLLLoss for images."""

    def _init_with(self, **options: Any) -> None:
        warnings.warn(
            "NLLLoss2d is the old name of NLLLoss; write NLLLoss",
            FutureWarning,
            stacklevel=caller_depth(),
        )
        super()._init_with(**options)


class CrossEntropyLoss(
    _WeightedLoss,
    function="cross_entropy",
    takes="weight, size_average, ignore_index, reduce, reduction, label_smoothing",
):
    """Minus the log of softmax at the right class."""


class KLDivLoss(_Loss, function="kl_div", takes="size_average, reduce, reduction, log_target"):
    """The relative entropy of log-chances."""


class BCELoss(_WeightedLoss, function="binary_cross_entropy"):
    """The cross-entropy of chances of two outcomes."""


class BCEWithLogitsLoss(
    _Loss,
    function="binary_cross_entropy_with_logits",
    takes="weight, size_average, reduce, reduction, pos_weight",
):
    """The cross-entropy of the sigmoid."""


class SoftMarginLoss(_Loss, function="soft_margin_loss"):
    """log(1 + exp(-target * input))."""


class MultiLabelMarginLoss(_Loss, function="multilabel_margin_loss"):
    """The hinge loss of several right classes."""


class MultiLabelSoftMarginLoss(_WeightedLoss, function="multilabel_soft_margin_loss"):
    """The mean over classes of the cross-entropy of the sigmoid."""


class MultiMarginLoss(
    _WeightedLoss,
    function="multi_margin_loss",
    takes="p, margin, weight, size_average, reduce, reduction",
):
    """The hinge loss of one right class."""

    def _init_with(self, **options: Any) -> None:
        super()._init_with(**options)
        if self.p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: p is {self.p}; give 1 or 2")
        if self.weight is not None and self.weight.ndim != 1:
            raise ValueError(
                f"MultiMarginLoss: the weight has {self.weight.ndim} axes; give a vector"
            )


# -- of vectors ------------------------------------------------------------------------------------


class HingeEmbeddingLoss(
    _Loss, function="hinge_embedding_loss", takes="margin, size_average, reduce, reduction"
):
    """A distance where the target is 1, and what it lacks of a margin where that is -1."""


class CosineEmbeddingLoss(
    _Loss, function="cosine_embedding_loss", takes="margin=0.0, size_average, reduce, reduction"
):
    """One minus the cosine where the target is 1, and the cosine beyond a margin where it is -1."""


class MarginRankingLoss(
    _Loss, function="margin_ranking_loss", takes="margin=0.0, size_average, reduce, reduction"
):
    """What one number lacks of being larger than another by a margin."""


class _TripletLoss(_Loss):
    def _init_with(self, **options: Any) -> None:
        super()._init_with(**options)
        if self.margin <= 0:
            raise ValueError(
                f"{type(self).__name__}: margin is {self.margin}; give a positive number"
            )


class TripletMarginLoss(
    _TripletLoss,
    function="triplet_margin_loss",
    takes="margin, p=2.0, eps, swap, size_average, reduce, reduction",
):
    """What a distance lacks of being smaller than another by a margin."""


class TripletMarginWithDistanceLoss(
    _TripletLoss,
    function="triplet_margin_with_distance_loss",
    takes="*, distance_function, margin, swap, reduction",
):
    """TripletMarginLoss with a distance of the program's own."""

    def _init_with(self, **options: Any) -> None:
        options["distance_function"] = options["distance_function"] or PairwiseDistance()
        super()._init_with(**options)


offer(
    "loss", _Loss, _WeightedLoss, L1Loss, MSELoss, SmoothL1Loss, HuberLoss, PoissonNLLLoss,
    GaussianNLLLoss, NLLLoss, NLLLoss2d, CrossEntropyLoss, KLDivLoss, BCELoss, BCEWithLogitsLoss,
    SoftMarginLoss, MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss,
    HingeEmbeddingLoss, CosineEmbeddingLoss, MarginRankingLoss, TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)  # fmt: skip
