"""Module: tensors by name, in a tree of parts that are called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from wengert.dialects.torch import devices, dtypes
from wengert.dialects.torch.gradients import Handle
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn import module_hooks, module_state
from wengert.dialects.torch.nn.parameters import Buffer, Parameter
from wengert.dialects.torch.signatures import registration
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, is_tensor

M = TypeVar("M", bound="Module")


def _conversion(name: str) -> Callable[[M], M]:
    """Return the method that converts floating parameters and buffers as one of a tensor does."""

    def convert(self: M) -> M:
        return self._apply(lambda t: getattr(t, name)() if t.is_floating_point() else t)

    convert.__doc__ = f"Convert floating parameters and buffers, as Tensor.{name} does."
    return convert


def _members(kind: str, doc: str) -> Callable[..., Iterator[tuple[str, Any]]]:
    """Return the method that returns all tensors of a kind."""

    def named(
        self: Any, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        yield from self._named_members(
            lambda part: getattr(part, kind).items(), prefix, recurse, remove_duplicate
        )

    named.__doc__ = doc
    return named


class Module:
    """A part of a model: parameters, buffers and further parts, and `forward`."""

    training: bool
    _is_full_backward_hook: bool | None
    dump_patches: bool = False
    call_super_init: bool = False
    _version: int = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            what = f"keyword argument '{next(iter(kwargs))}'" if kwargs else "positional arguments"
            raise TypeError(f"{type(self).__name__}() takes no {what}")
        self.__dict__["training"] = True
        self.__dict__.update({name: {} for name in _DICTS})
        self.__dict__["_non_persistent_buffers_set"] = set()
        self.__dict__["_is_full_backward_hook"] = None
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the module is for; a subclass says how."""
        raise NotImplementedError(
            f"{type(self).__name__} has no forward; define def forward(self, x)"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what `forward` computes, with the hooks around it."""
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
        ):
            return module_hooks.call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _DICTS:
            self.__dict__.setdefault(name, {})
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    # -- names -----------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        mine = self.__dict__
        begun = "_parameters" in mine
        if isinstance(value, (Parameter, Module)):
            learns = isinstance(value, Parameter)
            held: Any = value
            if not begun:
                what = "parameters" if learns else "module"
                raise AttributeError(f"{what} assigned too early; write super().__init__() first")
            for names in (mine, self._buffers, self._modules if learns else self._parameters):
                names.pop(name, None)
            self._non_persistent_buffers_set.discard(name)
            if learns:
                self.register_parameter(name, held)
            else:
                self._modules[name] = held
        elif begun and name in self._parameters:
            _check_none(value, name, "parameter", "torch.nn.Parameter")
            self._parameters[name] = None
        elif begun and name in self._modules:
            _check_none(value, name, "child module", "torch.nn.Module")
            self._modules[name] = None
        elif begun and (name in self._buffers or isinstance(value, Buffer)):
            lasting = name not in self._non_persistent_buffers_set
            self.register_buffer(name, value, getattr(value, "persistent", lasting))
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        mine = self.__dict__
        if "_parameters" in mine:
            for members in (mine["_parameters"], mine["_buffers"], mine["_modules"]):
                if name in members:
                    return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for names in (self._parameters, self._buffers, self._modules):
            if name in names:
                del names[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        found = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in found if not name[0].isdigit())

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep a parameter by a name."""
        self._check_name(name, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"parameter '{name}' was given a {type(param).__name__}; give "
                "torch.nn.Parameter(x), or None"
            )
        if param is not None and not param.is_leaf:
            raise ValueError(
                f"parameter '{name}' was given a tensor that was computed; compute it in "
                "forward() from a parameter that is a leaf"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Keep a tensor by a name that is not learnt."""
        self._check_name(name, "buffer")
        if tensor is not None and not is_tensor(tensor):
            raise TypeError(
                f"buffer '{name}' was given a {type(tensor).__name__}; give a tensor, or None"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Keep a part by a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"add_module: got a {type(module).__name__}; give a module, or None")
        self._check_name(name, "module")
        self._modules[name] = module

    def _check_name(self, name: str, what: str) -> None:
        """Raise unless a name can be given to a parameter, a buffer or a part."""
        names = self.__dict__.get(f"_{what}s")
        if names is None:
            raise AttributeError(f"{what} assigned too early; write super().__init__() first")
        if not isinstance(name, str):
            raise TypeError(f"the name of a {what} is a {type(name).__name__}; give a string")
        if hasattr(self, name) and name not in names:
            raise KeyError(f"the module already has an attribute '{name}'; choose another name")
        if "." in name or not name:
            raise KeyError(f"a {what} cannot be called {name!r}; give a name without dots")

    def _at(self, target: str, kind: type) -> Any:
        """Return what is at a path of names."""
        found: Any = self
        for name in target.split(".") if target else ():
            if not isinstance(found, Module) or not hasattr(found, name):
                raise AttributeError(f"there is nothing at {target}: {name} is not in a module")
            found = getattr(found, name)
        if not isinstance(found, kind):
            raise AttributeError(f"{target} is a {type(found).__name__}; name a {kind.__name__}")
        return found

    def get_submodule(self, target: str) -> Module:
        """Return the part at a path of names."""
        part: Module = self._at(target, Module)
        return part

    def get_parameter(self, target: str) -> Any:
        """Return the parameter at a path of names."""
        return self._at(target, Parameter)

    def get_buffer(self, target: str) -> Any:
        """Return the buffer at a path of names."""
        path, _, name = target.rpartition(".")
        buffers = self.get_submodule(path)._buffers
        if name not in buffers:
            raise AttributeError(f"there is no buffer at {target}")
        return buffers[name]

    # -- what is in it -----------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Return the parts right below, with their names."""
        seen: set[Any] = set()
        for name, part in self._modules.items():
            if part is not None and part not in seen:
                seen.add(part)
                yield name, part

    def children(self) -> Iterator[Module]:
        """Return the parts right below."""
        for _, part in self.named_children():
            yield part

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Return this module and all parts below, with their paths."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, part in self._modules.items():
            if part is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from part.named_modules(seen, below, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Return this module and all parts below."""
        for _, part in self.named_modules():
            yield part

    def _named_members(
        self, get_members_fn: Callable[[Any], Any], prefix: str = "", recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:  # fmt: skip
        seen: set[Any] = set()
        below = self.named_modules(None, prefix, remove_duplicate)
        for path, part in below if recurse else [(prefix, self)]:
            for name, value in get_members_fn(part):
                if value is None or value in seen:
                    continue
                if remove_duplicate:
                    seen.add(value)
                yield (f"{path}.{name}" if path else name), value

    named_parameters = _members("_parameters", "Return the parameters, with their paths.")
    named_buffers = _members("_buffers", "Return the buffers, with their paths.")

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Return the parameters."""
        for _, value in self.named_parameters(recurse=recurse):
            yield value

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Return the buffers."""
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    # -- changing all of it ------------------------------------------------------------------------

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Call a function with every part and then with this module."""
        for part in self.children():
            part.apply(fn)
        fn(self)
        return self

    def train(self: M, mode: bool = True) -> M:
        """Have dropout and the like do what they do in training, or not."""
        if not isinstance(mode, bool):
            raise ValueError("train(): mode is not a boolean; write model.train() or model.eval()")
        self.training = mode
        for part in self.children():
            part.train(mode)
        return self

    def eval(self: M) -> M:
        """Have dropout and the like do nothing."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Have all parameters require gradients, or none."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or make them zero."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.detach_().zero_()

    def _apply(self: M, fn: Callable[[Any], Any], recurse: bool = True) -> M:
        """Give all tensors a function's values of them; parameters stay the same objects."""
        for part in self.children() if recurse else ():
            part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                with no_grad():
                    parameter.data = fn(parameter)
                if parameter.grad is not None:
                    with no_grad():
                        parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(
        self: M, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False,
        tensor: Any = None, memory_format: Any = None,
    ) -> M:  # fmt: skip
        """Convert floating parameters and buffers to a dtype; a device must be the CPU."""
        given = [*args] if tensor is None else [tensor, *args]
        if given and is_tensor(given[0]):
            device, dtype = None, given.pop(0).dtype
        if given and (given[0] is None or isinstance(given[0], (str, int, devices.device))):
            device = given.pop(0)
        if given and not isinstance(given[0], bool):
            dtype = given.pop(0)
        if any(not isinstance(g, bool) for g in given):
            raise TypeError(f"to(): got {args!r:.100}; give a device, a dtype or a tensor")
        if dtype is not None:
            _check_floating(dtype)

        def change(value: Any) -> Any:
            wanted = dtype if value.is_floating_point() or value.is_complex() else None
            has_images = memory_format is not None and value.dim() in (4, 5)
            return value.to(device, wanted, memory_format=memory_format if has_images else None)

        return self._apply(change)

    float = _conversion("float")
    double = _conversion("double")
    half = _conversion("half")
    bfloat16 = _conversion("bfloat16")

    def type(self: M, dst_type: Any) -> M:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self: M) -> M:
        """Return the module, which is there already."""
        return self._apply(lambda t: t.cpu())

    def cuda(self: M, device: Any = None) -> M:
        """Raise: tensors are on the CPU."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
        """Give all tensors new memory, whose numbers are not set."""
        return self._apply(lambda t: t.new_empty(t.shape, device=device), recurse)

    def share_memory(self: M) -> M:
        """Return the module: there is one process."""
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: there is no compiler."""

    # -- hooks -------------------------------------------------------------------------------------

    register_forward_hook = module_hooks.register_forward_hook
    register_forward_pre_hook = module_hooks.register_forward_pre_hook
    register_full_backward_hook = module_hooks.register_full_backward_hook
    register_full_backward_pre_hook = module_hooks.register_full_backward_pre_hook
    register_backward_hook = module_hooks.register_backward_hook
    register_state_dict_pre_hook = registration(
        "_state_dict_pre_hooks",
        "Have a function called before the state is saved: hook(module, prefix, keep_vars).",
    )
    _register_state_dict_hook = registration(
        "_state_dict_hooks", "Have a function called with the state, which it may replace."
    )
    register_load_state_dict_post_hook = registration(
        "_load_state_dict_post_hooks",
        "Have a function called after a state was loaded: hook(module, incompatible_keys).",
    )

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> Handle:
        """Have a function called with the state: hook(module, state_dict, prefix, metadata)."""
        handle = self._register_state_dict_hook(hook)
        self._state_dict_public_hooks[handle.id] = True
        return handle

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """Have a function called before a state is loaded: hook(module, state_dict, ...)."""
        return self._register_load_state_dict_pre_hook(hook, True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> Handle:
        call = functools.partial(hook, self) if with_module else hook
        return Handle.of(self._load_state_dict_pre_hooks, call)

    # -- state -------------------------------------------------------------------------------------

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and lasting buffers by their paths."""
        return module_state.saved(self, destination, prefix, keep_vars)

    _save_to_state_dict = module_state.save_own
    _load_from_state_dict = module_state.load_own
    get_extra_state = module_state.get_extra_state
    set_extra_state = module_state.set_extra_state

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> module_state.IncompatibleKeys:
        """Copy parameters and buffers from a dict of them, or with `assign` take them."""
        loading = module_state.Loading(state_dict, assign)
        loading.load(self, loading.state)
        return loading.finish(self, strict)

    # -- what it looks like ------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what is said of the module between its brackets."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = [f"({name}): {indented(repr(part))}" for name, part in self._modules.items()]
        return framed(self._get_name(), lines, parts)


def indented(text: str) -> str:
    """Return a text whose lines after the first begin with two more spaces."""
    return text.replace("\n", "\n  ")


def framed(name: str, lines: list[str], parts: list[str]) -> str:
    """Return what a module looks like: on one line if nothing is in it but that line."""
    if not parts and len(lines) <= 1:
        return f"{name}({''.join(lines)})"
    inner = "\n  ".join(lines + parts)
    return f"{name}(\n  {inner}\n)"


#: The dicts that every module has.
_DICTS = (
    "_parameters", "_buffers", "_modules", *module_hooks.DICTS, "_state_dict_hooks",
    "_state_dict_public_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip


def _check_none(value: Any, name: str, what: str, expected: str) -> None:
    if value is not None:
        raise TypeError(
            f"{what} '{name}' was given a {type(value).__name__}; give a {expected}, or None"
        )


def _check_floating(dtype: Any) -> None:
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"to(): dtype is a {type(dtype).__name__}; write torch.float64 or the like")
    if not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"to(): parameters cannot have dtype {dtype}; give a floating or a complex one"
        )


put(("nn.Module", "nn.modules.Module", "nn.modules.module.Module"), Module)
__all__ = ["Module", "Parameter", "Tensor"]
