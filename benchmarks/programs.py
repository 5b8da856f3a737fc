"""Programs as people write them for PyTorch: whole steps of training, on it and on the dialect.

What counts is processor time on one thread, the smallest of many rounds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.dialects import ALONE, competitors_of
from benchmarks.harness import Build, Case, Run, processor_timers

#: The most that a program may take of PyTorch's processor time.
_MOST = 1.3


def _set_parameters(torch: Any, model: Any) -> None:
    """Give a model the same parameters on every library, at the scale of PyTorch's own."""
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for p in model.parameters():
            fan = math.prod(p.shape[1:]) if p.dim() > 1 else 64
            values = rng.standard_normal(tuple(p.shape)) / math.sqrt(fan)
            p.copy_(torch.tensor((values + (p.dim() == 1)).astype(np.float32)))


def _training(
    module: str,
    make_model: Callable[..., Any],
    make_loss: Callable[..., Any],
    make_optimiser: Callable[..., Any],
    **sizes: Any,
) -> Run:
    """Return a run of one step: the loss, its gradients, and an update."""
    torch = peers.load(module)
    model = make_model(torch, **sizes)
    _set_parameters(torch, model)
    optimiser = make_optimiser(torch, model.parameters())
    loss_of = make_loss(torch, **sizes)

    def run() -> Any:
        optimiser.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimiser.step()
        return loss.detach(), [p.grad for p in model.parameters()]

    return run


def _adamw(torch: Any, parameters: Any) -> Any:
    return torch.optim.AdamW(parameters, lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1)


def _momentum(torch: Any, parameters: Any) -> Any:
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)


# -- a small GPT, as minGPT is written ----------------------------------------------------------


def _gpt(
    torch: Any, blocks: int, width: int, heads: int, length: int, vocabulary: int, batch: int
) -> Any:
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.drop = nn.Dropout(0.0)
            mask = torch.tril(torch.ones(length, length)).view(1, 1, length, length)
            self.register_buffer("mask", mask)

        def forward(self, x: Any) -> Any:
            b, t, c = x.size()
            q, k, v = self.qkv(x).split(width, dim=2)
            q = q.view(b, t, heads, c // heads).transpose(1, 2)
            k = k.view(b, t, heads, c // heads).transpose(1, 2)
            v = v.view(b, t, heads, c // heads).transpose(1, 2)
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            shares = self.drop(functional.softmax(scores, dim=-1))
            y = (shares @ v).transpose(1, 2).contiguous().view(b, t, c)
            return self.drop(self.out(y))

    class NewGELU(nn.Module):
        def forward(self, x: Any) -> Any:
            scale = math.sqrt(2.0 / math.pi)
            return 0.5 * x * (1.0 + torch.tanh(scale * (x + 0.044715 * torch.pow(x, 3.0))))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.LayerNorm(width)
            self.attention = Attention()
            self.second = nn.LayerNorm(width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), NewGELU(), nn.Linear(4 * width, width), nn.Dropout(0.0)
            )

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.first(x))
            return x + self.mlp(self.second(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.places = nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block() for _ in range(blocks)])
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens: Any, targets: Any) -> Any:
            at = torch.arange(0, tokens.size(1), dtype=torch.long).unsqueeze(0)
            x = self.tokens(tokens) + self.places(at)
            for block in self.blocks:
                x = block(x)
            logits = self.head(self.norm(x))
            return functional.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )

    return GPT()


def _gpt_loss(torch: Any, length: int, vocabulary: int, batch: int, **sizes: Any) -> Any:
    rng = np.random.default_rng(0)
    tokens, targets = (torch.tensor(rng.integers(0, vocabulary, (batch, length))) for _ in "ab")
    return lambda model: model(tokens, targets)


def _gpt_optimiser(torch: Any, parameters: Any) -> Any:
    """Clip what AdamW takes, as minGPT's trainer does."""
    parameters = list(parameters)
    optimiser = _adamw(torch, parameters)
    step = optimiser.step

    def clipped() -> None:
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        step()

    optimiser.step = clipped
    return optimiser


# -- convolutions with batch norm -----------------------------------------------------------------


