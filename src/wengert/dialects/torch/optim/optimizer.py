"""What optimisers and schedules share: options, groups of parameters, state, hooks, and steps."""

from __future__ import annotations

import copy
import functools
import numbers
from collections import defaultdict
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert import backends
from wengert.dialects.kernel.functions import warn
from wengert.dialects.quiet import Quiet
from wengert.dialects.torch import conventions, dtypes, memory
from wengert.dialects.torch.modes import PAUSED, current, enable_grad, no_grad
from wengert.dialects.torch.signatures import define_init, registration, split
from wengert.dialects.torch.strides import check_memory
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Native, Tensor, convert, made, ns
from wengert.engine.node import next_order
from wengert.engine.record import apply
from wengert.engine.tensor import wrap
from wengert.errors import users_frame
from wengert.optim.formulas import PIECE, Formula, step_in_place

Hooks = dict[int, Callable[..., Any]]


# -- what options must be --------------------------------------------------------------------------

Range = tuple[str, Callable[[Any], bool]]


def item(value: Any) -> Any:
    """Return the number in a tensor; other values as they are."""
    return value._raw.item() if isinstance(value, Tensor) else value


def one_of(*names: str) -> Range:
    """Return the range of an option that is one of some texts."""
    return " or ".join(map(repr, names)), lambda value: value in names


_NOT_NEGATIVE: Range = "a number of 0 or more", lambda value: value >= 0
_SHARE: Range = "a number from 0 to 1", lambda value: 0 <= value <= 1
_COUNT: Range = "a whole number of 1 or more", lambda n: isinstance(n, int) and n > 0
#: What to give for an option, and whether a value is that; of several numbers, whether each is.
RANGES: dict[str, Range] = {
    **dict.fromkeys(
        (
            "lr", "eps", "weight_decay", "momentum", "lr_decay", "initial_accumulator_value",
            "momentum_decay", "alpha",
        ),
        _NOT_NEGATIVE,
    ),
    **dict.fromkeys(("rho", "factor", "end_factor"), _SHARE),
    **dict.fromkeys(("T_0", "T_mult", "total_steps", "epochs", "steps_per_epoch"), _COUNT),
    "betas": ("numbers from 0 to below 1", lambda beta: 0 <= beta < 1),
    "start_factor": ("a number above 0 and at most 1", lambda factor: 0 < factor <= 1),
    "eta_min": ("a number", lambda rate: isinstance(rate, numbers.Real)),
    "pct_start": ("a float from 0 to 1", lambda n: isinstance(n, float) and 0 <= n <= 1),
    "anneal_strategy": one_of("cos", "linear"),
}  # fmt: skip


def check(options: dict[str, Any], ranges: dict[str, Range] = RANGES) -> None:
    """Raise if an option is not in its range."""
    for name, value in options.items():
        if name not in ranges:
            continue
        if name == "lr" and isinstance(value, Tensor) and value._raw.size != 1:
            raise ValueError(f"lr is a tensor of {value._raw.size} elements; give one number")
        expected, holds = ranges[name]
        several = isinstance(value, (tuple, list))
        given = [v for v in value if v is not None] if several else [value]
        if not all(holds(item(v)) for v in given):
            raise ValueError(f"{name} is {value!r}; give {expected}")


# -- groups, state and hooks -----------------------------------------------------------------------


class _Required:
    """The default of an option that each group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a class's method `step` with the hooks around it."""

    @functools.wraps(step)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not (self._step_pre_hooks or self._step_post_hooks):
            return step(self, *args, **kwargs)
        given: tuple[Any, ...] = (self, *args)
        for hook in self._step_pre_hooks.values():
            answer = hook(self, given, kwargs)
            if answer is None:
                continue
            if not (isinstance(answer, tuple) and len(answer) == 2):
                raise RuntimeError(
                    f"a hook before {type(self).__name__}.step returned {answer}; return None, "
                    "or a pair of arguments and keyword arguments"
                )
            given, kwargs = answer
        result = step(*given, **kwargs)
        for hook in self._step_post_hooks.values():
            hook(self, given, kwargs)
        return result

    call.hooked = True  # type: ignore[attr-defined]
    return call


