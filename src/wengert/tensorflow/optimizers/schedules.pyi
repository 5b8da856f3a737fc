# Written by docs/make_tables.py from the functions' signatures.
from typing import Any

from wengert.tensorflow import Tensor as Tensor

class CosineDecay:
    def __init__(self, *args: Any, **options: Any) -> Any: ...
    from_config: Any
    def get_config(self) -> Any: ...

class CosineDecayRestarts:
    def __init__(self, *args: Any, **options: Any) -> Any: ...
    from_config: Any
    def get_config(self) -> Any: ...

class ExponentialDecay:
    def __init__(self, *args: Any, **options: Any) -> Any: ...
    from_config: Any
    def get_config(self) -> Any: ...

class InverseTimeDecay:
    def __init__(self, *args: Any, **options: Any) -> Any: ...
    from_config: Any
    def get_config(self) -> Any: ...

from wengert.dialects.tensorflow.keras.schedules import LearningRateSchedule as LearningRateSchedule
from wengert.dialects.tensorflow.keras.schedules import (
    PiecewiseConstantDecay as PiecewiseConstantDecay,
)

class PolynomialDecay:
    def __init__(self, *args: Any, **options: Any) -> Any: ...
    from_config: Any
    def get_config(self) -> Any: ...
