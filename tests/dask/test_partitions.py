"""Gradients over partitions, Jacobians and plans in shares, without a cluster; and bad input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import wengert as wg

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from wengert import dask as cluster  # noqa: E402

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(autouse=True, params=["synchronous", "threads"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[None]:
    with dask.config.set(scheduler=request.param):
        yield


def mean_loss(w: Any, x: Any, y: Any) -> Any:
    return wg.mean((wg.tanh(x @ w) - y) ** 2)


def sum_loss(w: Any, x: Any, y: Any) -> Any:
    return wg.sum((wg.tanh(x @ w) - y) ** 2)


def data(rows: int = 23, columns: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return (
        random.normal(size=columns),
        random.normal(size=(rows, columns)),
        random.normal(size=rows),
    )


def chunked(x: np.ndarray, *rows: int) -> Any:
    return da.from_array(x, chunks=(rows, *x.shape[1:]))


# -- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "reduction"), [(mean_loss, "mean"), (sum_loss, "sum")])
@pytest.mark.parametrize("rows", [(23,), (1, 22), (10, 3, 10), (1,) * 23])
def test_uneven_partitions_have_the_gradient_of_the_whole(loss, reduction, rows):
    w, x, y = data()
    value, gradient = wg.value_and_grad(loss)(w, x, y)
    step = cluster.value_and_grad(loss, reduction=reduction)
    found, found_gradient = step(w, chunked(x, *rows), chunked(y, *rows))
    assert type(found) is np.float64 and type(found_gradient) is np.ndarray
    np.testing.assert_allclose(found, value, **TIGHT)
    np.testing.assert_allclose(found_gradient, gradient, **TIGHT)


def test_the_gradient_agrees_with_differences():
    w, x, y = data()
    step = cluster.value_and_grad(mean_loss)
    parts = chunked(x, 20, 3), chunked(y, 20, 3)
    gradient = step(w, *parts)[1]
    for k in range(len(w)):
        h = np.zeros(len(w))
        h[k] = 1e-6
        slope = (step(w + h, *parts)[0] - step(w - h, *parts)[0]) / 2e-6
        np.testing.assert_allclose(gradient[k], slope, rtol=1e-6)


def test_delayed_partitions_keywords_and_nests_of_data():
    w, x, y = data()

    def loss(w: Any, batch: Any, *, power: Any, weights: Any) -> Any:
        return wg.mean(weights * (wg.tanh(batch["x"] @ w) - batch["y"]) ** power)

    cuts = [slice(0, 4), slice(4, 20), slice(20, 23)]
    batches: Any = [dask.delayed({"x": x[c], "y": y[c]}) for c in cuts]
    weights = np.linspace(1.0, 2.0, 23)
    lazy = chunked(weights, 4, 16, 3)
    found = cluster.value_and_grad(loss)(w, batches, power=4, weights=lazy)
    expected = wg.value_and_grad(loss)(w, {"x": x, "y": y}, power=4, weights=weights)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, **TIGHT)
    whole = chunked(x, 4, 16, 3).to_delayed(), chunked(y, 4, 16, 3).to_delayed()
    _, gradient = cluster.value_and_grad(mean_loss)(w, *whole)
    np.testing.assert_allclose(gradient, wg.grad(mean_loss)(w, x, y), **TIGHT)


class Layer(NamedTuple):
    weight: Any
    bias: Any


def test_nests_of_parameters_and_several_arguments():
    _, x, y = data()
    network = [Layer(np.ones((3, 2)) * 0.3, np.zeros(2)), {"out": np.array([0.5, -0.5])}]

    def loss(network: Any, x: Any, y: Any, scale: Any) -> Any:
        hidden = wg.tanh(x @ network[0].weight + network[0].bias)
        return wg.mean((scale * (hidden @ network[1]["out"]) - y) ** 2)

    parts = chunked(x, 9, 14), chunked(y, 9, 14)
    found = cluster.value_and_grad(loss, argnums=(0, 3))(network, *parts, 1.5)
    expected = wg.value_and_grad(loss, argnums=(0, 3))(network, x, y, 1.5)
    assert type(found[1]) is tuple and type(found[1][0][0]) is Layer
    np.testing.assert_allclose(found[0], expected[0], **TIGHT)
    for name in ("weight", "bias"):
        mine, theirs = (getattr(e[1][0][0], name) for e in (found, expected))
        np.testing.assert_allclose(mine, theirs, **TIGHT)
    np.testing.assert_allclose(found[1][0][1]["out"], expected[1][0][1]["out"], **TIGHT)
    np.testing.assert_allclose(found[1][1], expected[1][1], **TIGHT)


def test_aux_comes_as_a_list_in_the_order_of_partitions():
    w, x, _ = data()
    step = cluster.value_and_grad(lambda w, x: (wg.mean(x @ w), len(x)), has_aux=True)
    (value, aux), _ = step(w, chunked(x, *(2,) * 11, 1))
    assert aux == [2] * 11 + [1]
    np.testing.assert_allclose(value, np.mean(x @ w))


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128"])
def test_the_dtype_of_parameters_stays_and_nothing_overflows(dtype):
    w = np.ones(2, dtype)
    x = da.ones((200_000, 2), chunks=((150_000, 50_000), 2), dtype=dtype)
    step = cluster.value_and_grad(lambda w, x: wg.sum(wg.real(w) ** 2) * wg.mean(wg.real(x[:, 0])))
    value, gradient = step(w, x)
    assert gradient.dtype == w.dtype
    np.testing.assert_allclose(gradient, [2, 2], rtol=1e-2)
    assert np.isfinite(value)


def test_tensors_and_variables_get_tensors():
    w, x, y = data()
    expected = wg.grad(mean_loss)(w, x, y)
    for given in (wg.asarray(w), wg.Variable(w)):
        _, gradient = cluster.value_and_grad(mean_loss)(given, chunked(x, 20, 3), chunked(y, 20, 3))
        assert type(gradient) is wg.Tensor
        np.testing.assert_allclose(gradient.numpy(), expected, **TIGHT)


def test_unknown_numbers_of_rows_are_counted_where_they_are():
    w, x, y = data()
    lazy, labels = chunked(x, 9, 9, 5), chunked(y, 9, 9, 5)
    chosen = labels > 0
    assert np.isnan(lazy[chosen].chunks[0][0])
    found = cluster.value_and_grad(mean_loss)(w, lazy[chosen], labels[chosen])
    expected = wg.value_and_grad(mean_loss)(w, x[y > 0], y[y > 0])
    np.testing.assert_allclose(found[1], expected[1], **TIGHT)
    with pytest.raises(wg.ShapeError, match="rows in partition [02]; expected the same"):
        cluster.value_and_grad(mean_loss)(w, lazy[chosen], labels[labels > 0.5])


def test_an_outer_tape_is_told_that_it_does_not_follow():
    w, x, y = data()
    parts = chunked(x, 20, 3), chunked(y, 20, 3)
    with pytest.raises(wg.CutPathError):
        wg.grad(lambda w: cluster.value_and_grad(mean_loss)(w, *parts)[0])(w)


def test_many_partitions_are_added_in_a_tree():
    """No task has more than a few gradients, so none waits for all of them."""
    w, x, y = data(100)
    held: list[int] = []
    original = cluster._sum

    def watched(number: int, what: str, reduction: str, totals: list[Any]) -> Any:
        held.append(len(totals))
        return original(number, what, reduction, totals)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_sum", watched)
        found = cluster.value_and_grad(mean_loss)(
            w, chunked(x, *(1,) * 100), chunked(y, *[1] * 100)
        )
    np.testing.assert_allclose(found[1], wg.grad(mean_loss)(w, x, y), **TIGHT)
    assert max(held) == cluster.FAN_IN and len(held) == 13 + 2 + 1


# -- Jacobians and plans --------------------------------------------------------------------------


def several(p: Any, t: Any) -> Any:
    return {"a": wg.outer(p["x"], t) ** 2, "b": [wg.sum(wg.sin(p["y"])), p["x"] * p["y"][0]]}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("tasks", [None, 1, 3, 50])
def test_jacobians_of_nests_are_those_of_one_machine(mode, tasks):
    p, t = {"x": np.array([1.0, 2.0]), "y": np.array([[0.5, 1.5], [2.5, 3.5]])}, np.arange(3.0)
    p["y"] = p["y"].ravel()
    expected = wg.jacobian(several, argnums=(0, 1), mode=mode)(p, t)
    found = cluster.jacobian(several, argnums=(0, 1), mode=mode, tasks=tasks)(p, t)
    assert found.keys() == expected.keys()
    for mine, theirs in [(found["a"], expected["a"]), *zip(found["b"], expected["b"], strict=True)]:
        assert type(mine) is tuple
        for key in ("x", "y"):
            assert mine[0][key].shape == theirs[0][key].shape
            np.testing.assert_allclose(mine[0][key], theirs[0][key], **TIGHT)
        np.testing.assert_allclose(mine[1], theirs[1], **TIGHT)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_parts_of_jacobians_and_numbers(mode):
    def fun(x: Any, *, by: Any) -> Any:
        return wg.cumulative_sum(x**2) * by

    x = np.arange(1.0, 8.0)
    options: dict[str, Any] = {"mode": mode, "of": np.s_[2:], "wrt": np.s_[::3]}
    found = cluster.jacobian(fun, **options, tasks=4)(x, by=3.0)
    np.testing.assert_allclose(found, wg.jacobian(fun, **options)(x, by=3.0), **TIGHT)
    assert cluster.jacobian(lambda x: x**2, mode=mode)(3.0) == wg.jacobian(lambda x: x**2)(3.0)


@pytest.mark.parametrize("kind", ["forward", "reverse", "both", "star", "acyclic", "auto"])
@pytest.mark.parametrize("tasks", [None, 1, 2, 9])
def test_plans_of_every_mode_give_the_same_matrices(kind, tasks):
    x = np.linspace(0.1, 1.5, 17)

    def fun(x: Any) -> Any:
        inner = wg.sin(x[2:] * x[1:-1]) * x[:-2] + x[0]
        return wg.sum(inner**2) if kind in ("star", "acyclic") else inner

    make = wg.sparse.hessian if kind in ("star", "acyclic") else wg.sparse.jacobian
    plan = make(fun, x, mode=kind, check=True)
    found, expected = cluster.distribute(plan, tasks=tasks)(x**2), plan(x**2)
    assert (found.indptr == expected.indptr).all() and (found.indices == expected.indices).all()
    np.testing.assert_allclose(found.data, expected.data, **TIGHT)


def test_a_plan_that_does_not_hold_is_refused():
    plan = wg.sparse.jacobian(lambda x: x * x if x[0] > 0 else x, np.ones(3))
    with pytest.raises(wg.sparse.PatternError, match="did not do the same operations"):
        cluster.distribute(plan)(-np.ones(3))
    constant = wg.sparse.jacobian(lambda x: wg.where(x > 0, 1.0, 2.0), np.ones(3))
    assert cluster.distribute(constant)(np.ones(3)).nnz == 0


# -- bars -----------------------------------------------------------------------------------------


def test_bars_count_tasks_to_the_end(capsys):
    w, x, y = data()
    cluster.value_and_grad(mean_loss, progress=True)(w, chunked(x, 20, 3), chunked(y, 20, 3))
    shown = capsys.readouterr().err
    assert "dask.value_and_grad(mean_loss): 100%" in shown and "2/2" in shown
    cluster.jacobian(lambda x: x**2, tasks=3, progress=True)(x[0])
    assert "3/3" in capsys.readouterr().err
    cluster.value_and_grad(mean_loss)(w, chunked(x, 20, 3), chunked(y, 20, 3))
    assert capsys.readouterr().err == ""


# -- bad input ------------------------------------------------------------------------------------

W, X, Y = data(6)
LAZY, LABELS = chunked(X, 3, 3), chunked(Y, 3, 3)


def raised_in_the_data(number: int) -> Any:
    raise OSError(f"file {number} is not there")


BAD = [
    ("no data", (W, X, Y), TypeError, "no argument is a Dask array.*write wg.value_and_grad"),
    ("parameters are data", (chunked(W, 3), LAZY, LABELS), TypeError, "argnums=0 names argument 0"),
    ("numbers", (W, LAZY, chunked(Y, 6)), wg.ShapeError, "argument 1 has 2 part.* 2 has 1"),
    ("rows", (W, LAZY, chunked(Y, 2, 4)), wg.ShapeError, "partition 0 has 3 rows in arg.*and 2 in"),
    ("total", (W, LAZY, chunked(Y[:5], 3, 2)), wg.ShapeError, "partition 1 has 3 rows .* and 2 in"),
    ("columns", (W, da.ones((6, 3), chunks=3), LABELS), None, None),
    ("chunks", (W, da.ones((6, 3), chunks=(3, 2)), LABELS), wg.ShapeError, "argument 1.*rechunk"),
    ("one number", (W, da.sum(LAZY), LABELS), wg.ShapeError, r"argument 1.*chunks \(\)"),
    ("single", (W, dask.delayed(X), LABELS), TypeError, r"argument 1 is Delayed.*\[part\]"),
    ("mixed", (W, [dask.delayed(X), X], LABELS), TypeError, "at 1, ndarray"),
    ("text", (W, [dask.delayed("a"), dask.delayed("b")]), TypeError, "partition [01] of .*has str"),
    (
        "no rows",
        (W, chunked(X, 3, 3, 0), chunked(Y, 3, 3, 0)),
        wg.ShapeError,
        "partition 2 of argument 1 has no rows",
    ),
    (
        "another dtype than Dask says",
        (W, LAZY.map_blocks(lambda b: b.astype("f4"), dtype="f8"), LABELS),
        wg.DtypeError,
        "partition [01] of argument 1 has dtype float32.*is said to have float64",
    ),
    (
        "another dtype than before",
        (W, [dask.delayed(X[:3]), dask.delayed(X[3:].astype("f4"))], LABELS),
        wg.DtypeError,
        "partition 1 has float32 rows.*partition 0 has float64 rows",
    ),
    (
        "a loader that fails",
        (W, [dask.delayed(raised_in_the_data)(4)], [dask.delayed(Y)]),
        OSError,
        "file 4 is not there",
    ),
]


@pytest.mark.parametrize(("args", "kind", "match"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_data_are_named(args, kind, match):
    step = cluster.value_and_grad(mean_loss)
    if kind is None:
        assert np.isfinite(step(*args)[0])
        return
    with pytest.raises(kind, match=match):
        step(*args)


@pytest.mark.parametrize(
    ("loss", "kind", "match"),
    [
        (lambda w, x: x @ w, wg.ShapeError, r"returned shape \(3,\); expected one number"),
        (lambda w, x: [wg.mean(x @ w)], TypeError, "returned list; expected one number"),
        (lambda w, x: [0.0][len(x)], IndexError, "out of range"),
    ],
)
def test_a_loss_that_is_not_one_number_is_named_with_its_partition(loss, kind, match):
    with pytest.raises(kind, match=match) as caught:
        cluster.value_and_grad(loss)(W, LAZY)
    assert any("raised for partition" in note for note in caught.value.__notes__)


def test_other_mistakes_are_named():
    with pytest.raises(ValueError, match="reduction is 'max'; expected 'mean' or 'sum'"):
        cluster.value_and_grad(mean_loss, reduction="max")
    with pytest.raises(TypeError, match=r"client is str; expected a distributed.Client"):
        cluster.value_and_grad(mean_loss, client="tcp://127.0.0.1:1")(W, LAZY, LABELS)
    with pytest.raises(TypeError, match="got function; expected a plan"):
        cluster.distribute(mean_loss)
    with pytest.raises(TypeError, match="unexpected keyword argument 'by'"):
        cluster.distribute(wg.sparse.jacobian(wg.sin, W))(W, by=2)
    with pytest.raises(ValueError, match="tasks is 0"):
        cluster.jacobian(wg.sin, tasks=0)
    with pytest.raises(ValueError, match="mode is 'sideways'"):
        cluster.jacobian(wg.sin, mode="sideways")
    with pytest.raises(TypeError, match=r"argument 0 is a Dask collection.*x.compute\(\)"):
        cluster.jacobian(wg.sin)(LAZY)


def test_a_scheduler_of_ones_own_is_used():
    class Scheduler:
        asked = 0

        def get(self, graph: Any, keys: Any, **options: Any) -> Any:
            self.asked += 1
            return dask.get(graph, keys, **options)

    mine = Scheduler()
    with dask.config.set(scheduler=mine.get):
        value, _ = cluster.value_and_grad(mean_loss)(W, LAZY, LABELS)
    np.testing.assert_allclose(value, mean_loss(W, X, Y).numpy(), **TIGHT)
    assert mine.asked == 1


def test_without_dask_it_says_what_to_install():
    program = "import sys; sys.modules['dask'] = None\nimport wengert as wg\nwg.dask"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'wengert[dask]'" in found.stderr
