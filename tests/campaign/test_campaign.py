"""The campaign itself: a slice of it runs in every test run, and it finds what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.campaign.__main__ import campaign, main
from tests.campaign.checks import check, script
from tests.campaign.drawing import draw, drawable, grouped_names
from tests.campaign.keys import valid_key
from tests.campaign.programs import (
    NUMPY,
    WIDE_NUMPY,
    Input,
    Program,
    Step,
    wide,
)
from tests.campaign.references import Answers, Discarded, at_a_kink, romberg
from tests.campaign.shrink import shrink
from tests.campaign.source import program_text
from wengert.extend import REGISTRY, elementwise, sample

DIFFERENCES = Answers(("differences",))


@pytest.mark.parametrize("part", range(6))
def test_a_slice(part: int) -> None:
    """A few programs of a fixed seed, compared with differences: no other library is needed."""
    report = campaign(
        20, programs=36, worker=part, workers=6, references=("differences",), shrink_seconds=5
    )
    assert not report.failures, report.markdown()
    assert not report.broken
    assert report.comparisons > 100


def test_a_program_in_jax() -> None:
    nodes = (
        Input(np.array([[0.3 + 0.5j, -1.2, 0.7], [1.1, -0.4, 0.9 - 0.2j]]), "backward"),
        Step("op", "sin", (0,)),
        Step("get", "", (1,), {"key": np.s_[::-1, [0, 2, 0]]}),
        Step("at", "add", (1, 2), {"key": np.s_[:, ::-1]}),
        Step("move", "swapaxes", (3,), {"more": (0, 1), "via": "np"}),
        Step("op", "matmul", (2, 4)),
        Step("squash", "", (5,), {"low": 0.3, "high": 2.0, "by": 0.5}),
        Step("numpy", "log", (6,)),
    )
    counts: Counter[str] = Counter()
    assert not check(Program(nodes, (2, 7)), Answers(("jax",)), 0, counts)
    assert counts["reference: JAX"] == 1
    assert sum(counts.values()) > 100


def test_every_operation_can_be_drawn() -> None:
    """Each operation that takes more than integers is in some program."""
    names = grouped_names()
    for name in drawable():
        if REGISTRY[name].kinds != "i":
            assert name in [s.name for s in draw(np.random.default_rng(5), names, name).steps]


def test_a_seed_is_a_program() -> None:
    names = grouped_names()
    one, two = (draw(np.random.default_rng((3, 4)), names) for _ in range(2))
    assert one.operations == two.operations
    for a, b in zip(one.arrays(), two.arrays(), strict=True):
        assert np.array_equal(a, b)


def test_keys_of_every_form_are_drawn() -> None:
    rng = np.random.default_rng(0)
    keys = [valid_key(rng, (3, 1, 4)) for _ in range(400)]
    parts = [p for key in keys for p in (key if isinstance(key, tuple) else (key,))]
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    assert {type(p) for p in parts} >= {int, slice, np.ndarray, list, type(None), type(...)}
    assert any(isinstance(p, slice) and (p.step or 1) < 0 for p in parts)
    assert {p.dtype.kind for p in arrays} == {"i", "b"}
    assert {p.ndim for p in arrays} >= {0, 1, 2, 3}
    assert any(p.size and np.unique(p).size < p.size for p in arrays if p.dtype.kind == "i")


def test_a_kink_is_seen() -> None:
    assert romberg(lambda h: np.abs(np.array([h])))[2] == pytest.approx(2.0)
    assert romberg(lambda h: np.abs(np.array([h - 1e-3])))[2] > 0.1
    assert romberg(lambda h: np.exp(np.array([h])))[2] < 1e-6
    program = Program((Input(np.zeros(2)), Step("operator", "abs", (0,))), (1,))
    with pytest.raises(Discarded, match="kink"):
        check(program, DIFFERENCES, 0)
    for zeros in (np.zeros(4), np.ones(4)):
        smooth = Program((Input(zeros), Step("op", "maximum", (0, 0))), (1,))
        assert at_a_kink(smooth, [zeros, zeros])
    assert not at_a_kink(Program((Input(zeros), Step("op", "sin", (0,))), (1,)), [zeros, zeros])


# -- it finds what is wrong -------------------------------------------------------------------


@pytest.fixture
def wrong(request: Any) -> Iterator[str]:
    """Declare an operation with a wrong derivative, for a while."""
    name, rule = request.param
    elementwise(
        name,
        rule,
        compute=lambda xp, x: xp.sin(x) + x * x,
        reference=lambda x: np.sin(x) + x * x,
        kinds="f",
        samples=[sample((3,))],
    )
    yield name
    del REGISTRY[name]


WRONG = {
    "factor": lambda xp, g, x: g * (xp.cos(x) + 2.001 * x),
    "sign": lambda xp, g, x: g * (xp.cos(x) - 2 * x),
    "order": lambda xp, g, x: (
        g * (xp.cos(x) + 2 * wg.stop_gradient(x))
        if isinstance(x, wg.Tensor)
        else g * (xp.cos(x) + 2 * x)
    ),
}
#: Where it shows, if not in a gradient.
KINDS = {"wrong_by_order": "reverse over reverse"}


@pytest.mark.parametrize(
    "wrong", [(f"wrong_by_{k}", rule) for k, rule in WRONG.items()], ids=list(WRONG), indirect=True
)
def test_a_wrong_rule_is_found_and_shrunk_to_one_operation(wrong: str) -> None:
    names = grouped_names()
    for seed in range(60):
        program = draw(np.random.default_rng(seed), names, wrong)
        if len(program.operations) < 3:
            continue
        try:
            found = check(program, DIFFERENCES, seed)
        except Discarded:
            continue
        failures = [f for f in found if f.kind == KINDS.get(wrong, "grad")]
        if failures:
            break
    else:
        pytest.fail("it was not found")
    smallest = shrink(failures[0], DIFFERENCES, seconds=60)
    assert smallest.program.operations == [wrong]
    assert len(smallest.program.nodes) == 2
    text = script(smallest)
    assert f'REGISTRY["{wrong}"].function(t0)' in text
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        exec(compile(text, "<pasted>", "exec"), {"__name__": "pasted"})


def test_an_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(wg, "vmap", fails)
    program = Program((Input(np.ones(2)), Step("op", "sin", (0,))), (1,))
    found = check(program, DIFFERENCES, 0)
    assert {f.kind for f in found} == {
        "vmap of grad",
        "grad of vmap",
        "vmap of grad, over one input",
    }
    assert all(isinstance(f.got, ZeroDivisionError) for f in found)


def test_what_is_printed_is_what_was_run() -> None:
    """The text of a program computes what its steps compute."""
    names = grouped_names()
    for seed in range(25):
        program = draw(np.random.default_rng(seed), names)
        pasted: dict[str, Any] = {}
        exec(compile(program_text(program), "<pasted>", "exec"), pasted)
        nodes = pasted["program"](*map(wg.asarray, pasted["a"]))
        with np.errstate(all="ignore"):
            expected = program.run(NUMPY, program.arrays())
            double = program.run(WIDE_NUMPY, [wide(a) for a in program.arrays()])
        for got, value, exact in zip(nodes, expected, double, strict=True):
            assert got.dtype == value.dtype
            np.testing.assert_allclose(got.numpy(), exact, rtol=1e-3, atol=1e-3)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    path = tmp_path / "report.md"
    command = ["--programs", "2", "--seed", "2", "--references", "differences"]
    assert main([*command, "--report", str(path)]) == 0
    assert "seed 2" in capsys.readouterr().out
    report = path.read_text(encoding="utf-8")
    compared = int(re.search(r"Seed 2: (\d+) programs", report)[1])  # type: ignore[index]
    discarded = report.partition("| discarded |")[2].partition("\n\n")[0]
    assert compared + sum(map(int, re.findall(r"\| (\d+) \|$", discarded, re.M))) == 2


def test_it_runs_as_a_module() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.campaign", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--minutes" in run.stdout


def test_a_tie_that_has_a_derivative_along_each_line_is_seen() -> None:
    equal = np.full(5, 0.5)
    step = Step("op", "order_statistics", (0,), {"positions": (2,)})
    middle = Program((Input(equal), step), (1,))
    assert at_a_kink(middle, [equal, equal[2:3]])
    assert not at_a_kink(middle, [np.arange(5.0), np.array([2.0])])
