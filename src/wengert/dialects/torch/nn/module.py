"""Module and Parameter: tensors by name, in a tree of parts that are called."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from wengert.dialects.torch import dtypes, gradients, memory
from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.table import put
from wengert.dialects.torch.tensors import Tensor, convert, is_tensor, leaf, made

M = TypeVar("M", bound="Module")


class Parameter(Tensor):
    """A tensor that a module learns."""

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Return a leaf with the memory of a tensor."""
        parameter = object.__new__(cls)
        parameter._raw = np.empty(0, dtypes.default().numpy) if data is None else data._raw
        parameter._node = leaf(parameter) if requires_grad else None
        return parameter

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = Parameter(made(self._raw.copy()), self.requires_grad)
        found: Parameter = memo[id(self)]
        return found

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _parameter_of, (self._raw, self.requires_grad)


def _parameter_of(raw: Any, requires_grad: bool) -> Parameter:
    return Parameter(made(raw), requires_grad)


class Buffer(Tensor):
    """A tensor that a module keeps and does not learn."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """Return a tensor with the memory of another."""
        buffer = object.__new__(cls)
        buffer._raw = np.empty(0, dtypes.default().numpy) if data is None else data._raw
        buffer._node = None
        buffer.persistent = persistent
        return buffer

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        pass


class IncompatibleKeys(NamedTuple):
    """The keys of a state that a module lacks, and those of a module that a state lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


_handles = itertools.count()


