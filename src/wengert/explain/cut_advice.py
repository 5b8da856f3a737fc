"""Advice for messages: what to write instead of a function that takes plain numbers."""

from __future__ import annotations

import ast
import functools
import importlib
import os

import numpy as np

from wengert.engine.tensor import Tensor
from wengert.explain.expressions import Expression
from wengert.ops.namespace import PUBLIC
from wengert.ops.numpy.protocol import functions
from wengert.ops.numpy.ufuncs import UFUNCS

#: How long a piece of the program may be that a message repeats.
SHORT = 60
#: Names of other libraries for what has another name here, or other parameters.
_RENAMED = {
    "a sparse plan": "wg.jacobian(f)(x) or wg.hessian(f)(x), whose results are recorded",
    "cmath.phase": "wg.angle",
    "math.dist": "wg.linalg.norm(p - q)",
    "math.fabs": "wg.abs",
    "math.fsum": "wg.sum",
    "math.lgamma": "wg.special.gammaln",
    "math.remainder": "x - y * wg.round(x / y)",
    "math.sumprod": "wg.vecdot",
    "np.vectorize": "wg.vmap(f)(x)",
    "scipy.integrate.trapezoid": "np.trapezoid",
    "scipy.linalg.cholesky": "wg.linalg.cholesky(a, upper=True)",
    "scipy.special.loggamma": "wg.special.gammaln",
    "statistics.fmean": "wg.mean",
    "statistics.pstdev": "wg.std",
    "statistics.pvariance": "wg.var",
    "statistics.stdev": "wg.std(x, correction=1)",
    "statistics.variance": "wg.var(x, correction=1)",
}
#: Where the functions of a module may have an equivalent of their name, in the order to look.
_HOMES = {
    "cmath": ("wg",),
    "math": ("wg", "wg.special", "np"),
    "np.ndarray": ("np",),
    "scipy.fft": ("wg.fft",),
    "scipy.linalg": ("wg.linalg",),
    "scipy.special": ("wg.special", "wg"),
    "statistics": ("wg",),
}
#: NumPy's functions that make an array of anything, without asking it.
_MAKERS = {
    "np.array", "np.asanyarray", "np.asarray", "np.asarray_chkfinite", "np.ascontiguousarray",
    "np.asfortranarray", "np.from_dlpack", "np.fromiter", "np.matrix",
}  # fmt: skip
_NUMBERS = ("float", "int", "complex")
#: The updates `x.at[key].add(y)` and so on, by the operator of `L[key] += y`.
_UPDATES = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide"}


def equivalent(name: str) -> str | None:
    """Return what to call in place of another library's function; None if we have nothing.

    Examples
    --------
    >>> equivalent("math.sin"), equivalent("scipy.special.erf"), equivalent("math.gamma")
    ('wg.sin', 'wg.special.erf', 'wg.special.gamma')
    """
    if name in _RENAMED:
        return _RENAMED[name]
    module, _, plain = name.rpartition(".")
    for home in _HOMES.get(module, ()):
        if plain in _names(home):
            return f"{home}.{plain}"
    if name.startswith("scipy.stats."):
        distributions = importlib.import_module("wengert.ops.distributions")
        method = name.removeprefix("scipy.stats.").replace(".", "_")
        return f"wengert.autograd.{name}" if hasattr(distributions, method) else None
    return None


@functools.cache
def _names(home: str) -> frozenset[str]:
    """Return the names of the functions in one of our namespaces, or of NumPy's that we answer."""
    if home == "wg":
        return frozenset(PUBLIC)
    if home == "np":
        return frozenset({f.__name__ for f in (*functions(), *UFUNCS)})
    return frozenset(getattr(Tensor._namespace, home.removeprefix("wg.")).__all__)


def for_function(name: str, arguments: str = "...") -> str:
    """Return the advice for a function, by its full name."""
    if name.removesuffix("(x)") in _NUMBERS:
        return "Go on with the tensor itself, which functions of wg and np take as a number"
    if name.removesuffix("(x)") in _MAKERS:
        return "Go on with the tensor itself, or write wg.stack([...]) for a list of tensors"
    ours = equivalent(name)
    if ours is not None:
        return f"Write {ours}" if "(" in ours else f"Write {ours}({arguments})"
    if name.startswith("scipy.") and os.environ.get("SCIPY_ARRAY_API", "0") != "1":
        return (
            "Write it with functions of wg or np, or set SCIPY_ARRAY_API=1 before SciPy is "
            "imported, with which many of its functions compute on tensors"
        )
    if name.startswith("pandas."):
        return "Compute on NumPy arrays, as series.to_numpy() gives them"
    if name.startswith(("np.random.", "random.")):
        return "Draw numbers without x and then move them, as in mean + scale * rng.normal(size=n)"
    return "Write it with functions of wg or np, which take tensors as they are"


