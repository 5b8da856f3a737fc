"""GradientTape: the engine's tape, and what else is asked of it."""

from __future__ import annotations

from typing import Any

from wengert.elements.cost import Cost, estimate, whole_seeds
from wengert.engine import cotangents as ct
from wengert.engine.node import Node
from wengert.engine.sweep import ancestors
from wengert.engine.tape import Tape, part_of_tape, regions_of
from wengert.engine.tensor import Tensor
from wengert.transforms.sweeps import tape_batch_jacobian, tape_jacobian
from wengert.trees import flatten


class GradientTape(Tape):
    """Records the operations that depend on what it watches, to differentiate them.

    Parameters
    ----------
    persistent
        Whether `gradient` may be called more than once.
    watch_accessed_variables
        Whether trainable variables are watched as soon as they are read.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.asarray([1.0, 2.0, 3.0])
    >>> with wg.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = wg.sum(x**2)
    >>> tape.gradient(y, x)
    Tensor([2., 4., 6.], dtype=float64)
    """

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: str = "none",
        chunk_size: int | str | None = "auto",
    ) -> Any:
        """Return the gradient of every element of the target with respect to each source.

        Parameters
        ----------
        target
            A tensor, or a selection ``z.at[key]`` of one.
        sources
            As for `gradient`. The result for each has the target's axes, then the source's.
        unconnected_gradients
            As for `gradient`.
        chunk_size
            How many elements of the target to differentiate at once; "auto" for as many as a
            memory budget allows, None for all.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.asarray([1.0, 2.0])
        >>> with wg.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x**2
        >>> tape.jacobian(y, x)
        Tensor([[2., 0.],
                [0., 4.]], dtype=float64)
        """
        self._check_asked("jacobian", unconnected_gradients)
        return tape_jacobian(self, target, sources, unconnected_gradients == "zero", chunk_size)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: str = "none",
        chunk_size: int | str | None = "auto",
    ) -> Tensor | None:
        """Return the Jacobian of each example: of target[i] with respect to source[i].

        The result has the shape (examples, rest of the target's, rest of the source's). It is
        right if target[i] depends on source[i] only.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.asarray([[1.0, 2.0], [3.0, 4.0]])
        >>> with wg.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = wg.sum(x**2, axis=1, keepdims=True)
        >>> tape.batch_jacobian(y, x)
        Tensor([[[2., 4.]],
        <BLANKLINE>
                [[6., 8.]]], dtype=float64)
        """
        self._check_asked("batch_jacobian", unconnected_gradients)
        zero = unconnected_gradients == "zero"
        return tape_batch_jacobian(self, target, source, zero, chunk_size)

    def cost(self, target: Any, sources: Any) -> Cost:
        """Return the work of `gradient` with the same arguments, structured and dense.

        Nothing is computed, and the tape can still be asked for the gradient.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.ones(1000)
        >>> with wg.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = wg.sin(x)[0]
        >>> tape.cost(y, x)
                       multiply-adds           bytes
        structured                 2              16
        dense                  2,000          16,000
        """
        self._check_unspent("cost")
        targets = [part_of_tape(t, "cost: target") for t in flatten(target)[0]]
        parts = [part_of_tape(s, "cost: source") for s in flatten(sources)[0] if s is not None]
        seeds: dict[Node, ct.Region] = {}
        for part in targets:
            node = part.node
            if node is not None and self._token in node.tokens:
                region = ct.whole(node.shape)
                if part.selection is not None:
                    region = part.selection.region
                seeds[node] = ct.around(seeds[node], region) if node in seeds else region
        nodes = ancestors(seeds, self._token)
        wanted: set[Any] = {p.node for p in parts if p.node is not None}
        structured = estimate(nodes, seeds, wanted, regions_of([p for p in parts if p.node]))
        return Cost(structured, estimate(nodes, whole_seeds(seeds), wanted, {}, dense=True))
