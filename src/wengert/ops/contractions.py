"""Products of arrays summed over axes: matmul, einsum, and what is made of them."""

from __future__ import annotations

import functools
import math
import string
from typing import Any

import numpy as np

from wengert import backends
from wengert.engine.batching import Level
from wengert.engine.op import Op
from wengert.engine.record import apply, lift
from wengert.engine.tensor import Tensor
from wengert.errors import ShapeError
from wengert.ops import batching, elementwise, reductions, shapes
from wengert.ops.families import axes as normalised
from wengert.ops.families import composite, contraction, one_axis, sample
from wengert.regions import Region, whole


def _array(x: Any, name: str) -> Tensor:
    """Return an argument as a tensor, whose shape decides how to go on."""
    x = lift(x, name)
    if type(x) is not Tensor:
        raise TypeError(f"{name}: got the number {x!r}; expected an array")
    return x


def adjoint(xp: Any, x: Any) -> Any:
    """Return matrices with rows and columns exchanged, and conjugated."""
    if type(x) is np.ndarray and x.dtype.kind == "f":
        return x.swapaxes(-1, -2)
    return conj(xp, xp.matrix_transpose(x))


def conj(xp: Any, x: Any) -> Any:
    """Return the conjugate, which is x itself if that is real."""
    if type(x) is np.ndarray and x.dtype.kind == "f":
        return x
    return xp.conj(x) if elementwise.is_complex(x) else x


def _matmul_regions(region: Region, shapes: Any) -> tuple[Region, Region]:
    """Return the parts of the factors, of which a vector has neither batch nor rows or columns."""
    batch, inner = [*region], range(shapes[0][-1])
    columns = [batch.pop()] if len(shapes[1]) > 1 else []
    rows = [batch.pop()] if len(shapes[0]) > 1 else []
    first = (*batch, *rows, inner) if rows else (inner,)
    return first, (*batch, inner, *columns) if columns else (inner,)


def matmul_reached(region: Region, argument: int, shape: Any, shapes: Any) -> Region:
    """Return the rows of the product that rows of the first depend on, or columns."""
    if len(region) == 1:
        return whole(shape)
    matrices = [len(s) > 1 for s in shapes]
    batch_shape = shape[: len(shape) - sum(matrices)]
    lead = len(batch_shape) + 2 - len(region)
    batch = [
        range(n) if i < lead or shapes[argument][i - lead] == 1 else region[i - lead]
        for i, n in enumerate(batch_shape)
    ]
    if argument == 0:
        return (*batch, region[-2], *whole(shape[-1:] if matrices[1] else ()))
    return (*batch, *whole(shape[-2:-1] if matrices[0] else ()), region[-1])


#: What is transposed in memory is copied for so many times as large a factor: BLAS has kernels for
#: small matrices that take half the time if both lie as they are read.
_FEW = 8


def _multiplied(xp: Any, x1: Any, x2: Any) -> Any:
    """Return the matrix product; many of a column with a row are slow in NumPy's matmul.

    Many matrices times one are one product of all their rows, which BLAS is quicker at.
    """
    if type(x1) is np.ndarray and 0 < x1.ndim <= 2 and 0 < x2.ndim <= 2:
        return x1.dot(x2)  # for small matrices in half the time of np.matmul
    if x1.ndim == 1 or x2.ndim == 1:
        return xp.matmul(x1, x2)
    if xp is backends.NUMPY and x1.ndim > 2 == x2.ndim and x1.size and x1.flags.c_contiguous:
        return np.matmul(x1.reshape(-1, x1.shape[-1]), x2).reshape(*x1.shape[:-1], x2.shape[-1])
    if xp is not backends.NUMPY or x1.shape[-1] != 1 or max(x1.ndim, x2.ndim) < 3:
        if xp is backends.NUMPY and _FEW * x2.size <= x1.size and x1.flags.c_contiguous:
            x2 = np.ascontiguousarray(x2)
        return xp.matmul(x1, x2)
    if x1.dtype.kind == x2.dtype.kind == "f":
        return np.einsum("...i,...j->...ij", x1[..., 0], x2[..., 0, :])
    return x1 * x2


def _as_matrices(xp: Any, g: Any, shapes: Any) -> Any:
    """Return the cotangent of a product with a vector as that of a product of matrices."""
    if len(shapes[1]) == 1:
        g = xp.expand_dims(g, axis=-1)
    return xp.expand_dims(g, axis=-2) if len(shapes[0]) == 1 else g