class Module:
    """A part of a model: parameters, buffers and further parts, and `forward`."""

    training: bool
    dump_patches = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        put_in = object.__setattr__
        put_in(self, "training", True)
        for name in ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks"):
            put_in(self, name, {})
        put_in(self, "_backward_hooks", {})
        put_in(self, "_state_dict_hooks", {})
        put_in(self, "_non_persistent_buffers_set", set())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the module is for; a subclass says how."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what `forward` computes, with the hooks around it."""
        if not (self._forward_pre_hooks or self._forward_hooks or self._backward_hooks):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook, with_kwargs, _ in list(self._forward_pre_hooks.values()):
            answer = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if answer is not None and with_kwargs:
                args, kwargs = answer
            elif answer is not None:
                args = answer if isinstance(answer, tuple) else (answer,)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs, _ in list(self._forward_hooks.values()):
            answer = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if answer is not None:
                result = answer
        if self._backward_hooks:
            self._watch_gradients(args, result)
        return result

    def _watch_gradients(self, args: tuple[Any, ...], result: Any) -> None:
        """Have backward hooks called with the gradients of arguments and of the result."""
        outputs = [result] if is_tensor(result) else list(result)
        found: dict[str, Any] = {}

        def call(name: str, value: Any) -> None:
            found[name] = value
            wanted = [a for a in args if is_tensor(a) and a.requires_grad]
            if "output" in found and ("input" in found or not wanted):
                inputs = tuple(
                    found.get("input") if is_tensor(a) and a.requires_grad else None for a in args
                )
                for hook in list(self._backward_hooks.values()):
                    hook(self, inputs, found["output"])

        for argument in args:
            if is_tensor(argument) and argument.requires_grad:
                gradients.register_hook(argument, lambda g: call("input", g))
        for output in outputs:
            if is_tensor(output) and output.requires_grad:
                gradients.register_hook(output, lambda g: call("output", (g,)))

    # -- names -----------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if "_parameters" not in state:
            if isinstance(value, (Parameter, Module)):
                raise AttributeError(
                    f"cannot assign {type(value).__name__} before Module.__init__() call; write "
                    "super().__init__() first"
                )
            object.__setattr__(self, name, value)
            return
        if isinstance(value, Parameter):
            self._forget(name)
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name)
            self._modules[name] = value
        elif isinstance(value, Buffer):
            self._forget(name)
            self.register_buffer(name, value, value.persistent)  # type: ignore[attr-defined]
        elif name in self._parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif name in self._modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif name in self._buffers:
            if value is not None and not is_tensor(value):
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as buffer '{name}' (torch.Tensor or "
                    "None expected)"
                )
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str) -> None:
        for names in (self.__dict__, self._parameters, self._buffers, self._modules):
            names.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        for kind in ("_parameters", "_buffers", "_modules"):
            names = self.__dict__.get(kind)
            if names is not None and name in names:
                return names[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for names in (self._parameters, self._buffers, self._modules):
            if name in names:
                del names[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep a parameter by a name."""
        self._check_name(name, self._parameters, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and not param.is_leaf:
            raise ValueError(
                f"cannot assign non-leaf Tensor to parameter '{name}'; write nn.Parameter(x.data)"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Keep a tensor by a name that is not learnt."""
        self._check_name(name, self._buffers, "buffer")
        if tensor is not None and not is_tensor(tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (torch Tensor "
                "or None required)"
            )
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Keep a part by a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name, self._modules, "module")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name: str, names: dict[str, Any], what: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string, got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got {name!r}')
        if not name:
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in names:
            raise KeyError(f"attribute '{name}' already exists")

    def get_submodule(self, target: str) -> Module:
        """Return the part at a path of names."""
        part: Any = self
        for name in filter(None, target.split(".")):
            if not hasattr(part, name):
                raise AttributeError(f"{type(part).__name__} has no attribute `{name}`")
            part = getattr(part, name)
            if not isinstance(part, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        found: Module = part
        return found

    def get_parameter(self, target: str) -> Any:
        """Return the parameter at a path of names."""
        path, _, name = target.rpartition(".")
        found = getattr(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Any:
        """Return the buffer at a path of names."""
        path, _, name = target.rpartition(".")
        part = self.get_submodule(path)
        if name not in part._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return part._buffers[name]

    # -- what is in it -----------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Return the parts right below, with their names."""
        seen: set[int] = set()
        for name, part in self._modules.items():
            if part is not None and id(part) not in seen:
                seen.add(id(part))
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

    def _named(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        parts = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, part in parts:
            for name, value in getattr(part, kind).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Return the parameters, with their paths."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Return the parameters."""
        for _, value in self.named_parameters(recurse=recurse):
            yield value

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Return the buffers, with their paths."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

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
            raise ValueError("training mode is expected to be boolean")
        object.__setattr__(self, "training", mode)
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
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else made(np.zeros_like(parameter.grad._raw))

    def _converted(self: M, change: Callable[[Any], Any]) -> M:
        for part in self.modules():
            for parameter in filter(None, part._parameters.values()):
                new = change(parameter.detach())
                parameter.data = new
                if parameter.grad is not None:
                    parameter._grad = change(parameter.grad.detach())
            for name, buffer in part._buffers.items():
                if buffer is not None:
                    part._buffers[name] = change(buffer)
        return self

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Convert floating parameters and buffers to a dtype; a device must be the CPU."""

        def change(tensor: Any) -> Any:
            if tensor.is_floating_point() or tensor.is_complex():
                return tensor.to(*args, **kwargs)
            rest = [a for a in args if type(a) is not dtypes.dtype]
            return tensor.to(*rest) if rest else tensor

        return self._converted(change)

    def _floating(self: M, name: str) -> M:
        return self._converted(lambda t: getattr(t, name)() if t.is_floating_point() else t)

    def float(self: M) -> M:
        """Convert floating parameters and buffers to float32."""
        return self._floating("float")

    def double(self: M) -> M:
        """Convert floating parameters and buffers to float64."""
        return self._floating("double")

    def half(self: M) -> M:
        """Convert floating parameters and buffers to float16."""
        return self._floating("half")

    def cpu(self: M) -> M:
        """Return the module, which is there already."""
        return self

    def cuda(self: M, device: Any = None) -> M:
        """Raise: tensors are on the CPU."""
        return self._converted(lambda t: t.cuda(device))

    def type(self: M, dst_type: Any) -> M:
        """Convert all parameters and buffers to a dtype."""
        return self._converted(lambda t: t.type(dst_type))

    # -- hooks -------------------------------------------------------------------------------------

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Any:
        """Have a function called with the arguments and the result of each call."""
        return _registered(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Any:
        """Have a function called with the arguments before each call."""
        return _registered(self._forward_pre_hooks, (hook, with_kwargs, False), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Any:
        """Have a function called with the gradients of the arguments and of the result."""
        return _registered(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    # -- state -------------------------------------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and lasting buffers by their paths."""
        state: dict[str, Any] = OrderedDict() if destination is None else destination
        for names in (self._parameters, self._buffers):
            for name, value in names.items():
                lasting = names is self._parameters or name not in self._non_persistent_buffers_set
                if value is not None and lasting:
                    state[prefix + name] = value if keep_vars else value.detach()
        for name, part in self._modules.items():
            if part is not None:
                part.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return state

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy parameters and buffers from a dict of them."""
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"expected state_dict to be dict-like, got {type(state_dict).__name__}")
        mine = self.state_dict(keep_vars=True)
        missing = [name for name in mine if name not in state_dict]
        unexpected = [name for name in state_dict if name not in mine]
        problems = []
        if strict and unexpected:
            problems.append(f"unexpected key(s) in state_dict: {', '.join(unexpected)}")
        if strict and missing:
            problems.append(f"missing key(s) in state_dict: {', '.join(missing)}")
        with no_grad():
            for name, place in mine.items():
                if name not in state_dict:
                    continue
                given = state_dict[name]
                if given._raw.shape != place._raw.shape:
                    problems.append(
                        f"size mismatch for {name}: {list(given._raw.shape)} was given, and the "
                        f"module has {list(place._raw.shape)}"
                    )
                elif assign:
                    place.data = given
                else:
                    memory.overwrite(place, convert(given))
        if problems:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}: {'; '.join(problems)}"
            )
        return IncompatibleKeys(missing, unexpected)

    # -- what it looks like ------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what is said of the module between its brackets."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = []
        for name, part in self._modules.items():
            first, *rest = repr(part).split("\n")
            parts.append("\n".join([f"({name}): {first}", *(f"  {line}" for line in rest)]))
        if not parts and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        inner = "\n  ".join(lines + parts)
        return f"{self._get_name()}(\n  {inner}\n)"


def _registered(hooks: dict[int, Any], hook: Any, first: bool) -> Any:
    handle = gradients.Handle(hooks)
    hooks[handle.id] = hook
    if first:
        others = {k: v for k, v in hooks.items() if k != handle.id}
        hooks.clear()
        hooks.update({handle.id: hook, **others})
    return handle


put(("nn.Module", "nn.modules.Module", "nn.modules.module.Module"), Module)
put(("nn.Parameter", "nn.parameter.Parameter"), Parameter)
put(("nn.Buffer", "nn.parameter.Buffer"), Buffer)
