"""Products of tensors summed over axes: matmul, einsum and tensordot."""

from __future__ import annotations

import re
from typing import Any

from wengert.dialects.tensorflow.errors import as_is, invalid, type_error, unfit, value_error
from wengert.dialects.tensorflow.kinds import Dtype, Like, Numbers, Same
from wengert.dialects.tensorflow.table import offered
from wengert.dialects.tensorflow.tensors import Native, alike, check_kind, convert, ns, static
from wengert.ops import contractions


def adjoint_of(x: Native) -> Native:
    """Return matrices with rows and columns exchanged, and conjugated."""
    found: Native = contractions.adjoint(ns, x)
    return found


def _flipped(x: Native, transpose: bool, adjoint: bool, name: str) -> Native:
    if transpose and adjoint:
        raise value_error(f"transpose_{name} and adjoint_{name} are both True; give one")
    if adjoint:
        return adjoint_of(x)
    return ns.matrix_transpose(x) if transpose else x


def _product(a: Native, b: Native) -> Native:
    """Return the matrix product; rows that are not as long as columns are invalid."""
    if a.shape[-1] != b.shape[-2]:
        raise unfit("rows as long as columns", a=a, b=b)
    return contractions.matrix_product(a, b)


@offered("matmul", "linalg.matmul")
def matmul(
    a: Numbers, b: Like, transpose_a: bool = False, transpose_b: bool = False,
    adjoint_a: bool = False, adjoint_b: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, output_type: Dtype | None = None, grad_a: bool = False,
    grad_b: bool = False,
) -> Native:  # fmt: skip
    """Return the matrix product over the last two axes."""
    if a.ndim < 2 or b.ndim < 2:
        instead = "tf.linalg.matvec(a, b) or tf.tensordot(a, b, 1) for a vector"
        raise unfit(f"matrices: write {instead}", a=a, b=b)
    if output_type is not None:
        a, b = ns.astype(a, output_type), ns.astype(b, output_type)
    if transpose_a or adjoint_a:
        a = _flipped(a, transpose_a, adjoint_a, "a")
    if transpose_b or adjoint_b:
        b = _flipped(b, transpose_b, adjoint_b, "b")
    return _product(a, b)


@offered("linalg.matvec")
def matvec(
    a: Numbers, b: Same, transpose_a: bool = False, adjoint_a: bool = False,
    a_is_sparse: bool = False, b_is_sparse: bool = False,
) -> Native:  # fmt: skip
    """Return the product of a matrix and a vector, over the last axes."""
    if a.ndim < 2 or b.ndim < 1:
        raise unfit("matrices and vectors", a=a, b=b)
    product = _product(_flipped(a, transpose_a, adjoint_a, "a"), ns.expand_dims(b, axis=-1))
    return ns.squeeze(product, axis=-1)


_EQUATION = re.compile(r"^[a-zA-Z.]*(,[a-zA-Z.]*)*(->[a-zA-Z.]*)?$")


@offered("einsum", "linalg.einsum", raises=(AttributeError,))
def einsum(equation: str, *inputs: Any, optimize: Any = "greedy") -> Native:
    """Return the sum of products that the equation describes."""
    text = equation.replace(" ", "")
    if not _EQUATION.match(text):
        raise value_error(f"einsum cannot read {equation!r}; expected such as 'ij,jk->ik'")
    for x in inputs:
        if not hasattr(x, "shape"):
            raise AttributeError(f"{type(x).__name__!r} object has no attribute 'shape'")
    left, _, output = text.partition("->")
    _check_labels(equation, left, output, len(inputs))
    tensors = alike(inputs, "Einsum")
    check_kind(tensors[0], "iufc", "Einsum")
    _check_lengths(equation, left.split(","), tensors)
    return contractions.einsum(text, *tensors)


def _check_labels(equation: str, left: str, output: str, count: int) -> None:
    labels = output.replace(".", "")
    if len(set(labels)) < len(labels):
        raise value_error(f"einsum {equation!r}: the result has a letter twice")
    for label in labels:
        if label not in left:
            raise value_error(f"einsum {equation!r}: {label!r} is in no operand")
    if left.count(",") + 1 != count:
        raise value_error(f"einsum {equation!r}: {count} operands for its commas")


def _check_lengths(equation: str, parts: list[str], tensors: list[Native]) -> None:
    """Raise unless axes of one label have one length: only those of an ellipsis broadcast."""
    sizes: dict[str, int] = {}
    for labels, x in zip(parts, tensors, strict=True):
        before, dots, after = labels.partition("...")
        named = [*zip(before, x.shape, strict=False)]
        if dots and after:
            named += zip(after, x.shape[-len(after) :], strict=False)
        for label, n in named:
            if sizes.setdefault(label, n) != n:
                raise invalid(f"einsum {equation!r}: {label!r} has lengths {sizes[label]} and {n}")


@offered("tensordot", "linalg.tensordot")
def tensordot(a: Numbers, b: Same, axes: Any) -> Native:
    """Return sums of products over `axes`: a number of them, or those of a and those of b."""
    mine, theirs = _contracted(static(axes), a, b)
    if [a.shape[i] for i in mine] != [b.shape[i] for i in theirs]:
        raise unfit("axes of one length", axes=axes, a=a, b=b)
    return contractions.tensordot(a, b, axes=(tuple(mine), tuple(theirs)))


def _contracted(axes: Any, first: Native, second: Native) -> tuple[list[int], list[int]]:
    if axes is None:
        convert(axes)  # raises
    if isinstance(axes, (str, float)):
        raise type_error(f"axes is {axes!r}; expected a number of axes, or two lists")
    if isinstance(axes, int):
        if not 0 <= axes <= min(first.ndim, second.ndim):
            raise as_is(unfit("axes that both have", ValueError, axes=axes, a=first, b=second))
        return list(range(first.ndim - axes, first.ndim)), list(range(axes))
    if len(axes) != 2:
        raise value_error(f"axes is {axes}; expected a number of axes, or two lists")
    mine, theirs = ([v] if isinstance(v, int) else list(v) for v in axes)
    if len(mine) != len(theirs):
        raise value_error(f"axes is {axes}: {len(mine)} axes of a for {len(theirs)} of b")
    for listed, x in ((mine, first), (theirs, second)):
        for i in listed:
            if not -x.ndim <= i < x.ndim:
                kind = ValueError if i < 0 else IndexError
                raise as_is(kind(f"axis {i} is not one of the {x.ndim} of shape {list(x.shape)}"))
    return [i % first.ndim for i in mine], [i % second.ndim for i in theirs]
