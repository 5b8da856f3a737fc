"""Products of matrices and sums of products."""

from __future__ import annotations

import itertools
import math
import string
from typing import Any

import numpy as np

from wengert.dialects.torch import conventions
from wengert.dialects.torch.axes import (
    accumulated,
    axis_of,
    kind_of,
    labelled,
    tensor_of,
    type_name,
    unable,
)
from wengert.dialects.torch.reductions import vector_norm
from wengert.dialects.torch.table import guarded, offered, put
from wengert.dialects.torch.tensors import (
    LABELS,
    Tensor,
    fast,
    ns,
    promoted,
    static,
)
from wengert.engine.op import Op
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.ops import contractions

_MATMUL: Any = contractions.matrix_product.op  # type: ignore[attr-defined]
LABELS.setdefault(_MATMUL.name, "MmBackward0")


# -- two operands ----------------------------------------------------------------------------------


def _sizes(*tensors: Native) -> str:
    return " and ".join("x".join(map(str, t.shape)) or "no axes" for t in tensors)


def _check_same(*tensors: Native, name: str = "") -> None:
    """Raise unless tensors have one dtype, and one that there are products of."""
    first = tensors[0]
    for other in tensors[1:]:
        if other._raw.dtype != first._raw.dtype:
            raise RuntimeError(
                f"{name}: the factors have different dtypes, {type_name(first)} and "
                f"{type_name(other)}; convert one, as y.to(x.dtype)"
            )
    if kind_of(first) == "b":
        raise unable(name or "addmm_impl_cpu_", first)


def _check_axes(x: Native, ndim: int, name: str) -> None:
    if x.ndim != ndim:
        what = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}[ndim]
        raise RuntimeError(f"{name} has shape {list(x.shape)}; give {what}")


def _multiplied(x: Native, y: Native) -> Native:
    """Return the product of matrices, of as many as there are in front."""
    if x.shape[-1] != y.shape[-2]:
        raise RuntimeError(f"{_sizes(x, y)} have no product; the inner lengths must be equal")
    return contractions.matrix_product(x, y)


def _product(input: Any, other: Any) -> Any:
    """Return the product of matrices, or of vectors, over the last axes."""
    x, y = tensor_of(input), tensor_of(other, "other")
    if not x.ndim or not y.ndim:
        raise RuntimeError(
            f"matmul: the factors have {x.ndim} and {y.ndim} axes, and each needs one; write x * "
            "y for a number"
        )
    _check_same(x, y, name="matmul")
    if x.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise RuntimeError(f"{_sizes(x, y)} have no product; the inner lengths must be equal")
    if x.ndim == y.ndim == 1:
        return labelled(_dotted(x, y), "DotBackward0")
    label = {(2, 2): "MmBackward0", (2, 1): "MvBackward0", (1, 2): "SqueezeBackward4"}
    return labelled(contractions.matmul(x, y), label.get((x.ndim, y.ndim), "UnsafeViewBackward0"))


_slow = guarded(_product, "MmBackward0")


