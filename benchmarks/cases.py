"""Every case by name, in the order they run."""

from __future__ import annotations

from benchmarks import (
    adbench,
    chains,
    checkpointing,
    compiled,
    dialects,
    elements,
    elementwise,
    everyday,
    fitting,
    importing,
    jacobians,
    memory,
    networks,
    operations,
    programs,
    solvers,
)

CASES = {
    case.name: case
    for module in (
        chains,
        networks,
        operations,
        elements,
        jacobians,
        checkpointing,
        solvers,
        elementwise,
        memory,
        dialects,
        programs,
        fitting,
        compiled,
        adbench,
        everyday,
        importing,
    )
    for case in module.CASES
}
