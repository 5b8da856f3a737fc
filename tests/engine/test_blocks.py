"""Derivatives of parts: what is asked of an element costs no more, and says the same.

The derivative of y[key] is that of all of y with weights that are zero outside of the key.
The first is computed with Blocks, the second with whole arrays, and they must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wengert as wg
from tests.ops.op_cases import (
    SMOOTH,
    Case,
    as_numpy,
    assert_near,
    ids,
    inexact,
    leaves,
    weights_like,
)

Function = Callable[..., Any]


def gradients(
    function: Function,
    tensors: list[Any],
    keys: list[Any],
    weights: list[Any],
    whole: bool,
    **how: Any,
) -> list[Any]:
    """Return the derivatives of each y[key], weighted; or, `whole`, of y with zeros around."""
    sources = [t for t in tensors if inexact(as_numpy(t))]
    with wg.GradientTape() as tape:
        tape.watch(sources)
        y = function(*tensors)
        targets = [y] if whole else [y[key] for key in keys]
    if whole:
        around = np.zeros(y.shape, y.dtype)
        for key, w in zip(keys, weights, strict=True):
            around[key] += w
        weights = [around]
    return tape.gradient(
        targets, sources, output_gradients=weights, unconnected_gradients="zero", **how
    )


def second_gradients(
    function: Function, tensors: list[Any], keys: list[Any], weights: list[Any], whole: bool
) -> list[Any]:
    """Return the derivatives of one element and of all of those derivatives, in turn."""
    sources = [t for t in tensors if inexact(as_numpy(t))]
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(sources)
        firsts = gradients(function, tensors, keys, weights, whole)
        parts = [g[(-1,) * len(g.shape)] for g in firsts if g.size]
    answers = [outer.gradient(parts, sources, unconnected_gradients="zero")] if parts else []
    for g in firsts:
        w = weights_like(g)[0]
        answers.append(outer.gradient(g, sources, output_gradients=w, unconnected_gradients="zero"))
    return [g for answer in answers for g in answer]


def assert_structured_is_dense(
    function: Function, arrays: list[np.ndarray], keys: list[Any], rtol: float = 1e-12
) -> None:
    tensors = list(map(wg.asarray, arrays))
    y = function(*tensors)
    weights = weights_like([y[key] for key in keys])
    for order, derive in enumerate((gradients, second_gradients), 1):
        pairs = zip(
            derive(function, tensors, keys, weights, whole=False),
            derive(function, tensors, keys, weights, whole=True),
            strict=True,
        )
        for got, expected in pairs:
            assert_near(got, expected, f"order {order} of y at {keys}", rtol=rtol)


def selections(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return parts of an array to ask for, by name."""
    if not shape:
        return {"all": ()}
    found: dict[str, Any] = {
        "slice": (..., slice(1, 2)),
        "backward": slice(None, None, -1),
        "stepped": (..., slice(None, None, 2)),
        "backward and stepped": (slice(None, None, -1),) * (len(shape) - 1) + (slice(None, 0, -2),),
        "nothing": slice(0, 0),
    }
    if all(shape):
        found["first element"] = (0,) * len(shape)
        found["last element"] = (-1,) * len(shape)
    return found


# -- every operation --------------------------------------------------------------------------


@pytest.mark.parametrize("case", SMOOTH, ids=ids(SMOOTH))
def test_a_part_has_the_derivative_of_the_whole(case: Case) -> None:
    for kind in case.kinds[:2]:
        arrays = case.arrays(kind)
        for i, y in enumerate(leaves(case.function(*map(wg.asarray, arrays)))):
            if not inexact(as_numpy(y)):
                continue
            for key in selections(y.shape).values():
                # squared, so that the Block which the rule gets depends on the arguments
                assert_structured_is_dense(
                    lambda *xs, i=i: wg.square(leaves(case.function(*xs))[i]), arrays, [key]
                )


# -- a Block stays a Block --------------------------------------------------------------------

ELEMENTWISE = [
    case
    for case in SMOOTH
    if case.entry.family == "elementwise" and np.broadcast_shapes(*case.sample.shapes) == (2, 3)
]


@pytest.mark.parametrize("case", ELEMENTWISE, ids=ids(ELEMENTWISE))
def test_an_elementwise_operation_reads_one_element_for_one(case: Case) -> None:
    arrays = case.arrays(case.kinds[0])
    tensors = list(map(wg.asarray, arrays))
    weights = [np.ones((), case.function(*tensors).dtype)]
    found = gradients(case.function, tensors, [(1, 2)], weights, whole=False, dense=False)
    ruled = [r for r, x in zip(case.entry.op.rules, arrays, strict=True) if inexact(x)]
    for g, x, rule in zip(found, filter(inexact, arrays), ruled, strict=True):
        if rule is not None and x.shape:
            assert isinstance(g, wg.Block)
            assert g.values.size == 1
        assert g.shape == x.shape


