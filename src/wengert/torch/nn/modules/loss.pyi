# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.torch.tensors import Tensor as _Tensor
from wengert.torch import Tensor as Tensor

from wengert.torch.nn import BCELoss as BCELoss
from wengert.torch.nn import BCEWithLogitsLoss as BCEWithLogitsLoss
from wengert.torch.nn import CosineEmbeddingLoss as CosineEmbeddingLoss
from wengert.torch.nn import CrossEntropyLoss as CrossEntropyLoss
from wengert.torch.nn import GaussianNLLLoss as GaussianNLLLoss
from wengert.torch.nn import HingeEmbeddingLoss as HingeEmbeddingLoss
from wengert.torch.nn import HuberLoss as HuberLoss
from wengert.torch.nn import KLDivLoss as KLDivLoss
from wengert.torch.nn import L1Loss as L1Loss
from wengert.torch.nn import MSELoss as MSELoss
from wengert.torch.nn import MarginRankingLoss as MarginRankingLoss
from wengert.torch.nn import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from wengert.torch.nn import NLLLoss as NLLLoss
from wengert.torch.nn import PoissonNLLLoss as PoissonNLLLoss
from wengert.torch.nn import SmoothL1Loss as SmoothL1Loss
from wengert.torch.nn import SoftMarginLoss as SoftMarginLoss
from wengert.torch.nn import TripletMarginLoss as TripletMarginLoss
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _Loss(_Call):
    def __init__(self, size_average: Any = ..., reduce: Any = ..., reduction: Any = ...) -> None: ...
    def _init_with(self, **options: Any) -> Any: ...
    ...
from wengert.dialects.torch.nn.layers.calls import Call as _Call
class _WeightedLoss(_Call):
    def __init__(self, weight: Any = ..., size_average: Any = ..., reduce: Any = ..., reduction: Any = ...) -> None: ...
    ...
