"""`wengert run`: programs written for TensorFlow, on Wengert, as they stand."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

import pytest

import wengert as wg
from tests.dialects.program_outputs import assert_same_output
from wengert import cli, runner

PROGRAMS = sorted((Path(__file__).parent / "tensorflow" / "programs").glob("[!_]*.py"))
#: What is the same before and after a run.
STATE = ("argv", "path", "meta_path")


@pytest.fixture
def run(tmp_path: Path, capsys: Any) -> Any:
    """Return a function from code and arguments to the exit status, output and errors."""
    for module in runner.ANSWERS.values():  # whose first import adds a finder of submodules
        importlib.import_module(module)

    def run(code: str, *arguments: str) -> tuple[int, str, str]:
        script = tmp_path / "script.py"
        script.write_text(code)
        before = [list(getattr(sys, name)) for name in STATE], sys.modules["__main__"]
        status = cli.main(["run", str(script), *arguments])
        assert ([list(getattr(sys, name)) for name in STATE], sys.modules["__main__"]) == before
        return (status, *capsys.readouterr())

    return run


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_what_they_print_on_tensorflow(program: Path, capsys: Any) -> None:
    assert cli.main(["run", str(program)]) == 0
    found = capsys.readouterr()
    assert_same_output(found.out, program.with_suffix(".txt").read_text())
    assert not found.err


@pytest.mark.parametrize(
    "imports",
    [
        "import tensorflow as tf\nsum_ = tf.math.reduce_sum",
        "import tensorflow\nsum_ = tensorflow.reduce_sum",
        "import tensorflow.math\nsum_ = tensorflow.math.reduce_sum",
        "import tensorflow.math as m\nsum_ = m.reduce_sum",
        "from tensorflow import math\nsum_ = math.reduce_sum",
        "from tensorflow.math import reduce_sum as sum_",
    ],
)
def test_ways_to_import(run: Any, imports: str) -> None:
    assert run(f"{imports}\nprint(int(sum_([1, 2])))") == (0, "3\n", "")


@pytest.mark.parametrize(
    "imports",
    [
        "import autograd.numpy as np\nfrom autograd import grad",
        "import autograd\nimport autograd.numpy\nnp, grad = autograd.numpy, autograd.grad",
        "from autograd import grad, numpy as np\nimport autograd.scipy.stats.norm as norm",
        "from autograd.numpy import *\nimport autograd.numpy as np\nfrom autograd import grad\n"
        "from autograd.tracer import Node, trace\nfrom autograd.core import make_vjp",
    ],
)
def test_ways_to_import_autograd(run: Any, imports: str) -> None:
    code = f"{imports}\nprint(grad(lambda x: np.sum(x**2))(np.ones(2)), grad.__module__)"
    module = "wengert.dialects.autograd.differential_operators"
    assert run(code) == (0, f"[2. 2.] {module}\n", "")


FUNCTORCH = """\
import torch
from functorch import combine_state_for_ensemble, grad, make_functional, vmap
from functorch import make_functional_with_buffers
model = torch.nn.Linear(2, 1)
f, params = make_functional(model)
x = torch.ones(3, 2)
assert torch.equal(f(params, x), model(x)) and params[0].requires_grad
each = vmap(grad(lambda params, x: f(params, x).sum()), in_dims=(None, 0))(params, x)
print([list(g.shape) for g in each])
f, params, buffers = make_functional_with_buffers(torch.nn.BatchNorm1d(2))
print(len(params), len(buffers), list(f(params, buffers, x).shape))
f, params, buffers = combine_state_for_ensemble([torch.nn.Linear(2, 1) for _ in range(4)])
print(list(vmap(f, in_dims=(0, 0, None))(params, buffers, x).shape), params[0].requires_grad)
try:
    make_functional(torch.nn.BatchNorm1d(2))
except RuntimeError as error:
    print(str(error).partition(";")[0])
import functorch
try:
    functorch.make_fx
except AttributeError as error:
    print(error)
