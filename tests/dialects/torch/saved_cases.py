"""What programs save, a text of it bit by bit, and files of it."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import wengert.torch as ours

CASES: dict[str, Callable[[Any], Any]] = {}
NAMES = """
    float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128
    bool bfloat16 float8_e4m3fn float8_e5m2
"""


def case(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Add a function of the library's module that returns what to save."""
    CASES[function.__name__] = function
    return function


def _bytes(value: Any) -> bytes:
    kind = str(value.dtype)
    if kind == "torch.bfloat16":
        value = value.detach().contiguous().view(value.detach().short().dtype)
    elif kind.startswith("torch.float8"):
        value = value.detach().contiguous().view(value.detach().float().byte().dtype)
    return value.detach().numpy().tobytes()  # type: ignore[no-any-return]


def bits(value: Any, places: dict[int, int] | None = None) -> str:
    """Return a text that says all of a value: classes, bits, strides, who shares memory."""
    places = {} if places is None else places
    kind = type(value).__name__
    if hasattr(value, "detach") and not isinstance(value, type):  # a damaged file may name a class
        shared = places.setdefault(value.untyped_storage().data_ptr(), len(places))
        if not value.numel():
            shared = -1  # of which PyTorch says nothing
        attributes = {k: v for k, v in vars(value).items() if k in ("note", "_is_buffer")}
        facts = [
            kind, value.dtype, list(value.shape), value.stride(), value.storage_offset(), shared,
            value.requires_grad, value.is_leaf, _bytes(value).hex(), attributes,
        ]  # fmt: skip
        return " ".join(map(str, facts))
    if isinstance(value, dict):
        items = [f"{bits(k)}: {bits(v, places)}" for k, v in value.items()]
        further = bits(dict(vars(value)), places) if getattr(value, "_metadata", None) else ""
        return f"{kind}{{{', '.join(items)}}}{further}"
    if isinstance(value, (list, tuple)):
        return f"{kind}({', '.join(bits(part, places) for part in value)})"
    return f"{kind} {value!r}"


ERRORS = (pickle.UnpicklingError, RuntimeError, EOFError)


def saved(value: Any, module: Any = ours) -> bytes:
    """Return the bytes of a file."""
    file = io.BytesIO()
    module.save(value, file)
    return file.getvalue()


def loaded(data: bytes, **options: Any) -> Any:
    """Return what is in the bytes of a file."""
    return ours.load(io.BytesIO(data), **options)


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return a file whose pickle has some bytes replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    assert old in records["archive/data.pkl"]
    return archived(records | {"archive/data.pkl": records["archive/data.pkl"].replace(old, new)})


