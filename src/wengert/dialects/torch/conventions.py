"""PyTorch's choices where mathematics leaves one: at kinks, ties and zeros.

Operations whose derivative is zero wherever there is one (floor, sign) give zeros in PyTorch, where
Wengert has no path. Zeros are numbers there, not structure: they become NaN where they meet an
infinite derivative further on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.engine.tensor import Tensor as Native
from wengert.ops import conventions, gates, rounding

absolute = conventions.abs_nan_0
ceil = rounding.ceil_flat
clamp = conventions.clip_inclusive
clamp_max = conventions.clip_below_inclusive
clamp_min = conventions.clip_above_inclusive
copysign = conventions.copysign_flat
divide = conventions.divide_from_operands
exp2 = conventions.exp2_complex
flat_sign = rounding.sign_flat
floor = rounding.floor_flat
hypot = conventions.hypot_nan_at_0
logaddexp = conventions.logaddexp_complex
logit = conventions.logit_within
#: Over all elements; with `amax` and `amin`, others get their part of g times 0.
max_of_all = conventions.max_others_0
min_of_all = conventions.min_others_0
maximum = conventions.maximum_nan_both
minimum = conventions.minimum_nan_both
nextafter = conventions.nextafter_unless_equal
power = conventions.power_flat_at_0
prod = conventions.prod_by_quotient
read = conventions.read
remainder = rounding.remainder_flat
#: The root of a variance.
root = conventions.sqrt_flat_at_0
round_ = rounding.round_flat
#: div with a rounding_mode.
rounded_down = rounding.floor_divide_flat
scaled = gates.scaled
sigmoid = conventions.expit_from_result
sign = rounding.sign_of_nan_0
trunc = rounding.trunc_flat
truncated_divide = rounding.trunc_divide_flat
unmoved = conventions.unmoved
where = conventions.where_or_0
xlogy = conventions.xlogy_by_formula


def unsupported(
    name: str, value: Native, sources: Iterable[Any], kind: type[Exception] = RuntimeError
) -> Native:
    """Return a value that PyTorch has no derivative of; a sweep that comes to it says so."""
    return gates.refused(
        value,
        sources,
        kind,
        f"PyTorch has no derivative of {name}, and so there is none here; write x.detach() if it "
        "is to be constant",
    )
