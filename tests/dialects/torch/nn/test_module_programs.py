"""Whole programs with modules."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import everything, net, numbers
from tests.dialects.torch.parity import compare, printed

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


def descend(torch: Any, module: Any, rate: float) -> None:
    """Take a step of gradient descent."""
    with torch.no_grad():
        for p in module.parameters():
            if p.grad is not None:
                p -= rate * p.grad
    module.zero_grad()


@program
def train_mlp(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    x, y = torch.randn(30, 4), torch.randint(0, 3, (30,))
    losses = []
    for _ in range(20):
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        descend(torch, model, 0.5)
        losses.append(loss.item())
    return [losses, model.state_dict(), (model(x).argmax(1) == y).float().mean()]


@program
def train_cnn(torch: Any) -> Any:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
                nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(),
                nn.AdaptiveAvgPool2d(1),
            )  # fmt: skip
            self.head = nn.Linear(8, 2)

        def forward(self, x: Any) -> Any:
            return self.head(torch.flatten(self.features(x), 1))

    torch.manual_seed(0)
    model, x, y = Net(), torch.randn(8, 1, 8, 8), torch.randint(0, 2, (8,))
    losses = []
    for _ in range(6):
        loss = nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        descend(torch, model, 0.1)
        losses.append(loss.item())
    model.eval()
    return [losses, model.state_dict(), model(x)]


@program
def train_autoencoder(torch: Any) -> Any:
    nn = torch.nn

    class Autoencoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv1d(1, 3, 3, 2, 1), nn.GELU(), nn.Flatten())
            self.decoder = nn.Sequential(
                nn.Unflatten(1, (3, 4)), nn.ConvTranspose1d(3, 1, 4, 2, 1), nn.Sigmoid()
            )

        def forward(self, x: Any) -> Any:
            return self.decoder(self.encoder(x))

    torch.manual_seed(1)
    model, x = Autoencoder(), torch.rand(6, 1, 8)
    losses = []
    for _ in range(10):
        loss = nn.BCELoss()(model(x), x)
        loss.backward()
        descend(torch, model, 1.0)
        losses.append(loss.item())
    return [losses, model.state_dict()]


@program
def train_gan(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(2)
    maker = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2))
    judge = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(8, 1))
    loss, found = nn.BCEWithLogitsLoss(), []
    real = torch.randn(10, 2) + 3
    for _ in range(4):
        fake = maker(torch.randn(10, 2))
        of_judge = loss(judge(real), torch.ones(10, 1)) + loss(
            judge(fake.detach()), torch.zeros(10, 1)
        )
        judge.zero_grad()
        of_judge.backward()
        descend(torch, judge, 0.1)
        of_maker = loss(judge(fake), torch.ones(10, 1))
        maker.zero_grad()
        of_maker.backward()
        descend(torch, maker, 0.1)
        judge.zero_grad()
        found.append([of_judge.item(), of_maker.item()])
    return [found, maker.state_dict(), judge.state_dict()]


@program
def train_wgan_gp(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(3)
    critic = nn.Sequential(nn.Linear(2, 6), nn.Softplus(), nn.Linear(6, 1))
    real, fake = torch.randn(5, 2) + 1, torch.randn(5, 2)
    mix = torch.rand(5, 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (g,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    loss = critic(fake).mean() - critic(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()
    loss.backward()
    return [loss, g.detach(), *everything(critic)]


@program
def train_vae(torch: Any) -> Any:
    nn = torch.nn

    class VAE(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.mean, self.logvar = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
            self.out = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 6), nn.Sigmoid())

        def forward(self, x: Any, noise: Any) -> Any:
            h = nn.functional.relu(self.hidden(x))
            mean, logvar = self.mean(h), self.logvar(h)
            return self.out(mean + noise * torch.exp(0.5 * logvar)), mean, logvar

    torch.manual_seed(4)
    model, x, noise = VAE(), torch.rand(7, 6), torch.randn(7, 2)
    losses = []
    for _ in range(5):
        again, mean, logvar = model(x, noise)
        rebuilt = nn.functional.binary_cross_entropy(again, x, reduction="sum")
        divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
        (rebuilt + divergence).backward()
        descend(torch, model, 0.01)
        losses.append([rebuilt.item(), divergence.item()])
    return [losses, model.state_dict()]


@program
def train_siamese(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(5)
    tower = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    a, p, n = (torch.randn(6, 4) for _ in range(3))
    found = []
    for _ in range(4):
        loss = nn.TripletMarginLoss(1.0)(tower(a), tower(p), tower(n))
        loss = loss + nn.CosineEmbeddingLoss()(tower(a), tower(p), torch.ones(6))
        loss.backward()
        nn.utils.clip_grad_norm_(tower.parameters(), 0.5)
        descend(torch, tower, 0.2)
        found.append(loss.item())
    return [found, tower.state_dict()]


@program
def train_pinn(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(6)
    model = nn.Sequential(
        nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)
    ).double()
    x = torch.linspace(0, 1, 9, dtype=torch.float64).reshape(-1, 1).requires_grad_()
    losses = []
    for _ in range(5):
        u = model(x)
        (du,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
        (ddu,) = torch.autograd.grad(du, x, torch.ones_like(du), create_graph=True)
        loss = (ddu + u).pow(2).mean() + (u[0] - 1).pow(2).sum() + u[-1].pow(2).sum()
        loss.backward()
        descend(torch, model, 0.01)
        losses.append(loss.item())
    return [losses, model.state_dict()]


@program
def train_dqn(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(7)
    online = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    target = copy.deepcopy(online).eval().requires_grad_(False)
    s, s2, r = torch.randn(9, 4), torch.randn(9, 4), torch.randn(9)
    a, done = torch.randint(0, 2, (9, 1)), torch.rand(9) < 0.3
    losses = []
    for _ in range(4):
        q = online(s).gather(1, a).squeeze(1)
        with torch.no_grad():
            wanted = r + 0.99 * target(s2).max(1).values * (~done).float()
        loss = nn.SmoothL1Loss()(q, wanted)
        loss.backward()
        nn.utils.clip_grad_value_(online.parameters(), 0.1)
        descend(torch, online, 0.5)
        for p, t in zip(online.parameters(), target.parameters(), strict=True):
            t.data.mul_(0.9).add_(p.data, alpha=0.1)
        losses.append(loss.item())
    return [losses, target.state_dict()]


@program
def train_maml(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
    total = 0
    for task in range(3):
        x = torch.randn(5, 1)
        y = torch.sin(x + task)
        fast = dict(model.named_parameters())
        for _ in range(2):
            loss = nn.functional.mse_loss(torch.func.functional_call(model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {k: p - 0.1 * g for (k, p), g in zip(fast.items(), grads, strict=True)}
        total = total + nn.functional.mse_loss(torch.func.functional_call(model, fast, (x,)), y)
    total.backward()
    return [total, *everything(model)]


@program
def train_resnet_block(torch: Any) -> Any:
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, channels: int, out: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(channels, out, 3, padding=1, bias=False)
            self.norm1 = nn.BatchNorm2d(out)
            self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(out)
            self.shortcut = nn.Sequential() if channels == out else nn.Conv2d(channels, out, 1)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            y = self.relu(self.norm1(self.conv1(x)))
            y = self.norm2(self.conv2(y))
            y += self.shortcut(x)
            return self.relu(y)

    torch.manual_seed(9)
    model = nn.Sequential(
        Block(2, 2), Block(2, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 1)
    )
    x = torch.randn(3, 2, 5, 5, requires_grad=True)
    model(x).pow(2).mean().backward()
    return everything(model, x)


@program
def train_attention(torch: Any) -> Any:
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(10, 8)
            self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 10)
            self.norm = nn.LayerNorm(8)

        def forward(self, k: Any) -> Any:
            x = self.embed(k)
            q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
            x = x + nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(x)

    torch.manual_seed(10)
    model, k = Attention(), torch.randint(0, 10, (2, 5))
    loss = nn.CrossEntropyLoss()(model(k[:, :-1]).transpose(1, 2), k[:, 1:])
    loss.backward()
    return [loss, *everything(model)]


@program
def train_rnn_by_hand(torch: Any) -> Any:
    nn = torch.nn

    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ih, self.hh = nn.Linear(2, 4), nn.Linear(4, 4, bias=False)

        def forward(self, x: Any, h: Any) -> Any:
            return torch.tanh(self.ih(x) + self.hh(h))

    torch.manual_seed(11)
    cell, out, h = Cell(), nn.Linear(4, 1), torch.zeros(3, 4)
    x = torch.randn(6, 3, 2)
    for step in x:
        h = cell(step, h)
    out(h).sum().backward()
    return [everything(cell), everything(out)]


@program
def train_with_accumulation(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(12)
    model = nn.Linear(3, 1)
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    for k in range(0, 8, 2):
        (nn.MSELoss()(model(x[k : k + 2]), y[k : k + 2]) / 4).backward()
    parts = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    nn.MSELoss()(model(x), y).backward()
    return [parts, [p.grad for p in model.parameters()]]


@program
def train_frozen_features(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(13)
    body, head = nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2)
    for p in body.parameters():
        p.requires_grad = False
    y = head(body(torch.randn(5, 3)))
    y.sum().backward()
    return [everything(body), everything(head), y.requires_grad, body[0].weight.requires_grad]


@program
def moving_average_of_weights(torch: Any) -> Any:
    model = net(torch)
    average = copy.deepcopy(model)
    for k in range(3):
        model(numbers(torch, 4, 3, seed=k)).sum().backward()
        descend(torch, model, 0.1)
        with torch.no_grad():
            for a, p in zip(average.parameters(), model.parameters(), strict=True):
                a.lerp_(p, 0.5)
    return average.state_dict()


@program
def checkpointed(torch: Any) -> Any:
    from_ = torch.utils.checkpoint
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    x = numbers(torch, 2, 3, grad=True)
    from_.checkpoint(model, x, use_reentrant=False).sum().backward()
    return everything(model, x)


@program
def printing(torch: Any) -> Any:
    def show(torch: Any) -> None:
        model = net(torch)
        print(model)
        print(model.first.bias)
        for name, p in model.named_parameters():
            print(name, p.shape, p.requires_grad, p.dtype)
        print(list(model.inner.children()))

    return printed(show)(torch)


@program
def import_forms(torch: Any) -> Any:
    names = [
        "nn.functional",
        "nn.init",
        "nn.utils",
        "nn.modules.loss",
        "nn.parameter",
        "nn.utils.rnn",
    ]
    return [
        name
        for name in names
        if hasattr(__import__("operator").attrgetter(name)(torch), "__name__")
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
