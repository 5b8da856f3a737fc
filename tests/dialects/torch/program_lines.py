"""Random programs as lines of code: views, writes, hooks, functions and transforms.

A program is a list of lines that any library can run; what a line raises is part of the outcome.
So a program that shows a difference can be made shorter, line by line, and pasted.
"""

from __future__ import annotations

import contextvars
import random
import re
import warnings
from typing import Any

Outcome = list[Any]
#: What comes of a program that PyTorch itself says is a bug of its own.
CRASH = "crash"


def _classes(torch: Any) -> dict[str, Any]:
    """Return the functions of their own that programs use."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 2 * x

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.factor = factor
            ctx.mark_dirty(x)
            return x.mul_(factor)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor, None

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            ctx.set_materialize_grads(False)
            return y, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            (y,) = ctx.saved_tensors
            if g is None:
                return None if h is None else h * 3
            return g * y if h is None else g * y + h * 3

    return {"Square": Square, "Scale": Scale, "Both": Both}


def run(lines: list[str], torch: Any) -> Outcome:
    """Return what came of each line, and of all tensors at the end."""

    def within() -> Outcome:
        seen: list[Any] = []
        names: dict[str, Any] = {"torch": torch, "seen": seen, **_classes(torch)}
        fixed = set(names)
        events: list[Any] = []
        for line in lines:
            try:
                exec(line, names)
                events.append("")
            except Exception as error:
                # what checkpoints raise is a RuntimeError of a class of their own
                known = isinstance(error, RuntimeError)
                if "INTERNAL ASSERT" in str(error):
                    return [CRASH]
                if "vmap" in line and "select(): index 0 out of range" in str(error):
                    return [CRASH]  # PyTorch multiplies no examples by a number of each
                events.append("RuntimeError" if known else type(error).__name__)
                if "backward(" in line or "autograd.grad(" in line:
                    return events  # how far a sweep came is nothing to rely on
        found = {k: v for k, v in names.items() if k not in fixed and not k.startswith("_")}
        tensors = {k: v for k, v in found.items() if isinstance(v, torch.Tensor)}
        return [events, {k: _shown(v) for k, v in tensors.items()}, seen]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return contextvars.Context().run(within)


def _shown(x: Any) -> Any:
    """Return what can be seen of a tensor."""
    try:
        kept = x.grad
    except RuntimeError:  # a view that a write to its base has made useless
        kept = None
    return [_rounded(x.detach()), x.requires_grad, None if kept is None else _rounded(kept)]


def _rounded(x: Any) -> Any:
    """Return a copy in which what is left of a sum that cancels is zero, as libraries round."""
    return x.masked_fill(x.abs() < 1e-14, 0) if x.is_floating_point() else x.clone()


# -- making them -----------------------------------------------------------------------------------

VIEWS = [
    "{x}[0]", "{x}[:, 0]", "{x}[1:]", "{x}[::2]", "{x}[..., :1]", "{x}[:]", "{x}.t()",
    "{x}.transpose(0, -1)", "{x}.view(-1)", "{x}.reshape(-1)", "{x}.reshape({x}.shape)",
    "{x}.view_as({x})", "{x}.unsqueeze(0)", "{x}.squeeze()", "{x}.flatten()", "{x}.diagonal()",
    "{x}.narrow(0, 0, 1)",
    "{x}.select(0, 0)", "{x}.expand(2, *{x}.shape).clone()", "{x}.chunk(2)[0]",
    "{x}.unbind()[0]", "{x}.split(1)[0]", "{x}.tensor_split(2)[0]", "{x}.permute(-1, 0)",
    "{x}.swapaxes(0, -1)", "{x}.movedim(0, -1)", "{x}.detach()", "{x}.data", "{x}.mT",
    "{x}.unfold(0, 1, 1)", "{x}.contiguous()", "{x}.to({x}.dtype)", "{x}.expand_as({x})",
    "{x}[None]", "{x}[torch.tensor([0])]", "{x}.as_strided((1,), (1,))", "{x}.real",
]  # fmt: skip
NEW = [
    "{x} * {n}", "{x} + {y}", "{x} * {y}", "{x}.sin()", "{x} * {x}", "({x} * 0.1).exp()",
    "{x}.clone()", "{x} - {x}.mean()", "torch.cat([{x}, {x}])[:2]", "{x}.tanh()", "{x}.sum(0)",
    "{x}.cumsum(0)", "{x}.flip(0)", "{x}.abs()", "{x}.max()", "{x}.prod()",
    "torch.where({x} > 0, {x}, {y})", "{x}.roll(1)", "torch.stack([{x}, {x} * 2])[1]",
    "{x}.masked_fill({x} > 0, {n})", "{x}.sigmoid()", "{x} / ({x} * {x} + 1)", "{x}.relu()",
    "torch.ones_like({x})", "torch.zeros({x}.shape, dtype={x}.dtype)", "{x}.T @ {x}",
    "Square.apply({x})", "Square.apply(Square.apply({x}))", "Both.apply({x})[0]",
    "Both.apply({x})[1]", "sum(Both.apply({x}))", "Scale.apply({x}, {n})",
    "torch.utils.checkpoint.checkpoint(lambda z: (z * z).sin(), {x}, use_reentrant=False)",
    "torch.utils.checkpoint.checkpoint(lambda z: z.sin() * {leaf}.sum(), {x}, use_reentrant=False)",
    "torch.autograd.grad(({x} * {x} * {x}).sum(), {leaf}, create_graph=True)[0].clone()",
    "torch.autograd.grad([{x}, {x}], {leaf}, [{x}.detach(), {x}], create_graph=True)[0].clone()",
    "torch.autograd.grad(({x} * {y}).sum(), {x}, create_graph=True)[0].clone()",
    "torch.autograd.grad({x}.sum(), {leaf}, retain_graph=True, allow_unused=True)[0].clone()",
    "torch.autograd.grad({x}.sum(), {leaf}, retain_graph=True, materialize_grads=True)[0].clone()",
    "torch.func.grad(lambda z: (z * z * z).sum())({x}.clone()).clone()",
    "torch.func.grad(lambda z: (z * {y}).sum())({x}.clone()).clone()",
    "torch.func.vmap(lambda z: z * z.sum())({x}.clone()).clone()",
    "torch.func.vmap(lambda z: z.sin())({x}.clone()).clone()",
    "torch.func.jvp(lambda z: z * z, ({x}.clone(),), ({x}.clone(),))[1].clone()",
    "torch.func.vjp(lambda z: z.sin(), {x}.clone())[1]({x}.clone())[0].clone()",
    "torch.func.jacrev(lambda z: z.sum() * z.reshape(-1)[:2])({x}.clone()).sum(0).clone()",
    "torch.func.hessian(lambda z: (z**3).sum())({x}.reshape(-1)[:2].clone()).clone()",
    "torch.autograd.functional.jacobian(lambda z: z.sum(0), {x}.clone()).sum(0).clone()",
    "torch.autograd.functional.hvp(lambda z: (z**3).sum(), {x}.clone(), {x}.clone())[1].clone()",
]  # fmt: skip
#: Values are copied first: what PyTorch does where they share memory depends on the machine.
CHANGES = [
    "{x}.mul_({n})", "{x}.add_({y}.clone())", "{x}.mul_({y}.clone())", "{x}.sin_()",
    "{x}.copy_({y}.clone())",
    "{x}.zero_()", "{x}.fill_({n})", "{x}[0] = {n}", "{x}[0] = {y}.clone().sum()", "{x}[:1] += {n}",
    "{x}[..., 0] *= {y}.clone().mean()", "{x} += {y}.clone()", "{x} *= {n}", "{x}[{x} > 0] = {n}",
    "{x}.masked_fill_({x} > 0, {n})", "{x}.index_fill_(0, torch.tensor([0]), {n})",
    "{x}.data.mul_({n})",
    "{x}.detach().mul_({n})", "with torch.no_grad(): {x}.mul_({n})", "{x}.exp_()",
    "with torch.no_grad(): {x}.copy_({y}.clone())", "with torch.no_grad(): {x}[0] = {n}",
    "Scale.apply({x}, {n})", "{x}[0] = {y}.clone().reshape(-1)[:1]",
    "{x}.addcmul_({y}.clone(), {y}.clone())", "{x}.clamp_(min=-1)", "{x}.tanh_()", "{x}.relu_()",
    "{x}.neg_()",
    "{x}.copy_({y}.clone().sum())", "{x}[...] = {y}.clone()", "{x}.t_()", "{x}.unsqueeze_(0)",
    "{x}.squeeze_()", "{x}.swapaxes_(0, -1)", "with torch.no_grad(): Scale.apply({x}, {n})",
    "{x}.fill_({y}.clone().sum())",
]  # fmt: skip
#: PyTorch crashes for the first hook on a view that was written to, unless its entry is asked for.
HOOKS = [
    "_ = {x}.grad_fn; {x}.retain_grad()",
    '_ = {x}.grad_fn; {x}.register_hook(lambda g: seen.append(("{x}", g.detach().clone())))',
    "_ = {x}.grad_fn; {x}.register_hook(lambda g: g * {n})", "_ = {x}.grad_fn",
    '{leaf}.register_post_accumulate_grad_hook(lambda p: seen.append(("{leaf}", p.grad.clone())))',
    "({x} * {x}).sum().backward(retain_graph=True)", "{x}.sum().backward()",
    "({x} * {y}).sum().backward(inputs=[{leaf}], retain_graph=True)", "{leaf}.grad = None",
    "({x} * {y}).sum().backward(inputs=[{x}], retain_graph=True)", "{x}.requires_grad_()",
    "{x}.requires_grad_()",
    "torch.set_grad_enabled(True)",
]  # fmt: skip


def _without_late_leaves(lines: list[str]) -> list[str]:
    """Return a program in which no tensor begins to require gradients after it was an operand.

    PyTorch leaves such a tensor out of gradients, but not out of gradients of gradients: nodes have
    saved the tensor itself. Programs without these are as they are.
    """
    if not any("create_graph" in line for line in lines):
        return lines
    kept: list[str] = []
    for line in lines:
        name, _, call = line.partition(".")
        if call == "requires_grad_()" and any(re.search(rf"= .*\b{name}\b", k) for k in kept):
            continue
        kept.append(line)
    return kept


def generate(seed: int, steps: int = 10) -> list[str]:
    """Return the lines of a random program."""
    rng = random.Random(seed)
    shape = rng.choice(["2, 3", "3, 3", "4", "2, 2", "3, 1", "2, 1, 2"])
    count = 1
    for n in shape.split(", "):
        count *= int(n)

    def tensor(grad: str) -> str:
        values = [round(rng.choice([-1, 1]) * rng.uniform(0.3, 1.5), 2) for _ in range(count)]
        return f"torch.tensor({values}, dtype=torch.float64).reshape({shape}).clone(){grad}"

    lines = [f"a = {tensor('.requires_grad_()')}", f"b = {tensor('.requires_grad_()')}"]
    lines += ["c = a * 1.5", f"d = {tensor('')}"]
    live = ["a", "b", "c", "d", "c"]
    if rng.random() < 0.2:  # a leaf that is a view
        lines += [f"e = d{rng.choice(['[0]', '[:1]', '.view(-1)', '.t()'])}", "e.requires_grad_()"]
        live += ["d", "e"]
    for k in range(steps):
        group = rng.choices([VIEWS, NEW, CHANGES, HOOKS], [4, 3, 5, 3])[0]
        x = rng.choice(live[2:] if group is CHANGES else live)
        fields = {
            "x": x,
            "y": rng.choice(live),
            "leaf": rng.choice("ab"),
            "n": round(rng.choice([-1, 1]) * rng.uniform(0.5, 1.5), 2),
        }
        line = rng.choice(group).format(**fields)
        if "Scale" in line and any("requires_grad_" in before for before in lines[4:]):
            continue  # PyTorch ends the process where a leaf that hooks are on is written to
        if "requires_grad_" in line and any("checkpoint" in before for before in lines):
            continue  # PyTorch's gradients are wrong where an argument requires some only later
        if group is VIEWS or group is NEW:
            name = f"v{k}"
            if rng.random() < 0.12:
                lines.append(f"with torch.no_grad(): {name} = {line}")
            else:
                lines.append(f"{name} = {line}")
            live += [name, name]
        elif group is CHANGES:
            lines += [f"_ = {x}.grad_fn", line]  # a view's entry is made when it is asked for
        else:
            lines.append(line)
    total = " + ".join(f"({v} * {v}).sum()" for v in rng.sample(live, min(4, len(live))))
    ends = [
        [f"({total}).backward()"],
        [
            f"_g = torch.autograd.grad({total}, [a, b], create_graph=True, allow_unused=True)",
            "sum((g * g).sum() for g in _g if g is not None).backward()",
        ],
        [f"g, h = torch.autograd.grad({total}, [a, b], allow_unused=True)"],
    ]
    return _without_late_leaves(lines + rng.choice(ends))
