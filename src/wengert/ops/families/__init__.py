"""Families of operations: what follows from an operation being of a kind.

Each function here declares one operation and returns what users call. The declaration
holds all that is known about it: how to compute it against a namespace `xp`, a rule for
each array argument, where it may be tested (`domain`, `kinds`, `samples`). What a rule may
read is listed in `engine.node.Op`. From the family follow the cotangent of each argument,
how a Block goes through, and the tests.

    elementwise   a rule g -> g * partial for each argument; it serves both modes
    linear        the operation and its transpose
    position_map  moves or repeats elements: nothing but itself; a transpose where it is hot
    contraction   products summed over axes: a transpose for each operand, and its regions
    reduction     a rule g -> g * partial with respect to the reduced elements
    linewise      each line along some axes depends on the same line: softmax
    zero          no derivative anywhere it exists: floor, comparisons, argmax
    special       rules of its own
    joint         one rule for all arguments, which share work
    composite     a body in other operations
    variant       another convention of one of these
"""

from wengert.ops.families.contraction import Contraction, contraction
from wengert.ops.families.declare import (
    ANYWHERE,
    REGISTRY,
    Domain,
    Entry,
    Operation,
    Rule,
    Sample,
    Tests,
    axes,
    declared,
    documented,
    one_axis,
    run,
    sample,
)
from wengert.ops.families.elementwise import Elementwise, Zero, elementwise, zero
from wengert.ops.families.linear import Linear, PositionMap, linear, position_map, pull_with_mask
from wengert.ops.families.reduction import Linewise, Reduction, linewise, reduction
from wengert.ops.families.special import Joint, JointLinewise, composite, joint, special
from wengert.ops.families.variants import variant

__all__ = [
    "ANYWHERE", "REGISTRY", "Contraction", "Domain", "Elementwise", "Entry", "Joint",
    "JointLinewise", "Linear", "Linewise", "Operation", "PositionMap", "Reduction", "Rule",
    "Sample", "Tests", "Zero", "axes", "composite", "contraction", "declared", "documented",
    "elementwise", "joint", "linear", "linewise", "one_axis", "position_map", "pull_with_mask",
    "reduction", "run", "sample", "special", "variant", "zero",
]  # fmt: skip
