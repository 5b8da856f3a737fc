"""torch.nn.utils.parametrize: parameters that are computed from others each time they are read."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.containers import ModuleDict, ModuleList
from wengert.dialects.torch.nn.layers.calls import F
from wengert.dialects.torch.nn.layers.convolutions import _ConvTransposeNd
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import is_tensor


def _keep(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_kept(old: Any, new: Any, *, what: str = "the parametrization") -> None:
    """Raise unless a tensor has the dtype of another, and for a parametrization its shape."""
    if not is_tensor(new):
        raise ValueError(f"{what} returned a {type(new).__name__}; return a tensor")
    for name in ("dtype", "shape") if what == "the parametrization" else ("dtype",):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            raise ValueError(f"{what} changed the {name} from {before} to {after}; keep it")


class ParametrizationList(ModuleList):
    """The functions from what is learnt to a parameter, one after the other."""

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList: got no modules; give one at least")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.detach().clone()
        new = self._inverted(original, False)
        self.is_tensor = is_tensor(new)
        if not self.is_tensor and not isinstance(new, Sequence):
            raise ValueError(f"right_inverse returned a {type(new).__name__}; return tensors")
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            _check_kept(original, new, what="right_inverse")
            if new is not original:
                original.data = new.detach()
            _keep(self, "original", original)
        else:
            learns = isinstance(original, Parameter)
            for name, tensor in zip(self._names(), new, strict=True):
                _keep(self, name, Parameter(tensor, original.requires_grad) if learns else tensor)
        if not unsafe:
            _check_kept(before, self())

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{k}" for k in range(self.ntensors)]

    def _originals(self) -> list[Any]:
        return [getattr(self, name) for name in self._names()]

    def _inverted(self, value: Any, required: bool) -> Any:
        """Return what is to be learnt for a value; functions without an inverse are left out."""
        with no_grad():
            for part in reversed(list(self)):
                if hasattr(part, "right_inverse"):
                    with contextlib.suppress(*() if required else (NotImplementedError,)):
                        value = part.right_inverse(value)
                elif required:
                    raise RuntimeError(f"{type(part).__name__} has no right_inverse; define it")
        return value

    def right_inverse(self, value: Any) -> None:
        """Have what is learnt be such that the parameter has a value."""
        value = self._inverted(value, True)
        parts, originals = [value] if self.is_tensor else list(value), self._originals()
        if len(parts) != len(originals):
            raise ValueError(f"right_inverse returned {len(parts)}; return {len(originals)}")
        for old, new in zip(originals, parts, strict=True):
            _check_kept(old, new, what="right_inverse")
            old.data = new.detach()

    def forward(self) -> Any:
        """Return the parameter."""
        first, *others = self
        found = first(*self._originals())
        for part in others:
            found = part(found)
        return found


class _Parametrized:
    """Goes before a module's class: names in `parametrizations` are computed when they are read."""

    parametrizations: Any

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __getstate__(self) -> Any:
        raise RuntimeError("parametrizations are not pickled; save the state_dict() instead")


def _computed(name: str) -> property:
    def get(self: Any) -> Any:
        return self.parametrizations[name]()

    def put_back(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, put_back)


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Have a parameter computed by a module from its original, and return that module."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            value = getattr(module, tensor_name)
            _check_kept(value, parametrization(value))
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(f"'{module}' has no parameter and no buffer called '{tensor_name}'")
    functions = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        cls = type(module)
        made = type(f"Parametrized{cls.__name__}", (_Parametrized, cls), {})
        object.__setattr__(module, "__class__", made)
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _computed(tensor_name))
    module.parametrizations[tensor_name] = functions
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return whether a module computes some parameter, or the one of a name."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Have a parameter be one again, with its value now or, if not wanted, with what was learnt."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{module} has no parametrization of {tensor_name}")
    functions = module.parametrizations[tensor_name]
    value = getattr(module, tensor_name).detach().clone()
    if not (functions.is_tensor or leave_parametrized):
        raise ValueError("there is no original to go back to; write leave_parametrized=True")
    if functions.is_tensor:
        original = functions.original
        if leave_parametrized:
            original.data = value
    else:
        learns = any(p.requires_grad for p in functions.parameters(recurse=False))
        original = Parameter(value, learns)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        object.__setattr__(module, "__class__", type(module).__bases__[1])
    _keep(module, tensor_name, original)
    return module


for _value in (
    ParametrizationList, register_parametrization, is_parametrized, remove_parametrizations,
):  # fmt: skip
    put((f"nn.utils.parametrize.{_value.__name__}",), _value)


# -- length and direction --------------------------------------------------------------------------