_X = np.sin(np.arange(1.0, 61.0)).reshape(3, 4, 5) + 1.5
_M = np.cos(np.arange(20.0)).reshape(5, 4)

#: (function of one array of shape (3, 4, 5), part of the result, elements of x it depends on)
KEPT: dict[str, tuple[Function, Any, int]] = {
    "exp": (wg.exp, (0, 0, 0), 1),
    "slice of a slice": (lambda x: x[1:, ::2], (0, 1, 2), 1),
    "backward slice": (lambda x: x[::-1, 1::2, ::-2], (0, slice(None), 0), 2),
    "newaxis": (lambda x: x[:, None, 1], (2, 0, 3), 1),
    "permute_dims": (lambda x: wg.permute_dims(x, (2, 0, 1)), (slice(0, 2), 1, 2), 2),
    "reshape": (lambda x: wg.reshape(x, (12, 5)), (7, slice(1, 3)), 2),
    "reshape to flat": (lambda x: wg.reshape(x, (-1,)), slice(6, 9), 3),
    "reshape across axes": (lambda x: wg.reshape(x, (5, 4, 3)), (0, 0), 3),
    "squeeze": (lambda x: wg.squeeze(x[:1]), (1, 2), 1),
    "expand_dims": (lambda x: wg.expand_dims(x, axis=1), (1, 0, 2, 2), 1),
    "broadcast_to": (lambda x: wg.broadcast_to(x[:, :1], (3, 4, 5)), (1, slice(0, 2), 3), 1),
    "flip": (lambda x: wg.flip(x, axis=(0, 2)), (0, 0, slice(1, 3)), 2),
    "tile": (lambda x: wg.tile(x, (2, 1, 1)), (4, 1, 1), 1),
    "repeat": (lambda x: wg.repeat(x, 2, axis=1), (1, slice(2, 4), 3), 1),
    "pad": (lambda x: wg.pad(x, 1), (1, 1, slice(0, 3)), 2),
    "pad by reflection": (lambda x: wg.pad(x, 1, "reflect"), (0, 1, 1), 1),
    "diagonal": (lambda x: wg.diagonal(x), (2, 1), 1),
    "concat": (lambda x: wg.concat([x, x * 2], axis=1), (1, 5, slice(2, 4)), 2),
    "stack": (lambda x: wg.stack([x, x * 2], axis=-1), (1, 2, 3, 0), 1),
    "cumulative_sum": (lambda x: wg.cumulative_sum(x, axis=1), (1, 2, 3), 3),
    "sum": (lambda x: wg.sum(x, axis=2), (1, 2), 5),
    "sum, axes kept": (lambda x: wg.sum(x, axis=(0, 1), keepdims=True), (0, 0, 2), 12),
    "mean": (lambda x: wg.mean(x, axis=0), (slice(1, 3), 2), 6),
    "max": (lambda x: wg.max(x, axis=1), (1, 2), 4),
    "prod": (lambda x: wg.prod(x, axis=1), (1, 2), 4),
    "std": (lambda x: wg.std(x, axis=1), (1, slice(0, 2)), 8),
    "matmul, first": (lambda x: wg.matmul(x, _M), (1, 2, 3), 5),
    "matmul, second": (lambda x: wg.matmul(_M, x), (1, 2, 3), 4),
    "matmul, transposed": (lambda x: wg.matmul(_X, wg.matrix_transpose(x)), (1, 2, 3), 5),
    "matmul, one for all": (lambda x: wg.matmul(_X, wg.matrix_transpose(x[0])), (1, 2, 3), 5),
    "einsum": (lambda x: wg.einsum("abc,cb->ab", x, _M), (1, 2), 5),
    "einsum, outer": (lambda x: wg.einsum("abc,d->dcab", x, _M[0]), (1, 2, 0), 4),
    "tensordot": (lambda x: wg.tensordot(x, _M, axes=1), (1, 2, 3), 5),
    "where": (lambda x: wg.where(x > 1.5, x, -x), (1, 2, 3), 1),
    "clip": (lambda x: wg.clip(x, 1.0, 2.0), (1, 2, 3), 1),
    "astype": (lambda x: wg.astype(x, wg.float32), (1, 2, slice(0, 2)), 2),
    "chain of elementwise": (lambda x: wg.sin(wg.exp(x) * x + _X) / x, (1, 2, 3), 1),
    "chain of moves": (
        lambda x: wg.flip(wg.permute_dims(wg.reshape(wg.exp(x), (12, 5)), (1, 0))),
        (0, slice(1, 4)),
        3,
    ),
    "layer": (lambda x: wg.tanh(wg.matmul(wg.sin(x), _M) + _M[0, :4]), (1, 2, 3), 5),
    "two layers": (lambda x: wg.tanh(wg.matmul(_M, wg.tanh(wg.matmul(x, _M)))), (1, 2, 3), 20),
    "softmax": (lambda x: wg.exp(x) / wg.sum(wg.exp(x), axis=2, keepdims=True), (1, 2, 3), 5),
    "normalised": (
        lambda x: (x - wg.mean(x, axis=-1, keepdims=True)) / wg.std(x, axis=-1, keepdims=True),
        (1, 2),
        5,
    ),
    "neighbours": (lambda x: x[:, 1:] - x[:, :-1], (1, 2, 3), 2),
    "two uses of one element": (lambda x: x * wg.exp(x), (1, 2, 3), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_a_block_stays_a_block(name: str) -> None:
    function, key, size = KEPT[name]
    x = wg.asarray(_X)
    weights = [np.ones(function(x)[key].shape, function(x).dtype)]
    (block,) = gradients(function, [x], [key], weights, whole=False, dense=False)
    assert isinstance(block, wg.Block)
    assert block.shape == _X.shape
    assert block.values.size == size
    (dense,) = gradients(function, [x], [key], weights, whole=True)
    assert_near(block, dense)
    assert_structured_is_dense(function, [_X], [key])


def test_a_block_says_where_it_is() -> None:
    x = wg.asarray(np.arange(12.0).reshape(3, 4))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = (x * x)[1, ::-2]
    block = tape.gradient(y, x, dense=False)
    assert block.region == (range(1, 2), range(3, -1, -2))
    assert block.values.tolist() == [[14.0, 10.0]]
    assert block.nbytes == 16
    assert block.todense().tolist() == [[0, 0, 0, 0], [0, 10, 0, 14], [0, 0, 0, 0]]


# -- sums of parts ----------------------------------------------------------------------------

SUMS: dict[str, Function] = {
    "two elements": lambda z: z[0, 0] + z[2, 1],
    "the same element twice": lambda z: z[1, 2] + 3 * z[1, 2],
    "an element and its square": lambda z: z[1, 2] + z[1, 2] ** 2,
    "elements side by side": lambda z: z[1, 2] * z[1, 3],
    "overlapping slices": lambda z: wg.sum(z[:2, 1:3] * z[1:3, 2:4]),
    "overlapping slices, one backward": lambda z: wg.sum(z[:2] * z[2:0:-1]),
    "stepped slices": lambda z: wg.sum(z[::2, ::2]) + wg.sum(z[::-2, 1::3] ** 2),
    "an empty slice": lambda z: wg.sum(z[2:1]) + z[0, 1],
    "a part and the whole": lambda z: z[0, 0] + wg.sum(z * z) + z[0, 0],
    "the whole, then parts": lambda z: wg.sum(z) * z[1, 1] + z[2, 2] + z[2, 2],
    "many elements": lambda z: sum(z[i % 3, (2 * i) % 4] * (i + 1) for i in range(9)),
    "rows": lambda z: wg.sum(z[0] * z[1] + z[2]),
    "rows in a loop": lambda z: wg.sum(wg.stack([row * row for row in z])),
    "parts joined": lambda z: wg.sum(wg.concat([z[:1], z[1:] * z[1:]], axis=0)),
    "integers and slices": lambda z: wg.sum(z[np.array([0, 0, 2])]) * z[0, 0] + wg.sum(z[0]),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_parts(name: str) -> None:
    wg.check_grads(
        lambda x: SUMS[name](wg.sin(x) * x), [np.arange(12.0).reshape(3, 4) / 5 - 1], order=2
    )


def test_a_number_collects_from_parts_and_wholes() -> None:
    v = wg.asarray([1.0, 2.0, 3.0])

    def function(x: Any) -> Any:
        return (x * v)[0] + x * 2 + x * 3 + (x * v)[1:] @ v[1:] + x[...]

    wg.check_grads(function, [np.asarray(0.5)], order=2)
    assert wg.grad(function)(0.5) == pytest.approx(1 + 2 + 3 + 4 + 9 + 1)


def test_several_parts_as_targets() -> None:
    x = wg.asarray(np.arange(12.0).reshape(3, 4))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        targets = [y[0, 0], y[2, 1:3], y[2, 1:3]]
    expected = np.zeros((3, 4))
    expected[2, 1:3] = 4 * x.numpy()[2, 1:3]
    assert_near(tape.gradient(targets, x), expected)


def test_a_part_that_is_not_reached_is_zero() -> None:
    a, b = wg.asarray([1.0, 2.0]), wg.asarray([3.0])
    with wg.GradientTape() as tape:
        tape.watch([a, b])
        y = wg.concat([a, b])[0]
    got = tape.gradient(y, [a, b])
    assert [g.tolist() for g in got] == [[1.0, 0.0], [0.0]]


# -- random programs --------------------------------------------------------------------------


def _steps(shape: tuple[int, ...]) -> dict[str, Function]:
    """Return what a program may do next with an array of a shape, by name."""
    n = len(shape)
    steps: dict[str, Function] = {
        "sin": wg.sin,
        "square": lambda z: z * z,
        "plus the first": lambda z: z + wg.expand_dims(z[:1] if n else z, axis=0)[0],
        "reversed axes": lambda z: wg.permute_dims(z, range(n)[::-1]),
        "flat": lambda z: wg.reshape(z, (-1,)),
        "new axis": lambda z: z[None],
        "flip": lambda z: wg.flip(z),
        "pad": lambda z: wg.pad(z, 1),
        "total": lambda z: wg.sum(z, keepdims=True),
        "repeated": lambda z: wg.broadcast_to(z, (2, *shape)),
    }
    if n:
        steps |= {
            "sum": lambda z: wg.sum(z, axis=-1),
            "mean of the first axis": lambda z: wg.mean(z, axis=0, keepdims=True),
            "running sum": lambda z: wg.cumulative_sum(z, axis=0),
            "running product": lambda z: wg.cumulative_prod(z, axis=-1),
            "joined": lambda z: wg.concat([z, wg.sin(z)], axis=0),
            "joined backward": lambda z: wg.concat([z[::-1], z], axis=-1),
            "every second": lambda z: z[::2],
            "backward": lambda z: z[..., ::-1],
            "backward and stepped": lambda z: z[::-2],
            "rolled": lambda z: wg.roll(z, 1, axis=0),
            "tiled": lambda z: wg.tile(z, (2,) * n),
            "gathered": lambda z: z[np.array([0, -1, 0])],
            "reflected": lambda z: wg.pad(z, ((0, 0),) * (n - 1) + ((1, 1),), "symmetric"),
            "times a matrix": lambda z: wg.matmul(z, _matrix(shape[-1], 3)),
            "a matrix times": lambda z: wg.einsum("a...,ab->b...", z, _matrix(shape[0], 2)),
            "spread": lambda z: z - wg.mean(z, axis=-1, keepdims=True),
            "largest": lambda z: wg.max(z, axis=0),
            "updated": lambda z: z.at[:1].set(2 * z[-1:]),
            "folded": lambda z: wg.reshape(z, (shape[0], -1)),
            "halves": lambda z: wg.reshape(z, (2, -1)) if z.size % 2 == 0 else z,
        }
    if n > 1:
        steps |= {
            "diagonal": lambda z: wg.diagonal(z),
            "product with itself": lambda z: wg.matmul(z, wg.matrix_transpose(z)),
            "swapped": lambda z: wg.swapaxes(z, 0, 1),
        }
    return steps


def _matrix(rows: int, columns: int) -> np.ndarray:
    return np.cos(np.arange(rows * columns)).reshape(rows, columns)


@given(st.data(), hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
def test_random_programs(data: Any, shape: tuple[int, ...]) -> None:
    array = np.sin(np.arange(1.0, 1 + np.prod(shape))).reshape(shape)
    names: list[str] = []

    def program(x: Any) -> Any:
        z = wg.sin(x)
        for name in names:
            z = _steps(z.shape)[name](z)
        return z

    for _ in range(data.draw(st.integers(1, 6))):
        z = program(wg.asarray(array))
        if z.size > 200 or z.ndim > 4:
            break
        names.append(data.draw(st.sampled_from(sorted(_steps(z.shape)))))
    y = program(wg.asarray(array))
    part = hnp.basic_indices(y.shape, allow_newaxis=False)
    keys = data.draw(st.lists(part, min_size=1, max_size=3))
    assert_structured_is_dense(program, [array], keys, rtol=1e-10)
