"""Run a program or a notebook so that two runs of it can be compared.

    python launcher.py LIBRARY SCRIPT [argument ...]

Generators of random numbers get a seed, pictures are not shown, and at the end the numbers that the
program's global variables hold are printed, one line each. With "torch:double" for the library,
PyTorch's default dtype is float64.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import random
import runpy
import sys
import tempfile
from typing import Any

import numpy as np

SEED = 20
#: How the lines about global variables begin.
MARK = "global variable"


def seed(library: str) -> None:
    """Give every generator that programs draw from a seed."""
    name, _, option = library.partition(":")
    module = importlib.import_module(name)  # which may draw numbers
    random.seed(SEED)
    np.random.seed(SEED)
    if name == "torch":
        module.manual_seed(SEED)
        if option == "double":
            module.set_default_dtype(module.float64)
    if name == "tensorflow":
        module.random.set_seed(SEED)
        draw_with_numpy(module)


def draw_with_numpy(tf: Any) -> None:
    """Have TensorFlow's functions draw with NumPy, in turn: its numbers are nobody else's."""
    drawn = np.random.RandomState(SEED)

    def normal(shape, mean=0.0, stddev=1.0, dtype=tf.float32, **options):
        return tf.cast(drawn.normal(mean, stddev, tuple(shape)), dtype)

    def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=tf.float32, **options):
        values = np.clip(drawn.normal(0.0, 1.0, tuple(shape)), -2, 2)
        return tf.cast(mean + stddev * values, dtype)

    def uniform(shape, minval=0, maxval=None, dtype=tf.float32, **options):
        values = drawn.uniform(minval, 1 if maxval is None else maxval, tuple(shape))
        return tf.cast(np.floor(values) if tf.as_dtype(dtype).is_integer else values, dtype)

    for function in (normal, truncated_normal, uniform):
        setattr(tf.random, function.__name__, function)

        def stateless(shape, seed, *args, function=function, alg=None, **options):
            return function(shape, *args, **options)

        setattr(tf.random, f"stateless_{function.__name__}", stateless)


def hide_pictures() -> None:
    """Have `plt.show` and pauses do nothing."""
    os.environ["MPLBACKEND"] = "Agg"
    try:
        plt = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return
    plt.show = plt.pause = lambda *args, **options: None


def as_script(notebook: str) -> str:
    """Return a notebook's code as a file with a script, which prints the value of each cell."""
    with open(notebook, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = "\n".join(map(_printing, sources))
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as script:
        script.write(lines)
    return script.name


def _printing(cell: str) -> str:
    plain = [line for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]
    source = "\n".join(plain)
    tree = ast.parse(source)
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = tree.body[-1]
        tree.body[-1] = ast.parse(f"print({ast.unparse(last.value)})").body[0]
    return ast.unparse(tree)


def numbers(value: Any) -> np.ndarray | None:
    """Return the floating numbers of a global variable; None if it holds others, or none."""
    try:
        if hasattr(value, "detach"):
            value = value.detach()
        if isinstance(value, float) or hasattr(value, "numpy") or isinstance(value, np.ndarray):
            array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
            return array if array.dtype.kind in "fc" and array.size else None
    except Exception:  # a class of the program's own, which has such a name for something else
        return None
    return None


def report(variables: dict[str, Any]) -> None:
    """Print what global variables hold: the sum and the sum of squares."""
    for name, value in sorted(variables.items()):
        found = None if name.startswith("_") else numbers(value)
        if found is not None:
            squares = float(np.sqrt(np.sum(np.abs(found.astype(np.complex128)) ** 2)))
            total = complex(np.sum(found.astype(np.complex128)))
            print(f"{MARK} {name} {found.shape} {total.real:.9g} {total.imag:.9g} {squares:.9g}")


def main() -> None:
    """Run what the arguments say."""
    library, script, *arguments = sys.argv[1:]
    path = as_script(script) if script.endswith(".ipynb") else script
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    hide_pictures()
    seed(library)
    report(runpy.run_path(path, run_name="__main__"))


if __name__ == "__main__":
    main()
