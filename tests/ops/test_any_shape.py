"""Any shapes that fit: broadcasting, reductions, reshape, keys, products."""

from __future__ import annotations

from functools import partial
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wengert as wg
from tests.ops.op_cases import (
    apart,
    assert_near,
    vjp,
)

# -- any shape --------------------------------------------------------------------------------

SIDES = {"min_dims": 0, "max_dims": 4, "min_side": 0, "max_side": 4}


def _summed_to(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the sum over the places where an array of `shape` was repeated."""
    places = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), array.shape)
    sums = np.bincount(places.ravel(), array.ravel(), int(np.prod(shape)))
    return sums.astype(array.dtype).reshape(shape)


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, min_side=0, max_side=4))
def test_broadcasting(shapes: Any) -> None:
    a, b, c = (apart(s, 100 * k) for k, s in enumerate(shapes.input_shapes))
    x, y, mask = wg.asarray(a), wg.asarray(b), c > 1.0
    both = np.broadcast_shapes(a.shape, b.shape)
    w = apart(both, 1000)
    results, (g, h) = vjp(wg.add, [x, y], [w])
    assert_near(results[0], a + b)
    assert_near(g, _summed_to(w, a.shape))
    assert_near(h, _summed_to(w, b.shape))
    results, (g, h) = vjp(wg.multiply, [x, y], [w])
    assert_near(results[0], a * b)
    assert_near(g, _summed_to(w * b, a.shape))
    assert_near(h, _summed_to(w * a, b.shape))
    w = apart(shapes.result_shape, 1000)
    results, (g, h) = vjp(lambda x, y: wg.where(wg.asarray(mask), x, y), [x, y], [w])
    assert_near(results[0], np.where(mask, a, b))
    assert_near(g, _summed_to(np.where(mask, w, 0), a.shape))
    assert_near(h, _summed_to(np.where(mask, 0, w), b.shape))


@given(st.data(), hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=3), st.booleans())
def test_reductions_over_any_axes(data: Any, shape: tuple[int, ...], keepdims: bool) -> None:
    axis = data.draw(
        st.none()
        | (st.integers(-len(shape), len(shape) - 1) if shape else st.none())
        | hnp.valid_tuple_axes(len(shape))
    )
    a = 4 * apart(shape)
    for name in ("sum", "mean", "max", "min", "prod", "var", "std"):
        function = partial(getattr(wg, name), axis=axis, keepdims=keepdims)
        expected = getattr(np, name)(a, axis=axis, keepdims=keepdims)
        assert_near(function(wg.asarray(a)), np.asarray(expected), name)
        if name not in ("std",) or np.all(expected > 1e-3):
            wg.check_grads(function, [a], order=1, projections=1)


@given(st.data(), hnp.array_shapes(**SIDES))
def test_reshape_to_any_shape(data: Any, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    lengths = [n for n in range(1, 9) if size % n == 0] if size else [0, 1, 2]
    target: list[int] = []
    for _ in range(data.draw(st.integers(0, 3))):
        left = size // int(np.prod(target)) if size else 0
        target.append(data.draw(st.sampled_from([n for n in lengths if not size or left % n == 0])))
    if int(np.prod(target)) != size:
        target.append(-1 if size else 0)
    a = apart(shape)
    w = apart(a.reshape(target).shape, 1000)
    (y,), (g,) = vjp(lambda x: wg.reshape(x, tuple(target)), [wg.asarray(a)], [w])
    assert_near(y, a.reshape(target))
    assert_near(g, w.reshape(shape))


@pytest.mark.parametrize(
    ("shape", "new"), [((1,), (-1, -1)), ((6,), (-2, -3)), ((0,), (-1, 0)), ((6,), (-1, 4))]
)
def test_reshape_refuses_lengths_that_say_nothing(
    shape: tuple[int, ...], new: tuple[int, ...]
) -> None:
    with pytest.raises(wg.ShapeError, match="reshape"):
        wg.reshape(wg.zeros(shape), new)


@given(st.data(), hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
def test_any_key(data: Any, shape: tuple[int, ...]) -> None:
    keys = hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
    masks = hnp.arrays(bool, st.sampled_from([shape[:k] for k in range(1, len(shape) + 1)]))
    arrays = hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3))
    key = data.draw(keys | masks | arrays)
    a = apart(shape)
    w = apart(a[key].shape, 1000)
    (y,), (g,) = vjp(lambda x: x[key], [wg.asarray(a)], [w])
    expected = np.zeros(shape)
    np.add.at(expected, key, w)
    assert_near(y, a[key])
    assert_near(g, expected)


@given(hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_dims=2, max_side=3))
def test_matmul_of_any_shapes(shapes: Any) -> None:
    arrays = [apart(s, 100 * i) for i, s in enumerate(shapes.input_shapes)]
    assert_near(wg.matmul(*map(wg.asarray, arrays)), np.asarray(np.matmul(*arrays)))
    wg.check_grads(wg.matmul, arrays, order=2, projections=1)


@given(st.data())
def test_any_einsum(data: Any) -> None:
    lengths = dict(zip("abcd", (2, 3, 1, 2), strict=True))
    label = st.text("abcd", max_size=3)
    inputs = data.draw(st.lists(label, min_size=1, max_size=3))
    used = sorted(set("".join(inputs)))
    output = "".join(data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))])
    subscripts = ",".join(inputs) + data.draw(st.sampled_from(["", f"->{output}"]))
    arrays = [apart(tuple(lengths[c] for c in s), 100 * i) for i, s in enumerate(inputs)]
    function = partial(wg.einsum, subscripts)
    assert_near(function(*map(wg.asarray, arrays)), np.asarray(np.einsum(subscripts, *arrays)))
    wg.check_grads(function, arrays, order=2, projections=1)
