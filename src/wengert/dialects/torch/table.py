"""How a name is offered: a function, a method and its in-place form from one declaration.

`@offered("add", in_place=True)` puts a function under `torch.add`, `Tensor.add` and `Tensor.add_`.
It takes PyTorch's arguments, converts them with `tensors.convert` and `promoted`, calls Wengert's
operations, and returns Wengert's tensors: the decorator makes them PyTorch's, gives their nodes
PyTorch's names, sees to it that results have memory of their own, and makes errors of operations
`RuntimeError`. `@view("transpose")` offers a function whose result shares the memory of its first
argument. There is no mathematics here: that belongs in Wengert's operations.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.dialects import quiet
from wengert.dialects.facade import close_to, did_you_mean
from wengert.dialects.kernel.functions import Dialect, Function, Quick, Viewed, function
from wengert.dialects.torch import memory, viewing
from wengert.dialects.torch.absent import ABSENT
from wengert.dialects.torch.autocasts import CASTS, ON
from wengert.dialects.torch.modes import TRACKING
from wengert.dialects.torch.nodes import show_as_one
from wengert.dialects.torch.tensors import (
    Tensor,
    camel,
    fitted,
    made,
    mark,
    ns,
    store,
)
from wengert.engine.node import active, new_node
from wengert.engine.op import ALIAS
from wengert.engine.tensor import Tensor as Native
from wengert.engine.tensor import wrap as wrap_native
from wengert.errors import DtypeError, ShapeError
from wengert.explain.watchers import finished

#: Every name that is offered, with what it is.
NAMES: dict[str, Any] = {}
#: What is not as in PyTorch, by name.
DIFFERENCES: dict[str, str] = {}
_HERE = "wengert.dialects.torch"
#: The modules that offer names, and those that do so once a name of theirs is looked up.
_PARTS = """
    values methods python operators math creation generators random views copies joining repeating
    diagonals brackets gathering masks reductions cumulative sorting products hooks
    autograd_function
"""
PARTS = tuple(f"{_HERE}.{part}" for part in _PARTS.split())
LATE: dict[str, tuple[str, ...]] = {
    "autograd.functional": (f"{_HERE}.autograd_functional",),
    "autograd.gradcheck": (f"{_HERE}.checks",),
    "autograd.forward_ad": (f"{_HERE}.forward_ad",),
    "utils": (f"{_HERE}.checkpoint", f"{_HERE}.swapping"),
    "utils.benchmark": (f"{_HERE}.timing",),
    "utils.data": (f"{_HERE}.data.loaders",),
    "utils._pytree": (f"{_HERE}.pytree",),
    "functional": (f"{_HERE}.functional",),
    "cuda.amp": (f"{_HERE}.amp",),
}
for _module, _names in {
    "special_math": """
        erf erf_ erfc erfc_ erfinv erfinv_ lgamma lgamma_ digamma digamma_ i0 i0_ sinc sinc_ igamma
        igamma_ igammac igammac_ mvlgamma mvlgamma_ polygamma logsumexp
    """,
    "func": "func",
    "futures": "futures Future",
    "distributions": "distributions",
    "testing": "testing",
    "optim": "optim",
    "settings": """
        set_num_threads get_num_threads set_printoptions cuda backends compile jit
        use_deterministic_algorithms set_default_device version compiler
        set_float32_matmul_precision get_default_device mps types _assert distributed SymInt
        SymFloat _dynamo
    """,
    "fft": "fft stft istft blackman_window hamming_window hann_window",
    "saving": "save load serialization",
    "foreach": """
        _foreach_add _foreach_add_ _foreach_sub _foreach_mul _foreach_mul_ _foreach_div
        _foreach_div_ _foreach_sqrt _foreach_sqrt_ _foreach_addcdiv_ _foreach_addcmul_
    """,
    "norms": "norm dist renorm renorm_ cdist pdist",
    "amp": "autocast amp is_autocast_enabled get_autocast_dtype get_autocast_gpu_dtype",
}.items():
    LATE |= dict.fromkeys(_names.split(), (f"{_HERE}.{_module}",))
LATE["special"] = (f"{_HERE}.special_math", f"{_HERE}.special")
#: torch.nn, and what torch has of torch.nn.functional if it is likely the first of its kind.
_NN = """
    nn softmax log_softmax conv1d conv2d conv3d dropout layer_norm cosine_similarity max_pool2d
    selu celu prelu relu relu_