def _cnn(torch: Any, channels: int, size: int, batch: int) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(2 * channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(2 * channels * (size // 4) ** 2, 10),
    )


def _resnet(torch: Any, channels: int, size: int, batch: int) -> Any:
    nn, functional = torch.nn, torch.nn.functional

    def convolution(before: int, after: int, kernel: int, stride: int) -> Any:
        return nn.Conv2d(before, after, kernel, stride, padding=kernel // 2, bias=False)

    class Block(nn.Module):
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.conv1 = convolution(before, after, 3, stride)
            self.bn1 = nn.BatchNorm2d(after)
            self.conv2 = convolution(after, after, 3, 1)
            self.bn2 = nn.BatchNorm2d(after)
            self.shortcut = nn.Sequential()
            if stride != 1 or before != after:
                self.shortcut = nn.Sequential(
                    convolution(before, after, 1, stride), nn.BatchNorm2d(after)
                )

        def forward(self, x: Any) -> Any:
            y = functional.relu(self.bn1(self.conv1(x)))
            y = self.bn2(self.conv2(y))
            y += self.shortcut(x)
            return functional.relu(y)

    return nn.Sequential(
        convolution(3, channels, 3, 1),
        nn.BatchNorm2d(channels),
        nn.ReLU(inplace=True),
        Block(channels, channels, 1),
        Block(channels, 2 * channels, 2),
        Block(2 * channels, 4 * channels, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * channels, 10),
    )


def _images_loss(torch: Any, colours: int, size: int, batch: int, **sizes: Any) -> Any:
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal((batch, colours, size, size)).astype(np.float32))
    labels = torch.tensor(rng.integers(0, 10, batch))
    criterion = torch.nn.CrossEntropyLoss()
    return lambda model: criterion(model(x), labels)


# -- a differential equation, solved in small steps ------------------------------------------------

_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_ERRORS = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525)


def _solve(torch: Any, f: Any, y: Any, times: Any, steps: int) -> Any:
    """Return y at the last time, by Dormand and Prince, with an error for each step."""
    t0, t1 = times[0], times[-1]
    dt = (t1 - t0) / steps
    t = t0
    for _ in range(steps):
        slopes = [f(t, y)]
        for node, row in zip(_NODES[1:], _STAGES, strict=True):
            k = torch.stack(slopes, dim=-1)
            yi = y + torch.sum(k * (dt * torch.tensor(row, dtype=y.dtype)), dim=-1)
            slopes.append(f(t + node * dt, yi.view_as(y)))
        k = torch.stack(slopes, dim=-1)
        with torch.no_grad():
            error = (k * (dt * torch.tensor(_ERRORS, dtype=y.dtype))).sum(-1)
            ratio = (error / (1e-4 + 1e-4 * y.abs())).abs().pow(2).mean().sqrt()
            if not bool(torch.isfinite(ratio).all()):
                raise FloatingPointError("the solution is not finite")
        y = y + torch.sum(k * (dt * torch.tensor(_WEIGHTS, dtype=y.dtype)), dim=-1)
        t = t + dt
    return y


def _slope(torch: Any, hidden: int) -> Any:
    nn = torch.nn

    class Slope(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))

        def forward(self, t: Any, y: Any) -> Any:
            return self.net(y**3) * torch.cos(t)

    return Slope()


def _ode_data(torch: Any, batch: int) -> Any:
    rng = np.random.default_rng(0)
    y = torch.tensor(rng.uniform(-1, 1, (batch, 2)).astype(np.float32))
    goal = torch.tensor(rng.uniform(-1, 1, (batch, 2)).astype(np.float32))
    return y, goal, torch.linspace(0.0, 1.0, 2)


def _ode_model(torch: Any, hidden: int, **sizes: Any) -> Any:
    return _slope(torch, hidden)


def _ode_loss(torch: Any, batch: int, steps: int, **sizes: Any) -> Any:
    y, goal, times = _ode_data(torch, batch)
    return lambda f: torch.mean(torch.abs(_solve(torch, f, y, times, steps) - goal))


