"""The public way to declare a new operation: one function for each family.

See docs/how-to/own-operations.md for an example of each.
"""

from wengert.engine.cotangents import Block
from wengert.ops.families import (
    REGISTRY,
    Sample,
    composite,
    contraction,
    elementwise,
    joint,
    linear,
    linewise,
    position_map,
    reduction,
    sample,
    special,
    zero,
)

__all__ = [
    "REGISTRY", "Block", "Sample", "composite", "contraction", "elementwise", "joint", "linear",
    "linewise", "position_map", "reduction", "sample", "special", "zero",
]  # fmt: skip