"""
_NN_PARTS = """
    activations all_parameters containers convolutions functional init layers.activations
    layers.convolutions layers.lazy layers.linear layers.losses layers.normalisation layers.padding
    layers.pooling layers.shapes losses module normalisation parametrize pooling sampling sequences
"""
LATE |= dict.fromkeys(_NN.split(), tuple(f"{_HERE}.nn.{part}" for part in _NN_PARTS.split()))
for _module, _names in {
    "recurrent": "RNN LSTM GRU RNNBase RNNCellBase RNNCell LSTMCell GRUCell",
    "transformer": """
        MultiheadAttention Transformer TransformerEncoder TransformerDecoder
        TransformerEncoderLayer TransformerDecoderLayer
    """,
    "parallel": "DataParallel parallel",
}.items():
    for _name in _names.split():
        LATE[f"nn.{_name}"] = (f"{_HERE}.nn.layers.{_module}",)
LATE["nn.functional.multi_head_attention_forward"] = (f"{_HERE}.nn.attention",)
#: torch.linalg, and what torch has of it under older names.
_LINALG = """
    linalg det logdet slogdet inverse pinverse matrix_power matrix_exp cholesky cholesky_solve
    cholesky_inverse qr svd lu lu_unpack triangular_solve
"""
_LINALG_PARTS = (f"{_HERE}.norms", f"{_HERE}.linalg", f"{_HERE}.decompositions")
LATE |= dict.fromkeys(_LINALG.split(), _LINALG_PARTS)


def offered_as(name: str) -> Any:
    """Return what is offered under a name; the modules that offer it are loaded if need be."""
    for part in (*PARTS, *LATE.get(name, ())):
        if name in NAMES:
            break
        importlib.import_module(part)
    return NAMES[name]


def put(names: tuple[str, ...], value: Any, differs: str = "") -> None:
    """Offer a value under some names; a name that begins with "Tensor." is a method."""
    for name in names:
        if name in NAMES:
            raise ValueError(f"torch.{name} is offered twice")
        NAMES[name] = value
        if name.startswith("Tensor."):
            setattr(Tensor, name.removeprefix("Tensor."), value)
        if differs:
            DIFFERENCES[name] = differs


def _has(owner: type, name: str) -> bool:
    return any(name in vars(parent) for parent in owner.__mro__)


def late_method(owner: type, name: str) -> Any:
    """Return a method of a class of tensors that a module offers which was not loaded yet."""
    from wengert.dialects.torch.front import facade

    facade.load(name)
    if not _has(owner, name):
        facade.load_all()
    if _has(owner, name):
        return getattr(owner, name)
    if f"Tensor.{name}" in ABSENT:
        raise AttributeError(ABSENT[f"Tensor.{name}"])
    methods = [n for n in dir(owner) if not n.startswith("_")]
    hint = did_you_mean(close_to(name, methods))
    raise AttributeError(
        f"'{owner.__name__}' object has no attribute '{name}'{hint} All methods are in "
        "docs/torch-names.md"
    )


@contextlib.contextmanager
def translated(name: str, *raises: type[Exception]) -> Iterator[None]:
    """Return a context in which errors of Wengert's operations become PyTorch's."""
    try:
        yield
    except (ShapeError, DtypeError, ValueError) as error:
        if _is_passed(error, raises):
            raise
        raise _class_for(error)(_words(name, error)) from error


_BROADCAST = re.compile(r"shapes (\([\d, ]*\)) and (\([\d, ]*\)) do not broadcast")


def _words(name: str, error: Exception) -> str:
    """Return what an error of an operation says, in PyTorch's terms."""
    text = str(error).removeprefix(f"{name}: ")
    text = text.replace("wg.reshape or wg.expand_dims", "x.reshape or x.unsqueeze")
    found = _BROADCAST.search(text)
    if found is None:
        return f"{name}: {text}"
    one, other = (ast.literal_eval(shape) for shape in found.groups())
    for back in range(1, min(len(one), len(other)) + 1):
        a, b = one[-back], other[-back]
        if a != b and 1 not in (a, b):
            text = (
                f"shapes that do not fit: {a} elements and {b} on axis "
                f"{max(len(one), len(other)) - back}, where both must be equal or one of them 1: "
                f"{text}"
            )
            break
    return f"{text} ({name})"


class _LinAlgError(RuntimeError):
    """What PyTorch raises where a matrix has no inverse or factor."""


LinAlgError = _LinAlgError


def _class_for(error: Exception) -> type[RuntimeError]:
    """Return PyTorch's class for an error of an operation."""
    return LinAlgError if isinstance(error, np.linalg.LinAlgError) else RuntimeError