def _otherwise(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    return _slow(*args)


_two_matrices = fast(_MATMUL, _otherwise, "fc", 2, "_x0.ndim == 2 == _x1.ndim")


def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """Return the product of matrices, or of vectors, over the last axes."""
    if out is None:
        return _two_matrices(input, other)
    return _slow(input, other, out=out)


def _operator(x: Any, y: Any) -> Any:
    if not isinstance(y, (Tensor, Native)):
        return NotImplemented
    return _two_matrices(x, y)


def _reflected(x: Any, y: Any) -> Any:
    return _two_matrices(y, x) if isinstance(y, (Tensor, Native)) else NotImplemented


put(("matmul", "Tensor.matmul"), matmul)
put(("Tensor.__matmul__",), _operator)
put(("Tensor.__rmatmul__",), _reflected)


def _dotted(x: Native, y: Native) -> Native:
    """Return the sum of products of two vectors."""
    product = contractions.matrix_product(ns.expand_dims(x, axis=0), ns.expand_dims(y, axis=1))
    return ns.reshape(product, ())


@offered("mm")
def mm(input: Any, mat2: Any) -> Any:
    """Return the product of two matrices."""
    x, y = tensor_of(input), tensor_of(mat2, "mat2")
    _check_axes(x, 2, "self")
    _check_axes(y, 2, "mat2")
    _check_same(x, y, name="addmm_impl_cpu_")
    return _multiplied(x, y)


@offered("bmm")
def bmm(input: Any, mat2: Any) -> Any:
    """Return the products of as many pairs of matrices."""
    x, y = tensor_of(input), tensor_of(mat2, "mat2")
    _check_batches(x, y, "bmm")
    return contractions.matrix_product(x, y)


def _check_batches(x: Native, y: Native, name: str) -> None:
    _check_axes(x, 3, "batch1")
    _check_axes(y, 3, "batch2")
    _check_same(x, y, name=name)
    wanted = [x.shape[0], x.shape[2]]
    if list(y.shape[:2]) != wanted:
        raise RuntimeError(
            f"{name}: the second factor begins with {list(y.shape[:2])}; give {wanted}"
        )


@offered("mv")
def mv(input: Any, vec: Any) -> Any:
    """Return the product of a matrix and a vector."""
    x, y = tensor_of(input), tensor_of(vec, "vec")
    return _on_vector(x, y)


def _on_vector(x: Native, y: Native) -> Native:
    if x.ndim != 2 or y.ndim != 1:
        raise RuntimeError(f"got {x.ndim} axes and {y.ndim}; give a matrix and a vector")
    _check_same(x, y, name="addmv_impl_cpu")
    if x.shape[1] != y.shape[0]:
        raise RuntimeError(
            f"a matrix of shape {list(x.shape)} does not fit a vector of length {y.shape[0]}"
        )
    return contractions.matmul(x, y)


def _vectors(input: Any, other: Any, name: str, what: str) -> tuple[Native, Native]:
    x, y = tensor_of(input), tensor_of(other, what=what)
    if x.ndim != 1 or y.ndim != 1:
        raise RuntimeError(f"{name}: the factors have {x.ndim} and {y.ndim} axes; give two vectors")
    _check_same(x, y, name=name)
    if x.shape != y.shape:
        raise RuntimeError(
            f"{name}: vectors of {list(x.shape)} and {list(y.shape)} elements; give them one length"
        )
    return x, y


@offered("dot")
def dot(input: Any, tensor: Any) -> Any:
    """Return the sum of products of two vectors."""
    return _dotted(*_vectors(input, tensor, "dot", "tensor"))


@offered("vdot")
def vdot(input: Any, other: Any) -> Any:
    """Return the sum of products of two vectors, the first conjugated."""
    x, y = _vectors(input, other, "vdot", "other")
    return _dotted(ns.conj(x) if kind_of(x) == "c" else x, y)


@offered("inner", label="ViewBackward0")
def inner(input: Any, other: Any) -> Any:
    """Return the sums of products over the last axes."""
    x, y = tensor_of(input), tensor_of(other, "other")
    if not x.ndim or not y.ndim:
        return labelled(ns.multiply(*promoted(x, y)), "MulBackward0")
    _check_same(x, y, name="inner")
    if x.shape[-1] != y.shape[-1]:
        raise RuntimeError(
            f"inner(): shapes {list(x.shape)} and {list(y.shape)} end differently; give them one "
            "last length"
        )
    return contractions.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


@offered("outer", "ger", method=False, label="MulBackward0")
def outer(input: Any, vec2: Any) -> Any:
    """Return the products of each element of a vector with each of another."""
    x, y = tensor_of(input), tensor_of(vec2, "vec2")
    for vector, which in ((x, "self"), (y, "vec2")):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: {which} has {vector.ndim} axes; give a vector")
    return contractions.outer(*promoted(x, y))


put(("Tensor.outer", "Tensor.ger"), outer)


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


def _added(input: Any, product: Native, beta: Any, alpha: Any) -> Native:
    """Return beta * input + alpha * product, which decides the shape."""
    x = tensor_of(input)
    _check_same(x, product, name="self and mat2")
    try:
        fits = np.broadcast_shapes(x.shape, product.shape) == product.shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"an input of shape {list(x.shape)} does not broadcast to the product's shape "
            f"{list(product.shape)}"
        )
    return ns.add(_scaled(x, beta), _scaled(product, alpha))


