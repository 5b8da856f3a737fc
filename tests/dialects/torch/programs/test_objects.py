"""What is around tensors: texts, errors, copies, subclasses, NumPy and Python's own."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import itertools
import math
import operator
import pickle
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def printing_everything(torch: Any) -> Any:
    print(torch.tensor(1), torch.tensor(1.5), torch.tensor(True), torch.tensor(1 + 2j))
    print(torch.tensor([1, 2, 3]), torch.tensor([1.0, 2.5]), torch.tensor([[1.0], [2.0]]))
    print(torch.tensor([1e-8, 1.0]), torch.tensor([1e10, 1.0]), torch.tensor([1e5, 1.0]))
    print(torch.tensor([float("nan"), float("inf"), -float("inf")]))
    print(torch.zeros(0), torch.zeros(2, 0), torch.tensor([]))
    print(torch.arange(1001.0), torch.rand(100, 100))
    print(torch.tensor([1, 2], dtype=torch.int32), torch.tensor([1.0], dtype=torch.float64))
    print(torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0], requires_grad=True) * 2)
    print(torch.nn.Parameter(torch.ones(2)))
    print(torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8), torch.tensor([True, False]))
    print(torch.randn(2, 3, 4))
    print(torch.tensor([1e-3, 123456.0]), torch.tensor([-1.0, 2.0]), torch.tensor([0.1, -0.22, 3]))
    print(torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([-3.0, 0.5])))
    print(
        torch.float32,
        torch.device("cpu"),
        torch.Size([2, 3]),
        torch.strided,
        torch.contiguous_format,
    )
    print(repr(torch.device("cpu")), repr(torch.Size([])), [torch.int64], {torch.bool})
    print(f"{torch.tensor(1.5)}, {torch.tensor(1.23456):.3f}, {torch.tensor([1])!r}")
    print(f"{torch.tensor(3)} {torch.tensor(3):d} {torch.tensor(2.5):>8.2f}|")
    values = torch.tensor(1.5), torch.tensor(3), torch.tensor([1.0])
    print(operator.mod("%.3f %d %s", values))
    print(torch.finfo(torch.float32), torch.iinfo(torch.int8))
    print(
        torch.finfo(torch.float32).eps, torch.finfo(torch.double).max, torch.iinfo(torch.long).max
    )


@program
def printoptions(torch: Any) -> Any:
    x = torch.tensor([1.23456789, 1000.1])
    torch.set_printoptions(precision=2)
    print(x)
    torch.set_printoptions(sci_mode=True)
    print(x)
    torch.set_printoptions(sci_mode=False, precision=6, linewidth=40)
    print(torch.arange(20.0) / 7)
    torch.set_printoptions(threshold=5, edgeitems=2)
    print(torch.arange(20).reshape(4, 5))
    torch.set_printoptions(profile="full")
    print(torch.arange(20))
    torch.set_printoptions(profile="default")
    torch.set_printoptions(profile="short")
    print(x)
    torch.set_printoptions(profile="default", sci_mode=None)
    print(x)


@program
def printing_return_types(torch: Any) -> Any:
    x = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    print(x.max(1))
    print(torch.sort(x))
    print(x.topk(2))
    print(x.min(dim=0, keepdim=True))
    print(torch.median(x, 1))
    print(torch.linalg.eigh(torch.eye(2)))
    print(torch.linalg.slogdet(torch.eye(2)))
    print(x.mode(1), x.kthvalue(2), torch.cummax(x, 1))
    print(torch.unique(torch.tensor([1, 2, 2]), return_counts=True))
    m = x.max(1)
    print(m.values, m.indices, m[0], len(m), type(m).__name__)
    print(torch.qr(torch.eye(2)))


@program
def printing_modules(torch: Any) -> Any:
    nn = torch.nn
    for m in (
        nn.Linear(2, 3),
        nn.Linear(2, 3, bias=False),
        nn.Conv2d(3, 6, 3, padding=1, bias=False),
        nn.Conv2d(4, 4, (3, 5), stride=2, groups=2, dilation=2, padding_mode="reflect"),
        nn.BatchNorm2d(4),
        nn.LayerNorm(5),
        nn.GroupNorm(2, 4),
        nn.Dropout(0.1),
        nn.ReLU(),
        nn.ReLU(inplace=True),
        nn.LeakyReLU(0.2),
        nn.GELU(),
        nn.ELU(),
        nn.Softmax(dim=1),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2, 1),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
        nn.Identity(),
        nn.Embedding(3, 4, padding_idx=0),
        nn.MSELoss(),
        nn.CrossEntropyLoss(),
        nn.Sequential(nn.Linear(1, 1), nn.Tanh()),
        nn.ModuleList([nn.Linear(1, 1) for _ in range(3)]),
        nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 2)}),
        nn.ParameterList([nn.Parameter(torch.ones(2))]),
        nn.ConvTranspose2d(2, 3, 3, output_padding=1, stride=2),
        nn.Upsample(scale_factor=2),
        nn.PReLU(),
        nn.Bilinear(2, 3, 4),
        nn.Hardtanh(),
        nn.Softplus(),
        nn.Unflatten(1, (2, 3)),
        nn.InstanceNorm1d(3),
        nn.PixelShuffle(2),
        nn.ZeroPad2d(1),
        nn.Threshold(0.1, 2.0),
        nn.CosineSimilarity(),
        nn.LogSoftmax(dim=-1),
        nn.SiLU(),
        nn.Sigmoid(),
        nn.HuberLoss(),
        nn.BatchNorm1d(3, affine=False, momentum=None),
        nn.RMSNorm(4),
        nn.GLU(),
        nn.Dropout2d(),
    ):
        print(m)


@program
def error_classes(torch: Any) -> Any:
    nn, F = torch.nn, torch.nn.functional
    x = torch.ones(2, 3, requires_grad=True)
    cases = [
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
        lambda: torch.ones(2) + torch.ones(3),
        lambda: x.view(4),
        lambda: x.reshape(-1, 4),
        lambda: torch.cat([torch.ones(2), torch.ones(2, 2)]),
        lambda: torch.stack([torch.ones(2), torch.ones(3)]),
        lambda: x[5],
        lambda: x[:, 5],
        lambda: x[0, 0, 0],
        lambda: x.sum(5),
        lambda: x.squeeze(3),
        lambda: x.transpose(0, 4),
        lambda: x.backward(),
        lambda: x.sum().backward(torch.ones(3)),
        lambda: torch.ones(2).backward(),
        lambda: x.numpy(),
        lambda: x.item(),
        lambda: bool(x),
        lambda: float(x),
        lambda: int(torch.ones(2)),
        lambda: len(torch.tensor(1)),
        lambda: iter(torch.tensor(1)),
        lambda: torch.tensor("a"),
        lambda: torch.tensor([[1, 2], [3]]),
        lambda: torch.tensor([1], requires_grad=True),
        lambda: torch.ones(2, dtype=torch.int64).requires_grad_(),
        lambda: nn.Linear(2, 3)(torch.ones(2, 5)),
        lambda: nn.Linear(2, 3)(torch.ones(2, dtype=torch.float64)),
        lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5])),
        lambda: F.cross_entropy(torch.ones(2, 3), torch.tensor([0.0, 1.0])),
        lambda: F.nll_loss(torch.ones(2, 3), torch.tensor([0])),
        lambda: torch.optim.SGD([], lr=0.1),
        lambda: torch.optim.SGD([torch.ones(2)], lr=-1),
        lambda: torch.optim.Adam(torch.ones(2)),
        lambda: torch.optim.SGD([x * 2], lr=1),
        lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 2, 5, 5)),
        lambda: torch.linalg.inv(torch.zeros(2, 2)),
        lambda: torch.linalg.cholesky(-torch.eye(2)),
        lambda: torch.inverse(torch.ones(2, 3)),
        lambda: torch.tensor([1, 2]).mean(),
        lambda: torch.ones(2).index_select(0, torch.tensor([5])),
        lambda: torch.ones(2).gather(0, torch.tensor([5])),
        lambda: torch.empty(0).max(),
        lambda: torch.argmax(torch.empty(0)),
        lambda: x.long().requires_grad_(),
        lambda: x.foo,
        lambda: torch.foo,
        lambda: x.detach().requires_grad_().add_(1),
        lambda: torch.mm(torch.ones(2), torch.ones(2)),
        lambda: torch.dot(torch.ones(2), torch.ones(3)),
        lambda: torch.bmm(torch.ones(2, 2), torch.ones(2, 2)),
        lambda: torch.einsum("ij,jk", torch.ones(2, 3), torch.ones(2, 3)),
        lambda: torch.zeros(-1),
        lambda: torch.arange(5, 0),
        lambda: torch.linspace(0, 1, -1),
        lambda: torch.randint(5, 5, (2,)),
        lambda: torch.ones(2).to("cuda"),
        lambda: torch.ones(2).cuda(),
        lambda: torch.device("foo"),
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.autograd.grad(x.sum(), torch.ones(2, requires_grad=True)),
        lambda: torch.autograd.grad(x, x),
        lambda: F.softmax(x, 3),
        lambda: torch.ones(3).expand(2, 4),
        lambda: torch.ones(2, 2).t().view(4),
        lambda: torch.chunk(x, 0),
        lambda: x.split([1, 2]),
        lambda: x.permute(0),
        lambda: torch.where(torch.ones(2), x, x),
        lambda: x.masked_fill(torch.ones(2, 3), 0),
        lambda: x + "a",
        lambda: operator.add(x, [1]),
        lambda: x == "a",
        lambda: torch.ones(2) @ 3,
        lambda: x ** "a",
        lambda: torch.sin(3.0),
        lambda: torch.sum([1, 2]),
        lambda: torch.add(1, 2),
        lambda: hash(x) and 1,
        lambda: x.unsqueeze(4),
        lambda: torch.flip(x, [3]),
        lambda: torch.ones(2, 3, 4).t(),
        lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)),
        lambda: F.dropout(x, 1.5),
        lambda: nn.Embedding(3, 2)(torch.tensor([3])),
        lambda: nn.Embedding(3, 2)(torch.tensor([0.5])),
        lambda: nn.Module()(1),
        lambda: nn.Sequential(nn.Linear(1, 1))[3],
        lambda: nn.Module().foo,
        lambda: setattr(nn.Linear(1, 1), "weight", 3),
        lambda: setattr(x, "grad", torch.ones(1)),
        lambda: setattr(x, "grad", 3),
        lambda: torch.manual_seed("a"),
        lambda: torch.full((2,), "a"),
        lambda: torch.tensor(None),
        lambda: torch.from_numpy([1]),
        lambda: torch.from_numpy(np.array(["a"])),
        lambda: torch.utils.foo,
        lambda: torch.ones(2).scatter_(0, torch.tensor([3]), 1.0),
        lambda: torch.normal(0.0, -1.0, (2,)),
        lambda: torch.bernoulli(torch.tensor([2.0])),
        lambda: torch.multinomial(torch.tensor([-1.0, 1.0]), 1),
        lambda: x.register_hook(3),
        lambda: torch.ones(2).register_hook(print),
        lambda: torch.ones(2).retain_grad(),
        lambda: torch.nn.functional.one_hot(torch.tensor([-1])),
        lambda: torch.nn.init.xavier_uniform_(torch.ones(3)),
        lambda: torch.Tensor(2, "a"),
        lambda: torch.cat([]),
        lambda: torch.stack([]),
        lambda: torch.tensor([1.0, 2.0]).item(),
    ]
    for k, c in enumerate(cases):
        try:
            c()
            print(k, "fine")
        except Exception as e:
            print(k, type(e).__name__)


@program
def numpy_interop(torch: Any) -> Any:
    a = np.arange(6.0).reshape(2, 3)
    t = torch.from_numpy(a)
    t[0, 0] = 100
    print(
        a[0, 0],
        t.dtype,
        torch.as_tensor(a).data_ptr() == t.data_ptr(),
        torch.tensor(a).data_ptr() == t.data_ptr(),
    )
    print(np.sin(torch.ones(2)), type(np.sin(torch.ones(2))).__name__)
    print(np.array(torch.ones(2)), np.asarray(torch.ones(2, dtype=torch.int32)).dtype)
    print(
        torch.tensor(np.float32(3)),
        torch.tensor(np.array([1, 2])),
        torch.tensor([np.float64(1.5), 2]),
    )
    print(torch.ones(2) * np.float64(2), (torch.ones(2) * np.ones(2)).dtype)
    print(np.mean(torch.arange(4.0).numpy()), np.allclose(torch.ones(2), np.ones(2)))
    print(
        torch.ones(2).numpy().dtype,
        torch.tensor(3).numpy(),
        torch.ones(2, requires_grad=True).detach().numpy(),
    )
    print(np.concatenate([torch.ones(2), torch.zeros(1)]), np.stack([torch.ones(1), torch.ones(1)]))
    print(
        torch.ones(2)[np.array([0, 1])],
        torch.arange(4)[np.int64(2)],
        np.arange(3)[torch.tensor([0, 2])],
    )
    print(torch.float32.itemsize, np.dtype("float32").itemsize, torch.ones(2).numpy(force=True))
    print(
        list(torch.ones(2)),
        torch.ones(2).tolist(),
        torch.tensor([[1, 2]]).tolist(),
        max(torch.tensor([1, 3, 2])),
        sum(torch.tensor([1, 2])),
        sorted(torch.tensor([3, 1])),
    )
    return t, torch.from_numpy(a.T), torch.tensor(a.T)


@program
def pickling_and_copying(torch: Any) -> Any:
    x = torch.randn(3, requires_grad=True)
    y = pickle.loads(pickle.dumps(x))
    z = copy.deepcopy(x)
    z2 = copy.copy(x)
    x.sum().backward()
    w = copy.deepcopy(x)
    print(w.grad, y.requires_grad, z.grad, z2 is x, z2.requires_grad)
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    m2 = pickle.loads(pickle.dumps(m))
    m3 = copy.deepcopy(m)
    print(torch.equal(m[0].weight, m2[0].weight), m3[0].weight is m[0].weight, m2)
    sd = pickle.loads(pickle.dumps(m.state_dict()))
    print(sd.keys(), type(sd["0.weight"]))
    try:
        copy.deepcopy(x * 2)
    except RuntimeError as e:
        print(type(e).__name__)
    print(
        pickle.loads(pickle.dumps(torch.float32)),
        pickle.loads(pickle.dumps(torch.Size([1, 2]))),
        pickle.loads(pickle.dumps(torch.device("cpu"))),
    )
    o = torch.optim.Adam(m.parameters())
    m(torch.ones(1, 2)).sum().backward()
    o.step()
    o2 = torch.optim.Adam(m3.parameters())
    o2.load_state_dict(pickle.loads(pickle.dumps(o.state_dict())))
    return o2.state_dict()["state"][0]["exp_avg"], y


@program
def dict_keys_and_sets(torch: Any) -> Any:
    a, b = torch.tensor([1.0]), torch.tensor([1.0])
    d = {a: 1, b: 2}
    print(len(d), d[a], a in d, len({a, b, a}), a in [b], hash(a) == id(a))
    try:
        print(torch.ones(2) in [torch.zeros(2)])
    except RuntimeError as e:
        print("tensor" in str(e).lower())
    print(
        1.0 in torch.tensor([1.0, 2.0]),
        torch.tensor(3) in torch.tensor([1, 2]),
        5 in torch.arange(3),
    )
    print(
        torch.tensor(1) == 1,
        torch.tensor([1]) == torch.tensor([1]),
        torch.equal(a, b),
        a is b,
        a.eq(b).all(),
    )
    print({torch.float32: 1}[torch.float], torch.Size([1]) == (1,), {torch.Size([1]): 2}[(1,)])
    if torch.tensor(0.5):
        print("yes")
    print(
        [1, 2, 3][torch.tensor(1)],
        range(5)[torch.tensor(2)],
        "abc"[torch.tensor(0)],
        [0] * torch.tensor(3),
    )


@program
def isinstance_checks(torch: Any) -> Any:
    x = torch.ones(2)
    p = torch.nn.Parameter(x)
    print(
        isinstance(x, torch.Tensor),
        isinstance(p, torch.Tensor),
        isinstance(x, torch.nn.Parameter),
        isinstance(x, torch.FloatTensor),
        isinstance(x, torch.DoubleTensor),
        isinstance(torch.tensor([1]), torch.LongTensor),
    )
    print(
        torch.is_tensor(x),
        torch.is_tensor(1),
        type(x) is torch.Tensor,
        x.type(),
        x.dtype is torch.float32,
        isinstance(x.shape, tuple),
        isinstance(x.shape, torch.Size),
        isinstance(x.dtype, torch.dtype),
        isinstance(x.device, torch.device),
    )
    print(
        type(x),
        type(p),
        type(x.shape),
        type(torch.float32),
        type(x.device),
        x.__class__.__name__,
        p.__class__.__name__,
    )
    print(
        isinstance(torch.autograd.Variable(x), torch.Tensor),
        isinstance(x, torch.autograd.Variable),
        callable(torch.sin),
        issubclass(torch.nn.Linear, torch.nn.Module),
    )
    print(
        x.is_cuda,
        x.is_sparse,
        x.layout,
        x.device.type,
        x.device.index,
        x.is_complex(),
        x.is_floating_point(),
        x.is_leaf,
        x.is_contiguous(),
        x.element_size(),
        x.nelement(),
        x.ndimension(),
        x.stride(),
        x.storage_offset(),
        x.is_pinned(),
        x.is_signed(),
    )
    print(
        x.type(torch.DoubleTensor).dtype,
        x.type("torch.IntTensor").dtype,
        x.type_as(torch.ones(1, dtype=torch.half)).dtype,
        x.new_zeros(2).dtype,
        x.new_tensor([1]).dtype,
        x.new([1, 2]),
    )
    print(
        x.to(torch.float64).dtype,
        x.to(x) is x,
        x.to("cpu") is x,
        x.float() is x,
        x.double().dtype,
        x.cpu() is x,
        x.to(torch.device("cpu"), torch.int).dtype,
        x.half().dtype,
        x.int().dtype,
        x.char().dtype,
        x.bool(),
    )


@program
def size_and_shape_api(torch: Any) -> Any:
    x = torch.zeros(2, 3, 4)
    print(
        x.size(),
        x.size(0),
        x.size(-1),
        x.shape[1:],
        x.shape.numel(),
        x.dim(),
        x.ndim,
        x.numel(),
        len(x),
        *x.shape,
        list(x.shape),
        operator.add(x.shape, (1,)),
        x.shape[0] * 2,
        tuple(x.size()),
        x.T.shape if False else x.mT.shape,
    )
    b, c, d = x.shape
    print(
        b,
        c,
        d,
        torch.Size((1, 2)) + torch.Size([3]),
        torch.Size([2, 3]).index(3),
        x.shape == (2, 3, 4),
        x.shape == [2, 3, 4],
        x.view(*x.shape[:-1], 2, 2).shape,
        x.view(x.size(0), -1).shape,
        x.flatten(1).shape,
        x.unsqueeze(-1).shape,
        x[None].shape,
        x[..., None].shape,
        x.permute(2, 0, 1).shape,
        x.expand(5, -1, -1, -1).shape,
        torch.broadcast_shapes((2, 1), (3,)),
        x.new_empty(x.size()).shape,
        torch.empty_like(x).shape,
        x.narrow(1, 0, 2).shape,
        x.movedim(0, -1).shape,
        x.swapaxes(0, 1).shape,
        x.reshape(6, 4).shape,
        x.stride(),
        x.transpose(0, 1).is_contiguous(),
        x.transpose(0, 1).contiguous().stride(),
    )


@program
def dataclass_config_and_typing(torch: Any) -> Any:
    @dataclasses.dataclass
    class Cfg:
        lr: float = 0.1
        dtype: torch.dtype = torch.float32
        device: torch.device = dataclasses.field(default_factory=lambda: torch.device("cpu"))

    @dataclasses.dataclass
    class Batch:
        x: torch.Tensor
        y: torch.Tensor | None = None

    def f(b: Batch, *ts: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (b.x, *ts)

    c = Cfg()
    b = Batch(torch.ones(1, dtype=c.dtype))
    print(c, b, f(b, torch.zeros(1)), len(tuple[torch.Tensor, torch.Size].__args__))


@program
def tensor_subclass(torch: Any) -> Any:
    class MyT(torch.Tensor):
        def hello(self):
            return "hi"

    t = torch.ones(2).as_subclass(MyT)
    print(type(t).__name__, t.hello(), isinstance(t, torch.Tensor))

    class Scaled(torch.nn.Parameter):
        pass

    p = torch.nn.Parameter(torch.ones(2))
    print(
        type(p * 1).__name__,
        type(p.data).__name__,
        type(p.detach()).__name__,
        type(p.clone()).__name__,
    )


@program
def attributes_on_tensors(torch: Any) -> Any:
    x = torch.ones(2)
    x.tag = "weights"
    x.my_list = [1]
    print(
        x.tag,
        hasattr(x, "other"),
        getattr(x, "other", 3),
        hasattr(x * 1, "tag"),
        x.grad_fn,
        x.output_nr,
        x._base,
    )
    m = torch.nn.Linear(1, 1)
    m.note = "n"
    m.t = torch.ones(1)
    print(m.note, "t" in m.state_dict(), "t" in m.__dict__)


@program
def swap_and_set_data(torch: Any) -> Any:
    p = torch.nn.Parameter(torch.ones(2))
    p.data = torch.arange(3.0)
    print(p, p.shape)
    o = torch.optim.SGD([p], lr=1.0)
    p.sum().backward()
    o.step()
    print(p)
    x = torch.ones(2, requires_grad=True)
    x.data.fill_(3.0)
    (x**2).sum().backward()
    x.data = x.data - 0.1 * x.grad
    print(x)
    x.data.clamp_(max=2.0)
    x.grad.data.zero_()
    y = x.clone().detach().requires_grad_(True)
    y.data[0] = 9
    print(x, y)
    x.set_(torch.zeros(4)) if False else None
    return x


@program
def scalar_conversions(torch: Any) -> Any:
    t = torch.tensor(3.7)
    print(
        int(t),
        float(t),
        bool(t),
        t.item(),
        str(t),
        repr(t),
        f"{t:.1f}",
        operator.mod("%.2f", t),
        complex(t),
        math.floor(t),
        math.ceil(t),
        round(t.item()),
        t.int(),
        t.long().item(),
        [*range(torch.tensor(3))],
        np.float32(t),
        torch.tensor([5]).item(),
        torch.tensor([[2.0]]).item(),
        min(torch.tensor(1), torch.tensor(2)),
        3 * t,
        3 / t,
        3 - t,
        3**t,
        t**2,
        torch.tensor(7) // 2,
        torch.tensor(True) & torch.tensor(False),
        ~torch.tensor([True]),
        torch.tensor(6) >> 1,
        torch.tensor(5) ^ 1,
        -torch.tensor(2),
        abs(torch.tensor(-2)),
    )


@program
def memoised_tensor_constants(torch: Any) -> Any:
    @functools.cache
    def basis(n):
        return torch.eye(n)

    a = basis(2) @ torch.ones(2, requires_grad=True)
    print(a, basis(2) is basis(2))
    d = collections.defaultdict(lambda: torch.zeros(1))
    d["a"] += 1
    print(dict(d))
    c = collections.Counter(torch.tensor([1, 1, 2]).tolist())
    print(
        c,
        torch.tensor(list(c.values())),
        functools.reduce(torch.add, [torch.ones(1)] * 3),
        list(map(torch.sin, [torch.zeros(1)])),
        list(zip(torch.arange(2), torch.ones(2), strict=True)),
        list(enumerate(torch.arange(2))),
        sorted([torch.tensor(2.0), torch.tensor(1.0)]),
        [t.item() for t in torch.arange(3)],
        dict(zip("ab", torch.ones(2), strict=True)),
        list(itertools.accumulate(torch.arange(4))),
        list(reversed(torch.arange(3))),
    )


@program
def imports_that_annotations_need(torch: Any) -> Any:
    print(
        isinstance(1, torch.types.Number),
        torch.functional.einsum("i,i", torch.ones(2), torch.ones(2)),
    )
    torch._assert(True, "never")
    try:
        torch._assert(torch.tensor(False), "mine")
    except AssertionError as e:
        print(e)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