def _is_passed(error: Exception, raises: tuple[type[Exception], ...]) -> bool:
    """Return whether an error that an operation raised goes to the program as it is."""
    if isinstance(error, (ShapeError, DtypeError)):
        return False
    return isinstance(error, raises) or hasattr(error, "as_is")


def as_is(error: Exception) -> Exception:
    """Return an error that is raised as it is, though its class is one that operations raise."""
    error.as_is = True  # type: ignore[attr-defined]
    return error


def _enter() -> tuple[Any, Any]:
    """Begin to record and to compute without NumPy's warnings."""
    return (None if active.get() else active.set(TRACKING)), quiet.enter()


def _leave(state: tuple[Any, Any]) -> None:
    token, loud = state
    quiet.leave(loud)
    if token is not None:
        active.reset(token)


def _translate(error: Exception, function: Function) -> Exception:
    """Return PyTorch's error for one that an operation raised."""
    if _is_passed(error, function.raises):
        return error
    return _class_for(error)(_words(function.name, error))


DIALECT = Dialect(
    enter=_enter,
    leave=_leave,
    finish=lambda result, given, _, label: finish(result, given, label),
    errors=(ShapeError, DtypeError, ValueError),
    translate=_translate,
    extra="out",
    by_name=True,
    store=store,
    aliases={
        "axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other", "input": "A",
        "split_size": "split_size_or_sections", "split_sizes": "split_size_or_sections",
        "indices": "indices_or_sections", "sections": "indices_or_sections", "from": "from_",
    },
)  # fmt: skip
#: Of functions that take PyTorch's tensors and see to memory and nodes by themselves.
DIRECT = Dialect(aliases=DIALECT.aliases)
#: Of functions whose bodies say how a view is made.
VIEWS = Dialect(errors=DIALECT.errors, translate=_translate, aliases=DIALECT.aliases)


def guarded(
    body: Callable[..., Any],
    label: str | Callable[..., str],
    *raises: type[Exception],
    other_label: str = "",
    quick: Quick | None = None,
) -> Callable[..., Any]:
    """Return a function whose arguments, tensors and errors are PyTorch's."""
    name = body.__name__.strip("_")
    cast = (CASTS[name], ON) if name in CASTS else None
    return function(Function(body, name, DIALECT, label, other_label, raises, quick, cast))


#: Labels of nodes of several results, where operations have a node for each.
_ONE_NODE = frozenset({
    "StdMeanBackward0", "VarMeanBackward0", "LinalgLuBackward0", "LuUnpackBackward0",
    "TriangularSolveBackward0",
})  # fmt: skip


def finish(result: Any, args: tuple[Any, ...], label: str) -> Any:
    """Return the result of a function as PyTorch's, with memory and nodes of its own."""
    if type(result) is Native:
        raw = result._raw
        given = _is_given(raw, args)
        if given or (type(raw) is np.ndarray and raw.base is not None):
            raw = _own(raw, args)
            node = result._node
            if given and node is not None:  # what changes nothing is a tensor of its own as well
                alias = new_node(ALIAS, node, 0, (), (), node.tokens, node.shape, node.dtype)
                result = wrap_native(raw, alias)
        if type(raw) is not np.ndarray and isinstance(raw, np.generic):
            raw = np.array(raw)
        if result._node is not None:
            mark(result._node, label)
            return made(raw, result._node)
        return finished(label.removesuffix("Backward0").lower(), made(raw), args)
    if isinstance(result, (tuple, list)):
        parts = [finish(part, args, label) for part in result]
        if label in _ONE_NODE:
            show_as_one([part._node for part in parts])
        if hasattr(result, "_fields"):
            return type(result)(*parts)
        return type(result)(parts)
    return result


def _is_given(raw: Any, args: Any) -> bool:
    return id(raw) in [id(getattr(a, "_raw", None)) for a in args]


def _own(raw: Any, args: tuple[Any, ...]) -> Any:
    """Return an array, copied if it shares memory with an argument."""
    if type(raw) is not np.ndarray:
        return raw
    whole = memory.owner(raw)
    for value in args:
        for part in value if isinstance(value, (list, tuple)) else (value,):
            mine = getattr(part, "_raw", None)
            if type(mine) is np.ndarray and memory.owner(mine) is whole:
                return raw.copy()
    if not raw.flags.writeable or 0 in raw.strides:
        return raw.copy()
    return raw


