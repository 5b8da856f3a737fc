"""Losses as modules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.torch.nn.module_cases import numbers
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


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
