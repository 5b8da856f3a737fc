"""Every case by name, in the order they run."""

from __future__ import annotations

from benchmarks import (
    chains,
    elements,
    elementwise,
    importing,
    jacobians,
    memory,
    networks,
    operations,
)

CASES = {
    case.name: case
    for module in (
        chains,
        networks,
        operations,
        elements,
        jacobians,
        elementwise,
        memory,
        importing,
    )
    for case in module.CASES
}