def in_place(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the method that gives a tensor a function's value in place."""

    def compute(old: Any, *args: Any, **options: Any) -> Any:
        return fitted(function(old, *args, **options), old._raw.dtype)

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return memory.change(self, compute, *args, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Do `{name.rstrip('_')}` in place, and return the tensor."
    return method


def offered(
    *names: str,
    method: bool | str = True,
    in_place: bool = False,
    label: str = "",
    differs: str = "",
    raises: tuple[type[Exception], ...] = (),
    quick: Quick | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a function under some names.

    Parameters
    ----------
    names
        Dotted names below `torch`; "Tensor.name" for a method only.
    method
        Whether it is a method too, by the first name or by a name of its own.
    in_place
        Whether there is a method with an underscore, which writes the result to the tensor, and
        a function of that name.
    label
        What PyTorch calls its node; by default the first name with "Backward0".
    differs
        What is not as in PyTorch, for the table in the docs.
    raises
        Classes of errors that come through as they are.
    quick
        A short cut for the usual arguments.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        first = names[0].rpartition(".")[2]
        call = guarded(function, label or camel(first) + "Backward0", *raises, quick=quick)
        _put_both(names, call, method, differs)
        if in_place:
            put_in_place(first, call)
        return call

    return declare


def _put_both(names: tuple[str, ...], call: Any, method: bool | str, differs: str) -> None:
    """Offer a function under its names, and as a method, by the first one or another."""
    first = names[0].rpartition(".")[2]
    put(names, call, differs)
    if method and f"Tensor.{first}" not in names:
        put((f"Tensor.{first if method is True else method}",), call, differs)


def put_in_place(name: str, function: Callable[..., Any]) -> None:
    """Offer the in-place form of a function, as a method and a function."""
    changed = in_place(function, f"{name}_")
    put((f"Tensor.{name}_",), changed)
    if f"{name}_" not in NAMES:
        put((f"{name}_",), changed)


def view(
    *names: str,
    of: Viewed | None = None,
    label: str | Callable[..., str] = "",
    method: bool = True,
    differs: str = "",
    several: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a function whose result is a view where NumPy makes one.

    The function's first parameter is the tensor that is viewed. It returns the parameter of the
    operation `of`, which makes the view; or else a function of Wengert's tensors that makes it,
    or a list of parts (integers, slices, new axes), of which `several` says that they are views by
    one node, which cannot be written to.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        first = names[0].rpartition(".")[2]
        call = as_view(function, label or camel(first) + "Backward0", several, of)
        _put_both(names, call, method, differs)
        return call

    return declare


def as_view(
    body: Callable[..., Any],
    label: str | Callable[..., str],
    several: bool = True,
    of: Viewed | None = None,
) -> Callable[..., Any]:
    """Return a function whose result is a view of its first argument, or several; see `view`."""
    name = body.__name__.strip("_")

    def viewed(input: Any, step: Any, label: str) -> Any:
        if type(step) is list:
            return viewing.parts_of(input, step, label, several)
        return viewing.viewed(input, step, label)

    return function(Function(body, name, VIEWS, label, view=viewed, viewed=of))


def in_place_view(
    view: Callable[..., Any],
    of: Viewed,
    label: str | Callable[..., str],
    undoes_itself: bool = False,
) -> Callable[..., Any]:
    """Return the in-place form of a view: it gives a tensor another shape of its memory.

    The view exchanges axes, and done twice gives the tensor back; or it changes axes of length 1.
    """

    def turn(input: Any, given: Any, label: str) -> Any:
        def step(x: Native) -> Any:
            return of.operation(x, **{of.parameter: given})

        shape = input._raw.shape
        back = step if undoes_itself else lambda y: ns.reshape(y, shape)
        return memory.reshaped(input, step, back, label)

    body = view.__wrapped__  # type: ignore[attr-defined]
    return function(Function(body, f"{body.__name__}_", VIEWS, label, view=turn))


def both(*names: str) -> tuple[str, ...]:
    """Return names of functions that are methods as well."""
    return (*names, *(f"Tensor.{name}" for name in names))


def direct(*names: str, differs: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that offers a function of PyTorch's tensors: only arguments are read."""

    def declare(body: Callable[..., Any]) -> Callable[..., Any]:
        call = function(Function(body, body.__name__.strip("_"), DIRECT))
        put(names, call, differs)
        return call

    return declare


def plain(*names: str, differs: str = "") -> Callable[[Any], Any]:
    """Return a decorator that offers a function or a class as it is."""

    def declare(value: Any) -> Any:
        put(names, value, differs)
        return value

    return declare