class Optimizer:
    """Groups of parameters, each with its options, and the state of an algorithm.

    A subclass defines `step`, and gives `__init__` the options that groups need not name.
    """

    if TYPE_CHECKING:  # the hooks, and what registers them

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._without_hooks()
        if isinstance(params, Tensor):
            raise TypeError("the optimizer was given one tensor; write [tensor]")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("the optimizer was given no parameters; give [tensor, ...]")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _without_hooks(self) -> None:
        """Begin without hooks, and have the class's own `step` call those that come."""
        for name in _HOOKS:
            self.__dict__[f"_{name}s"] = {}
        kind: Any = type(self)
        if not hasattr(kind.step, "hooked"):
            kind.step = _with_hooks(kind.step)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("defaults", "state", "param_groups")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_step_pre_hooks" not in self.__dict__:
            self._without_hooks()
        self.defaults.setdefault("differentiable", False)
        for group in self.param_groups:
            for name, value in self.defaults.items():  # which an older state may lack
                group.setdefault(name, value)
            for p in group["params"]:
                kept = self.state.get(p, {})
                for name in ("step", "mu_product", "eta", "mu"):
                    if isinstance(kept.get(name), (int, float)):
                        kept[name] = number(kept[name])

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for position, group in enumerate(self.param_groups):
            text += f"\nParameter Group {position}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"got a {type(param_group).__name__}; give a dictionary with 'params'")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError("the parameters are a set, whose order changes; write a list")
        several = [given] if isinstance(given, Tensor) else list(given)
        names = [pair[0] for pair in several if isinstance(pair, tuple)]
        params = [pair[1] if isinstance(pair, tuple) else pair for pair in several]
        param_group["params"] = params
        if names:
            if len(names) != len(params):
                raise ValueError(f"{len(names)} of {len(params)} parameters have names; give all")
            param_group["param_names"] = names
        for p in params:
            self._check_parameter(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"a group of parameters has no {name}, and there is no default; write "
                    f"{{'params': [...], '{name}': ...}}"
                )
            param_group.setdefault(name, default)
        self._check_apart(param_group)
        self.param_groups.append(param_group)

    def _check_parameter(self, p: Any) -> None:
        if not isinstance(p, Tensor):
            raise TypeError(f"a parameter is a {type(p).__name__}; write torch.nn.Parameter(x)")
        if not (self.defaults.get("differentiable") or p.is_leaf or p._retains):
            raise ValueError(
                "a parameter was computed from others, so a step would not last; give the leaf "
                "that it was computed from, or write x.detach().requires_grad_()"
            )

    def _check_apart(self, group: dict[str, Any]) -> None:
        """Raise if parameters of a new group are in others, or only some groups have names."""
        params = {id(p) for p in group["params"]}
        if len(params) != len(group["params"]):
            warn("a parameter is in its group twice; give each once")
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                raise ValueError("some groups have names and some have none; give them to all")
            if not params.isdisjoint(id(p) for p in other["params"]):
                raise ValueError("a parameter is in two groups; put each into one")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or make them zero in place."""
        for group in self.param_groups:
            for p in group["params"]:
                g = p._grad
                if set_to_none or g is None:
                    p._grad = None
                    continue
                g.detach_() if not g.is_leaf else g.requires_grad_(False)
                with no_grad():
                    g.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a subclass says how."""
        raise NotImplementedError(f"{type(self).__name__} has no method step")

    # -- state -------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the groups, with numbers in place of parameters."""
        for hook in self._state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        begin = 0
        groups = []
        for group in self.param_groups:
            for position, p in enumerate(group["params"], begin):
                numbers.setdefault(id(p), position)
            begin += len(group["params"])
            packed = {name: value for name, value in group.items() if name != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {
            numbers[id(p)] if isinstance(p, Tensor) else p: kept for p, kept in self.state.items()
        }
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._state_dict_post_hooks.values():
            answer = hook(self, found)
            found = found if answer is None else answer
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the groups of another optimiser."""
        state_dict = state_dict.copy()
        for hook in self._load_state_dict_pre_hooks.values():
            answer = hook(self, state_dict)
            state_dict = state_dict if answer is None else answer
        groups = copy.deepcopy(state_dict["param_groups"])
        sizes, mine = ([len(g["params"]) for g in all_] for all_ in (groups, self.param_groups))
        if sizes != mine:
            raise ValueError(
                f"the groups of the state have {sizes} parameters, and those of the optimizer "
                f"{mine}; make the optimizer with the groups that the state was saved with"
            )
        by_number: dict[Any, Tensor] = {}
        for group, own in zip(groups, self.param_groups, strict=True):
            by_number.update(zip(group["params"], own["params"], strict=True))
            group["params"] = own["params"]
            if "param_names" in own:
                group.setdefault("param_names", own["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, kept in state_dict["state"].items():
            p = by_number.get(key)
            state[key if p is None else p] = kept if p is None else _fitted(p, kept)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._load_state_dict_post_hooks.values():
            hook(self)


#: The hooks of an optimiser. Those before may return other arguments, and the one after the state
#: was asked for another state.
_HOOKS = tuple(
    f"{what}_{when}_hook"
    for what in ("step", "state_dict", "load_state_dict")
    for when in ("pre", "post")
)
for _hook in _HOOKS:
    _doc = f"Have a function called {'before' if '_pre_' in _hook else 'after'} each `{{}}`."
    _called = _hook.removesuffix("_hook").rpartition("_")[0]
    setattr(Optimizer, f"register_{_hook}", registration(f"_{_hook}s", _doc.format(_called)))


def _fitted(p: Tensor, value: Any, name: Any = None) -> Any:
    """Return a part of a loaded state in the dtype of the parameter that it is kept for."""
    if isinstance(value, Tensor):
        kind = p._raw.dtype
        if name == "step" or backends.kind_of(kind) != "f" or value._raw.dtype == kind:
            return value
        return made(value._raw.astype(kind))
    if isinstance(value, dict):
        return {k: _fitted(p, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_fitted(p, v) for v in value)  # type: ignore[call-arg]
    return value


# -- steps by a rule -------------------------------------------------------------------------------


def _operation(function: Any) -> Callable[..., Any]:
    """Return an operation that this dialect declares as a function of Wengert's tensors."""
    return lambda *args: apply(function.op, args, {})


#: What rules compute with where steps are recorded: derivatives at kinks are PyTorch's.
_RECORDED = SimpleNamespace(
    sqrt=ns.sqrt,
    abs=_operation(conventions.absolute),
    sign=_operation(conventions.flat_sign),
    maximum=_operation(conventions.maximum),
    clip=ns.clip,
)


def number(value: float) -> Tensor:
    """Return a number that a state keeps, as PyTorch keeps it."""
    kind = np.float64 if dtypes.default().numpy == np.float64 else np.float32
    return made(np.array(value, kind))


def filled(p: Tensor, value: float = 0.0) -> Tensor:
    """Return a tensor like a parameter with one value everywhere, in both parts of complex ones."""
    raw = p._raw
    return made(np.full_like(raw, complex(value, value) if raw.dtype.kind == "c" else value))


class OfOptions(Optimizer):
    """An optimiser whose constructor takes parameters and options, written as a text: `takes`."""

    #: the options that a state shows last, in PyTorch's order
    _last: tuple[str, ...] = ()

    def __init_subclass__(cls, *, takes: str = "", last: str = "", **further: Any) -> None:
        super().__init_subclass__(**further)
        define_init(cls, "params", takes)
        cls._last = split(last) or cls._last

    def _init_with(self, params: Any, options: dict[str, Any]) -> None:
        """Check the options, and begin with them."""
        check(options)
        if options.get("fused") and options.get("differentiable"):
            raise RuntimeError(
                "fused=True has no derivative, which differentiable=True needs; leave one away"
            )
        if options.get("fused") and options.get("foreach"):
            raise RuntimeError("fused and foreach both say how to compute a step; leave one away")
        first = {name: value for name, value in options.items() if name not in self._last}
        super().__init__(params, first | {name: options[name] for name in self._last})


class ByRule(OfOptions):
    """An optimiser that changes each parameter by a formula of its gradient, state and options.

    Parameters
    ----------
    takes
        The arguments of ``__init__`` behind the parameters, which become options.
    keeps
        The arrays that are kept for each parameter: "prev" of zeros, "step_size=lr" of an option's
        value, "grad_avg if centered" if an option is set.
    numbers
        The numbers that are kept besides the step, likewise.
    """

    _formula: Formula
    #: whether complex parameters are taken for pairs of real ones
    _pairs = True
    #: the name of each array and number, its first value and the option that it needs
    _arrays: tuple[tuple[str, Any, str], ...] = ()
    _numbers: tuple[tuple[str, Any, str], ...] = ()

    def __init_subclass__(
        cls, *, formula: Formula | None = None, keeps: str = "", numbers: str = "", **further: Any,
    ) -> None:  # fmt: skip
        super().__init_subclass__(**further)
        if formula is not None:
            cls._formula = staticmethod(formula)
            cls._arrays, cls._numbers = _kept(keeps), _kept(numbers)

    def _begin(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the state that a parameter begins with."""
        state = {"step": number(0)}
        for name, value, _ in self._numbers:
            state[name] = number(item(group.get(value, value)))
        for name, value, needed in self._arrays:
            if not needed or group[needed]:
                state[name] = filled(p, item(group.get(value, value)))
        return state

    def _state_of(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.state[p]
        if not state:
            state.update(self._begin(p, group))
        return state

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients, and return the closure's loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        records = bool(self.defaults.get("differentiable"))
        with enable_grad() if records else no_grad(), Quiet():
            for group in self.param_groups:
                self._step_group(group, records)
        return loss

    def _step_group(self, group: dict[str, Any], records: bool) -> None:
        inward = _as_native if records else item
        options = {name: group[name] for name in self.defaults if name in group}
        for name, value in options.items():
            if isinstance(value, (tuple, list)):
                options[name] = tuple(map(inward, value))
            elif isinstance(value, Tensor):
                options[name] = inward(value)
        for p in group["params"]:
            g = p.grad
            if g is None:
                continue
            _check_flags(p, options)
            state = self._state_of(p, group)
            if "step" in state:
                count = state["step"]._raw
                count += 1
            plain = type(p._raw) is np.ndarray and type(g._raw) is np.ndarray
            if plain and not records and current() == PAUSED:
                self._write(p, g._raw, state, options)
            else:
                self._record(p, convert(g), state, options)

    def _write(
        self, p: Tensor, g: np.ndarray, state: dict[str, Any], options: dict[str, Any]
    ) -> None:
        """Make a step in the memory of a parameter and its state."""
        memory.check_writable(p)
        raw = p._raw
        check_memory(raw)
        kept = {name: tensor._raw for name, tensor in state.items() if tensor is not None}
        given = dict(kept)
        if raw.dtype.kind == "c" and self._pairs:
            given = {name: _pairs(value) for name, value in given.items()}
            self._formula(np, _pairs(raw), _pairs(g), given, options)
        elif raw.size > PIECE and given.keys() == state.keys():  # no array is new
            step_in_place(self._formula, raw, g, given, options)
        else:
            self._formula(np, raw, g, given, options)
        frame = users_frame()
        for array in (raw, *kept.values()):
            memory.note_write(array, frame)
        for name, value in given.items():
            before = kept.get(name)
            if before is None:
                state[name] = made(np.asarray(value))  # of one number, rules make NumPy's scalars
            elif type(value) is float:
                before[...] = value

    def _record(self, p: Tensor, g: Native, state: dict[str, Any], options: dict[str, Any]) -> None:
        """Make a step whose nodes say how the parameter and its state came about."""
        memory.check_writable(p)
        since = next_order()
        given: dict[str, Any] = {
            name: _own(tensor) for name, tensor in state.items() if tensor is not None
        }
        old = _own(p)
        if p._raw.dtype.kind == "c" and self._pairs:
            given = {name: _native_pairs(value) for name, value in given.items()}
            new = self._formula(_RECORDED, _native_pairs(old), _native_pairs(g), given, options)
            new = ns.complex(new[..., 0], new[..., 1])
        else:
            new = self._formula(_RECORDED, old, g, given, options)
        memory.overwrite(p, new, since)
        for name, value in given.items():
            if name == "step":
                continue
            if not isinstance(value, Native):
                value = wrap(np.asarray(value))
            tensor = state.get(name)
            if tensor is None:
                state[name] = made(np.copy(value._raw), value._node)
                continue
            if tensor._raw.dtype.kind == "c" and value._raw.dtype.kind != "c":
                value = ns.complex(value[..., 0], value[..., 1])
            memory.overwrite(tensor, value)


def _kept(text: str) -> tuple[tuple[str, Any, str], ...]:
    """Return the name, the first value and the needed option of what a text says is kept."""
    found = []
    for part in split(text):
        rest, _, needed = part.partition(" if ")
        name, _, value = rest.partition("=")
        found.append((name, value if value.isidentifier() else float(value or 0), needed))
    return tuple(found)


def _as_native(value: Any) -> Any:
    """Return a tensor among the options as what rules record; a number if it is not learnt."""
    if not isinstance(value, Tensor):
        return value
    return convert(value) if value.requires_grad else value._raw.item()


def _check_flags(p: Tensor, options: dict[str, Any]) -> None:
    if options.get("capturable"):
        raise AssertionError(
            "capturable=True is for GPUs, and this runs on a CPU; leave capturable away"
        )
    if options.get("fused") and backends.kind_of(p._raw.dtype) != "f":
        raise RuntimeError(
            f"fused=True needs floating numbers, and a parameter has dtype {p.dtype}; leave "
            "fused away"
        )


def _own(tensor: Tensor) -> Native:
    """Return a tensor's node and a copy of its array, which is about to be overwritten."""
    raw = tensor._raw
    return wrap(raw.copy("K") if type(raw) is np.ndarray else raw, tensor._node)


def _pairs(value: Any) -> Any:
    """Return a complex array as real parts and imaginary parts on a last axis, in its memory."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "c":
        return value
    return value[..., None].view(value.real.dtype)


def _native_pairs(value: Any) -> Any:
    if not isinstance(value, Native) or value._raw.dtype.kind != "c":
        return value
    return ns.stack([ns.real(value), ns.imag(value)], axis=-1)


put(("optim.Optimizer", "optim.optimizer.Optimizer"), Optimizer)
put(("optim.optimizer.required",), required)
__all__ = ["ByRule", "OfOptions", "Optimizer", "filled", "item", "number"]
