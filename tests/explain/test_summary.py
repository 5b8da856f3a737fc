"""What a tape says that it holds, against what is known of the program."""

import gc
import threading

import numpy as np
import pytest

import wengert as wg
from wengert.backends.memory import owner_of
from wengert.explain.summary import Summary

N = 1000


def of(summary, name):
    return next(operation for operation in summary.operations if operation.name == name)


def recorded(fun, *args, **options):
    with wg.GradientTape(**options) as tape:
        tape.watch(args)
        y = fun(*args)
    return tape, y


def test_an_operation_keeps_what_its_rule_reads():
    tape, y = recorded(lambda x: wg.sum(wg.exp(x) + wg.sin(x) + x), wg.ones(N))
    summary = tape.summary(y)
    assert summary.nodes == 5
    assert {o.name: (o.nodes, int(o.bytes)) for o in summary.operations} == {
        "exp": (1, 8 * N),  # its result
        "sin": (1, 8 * N),  # its argument
        "add": (2, 0),
        "sum": (1, 0),
    }
    assert summary.bytes == 16 * N
    heavy = {node.operation: node for node in summary.heaviest}
    assert heavy["exp"].residuals == ("y",) and heavy["sin"].residuals == ("x",)
    assert heavy["exp"].shape == (N,) and heavy["exp"].dtype == "float64"


def test_memory_that_several_nodes_keep_counts_once():
    tape, y = recorded(lambda x: wg.sum(wg.exp(x) * wg.exp(x)), wg.ones(N))
    assert tape.summary(y).bytes == 16 * N
    tape, y = recorded(lambda x: wg.sum((e := wg.exp(x)) * e * e), wg.ones(N))
    summary = tape.summary(y)
    assert of(summary, "exp").bytes == 8 * N
    assert set(of(summary, "exp").also_held_by) == {"multiply", "square"}
    assert of(summary, "multiply").bytes == 8 * N  # e * e
    assert sum(o.bytes for o in summary.operations) == summary.bytes == 16 * N


def test_a_view_counts_as_what_it_is_a_view_of():
    tape, y = recorded(lambda x: wg.sum(wg.sin(wg.exp(x)[:10])), wg.ones(N))
    summary = tape.summary(y)
    assert summary.bytes == 8 * N and of(summary, "exp").also_held_by == ("sin",)
    assert {n.operation: int(n.bytes) for n in summary.heaviest} == {"exp": 8 * N, "sin": 8 * N}


def test_bytes_are_what_is_freed_when_the_graph_goes():
    """Every residual that the summary counts dies with the graph, and nothing else does."""
    import tracemalloc

    x = wg.asarray(np.random.default_rng(0).normal(size=(50, 2000)))
    tracemalloc.start()
    try:
        with wg.GradientTape() as tape:
            tape.watch(x)
            y = wg.mean(wg.tanh(wg.exp(x)) * wg.cos(x))
        summary = tape.summary(y)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        y._node.parent, y._node.values, y._node.others = None, (), ()  # as a sweep leaves it
        gc.collect()
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    own = summary.bytes - x.size * 8  # cos keeps x, which is the user's as well
    assert own <= freed <= own + 20_000


def test_without_a_target_all_nodes_that_are_alive_count():
    x = wg.ones(N)
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = wg.exp(x), wg.sin(x)
        wg.cos(x)  # dies at once
    assert sorted(o.name for o in tape.summary().operations) == ["exp", "sin"]
    assert [o.name for o in tape.summary(y).operations] == ["exp"]
    assert [o.name for o in tape.summary([y, {"z": z}]).operations] == ["exp", "sin"]
    del y
    gc.collect()
    assert [o.name for o in tape.summary().operations] == ["sin"]


def test_nodes_of_another_tape_do_not_count():
    x = wg.ones(N)
    with wg.GradientTape() as outer:
        outer.watch(x)
        y = wg.exp(x)
        with wg.GradientTape() as inner:
            inner.watch(y)
            z = wg.sin(y)
    assert [o.name for o in inner.summary(z).operations] == ["sin"]
    assert sorted(o.name for o in outer.summary(z).operations) == ["exp", "sin"]
    assert [w.name for w in inner.summary(z).watched] == ["exp"]


def test_a_spent_tape_says_that_its_nodes_were_freed():
    tape, y = recorded(lambda x: wg.sum(wg.exp(x)), wg.ones(N))
    tape.gradient(y, y)
    tape, y = recorded(lambda x: wg.sum(wg.exp(x)), x := wg.ones(N))
    tape.gradient(y, x)
    summary = tape.summary(y)
    assert (summary.nodes, summary.bytes, summary.freed) == (0, 0, 1)
    assert "1 freed by a sweep" in repr(summary)


