"""What rules need beyond the standard, in functions of the standard: for any library, anywhere.

Most indices are host integers: NumPy says where each element goes, and the library takes it from
there. So nothing but integers moves to a device, and nothing is read from it. Indices that are on a
device stay there: to add values at these takes as much memory as there are pairs of a value and an
element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wengert.backends import host, numpy_kernels
from wengert.errors import BackendError

Positions = NDArray[np.intp]
#: Ways to pad that copy elements.
_COPIES = ("constant", "edge", "reflect", "symmetric", "wrap")


def kernels(base: Any) -> dict[str, Callable[..., Any]]:
    """Return the kernels of `numpy_kernels` for a library of the standard."""

    def keep(x: Any, mask: Any) -> Any:
        return base.where(mask, x, base.zeros_like(x))

    def there(positions: Any, like: Any) -> Any:
        return base.asarray(np.ascontiguousarray(positions), device=like.device)

    def positions_of(shape: Any, key: Any) -> Any:
        """Return the flat positions of what a key selects: on the host if the key is there."""
        parts = key if isinstance(key, tuple) else (key,)
        if all(_is_known(part) for part in parts):
            places = np.arange(math.prod(shape)).reshape(shape)
            return np.asarray(places[tuple(map(_known, parts))])  # of integers it is no array
        like = next(part for part in parts if not _is_known(part))
        while isinstance(parts[-1], slice) and parts[-1] == slice(None):
            parts = parts[:-1]
        if len(parts) > len(shape) or not all(map(_is_integer, parts)):
            raise BackendError(
                f"index: the key {key!r:.80} has arrays on {like.device}, and the standard takes "
                "such a key only if it is integers for the first axes; write wg.take, or move the "
                "key to host memory first"
            )
        total: Any = 0
        for length, part in zip(shape, parts, strict=False):
            here = base.asarray(part, device=like.device, dtype=base.int64)
            total = total * length + base.where(here < 0, here + length, here)
        rest = tuple(shape[len(parts) :])
        inner = base.reshape(base.arange(math.prod(rest), device=like.device), rest)
        return base.reshape(total, total.shape + (1,) * len(rest)) * math.prod(rest) + inner

    def gather_flat(x: Any, shape: Any, positions: Any) -> Any:
        if not math.prod(x.shape):
            return base.zeros(tuple(shape), dtype=x.dtype, device=x.device)
        if isinstance(positions, np.ndarray):
            inside = None if (positions >= 0).all() else there((positions >= 0).reshape(-1), x)
            positions = there(np.maximum(positions, 0).reshape(-1), x)
        else:
            positions = base.reshape(positions, (-1,))
            inside, positions = positions >= 0, base.where(positions < 0, 0, positions)
        found = base.take(base.reshape(x, (-1,)), positions, axis=0)
        found = found if inside is None else keep(found, inside)
        return base.reshape(found, tuple(shape))

    def index(x: Any, key: Any) -> Any:
        positions = positions_of(x.shape, key)
        return gather_flat(x, positions.shape, positions)

    def scatter_flat(values: Any, shape: Any, positions: Any) -> Any:
        size = math.prod(shape)
        if not isinstance(positions, np.ndarray):
            mask = hits(positions, size)
            terms = keep(base.broadcast_to(base.reshape(values, (-1, 1)), mask.shape), mask)
            return base.reshape(base.sum(terms, axis=0, dtype=values.dtype), tuple(shape))
        places = positions.reshape(-1)
        total = base.zeros(tuple(shape), dtype=values.dtype, device=values.device)
        for source in _rounds(places, size):
            total = total + gather_flat(values, shape, source)
        return total

    def scatter(values: Any, shape: Any, key: Any) -> Any:
        positions = positions_of(shape, key)
        return scatter_flat(base.broadcast_to(values, positions.shape), shape, positions)

    def combined(by: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        """Return the kernel that combines values with elements at a key, one after another."""

        def kernel(x: Any, values: Any, key: Any) -> Any:
            positions = positions_of(x.shape, key)
            values = base.asarray(values, dtype=x.dtype, device=x.device)
            values = base.broadcast_to(values, positions.shape)
            if not isinstance(positions, np.ndarray):
                positions = host.to_host(positions, by.__name__)
            for source in _rounds(positions.reshape(-1), math.prod(x.shape)):
                mask = there((source >= 0).reshape(x.shape), x)
                x = base.where(mask, by(x, gather_flat(values, x.shape, source)), x)
            return x

        return kernel

    def put(x: Any, values: Any, key: Any) -> Any:
        positions = positions_of(x.shape, key)
        values = base.asarray(values, dtype=x.dtype, device=x.device)
        values = base.broadcast_to(values, positions.shape)
        if isinstance(positions, np.ndarray):
            source = np.full(math.prod(x.shape), -1)
            source[positions.reshape(-1)] = np.arange(positions.size)
            source = there(source, x)
        else:  # the last value for each element
            mask = hits(positions, math.prod(x.shape))
            number = base.arange(mask.shape[0], device=x.device)[:, None]
            source = base.max(base.where(mask, number, -1), axis=0)
        source = base.reshape(source, x.shape)
        return base.where(source >= 0, gather_flat(values, x.shape, source), x)

    def put_add(x: Any, values: Any, key: Any) -> Any:
        return x + scatter(base.asarray(values, dtype=x.dtype, device=x.device), x.shape, key)

    def hits(positions: Any, size: int) -> Any:
        """Return which value goes to which element, for positions on a device."""
        columns = base.arange(size, device=positions.device)[None, :]
        return base.reshape(positions, (-1, 1)) == columns

    def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
        if mode not in _COPIES:
            through = host.through_host(base, "pad", numpy_kernels.pad, x.device)
            return through(x, pad_width, mode)
        widths = np.broadcast_to(np.asarray(pad_width), (len(x.shape), 2))
        options: Any = {"constant_values": -1} if mode == "constant" else {}
        places = np.arange(math.prod(x.shape)).reshape(x.shape)
        positions = np.pad(places, widths, mode=mode, **options)  # type: ignore[call-overload]
        found = gather_flat(x, positions.shape, positions)
        if mode != "constant" or (type(constant_values) in (int, float) and not constant_values):
            return found
        filled = base.asarray(constant_values, dtype=x.dtype, device=x.device)
        return base.where(there(positions >= 0, x), found, filled)

    def diagonal(x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        places = np.arange(math.prod(x.shape)).reshape(x.shape)
        positions = np.diagonal(places, offset, axis1, axis2)
        return gather_flat(x, positions.shape, positions)

    def einsum(subscripts: str, *operands: Any) -> Any:
        inputs, _, output = subscripts.replace(" ", "").partition("->")
        terms = [_plain(*pair) for pair in zip(inputs.split(","), operands, strict=True)]
        while len(terms) > 1:
            later = set(output).union(*(labels for labels, _ in terms[2:]))
            terms = [product(*terms[0], *terms[1], later), *terms[2:]]
        labels, x = terms[0]
        return arranged(*summed(labels, x, set(output)), output)

    def _plain(labels: str, x: Any) -> tuple[str, Any]:
        """Return an operand without repeated labels: those are diagonals."""
        for label in dict.fromkeys(labels):
            while labels.count(label) > 1:
                first = labels.index(label)
                second = labels.index(label, first + 1)
                x = diagonal(x, axis1=first, axis2=second)
                labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
        return labels, x

    def summed(labels: str, x: Any, wanted: set[str]) -> tuple[str, Any]:
        axes = tuple(i for i, label in enumerate(labels) if label not in wanted)
        x = base.sum(x, axis=axes, dtype=x.dtype) if axes else x
        return "".join(label for label in labels if label in wanted), x

    def arranged(labels: str, x: Any, order: str) -> Any:
        return x if labels == order else base.permute_dims(x, tuple(map(labels.index, order)))

    def product(one: str, x: Any, two: str, y: Any, later: set[str]) -> tuple[str, Any]:
        """Return the product of two operands, summed over what neither output nor others need."""
        one, x = summed(one, x, later | set(two))
        two, y = summed(two, y, later | set(one))
        dtype = base.result_type(x.dtype, y.dtype)
        both = [label for label in one if label in two]
        batch = "".join(label for label in both if label in later)
        inner = "".join(label for label in both if label not in later)
        left = "".join(label for label in one if label not in both)
        right = "".join(label for label in two if label not in both)
        lengths = dict(zip(one, x.shape, strict=True)) | dict(zip(two, y.shape, strict=True))
        sizes = [tuple(lengths[label] for label in part) for part in (batch, left, inner, right)]
        b, m, k, n = map(math.prod, sizes)
        x = base.reshape(base.astype(arranged(one, x, batch + left + inner), dtype), (b, m, k))
        y = base.reshape(base.astype(arranged(two, y, batch + inner + right), dtype), (b, k, n))
        z = base.reshape(base.matmul(x, y), (*sizes[0], *sizes[1], *sizes[3]))
        return batch + left + right, z

    return {
        "copy": lambda x: base.asarray(x, copy=True),
        "cumulative_prod": lambda x, axis: base.cumulative_prod(x, axis=axis, dtype=x.dtype),
        "cumulative_sum": lambda x, axis: base.cumulative_sum(x, axis=axis, dtype=x.dtype),
        "diagonal": diagonal,
        "einsum": einsum,
        "embed": scatter,
        "gather_flat": gather_flat,
        "index": index,
        "keep": keep,
        "pad": pad,
        "put": put,
        "put_add": put_add,
        "put_max": combined(base.maximum),
        "put_min": combined(base.minimum),
        "put_multiply": combined(base.multiply),
        "scatter": scatter,
        "scatter_flat": scatter_flat,
    }


def _is_known(part: Any) -> bool:
    return not hasattr(part, "__array_namespace__") or host.is_on_host(part)


def _known(part: Any) -> Any:
    return host.to_numpy(part) if hasattr(part, "__array_namespace__") else part


def _is_integer(part: Any) -> bool:
    if hasattr(part, "dtype"):
        return "int" in str(part.dtype)
    return isinstance(part, int)


def _rounds(places: Positions, size: int) -> Iterator[Positions]:
    """Return, in rounds in which no position occurs twice, which value goes to each; -1 for none.

    Values for one position come in their order; negative positions are dropped.
    """
    used = np.flatnonzero(places >= 0)
    order = used[np.argsort(places[used], kind="stable")]
    found = places[order]
    first = np.flatnonzero(np.diff(found, prepend=-1))
    ranks = np.arange(len(found)) - np.repeat(first, np.diff(first, append=len(found)))
    for rank in range(int(ranks.max(initial=-1)) + 1):
        here = ranks == rank
        source = np.full(size, -1)
        source[found[here]] = order[here]
        yield source
