# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class Accuracy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class BinaryAccuracy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class BinaryCrossentropy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class CategoricalAccuracy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class CategoricalCrossentropy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class CategoricalHinge(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class CosineSimilarity(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class Hinge(__Reduced):
    ...
from wengert.tensorflow.losses import KLD as KLD
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class KLDivergence(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class LogCoshError(__Reduced):
    ...
from wengert.tensorflow.losses import MAE as MAE
from wengert.tensorflow.losses import MAPE as MAPE
from wengert.tensorflow.losses import MSE as MSE
from wengert.tensorflow.losses import MSLE as MSLE
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class Mean(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class MeanAbsoluteError(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class MeanAbsolutePercentageError(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class MeanSquaredError(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class MeanSquaredLogarithmicError(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import Metric as Metric
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class Poisson(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Root as __Root
class RootMeanSquaredError(__Root):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class SparseCategoricalAccuracy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class SparseCategoricalCrossentropy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class SparseTopKCategoricalAccuracy(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class SquaredHinge(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class Sum(__Reduced):
    ...
from wengert.dialects.tensorflow.keras.metrics import _Reduced as __Reduced
class TopKCategoricalAccuracy(__Reduced):
    ...
def binary_accuracy(y_true: Any, y_pred: Any, threshold: Any = ..., **_options: Any) -> Any: ...
from wengert.tensorflow.losses import binary_crossentropy as binary_crossentropy
from wengert.tensorflow.losses import binary_focal_crossentropy as binary_focal_crossentropy
def categorical_accuracy(y_true: Any, y_pred: Any, **_options: Any) -> Any: ...
from wengert.tensorflow.losses import categorical_crossentropy as categorical_crossentropy
from wengert.tensorflow.losses import categorical_focal_crossentropy as categorical_focal_crossentropy
from wengert.tensorflow.losses import categorical_hinge as categorical_hinge
from wengert.tensorflow.losses import hinge as hinge
from wengert.tensorflow.losses import huber as huber
from wengert.tensorflow.losses import KLD as kld
from wengert.tensorflow.losses import KLD as kullback_leibler_divergence
from wengert.tensorflow.losses import logcosh as logcosh
from wengert.tensorflow.losses import MAE as mae
from wengert.tensorflow.losses import MAPE as mape
from wengert.tensorflow.losses import MSE as mse
from wengert.tensorflow.losses import MSLE as msle
from wengert.tensorflow.losses import poisson as poisson
def sparse_categorical_accuracy(y_true: Any, y_pred: Any, **_options: Any) -> Any: ...
from wengert.tensorflow.losses import sparse_categorical_crossentropy as sparse_categorical_crossentropy
def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: Any = ..., **_options: Any) -> Any: ...
from wengert.tensorflow.losses import squared_hinge as squared_hinge
def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: Any = ..., **_options: Any) -> Any: ...