def _of_vector(xp: Any, part: Any, axis: int) -> Any:
    """Return the cotangent of a vector, which was one of many matrices' only row or column."""
    part = xp.squeeze(part, axis=axis)
    return part if len(part.shape) == 1 else xp.sum(part, axis=tuple(range(len(part.shape) - 1)))


def _by_second(xp: Any, g: Any, x1: Any, shapes: Any) -> Any:
    """Return the cotangent of x2: one product of all rows, if all were multiplied by it."""
    if 1 in map(len, shapes):
        if len(shapes[1]) == 1 and len(shapes[0]) < 3:
            two = len(shapes[0]) == 2
            return _multiplied(xp, adjoint(xp, x1), g) if two else conj(xp, x1) * g
        g = _as_matrices(xp, g, shapes)
        x1 = xp.expand_dims(x1, axis=0) if len(shapes[0]) == 1 else x1
        part = _multiplied(xp, adjoint(xp, x1), g)
        return _of_vector(xp, part, -1) if len(shapes[1]) == 1 else part
    alike = xp is backends.NUMPY and g.ndim == x1.ndim == len(shapes[0])
    if alike and g.ndim > 2 == len(shapes[1]) and g.size and x1.size:
        x1, g = (a.reshape(-1, a.shape[-1]) for a in (x1, g))
    return _multiplied(xp, adjoint(xp, x1), g)


