"""GradientTape: the engine's tape, and what else is asked of it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from wengert import backends, explain
from wengert.elements.cost import Cost, estimate, whole_seeds
from wengert.engine.node import Node, Token
from wengert.engine.sweep import ancestors, leading_to
from wengert.engine.tape import Part, Tape, part_of_tape, regions_of
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError, ShapeError
from wengert.explain.explanation import Explanation
from wengert.explain.lines import Instruction, here
from wengert.explain.watchers import paused
from wengert.regions import Region, around, whole
from wengert.transforms.gradients import zeros_like
from wengert.transforms.sweeps import check_room, chunks, joined, one_hot_in_each, pulled, shape_of
from wengert.trees import flatten

if TYPE_CHECKING:
    from wengert.explain.graph import Graph
    from wengert.explain.nonfinite import NonFinite
    from wengert.explain.summary import Summary


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

    #: identities that it had before it was reset, and where that was
    _former: tuple[Token, ...] = ()
    _reset_at: Instruction | None = None
    #: opens a page that shows what the tape recorded: `inspector.inspect_tape`, which is above
    inspect: Callable[..., Any]

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context in which this tape records nothing."""
        with super().stop_recording():
            paused(self._token, True)
            yield
        paused(self._token, False)

    def reset(self) -> None:
        """Forget all that was recorded and watched, and go on recording if the tape is open."""
        self._former = (*self._former, self._token)
        self._reset_at = here()
        super().reset()

    def _comes_after(self, tape: GradientTape) -> None:
        """Have the tape know which one a reset has put it in the place of."""
        self._former = (*tape._former, tape._token)
        self._reset_at = here()

    def _answered(self, target: Any, given: list[Any], answers: list[Any]) -> None:
        super()._answered(target, given, answers)
        if any(answer is None for answer in answers):
            self._tell_nones(target, given, answers)

    def _tell_nones(self, target: Any, given: list[Any], answers: list[Any]) -> None:
        asked = enumerate(zip(given, answers, strict=True))
        missing = [(k, s) for k, (s, a) in asked if a is None and s is not None]
        explain.nones.tell_nones(self, target, missing)

    # -- explaining --------------------------------------------------------------------

    def why(self, target: Any, source: Any) -> Explanation:
        """Return why the gradient of the target by the source is None, or which path there is.

        The tape is not used up. Lines are known for what ran under `wg.debug()`; without it, the
        program's text is read for what cuts a path.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.asarray([1.0, 2.0])
        >>> with wg.GradientTape() as tape:
        ...     y = wg.sum(x**2)
        >>> tape.why(y, x).reason
        <Reason.NOT_WATCHED: 'the tape does not watch the source'>
        """
        found: Explanation = explain.why.why(self, target, source)
        return found

    def find_nonfinite(self, target: Any, sources: Any = ()) -> NonFinite | None:
        """Return where the first NaN or infinity began, forward or backward; None for nowhere.

        It looks at the values that rules keep and then at cotangents on the way to the sources. The
        tape is not used up. `wg.debug(nan=True)` stops at the element while the program runs.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.asarray([0.0, 4.0])
        >>> with wg.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = wg.sum(wg.sqrt(x))
        >>> found = tape.find_nonfinite(y, x)
        >>> found.phase, found.operation, found.index
        ('backward', 'sqrt', (0,))
        """
        given = [s for s in flatten(sources)[0] if s is not None]
        found: NonFinite | None = explain.nonfinite.find_nonfinite(self, target, given)
        return found

    # -- derivatives of more than a sum ------------------------------------------------

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
        z = _checked_target(target, "jacobian")
        given, rebuild = flatten(sources)
        parts = [part_of_tape(s, "jacobian: source") for s in given]
        shape = shape_of(z)
        pieces = chunks(math.prod(shape), chunk_size, [z.node], self._token)
        check_room("jacobian", [(shape, shape_of(part), part) for part in parts], pieces)
        self._spend("jacobian")
        answers: list[Any] = []
        for part, found in zip(parts, pulled(self, z, parts, pieces, True), strict=True):
            full = (*shape, *shape_of(part))
            if found is not None:
                answers.append(Tensor._namespace.reshape(joined(found), full))
            else:
                blank = unconnected_gradients == "zero" or not math.prod(shape)
                answers.append(zeros_like(part.tensor, full) if blank else None)
        if any(answer is None for answer in answers):
            self._tell_nones(target, given, answers)
        return rebuild(answers)

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
        z = _checked_target(target, "batch_jacobian")
        part = part_of_tape(source, "batch_jacobian: source")
        shape, inner = shape_of(z), shape_of(part)
        if not shape or not inner or shape[0] != inner[0]:
            raise ShapeError(
                f"batch_jacobian: the target has shape {shape} and the source {inner}; both need a "
                "first axis of the same length, that of the examples"
            )
        if z.selection is not None or part.selection is not None:
            raise TypeError(
                "batch_jacobian: takes whole tensors; write tape.jacobian for selections"
            )
        rest = math.prod(shape[1:])
        pieces = chunks(rest, chunk_size, [z.node], self._token)
        check_room("batch_jacobian", [(shape, inner[1:], part)], pieces)
        self._spend("batch_jacobian")
        (found,) = pulled(self, z, [part], pieces, True, one_hot_in_each)
        full = (*shape, *inner[1:])
        if found is None:
            if unconnected_gradients == "zero" or not rest:
                return zeros_like(part.tensor, full)
            self._tell_nones(target, [source], [None])
            return None
        xp = Tensor._namespace
        return xp.reshape(xp.moveaxis(joined(found), 0, 1), full)

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
        seeds: dict[Node, Region] = {}
        for part in targets:
            node = part.node
            if node is not None and self._token in node.tokens:
                region = whole(node.shape)
                if part.selection is not None:
                    region = part.selection.region
                seeds[node] = around(seeds[node], region) if node in seeds else region
        nodes = ancestors(seeds, self._token)
        wanted: set[Any] = {p.node for p in parts if p.node is not None}
        structured = estimate(nodes, seeds, wanted, regions_of([p for p in parts if p.node]))
        return Cost(structured, estimate(nodes, whole_seeds(seeds), wanted, {}, dense=True))

    def summary(self, target: Any = None) -> Summary:
        """Return what the tape holds: operations, the memory they keep, and what is watched.

        Nothing is computed, and the tape can still be asked for a gradient.

        Parameters
        ----------
        target
            Tensors in a nest: a summary of the nodes between what is watched and these. Without
            it, of all nodes that something still refers to, which takes a look at every object
            of the process.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.ones((100, 100))
        >>> with wg.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = wg.sum(wg.exp(x) * wg.sin(x))
        >>> tape.summary(y)
        4 nodes, which keep 234.4 KiB for their rules
        operation  nodes     keeps  also kept by
        exp            1  78.1 KiB  multiply
        multiply       1  78.1 KiB
        sin            1  78.1 KiB
        sum            1       0 B
        <BLANKLINE>
        heaviest nodes
        operation  shape       dtype        keeps  residuals
        multiply   (100, 100)  float64  156.2 KiB  x1, x2
        exp        (100, 100)  float64   78.1 KiB  y
        sin        (100, 100)  float64   78.1 KiB  x
        <BLANKLINE>
        1 tensor watched
        watched  shape       dtype    count
        leaf     (100, 100)  float64      1
        """
        token = self._token
        if target is None:
            nodes = explain.summary.alive(token)
        else:
            nodes = ancestors(self._recorded(target, "summary: target"), token)
        found: Summary = explain.summary.Summary(nodes, token)
        return found

    def graph(self, target: Any, sources: Any = None) -> Graph:
        """Return the graph of the nodes that lead to a target.

        Parameters
        ----------
        target
            Tensors in a nest.
        sources
            Tensors or variables in a nest: only what lies between these and the target is shown.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.asarray([1.0, 2.0])
        >>> with wg.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = wg.sum(wg.exp(x) * x)
        >>> tape.graph(y)
        #  operation  shape  dtype    from
        0  leaf       (2,)   float64
        1  exp        (2,)   float64  0
        2  multiply   (2,)   float64  1, 0
        3  sum        ()     float64  2
        """
        targets = self._recorded(target, "graph: target")
        nodes = ancestors(targets, self._token)
        if sources is not None:
            between = leading_to(self._recorded(sources, "graph: source"), nodes)
            nodes = [node for node in nodes if node in between]
        names = {v._leaf: v.name for v in self._token.variables.values()}
        starts = self._token.starts
        found: Graph = explain.graph.graph_of(nodes[::-1], set(targets), names, starts)
        return found

    def _recorded(self, given: Any, what: str) -> list[Node]:
        """Return the nodes of tensors or variables in a nest, of those that the tape recorded."""
        parts = [part_of_tape(value, what) for value in flatten(given)[0] if value is not None]
        return [p.node for p in parts if p.node is not None and self._token in p.node.tokens]

    def __repr__(self) -> str:
        state = "open" if self._thread is not None else "closed"
        kind = "persistent, " if self._persistent else ""
        variables = len(self._token.variables)
        counted = explain.tables.counted
        tensors = counted(self._token.leaves - variables, "tensor")
        spent = f", used up at {self._spent}" if self._spent else ""
        watched = f"{counted(variables, 'variable')} and {tensors} watched"
        return f"<GradientTape: {kind}{state}, {watched}{spent}>"


def _checked_target(target: Any, method: str) -> Part:
    if isinstance(target, (list, tuple, dict)):
        raise TypeError(
            f"{method}: the target is a {type(target).__name__}; give one tensor, and ask for each "
            "of several on a tape with persistent=True"
        )
    part = part_of_tape(target, f"{method}: target")
    if not backends.is_inexact(part.tensor.dtype):
        raise DtypeError(
            f"{method}: the target has dtype {part.tensor.dtype}, which has no derivative; compute "
            "it in floating point, for example with wg.astype(x, wg.float64)"
        )
    return part