def test_watched_tensors_and_variables_are_listed():
    w = wg.Variable(np.ones((2, 3)), name="weights")
    x = wg.ones(3, dtype=wg.float32)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.sum(w * x)
    found = {(o.name, o.shape, o.dtype) for o in tape.summary(y).watched}
    assert found == {("weights", (2, 3), "float64"), ("leaf", (3,), "float32")}


def test_an_operation_with_several_results_is_one_node():
    tape, y = recorded(lambda a: wg.sum(wg.linalg.eigh(a)[0]), wg.eye(4) * 2)
    summary = tape.summary(y)
    assert summary.nodes == 2 and of(summary, "linalg.eigh").nodes == 1


def test_a_checkpoint_keeps_its_arguments_and_no_more():
    def layers(x):
        for _ in range(5):
            x = wg.sin(wg.exp(x))
        return x

    tape, y = recorded(lambda x: wg.sum(wg.checkpoint(layers)(wg.exp(x))), wg.zeros(N))
    summary = tape.summary(y)
    assert of(summary, "exp").bytes == 8 * N and of(summary, "exp").also_held_by == ("checkpoint",)
    assert summary.bytes < 10 * 8 * N


def test_it_prints_in_a_hundred_columns():
    name = "a_function_with_a_name_" * 8
    op = wg.extend.elementwise(f"{name}", lambda xp, g, x: g * x, compute=lambda xp, x: x * x / 2)
    try:
        tape, y = recorded(lambda x: wg.sum(op(wg.exp(x)) * wg.sin(x)), wg.ones((30, 40)))
        text = repr(tape.summary(y))
    finally:
        del wg.extend.REGISTRY[name]
    assert max(map(len, text.split("\n"))) <= 100
    assert "5 nodes, which keep" in text and "heaviest nodes" in text
    assert tape.summary(y)._repr_html_().count("<table>") == 3


def test_lines_are_shown_where_nodes_know_them():
    torch = wg.torch
    x = torch.ones(N, requires_grad=True)
    torch.exp(x).sum()
    y = torch.exp(x).sum()  # the line
    summary = Summary([y._node, y._node.parent], next(iter(y._node.tokens)))
    assert summary.heaviest[0].line.endswith(f"test_summary.py:{_line_of('# the line')}")
    assert "test_summary.py" in repr(summary)


def _line_of(mark):
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if mark in line)


def test_ten_nodes_are_the_heaviest():
    def many(x):
        total = wg.zeros(())
        for i in range(1, 16):
            total = total + wg.sum(wg.exp(x[:i] + 0.0))
        return total

    tape, y = recorded(many, wg.ones(20))
    assert [int(n.bytes) for n in tape.summary(y).heaviest] == [8 * i for i in range(15, 5, -1)]


@pytest.mark.parametrize("library", ["torch", "jax", "array_api_strict"])
def test_arrays_of_other_libraries_count(library):
    module = pytest.importorskip("jax.numpy" if library == "jax" else library)
    raw = module.ones((10, 10), dtype=module.float32)
    tape, y = recorded(lambda x: wg.sum(wg.exp(x)), wg.asarray(raw))
    assert tape.summary(y).bytes == 400


def test_views_of_pytorch_are_of_one_storage():
    torch = pytest.importorskip("torch")
    x = torch.ones(10, 10)
    assert owner_of(x[0]) == owner_of(x.T) == owner_of(x)
    assert owner_of(x)[1] == 400


# -- repr ---------------------------------------------------------------------------------------


def test_the_repr_of_a_tape_says_what_it_holds():
    v = wg.Variable(1.0)
    tape = wg.GradientTape()
    assert repr(tape) == "<GradientTape: closed, 0 variables and 0 tensors watched>"
    with tape:
        x = wg.ones(3)
        tape.watch([x, wg.ones(2)])
        y = wg.sum(v * x)
        assert repr(tape) == "<GradientTape: open, 1 variable and 2 tensors watched>"
    tape.gradient(y, v)
    line = _line_of("tape.gradient(y, v)")
    assert repr(tape).endswith(f"1 variable and 2 tensors watched, used up at {__file__}:{line}>")
    assert repr(wg.GradientTape(persistent=True)).startswith("<GradientTape: persistent, closed, ")


def test_a_tape_that_another_thread_has_open_can_be_shown():
    shown = []
    with wg.GradientTape() as tape:
        thread = threading.Thread(target=lambda: shown.append(repr(tape)))
        thread.start()
        thread.join()
    assert shown[0].startswith("<GradientTape: open")
