"""The benchmarks measure what they say: ratios, verdicts, and that competitors agree."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # benchmarks/ is no part of the installed package

from benchmarks import chains, cluster, elementwise, harness, memory, peers, report  # noqa: E402
from benchmarks.cases import CASES  # noqa: E402
from benchmarks.frameworks import inputs  # noqa: E402
from benchmarks.harness import Case, Effort, Outcome  # noqa: E402

EFFORT = Effort(rounds=3, budget=5.0, sample=0.001)


def constant(value: float) -> Any:
    return lambda **sizes: lambda: np.float32(value)


def fake(**options: Any) -> Case:
    competitors = {"wengert": constant(1), "numpy": constant(1), "nosuchlibrary": constant(1)}
    return Case("fake", "a case for tests", competitors, **{"must": {"numpy": 0.6}, **options})


def row(case: Case, mine: list[float], theirs: list[float]) -> harness.Row:
    return harness.compare(case, {"wengert": mine, "numpy": theirs})[1]


def test_ratios_are_paired_by_round():
    found = row(fake(), [1.0, 4.0, 3.0], [2.0, 8.0, 4.0])
    assert (found.median, found.minimum) == (0.5, 0.5)
    assert found.typical == 4.0
    assert found.limit == 0.6 and found.met


def test_the_median_of_ratios_is_not_the_ratio_of_minima():
    found = row(fake(), [3.0, 3.0, 3.0], [1.0, 4.0, 5.0])
    assert (found.median, found.minimum) == (0.75, 3.0)
    assert found.met is False


def test_a_verdict_can_be_on_the_minima():
    mine, theirs = [1.0, 9.0, 9.0], [2.0, 2.0, 2.0]
    assert row(fake(), mine, theirs).met is False
    assert row(fake(verdict="minimum"), mine, theirs).met is True


def test_differences_are_in_units():
    found = row(fake(difference=True), [1.5, 1.5, 1.75], [1.0, 1.0, 1.0])
    assert (found.median, found.minimum, found.met) == (0.5, 0.5, True)


def test_a_disturbed_competitor_is_called_noisy():
    assert not row(fake(), [1.0, 1.1, 1.2], [2.0, 2.1, 9.0]).noisy
    found = row(fake(), [1.0, 1.1, 1.2], [2.0, 80.0, 90.0])
    assert found.met and found.noisy
    outcome = Outcome(fake(), [found], 3, [])
    assert "too noisy to trust either way: fake against numpy" in report.summary([outcome])


def test_no_must_no_verdict():
    found = row(fake(must={}), [1.0], [2.0])
    assert found.limit is None and found.met is None


def test_every_round_samples_everybody():
    seen: list[str] = []

    def sampler(name: str) -> harness.Sampler:
        return lambda: seen.append(name) or 1.0  # type: ignore[func-returns-value]

    samples = harness.collect({n: sampler(n) for n in "abc"}, EFFORT)
    assert samples == {n: [1.0] * 3 for n in "abc"}
    assert [sorted(seen[i : i + 3]) for i in (0, 3, 6)] == [["a", "b", "c"]] * 3


def test_a_budget_ends_the_rounds():
    samples = harness.collect({"a": lambda: 1.0}, Effort(rounds=100, budget=0.0, sample=0.0))
    assert len(samples["a"]) == harness.MINIMUM_ROUNDS


def test_measuring_leaves_out_absent_peers_and_says_so():
    outcome = harness.measure(fake(must={"numpy": 1e9}), EFFORT)
    assert [r.competitor for r in outcome.rows] == ["wengert", "numpy"]
    assert outcome.absent == ["nosuchlibrary"] and not outcome.missed
    for text in (report.plain(outcome), report.markdown([outcome], EFFORT)):
        assert "not installed, so left out: nosuchlibrary" in text


def test_competitors_that_disagree_are_not_timed():
    case = fake()
    case = Case("fake", "", {**case.competitors, "numpy": constant(1.01)}, {})
    with pytest.raises(AssertionError, match="numpy and wengert compute different numbers"):
        harness.measure(case, EFFORT)


def test_the_cluster_has_the_gradient_of_one_machine(capsys):
    pytest.importorskip("distributed")
    cluster.run(rows=6000, columns=3, workers=2, steps=1)  # too small to judge the time
    shown = capsys.readouterr().out
    errors = re.findall(r"error: (\S+); with a worker killed: (\S+),", shown)[0]
    assert max(map(float, errors)) <= cluster.TOLERANCE


def test_work_divides_the_time():
    def run() -> None:
        np.linalg.inv(np.eye(60))

    case = Case("fake", "", {"wengert": lambda: lambda: run() or 1, "numpy": constant(1)}, {})
    alone = harness.timers(case, ["wengert"], EFFORT)["wengert"]
    case = Case("fake", "", case.competitors, {}, work={"wengert": 1000})
    shared = harness.timers(case, ["wengert"], EFFORT)["wengert"]
    assert min(shared() for _ in range(5)) < min(alone() for _ in range(5)) / 50


def test_a_case_needs_whom_it_names():
    with pytest.raises(ValueError, match="torch"):
        fake(must={"torch": 1.0})


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(0.0123, "s", "12.3 ms"), (2.5, "s", "2.5 s"), (4e-6, "s", "4 µs"), (2.16e8, "B", "216 MB")],
)
def test_quantities_are_readable(value, unit, text):
    assert report.quantity(value, unit) == text


TIMED = [case for case in CASES.values() if case.small]


@pytest.mark.parametrize("case", TIMED, ids=lambda case: case.name)
def test_wengert_agrees_with_numpy_or_jax(case):
    own = [n for n in case.competitors if peers.library_of(n) in ("wengert", "numpy", "jax")]
    assert "wengert" in own  # those of elements have no other: tests/elements/test_selections.py
    results = {n: case.competitors[n](**case.small)() for n in own}
    if case.agree:  # else competitors do other amounts of work, or answer in other forms
        harness.check_agreement(case, results)


@pytest.mark.parametrize(
    ("name", "body"), [("chain-100", chains.chain), ("elementwise-30", elementwise.passes)]
)
def test_the_hand_written_gradient_is_a_derivative(name, body):
    """A mistake that Wengert and the hand-written rule share would pass the test above."""
    case = CASES[name]
    sizes = {k: v for k, v in case.small.items() if k != "size"}
    x = inputs(case.small["size"]).astype(np.float64)
    step = 1e-6
    expected = (body(np, x + step, **sizes) - body(np, x - step, **sizes)) / (2 * step)
    _, gradient = case.competitors["numpy"](**case.small)()
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.skipif(not memory._STATUS.exists(), reason="needs /proc")
def test_peak_memory_is_measured_in_a_process():
    case = CASES["elementwise-30-memory"]
    small = Case("m", "", case.competitors, {}, sizes={"size": 200_000, "blocks": 3})
    peak = memory.in_processes(small, ["numpy"], EFFORT)["numpy"]()
    assert 15 * 800_000 < peak < 60 * 800_000  # 21 arrays are kept


def test_the_command_line_lists_cases():
    command = [sys.executable, "-m", "benchmarks", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(CASES)


def test_the_command_line_checks_and_saves(tmp_path, monkeypatch, capsys):
    from benchmarks import __main__ as cli

    monkeypatch.setattr(peers, "set_environment", lambda threads: None)
    monkeypatch.setattr(harness, "measure", lambda case, effort: outcome)
    page = tmp_path / "page.md"
    outcome = Outcome(fake(), [row(fake(), [1.0], [1.0])], 1, [])
    assert cli.main(["--case", "mlp", "--save", str(page)]) == 0
    assert cli.main(["--case", "mlp", "--check"]) == 1
    assert "| numpy | 1 s | 1.00x | 1.00x | <= 0.60x | MISSED |" in page.read_text("utf-8")
    outcome = Outcome(fake(), [row(fake(), [1.0], [2.0])], 1, [])
    assert cli.main(["--case", "mlp", "--check"]) == 0
    with pytest.raises(SystemExit):
        cli.main(["--case", "nosuchcase"])
    assert "no case nosuchcase; there are chain-1" in capsys.readouterr().err
