"""Losses of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, labels, loss, with_gradients

pytestmark = pytest.mark.parity


def classes(
    name: str, shape: Any, count: int, *of: int, second: bool = True, **options: Any
) -> Program:
    def call(t: Any, x: Any) -> Any:
        more = {k: v(t) if callable(v) else v for k, v in options.items()}
        return getattr(t.nn.functional, name)(x, labels(t, count, *of), **more)

    return with_gradients(call, shape, second=second)


LOSSES: dict[str, Program] = {
    **{
        f"{name}-{reduction}": loss(name, (3, 4), (3, 4), reduction=reduction)
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
        for reduction in ("mean", "sum", "none")
    },
    "mse_loss": loss("mse_loss", (3,), (3,)),
    "mse_loss-broadcast": loss("mse_loss", (3, 4), (4,)),
    "mse_loss-legacy": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1), size_average=False
    ),
    "mse_loss-no-reduce": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1), reduce=False
    ),
    "mse_loss-dtypes": lambda t: t.nn.functional.mse_loss(
        data(t, 3), data(t, 3, seed=1, dtype="float32")
    ),
    "mse_loss-integers": lambda t: t.nn.functional.mse_loss(t.tensor([1, 2]), t.tensor([1, 3])),
    "mse_loss-word": lambda t: t.nn.functional.mse_loss(data(t, 3), data(t, 3), reduction="all"),
    "mse_loss-shapes": lambda t: t.nn.functional.mse_loss(data(t, 3), data(t, 4)),
    "l1_loss-ties": lambda t: t.autograd.grad(
        t.nn.functional.l1_loss(
            x := t.tensor([1.0, 2, 0], requires_grad=True), t.tensor([1.0, 1, 1])
        ),
        x,
    ),
    "smooth_l1_loss-beta": loss("smooth_l1_loss", (3, 4), (3, 4), beta=0.5),
    "smooth_l1_loss-0": loss("smooth_l1_loss", (3, 4), (3, 4), beta=0.0),
    "huber_loss-delta": loss("huber_loss", (3, 4), (3, 4), delta=0.5),
    "huber_loss-wrong": lambda t: t.nn.functional.huber_loss(data(t, 3), data(t, 3), delta=0.0),
    **{
        f"cross_entropy-{reduction}": classes("cross_entropy", (5, 4), 4, 5, reduction=reduction)
        for reduction in ("mean", "sum", "none")
    },
    "cross_entropy-1d": classes("cross_entropy", (4,), 4),
    "cross_entropy-images": classes("cross_entropy", (2, 4, 3, 2), 4, 2, 3, 2),
    "cross_entropy-images-none": classes("cross_entropy", (2, 4, 3), 4, 2, 3, reduction="none"),
    "cross_entropy-weight": classes(
        "cross_entropy", (5, 4), 4, 5, weight=lambda t: data(t, 4, low=0.1, grad=False)
    ),
    "cross_entropy-smoothing": classes("cross_entropy", (5, 4), 4, 5, label_smoothing=0.1),
    "cross_entropy-smooth-weight": classes(
        "cross_entropy",
        (5, 4),
        4,
        5,
        weight=lambda t: data(t, 4, low=0.1, grad=False),
        label_smoothing=0.2,
        ignore_index=1,
    ),
    "cross_entropy-ignore": classes("cross_entropy", (5, 4), 4, 5, ignore_index=2),
    "cross_entropy-ignore-none": classes(
        "cross_entropy", (5, 4), 4, 5, ignore_index=2, reduction="none"
    ),
    "cross_entropy-probabilities": with_gradients(
        lambda t, x, p: t.nn.functional.cross_entropy(x, p), (5, 4), (5, 4), low=0.1
    ),
    "cross_entropy-probabilities-images": with_gradients(
        lambda t, x, p: t.nn.functional.cross_entropy(x, p, label_smoothing=0.1),
        (2, 4, 3),
        (2, 4, 3),
        low=0.1,
    ),
    "cross_entropy-probabilities-weight": with_gradients(
        lambda t, x, p: t.nn.functional.cross_entropy(
            x, p, weight=data(t, 4, low=0.1, grad=False), reduction="sum"
        ),
        (5, 4),
        (5, 4),
        low=0.1,
    ),
    "cross_entropy-float32": lambda t: t.nn.functional.cross_entropy(
        data(t, 20, 7, dtype="float32"), labels(t, 7, 20)
    ),
    "cross_entropy-minus-100": lambda t: t.nn.functional.cross_entropy(
        data(t, 3, 4), t.tensor([1, -100, 2])
    ),
    "cross_entropy-all-ignored": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([-100, -100])
    ),
    "cross_entropy-out": lambda t: t.nn.functional.cross_entropy(data(t, 2, 4), t.tensor([1, 4])),
    "cross_entropy-batches": lambda t: t.nn.functional.cross_entropy(data(t, 2, 4), t.tensor([1])),
    "cross_entropy-int32": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2], dtype=t.int32)
    ),
    "cross_entropy-float-labels": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1.0, 2.0])
    ),
    "cross_entropy-integers": lambda t: t.nn.functional.cross_entropy(
        t.ones(2, 3).long(), t.tensor([1, 2])
    ),
    "cross_entropy-wrong-smoothing": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2]), label_smoothing=1.5
    ),
    "cross_entropy-wrong-weight": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2]), weight=t.ones(3, dtype=t.float64)
    ),
    "cross_entropy-name": lambda t: t.nn.functional.cross_entropy(
        data(t, 2, 4), t.tensor([1, 2])
    ).grad_fn.name(),
    **{
        f"nll_loss-{reduction}": classes("nll_loss", (5, 4), 4, 5, reduction=reduction)
        for reduction in ("mean", "sum", "none")
    },
    "nll_loss-images": classes("nll_loss", (2, 4, 3, 2), 4, 2, 3, 2, ignore_index=1),
    "nll_loss-weight": classes(
        "nll_loss", (5, 4), 4, 5, weight=lambda t: data(t, 4, low=0.1, grad=False)
    ),
    "nll_loss-1d": classes("nll_loss", (4,), 4),
    "nll_loss-out": lambda t: t.nn.functional.nll_loss(data(t, 2, 4), t.tensor([1, 9])),
    "kl_div": loss("kl_div", (3, 4), (3, 4), low=0.1, reduction="batchmean"),
    "kl_div-mean": loss("kl_div", (3, 4), (3, 4), low=0.1),
    "kl_div-log": loss("kl_div", (3, 4), (3, 4), log_target=True, reduction="sum"),
    "kl_div-none": loss("kl_div", (3, 4), (3, 4), low=0.1, reduction="none"),
    "kl_div-zeros": lambda t: t.nn.functional.kl_div(
        data(t, 3), t.tensor([0.0, 0.5, 0.5], dtype=t.float64), reduction="sum"
    ),
    "bce": loss("binary_cross_entropy", (3, 4), (3, 4), low=0.05, high=0.95),
    "bce-sum": loss("binary_cross_entropy", (3, 4), (3, 4), low=0.05, high=0.95, reduction="sum"),
    "bce-weight": lambda t: t.nn.functional.binary_cross_entropy(
        data(t, 2, 3, low=0.1, high=0.9),
        data(t, 2, 3, low=0, high=1, seed=1),
        weight=t.tensor([1.0, 2, 3], dtype=t.float64),
        reduction="none",
    ),
    "bce-edges": lambda t: t.autograd.grad(
        t.nn.functional.binary_cross_entropy(
            x := t.tensor([0.0, 1, 0, 1], requires_grad=True), t.tensor([0.0, 1, 1, 0])
        ),
        x,
    ),
    "bce-outside": lambda t: t.nn.functional.binary_cross_entropy(t.tensor([1.5]), t.tensor([1.0])),
    "bce-shapes": lambda t: t.nn.functional.binary_cross_entropy(
        t.tensor([0.5]), t.tensor([1.0, 1.0])
    ),
    "bce-dtypes": lambda t: t.nn.functional.binary_cross_entropy(t.tensor([0.5]), t.tensor([1])),
    "bce_with_logits": loss("binary_cross_entropy_with_logits", (3, 4), (3, 4)),
    "bce_with_logits-none": loss(
        "binary_cross_entropy_with_logits", (3, 4), (3, 4), reduction="none"
    ),
    "bce_with_logits-weights": with_gradients(
        lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(
            x, y, data(t, 4, low=0.1, grad=False), pos_weight=data(t, 4, low=0.2, grad=False)
        ),
        (3, 4),
        (3, 4),
    ),
    "bce_with_logits-shapes": lambda t: t.nn.functional.binary_cross_entropy_with_logits(
        data(t, 3), data(t, 4)
    ),
    "hinge_embedding_loss": with_gradients(
        lambda t, x: t.nn.functional.hinge_embedding_loss(
            x, t.tensor([1, -1, 1, -1, 0]), margin=1.5
        ),
        (5,),
    ),
    "margin_ranking_loss": with_gradients(
        lambda t, x, y: t.nn.functional.margin_ranking_loss(
            x, y, t.tensor([1.0, -1, 1], dtype=t.float64), margin=0.5
        ),
        (3,),
        (3,),
    ),
    "margin_ranking_loss-dims": lambda t: t.nn.functional.margin_ranking_loss(
        data(t, 3), data(t, 3), data(t, 3, 1)
    ),
    "triplet_margin_loss": loss("triplet_margin_loss", (3, 4), (3, 4), (3, 4)),
    "triplet_margin_loss-swap": loss(
        "triplet_margin_loss", (3, 4), (3, 4), (3, 4), margin=3.0, p=1, swap=True, reduction="none"
    ),
    "triplet_margin_loss-margin": lambda t: t.nn.functional.triplet_margin_loss(
        data(t, 3, 4), data(t, 3, 4), data(t, 3, 4), margin=0
    ),
    "cosine_embedding_loss": with_gradients(
        lambda t, x, y: t.nn.functional.cosine_embedding_loss(
            x, y, t.tensor([1, -1, 1]), margin=0.2
        ),
        (3, 4),
        (3, 4),
    ),
    "cosine_embedding_loss-0d": with_gradients(
        lambda t, x, y: t.nn.functional.cosine_embedding_loss(x, y, t.tensor(1)), (4,), (4,)
    ),
    "cosine_embedding_loss-dims": lambda t: t.nn.functional.cosine_embedding_loss(
        data(t, 4), data(t, 4), t.tensor([1])
    ),
    "multilabel_soft_margin_loss": with_gradients(
        lambda t, x: t.nn.functional.multilabel_soft_margin_loss(
            x,
            t.tensor([[1.0, 0, 1], [0, 0, 1]], dtype=t.float64),
            weight=t.tensor([1.0, 2, 3], dtype=t.float64),
        ),
        (2, 3),
    ),
    "soft_margin_loss": with_gradients(
        lambda t, x: t.nn.functional.soft_margin_loss(x, t.tensor([1.0, -1, 1], dtype=t.float64)),
        (3,),
    ),
    "poisson_nll_loss": loss("poisson_nll_loss", (3, 4), (3, 4), low=0.1),
    "poisson_nll_loss-rates": loss("poisson_nll_loss", (3, 4), (3, 4), low=0.1, log_input=False),
    "poisson_nll_loss-full": lambda t: t.nn.functional.poisson_nll_loss(
        data(t, 4), t.tensor([0.0, 1, 2, 5], dtype=t.float64), full=True, reduction="none"
    ),
    "poisson_nll_loss-word": lambda t: t.nn.functional.poisson_nll_loss(
        data(t, 4), data(t, 4), reduction="all"
    ),
    "gaussian_nll_loss": loss("gaussian_nll_loss", (3, 4), (3, 4), (3, 4), low=0.1),
    "gaussian_nll_loss-full": loss(
        "gaussian_nll_loss", (3, 4), (3, 4), (3, 1), low=0.1, full=True, reduction="sum"
    ),
    "gaussian_nll_loss-rows": loss("gaussian_nll_loss", (3, 4), (3, 4), (3,), low=0.1),
    "gaussian_nll_loss-small": loss(
        "gaussian_nll_loss", (3, 4), (3, 4), (3, 4), low=0.1, eps=1.0, second=False
    ),
    "gaussian_nll_loss-number": lambda t: t.nn.functional.gaussian_nll_loss(
        data(t, 3), data(t, 3, seed=1), 0.5
    ),
    "gaussian_nll_loss-negative": lambda t: t.nn.functional.gaussian_nll_loss(
        data(t, 3), data(t, 3), -t.ones(3)
    ),
    "gaussian_nll_loss-size": lambda t: t.nn.functional.gaussian_nll_loss(
        data(t, 3), data(t, 3), t.ones(2)
    ),
    "cosine_similarity": loss("cosine_similarity", (3, 4), (3, 4)),
    "cosine_similarity-0": loss("cosine_similarity", (3, 4), (4,), dim=-1, eps=1e-3),
    "torch.cosine_similarity": lambda t: t.cosine_similarity(data(t, 3, 4), data(t, 3, 4, seed=1)),
    "cosine_similarity-zeros": lambda t: t.autograd.grad(
        t.cosine_similarity(x := t.zeros(2, 3, requires_grad=True), t.ones(2, 3)).sum(), x
    ),
    "cosine_similarity-integers": lambda t: t.cosine_similarity(
        t.ones(2, 3).long(), t.ones(2, 3).long()
    ),
    "pairwise_distance": loss("pairwise_distance", (3, 4), (3, 4)),
    "pairwise_distance-1": loss("pairwise_distance", (3, 4), (3, 4), p=1.0, keepdim=True),
    "pairwise_distance-3": loss("pairwise_distance", (3, 4), (4,), p=3),
    "pdist": loss("pdist", (4, 3), second=False),
    "mse_loss-empty": lambda t: t.nn.functional.mse_loss(t.zeros(0), t.zeros(0), reduction="sum"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss(name: str) -> None:
    check(LOSSES[name], 1e-9 if name in ("bce", "bce-sum") else None)
