"""bfloat16: values and gradients at least as exact as PyTorch's, dtypes and errors as there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import TORCH, answer, compare

pytestmark = pytest.mark.parity

#: Expressions of x, y and z by the shapes of these; "+" in front means positive numbers.
EXPRESSIONS: dict[str, str] = {
    "4,6": """
        sin(x); cos(x); tan(x); exp(x); torch.expm1(x); tanh(x); sigmoid(x); erf(x); abs(x); -x
        square(x); 1 / x; torch.sinh(x); torch.cosh(x); torch.asinh(x); torch.atan(x); exp2(x)
        torch.floor(x); torch.round(x); torch.sign(x); F.relu(x); F.gelu(x); F.silu(x); F.mish(x)
        F.elu(x); F.selu(x); F.celu(x); F.softplus(x); F.softsign(x); F.hardswish(x)
        F.hardsigmoid(x); F.hardtanh(x); F.leaky_relu(x); F.logsigmoid(x); F.tanhshrink(x)
        F.gelu(x, approximate='tanh'); F.glu(x); torch.lerp(x, x * 2, 0.3); x + 1.1; x * 1.01
        1.3 - x; x.clamp(-0.11, 0.33); torch.where(x > 0.3, x, x * 2); x.float() * 2; x.half() + 1
        torch.addcmul(x, x, x, value=0.3); torch.addcdiv(x, x, x.abs() + 1, value=0.3); x ** 2
        x ** 3; x.masked_fill(x > 0, 0.3); (x * 1).add_(x).mul_(1.3).exp_(); x.to(torch.float64)
        x.int(); x > 0.2; torch.deg2rad(x); torch.add(x, x, alpha=0.3); x[1:, ::2]; x.T.flip(0)
    """,
    "+4,6": """
        torch.log(x); torch.log1p(x); torch.log2(x); sqrt(x); torch.rsqrt(x); torch.lgamma(x)
        torch.asin(x); torch.acos(x); torch.atanh(x); x / 1.3; x ** 0.3; x ** -0.5; 1.3 ** x
        x // 0.3; torch.digamma(x); torch.erfinv(x); torch.logit(x)
    """,
    "+4,6 6": """
        x + y; x - y; x * y; x / y; torch.pow(x, y); torch.atan2(x, y); torch.maximum(x, y)
        torch.fmod(x, y); torch.logaddexp(x, y); torch.xlogy(x, y); x + y.float(); x + y.half()
    """,
    "7,60": """
        x.sum(); x.sum(0); x.sum(1); x.mean(); x.mean(1); x.var(); x.std(1); x.amax(1); x.max()
        x.norm(); x.norm(dim=1); torch.linalg.vector_norm(x, 3); x.logsumexp(1); x.cumsum(1)
        x.softmax(1); x.softmax(0); x.log_softmax(1); x.median(1)[0]; x.argmax(1); x.nansum()
        x.sum(dtype=torch.float32); x.cummax(1)[0]; torch.dist(x, x * 2); F.normalize(x)
        x.softmax(1, dtype=torch.float32); (x * 0.9).abs().cumprod(1); F.layer_norm(x, (60,))
        F.rms_norm(x, (60,)); F.cross_entropy(x, torch.arange(7)); x.prod(1)
        F.cross_entropy(x, torch.arange(7), reduction='sum')
        F.cross_entropy(x, torch.arange(7), label_smoothing=0.1)
        F.nll_loss(x.log_softmax(1), torch.arange(7)); x.expand(3, 7, 60).sum(0)
    """,
    "7,60 7,60": """
        F.mse_loss(x, y); F.mse_loss(x, y, reduction='sum'); F.l1_loss(x, y); F.huber_loss(x, y)
        F.smooth_l1_loss(x, y); F.cosine_similarity(x, y); F.pairwise_distance(x, y)
        F.binary_cross_entropy_with_logits(x, y.detach().sigmoid())
        F.binary_cross_entropy(x.sigmoid(), y.detach().sigmoid())
        F.kl_div(x.log_softmax(1), y.detach().softmax(1), reduction='batchmean')
        F.cross_entropy(x, y.detach().softmax(1)); F.poisson_nll_loss(x, y.abs())
        torch.cat([x, y]).sum(1); torch.stack([x, y]).mean(0)
    """,
    "4,60 60,5 5": """
        x @ y; torch.mm(x, y); x @ y + z; torch.addmm(z, x, y); F.linear(x, y.T, z)
        torch.addmm(z, x, y, beta=0.5, alpha=0.3); torch.einsum('ij,jk->ki', x, y); x @ y[:, 0]
        F.linear(x, y.T); torch.tensordot(x, y, 1); torch.kron(z, z); torch.outer(z, z)
    """,
    "2,4,30 2,30,5 2,4,5": "torch.bmm(x, y); x @ y; torch.baddbmm(z, x, y)",
    "2,3,9 4,3,3 4": "F.conv1d(x, y, z); F.conv1d(x, y, z, stride=2, padding=1)",
    "1,2,6,6 3,2,3,3 3": "F.conv2d(x, y, z, padding=1); F.conv2d(x, y, z, dilation=2)",
    "1,3,4,4 3,2,3,3 2": "F.conv_transpose2d(x, y, z, stride=2)",
    "2,3,8,8": """
        F.max_pool2d(x, 2); F.avg_pool2d(x, 3, 2); F.adaptive_avg_pool2d(x, 3)
        F.interpolate(x, scale_factor=0.5, mode='bilinear'); F.interpolate(x, size=(3, 3))
        F.group_norm(x, 3); F.instance_norm(x); F.batch_norm(x, None, None, training=True)
    """,
    "2,2,6,5 2,2,6,5 2,2,6,5": """
        F.scaled_dot_product_attention(x, y, z)
        F.scaled_dot_product_attention(x, y, z, is_causal=True)
    """,
    "5,4 5,4": """
        F.embedding(torch.tensor([1, 2, 1, 0, 1]), x); x[torch.tensor([1, 2, 1, 0, 1])]
        x.gather(1, torch.tensor([[0, 0, 0], [1, 1, 2]])); x.index_add(0, torch.arange(5) % 2, y)
        x.scatter_add(0, torch.zeros(5, 4, dtype=torch.int64), y); F.pad(x, (1, 2)); x.repeat(3, 3)
        torch.linalg.inv(x[:4]); torch.linalg.svd(x); torch.fft.fft(x); x.tril(); x.roll(1, 0)
    """,
}
CASES = [
    (shapes, text.strip())
    for shapes, texts in EXPRESSIONS.items()
    for line in texts.strip().splitlines()
    for text in line.split("; ")
]


#: What expressions call without `torch`.
_FUNCTIONS = ("sin", "cos", "tan", "exp", "exp2", "tanh", "sigmoid", "erf", "abs", "square", "sqrt")


def program(shapes: str, text: str, dtype: str) -> Callable[[Any], Any]:
    """Return a program that evaluates an expression and its gradients, on numbers of bfloat16."""

    def run(torch: Any) -> Any:
        drawn = np.random.default_rng(len(text))
        operands = []
        for shape in shapes.removeprefix("+").split():
            x = drawn.standard_normal([int(n) for n in shape.split(",")])
            x = np.abs(x) * 0.4 + 0.1 if shapes.startswith("+") else x
            x = torch.tensor(x).to(torch.bfloat16).to(getattr(torch, dtype))
            operands.append(x.requires_grad_())
        names = {"torch": torch, "F": torch.nn.functional}
        names |= {name: getattr(torch, name) for name in _FUNCTIONS}
        y = eval(text, names | dict(zip("xyz", operands, strict=False)))
        if not y.requires_grad:
            return [y]
        weights = np.random.default_rng(7).standard_normal(tuple(y.shape))
        y.backward(torch.tensor(weights).to(torch.bfloat16).to(y.dtype))
        return [y, *(x.grad for x in operands)]

    return run


def _errors(values: Any, exact: np.ndarray) -> np.ndarray:
    """Return how many units in the last place of bfloat16 values are off, at most."""
    typical = np.mean(np.abs(exact[np.isfinite(exact)])) if np.isfinite(exact).any() else 1.0
    scale = np.maximum(np.abs(exact), 0.05 * typical + 1e-30)
    found = np.abs(np.asarray(values) - exact) / scale * 256
    return np.where(np.isfinite(exact), found, 0.0) if exact.size else found


@pytest.mark.parametrize(("shapes", "text"), CASES)
def test_as_exact_as_pytorch(shapes: str, text: str) -> None:
    rounded, wide = program(shapes, text, "bfloat16"), program(shapes, text, "float64")
    # What names float32 itself computes in it, also in the wide program.
    single = "float32" in text or ".float()" in text
    theirs = answer(rounded, rtol=1.0)
    exact = answer(wide, rtol=TORCH.tolerances["float32"] if single else None)
    ours = TORCH.described(rounded, TORCH.ours)
    if theirs["kind"] == "raises":
        assert ours == theirs
        return
    assert ours["kind"] == "list", ours
    for mine, their, true in zip(ours["parts"], theirs["parts"], exact["parts"], strict=True):
        if their is None:
            assert mine is None
            continue
        assert [mine[k] for k in ("dtype", "shape")] == [their[k] for k in ("dtype", "shape")]
        if their["dtype"] not in ("bfloat16", "float16", "float32", "float64"):
            assert mine["values"] == their["values"]
            continue
        numbers = np.asarray(true["values"])
        allowed = max(1.5, 1.1 * float(_errors(their["values"], numbers).max(initial=0.0)))
        assert _errors(mine["values"], numbers).max(initial=0.0) <= allowed


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "promotion": lambda torch: [
        (torch.ones(2, dtype=torch.bfloat16) * other).dtype
        for other in (
            2, 2.5, True, torch.ones(2, dtype=torch.float16), torch.ones(2), torch.ones(()),
            torch.arange(2), torch.ones(2, dtype=torch.float64), 1j,
        )
    ],
    "dtypes": lambda torch: [
        [d, d.itemsize, d.is_floating_point, d.is_signed, d.to_complex(), torch.finfo(d)]
        for d in (torch.bfloat16, torch.float32)
    ],
    "finfo": lambda torch: [
        getattr(torch.finfo(torch.bfloat16), name)
        for name in ("bits", "eps", "max", "min", "tiny", "resolution", "dtype")
    ],
    "names": lambda torch: [
        torch.ones(2).bfloat16().type(),
        torch.nn.Linear(2, 2).bfloat16().weight.dtype,
        torch.nn.Linear(2, 2, dtype=torch.bfloat16).bias.dtype,
        torch.promote_types(torch.bfloat16, torch.float16),
    ],
    "printed": lambda torch: repr(torch.tensor([1.5, -2.25, 1e-3], dtype=torch.bfloat16)),
    "made": lambda torch: [
        torch.arange(5, dtype=torch.bfloat16),
        torch.full((2,), 3.3, dtype=torch.bfloat16),
        torch.linspace(0, 1, 5, dtype=torch.bfloat16),
        torch.tensor([1.1, 300.7], dtype=torch.bfloat16),
        torch.zeros(2, dtype=torch.bfloat16).fill_(1.7),
        torch.eye(2, dtype=torch.bfloat16),
        torch.ones(3, dtype=torch.bfloat16).tolist(),
        torch.tensor(1.1, dtype=torch.bfloat16).item(),
    ],
    "drawn": lambda torch: [
        torch.manual_seed(3) and None,
        torch.rand(20, dtype=torch.bfloat16),
        torch.randn(40, dtype=torch.bfloat16),
        torch.empty(20, dtype=torch.bfloat16).uniform_(-1, 1),
    ],
    "float8": lambda torch: [
        torch.tensor([1.1, -300.0, 0.07]).to(dtype).float()
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2)
    ],
    "in place": lambda torch: torch.zeros(3, dtype=torch.bfloat16).add_(torch.ones(3) * 1.003),
    "written": lambda torch: _written(torch),
    "numpy": lambda torch: torch.from_numpy(np.ones(2, np.float16)).bfloat16().float().numpy(),
    "view of the bits": lambda torch: torch.tensor([1.5], dtype=torch.bfloat16).view(torch.int16),
    "a second derivative": lambda torch: _second(torch),
    "forward mode": lambda torch: torch.func.jvp(
        lambda x: torch.sin(x) * x, (torch.ones(3).bfloat16(),), (torch.ones(3).bfloat16(),)
    ),
    "examples": lambda torch: torch.vmap(lambda x: (x * x).sum() * 1.5)(
        torch.arange(12, dtype=torch.bfloat16).reshape(3, 4)
    ),
}  # fmt: skip


def _written(torch: Any) -> Any:
    x = torch.zeros(4, dtype=torch.bfloat16, requires_grad=True)
    y = x * 1
    y[1:3] = torch.tensor([1.001, 2.003])
    y[0] = 3.14159
    y.sum().backward()
    return y, x.grad


def _second(torch: Any) -> Any:
    x = torch.tensor([0.5, 1.5], dtype=torch.bfloat16, requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    compare(PROGRAMS[name])


# -- autocast ----------------------------------------------------------------------------------


AUTOCAST = """
    x @ x; torch.mm(x, x); torch.bmm(x[None], x[None]); torch.mv(x, x[0]); torch.dot(x[0], x[0])
    torch.addmm(x, x, x); torch.baddbmm(x[None], x[None], x[None]); F.linear(x, x)
    torch.einsum('ij,jk->ik', x, x); F.conv1d(x[None], x[None]); torch.outer(x[0], x[0])
    F.scaled_dot_product_attention(x[None], x[None], x[None]); F.prelu(x, x[0, :1]); x.sum()
    torch.tensordot(x, x, 1); torch.inner(x, x); torch.linalg.multi_dot([x, x, x]); b.softmax(1)
    torch.matrix_power(x, 2); F.embedding(t, x); F.mse_loss(b, b + 1); F.l1_loss(b, b + 1)
    F.cross_entropy(b, t); F.nll_loss(b, t); F.binary_cross_entropy_with_logits(b, b.sigmoid())
    F.kl_div(b, b, reduction='sum'); F.smooth_l1_loss(b, b + 1); F.huber_loss(b, b + 1); b.prod()
    F.layer_norm(b, (4,)); F.gelu(b); b.exp(); b.mean(); b + x; torch.cat([b, x]); b.trace()
    torch.linalg.inv(b); torch.cdist(b, b); torch.fft.fft(b); b.double() @ b.double(); x.mT @ b
    F.hinge_embedding_loss(b, b); F.cosine_similarity(b, b.flip(0)); torch.linalg.vecdot(x, x)
    F.gaussian_nll_loss(b, b, b.abs() + 1); F.poisson_nll_loss(b, b); i @ i
