"""Products of matrices and sums of products."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from wengert.dialects.kernel.functions import Argument, Kind
from wengert.dialects.torch.autocasts import ON
from wengert.dialects.torch.axes import check_same, kind_of, labelled
from wengert.dialects.torch.kinds import (
    READERS,
    Axis,
    Input,
    Number,
    Promoted,
    read_tensor,
    summed,
)
from wengert.dialects.torch.table import as_is, guarded, offered, put
from wengert.dialects.torch.tensors import LABELS, Tensor, fast, ns, promoted, static
from wengert.engine.op import Op
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import contractions
from wengert.ops.families.narrow import in_single

_MATMUL: Any = contractions.matrix_product.op
LABELS.setdefault(_MATMUL.name, "MmBackward0")


# -- two operands ----------------------------------------------------------------------------------


def _sizes(*tensors: Native) -> str:
    return " and ".join("x".join(map(str, t.shape)) or "no axes" for t in tensors)


def check_factors(*tensors: Native, name: str = "") -> None:
    """Raise unless tensors have one dtype, and one that there are products of."""
    check_same(*tensors, name=name)
    if kind_of(tensors[0]) == "b":
        raise NotImplementedError(f"{name}: booleans have no product of matrices; write x.int()")


def _factor(ndim: int) -> Kind:
    """Return the kind of tensors with so many axes."""
    words = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[ndim]

    def read(value: Any, at: Argument, x: Any = None) -> Native:
        found = read_tensor(value, at)
        if found.ndim != ndim:
            raise RuntimeError(f"{at} has shape {list(found.shape)}; give {words}")
        return found

    return Kind(read, tensor=True)


Vector = Annotated[Native, _factor(1)]
Matrix = Annotated[Native, _factor(2)]
Batch = Annotated[Native, _factor(3)]


def _multiplied(x: Native, y: Native, name: str) -> Native:
    """Return the product of matrices, of one or of as many as there are in front."""
    check_factors(x, y, name=name)
    if x.shape[-1] != y.shape[-2] or x.shape[:-2] != y.shape[:-2]:
        raise RuntimeError(f"{name}: {_sizes(x, y)} have no product; inner lengths must be equal")
    return contractions.matrix_product(x, y)


def _product(input: Input, other: Input) -> Native:
    """Return the product of matrices, or of vectors, over the last axes."""
    x, y = input, other
    if not x.ndim or not y.ndim:
        raise RuntimeError(
            f"matmul: the factors have {x.ndim} and {y.ndim} axes, and each needs one; write x * "
            "y for a number"
        )
    check_factors(x, y, name="matmul")
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise RuntimeError(f"{_sizes(x, y)} have no product; the inner lengths must be equal")
    label = _LABELS.get((x.ndim, y.ndim), "UnsafeViewBackward0")
    return labelled(contractions.matrix_product(x, y), label)


#: What PyTorch calls the last node of a product, by the factors' numbers of axes.
_LABELS = {
    (1, 1): "DotBackward0",
    (1, 2): "SqueezeBackward4",
    (2, 1): "MvBackward0",
    (2, 2): "MmBackward0",
}
_slow = guarded(_product, "MmBackward0")


def _otherwise(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return _slow(*args)


_two_matrices = fast(_MATMUL, _otherwise, "fc", 2, "_x0.ndim == 2 == _x1.ndim")


def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the product of matrices, or of vectors, over the last axes."""
    if out is None and not ON:
        return _two_matrices(input, other)
    return _slow(input, other, out=out)


def _operator(x: Any, y: Any) -> Any:
    if not isinstance(y, (Tensor, Native)):
        return NotImplemented
    return _slow(x, y) if ON else _two_matrices(x, y)


def _reflected(x: Any, y: Any) -> Any:
    return _operator(y, x) if isinstance(y, (Tensor, Native)) else NotImplemented


put(("matmul", "Tensor.matmul"), matmul)
put(("Tensor.__matmul__",), _operator)
put(("Tensor.__rmatmul__",), _reflected)


@offered("mm")
def mm(input: Matrix, mat2: Matrix) -> Native:
    """Return the product of two matrices."""
    return _multiplied(input, mat2, "mm")


@offered("bmm")
def bmm(input: Batch, mat2: Batch) -> Native:
    """Return the products of as many pairs of matrices."""
    return _multiplied(input, mat2, "bmm")


def _on_vector(x: Native, y: Native) -> Native:
    check_factors(x, y, name="mv")
    return contractions.matmul(x, y)


@offered("mv")
def mv(input: Matrix, vec: Vector) -> Native:
    """Return the product of a matrix and a vector."""
    return _on_vector(input, vec)


def _check_vectors(x: Native, y: Native, name: str) -> None:
    check_factors(x, y, name=name)
    if x.shape != y.shape:
        raise RuntimeError(
            f"{name}: vectors of {list(x.shape)} and {list(y.shape)} elements; give them one length"
        )


@offered("dot")
def dot(input: Vector, tensor: Vector) -> Native:
    """Return the sum of products of two vectors."""
    _check_vectors(input, tensor, "dot")
    return contractions.matrix_product(input, tensor)


@offered("vdot")
def vdot(input: Vector, other: Vector) -> Native:
    """Return the sum of products of two vectors, the first conjugated."""
    _check_vectors(input, other, "vdot")
    return contractions.matrix_product(ns.conj(input) if kind_of(input) == "c" else input, other)


@offered("inner", label="ViewBackward0")
def inner(input: Input, other: Input) -> Native:
    """Return the sums of products over the last axes."""
    x, y = input, other
    if not x.ndim or not y.ndim:
        return labelled(ns.multiply(*promoted(x, y)), "MulBackward0")
    check_factors(x, y, name="inner")
    return contractions.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


