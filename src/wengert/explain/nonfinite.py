"""Where the first NaN or infinity began: the operation, its line, the element and its operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.cotangents import Block
from wengert.engine.node import Node
from wengert.engine.op import OUTPUT, Op
from wengert.engine.sweep import ancestors, reverse
from wengert.engine.tape import Tape, part_of_tape
from wengert.errors import NonFiniteError
from wengert.explain.ledger import Ledger
from wengert.explain.lines import Instruction, here, instruction_of
from wengert.explain.regions import described, walked_back
from wengert.explain.saved_values import replayed, saved_values
from wengert.explain.watchers import Watcher, tensors_in

_POSITIVE = "keep the argument positive: wg.maximum(x, tiny), or wg.where(x > 0, f(x), 0.0)"
#: The usual remedy, by operation.
_REMEDIES = {
    "acos": "keep the argument inside of (-1, 1), where the derivative is finite",
    "acosh": "keep the argument above 1, where the derivative is finite",
    "asin": "keep the argument inside of (-1, 1), where the derivative is finite",
    "atanh": "keep the argument inside of (-1, 1)",
    "cholesky": "add a small multiple of the identity to the matrix",
    "divide": "keep the divisor away from 0: wg.where(d != 0, n / d, 0.0), or add a small number",
    "eigh": "equal eigenvalues have no derivative of their vectors; separate them",
    "exp": "subtract the maximum first, as wg.nn.softmax and wg.special.logsumexp do",
    "expm1": "keep the argument below 700 (88 in float32)",
    "inv": "the matrix is singular or nearly so: use wg.linalg.pinv, or add to its diagonal",
    "log": f"{_POSITIVE}; for probabilities use wg.nn.log_softmax",
    "log10": _POSITIVE,
    "log1p": "keep the argument above -1",
    "log2": _POSITIVE,
    "matmul": "the products add up to more than the dtype holds: scale the factors, use float64",
    "multiply": "0 * inf is NaN, and large factors overflow: look at the factors",
    "norm": "add a small number under the root: wg.sqrt(wg.sum(x**2) + 1e-12)",
    "power": "keep the base positive, or use an integer exponent",
    "pow_number": "keep the base positive, or use an integer exponent of 1 or more",
    "reciprocal": "keep the argument away from 0",
    "rsqrt": _POSITIVE,
    "solve": "the matrix is singular or nearly so: add to its diagonal",
    "sqrt": f"{_POSITIVE}; the derivative of sqrt at 0 is infinite",
    "square": "the squares are more than the dtype holds: scale x, use float64",
    "subtract": "inf - inf is NaN: look for where the infinity began",
    "tan": "keep the argument away from odd multiples of pi/2",
}
_OTHERWISE = "look at the operands above, and keep them where the operation is finite"


@dataclass(frozen=True)
class NonFinite:
    """The first NaN or infinity of a program.

    Attributes
    ----------
    phase
        "forward" for a value, "backward" for a cotangent, "tangent" for one of forward mode, "step"
        for a parameter that an optimiser changed.
    operation
        The operation that made it, or whose rule did; the optimiser.
    index, value
        The element of the result, of the argument's cotangent, of the parameter, and what it is.
    operands
        The values that it was computed from, by name.
    cone
        The elements of the inputs that it depends on, where a tape recorded it.
    """

    phase: str
    operation: str
    index: tuple[int, ...]
    value: Any
    operands: dict[str, Any]
    cone: tuple[str, ...]
    remedy: str
    location: str | None = None
    code: str = ""

    def __str__(self) -> str:
        where = "" if not self.index else f"[{', '.join(map(str, self.index))}]"
        what = f"the result of {self.operation}"
        if self.phase == "backward":
            what = f"the cotangent that the rule of {self.operation} gave for its argument"
        if self.phase == "tangent":
            what = f"the tangent of the result of {self.operation}"
        if self.phase == "step":
            what = f"the parameter that a step of {self.operation} gave"
        if not self.operation:
            what = "an input"
        lines = [f"{self.value} in {what}, element {where or '()'}"]
        if self.location:
            lines.append(f"  at {self.location}" + (f": {self.code}" if self.code else ""))
        lines += [f"  {name} = {value}" for name, value in self.operands.items()]
        lines += [f"  depends on {part}" for part in self.cone]
        lines.append(f"Usual remedy: {self.remedy}.")
        return "\n".join(lines)

    __repr__ = __str__


class NonFiniteLedger(Ledger):
    """A ledger that stops a program at the first element that is not finite."""

    def made(
        self, op: Op, result: Any, raws: list[Any], nodes: list[Node | None], params: dict[str, Any]
    ) -> None:
        """Note an operation, and look at its result."""
        super().made(op, result, raws, nodes, params)
        for tensor in tensors_in(result):
            found = born_forward(op, tensor, raws)
            if found is not None:
                raise NonFiniteError(str(found), found)

    def pulling(self, op: Op) -> Callable[..., Any]:
        """Return what answers for an operation in a sweep, and looks at the answer."""
        inner = super().pulling(op)

        def pull(xp: Any, g: Any, node: Node, edges: Any, sweep: Any = None) -> Any:
            before = as_arrays(xp, g)
            parts = list(inner(xp, g, node, edges))
            found = born_backward(xp, before, node, edges, parts)
            if found is not None:
                raise NonFiniteError(str(found), found)
            return parts

        return pull

    def stepped(self, optimiser: str, rows: list[tuple[str, Any, Any, Any]]) -> None:
        """Look at what an optimiser made of parameters."""
        super().stepped(optimiser, rows)
        for row in rows:
            found = _born_in_step(optimiser, *row)
            if found is not None:
                raise NonFiniteError(str(found), found)


def _born_in_step(
    optimiser: str, name: str, before: Any, gradient: Any, after: Any
) -> NonFinite | None:
    """Return the element of a new parameter that is not finite although the old one was."""
    new, old = _array(after), _array(before)
    if new is None or np.isfinite(new).all() or (old is not None and not np.isfinite(old).all()):
        return None
    index = _first_of(~np.isfinite(new))
    given = gradient.todense(backends.NUMPY) if type(gradient) is Block else gradient
    operands = {
        "parameter": name,
        "before": None if old is None else _at_index(old, index, new.shape),
        "gradient": _at_index(given, index, new.shape),
    }
    remedy = "keep the gradient finite, and the learning rate and the gradient's norm small"
    value = new[index].item()
    return NonFinite("step", optimiser, index, value, operands, (), remedy, *_where(here()))


def born_in_tangent(node: Node, values: np.ndarray, before: list[np.ndarray]) -> NonFinite | None:
    """Return the element of a node's tangent that is not finite although its arguments' are."""
    bad = None if node.op is OUTPUT else _is_born(values, before)
    if bad is None:
        return None
    index = _first_of(bad)
    operands: dict[str, Any] = {}
    for _, argument, kept in node.edges:
        names = node.op.reads[0 if node.op.variadic else argument] or ()
        known = {n: v for n, v in zip(names, kept, strict=False) if hasattr(v, "shape")}
        operands |= {n: _at_index(v, index, values.shape) for n, v in known.items()}
    if len(before) == 1:
        operands["tangent of the argument"] = _at_index(before[0], index, values.shape)
    return NonFinite(
        "tangent", node.op.name, index, values[index].item(), operands, _cone(node, index),
        _REMEDIES.get(node.op.name, _OTHERWISE), *_where(instruction_of(node)),
    )  # fmt: skip


def _first_of(bad: np.ndarray) -> tuple[int, ...]:
    """Return the index of the first element that is marked."""
    return tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()


def _array(value: Any) -> np.ndarray | None:
    """Return an array of floating or complex numbers as NumPy's; None for others."""
    raw = getattr(value, "_raw", value)
    dtype = getattr(raw, "dtype", None)
    if dtype is None or not backends.is_inexact(dtype) or not backends.has_values(raw):
        return None
    found = backends.to_numpy(raw)
    return found.astype(np.float64) if backends.is_narrow(found.dtype) else found


