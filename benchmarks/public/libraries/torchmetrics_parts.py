"""Metrics of regression and classification, with the package torchmetrics."""

import torch
from torchmetrics import MetricCollection, classification, functional, regression

torch.manual_seed(0)
guess, truth = torch.randn(40), torch.randn(40)
guess.requires_grad_()


def show(name: str, found: object) -> None:
    """Print all numbers of a metric's answer."""
    if isinstance(found, dict):
        for key, value in found.items():
            show(f"{name} {key}", value)
    elif isinstance(found, (list, tuple)):
        for position, value in enumerate(found):
            show(f"{name} {position}", value)
    else:
        print(name, found.detach().double().flatten().tolist())


for name in (
    "MeanSquaredError", "MeanAbsoluteError", "R2Score", "PearsonCorrCoef", "SpearmanCorrCoef",
    "KendallRankCorrCoef", "ConcordanceCorrCoef", "ExplainedVariance", "LogCoshError",
    "MeanAbsolutePercentageError", "SymmetricMeanAbsolutePercentageError",
    "WeightedMeanAbsolutePercentageError", "RelativeSquaredError", "NormalizedRootMeanSquaredError",
):  # fmt: skip
    metric = getattr(regression, name)()
    for part in range(4):
        metric.update(guess[part::4], truth[part::4])
    show(name, metric.compute())
positive = guess.detach().abs() + 0.1, truth.abs() + 0.1
show("MeanSquaredLogError", regression.MeanSquaredLogError()(*positive))
show("TweedieDevianceScore", regression.TweedieDevianceScore(1.5)(*positive))
show("MinkowskiDistance", regression.MinkowskiDistance(3.0)(guess, truth))
rows = torch.randn(8, 5), torch.randn(8, 5)
show("CosineSimilarity", regression.CosineSimilarity("mean")(*rows))
show("KLDivergence", regression.KLDivergence()(rows[0].softmax(1), rows[1].softmax(1)))

loss = functional.mean_squared_error(guess, truth) + functional.pearson_corrcoef(guess, truth)
loss.backward()
show("gradient", guess.grad)

scores, labels = torch.rand(60), torch.randint(0, 2, (60,))
for name in (
    "BinaryAccuracy", "BinaryPrecision", "BinaryRecall", "BinaryF1Score", "BinaryAUROC",
    "BinaryAveragePrecision", "BinaryConfusionMatrix", "BinaryROC", "BinaryMatthewsCorrCoef",
    "BinaryCohenKappa", "BinaryCalibrationError", "BinaryHammingDistance", "BinaryJaccardIndex",
    "BinarySpecificity", "BinaryStatScores", "BinaryPrecisionRecallCurve", "BinaryHingeLoss",
):  # fmt: skip
    metric = getattr(classification, name)()
    metric.update(scores[:30], labels[:30])
    metric.update(scores[30:], labels[30:])
    show(name, metric.compute())
show("thresholds", classification.BinaryAUROC(thresholds=11)(scores, labels))

scores, labels = torch.randn(60, 4).softmax(1), torch.randint(0, 4, (60,))
for name in (
    "MulticlassAccuracy", "MulticlassPrecision", "MulticlassRecall", "MulticlassF1Score",
    "MulticlassAUROC", "MulticlassConfusionMatrix", "MulticlassMatthewsCorrCoef",
    "MulticlassCohenKappa", "MulticlassCalibrationError", "MulticlassJaccardIndex",
    "MulticlassAveragePrecision", "MulticlassROC", "MulticlassHingeLoss", "MulticlassExactMatch",
):  # fmt: skip
    if name == "MulticlassExactMatch":
        show(name, classification.MulticlassExactMatch(4)(labels.view(6, 10), labels.view(6, 10)))
    else:
        show(name, getattr(classification, name)(4)(scores, labels))
for average in ("micro", "macro", "weighted", "none"):
    show(average, classification.MulticlassF1Score(4, average=average, top_k=2)(scores, labels))

scores, labels = torch.rand(30, 3), torch.randint(0, 2, (30, 3))
for name in (
    "MultilabelAccuracy", "MultilabelF1Score", "MultilabelAUROC", "MultilabelConfusionMatrix",
    "MultilabelRankingLoss", "MultilabelCoverageError", "MultilabelExactMatch",
):  # fmt: skip
    show(name, getattr(classification, name)(3)(scores, labels))

several = MetricCollection(
    [regression.MeanSquaredError(), regression.MeanAbsoluteError()], prefix="a_"
)
several.update(rows[0], rows[1])
show("several", several.compute())
copied = several.clone(postfix="_b")
several.reset()
show("copied", copied.compute())
print(sorted(regression.MeanSquaredError().state_dict()), repr(regression.MeanSquaredError()))
