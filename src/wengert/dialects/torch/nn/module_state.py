"""What a module keeps as a dict of names and tensors, and how that is put back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn.parameters import Parameter
from wengert.dialects.torch.table import NAMES
from wengert.dialects.torch.tensors import Tensor

#: The name of what a module keeps besides tensors.
EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """The names that a state lacks, and those that a module lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def own_tensors(module: Any) -> dict[str, Any]:
    """Return the parameters and lasting buffers of a module, without those of its parts."""
    passing = module._non_persistent_buffers_set
    lasting = {k: v for k, v in module._buffers.items() if k not in passing}
    return {k: v for k, v in (module._parameters | lasting).items() if v is not None}


# -- saving ----------------------------------------------------------------------------------------


def get_extra_state(self: Any) -> Any:
    """Return what is saved besides tensors; a subclass says what."""
    raise RuntimeError("get_extra_state() is not there; write it where set_extra_state is")


def set_extra_state(self: Any, state: Any) -> None:
    """Take what `get_extra_state` returned."""
    raise RuntimeError("set_extra_state() is not there; write it where get_extra_state is")


def save_own(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Put what a module itself keeps into a dict."""
    for name, value in own_tensors(self).items():
        destination[prefix + name] = value if keep_vars else value.detach()
    if type(self).get_extra_state is not get_extra_state:
        destination[prefix + EXTRA] = self.get_extra_state()


def saved(module: Any, state: Any, prefix: str, keep_vars: bool) -> Any:
    """Return a dict with everything that a module and its parts keep."""
    if state is None:
        state = OrderedDict()
        state._metadata = OrderedDict()
    about = {"version": module._version}
    if hasattr(state, "_metadata"):
        state._metadata[prefix[:-1]] = about
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(state, prefix, keep_vars)
    for name, part in module._modules.items():
        if part is not None:
            part.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for number, hook in module._state_dict_hooks.items():
        answer = hook(module, state, prefix, about)
        if answer is not None:
            if number in module._state_dict_public_hooks:
                raise RuntimeError("a state_dict post-hook returned a value; return None")
            state = answer
    return state


# -- loading ---------------------------------------------------------------------------------------


class Loading:
    """A state that is put back into a module: what was missing, and what went wrong."""

    def __init__(self, state: Any, assign: bool) -> None:
        if not isinstance(state, Mapping):
            raise TypeError(f"load_state_dict: got a {type(state)}; give a dictionary")
        self.metadata = getattr(state, "_metadata", None)
        self.state = OrderedDict(state)
        if self.metadata is not None:
            self.state._metadata = self.metadata  # type: ignore[attr-defined]
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, state: Any, prefix: str = "") -> None:
        """Put what is under a prefix into a module and its parts."""
        about = dict((self.metadata or {}).get(prefix[:-1], {}))
        if self.assign:
            about["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state, prefix, about, True, self.missing, self.unexpected, self.errors
        )
        for name, part in module._modules.items():
            if part is not None:
                below = f"{prefix}{name}."
                self.load(part, {k: v for k, v in state.items() if k.startswith(below)}, below)
        keys = IncompatibleKeys(self.missing, self.unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    "a hook after load_state_dict returned a value; change the incompatible "
                    "keys in place"
                )

    def finish(self, module: Any, strict: bool) -> IncompatibleKeys:
        """Return the names that did not fit; raise where that is an error."""
        errors = list(self.errors)
        if strict:
            for what, names in (("Missing", self.missing), ("Unexpected", self.unexpected)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{what} names: {listed}. ")
        if errors:
            raise RuntimeError(
                "load_state_dict: the state does not fit {}:\n\t{}".format(
                    type(module).__name__, "\n\t".join(errors)
                )
            )
        return IncompatibleKeys(self.missing, self.unexpected)


def load_own(
    self: Any, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool,
    missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
) -> None:  # fmt: skip
    """Put tensors into a module itself, and note the names that did not fit."""
    notes = missing_keys, unexpected_keys, error_msgs
    for hook in self._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, *notes)
    assign = local_metadata.get("assign_to_params_buffers", False)
    takes_extra = type(self).set_extra_state is not set_extra_state
    mine = own_tensors(self)
    for name, own in mine.items():
        key = prefix + name
        if key in state_dict:
            problem = _load_one(self, name, own, state_dict[key], assign)
            if problem:
                error_msgs.append(problem.format(key=key))
        elif strict:
            missing_keys.append(key)
    extra = prefix + EXTRA
    if takes_extra and extra in state_dict:
        self.set_extra_state(state_dict[extra])
    elif strict and takes_extra:
        missing_keys.append(extra)
    elif strict and extra in state_dict:
        unexpected_keys.append(extra)
    for key in state_dict if strict else ():
        if key.startswith(prefix) and key != extra:
            name, *below = key[len(prefix) :].split(".", 1)
            if name not in (self._modules if below else mine):
                unexpected_keys.append(key)


def _load_one(module: Any, name: str, own: Any, given: Any, assign: bool) -> str:
    """Put a tensor in place of another, and return what went wrong."""
    if not isinstance(given, Tensor):
        return f"{{key}} is a {type(given).__name__}; give a tensor"
    if not own._raw.shape and given._raw.shape == (1,):
        given = NAMES["reshape"](given, ())
    if given._raw.shape != own._raw.shape:
        return (
            f"{{key}} has shape {list(given._raw.shape)}, and the module's has "
            f"{list(own._raw.shape)}."
        )
    try:
        with no_grad():
            if not assign:
                own.copy_(given)
                return ""
            if isinstance(own, Parameter):
                learns = own.requires_grad
                given = (
                    given.requires_grad_(learns)
                    if isinstance(given, Parameter)
                    else Parameter(given, learns)
                )
            setattr(module, name, given)
    except Exception as error:
        return f"{{key}} could not be copied: {error}"
    return ""
