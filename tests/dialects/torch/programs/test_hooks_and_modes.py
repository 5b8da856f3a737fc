"""Hooks, saved tensors, modes, anomalies and checkpoints in programs."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def hooks_of_tutorial(torch: Any) -> Any:
    def tensor_hook(grad):
        print("tensor hook", grad)
        return grad * 2

    a = torch.ones(5, requires_grad=True)
    b = 2 * a
    h = b.register_hook(tensor_hook)
    b.retain_grad()
    c = b.mean()
    c.backward()
    print(f"a.grad = {a.grad}")
    print(f"b.grad = {b.grad}")
    h.remove()
    print(f"{c.grad_fn.__class__.__name__}")
    return a


@program
def visualizing_gradients_tutorial(torch: Any) -> Any:
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([2.0], requires_grad=True)

    def fn(x, w):
        y = x * w
        y.retain_grad()
        z = y.exp()
        z.retain_grad()
        return y, z

    y, z = fn(x, w)
    z.backward()
    print(f"{y.grad=}", f"{z.grad=}")
    print(f"{x.requires_grad=} {x.is_leaf=} {y.requires_grad=} {y.is_leaf=}")
    print(f"{z.retains_grad=} {x.retains_grad=}")
    return x, w


@program
def saved_tensors_hooks_doc(torch: Any) -> Any:
    def pack_hook(x):
        print("Packing", x)
        return x.detach()

    def unpack_hook(x):
        print("Unpacking", x)
        return x

    a = torch.ones(5, requires_grad=True)
    b = torch.ones(5, requires_grad=True) * 2
    with torch.autograd.graph.saved_tensors_hooks(pack_hook, unpack_hook):
        y = a * b
    y.sum().backward()
    return a


@program
def saved_tensors_numpy_hooks(torch: Any) -> Any:
    def pack(x):
        return x.detach().numpy().copy()

    def unpack(a):
        return torch.from_numpy(a)

    x = torch.randn(5, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.pow(2).exp()
    y.sum().backward()
    return x


@program
def save_on_cpu_doc(torch: Any) -> Any:
    a = torch.randn(5, requires_grad=True)
    b = torch.randn(5, requires_grad=True)

    def f(a, b):
        prod_1 = a * b
        with torch.autograd.graph.save_on_cpu():
            prod_2 = prod_1 * a
        return prod_2 * a

    y = f(a, b)
    y.sum().backward()
    return a, b


@program
def saved_attributes(torch: Any) -> Any:
    x = torch.randn(5, requires_grad=True)
    y = x.pow(2)
    print(x.equal(y.grad_fn._saved_self))
    print(x is y.grad_fn._saved_self)
    y = x.exp()
    print(y.equal(y.grad_fn._saved_result))
    print(x.pow(3).grad_fn._saved_exponent)


@program
def detect_anomaly_doc(torch: Any) -> Any:
    class MyFunc(torch.autograd.Function):
        @staticmethod
        def forward(ctx, inp):
            return inp.clone()

        @staticmethod
        def backward(ctx, gO):
            raise RuntimeError("Some error in backward")

    def run_fn(a):
        out = MyFunc.apply(a)
        return out.sum()

    inp = torch.rand(10, 10, requires_grad=True)
    out = run_fn(inp)
    try:
        out.backward()
    except RuntimeError as e:
        print(e)
    with torch.autograd.detect_anomaly():
        inp = torch.rand(10, 10, requires_grad=True)
        out = run_fn(inp)
        try:
            out.backward()
        except RuntimeError as e:
            print(e)


@program
def detect_nan(torch: Any) -> Any:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.detect_anomaly(check_nan=True):
        (x.sqrt() * 0).sum() / x.sum()
        try:
            torch.sqrt(x - 1).sum().backward()
        except RuntimeError as e:
            print("nan" in str(e))
    with torch.autograd.set_detect_anomaly(True):
        try:
            z = (torch.zeros(2, requires_grad=True) / 0 * 0).sum()
            z.backward()
        except RuntimeError as e:
            print(type(e).__name__)


@program
def inference_mode_doc(torch: Any) -> Any:
    x = torch.ones(1, 2, 3, requires_grad=True)
    with torch.inference_mode():
        y = x * x
    print(y.requires_grad, y.is_inference())
    try:
        print(y._version)
    except RuntimeError as e:
        print("count" in str(e))

    @torch.inference_mode()
    def func(x):
        return x * x

    out = func(x)
    print(out.requires_grad)

    @torch.inference_mode
    def doubler(x):
        return x * 2

    print(doubler(x).requires_grad)
    try:
        (x * y).sum().backward()
    except RuntimeError as e:
        print(type(e).__name__)
    try:
        y.add_(1)
    except RuntimeError as e:
        print("inference" in str(e))
    return out


@program
def no_grad_decorators(torch: Any) -> Any:
    x = torch.tensor([1.0], requires_grad=True)
    with torch.no_grad():
        y = x * 2
    print(y.requires_grad)

    @torch.no_grad()
    def doubler(x):
        return x * 2

    z = doubler(x)
    print(z.requires_grad)

    @torch.no_grad
    def tripler(x):
        return x * 3

    z = tripler(x)
    print(z.requires_grad)
    with torch.no_grad():
        a = torch.nn.Parameter(torch.rand(10))
    print(a.requires_grad)
    with torch.no_grad(), torch.enable_grad():
        y = x * 2
    print(y.requires_grad)
    is_train = False
    with torch.set_grad_enabled(is_train):
        y = x * 2
    print(y.requires_grad)
    _ = torch.set_grad_enabled(True)
    y = x * 2
    print(y.requires_grad)
    _ = torch.set_grad_enabled(False)
    print((x * 2).requires_grad, torch.is_grad_enabled())
    torch.set_grad_enabled(True)


@program
def checkpoint_usage(torch: Any) -> Any:
    ck = torch.utils.checkpoint.checkpoint
    lin = torch.nn.Linear(4, 4)
    seq = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4), torch.nn.Tanh()
    )
    x = torch.randn(2, 4, requires_grad=True)
    y = ck(lin, x, use_reentrant=False)
    z = torch.utils.checkpoint.checkpoint_sequential(seq, 2, y, use_reentrant=False)
    z.sum().backward()
    g1 = [p.grad.clone() for p in seq.parameters()]
    w = ck(lambda a, b: (a * b).sin(), x, x, use_reentrant=True)
    w.sum().backward()
    return x, g1, lin.weight


@program
def gradcheck_fail(torch: Any) -> Any:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)
    print(torch.autograd.gradcheck(Bad.apply, (x,), raise_exception=False))
    try:
        torch.autograd.gradcheck(Bad.apply, (x,))
    except RuntimeError as e:
        print(type(e).__name__)


@program
def activation_hooks(torch: Any) -> Any:
    activation = {}

    def get_activation(name):
        def hook(model, input, output):
            activation[name] = output.detach()

        return hook

    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    h = net[1].register_forward_hook(get_activation("relu"))
    pre = net[2].register_forward_pre_hook(lambda m, i: (i[0] * 2,))
    grads = []
    bh = net[0].register_full_backward_hook(lambda m, gi, go: grads.append((gi, go)))
    out = net(torch.ones(2, 3))
    out.sum().backward()
    print(activation["relu"].shape, grads[0][0], [g.shape for g in grads[0][1]])
    h.remove()
    pre.remove()
    bh.remove()
    return out, activation["relu"], grads[0][1][0], net[0].weight


@program
def saliency_and_gradcam(torch: Any) -> Any:
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 5),
    )
    net.eval()
    img = torch.rand(1, 3, 8, 8, requires_grad=True)
    scores = net(img)
    score_max_index = scores.argmax()
    score_max = scores[0, score_max_index]
    score_max.backward()
    saliency, _ = torch.max(img.grad.data.abs(), dim=1)
    feats = net[1](net[0](img))
    feats.retain_grad()
    net[4](net[3](net[2](feats)))[0, score_max_index].backward()
    w = feats.grad.mean((2, 3), keepdim=True)
    cam = torch.relu((w * feats).sum(1))
    eps = 0.03
    adv = torch.clamp(img + eps * img.grad.sign(), 0, 1)
    return saliency, cam.detach(), adv.detach()


@program
def threads(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    out = []

    def work(k):
        with torch.no_grad():
            a = (x * k).requires_grad
        (x * k).sum().backward()
        out.append((k, a, torch.is_grad_enabled()))

    with torch.no_grad():
        ts = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
        [t.start() for t in ts]
        [t.join() for t in ts]
    print(sorted(out))
    return x


@program
def hooks_everything(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    log = []
    h1 = x.register_hook(lambda g: log.append(("x", g.clone())))
    h2 = x.register_post_accumulate_grad_hook(lambda p: log.append(("post", p.grad.clone())))
    y = x * 3
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_hook(lambda gi, go: log.append(("fn", len(gi), go[0].clone())))
    y.grad_fn.register_prehook(lambda go: log.append(("pre", go[0].clone())))
    y.sum().backward()
    print(log)
    h1.remove()
    h2.remove()
    print(len(log))
    (x * 2).sum().backward()
    print(len(log))
    return x


@program
def optimizer_in_backward(torch: Any) -> Any:
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    opts = {p: torch.optim.SGD([p], lr=0.1) for p in m.parameters()}

    def hook(p):
        opts[p].step()
        opts[p].zero_grad()

    for p in m.parameters():
        p.register_post_accumulate_grad_hook(hook)
    for _ in range(3):
        m(torch.ones(4, 2)).sum().backward()
    return list(m.parameters())


@program
def exception_in_backward_hook(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def bad(g):
        raise ValueError("mine")

    y.register_hook(bad)
    try:
        y.sum().backward()
    except ValueError as e:
        print(e)
    z = x * 2
    z.register_hook(lambda g: g[:1])
    try:
        z.sum().backward()
    except RuntimeError as e:
        print("hook" in str(e))
    return x.grad is None


@program
def generators_and_no_grad(torch: Any) -> Any:
    x = torch.ones(1, requires_grad=True)

    @torch.no_grad()
    def gen():
        for _ in range(2):
            yield (x * 2).requires_grad

    print([(a, (x * 2).requires_grad) for a in gen()])
    ng = torch.no_grad()
    with ng:
        with torch.enable_grad():
            print((x * 2).requires_grad)
        print((x * 2).requires_grad)
    try:
        with torch.no_grad():
            raise ValueError
    except ValueError:
        print(torch.is_grad_enabled())

    class A:
        @torch.no_grad()
        def m(self):
            return (x * 2).requires_grad

        @staticmethod
        @torch.no_grad()
        def s():
            return (x * 2).requires_grad

    print(A().m(), A.s(), A.m.__name__)
    with torch.set_grad_enabled(False) as e:
        print(e, torch.is_grad_enabled())


@program
def checkpoint_details(torch: Any) -> Any:
    cp = torch.utils.checkpoint.checkpoint
    calls = []

    def f(x, w, flag=True):
        calls.append(torch.is_grad_enabled())
        return torch.tanh(x @ w) * (2 if flag else 1)

    x, w = torch.randn(2, 3), torch.randn(3, 3, requires_grad=True)
    y = cp(f, x, w, use_reentrant=False, flag=False)
    y.sum().backward()
    print(calls)
    z = cp(f, x, w, use_reentrant=True)
    z.sum().backward()
    print(calls)
    d = cp(torch.nn.Dropout(0.5), torch.ones(5, requires_grad=True), use_reentrant=False)
    d.sum().backward()
    out = cp(lambda a: {"k": a * 2, "t": (a, 3)}, w, use_reentrant=False)
    out["k"].sum().backward()
    print(out["t"][1])
    try:
        torch.autograd.grad(cp(f, x, w, use_reentrant=True).sum(), w)
    except RuntimeError as e:
        print(type(e).__name__)
    return w


@program
def anomaly_and_gradcheck_options(torch: Any) -> Any:
    gc = torch.autograd.gradcheck
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    w = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    print(
        gc(lambda a, b: (a @ b).tanh(), (x, w)),
        gc(torch.sin, x, eps=1e-5, atol=1e-3, rtol=1e-2),
        gc(lambda a: a.sum(), [x], fast_mode=True),
        torch.autograd.gradgradcheck(lambda a: a.pow(3), x),
        gc(lambda a: (a * 2, a.exp()), x),
        gc(torch.linalg.inv, torch.eye(2, dtype=torch.float64, requires_grad=True)),
        gc(
            lambda z: (z * z.conj()).real,
            torch.randn(2, dtype=torch.complex128, requires_grad=True),
        ),
    )
    try:
        gc(lambda a: a * 2, torch.ones(2))
    except ValueError as e:
        print("requires" in str(e))
    print(
        gc(lambda a: a.detach() * a, x, raise_exception=False),
        gc(torch.sin, torch.randn(2, requires_grad=True), raise_exception=False),
    )


@program
def graph_walk(torch: Any) -> Any:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a * b
    d = c.log()
    e = d + a
    seen = []

    def walk(f):
        if f is None:
            return
        seen.append(f.name())
        if hasattr(f, "variable"):
            seen.append(f.variable.item())
        for n, _ in f.next_functions:
            walk(n)

    walk(e.grad_fn)
    print(seen)
    print(
        e.grad_fn, str(c.grad_fn)[:14], a.grad_fn, e.grad_fn.next_functions[0][0] is d.grad_fn
    ) if False else print(
        e.grad_fn.next_functions[0][0] is d.grad_fn, type(c.grad_fn).__name__, a.grad_fn
    )
    print(c.grad_fn._saved_self, c.grad_fn._saved_other)


@program
def clip_by_hooks_and_nan_guard(torch: Any) -> Any:
    m = torch.nn.Linear(2, 2)
    for p in m.parameters():
        p.register_hook(lambda g: torch.clamp(g, -0.1, 0.1))
    (m(torch.ones(3, 2) * 10) ** 2).sum().backward()
    print(
        any(torch.isnan(p.grad).any() for p in m.parameters()),
        torch.isfinite(m.weight.grad).all().item(),
    )
    for p in m.parameters():
        p.grad.nan_to_num_(0.0)
        p.grad.div_(2)
    return m.weight, m.bias


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