def is_finite(xp: Any, part: Any) -> bool:
    """Return whether a cotangent has numbers only; None has."""
    return all(np.isfinite(values).all() for values in as_arrays(xp, part))


def as_arrays(xp: Any, g: Any) -> list[np.ndarray]:
    """Return the values of a cotangent, of one result or of several, as NumPy arrays."""
    parts = g if isinstance(g, list) else [g]
    dense = [p.todense(xp) if type(p) is Block else p for p in parts if p is not None]
    return [a.copy() for a in map(_array, dense) if a is not None]


def _is_born(values: np.ndarray, before: list[np.ndarray]) -> np.ndarray | None:
    """Return which elements are not finite although nothing that they come from is; None if none.

    A NaN is also born of infinities.
    """
    bad = ~np.isfinite(values)
    if not bad.any():
        return None
    if any(np.isnan(b).any() for b in before):
        return None
    if any(np.isinf(b).any() for b in before):
        bad = np.isnan(values)
    return bad if bad.any() else None


def born_forward(op: Op, tensor: Any, raws: list[Any]) -> NonFinite | None:
    """Return the element of a result that is not finite although the arguments are."""
    values = _array(tensor)
    if values is None or np.isfinite(values).all():
        return None
    arrays = [_array(raw) for raw in raws]
    bad = _is_born(values, [a for a in arrays if a is not None])
    if bad is None:
        if op.name == "where" or not any(a is not None and np.isnan(a).any() for a in arrays):
            return None
        return _input_with_nan(op, arrays)
    index = _first_of(bad)
    names = op.args if not op.variadic else [f"array {k}" for k in range(len(raws))]
    operands = {}
    for name, raw in zip(names, raws, strict=True):
        operands[name] = _at_index(raw, index, values.shape)
    return NonFinite(
        "forward",
        op.name,
        index,
        values[index].item(),
        operands,
        _cone(tensor._node, index),
        _REMEDIES.get(op.name, _OTHERWISE),
        *_where(instruction_of(tensor._node) or here()),
    )


