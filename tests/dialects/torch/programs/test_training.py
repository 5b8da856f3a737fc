"""Optimisers, schedules, states and the initialisation of modules in programs."""

from __future__ import annotations

import abc
import collections
import copy
import functools
import math
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def lbfgs_rosenbrock(torch: Any) -> Any:
    def rosen(x):
        return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()

    x = torch.tensor([-1.2, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
    opt = torch.optim.LBFGS([x], lr=1, max_iter=50, line_search_fn="strong_wolfe")
    losses = []

    def closure():
        opt.zero_grad()
        loss = rosen(x)
        loss.backward()
        losses.append(loss.item())
        return loss

    first = opt.step(closure)
    print(first)
    print([round(v, 3) for v in x.tolist()], len(losses))
    return x.detach().round(decimals=3)


@program
def schedulers(torch: Any) -> Any:
    w = torch.nn.Parameter(torch.ones(2))
    out = []
    S = torch.optim.lr_scheduler
    for make in (
        lambda o: S.StepLR(o, 3, 0.5),
        lambda o: S.MultiStepLR(o, milestones=[2, 4], gamma=0.1),
        lambda o: S.ExponentialLR(o, 0.9),
        lambda o: S.CosineAnnealingLR(o, T_max=5),
        lambda o: S.LambdaLR(o, lambda e: 1 / (e + 1)),
        lambda o: S.OneCycleLR(o, max_lr=0.5, total_steps=10),
        lambda o: S.LinearLR(o),
        lambda o: S.CosineAnnealingWarmRestarts(o, 3),
        lambda o: S.SequentialLR(
            o, [S.ConstantLR(o, 0.1), S.ExponentialLR(o, 0.9)], milestones=[3]
        ),
        lambda o: S.PolynomialLR(o, 4),
    ):
        opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        sch = make(opt)
        lrs = []
        for _ in range(8):
            opt.zero_grad()
            (w**2).sum().backward()
            opt.step()
            lrs.append(opt.param_groups[0]["lr"])
            sch.step()
        out.append(lrs)
        out.append(sch.get_last_lr())
    plateau = S.ReduceLROnPlateau(opt, "min", patience=1)
    for v in [1.0, 1.0, 1.0, 1.0, 0.5]:
        plateau.step(v)
    out.append(opt.param_groups[0]["lr"])
    return out


@program
def gradient_accumulation_clipping(torch: Any) -> Any:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    opt.zero_grad()
    for step in range(8):
        loss = model(torch.randn(2, 4)).pow(2).mean() / 4
        loss.backward()
        if (step + 1) % 4 == 0:
            n = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            print(n)
            opt.step()
            opt.zero_grad()
    print([p.grad for p in model.parameters()])
    return list(model.parameters())


@program
def weight_tying(torch: Any) -> Any:
    class LM(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = torch.nn.Embedding(7, 4)
            self.dec = torch.nn.Linear(4, 7, bias=False)
            self.dec.weight = self.emb.weight

        def forward(self, x):
            return self.dec(self.emb(x))

    m = LM()
    print(len(list(m.parameters())), list(m.state_dict().keys()))
    print(m.dec.weight is m.emb.weight, sum(p.numel() for p in m.parameters()))
    out = m(torch.tensor([1, 2, 3]))
    torch.nn.functional.cross_entropy(out, torch.tensor([2, 3, 4])).backward()
    c = copy.deepcopy(m)
    print(c.dec.weight is c.emb.weight)
    return m.emb.weight


@program
def ema_model(torch: Any) -> Any:
    m = torch.nn.Linear(2, 2)
    ema = copy.deepcopy(m)
    for p in ema.parameters():
        p.requires_grad_(False)
    opt = torch.optim.Adam(m.parameters())
    for _ in range(5):
        loss = m(torch.ones(1, 2)).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), m.parameters(), strict=True):
                e.mul_(0.9).add_(p, alpha=0.1)
    return ema.weight, m.weight


@program
def freezing_layers(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(
        collections.OrderedDict(
            [("conv", nn.Conv1d(1, 2, 3)), ("flat", nn.Flatten()), ("head", nn.Linear(12, 2))]
        )
    )
    for param in model.parameters():
        param.requires_grad = False
    model.head = nn.Linear(12, 3)
    opt = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
    y = model(torch.randn(2, 1, 8))
    y.sum().backward()
    opt.step()
    print(model)
    print([(n, p.requires_grad, p.grad is None) for n, p in model.named_parameters()])
    return model.head.weight, model.conv.weight


@program
def state_dict_surgery(torch: Any) -> Any:
    a = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    sd = a.state_dict()
    print(list(sd))
    print(type(sd).__name__, sd["0.weight"].requires_grad)
    renamed = collections.OrderedDict((k.replace("0.", "fc."), v) for k, v in sd.items())

    class B(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(2, 3)
            self.extra = torch.nn.Parameter(torch.zeros(1))

    b = B()
    res = b.load_state_dict(renamed, strict=False)
    print(res.missing_keys, res.unexpected_keys)
    print(res)
    try:
        b.load_state_dict(renamed)
    except RuntimeError as e:
        print("Missing" in str(e), "Unexpected" in str(e))
    try:
        b.load_state_dict(
            {"fc.weight": torch.zeros(5, 5), "fc.bias": torch.zeros(3), "extra": torch.zeros(1)}
        )
    except RuntimeError as e:
        print("fc.weight" in str(e))
    return b.fc.weight, sd


@program
def printing_optimizers(torch: Any) -> Any:
    w = torch.nn.Parameter(torch.ones(2))
    for o in (
        torch.optim.SGD([w], lr=0.1),
        torch.optim.Adam([w]),
        torch.optim.AdamW([w], lr=1e-2),
        torch.optim.RMSprop([w]),
        torch.optim.LBFGS([w]),
        torch.optim.Adagrad([w]),
        torch.optim.SGD(
            [{"params": [w], "lr": 0.5}, {"params": [torch.nn.Parameter(torch.zeros(1))]}],
            lr=0.1,
            momentum=0.9,
        ),
        torch.optim.NAdam([w]),
        torch.optim.Adamax([w]),
        torch.optim.Adadelta([w]),
        torch.optim.Rprop([w]),
        torch.optim.ASGD([w]),
        torch.optim.RAdam([w]),
    ):
        print(o)
        print(sorted(o.state_dict()["param_groups"][0].keys()))


@program
def module_introspection(torch: Any) -> Any:
    nn = torch.nn

    class Sub(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2))
            self.register_buffer("buf", torch.ones(1))
            self.register_buffer("np_", torch.ones(1), persistent=False)
            self.plain = torch.ones(3)
            self.lst = nn.ParameterList([torch.ones(1), torch.zeros(1)])
            self.d = nn.ParameterDict({"k": nn.Parameter(torch.ones(1))})

        def forward(self, x):
            return x * self.w.sum() + self.buf

    m = nn.Sequential(Sub(), nn.Linear(2, 2))
    print(m)
    print(
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_buffers()],
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_children()],
    )
    print(
        list(m.state_dict()),
        sum(p.numel() for p in m.parameters()),
        m.training,
        m.eval().training,
        m[0].training,
    )
    print(
        m.get_submodule("0"),
        m.get_parameter("0.w"),
        m[0].buf,
        hasattr(m[0], "zz"),
        len(m),
        m[-1],
        m[0:1],
    )
    m.double()
    print(m[0].w.dtype, m[0].buf.dtype, m[0].plain.dtype)
    m.float()
    m.apply(lambda mod: print(type(mod).__name__))
    del m[0].w
    try:
        print(m[0].w)
    except AttributeError as e:
        print(str(e)[:50])
    m[0].w = nn.Parameter(torch.ones(2))
    m[0].extra = nn.ReLU()
    m.add_module("last", nn.Tanh())
    m.append(nn.Identity())
    print([n for n, _ in m.named_children()], dict(m[0].named_parameters()).keys())
    try:

        class Bad(nn.Module):
            def __init__(self):
                self.l = nn.Linear(1, 1)

        Bad()
    except AttributeError as e:
        print(type(e).__name__)
    try:
        m[0].register_parameter("a.b", None)
    except KeyError as e:
        print(type(e).__name__)
    print(
        next(m.parameters()).device,
        m[1].weight.shape,
        m.to(torch.float64)[1].weight.dtype,
        m.requires_grad_(False)[1].weight.requires_grad,
        m.zero_grad(),
    )