"""


@pytest.mark.parametrize(
    "text", [t for line in AUTOCAST.split("\n") for t in line.strip().split("; ") if t]
)
def test_autocast(text: str) -> None:
    def run(torch: Any) -> Any:
        numbers = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
        x = torch.tensor(numbers, requires_grad=True)
        names = {"torch": torch, "F": torch.nn.functional, "x": x, "b": x.bfloat16()}
        names |= {"t": torch.arange(4), "i": torch.arange(16).reshape(4, 4)}
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = eval(text, names)
        if y.requires_grad and not y.is_complex():
            (y * y * y).sum().backward()
        return y, x.grad

    compare(run, rtol=3e-2)


def _modes(torch: Any) -> Any:
    found = []

    def look() -> None:
        product = torch.ones(2, 2) @ torch.ones(2, 2)
        enabled = torch.is_autocast_enabled("cpu")
        found.append([enabled, torch.get_autocast_dtype("cpu"), product.dtype])

    @torch.autocast("cpu")
    def decorated() -> None:
        look()

    look()
    with torch.autocast(device_type="cpu", dtype=torch.float16):
        look()
        with torch.amp.autocast("cpu", enabled=False):
            look()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                look()
        look()
    decorated()
    look()
    with pytest.raises(ValueError), torch.autocast("cpu"):
        raise ValueError
    look()
    with torch.autocast("cuda"):  # which is not there
        look()
    with torch.autocast("cpu", dtype=torch.float64):  # which is no dtype for it
        look()
    return found, torch.is_autocast_enabled(), torch.is_autocast_enabled("cpu")


def test_modes_of_autocast() -> None:
    compare(_modes)


@pytest.mark.parametrize(
    "call",
    [lambda torch: torch.autocast("tpu"), lambda torch: torch.autocast(3)],
    ids=["another device", "no device"],
)
def test_mistakes_of_autocast(call: Callable[[Any], Any]) -> None:
    compare(call)


# -- training ----------------------------------------------------------------------------------


class _Blocks:
    """Networks, with numbers that do not depend on the library."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.drawn = torch, np.random.default_rng(5)

    def numbers(self, *shape: int) -> Any:
        return self.torch.tensor(self.drawn.standard_normal(shape).astype(np.float32))

    def filled(self, module: Any) -> Any:
        with self.torch.no_grad():
            for p in module.parameters():
                p.copy_(self.numbers(*p.shape) * 0.3)
        return module

    def mlp(self) -> Any:
        nn = self.torch.nn
        return self.filled(nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 3)))

    def attention(self) -> Any:
        nn, blocks = self.torch.nn, self

        class Block(nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self) -> None:
                super().__init__()
                self.norm, self.qkv = nn.LayerNorm(6), nn.Linear(6, 18)
                self.out, self.head = nn.Linear(6, 6), nn.Linear(6, 3)

            def forward(self, x: Any) -> Any:
                q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
                seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                return self.head(x + self.out(seen)).mean(1)

        return blocks.filled(Block())


OPTIMISERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda optim, p: optim.SGD(p, lr=0.05),
    "momentum": lambda optim, p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
    "Adam": lambda optim, p: optim.Adam(p, lr=0.01),
    "AdamW": lambda optim, p: optim.AdamW(p, lr=0.01),
    "RMSprop": lambda optim, p: optim.RMSprop(p, lr=0.01),
}


def trained(torch: Any, net: str, optimiser: str, cast: bool, steps: int = 6) -> list[float]:
    """Return the losses of a network that is trained in bfloat16, or with autocast."""
    blocks = _Blocks(torch)
    model = getattr(blocks, net)()
    x = blocks.numbers(*((8, 6) if net == "mlp" else (8, 5, 6)))
    labels = torch.arange(8) % 3
    if not cast:
        model, x = model.to(torch.bfloat16), x.bfloat16()
    opt = OPTIMISERS[optimiser](torch.optim, model.parameters())
    losses = []
    for _ in range(steps):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=cast):
            loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    kinds = {str(p.dtype) for p in model.parameters()} | {
        str(p.grad.dtype) for p in model.parameters()
    }
    assert kinds == {"torch.float32" if cast else "torch.bfloat16"}
    return losses


@pytest.mark.parametrize("cast", [False, True], ids=["in bfloat16", "autocast"])
@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("net", ["mlp", "attention"])
def test_training(net: str, optimiser: str, cast: bool) -> None:
    compare(lambda torch: trained(torch, net, optimiser, cast), rtol=2e-2)