@offered("outer", "ger", "Tensor.outer", "Tensor.ger", method=False, label="MulBackward0")
def outer(input: Vector, vec2: Vector) -> Native:
    """Return the products of each element of a vector with each of another."""
    return contractions.outer(*promoted(input, vec2))


# -- sums with products ----------------------------------------------------------------------------


def _scaled(x: Native, factor: Any) -> Native:
    """Return x times a number; 0 counts also for what is not finite."""
    factor = static(factor)
    if factor == 1:
        return x
    if kind_of(x) in "iu":
        factor = int(factor)
    if factor == 0:
        nothing = wrap_native(np.zeros((), x.dtype))
        return ns.where(wrap_native(np.zeros(x.shape, bool)), x, nothing)
    return ns.multiply(x, wrap_native(np.array(factor, x.dtype)))


def _added(x: Native, product: Native, beta: Any, alpha: Any) -> Native:
    """Return beta * x + alpha * product, which decides the shape."""
    check_factors(x, product, name="input and product")
    lead = product.ndim - x.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(x.shape, product.shape[lead:], strict=True)):
        raise RuntimeError(
            f"an input of shape {list(x.shape)} does not broadcast to the product's shape "
            f"{list(product.shape)}"
        )
    return ns.add(_scaled(x, beta), _scaled(product, alpha))


@offered("addmm", in_place=True)
@in_single
def addmm(
    input: Input, mat1: Matrix, mat2: Matrix, *, beta: Number = 1, alpha: Number = 1
) -> Native:
    """Return beta * input + alpha * (mat1 @ mat2)."""
    if (
        input.shape == mat2.shape[1:]
        and (type(beta), beta, type(alpha), alpha) == (int, 1, int, 1)
        and input._raw.dtype == mat1._raw.dtype == mat2._raw.dtype
        and kind_of(input) in "fc"
        and mat1.shape[1] == mat2.shape[0]
    ):
        from wengert.ops.neural.layers import affine  # which most programs can do without

        return affine(mat1, mat2, input)  # in one pass over memory less
    return _added(input, _multiplied(mat1, mat2, "addmm"), beta, alpha)


@offered("addmv", in_place=True)
def addmv(input: Input, mat: Matrix, vec: Vector, *, beta: Number = 1, alpha: Number = 1) -> Native:
    """Return beta * input + alpha * (mat @ vec)."""
    return _added(input, _on_vector(mat, vec), beta, alpha)


@offered("baddbmm", in_place=True)
@in_single
def baddbmm(
    input: Input, batch1: Batch, batch2: Batch, *, beta: Number = 1, alpha: Number = 1
) -> Native:
    """Return beta * input + alpha * (batch1 @ batch2)."""
    return _added(input, _multiplied(batch1, batch2, "baddbmm"), beta, alpha)


# -- any number of operands ------------------------------------------------------------------------


@offered("einsum", method=False, label="ViewBackward0")
def einsum(equation: str, *operands: Any) -> Any:
    """Return the sum of products that an equation such as "ij,jk->ik" describes."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): equation is a {type(equation).__name__}; write 'ij,jk->ik'")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise as_is(ValueError("einsum(): got no operands; write einsum('ij,jk->ik', x, y)"))
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    tensors = [read_tensor(x, Argument("einsum", "operands")) for x in operands]
    kept = set(output) if arrow else {c for c in left if left.count(c) == 1}
    if set(left.replace(",", "").replace(".", "")) <= kept:
        tensors = promoted(*tensors)  # nothing is summed up
    elif len(tensors) == 1:
        tensors = [summed(tensors[0])]
    else:
        check_factors(*tensors, name="einsum")
    return contractions.einsum(text, *tensors)


@offered("tensordot", method=False, label="ViewBackward0")
def tensordot(a: Input, b: Input, dims: Any = 2) -> Native:
    """Return sums of products over `dims`: a number of axes, or those of a and those of b."""
    axes = static(dims)
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot: dims={axes}; give a number of axes that both have")
        axes = [range(a.ndim - axes, a.ndim), range(axes)]
    at = Argument("tensordot", "dims")
    mine, theirs = (
        [READERS.axis(d, at, x) for d in ([v] if isinstance(v, int) else v)]
        for v, x in zip(axes, (a, b), strict=True)
    )
    check_factors(a, b, name="tensordot")
    return contractions.tensordot(a, b, axes=(tuple(mine), tuple(theirs)))


@offered("kron", label="UnsafeViewBackward0")
def kron(input: Promoted, other: Promoted) -> Native:
    """Return the Kronecker product: each element of a tensor times another tensor."""
    return ns.linalg.kron(input, other)


@offered("cross", label="LinalgCrossBackward0")
def cross(input: Input, other: Input, dim: Axis | None = None) -> Native:
    """Return the cross products of vectors of three elements along an axis."""
    first = input.shape.index(3) if 3 in input.shape else 0
    return crossed(input, other, first if dim is None else dim)


def crossed(x: Native, y: Native, axis: int) -> Native:
    """Return the cross products of vectors along an axis."""
    check_factors(x, y, name="cross")
    if x.ndim != y.ndim or not x.ndim or not x.shape[axis] == y.shape[axis] == 3:
        raise RuntimeError(
            f"cross: shapes {list(x.shape)} and {list(y.shape)} along axis {axis}; give as many "
            "axes, and 3 elements along that one"
        )
    return ns.linalg.cross(x, y, axis=axis)