@offered("addmm", in_place=True)
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * (mat1 @ mat2)."""
    x, y = tensor_of(mat1, "mat1"), tensor_of(mat2, "mat2")
    _check_axes(x, 2, "mat1")
    _check_axes(y, 2, "mat2")
    _check_same(x, y, name="addmm_impl_cpu_")
    bias = tensor_of(input)
    if (
        bias.shape == y.shape[1:]
        and (type(beta), beta, type(alpha), alpha) == (int, 1, int, 1)
        and bias._raw.dtype == x._raw.dtype
        and kind_of(x) in "fc"
        and x.shape[1] == y.shape[0]
    ):
        from wengert.ops.neural.layers import linear_biased  # most programs can do without

        return linear_biased(x, y, bias)  # in one pass over memory less
    return _added(bias, _multiplied(x, y), beta, alpha)


@offered("addmv", in_place=True)
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * (mat @ vec)."""
    product = _on_vector(tensor_of(mat, "mat"), tensor_of(vec, "vec"))
    return _added(input, product, beta, alpha)


@offered("addr", in_place=True)
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * outer(vec1, vec2)."""
    given = tensor_of(input), tensor_of(vec1, "vec1"), tensor_of(vec2, "vec2")
    x, first, second = promoted(*given)
    _check_axes(first, 1, "vec1")
    _check_axes(second, 1, "vec2")
    return _added(x, contractions.outer(first, second), beta, alpha)


@offered("baddbmm", in_place=True)
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * (batch1 @ batch2)."""
    tensor_of(input)
    x, y = tensor_of(batch1, "batch1"), tensor_of(batch2, "batch2")
    _check_batches(x, y, "baddbmm")
    return _added(input, contractions.matrix_product(x, y), beta, alpha)


@offered("addbmm", in_place=True)
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return beta * input + alpha * the sum of the matrices of batch1 @ batch2."""
    tensor_of(input)
    x, y = tensor_of(batch1, "batch1"), tensor_of(batch2, "batch2")
    _check_batches(x, y, "addbmm")
    return _added(input, contractions.tensordot(x, y, axes=((0, 2), (0, 1))), beta, alpha)


# -- any number of operands ------------------------------------------------------------------------

_LABELS = string.ascii_uppercase + string.ascii_lowercase


def _subscripts(labels: Any) -> str:
    """Return axes that are named by numbers, and perhaps an ellipsis, as letters."""
    found = ""
    for label in labels:
        if label is Ellipsis:
            found += "..."
        elif type(label) is int and 0 <= label < len(_LABELS):
            found += _LABELS[label]
        else:
            raise ValueError(f"einsum: the subscript {label!r} is no number from 0 to 51")
    return found


def _equation(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return an equation and its operands, from any of the ways to write them."""
    if not args:
        raise ValueError("einsum(): got no equation; write torch.einsum('ij,jk->ik', x, y)")
    if not isinstance(args[0], (Tensor, Native)):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        return args[0], list(operands)
    inputs, output = args, ""
    if len(args) % 2:
        inputs, output = args[:-1], "->" + _subscripts(args[-1])
    return ",".join(map(_subscripts, inputs[1::2])) + output, list(inputs[::2])