def for_call(name: str, expression: Expression, call: ast.Call) -> str:
    """Return the advice for the call of a function, with its arguments."""
    parts = [expression.text(part) for part in (*call.args, *call.keywords)]
    if name.startswith("np.ndarray.") and isinstance(call.func, ast.Attribute):
        parts.insert(0, expression.text(call.func.value))
        return for_function(name, _short(", ".join(parts)))
    if not call.args:
        return for_function(name, _short(", ".join(parts)))
    text = parts[0]
    if name in _MAKERS:
        return _for_maker(name, call.args[0], text)
    if name in _NUMBERS:
        return f"Go on with {text} itself, which functions of wg and np take as a number"
    if name == "math.log" and len(parts) == 2:
        return f"Write wg.log({text}) / np.log({parts[1]})"
    if name == "np.full" and len(parts) > 1:
        return f"Write wg.broadcast_to({parts[1]}, {text})"
    scalar = getattr(np, name[3:], None) if name.startswith("np.") else None
    if isinstance(scalar, type) and issubclass(scalar, np.generic):
        return f"Go on with {text} itself, or write wg.astype({text}, {name})"
    module, _, plain = name.rpartition(".")
    if module in ("np", "np.linalg", "np.fft") and plain in _names("np"):
        # NumPy did not ask the tensor, because it is in a list or no array to compute with
        tensor = _as_tensor(call.args[0], text) or f"wg.asarray({text})"
        return f"Write {name}({', '.join([tensor, _short(', '.join(parts[1:]))]).rstrip(', ')})"
    parts[0] = _as_tensor(call.args[0], text) or text
    return for_function(name, _short(", ".join(parts)))


def _for_maker(name: str, given: ast.AST, text: str) -> str:
    """Return the advice for a function that makes an array of what it is given."""
    tensor = _as_tensor(given, text)
    if tensor is not None:
        return f"Write {tensor}"
    if name == "np.fromiter":
        return f"Write wg.stack(list({text}))"
    return f"Go on with {text} itself, or write wg.asarray({text})"


def _as_tensor(given: ast.AST, text: str) -> str | None:
    """Return the call that stacks a list of tensors; None if it is no list."""
    if isinstance(given, (ast.List, ast.Tuple)):
        nested = any(isinstance(p, (ast.List, ast.Tuple, ast.Constant)) for p in given.elts)
        return f"{'wg.asarray' if nested else 'wg.stack'}({_short(text, '[...]')})"
    if isinstance(given, ast.ListComp):
        return f"wg.stack({_short(text, '[...]')})"
    if isinstance(given, ast.GeneratorExp):
        return f"wg.stack([{_short(text.removeprefix('(').removesuffix(')'))}])"
    return None


def for_assignment(expression: Expression, target: ast.Subscript) -> tuple[str, str]:
    """Return a name and the advice for `L[i, j] = x`, where NumPy writes into its array L."""
    statement = expression.statement
    array, key = expression.text(target.value), expression.text(target.slice)
    written = expression.text(statement)
    update = "set(...)"
    if isinstance(statement, ast.Assign):
        update = f"set({_short(expression.text(statement.value))})"
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in _UPDATES:
        update = f"{_UPDATES[type(statement.op)]}({_short(expression.text(statement.value))})"
    return (
        f"the assignment {_short(f'`{written}`', f'to {array}[{key}]')}, into a NumPy array,",
        f"Make {array} a tensor with {array} = wg.asarray({array}), and write "
        f"{array} = {array}.at[{key}].{update}",
    )


def for_operator(
    expression: Expression, node: ast.BinOp, others: list[str | None]
) -> tuple[str, str]:
    """Return a name and the advice for `series * x`, whose operand of another library converts.

    `others` has the class of each operand that is none of ours or NumPy's.
    """
    sides = [expression.text(node.left), expression.text(node.right)]
    sign = expression.text()[len(sides[0]) :].removesuffix(sides[1]).strip()
    whose = next((f" of {other}" for other in others if other), "")
    arrays = [
        f"{side}.to_numpy()" if other and other.startswith("pandas.") else side
        for side, other in zip(sides, others, strict=True)
    ]
    who = f"the operator {sign}{whose} in `{_short(expression.text())}`"
    if arrays != sides:
        return who, f"Write {arrays[0]} {sign} {arrays[1]}"
    return who, "Write it with a NumPy array in place of the other operand"


def _short(text: str, otherwise: str = "...") -> str:
    return text if len(text) <= SHORT else otherwise