def _matmul_batch(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return as few products as will do: one, if one of the factors is the same for all."""
    x1, x2 = arrays
    vectors = [x.ndim - m == 1 for x, m in zip(arrays, mapped, strict=True)]
    if vectors[0] and not mapped[1] and x2.ndim <= 2:  # the examples' vectors are rows
        return _product(op, level, x1, x2)
    if vectors[1] and not mapped[0] and x1.ndim <= 2:
        return _product(op, level, x2, x1 if x1.ndim == 1 else shapes.matrix_transpose(x1))
    if any(vectors):
        x1 = shapes.expand_dims(x1, axis=-2) if vectors[0] else x1
        x2 = shapes.expand_dims(x2, axis=-1) if vectors[1] else x2
        product = _matmul_batch(op, level, [x1, x2], mapped, params)
        return shapes.squeeze(product, axis=(-2,) * vectors[0] + (-1,) * vectors[1])
    if not mapped[1] and x2.ndim == 2:  # the rows of all examples are rows of one matrix
        *lead, k = x1.shape
        rows = shapes.reshape(x1, (math.prod(lead), k))
        return shapes.reshape(_product(op, level, rows, x2), (*lead, x2.shape[1]))
    if not mapped[0] and x1.ndim == 2 and x2.shape[-1] == 1:  # and so are columns, if single
        *lead, k, _ = x2.shape
        rows = shapes.reshape(x2, (math.prod(lead), k))
        product = _product(op, level, rows, shapes.matrix_transpose(x1))
        return shapes.reshape(product, (*lead, x1.shape[0], 1))
    return batching.as_it_is(op, level, arrays, mapped, params)


def _unit_rows(x: Tensor, level: Level) -> range | None:
    """Return which rows of the unit matrix a matrix is, if it is the one that a level knows."""
    if level.units is None:
        return None
    units, rows = level.units
    raw = x._raw
    if type(raw) is not np.ndarray or not raw.flags.c_contiguous or raw.dtype != units.dtype:
        return None
    same = raw.ctypes.data == units.ctypes.data and raw.shape == (
        len(rows),
        units.size // len(rows),
    )
    return rows if same else None


def _product(op: Op, level: Level, rows: Tensor, matrix: Tensor) -> Any:
    """Return the product of two matrices; a Jacobian begins with rows of the unit matrix."""
    units = _unit_rows(rows, level)
    if units is None:
        return batching.call_of(op)(rows, matrix)
    return matrix[units.start : units.stop]


def as_rows(xp: Any, x: Any) -> Any:
    """Return x as a matrix, with all axes but the last made one."""
    return x if len(x.shape) == 2 else xp.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


def _factors_of_first(xp: Any, g: Any, x2: Any, shapes: Any) -> Any:
    if len(shapes[0]) == 2 and len(shapes[1]) == 1:
        return xp.expand_dims(g, axis=0), xp.expand_dims(conj(xp, x2), axis=0)
    return (g.T, adjoint(xp, x2)) if len(g.shape) == 2 == len(shapes[1]) else None


def _factors_of_second(xp: Any, g: Any, x1: Any, shapes: Any) -> Any:
    if type(x1) is np.ndarray and x1.ndim == 2 == len(shapes[1]) and x1.dtype.kind == "f":
        return x1, g
    return (conj(xp, as_rows(xp, x1)), as_rows(xp, g)) if len(shapes[1]) == 2 else None


def _by_first(xp: Any, g: Any, x2: Any, shapes: Any) -> Any:
    """Return the cotangent of x1."""
    if type(g) is np.ndarray and g.ndim == 2 == x2.ndim and x2.dtype.kind == "f":
        return g.dot(x2.T)
    if 1 in map(len, shapes):
        if len(shapes[0]) == 1 and len(shapes[1]) < 3:
            two = len(shapes[1]) == 2
            return _multiplied(xp, conj(xp, x2), g) if two else conj(xp, x2) * g
        g = _as_matrices(xp, g, shapes)
        x2 = xp.expand_dims(x2, axis=-1) if len(shapes[1]) == 1 else x2
        part = _multiplied(xp, g, adjoint(xp, x2))
        return _of_vector(xp, part, -2) if len(shapes[0]) == 1 else part
    return _multiplied(xp, g, adjoint(xp, x2))


matrix_product = contraction(
    "matmul",
    _by_first,
    _by_second,
    regions=_matmul_regions,
    reached=matmul_reached,
    summed=lambda shapes: shapes[0][-1],
    takes_rows=True,
    factors=(_factors_of_first, _factors_of_second),
    compute=_multiplied,
    batch=_matmul_batch,
    samples=[
        sample((2, 3), (3, 4)),
        sample((2, 2, 3), (3, 2)),
        sample((2, 1, 2, 3), (2, 3, 1)),
        sample((2, 3, 1), (1, 2)),
        sample((0, 3), (3, 2)),
        sample((2, 0), (0, 3)),
        sample((3,), (3, 2)),
        sample((2, 3), (3,)),
        sample((3,), (3,)),
        sample((2,), (3, 2, 2)),
        sample((2, 1, 2, 3), (3,)),
    ],
)


matrix_product.op.numpy_function = functools.partial(_multiplied, backends.NUMPY)


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Return the matrix product over the last two axes; an array of one axis is a vector.

    `wg.matmul([[1, 2], [3, 4]], [5, 6])` is `[17, 39]`.
    """
    if type(x1) is not Tensor or type(x2) is not Tensor:
        x1, x2 = _array(x1, "matmul"), _array(x2, "matmul")
    left, right = x1._raw.shape, x2._raw.shape
    if not left or not right or left[-1] != right[-2 if len(right) > 1 else 0]:
        raise ShapeError(
            f"matmul: shapes {x1.shape} and {x2.shape} do not fit: the last length of the first "
            "must be the second-last of the second (its only one, for a vector)"
        )
    return matrix_product(x1, x2)


def _einsum_regions(region: Region, shapes: Any, subscripts: str) -> list[Region]:
    inputs, output = subscripts.split("->")
    known = dict(zip(output, region, strict=True))
    return [
        tuple(known.get(label, range(n)) for label, n in zip(labels, shape, strict=True))
        for labels, shape in zip(inputs.split(","), shapes, strict=True)
    ]


def _einsum_reached(
    region: Region, argument: int, shape: Any, shapes: Any, subscripts: str
) -> Region:
    inputs, output = subscripts.split("->")
    known = dict(zip(inputs.split(",")[argument], region, strict=True))
    return tuple(known.get(label, range(n)) for label, n in zip(output, shape, strict=True))


def _einsum_summed(shapes: Any, subscripts: str) -> int:
    inputs, output = subscripts.split("->")
    labels = "".join(inputs.split(","))
    lengths = dict(zip(labels, (n for shape in shapes for n in shape), strict=True))
    return math.prod(n for label, n in lengths.items() if label not in output)


def _einsum_rule(xp: Any, g: Any, arrays: Any, position: int, shapes: Any, subscripts: str) -> Any:
    inputs, output = subscripts.split("->")
    labels = inputs.split(",")
    others = [i for i in range(len(arrays)) if i != position]
    factors = [conj(xp, arrays[i]) for i in others]
    spec = ",".join([output, *(labels[i] for i in others)]) + "->" + labels[position]
    return xp.einsum(spec, g, *factors)


def _einsum_batch(op: Op, level: Level, arrays: Any, mapped: Any, params: Any) -> Any:
    """Return the sums of products with a label for the examples in front."""
    inputs, output = params["subscripts"].split("->")
    label = next(c for c in string.ascii_letters if c not in params["subscripts"])
    labels = zip(inputs.split(","), mapped, strict=True)
    inputs = ",".join(label + names if is_mapped else names for names, is_mapped in labels)
    return apply(op, tuple(arrays), {"subscripts": f"{inputs}->{label}{output}"})


_einsum = contraction(
    "einsum",
    _einsum_rule,
    regions=_einsum_regions,
    reached=_einsum_reached,
    summed=_einsum_summed,
    takes_rows=True,
    args=("arrays",),
    params=("subscripts",),
    variadic=True,
    compute=lambda xp, *arrays, subscripts: xp.einsum(subscripts, *arrays),
    batch=_einsum_batch,
    samples=[
        sample((2, 3), (3, 4), subscripts="ab,bc->ac"),
        sample((2, 3), (2, 3), subscripts="ab,ab->"),
        sample((2, 3), (3, 2), (2,), subscripts="ab,bc,c->a"),
        sample((2, 3, 2), subscripts="abc->cab"),
    ],
    reference=lambda *arrays, subscripts: __import__("numpy").einsum(subscripts, *arrays),
)


def einsum(subscripts: str, /, *operands: Any) -> Tensor:
    """Return the sum of products that `subscripts` describes, as np.einsum does.

    `wg.einsum("ij,j->i", [[1, 2], [3, 4]], [5, 6])` is `[17, 39]`.
    """
    arrays = [_array(x, "einsum") for x in operands]
    inputs, output = _explicit(subscripts, [x.ndim for x in arrays])
    sizes: dict[str, int] = {}
    for labels, x in zip(inputs, arrays, strict=True):
        for label, n in zip(labels, x.shape, strict=True):
            known = sizes.setdefault(label, n)
            if 1 not in (known, n) and known != n:
                raise ShapeError(
                    f"einsum {subscripts!r}: {label!r} has lengths {known} and {n}, from shapes "
                    + ", ".join(str(a.shape) for a in arrays)
                )
            sizes[label] = max(known, n) if 0 not in (known, n) else 0
    for i, labels in enumerate(inputs):  # what one operand does with itself, before the product
        labels, arrays[i] = _diagonals(labels, arrays[i])
        elsewhere = set(output).union(*(other for j, other in enumerate(inputs) if j != i))
        alone = tuple(k for k, label in enumerate(labels) if label not in elsewhere)
        if alone:
            arrays[i] = reductions.sum(arrays[i], axis=alone)
            labels = "".join(label for label in labels if label in elsewhere)
        inputs[i] = labels
        arrays[i] = shapes.broadcast_to(arrays[i], tuple(sizes[label] for label in labels))
    return _einsum(*arrays, subscripts=",".join(inputs) + "->" + output)


def _explicit(subscripts: str, ranks: list[int]) -> tuple[list[str], str]:
    """Return the labels of each operand and of the result, without an ellipsis."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise ShapeError(f"einsum {subscripts!r}: names {len(inputs)} operands, got {len(ranks)}")
    letters = output.replace(".", "")
    wrong = set(left + output) - set(string.ascii_letters + ",.")
    wrong |= {c for c in letters if c not in left or letters.count(c) > 1}
    if wrong:
        raise ValueError(
            f"einsum {subscripts!r}: {min(wrong)!r} is out of place; expected letters, commas, one "
            "'->' and '...', and in the result each letter of an operand once at most"
        )
    free = [c for c in string.ascii_letters if c not in subscripts]
    widest = max(
        (
            rank - len(labels) + 3
            for labels, rank in zip(inputs, ranks, strict=True)
            if "..." in labels
        ),
        default=0,
    )
    dots = "".join(free[:widest])
    for i, (labels, rank) in enumerate(zip(inputs, ranks, strict=True)):
        if "..." in labels:
            count = rank - len(labels) + 3
            labels = labels.replace("...", dots[len(dots) - count :] if count else "")
        if len(labels) != rank:
            raise ShapeError(
                f"einsum {subscripts!r}: operand {i} has {rank} axes, and {len(labels)} labels"
            )
        inputs[i] = labels
    if arrow:
        return inputs, output.replace("...", dots)
    once = sorted(
        c for c in set("".join(inputs)) if "".join(inputs).count(c) == 1 and c not in dots
    )
    return inputs, dots + "".join(once)


def _diagonals(labels: str, x: Any) -> tuple[str, Any]:
    """Return labels without repetition, and the diagonal that repeated ones mean."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first, second = [k for k, c in enumerate(labels) if c == label][:2]
            if x.shape[first] != x.shape[second]:
                raise ShapeError(f"einsum: {label!r} names two lengths of shape {x.shape}")
            x = shapes.diagonal(x, axis1=first, axis2=second)
            labels = "".join(c for k, c in enumerate(labels) if k not in (first, second)) + label
    return labels, x


@composite(
    samples=[
        sample((2, 3), (3, 4), axes=1),
        sample((2, 3), (2,), axes=0),
        sample((2, 3, 4), (4, 2, 3), axes=((0, 2), (1, 0))),
    ]
)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    """Return sums of products over `axes`: how many, or those of x1 and those of x2.

    `wg.tensordot([[1, 2], [3, 4]], [5, 6], axes=1)` is `[17, 39]`.
    """
    x1, x2 = _array(x1, "tensordot"), _array(x2, "tensordot")
    if isinstance(axes, int):
        mine, theirs = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        mine = normalised(axes[0], x1.ndim, "tensordot")
        theirs = normalised(axes[1], x2.ndim, "tensordot")
    if [x1.shape[a] for a in mine] != [x2.shape[b] for b in theirs]:
        raise ShapeError(f"tensordot: axes {axes} of shapes {x1.shape} and {x2.shape} do not fit")
    rows = [a for a in range(x1.ndim) if a not in mine]
    columns = [b for b in range(x2.ndim) if b not in theirs]
    inner = math.prod(x1.shape[a] for a in mine)
    shape = [x1.shape[a] for a in rows] + [x2.shape[b] for b in columns]
    count = math.prod(x1.shape[a] for a in rows), math.prod(x2.shape[b] for b in columns)
    left = shapes.reshape(shapes.permute_dims(x1, (*rows, *mine)), (count[0], inner))
    right = shapes.reshape(shapes.permute_dims(x2, (*theirs, *columns)), (inner, count[1]))
    return shapes.reshape(matrix_product(left, right), tuple(shape))


@composite(samples=[sample((2, 3), (2, 3)), sample((2, 3), (3,)), sample((3, 2), (3, 2), axis=-2)])
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Return sum(conj(x1) * x2) along `axis`. `wg.vecdot([1, 2], [3, 4])` is `11`."""
    x1, x2 = _array(x1, "vecdot"), _array(x2, "vecdot")
    axis = one_axis(axis, min(x1.ndim, x2.ndim), "vecdot") - min(x1.ndim, x2.ndim)
    if x1.shape[axis] != x2.shape[axis]:
        raise ShapeError(f"vecdot: shapes {x1.shape} and {x2.shape} differ along axis {axis}")
    product = elementwise.multiply(conj(Tensor._namespace, x1), x2)
    return reductions.sum(product, axis=axis, dtype=product.dtype)


@composite(samples=[sample((2,), (3,)), sample((2, 2), (3,))])
def outer(x1: Any, x2: Any, /) -> Tensor:
    """Return x1[i] * x2[j] of flattened arrays. `wg.outer([1, 2], [3])` is `[[3], [6]]`."""
    x1 = shapes.reshape(_array(x1, "outer"), (-1, 1))
    return elementwise.multiply(x1, shapes.reshape(_array(x2, "outer"), (1, -1)))


@composite(
    samples=[
        sample((2, 3), (3, 4)),
        sample((3,), (3,)),
        sample((), (2,)),
        sample((2, 3), (2, 3, 2)),
    ]
)
def dot(x1: Any, x2: Any, /) -> Tensor:
    """Return NumPy's dot: sums over the last axis of x1 and the second-last of x2.

    `wg.dot([[1, 2], [3, 4]], [5, 6])` is `[17, 39]`.
    """
    x1, x2 = shapes.tensor(x1, "dot"), shapes.tensor(x2, "dot")
    if not x1.ndim or not x2.ndim:
        return elementwise.multiply(x1, x2)
    return tensordot(x1, x2, axes=((x1.ndim - 1,), (max(x2.ndim - 2, 0),)))


__all__ = ["dot", "einsum", "matmul", "outer", "tensordot", "vecdot"]
