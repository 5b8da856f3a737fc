"""TensorFlow's choices where mathematics leaves one: at kinks, ties and zeros."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.engine.tensor import Tensor as Native
from wengert.ops import conventions, gates, rounding

absolute = conventions.abs_flat
atan2 = conventions.atan2_nan_at_0
floor_divide = rounding.floor_of_quotient
maximum = conventions.maximum_first
minimum = conventions.minimum_first
multiply_no_nan = conventions.multiply_no_nan
nextafter = conventions.nextafter_flat
power = conventions.power_by_formula
reciprocal = conventions.reciprocal_or_0
rsqrt = conventions.rsqrt_or_0
select = conventions.where_or_0
sign = rounding.sign_flat
sqrt = conventions.sqrt_or_0
xlog1py = conventions.xlog1py_flat_at_0
xlogy = conventions.xlogy_flat_at_0


def without_rule(name: str, value: Native, sources: Iterable[Any]) -> Native:
    """Return a value that TensorFlow has no gradient of; a sweep that comes to it says so."""
    return gates.refused(
        value, sources, LookupError, f"{name} has no gradient in TensorFlow, and so none here"
    )