@program
def dropout_seeded(torch: Any) -> Any:
    d = torch.nn.Dropout(0.5)
    x = torch.ones(4, 5, requires_grad=True)
    torch.manual_seed(7)
    y = d(x)
    y.sum().backward()
    d.eval()
    print(y, d(x) is x or torch.equal(d(x), x))
    torch.manual_seed(7)
    z = torch.nn.functional.dropout2d(torch.ones(2, 4, 2, 2), 0.5)
    return y, x, z


@program
def rng_reproducible(torch: Any) -> Any:
    torch.manual_seed(42)
    a = torch.rand(3)
    st = torch.get_rng_state()
    b = torch.randn(3)
    torch.set_rng_state(st)
    c = torch.randn(3)
    g = torch.Generator().manual_seed(1)
    d = torch.randn(2, generator=g)
    e = torch.randint(0, 10, (4,), generator=g)
    f = torch.randperm(5, generator=g)
    print(torch.equal(b, c), torch.initial_seed(), g.initial_seed())
    with torch.random.fork_rng():
        torch.manual_seed(0)
        torch.rand(2)
    h = torch.rand(1)
    u = torch.empty(3).uniform_(-1, 1)
    n = torch.empty(3).normal_(2, 0.5)
    be = torch.bernoulli(torch.full((4,), 0.5))
    mu = torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 4, replacement=True)
    ex = torch.empty(2).exponential_()
    no = torch.normal(torch.zeros(2), torch.ones(2))
    return a, b, d, e, f, h, u, n, be, mu, ex, no