def _input_with_nan(op: Op, arrays: list[Any]) -> NonFinite:
    k, values = next((k, a) for k, a in enumerate(arrays) if a is not None and np.isnan(a).any())
    index = _first_of(np.isnan(values))
    name = f"array {k}" if op.variadic else op.args[k]
    return NonFinite(
        "forward", "", index, values[index].item(), {f"argument of {op.name}": name}, (),
        "the data have it already: look at where they come from, wg.isnan(x) finds it",
        *_where(here()),
    )  # fmt: skip


def born_backward(
    xp: Any, before: list[np.ndarray], node: Node, edges: Any, parts: list[Any]
) -> NonFinite | None:
    """Return the element of a rule's answer that is not finite although the cotangent is."""
    if node.op is OUTPUT:
        return None
    for (_, argument, values), part in zip(edges, parts, strict=True):
        dense = part.todense(xp) if type(part) is Block else part
        answer = None if dense is None else _array(dense)
        if answer is None:
            continue
        bad = _is_born(answer, before)
        if bad is None:
            continue
        index = _first_of(bad)
        names = node.op.reads[0 if node.op.variadic else argument] or ()
        operands = {
            name: _at_index(value, index, answer.shape)
            for name, value in zip(names, values, strict=False)
            if hasattr(value, "shape") or isinstance(value, (int, float, complex))
        }
        if len(before) == 1:
            operands["cotangent of the result"] = _at_index(before[0], index, answer.shape)
        return NonFinite(
            "backward",
            node.op.name,
            index,
            answer[index].item(),
            operands,
            _cone(node, _shared_index(index, answer.shape, node)),
            _REMEDIES.get(node.op.name, _OTHERWISE),
            *_where(instruction_of(node)),
        )
    return None


def _shared_index(index: tuple[int, ...], shape: Any, node: Node) -> tuple[int, ...] | None:
    """Return an element of the argument as one of the result, where both have one shape."""
    return index if type(node.shape) is not list and tuple(node.shape) == tuple(shape) else None


def _at_index(value: Any, index: tuple[int, ...], shape: Any) -> Any:
    """Return the element of an operand that belongs to one of a result, or what it is."""
    array = _array(value)
    if array is None:
        return value if not hasattr(value, "shape") else f"shape {tuple(value.shape)}"
    try:
        return np.broadcast_to(array, shape)[index].item()
    except ValueError:
        finite = array[np.isfinite(array)]
        if not finite.size:
            return f"shape {array.shape}, nothing finite"
        if np.iscomplexobj(finite):
            return f"shape {array.shape}, magnitudes up to {np.abs(finite).max():.6g}"
        return f"shape {array.shape}, values from {finite.min():.6g} to {finite.max():.6g}"


