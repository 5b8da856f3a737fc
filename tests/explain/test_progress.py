"""Bars: shown to who waits before a terminal or a notebook, and to nobody else."""

import io
import re
import sys
import threading
import types

import numpy as np
import pytest

import wengert as wg
from tests.campaign.report import numbered
from wengert.explain import progress as module
from wengert.explain.progress import is_seen, progress
from wengert.transforms.sparse import runs


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch, capsys):
    """A function that returns what a person without patience has seen since it was last called."""
    pytest.importorskip("tqdm")
    monkeypatch.setattr(module, "is_seen", lambda: True)
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    return lambda: capsys.readouterr().err


def test_items_are_given_back_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    items = range(3)
    assert progress(items, "numbers") is items
    monkeypatch.setattr(sys, "stderr", None)  # as pythonw has it
    assert progress(items, "numbers") is items


def test_a_bar_counts_to_the_end(shown):
    assert list(progress(range(4), "numbers")) == [0, 1, 2, 3]
    text = shown()
    assert "numbers:  25%" in text and "1/4" in text
    assert text.endswith("\r")  # it is gone again


def test_a_short_job_has_no_bar(shown, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 60.0)
    assert list(progress(range(4), "numbers")) == [0, 1, 2, 3]
    assert list(progress([7], "numbers")) == [7] and list(progress([], "numbers")) == []
    assert shown() == ""


def test_without_tqdm_there_is_no_bar_and_no_error(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(progress(range(4), "numbers")) == [0, 1, 2, 3]
    assert shown() == ""


def test_a_loop_that_ends_early_takes_its_bar_away(shown):
    for item in progress(range(100), "numbers"):
        if item == 5:
            break
    assert shown().endswith("\r")


def test_a_terminal_is_seen_and_other_threads_are_not(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    found = []
    thread = threading.Thread(target=lambda: found.append(is_seen()))
    thread.start()
    thread.join()
    assert found == [False] and is_seen()


def test_a_notebook_is_seen(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    assert is_seen()


# -- where there are bars -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_in_chunks(shown, mode):
    x = np.linspace(0, 1, 8)
    found = wg.jacobian(lambda x: wg.sin(x), mode=mode, chunk_size=2)(x)
    np.testing.assert_allclose(found, np.diag(np.cos(x)))
    assert re.search(rf"Jacobian, {mode}:.*/4", shown())


@pytest.mark.parametrize(
    ("mode", "bar"), [("reverse", "sparse.jacobian: sweeps:.*/6"), ("forward", "forward:.*/3")]
)
def test_plans(shown, monkeypatch, mode, bar):
    monkeypatch.setattr(runs, "quick_chunk", lambda nodes: 2)  # columns go forward in chunks

    def sums(x):
        return wg.cumulative_sum(x) ** 2

    plan = wg.sparse.jacobian(sums, np.ones(6), mode=mode)
    found = plan(np.arange(6.0)).toarray()
    assert re.search(bar, shown())
    np.testing.assert_allclose(found, wg.jacobian(sums)(np.arange(6.0)))


@pytest.mark.parametrize("snapshots", [None, 2])
def test_loops_with_checkpoints(shown, snapshots):
    def step(x, i):
        return 3.0 * x * (1 - x)

    found = wg.grad(lambda x: wg.checkpoint_loop(step, x, 9, snapshots=snapshots))(0.4)
    text = shown()

    def plain(x):
        for i in range(9):
            x = step(x, i)
        return x

    assert found == pytest.approx(wg.grad(plain)(0.4))
    assert "checkpoint_loop" in text
    assert ("reverse" in text) == (snapshots is not None)


def test_campaigns(shown):
    assert list(numbered(7, None, worker=1, workers=3)) == [1, 4]
    assert shown() == ""
    assert list(numbered(7, None, workers=3)) == [0, 3, 6]
    assert re.search("programs:.*/3", shown())
    assert list(numbered(None, 0.0)) == []
    assert list(numbered(5, 0.0)) == []