@program
def init_functions(torch: Any) -> Any:
    init = torch.nn.init
    w = torch.empty(3, 4)
    outs = []
    for f in (
        init.xavier_uniform_,
        init.xavier_normal_,
        init.kaiming_uniform_,
        init.kaiming_normal_,
        init.orthogonal_,
        init.normal_,
        init.uniform_,
        init.ones_,
        init.zeros_,
        init.eye_,
        init.trunc_normal_,
    ):
        torch.manual_seed(0)
        outs.append(f(w).clone())
    outs.append(init.constant_(w, 0.3).clone())
    print(
        init.calculate_gain("relu"),
        init.calculate_gain("leaky_relu", 0.2),
        init.calculate_gain("tanh"),
    )
    p = torch.nn.Parameter(w)
    init.normal_(p)
    print(p.requires_grad, p.is_leaf)
    return outs[:4] + outs[5:12]


@program
def reset_parameters_idiom(torch: Any) -> Any:
    m = torch.nn.Linear(3, 2)
    torch.manual_seed(3)
    m.reset_parameters()
    a = m.weight.clone()
    torch.manual_seed(3)
    n = torch.nn.Linear(3, 2)
    print(torch.equal(a, n.weight))
    torch.nn.init.kaiming_uniform_(m.weight, a=math.sqrt(5))
    fan_in, _ = torch.nn.init._calculate_fan_in_and_fan_out(m.weight)
    print(fan_in)
    m.weight.data.normal_(0, 0.1)
    m.bias.data.fill_(0.01)
    with torch.no_grad():
        m.weight.copy_(torch.ones(2, 3))
        m.weight[0, 0] = 5
    m.weight = torch.nn.Parameter(m.weight * 2)
    return m.weight, m.bias


@program
def params_to_vector_and_norms(torch: Any) -> Any:
    U = torch.nn.utils
    m = torch.nn.Linear(2, 2)
    v = U.parameters_to_vector(m.parameters())
    U.vector_to_parameters(torch.arange(6.0), m.parameters())
    (m(torch.ones(1, 2)) ** 2).sum().backward()
    n1 = U.clip_grad_norm_(m.parameters(), 1.0, norm_type=2)
    n2 = U.clip_grad_norm_(m.parameters(), 0.5, norm_type=float("inf"))
    U.clip_grad_value_(m.parameters(), 0.1)
    g = U.get_total_norm([p.grad for p in m.parameters()]) if hasattr(U, "get_total_norm") else None
    tot = torch.norm(torch.stack([torch.norm(p.grad.detach(), 2) for p in m.parameters()]), 2)
    print(n1, n2, tot, v.requires_grad)
    return m.weight, m.bias, g


@program
def parametrized_symmetric(torch: Any) -> Any:
    P = torch.nn.utils.parametrize

    class Symmetric(torch.nn.Module):
        def forward(self, X):
            return X.triu() + X.triu(1).transpose(-1, -2)

    layer = torch.nn.Linear(3, 3)
    P.register_parametrization(layer, "weight", Symmetric())
    A = layer.weight
    print(
        torch.allclose(A, A.T), P.is_parametrized(layer), [n for n, _ in layer.named_parameters()]
    )
    layer(torch.ones(1, 3)).sum().backward()
    print(layer)
    g = layer.parametrizations.weight.original.grad
    P.remove_parametrizations(layer, "weight")
    return A, g