def _cone(node: Node | None, index: tuple[int, ...] | None) -> tuple[str, ...]:
    """Return the elements of the leaves that an element of a node depends on."""
    if node is None or index is None or type(node.shape) is list:
        return ()
    token = next(iter(node.tokens), None)
    if token is None:
        return ()
    region = tuple(range(i, i + 1) for i in index)
    regions = walked_back(ancestors([node], token), node, region)
    names = {v._leaf: v.name for v in token.variables.values()}
    found = []
    for leaf, part in regions.items():
        if leaf.parent is None and leaf is not node and type(leaf.shape) is not list:
            name = names.get(leaf, f"a source of shape {tuple(leaf.shape)}")
            found.append(f"{name}[{described(part)}]" if part else str(name))
    return tuple(found)


def _where(line: Instruction | None) -> tuple[str | None, str]:
    return (None, "") if line is None else (line.location, line.text)


# -- after the fact --------------------------------------------------------------------------------


class _Collecting(Watcher):
    """Finds the first rule whose answer is not finite, and lets the sweep go on."""

    def __init__(self) -> None:
        self.found: NonFinite | None = None

    def pulling(self, op: Op) -> Callable[..., Any]:
        def pull(xp: Any, g: Any, node: Node, edges: Any, sweep: Any = None) -> Any:
            before = as_arrays(xp, g)
            parts = list(op.pull(xp, g, node, edges))
            self.found = self.found or born_backward(xp, before, node, edges, parts)
            return parts

        return pull


def find_nonfinite(tape: Tape, target: Any, sources: list[Any]) -> NonFinite | None:
    """Return where the first NaN or infinity of a recorded program began; None if all is finite."""
    part = part_of_tape(target, "find_nonfinite: target")
    end: Any = part.node
    token = tape._token
    if end is None or token not in end.tokens:
        return _of_target(part.tensor)
    nodes = ancestors([end], token)
    parts = [part_of_tape(s, "find_nonfinite: source") for s in sources]
    given = {p.node: p.tensor._raw for p in parts if p.node in nodes}
    values = replayed(nodes, saved_values(nodes) | given)
    values[end] = part.tensor._raw
    for node in reversed(nodes):
        found = _first_forward(node, values)
        if found is not None:
            return found
    wanted: set[Any] = set(given) or {n for n in nodes if n.parent is None}
    collecting = _Collecting()
    collecting.start()
    try:
        xp = backends.namespace_of(part.tensor._raw)
        seed: dict[Node, Any] = {end: xp.ones(end.shape, dtype=end.dtype)}
        with np.errstate(all="ignore"):
            reverse(xp, nodes, seed, wanted, False, None, None, token.starts)
    finally:
        collecting.stop()
    return collecting.found


def _of_target(tensor: Any) -> NonFinite | None:
    values = _array(tensor)
    if values is None or np.isfinite(values).all():
        return None
    index = _first_of(~np.isfinite(values))
    return NonFinite(
        "forward", "", index, values[index].item(), {}, (),
        "the tape did not record the target; run the program under wg.debug(nan=True)",
    )  # fmt: skip


def _first_forward(node: Node, values: dict[Node, Any]) -> NonFinite | None:
    """Return the element of a node's value that is not finite, if that is known."""
    known = _array(values[node]) if node in values else None
    if known is None or np.isfinite(known).all():
        return None
    index = _first_of(~np.isfinite(known))
    operands = {}
    for parent, argument, _ in node.edges:
        name = f"array {argument}" if node.op.variadic else node.op.args[argument]
        if parent in values:
            operands[name] = _at_index(values[parent], index, known.shape)
    name = node.op.name if node.parent is not None else ""
    remedy = _REMEDIES.get(name, _OTHERWISE)
    if not name:
        remedy = "the data have it already: look at where they come from"
    elif any(parent not in values for parent, _, _ in node.edges):
        remedy = "it may have begun before: what this was computed from was not kept; run again "
        remedy += "under wg.debug(nan=True), which stops where it begins"
    return NonFinite(
        "forward", name, index, known[index].item(), operands, _cone(node, index), remedy,
        *_where(instruction_of(node)),
    )  # fmt: skip