def _norm_but(weight: Any, dim: int) -> Any:
    """Return the norms of the slices of a tensor along an axis; one for all if that is -1."""
    if dim == -1:
        return weight.norm()
    others = [k for k in range(weight.ndim) if k != dim % weight.ndim]
    return weight.norm(2, others, keepdim=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / _norm_but(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> Any:
        return _norm_but(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a parameter computed from its length and its direction."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def renamed(state: Any, prefix: str, *rest: Any) -> None:
        """Take a state that the older weight_norm saved."""
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state for key in old):
            for k, key in enumerate(old):
                state[f"{prefix}parametrizations.{name}.original{k}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(renamed)
    return module


# -- the largest singular value --------------------------------------------------------------------


def _as_matrix(weight: Any, dim: int) -> Any:
    if dim:
        weight = weight.permute(dim, *(k for k in range(weight.ndim) if k != dim))
    return weight.flatten(1)


def _drawn(like: Any, count: int, eps: float) -> Any:
    """Return a random vector of length 1."""
    return F.normalize(like.new_empty(count).normal_(0, 1), dim=0, eps=eps)


def _check_iterations(times: int) -> None:
    if times <= 0:
        raise ValueError(f"n_power_iterations is {times}; give 1 or more")


def _first_axis(module: Any, dim: int | None) -> int:
    if dim is None:
        return 1 if isinstance(module, _ConvTransposeNd) else 0
    return dim


class _SpectralNorm(Module):
    def __init__(
        self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"there is no axis {dim}: the weight has {weight.ndim}")
        _check_iterations(n_power_iterations)
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = _as_matrix(weight, self.dim)
            for name, count in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(name, _drawn(matrix, count, eps))
            self._move(matrix, 15)

    def _move(self, matrix: Any, times: int) -> None:
        """Move two vectors, in place, towards those of the largest singular value."""
        with no_grad():
            for _ in range(times):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = _as_matrix(weight, self.dim)
        if self.training:
            self._move(matrix, self.n_power_iterations)
        return weight / self._u.clone().vdot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Have a parameter divided by its largest singular value."""
    weight = getattr(module, name, None)
    if not is_tensor(weight):
        raise ValueError(f"'{module}' has no parameter and no buffer called '{name}'")
    function = _SpectralNorm(weight, n_power_iterations, _first_axis(module, dim), eps)
    return register_parametrization(module, name, function)


put(("nn.utils.parametrizations.weight_norm",), weight_norm)
put(("nn.utils.parametrizations.spectral_norm",), spectral_norm)


# -- as they were before, by hooks -----------------------------------------------------------------


@dataclass(frozen=True)
class _BeforeCall:
    """A hook that computes a parameter from others before each call of its module."""

    kind: str
    name: str
    #: what the names of the others end with, and the function of them and of `training`
    parts: tuple[str, ...]
    compute: Callable[..., Any]

    def value(self, module: Any, training: bool) -> Any:
        """Return the parameter."""
        return self.compute(*(getattr(module, self.name + part) for part in self.parts), training)

    def __call__(self, module: Any, args: Any) -> None:
        setattr(module, self.name, self.value(module, module.training))

    def is_like(self, other: Any) -> bool:
        """Return whether another hook does the same to the same parameter."""
        return isinstance(other, _BeforeCall) and (self.kind, self.name) == (other.kind, other.name)

    def register(self, module: Any) -> None:
        """Have the hook called before each call of a module."""
        if any(map(self.is_like, module._forward_pre_hooks.values())):
            raise RuntimeError(
                f"the parameter {self.name} already has a {self.kind}; remove that first"
            )
        module.register_forward_pre_hook(self)


def _remove(kind: str, module: Any, name: str = "weight") -> Any:
    """Have a parameter be one again, with its value now."""
    for number, hook in module._forward_pre_hooks.items():
        if _BeforeCall(kind, name, (), _remove).is_like(hook):
            with no_grad():
                value = hook.value(module, False)
            for part in ("", *hook.parts):
                delattr(module, name + part)
            module.register_parameter(name, Parameter(value.detach()))
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"{module} has no {kind} of '{name}'")


def _from_length(g: Any, v: Any, training: bool, dim: int) -> Any:
    return v * (g / _norm_but(v, dim))


def _old_weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a parameter computed from its length and its direction before each call."""
    warn("nn.utils.weight_norm is old; write nn.utils.parametrizations.weight_norm", FutureWarning)
    axis = -1 if dim is None else dim
    hook = _BeforeCall("weight_norm", name, ("_g", "_v"), partial(_from_length, dim=axis))
    hook.register(module)
    weight = getattr(module, name)
    delattr(module, name)
    for part, value in zip(hook.parts, (_norm_but(weight, axis), weight), strict=True):
        module.register_parameter(name + part, Parameter(value.detach()))
    setattr(module, name, hook.value(module, False))
    return module


def _scaled(weight: Any, u: Any, v: Any, training: bool, dim: int, eps: float, times: int) -> Any:
    matrix = _as_matrix(weight, dim)
    if training:
        with no_grad():
            for _ in range(times):
                v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))
                u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))
        u, v = u.clone(), v.clone()
    return weight / u.dot(matrix.mv(v))


def _old_spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Have a parameter divided by its largest singular value before each call."""
    _check_iterations(n_power_iterations)
    axis = _first_axis(module, dim)
    compute = partial(_scaled, dim=axis, eps=eps, times=n_power_iterations)
    _BeforeCall("spectral_norm", name, ("_orig", "_u", "_v"), compute).register(module)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError("spectral_norm: the parameter is None; give one with a value")
    vectors = [_drawn(weight, count, eps) for count in _as_matrix(weight, axis).shape]
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    for part, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{part}", vector)
    return module


put(("nn.utils.weight_norm",), _old_weight_norm)
put(("nn.utils.spectral_norm",), _old_spectral_norm)
put(("nn.utils.remove_weight_norm",), partial(_remove, "weight_norm"))
put(("nn.utils.remove_spectral_norm",), partial(_remove, "spectral_norm"))