def archived(records: dict[str, bytes], **options: Any) -> bytes:
    """Return an archive of some records."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    return file.getvalue()


@case
def tensor(torch: Any) -> Any:
    return torch.arange(6.0).reshape(2, 3)


@case
def number(torch: Any) -> Any:
    return torch.tensor(2.5, dtype=torch.float64)


@case
def dtypes(torch: Any) -> Any:
    return {name: torch.tensor([0, 1, 2, 3]).to(getattr(torch, name)) for name in NAMES.split()}


@case
def special_numbers(torch: Any) -> Any:
    return torch.tensor([float("nan"), float("inf"), -0.0, 5e-45, 3.4e38])


@case
def no_elements(torch: Any) -> Any:
    return [torch.empty(0), torch.empty(0, 3), torch.empty(2, 0, 1, dtype=torch.int64)]


@case
def views(torch: Any) -> Any:
    x = torch.arange(12.0)
    return {"x": x, "even": x[::2], "tail": x[5:], "square": x.reshape(3, 4).t()[1:]}


@case
def a_view_alone(torch: Any) -> Any:
    return torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1)[1:, :, 1]


@case
def expanded(torch: Any) -> Any:
    return torch.tensor([[1.0], [2.0]]).expand(2, 5)


@case
def the_same_tensor_twice(torch: Any) -> Any:
    x = torch.ones(2)
    return [x, x, {"x": x}]


@case
def leaves(torch: Any) -> Any:
    return torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(3))


@case
def parameters(torch: Any) -> Any:
    frozen = torch.nn.Parameter(torch.arange(3.0), requires_grad=False)
    noted = torch.nn.Parameter(torch.zeros(1))
    noted.note = ["of the program", 3]
    return [frozen, noted, torch.nn.Buffer(torch.ones(2))]


@case
def attributes(torch: Any) -> Any:
    x, y = torch.ones(2), torch.ones(2, dtype=torch.uint16)
    x.note, y.note = {"a": torch.zeros(1)}, "short"
    return x, y


@case
def containers(torch: Any) -> Any:
    return {
        "list": [1, [2, [3, []]]], "tuple": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "ordered": OrderedDict([("b", 1), ("a", OrderedDict())]), "dict": {"x": {}, 3: 4, 2.5: 0},
        "set": {3}, "counter": Counter("a"), (1, "k"): None, "keys": {None: 1, True: 2},
    }  # fmt: skip


@case
def numbers(torch: Any) -> Any:
    whole = [0, 1, 255, 256, 65535, 65536, -1, 2**31 - 1, 2**31, -(2**31), 2**63, -(2**200)]
    return [whole, 0.1, -0.0, float("inf"), 1 + 2j, True, False, None]


@case
def texts(torch: Any) -> Any:
    return ["", "a\nb", "\u00e9\u20ac\U0001f600", "x" * 300, b"\x00\xff", bytearray(b"ab")]


@case
def words_of_the_library(torch: Any) -> Any:
    kinds = [torch.float32, torch.int64, torch.bool, torch.complex64]
    return torch.Size([2, 3]), torch.Size([]), kinds, torch.device("cpu"), torch.device("cpu", 0)


@case
def a_linear_layer(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Linear(3, 2).state_dict()


def _network(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 4), nn.LayerNorm(4)
    )


def _trained(torch: Any, make: Any) -> Any:
    model = _network(torch)
    optimizer = make(model.parameters())
    for _ in range(2):
        for k, parameter in enumerate(model.parameters()):
            parameter.grad = torch.full_like(parameter, 0.5 - k)
        optimizer.step()
    with torch.no_grad():  # last bits depend on processors and threads, and files have all bits
        held = [v for state in optimizer.state.values() for v in state.values()]
        for tensor in (*model.parameters(), *held):
            if isinstance(tensor, torch.Tensor):
                tensor.mul_(256).round_().div_(256)
    return model, optimizer


@case
def a_network(torch: Any) -> Any:
    return _network(torch).state_dict()


@case
def a_checkpoint(torch: Any) -> Any:
    model, optimizer = _trained(torch, lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True))
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5, 5])
    return {
        "epoch": 7, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(), "loss": 0.25, "best": float("inf"),
    }  # fmt: skip


@case
def optimisers(torch: Any) -> Any:
    o = torch.optim
    kinds = [
        lambda p: o.SGD(p, lr=0.1, momentum=0.9), o.Adagrad, o.RMSprop, o.Adadelta,
        lambda p: o.AdamW(p, lr=0.01),
    ]  # fmt: skip
    return [_trained(torch, kind)[1].state_dict() for kind in kinds]


@case
def a_generators_state(torch: Any) -> Any:
    return torch.Generator().manual_seed(2**40 + 3).get_state()


@case
def tied_weights(torch: Any) -> Any:
    first, last = torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 4, bias=False)
    last.weight = first.weight
    with torch.no_grad():
        first.weight.copy_(torch.arange(16.0).reshape(4, 4))
    return torch.nn.Sequential(first, last).state_dict()


@case
def many_tensors(torch: Any) -> Any:
    return {f"layer{k}.weight": torch.full((1,), float(k)) for k in range(120)}
