"""Every number that the demo prints, and how it is printed."""

import io
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import wengert as wg
from wengert import cli, demo

ROW = 400  # the inner length of the large product in `elements`
ELEMENT = np.array([[0.0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
PRODUCT = np.array([[2.0, 3, 0.5, -2], [0, 0, 0, 0], [0, 0, 0, 0]])
ENERGY = [[-2.0, -2, 6, -2], [0, 2, -10, 8]]

#: Each program's answers, in order, worked out by hand.
EXPECTED = {
    "elements": [
        ("d x[1,2] / dx", ELEMENT),
        ("the same, dense=False", ((range(1, 2), range(2, 3)), [[1.0]])),
        ("z = x @ y: d z[0,0] / dx", PRODUCT),
        ("the same, dense=False", ((range(1), range(4)), [[2.0, 3, 0.5, -2]])),
        ("d sum(x, axis=1)[2] / dx", [[0.0] * 4, [0.0] * 4, [1.0] * 4]),
        ("d sum(x) / dx", np.ones((3, 4))),
        ("tanh(x @ y)[0,0]: elements of x", 300 * ROW),
        ("derivatives computed", ROW),
        ("memory they take, in bytes", 8 * ROW),
        ("memory all would take", 8 * 300 * ROW),
    ],
    "replace": [
        ("x", [3.0, 1, 4, 1, 5]),
        ("x.at[2].set(v), v = -2", [3.0, 1, -2, 1, 5]),
        ("d sum of squares / dv", -4.0),
        ("d sum of squares / dx", [6.0, 2, 0, 2, 10]),
        ("the vector before", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("after fitting element 1", [0.1, 4.85, 0.3, 0.4, 0.5]),
        ("steps of descent", 20),
        ("its weighted sum", 10.0),
        ("the others kept every bit", True),
    ],
    "within": [
        ("h, before h[3] is replaced", [0.25, 1, 2.25, 4]),
        ("d new h[3] / dh", [3.0, 0.75, 0, 0]),
        ("d result / dh[1], by that use", 3.0),
        ("d result / dh[1], in all", 5.0),
        ("d result / dh", [13.0, 5, 3, 0]),
        ("with a gradient by hand", [13.0, 5, 3, 0]),
        ("both agree exactly", True),
        ("d result / dx", [13.0, 10, 9, 0]),
    ],
    "targets": [
        ("stretch of each spring", [[1.0, 2, -1], [0, -1, 4]]),
        ("a tensor means its sum", [[-1.0, 0, 0, 1]] * 2),
        ("the mean", [[-1 / 6, 0, 0, 1 / 6]] * 2),
        ("weights that pick one spring", [[0.0, 0, 0, 0], [0, 0, -1, 1]]),
        ("weighted by the tensions", ENERGY),
        ("derivative of the energy", ENERGY),
        ("these are one (virtual work)", True),
        ("energy", 23.0),
    ],
    "regression": [
        ("d loss / d(w, b) at (2, 1), the fit", [0.0, 0]),
        ("d loss / d(w, b) at (0, 0)", [-41 / 3, -4]),
        ("loss at (0, 0)", 47 / 3),
        ("(w, b) after 300 steps", [2.0, 1]),
        ("loss there, rounded to 1e-12", 0.0),
        ("y = t^3, z = y^2 + t: dz/dt at 2", 193.0),
        ("dz/dy, of the intermediate y", 16.0),
        ("d c^2 / dc of a constant c = 3", None),
        ("once it is watched", 6.0),
    ],
}


#: The answers of `look` have tests of their own.
NAMES = [*EXPECTED, "look"]


@pytest.fixture(scope="module")
def reports() -> dict[str, demo.Report]:
    return {name: program() for name, program in demo.PROGRAMS.items()}


@pytest.mark.parametrize("name", EXPECTED)
def test_answers(name, reports):
    answers = reports[name].answers
    assert [label for label, _ in answers] == [label for label, _ in EXPECTED[name]]
    for (label, got), (_, want) in zip(answers, EXPECTED[name], strict=True):
        if isinstance(got, wg.Block):
            region, values = want
            assert got.region == region, label
            assert got.values.tolist() == values, label
        elif isinstance(got, wg.Tensor):
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-12, err_msg=label)
        else:
            assert type(got) is type(want), label
            assert got == want, label


def test_there_are_six_programs():
    assert list(demo.PROGRAMS) == NAMES
    assert len(NAMES) == 6


def test_the_picture_is_the_gradient(reports):
    """What `look` shows, against the gradient of the whole network by the same element."""
    answers = dict(reports["look"].answers)
    image = np.random.default_rng(0).normal(size=(1, 1, 160, 160)).astype(np.float32)
    dense = wg.grad(lambda x: demo.network(x)[0, 0, 80, 50])(image)[0, 0]
    rows, columns = (np.flatnonzero(dense.any(axis=axis)) for axis in (1, 0))
    window = f"image[{rows[0]}:{rows[-1] + 1}, {columns[0]}:{columns[-1] + 1}]"
    assert answers["answer[80, 50] depends on"] == window == "image[74:87, 44:57]"
    shown = answers["how strongly"].values
    np.testing.assert_allclose(shown, dense[74:87, 44:57], rtol=1e-4, atol=1e-8)


def test_the_pattern_is_that_of_five_points(reports):
    answers = dict(reports["look"].answers)
    y, x = np.divmod(np.arange(36), 6)
    near = np.abs(y[:, None] - y) + np.abs(x[:, None] - x) <= 1
    assert (answers["Jacobian, 6 x 6 grid"].pattern.toarray() == near).all()
    assert answers["sweeps to compute it"] == 1


def test_one_line_compares_times(reports):
    line = dict(reports["look"].answers)["time of its gradient"]
    assert re.fullmatch(r"\d+\.\d\d ms; the whole answer's: \d+\.\d ms", line)


MAP = demo.HeatMap(np.array([[1.0, -0.5], [0.0, 0.01]]))


def test_a_heat_map_in_characters():
    assert MAP.text() == "+9-5\n . ."


@pytest.mark.parametrize(
    ("colours", "first", "last"),
    [(1 << 24, "48;2;178;24;43", "48;2;240;225;227"), (256, "48;5;125", "48;5;224")],
)
def test_a_heat_map_in_colours(colours, first, last):
    rows = MAP.text(colours).splitlines()
    cells = [re.findall(r"\x1b\[([\d;]+)m  \x1b\[0m", row) for row in rows]
    assert [len(row) for row in cells] == [2, 2]
    assert (cells[0][0], cells[1][1]) == (first, last)
    assert [demo._length(row) for row in rows] == [4, 4]


def test_a_heat_map_of_nothing_and_of_what_is_not_finite():
    assert demo.HeatMap(np.zeros((1, 2))).text() == " . ."
    assert demo.HeatMap(np.zeros((0, 2))).text() == ""
    assert demo.HeatMap(np.array([[np.inf, 1.0, np.nan]])).text() == "+!+9 ?"
    assert "\x1b" in demo.HeatMap(np.array([[np.inf, 1.0, np.nan]])).text(256)


def printed_numbers(text: str) -> list[float]:
    """Return the numbers in a text that stand for themselves, not in a label or a word."""
    return [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.?\d*(?![\w.]*\w)", text)]


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_printed_is_what_is_expected(name, reports):
    """Each value, as printed, holds the numbers that were worked out by hand."""
    for (_, got), (label, want) in zip(reports[name].answers, EXPECTED[name], strict=True):
        shown = demo._shown(got, 60)
        if isinstance(got, wg.Block):
            values, _, place = shown.partition("\nat ")
            ends = "".join(str(r.start) if len(r) == 1 else f"{r.start}:{r.stop}" for r in want[0])
            assert place.replace(", ", "").startswith(f"[{ends}] of shape"), label
            shown, want = values, want[1]
        if isinstance(want, bool):
            assert shown == ("yes" if want else "no")
        elif want is None:
            assert shown == "None"
        else:
            np.testing.assert_allclose(printed_numbers(shown), np.ravel(want), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("name", NAMES)
def test_lines_keep_to_the_width(name, width, reports):
    text = demo.render(name, reports[name], 0.0123, width)
    assert max(map(len, text.splitlines())) <= width
    assert text.endswith("took 12.3 ms\n")
    assert text.isascii()
    flat = " ".join(text.split())
    assert flat.startswith(f"{name}: {reports[name].title} {reports[name].question}")
    for label, _ in reports[name].answers:
        assert " ".join(label.split()) in flat


def test_a_column_that_fits_beside_is_kept_beside():
    report = demo.Report("t", "q?", [("a", 1), ("b", wg.asarray([[1.0], [2.0]]))])
    wide = demo.render("n", report, 0.0).splitlines()
    assert wide[3:6] == ["  a  1", "  b  [[1.]", "      [2.]]"]
    narrow = demo.render("n", report, 0.0, width=9).splitlines()
    assert narrow[3:8] == ["  a", "    1", "  b", "    [[1.]", "     [2.]]"]


class Screen(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "bold"),
    [
        ({}, True),
        ({"NO_COLOR": ""}, True),  # set but empty does not count, by the convention
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_bold_on_a_terminal_unless_told(environment, bold, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "50")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    assert cli.main(["demo", "within"]) == 0
    assert ("\x1b[1mwithin:" in screen.getvalue()) == bold
    plain = re.sub(r"\x1b\[\d+m", "", screen.getvalue())
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 50


def test_no_marks_when_piped(capsys):
    assert cli.main(["demo", "targets", "within"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.index("targets:") < out.index("\n\nwithin:")


def test_all_programs_by_default(capsys):
    assert cli.main(["demo"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\w+): ", out, flags=re.M) == NAMES
    assert len(re.findall(r"^  took \d+\.\d ms$", out, flags=re.M)) == 6
    assert out.endswith(f":\n  {demo.NEXT}\n")
    assert max(map(len, out.splitlines())) <= 80
    assert out.isascii()


def test_the_next_command_runs():
    words = shlex.split(demo.NEXT)
    assert words[0] == "wengert"
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("tensor(1.)\n", "")


@pytest.mark.parametrize(
    ("environment", "sign"),
    [
        ({"COLORTERM": "truecolor"}, "\x1b[48;2;"),
        ({"TERM": "xterm-256color"}, "\x1b[48;5;"),
        ({}, "+9"),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, "+9"),
        ({"COLORTERM": "truecolor", "TERM": "dumb"}, "+9"),
    ],
)
def test_colours_where_the_terminal_has_them(environment, sign, monkeypatch):
    for name in ("NO_COLOR", "COLORTERM", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "80", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    assert cli.main(["demo", "look"]) == 0
    text = screen.getvalue()
    assert sign in text
    assert ("\x1b[48" in text) == (sign != "+9")
    assert max(map(demo._length, text.splitlines())) <= 80


def test_no_colours_when_piped(monkeypatch, capsys):
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert cli.main(["demo", "look"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_mistakes_are_explained(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo", "nothing"])
    assert stop.value.code == 2
    assert "no program 'nothing'; there are elements, replace," in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main([])


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"wengert {wg.__version__}\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes close in another way")
def test_a_reader_may_leave_early():
    command = [sys.executable, "-W", "error", "-m", "wengert", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0