"""


def test_functorch(run: Any) -> None:
    status, out, errors = run(FUNCTORCH)
    assert (status, errors) == (0, "")
    assert out.splitlines() == [
        "[[3, 1, 2], [3, 1]]",
        "2 3 [3, 2]",
        "[4, 3, 1] False",
        "make_functional: the module has 3 buffers",
        "functorch.make_fx is not offered by wengert; there are no graphs of torch.fx; call the "
        "function itself",
    ]


def test_is_the_dialect_and_leaves_no_trace(run: Any) -> None:
    before = {name for name in sys.modules if name.partition(".")[0] == "tensorflow"}
    status, out, _ = run(
        "import tensorflow as tf, wengert.tensorflow as ours\n"
        "print(tf is ours, tf.nest is ours.nest)"
    )
    assert (status, out) == (0, "True True\n")
    assert {name for name in sys.modules if name.partition(".")[0] == "tensorflow"} == before


def test_a_program_is_the_main_program(run: Any, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("import tensorflow as tf\nn = int(tf.constant(7))\n")
    code = (
        "import sys, beside\n"
        "print(__name__, sys.argv[1:], beside.n, sys.modules['__main__'].__file__ == sys.argv[0])"
    )
    assert run(code, "--flag", "-m", "x")[:2] == (
        0, "__main__ ['--flag', '-m', 'x'] 7 True\n"
    )  # fmt: skip


def test_errors_point_into_the_program(run: Any) -> None:
    status, _, err = run("import tensorflow as tf\n\ndef f():\n    raise KeyError('k')\n\nf()\n")
    assert status == 1
    assert [line.strip() for line in err.splitlines() if "File" in line] == [
        line for line in (line.strip() for line in err.splitlines()) if "script.py" in line
    ]
    assert "line 6" in err and "line 4" in err and err.endswith("KeyError: 'k'\n")


def test_errors_begin_with_the_program(run: Any) -> None:
    """What Wengert caught of NumPy's errors on the way to its own is not shown before them."""
    code = "import torch\n\ndef f(x):\n    return x @ torch.ones(3, 3)\n\nf(torch.ones(2, 2))\n"
    status, _, err = run(code)
    assert status == 1 and "During handling" not in err
    assert 'script.py", line 6' in err.splitlines()[1]
    assert err.splitlines()[-1].startswith("RuntimeError: 2x2 and 3x3 have no product")


def test_errors_on_the_way_that_the_program_raised_are_shown(run: Any) -> None:
    code = (
        "import torch\ntry:\n    torch.ones(2) @ torch.ones(3)\n"
        "except RuntimeError as error:\n    raise ValueError('second') from error\n"
    )
    status, _, err = run(code)
    assert status == 1 and err.endswith("ValueError: second\n")
    assert "direct cause" in err and "2 and 3 have no product" in err and "aligned" not in err


def test_errors_of_syntax_point_into_the_program(run: Any) -> None:
    status, _, err = run("x = (1,\n")
    assert status == 1
    assert 'script.py", line 1' in err and "SyntaxError" in err and "runner.py" not in err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("from tensorflow import reduce_summ", "did you mean tf.reduce_sum"),
        ("import tensorflow.python.client", "tf.python.client is not offered"),
        ("import tensorflow as tf\ntf.saved_model.load('x')", "tf.saved_model is not offered"),
        ("import tensorflow as tf\ntf.compat.v1.Session()", "tf.compat is not offered"),
    ],
)
def test_names_that_are_not_offered(run: Any, line: str, told: str) -> None:
    status, _, err = run(line)
    assert status == 1
    assert told in err and "docs/tensorflow-names.md" in err
    assert "runner.py" not in err


def test_exit_status(run: Any) -> None:
    with pytest.raises(SystemExit) as found:
        run("import sys\nsys.exit(3)")
    assert found.value.code == 3


def test_code(capsys: Any) -> None:
    code = "import sys, tensorflow as tf; print(sys.argv, float(tf.constant(2.5)))"
    assert cli.main(["run", "-c", code, "a", "-b"]) == 0
    assert capsys.readouterr().out == "['-c', 'a', '-b'] 2.5\n"


