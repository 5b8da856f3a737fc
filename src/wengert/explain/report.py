"""The report of `wengert run --why`: each gradient of a program that is None or not finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.engine.node import Node
from wengert.engine.op import Op
from wengert.explain.explanation import Explanation
from wengert.explain.ledger import Ledger
from wengert.explain.lines import Instruction
from wengert.explain.nonfinite import NonFinite, as_arrays, born_backward, born_forward, is_finite
from wengert.explain.watchers import tensors_in


class Report(Ledger):
    """A ledger that collects what is wrong with gradients, and lets the program go on."""

    def __init__(self) -> None:
        super().__init__()
        self.nones: list[tuple[Instruction, Explanation]] = []
        self.nonfinite: list[NonFinite] = []
        #: the first element that was not finite, forward and in the sweep that runs
        self._forward: NonFinite | None = None
        self._backward: NonFinite | None = None
        self._order = -1

    def made(
        self, op: Op, result: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
    ) -> None:
        """Note an operation, and the first result that is not finite."""
        super().made(op, result, raws, nodes, params)
        for tensor in tensors_in(result) if self._forward is None else ():
            self._forward = born_forward(op, tensor, raws)

    def pulling(self, op: Op) -> Callable[..., Any]:
        """Return what answers for an operation in a sweep, and looks at gradients of leaves."""
        inner = super().pulling(op)

        def pull(xp: Any, g: Any, node: Node, edges: Any, sweep: Any = None) -> Any:
            if node.order >= self._order:  # another sweep
                self._backward = None
            self._order = node.order
            before = as_arrays(xp, g)
            parts = list(inner(xp, g, node, edges))
            self._backward = self._backward or born_backward(xp, before, node, edges, parts)
            for (parent, _, _), part in zip(edges, parts, strict=True):
                if parent.parent is None and not is_finite(xp, part):
                    found = self._origin()
                    if found is not None and found not in self.nonfinite:
                        self.nonfinite.append(found)
            return parts

        return pull

    def _origin(self) -> NonFinite | None:
        """Return where a gradient that is not finite began: forward, if a rule was given that."""
        given = [] if self._backward is None else list(self._backward.operands.values())
        numbers = [v for v in given if isinstance(v, (float, complex))]
        if self._backward is None or (self._forward and not np.isfinite(numbers).all()):
            return self._forward
        return self._backward

    def __str__(self) -> str:
        nones: dict[str, tuple[str, int]] = {}
        for line, explanation in self.nones:
            text = f"{line.location}: the gradient is None. {explanation}"
            nones[text] = line.location, nones.get(text, ("", 0))[1] + 1
        lines = []
        for text, (_, times) in nones.items():
            lines.append(text if times == 1 else f"{text}\n(This happened {times} times.)")
        lines += [f"A gradient is not finite: {found}" for found in self.nonfinite]
        if not lines:
            return "wengert: every gradient that was asked for is there, and finite."
        count = f"wengert: {len(lines)} thing{'s' * (len(lines) != 1)} to look at:"
        return "\n\n".join([count, *lines])


#: The reports that are being kept, the innermost last.
reports: list[Report] = []