@program
def abstract_module(torch: Any) -> Any:
    class Base(torch.nn.Module, abc.ABC):
        @abc.abstractmethod
        def forward(self, x): ...

    class Impl(Base):
        def __init__(self):
            super().__init__()
            self.s = torch.nn.Parameter(torch.tensor(2.0))

        def forward(self, x):
            return x * self.s

    try:
        Base()
    except TypeError as e:
        print("abstract" in str(e))
    m = Impl()
    m(torch.ones(2)).sum().backward()
    return m.s


@program
def optimizer_groups_and_state(torch: Any) -> Any:
    a, b = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(1))
    o = torch.optim.Adam([{"params": [a], "lr": 0.1, "name": "a"}], lr=0.01, weight_decay=0.1)
    o.add_param_group({"params": b})
    for _ in range(3):
        o.zero_grad()
        ((a**2).sum() + (b**3).sum()).backward()
        o.step()
    print([g["lr"] for g in o.param_groups], len(o.state), o.state[a]["step"], sorted(o.state[a]))
    for g in o.param_groups:
        g["lr"] *= 0.1
    o.step()
    sd = o.state_dict()
    print(list(sd), sd["param_groups"][1]["params"])
    o2 = torch.optim.Adam([{"params": [a]}, {"params": [b]}])
    o2.load_state_dict(sd)
    print(o2.param_groups[0]["lr"])
    try:
        o.add_param_group({"params": a})
    except ValueError as e:
        print("group" in str(e))
    o.zero_grad(set_to_none=False)
    print(a.grad)
    o.zero_grad()
    print(a.grad)
    return a, b, o.state[a]["exp_avg"], o.state[b]["exp_avg_sq"]


@program
def closure_optimisers(torch: Any) -> Any:
    w = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
    outs = []
    for optimiser in (
        torch.optim.SGD,
        torch.optim.Adam,
        torch.optim.RMSprop,
        torch.optim.Adadelta,
        torch.optim.Rprop,
        torch.optim.NAdam,
        torch.optim.RAdam,
        torch.optim.Adamax,
        torch.optim.ASGD,
        torch.optim.AdamW,
        torch.optim.Adagrad,
    ):
        with torch.no_grad():
            w.copy_(torch.tensor([3.0, -2.0]))
        o = optimiser([w], lr=0.05)

        def closure(o=o):
            o.zero_grad()
            loss = (w**2).sum()
            loss.backward()
            return loss

        for _ in range(4):
            loss = o.step(closure)
        outs += [loss.detach(), w.detach().clone()]
    return outs


@program
def loss_module_options(torch: Any) -> Any:
    nn = torch.nn
    x = torch.rand(4, 3, requires_grad=True)
    t = torch.rand(4, 3)
    outs = []
    for L in (
        nn.MSELoss,
        nn.L1Loss,
        nn.SmoothL1Loss,
        nn.HuberLoss,
        nn.BCELoss,
        nn.BCEWithLogitsLoss,
        nn.PoissonNLLLoss,
        nn.KLDivLoss,
        nn.SoftMarginLoss,
    ):
        for r in ("none", "mean", "sum"):
            loss = L(reduction=r)(x, t)
            outs.append(loss)
            loss.sum().backward()
    outs.append(nn.GaussianNLLLoss()(x, t, torch.ones(4, 3)))
    outs.append(nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0]))(x, t))
    outs.append(nn.MarginRankingLoss()(x[:, 0], x[:, 1], torch.ones(4)))
    outs.append(nn.HingeEmbeddingLoss()(x, torch.ones(4, 3)))
    return outs, x


@program
def activations_zoo(torch: Any) -> Any:
    F = torch.nn.functional
    x = torch.linspace(-3, 3, 13, requires_grad=True)
    outs = [
        f(x)
        for f in (
            F.relu,
            F.relu6,
            F.elu,
            F.selu,
            F.celu,
            F.leaky_relu,
            F.gelu,
            F.silu,
            F.mish,
            F.softplus,
            F.softsign,
            F.tanhshrink,
            F.hardshrink,
            F.softshrink,
            F.hardtanh,
            F.hardsigmoid,
            F.hardswish,
            F.logsigmoid,
            torch.tanh,
            torch.sigmoid,
            functools.partial(F.gelu, approximate="tanh"),
            functools.partial(F.threshold, threshold=0.5, value=0.1),
            functools.partial(F.softmax, dim=0),
            functools.partial(F.log_softmax, dim=0),
            functools.partial(F.softmin, dim=0),
        )
    ]
    sum(o.sum() for o in outs).backward()
    return outs, x