def test_module(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    (tmp_path / "some_module.py").write_text(
        "import sys\nimport tensorflow as tf\n"
        "print(__name__, sys.argv[1:], tf.constant(1).numpy())\nif sys.argv[1:]: tf.nothing\n"
    )
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", "-m", "some_module"]) == 0
    assert capsys.readouterr().out == "__main__ [] 1\n"
    assert cli.main(["run", "-m", "some_module", "x"]) == 1
    err = capsys.readouterr().err
    assert "some_module.py" in err and "runpy" not in err and "tf.nothing" in err
    assert cli.main(["run", "-m", "no_such_module"]) == 1
    assert "No module named no_such_module" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere.py"], "nowhere.py is no file"),
        (["."], ". is a directory"),
        (["-z"], "no option -z"),
        (["-m"], "-m needs a module"),
        (["-c"], "-c needs code"),
        ([], "usage: wengert run"),
    ],
)
def test_bad_command_lines(arguments: list[str], told: str, capsys: Any) -> None:
    assert cli.main(["run", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_help(capsys: Any) -> None:
    assert cli.main(["run", "--help"]) == 0
    assert "wengert run [--why] -m module" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert all(name in out for name in ("PyTorch", "TensorFlow", "HIPS autograd"))


def test_help_of_run_names_all_dialects(capsys: Any) -> None:
    assert cli.main(["run", "-h"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in runner.ANSWERS) and "wengert.running()" in out


def test_as_a_command() -> None:
    code = "import tensorflow as tf; tf.print('to stderr'); print(tf.constant([1.0]))"
    found = subprocess.run(
        [sys.executable, "-m", "wengert", "run", "-c", code],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert found.stdout == "tf.Tensor([1.], shape=(1,), dtype=float32)\n"
    assert found.stderr == "to stderr\n"


#: A program whose processes import TensorFlow and PyTorch; {start} starts them.
WITH_CHILDREN = """
import multiprocessing, os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
import tensorflow as tf

def slope(x):
    import keras, torch
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    names = [module.__name__ for module in (tf, keras, torch)]
    return float(tape.gradient(y, x)), names, os.getpid()

def main():
    parent = os.getpid()
    {start}
    for slope_, names, child in found:
        print(slope_, *names, child != parent)

if __name__ == "__main__":
    main()
"""
#: Both ways to start processes by one of multiprocessing's methods.
_BOTH = """
    context = multiprocessing.get_context({!r})
    with context.Pool(1) as pool:
        found = pool.map(slope, [1.0])
    with ProcessPoolExecutor(1, context) as executor:
        found += executor.map(slope, [2.0])
"""
METHODS = ["spawn", "forkserver", "fork"]


def _in_new_process(*arguments: str, **options: Any) -> str:
    """Return what `wengert run` prints; it must say nothing else, and go well."""
    found = subprocess.run(
        [sys.executable, "-m", "wengert", "run", *arguments],
        capture_output=True, text=True, check=False, **options,
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


@pytest.mark.parametrize("method", METHODS)
def test_processes_that_a_program_starts(method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(WITH_CHILDREN.format(start=_BOTH.format(method).strip()))
    names = "wengert.tensorflow keras wengert.torch"
    assert _in_new_process(str(script)) == f"3.0 {names} True\n12.0 {names} True\n"


def test_processes_that_a_module_starts(tmp_path: Path) -> None:
    (tmp_path / "some_module.py").write_text(
        WITH_CHILDREN.format(start=_BOTH.format("spawn").strip())
    )
    names = "wengert.tensorflow keras wengert.torch"
    out = _in_new_process("-m", "some_module", cwd=tmp_path)
    assert out == f"3.0 {names} True\n12.0 {names} True\n"


def test_python_processes_that_a_program_starts(tmp_path: Path) -> None:
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text("print('the other sitecustomize')\n")
    child = "import tensorflow, sys; print(tensorflow.__name__, sys.path.count({!r}))"
    code = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {child.format(runner._CHILDREN)!r}], check=True)"
    )
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    out = _in_new_process("-c", code, env={**os.environ, "PYTHONPATH": path})
    # the parent prints it when it starts, and so does the child; whose lines come first depends
    # on when each of them empties its buffer
    assert sorted(out.splitlines()) == [*["the other sitecustomize"] * 2, "wengert.tensorflow 0"]


def test_other_imports_of_a_child_do_not_import_wengert(tmp_path: Path) -> None:
    child = "import json, sys; print('wengert' in sys.modules)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    assert _in_new_process("-c", code) == "False\n"


def test_keras_is_found_by_its_name_in_tensorflow() -> None:
    code = "import tensorflow as tf; print(tf.keras.activations.relu(tf.constant([-1.0])).numpy())"
    assert _in_new_process("-c", code) == "[0.]\n"


def test_the_environment_is_as_before(run: Any) -> None:
    before = dict(os.environ)
    assert run("import os; print('WENGERT_RUN' in os.environ)")[:2] == (0, "True\n")
    assert dict(os.environ) == before


def test_a_child_of_another_environment_is_left_alone() -> None:
    code = "import importlib.util; print(importlib.util.find_spec('torch') is None)"
    environment = {**os.environ, "PYTHONPATH": runner._CHILDREN, "WENGERT_RUN": "elsewhere:torch"}
    found = subprocess.run(
        [sys.executable, "-S", "-c", f"import sitecustomize\n{code}"],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert found.stdout == "True\n"


#: A package that is written for PyTorch, and what it says of the one that it imported.
PACKAGE = """
import torch
def slope(x):
    x = torch.tensor(x, requires_grad=True)
    (x**3).backward()
    return torch.__name__, x.grad.item()
"""


def test_packages_that_are_imported_while_running(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "some_package.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    other = types.ModuleType("torch")  # what the process had imported before
    monkeypatch.setitem(sys.modules, "torch", other)
    with wg.running():
        package = importlib.import_module("some_package")
    monkeypatch.delitem(sys.modules, "some_package")
    assert sys.modules["torch"] is other
    assert package.slope(2.0) == ("wengert.torch", 12.0)


#: Packages that look for PyTorch or TensorFlow when they are given arrays, or when imported.
OTHERS = {
    "scipy": """
        from scipy import optimize
        import torch
        x = torch.tensor([3.0, 1.0], dtype=torch.float64)
        f = lambda v: ((v - x.numpy()) ** 2).sum()
        print(optimize.minimize(f, np.zeros(2)).x.round(3), special.expit(np.array([0.0])))
    """,
    "sklearn": """
        from sklearn.linear_model import LinearRegression
        import torch
        x = torch.arange(6.0).reshape(3, 2)
        model = LinearRegression().fit(x.numpy(), np.array([1.0, 2.0, 3.0]))
        print(model.predict(x.numpy()).round(3), special.expit(np.array([0.0])))
    """,
    "pandas": """
        import pandas, torch
        frame = pandas.DataFrame({"a": torch.arange(3).numpy(), "b": np.arange(3.0)})
        print(frame.sum().to_numpy(), special.expit(np.array([0.0])))
    """,
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("environment", [{}, {"SCIPY_ARRAY_API": "1"}], ids=["", "array API"])
def test_packages_that_look_for_pytorch(name: str, environment: dict[str, str]) -> None:
    pytest.importorskip(name)
    code = "import numpy as np\nfrom scipy import special\n" + textwrap.dedent(OTHERS[name])
    variables = {**os.environ, **environment}
    expected = {
        "scipy": "[3. 1.] [0.5]\n", "sklearn": "[1. 2. 3.] [0.5]\n", "pandas": "[3. 3.] [0.5]\n"
    }  # fmt: skip
    assert _in_new_process("-c", code, env=variables) == expected[name]


def test_a_run_starts_quickly(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("pass\n")
    more = []
    for _ in range(5):  # processor seconds, the least of a few: other processes do not count
        spent = [_spent(*before, str(script)) for before in ((), ("-m", "wengert", "run"))]
        more.append(spent[1] - spent[0])
    assert min(more) < 0.35, more


def _spent(*arguments: str) -> float:
    """Return the processor seconds of a Python process."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    "failing",
    [
        "torch.ones(2) @ torch.ones(3)",
        "torch.nn.Linear(2, 3)(torch.ones(5))",
        "(torch.ones(2, requires_grad=True) * 2).backward()",
        "torch.nothing",
    ],
)
def test_a_traceback_begins_with_the_lines_of_the_program(run: Any, failing: str) -> None:
    status, _, err = run(f"import torch\n\ndef f():\n    {failing}\n\nf()\n")
    files = [line for line in err.splitlines() if line.startswith("  File")]
    assert status == 1
    assert 'script.py", line 6' in files[0] and 'script.py", line 4' in files[1]


def test_dialects_are_attributes_of_the_package() -> None:
    for name in ("tensorflow", "torch", "autograd"):
        code = f"import wengert as wg; print(wg.{name}.__name__)"
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert found.stdout == f"wengert.{name}\n"


def test_imports_of_submodules_without_run() -> None:
    code = (
        "import wengert.tensorflow.math as m\n"
        "from wengert.tensorflow.debugging import assert_equal\n"
        "assert_equal(m.reduce_sum([1, 2]), 3)\n"
        "try:\n    from wengert.tensorflow import reduce_summ\n"
        "except ImportError as error:\n    print(error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert "did you mean tf.reduce_sum" in found.stdout


def test_every_name_answers_for_a_module() -> None:
    for name, module in runner.ANSWERS.items():
        with wg.running():
            assert __import__(name).__name__ == module