def _adjoint_loss(torch: Any, batch: int, steps: int, **sizes: Any) -> Any:
    """Return a loss whose gradients solve the adjoint equation backwards."""
    y0, goal, times = _ode_data(torch, batch)

    class Adjoint(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, f: Any, y: Any, times: Any, *parameters: Any) -> Any:
            with torch.no_grad():
                end = _solve(torch, f, y, times, steps)
            ctx.f = f
            ctx.save_for_backward(end, times, *parameters)
            return end

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            end, times, *parameters = ctx.saved_tensors
            sizes = [end.numel(), end.numel(), *(p.numel() for p in parameters)]
            state = torch.cat(
                [end.reshape(-1), g.reshape(-1), *(torch.zeros(p.numel()) for p in parameters)]
            )

            def slope(t: Any, state: Any) -> Any:
                y, a = (part.view_as(end) for part in state.split(sizes)[:2])
                with torch.enable_grad():
                    y = y.detach().requires_grad_(True)
                    dy = ctx.f(t, y)
                    pulled = torch.autograd.grad(dy, (y, *parameters), -a, allow_unused=True)
                return torch.cat([dy.detach().reshape(-1), *(p.reshape(-1) for p in pulled)])

            with torch.no_grad():
                state = _solve(torch, slope, state, times.flip(0), steps)
            _, by_y, *by_parameters = state.split(sizes)
            parts = (p.view_as(q) for p, q in zip(by_parameters, parameters, strict=True))
            return (None, by_y.view_as(end), None, *parts)

    def loss(f: Any) -> Any:
        end = Adjoint.apply(f, y0, times, *f.parameters())
        return torch.mean(torch.abs(end - goal))

    return loss


def _adam(torch: Any, parameters: Any) -> Any:
    return torch.optim.RMSprop(parameters, lr=1e-3)


def _program(*parts: Callable[..., Any]) -> dict[str, Build]:
    """Return competitors that train a model: (model, loss, optimiser)."""
    make_model, make_loss, make_optimiser = parts

    def build(module: str, **sizes: Any) -> Run:
        return _training(module, make_model, make_loss, make_optimiser, **sizes)

    return competitors_of("torch", build)


def _case(name: str, about: str, parts: tuple[Callable[..., Any], ...], **sizes: Any) -> Case:
    return Case(
        name=name,
        about=about,
        competitors=_program(*parts),
        must={ALONE: _MOST},
        samplers=processor_timers,
        verdict="minimum",
        tolerance=1e-3,
        **sizes,
    )


_GREY = functools.partial(_images_loss, colours=1)
_COLOUR = functools.partial(_images_loss, colours=3)

CASES = [
    _case(
        "torch-gpt-nano",
        "GPT of 3 blocks, 48 wide, 11 tokens, batch 64 (as minGPT's demo): a step of AdamW",
        (_gpt, _gpt_loss, _gpt_optimiser),
        sizes={"blocks": 3, "width": 48, "heads": 3, "length": 11, "vocabulary": 3, "batch": 64},
        small={"blocks": 1, "width": 8, "heads": 2, "length": 5, "vocabulary": 7, "batch": 3},
    ),
    _case(
        "torch-gpt",
        "GPT of 2 blocks, 128 wide, 4 heads, 128 tokens, batch 8: a step of clipped AdamW",
        (_gpt, _gpt_loss, _gpt_optimiser),
        sizes={"blocks": 2, "width": 128, "heads": 4, "length": 128, "vocabulary": 65, "batch": 8},
        small={"blocks": 1, "width": 8, "heads": 2, "length": 5, "vocabulary": 7, "batch": 3},
    ),
    _case(
        "torch-cnn-batchnorm",
        "two convolutions with batch norm, relu and pooling, 28x28, batch 64: a step of SGD",
        (_cnn, _GREY, _momentum),
        sizes={"channels": 16, "size": 28, "batch": 64},
        small={"channels": 2, "size": 8, "batch": 3},
    ),
    _case(
        "torch-resnet",
        "three residual blocks of 16, 32 and 64 channels, 32x32, batch 16: a step of SGD",
        (_resnet, _COLOUR, _momentum),
        sizes={"channels": 16, "size": 32, "batch": 16},
        small={"channels": 2, "size": 8, "batch": 3},
    ),
    _case(
        "torch-ode",
        "20 steps of Dormand and Prince of an MLP 2-50-2, batch 20, and backward through them",
        (_ode_model, _ode_loss, _adam),
        sizes={"hidden": 50, "batch": 20, "steps": 20},
        small={"hidden": 4, "batch": 3, "steps": 2},
    ),
    _case(
        "torch-ode-adjoint",
        "20 steps of Dormand and Prince of an MLP 2-50-2, batch 20, and the adjoint equation",
        (_ode_model, _adjoint_loss, _adam),
        sizes={"hidden": 50, "batch": 20, "steps": 20},
        small={"hidden": 4, "batch": 3, "steps": 2},
    ),
]
