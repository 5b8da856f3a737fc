"""`wengert run --why`: what is said at the end of programs of others, and exit statuses."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from wengert import cli, runner

NONE = "1 thing to look at"
CLEAN = "every gradient that was asked for is there, and finite"


@pytest.fixture
def run(tmp_path: Path, capsys: Any) -> Any:
    """Return a function from code to the exit status, the output and the errors."""
    for module in runner.ANSWERS.values():
        importlib.import_module(module)

    def run(code: str, *arguments: str) -> tuple[int, str, str]:
        script = tmp_path / "script.py"
        script.write_text(code)
        status = cli.main(["run", "--why", str(script), *arguments])
        return (status, *capsys.readouterr())

    return run


TENSORFLOW_NONE = """\
import tensorflow as tf
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(x * x)
print(tape.gradient(y, x))
"""
TORCH_NONE = """\
import torch
x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
y = (x * w.detach()).sum()
print(torch.autograd.grad(y, [x, w], allow_unused=True)[1])
"""
TENSORFLOW_NAN = """\
import tensorflow as tf
v = tf.Variable([1.0, 0.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.sqrt(v))
print(tape.gradient(y, v).numpy().tolist())
"""
TORCH_NAN = """\
import torch
x = torch.tensor([1.0, 0.0], requires_grad=True)
y = (x * x.log()).sum()
y.backward()
print(x.grad.isfinite().all().item())
"""
AUTOGRAD_NAN = """\
import autograd.numpy as np, warnings; warnings.simplefilter("ignore")
from autograd import grad
def loss(x):
    return np.sum(np.sqrt(x))
print(grad(loss)(np.array([1.0, 0.0])))
"""


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        (TENSORFLOW_NONE, 4, "Write tape.watch(x) inside of `with ... as tape:`"),
        (TORCH_NONE, 3, "detach made a constant of what was computed from w"),
        (TENSORFLOW_NAN, 4, "inf in the cotangent that the rule of sqrt gave"),
        (TORCH_NAN, 3, "-inf in the result of log, element [1]"),
        (AUTOGRAD_NAN, 4, "inf in the cotangent that the rule of sqrt gave"),
    ],
    ids=["tensorflow-none", "torch-none", "tensorflow-nan", "torch-nan", "autograd-nan"],
)
def test_what_is_wrong_is_said_at_the_end(run: Any, code: str, line: int, said: str) -> None:
    status, out, err = run(code)
    assert status == 0
    assert out  # what the program printed
    assert NONE in err
    assert said in err
    assert f"script.py:{line}: {code.splitlines()[line - 1].strip()}" in err


@pytest.mark.parametrize(
    "code",
    [
        "print('nothing to differentiate')",
        "import tensorflow as tf\nv = tf.Variable(2.0)\nwith tf.GradientTape() as t:\n"
        "    y = v * v\nassert t.gradient(y, v).numpy() == 4.0",
        "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n"
        "assert x.grad == 6.0",
        "from autograd import grad\nassert grad(lambda x: x**2)(3.0) == 6.0",
    ],
)
def test_clean_programs(run: Any, code: str) -> None:
    status, _, err = run(code)
    assert status == 0
    assert CLEAN in err


def test_a_loop_is_told_once(run: Any) -> None:
    code = "import tensorflow as tf\nx = tf.constant(1.0)\nfor _ in range(5):\n"
    code += "    with tf.GradientTape() as tape:\n        y = x * x\n    tape.gradient(y, x)\n"
    status, _, err = run(code)
    assert status == 0
    assert NONE in err
    assert "(This happened 5 times.)" in err


def test_a_program_that_raises(run: Any) -> None:
    status, out, err = run(TENSORFLOW_NONE + "tape.gradient(y, x)[0]\n")
    assert status == 1
    assert "None" in out
    assert "script.py" in err
    assert "Traceback" in err
    assert err.index("Traceback") < err.index(NONE)


def test_a_program_that_exits(run: Any, tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit) as left:
        run(TENSORFLOW_NONE + "import sys; sys.exit(7)\n")
    assert left.value.code == 7
    assert NONE in capsys.readouterr().err


def test_arguments_reach_the_program(run: Any) -> None:
    status, out, _ = run("import sys; print(sys.argv[1:])", "--why", "-x")
    assert status == 0
    assert out == "['--why', '-x']\n"


def test_nothing_is_left_behind(run: Any) -> None:
    from wengert.engine.node import watching
    from wengert.explain.report import reports

    run(TENSORFLOW_NONE)
    assert not reports
    assert watching.get() is None


def test_nothing_to_run(capsys: Any) -> None:
    assert cli.main(["run", "--why"]) == 2
    assert "--why needs a script" in capsys.readouterr().err


def test_code_on_the_command_line(capsys: Any) -> None:
    assert cli.main(["run", "--why", "-c", TENSORFLOW_NONE]) == 0
    assert "y = tf.reduce_sum(x * x)" in capsys.readouterr().err