@offered("einsum", method=False, raises=(ValueError,), label="ViewBackward0")
def einsum(*args: Any) -> Any:
    """Return the sum of products that an equation describes.

    It is a text such as "ij,jk->ik" before the operands, or a list of numbers after each operand.
    """
    equation, operands = _equation(args)
    if len(operands) < 1:
        raise ValueError("einsum(): got no operands; write torch.einsum('ij,jk->ik', x, y)")
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    _check_labels(left, output, len(operands))
    tensors = [tensor_of(x) for x in operands]
    kept = set(output) if arrow else {c for c in left if left.count(c) == 1}
    if set(left.replace(",", "").replace(".", "")) <= kept:
        tensors = promoted(*tensors)  # nothing is summed up
    elif len(tensors) == 1:
        tensors = [accumulated(tensors[0], None)]
    else:
        _check_same(*tensors, name="einsum")
    return contractions.einsum(text, *tensors)


def _check_labels(left: str, output: str, count: int) -> None:
    parts = left.split(",")
    for labels in (*parts, output):
        letters = labels.replace("...", "", 1)
        wrong = [c for c in letters if c not in _LABELS]
        if wrong:
            raise RuntimeError(
                f"einsum(): {wrong[0]!r} is in the equation; write letters, commas, one '->', "
                "and one '...' for each operand at most"
            )
    letters = output.replace(".", "")
    for label in letters:
        if label not in left:
            raise RuntimeError(
                f"einsum(): the result has the subscript {label}, which no operand has"
            )
        if letters.count(label) > 1:
            raise RuntimeError(
                f"einsum(): the result has the subscript {label} twice; name each axis once"
            )
    if len(parts) != count:
        word = "fewer" if count < len(parts) else "more"
        raise RuntimeError(
            f"einsum(): {word} operands than the equation names: {count}, and it names {len(parts)}"
        )