@program
def norm_layers_train_eval(torch: Any) -> Any:
    nn = torch.nn
    x = torch.randn(4, 6, 5, requires_grad=True)
    outs = []
    for m in (
        nn.BatchNorm1d(6),
        nn.LayerNorm(5),
        nn.GroupNorm(3, 6),
        nn.InstanceNorm1d(6, affine=True),
        nn.LayerNorm([6, 5], elementwise_affine=False),
        nn.RMSNorm(5),
        nn.LocalResponseNorm(2),
    ):
        y = m(x)
        (y**2 * torch.arange(5.0)).sum().backward()
        outs.append(y)
        m.eval()
        outs.append(m(x))
    return outs, x


@program
def pooling_zoo(torch: Any) -> Any:
    F = torch.nn.functional
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    outs = [
        F.max_pool2d(x, 2),
        F.max_pool2d(x, 3, 2, 1),
        F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
        F.adaptive_avg_pool2d(x, (3, 2)),
        F.adaptive_max_pool2d(x, 2),
        F.max_pool2d(x, 2, return_indices=True)[0],
        F.interpolate(x, size=(5, 5), mode="bicubic", align_corners=True),
        F.interpolate(x, scale_factor=0.5),
        F.unfold(x, 3),
        F.pixel_shuffle(x.reshape(1, 12, 4, 8), 2),
        F.avg_pool1d(x[0], 2),
        F.max_pool1d(x[0], 3, 1),
    ]
    sum((o**2).sum() for o in outs).backward()
    return outs, x


@program
def learnable_lr_and_unrolled(torch: Any) -> Any:
    lr = torch.tensor(0.1, requires_grad=True)
    w = torch.tensor([1.0, -1.0], requires_grad=True)
    p = w
    for _ in range(3):
        loss = (p**2 * torch.tensor([1.0, 3.0])).sum()
        (g,) = torch.autograd.grad(loss, p, create_graph=True)
        p = p - lr * g
    (p**2).sum().backward()
    return lr, w


@program
def soft_target_update_lerp(torch: Any) -> Any:
    a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    for p, t in zip(a.parameters(), b.parameters(), strict=True):
        t.data.copy_(0.9 * t.data + 0.1 * p.data)
        t.data.lerp_(p.data, 0.5)
    b.load_state_dict({k: v.clone() for k, v in a.state_dict().items()})
    print(all(torch.equal(p, t) for p, t in zip(a.parameters(), b.parameters(), strict=True)))
    return b.weight


@program
def module_forward_kwargs_and_hooks(torch: Any) -> Any:
    class M(torch.nn.Module):
        def forward(self, x, *, scale=1.0):
            return {"y": x * scale}

    m = M()
    seen = []
    m.register_forward_hook(
        lambda mod, a, k, o: seen.append((len(a), k, list(o))), with_kwargs=True
    )
    m.register_forward_pre_hook(lambda mod, a, k: (a, {"scale": k["scale"] * 2}), with_kwargs=True)
    x = torch.ones(2, requires_grad=True)
    m(x, scale=3.0)["y"].sum().backward()
    print(seen)
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_pre_hook(lambda mod, go: (go[0] * 0.5,))
    layer(x).sum().backward()
    return x, layer.weight


@program
def context_dict_iteration(torch: Any) -> Any:
    sd = torch.nn.Linear(1, 2).state_dict()
    for name, t in sd.items():
        print(f"{name:>10} {tuple(t.shape)} {t.dtype} {t.numel()}")
    print(sum(v.numel() for v in sd.values()), {k: v.shape for k, v in sd.items()})
    m = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    for i, layer in enumerate(m):
        print(i, layer.__class__.__name__, layer)
    for n, p in m.named_parameters():
        print(n, p.size(), p[:1])
    print(
        isinstance(m[0].weight, torch.nn.parameter.Parameter),
        m[0].in_features,
        m[2].bias.shape[0],
        len(list(m.children())),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