@offered("tensordot", method=False, label="ViewBackward0")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Return sums of products over `dims`: a number of axes, or those of a and those of b."""
    x, y = tensor_of(a, "a"), tensor_of(b, "b")
    axes = static(dims)
    if isinstance(axes, int):
        if axes < 0:
            raise RuntimeError(f"tensordot: dims={axes}; give 0 or more")
        if axes > min(x.ndim, y.ndim):
            raise RuntimeError(
                f"tensordot: dims={axes} is more than the axes of shapes {list(x.shape)} and "
                f"{list(y.shape)}"
            )
        axes = [range(x.ndim - axes, x.ndim), range(axes)]
    mine, theirs = ([v] if isinstance(v, int) else list(v) for v in axes)
    _check_same(x, y, name="tensordot")
    if len(mine) != len(theirs):
        raise RuntimeError("tensordot: the lists of axes differ in length; give pairs")
    mine = [axis_of(d, x.ndim) for d in mine]
    theirs = [axis_of(d, y.ndim) for d in theirs]
    # an axis of length 1 goes with any other: its element is a factor of each
    for i, j in zip(mine, theirs, strict=True):
        if 1 in (x.shape[i], y.shape[j]) and x.shape[i] != y.shape[j]:
            if x.shape[i] == 1:
                y = ns.sum(y, axis=j, keepdims=True)
            else:
                x = ns.sum(x, axis=i, keepdims=True)
        elif x.shape[i] != y.shape[j]:
            raise RuntimeError(
                f"tensordot: axis {i} of the first has {x.shape[i]} elements, and axis {j} of "
                f"the second has {y.shape[j]}; they must be equal"
            )
    return contractions.tensordot(x, y, axes=(tuple(mine), tuple(theirs)))


@offered("kron", label="UnsafeViewBackward0")
def kron(input: Any, other: Any) -> Any:
    """Return the Kronecker product: each element of a tensor times another tensor."""
    return ns.linalg.kron(*promoted(tensor_of(input), tensor_of(other, "other")))


@offered("cross", label="LinalgCrossBackward0")
def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """Return the cross products of vectors of three elements along an axis."""
    x, y = tensor_of(input), tensor_of(other, "other")
    _check_same(x, y, name="linalg.cross")
    if x.ndim != y.ndim:
        raise RuntimeError(f"cross: the factors have {x.ndim} and {y.ndim} axes; give them as many")
    if dim is None:
        axis = next((i for i, n in enumerate(x.shape) if n == 3), None)
        if axis is None:
            raise RuntimeError(f"cross: no axis of {list(x.shape)} has 3 elements")
    else:
        axis = axis_of(dim, x.ndim)
    return ns.linalg.cross(x, y, axis=axis)


@offered("chain_matmul", method=False, label="ViewBackward0")
def chain_matmul(*matrices: Any) -> Any:
    """Return the product of matrices, in the order that takes the fewest steps."""
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], list) else matrices
    tensors = [tensor_of(m, "matrices") for m in given]
    if not tensors:
        raise RuntimeError("chain_matmul(): got no matrices; give one at least")
    for x in tensors:
        _check_axes(x, 2, "each of the matrices")
    _check_same(*tensors, name="chain_matmul")
    for x, y in itertools.pairwise(tensors):
        if x.shape[1] != y.shape[0]:
            raise RuntimeError(f"{_sizes(x, y)} have no product; the inner lengths must be equal")
    return ns.linalg.multi_dot(tensors) if len(tensors) > 1 else tensors[0]


# -- distances -------------------------------------------------------------------------------------

#: Above so many differences, distances come from products of matrices.
_MANY = 4_000_000


@offered("cdist", method=False, label="CdistBackward0")
def cdist(
    x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = "use_mm_for_euclid_dist_if_necessary"
) -> Any:
    """Return the p-norm distances between each row of x1 and each row of x2."""
    x, y = tensor_of(x1, "x1"), tensor_of(x2, "x2")
    for which, points in (("X1", x), ("X2", y)):
        if kind_of(points) != "f":
            raise RuntimeError(
                f"cdist: {which} is a {type_name(points)}, without fractions; write x.float()"
            )
        if points.ndim < 2:
            raise RuntimeError(f"cdist: {which} has {points.ndim} axes; give points as rows")
    if x.shape[-1] != y.shape[-1]:
        raise RuntimeError(
            f"cdist: points of {x.shape[-1]} and of {y.shape[-1]} coordinates; give them as many"
        )
    if p < 0:
        raise RuntimeError(f"cdist: p is {p}; give 0 or more")
    _check_same(x, y, name="cdist")
    if p == 2 and math.prod(x.shape) * y.shape[-2] > _MANY:
        return _by_products(x, y)
    away = ns.expand_dims(x, axis=-2) - ns.expand_dims(y, axis=-3)
    if not away.shape[-1]:
        return ns.sum(away, axis=-1)
    return vector_norm(away, float(p), (away.ndim - 1,), False)


def _by_products(x: Native, y: Native) -> Native:
    """Return Euclidean distances by |x|^2 + |y|^2 - 2 x.y; the derivative is 0 where one is 0."""
    lengths = ns.sum(ns.square(x), axis=-1, keepdims=True)
    others = ns.expand_dims(ns.sum(ns.square(y), axis=-1), axis=-2)
    squares = lengths + others - 2 * ns.matmul(x, ns.matrix_transpose(y))
    return apply(conventions.root.op, (ns.maximum(squares, ns.zeros_like(squares)),), {})


@offered("pdist", method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """Return the p-norm distances between each two rows of a matrix."""
    x = tensor_of(input)
    if x.ndim != 2:
        raise RuntimeError(f"pdist: got {x.ndim} axes; give points as rows")
    if kind_of(x) != "f":
        raise RuntimeError(f"pdist: got a {type_name(x)}, without fractions; write x.float()")
    if p < 0:
        raise RuntimeError(f"pdist: p is {p}; give 0 or more")
    rows, columns = np.triu_indices(x.shape[0], 1)
    away = ns.take(x, wrap_native(rows), axis=0) - ns.take(x, wrap_native(columns), axis=0)
    if not away.shape[-1]:
        return ns.sum(away, axis=-1)
    return vector_norm(away, float(p), (1,), False)
