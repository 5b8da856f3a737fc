"""Random programs of views, indices and in-place operations, the same for any library.

What a program does next depends on shapes and on its own random numbers only, so real PyTorch and
Wengert's dialect run the same one. What an operation raises is part of the outcome.

``python -m tests.dialects.torch.random_programs --minutes 5 --seed 1`` compares programs of lines
(`program_lines`) with real PyTorch, and prints short ones for the differences that it finds.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.dialects.torch import program_lines
from tests.dialects.torch.parity import assert_same


class Writer:
    """Makes random choices for tensors of known shapes."""

    def __init__(self, torch: Any, seed: int) -> None:
        self.torch = torch
        self.random = random.Random(seed)

    def number(self) -> float:
        """Return a number that is not close to zero."""
        return self.random.choice([-1, 1]) * self.random.uniform(0.5, 1.5)

    def array(self, shape: Any, requires_grad: bool = False) -> Any:
        """Return a new tensor."""
        count = 1
        for n in shape:
            count *= n
        values = [self.number() for _ in range(count)]
        made = self.torch.tensor(values, dtype=self.torch.float64).reshape(tuple(shape))
        return made.clone().requires_grad_(requires_grad)

    def places(self, n: int, count: int) -> Any:
        """Return places along an axis."""
        return self.torch.tensor([self.random.randrange(n) for _ in range(count)])

    def distinct(self, n: int) -> Any:
        """Return some places along an axis, none twice."""
        return self.torch.tensor(self.random.sample(range(n), self.random.randint(1, n)))

    def mask(self, shape: Any) -> Any:
        """Return a mask."""
        count = 1
        for n in shape:
            count *= n
        values = [self.random.random() < 0.5 for _ in range(count)]
        return self.torch.tensor(values, dtype=self.torch.bool).reshape(tuple(shape))

    def key(self, shape: Any, advanced: bool = True) -> Any:
        """Return a key for a tensor of a shape."""
        parts: list[Any] = []
        for n in shape[: self.random.randint(0, len(shape))]:
            kind = self.random.choice("isscan" if advanced else "isscn")
            if kind == "i" and n:
                parts.append(self.random.randrange(-n, n))
            elif kind == "a" and n:
                parts.append(self.random.choice([self.distinct(n), self.mask((n,))]))
            elif kind == "c":
                parts.append(slice(self.random.randint(0, n), None, self.random.choice([1, 2])))
            elif kind == "n":
                parts += [None, slice(None)]
            else:
                low = self.random.randint(0, n)
                parts.append(slice(low, self.random.randint(low, n)))
        if self.random.random() < 0.2:
            parts.insert(self.random.randint(0, len(parts)), Ellipsis)
        return tuple(parts) if len(parts) != 1 or self.random.random() < 0.5 else parts[0]


def _axis(w: Writer, x: Any) -> int:
    return w.random.randrange(max(x.ndim, 1))


def _permuted(w: Writer, x: Any) -> Any:
    order = list(range(x.ndim))
    w.random.shuffle(order)
    return x.permute(order)


def _halves(w: Writer, x: Any) -> Any:
    return w.random.choice(x.split(2, _axis(w, x)))


VIEWS: dict[str, Callable[[Writer, Any], Any]] = {
    "key": lambda w, x: x[w.key(x.shape, False)],
    "index": lambda w, x: x[w.key(x.shape)],
    "transpose": lambda w, x: x.transpose(_axis(w, x), _axis(w, x)),
    "permute": _permuted,
    "reshape": lambda w, x: x.reshape(-1),
    "view": lambda w, x: x.view(-1, x.shape[-1] if x.ndim and x.shape[-1] else 1),
    "flatten": lambda w, x: x.flatten(),
    "unsqueeze": lambda w, x: x.unsqueeze(_axis(w, x)),
    "squeeze": lambda w, x: x.squeeze(),
    "diagonal": lambda w, x: x.diagonal(w.random.randint(-1, 1)),
    "narrow": lambda w, x: x.narrow(_axis(w, x), 0, 1),
    "select": lambda w, x: x.select(_axis(w, x), 0),
    "unfold": lambda w, x: x.unfold(_axis(w, x), 2, 2),
    "expand": lambda w, x: x.unsqueeze(0).expand(2, *x.shape).clone(),
    "mT": lambda w, x: x.mT,
    "split": _halves,
    "tensor_split": lambda w, x: x.tensor_split(2, _axis(w, x))[0],
    "unbind": lambda w, x: w.random.choice(x.unbind(_axis(w, x))),
    "detach": lambda w, x: x.detach(),
    "clone": lambda w, x: x.clone(),
    "contiguous": lambda w, x: x.contiguous(),
    "as_strided": lambda w, x: (x if x._base is None else x._base).as_strided((2,), (1,)),
}
NEW: dict[str, Callable[[Writer, Any], Any]] = {
    "times": lambda w, x: x * w.number(),
    "plus": lambda w, x: x + w.number(),
    "square": lambda w, x: x * x,
    "exp": lambda w, x: (x * 0.1).exp(),
    "sin": lambda w, x: x.sin(),
    "flip": lambda w, x: x.flip(_axis(w, x)),
    "roll": lambda w, x: x.roll(1),
    "repeat": lambda w, x: x.repeat(*[2] * max(x.ndim, 1))[(slice(0, 3),) * max(x.ndim, 1)],
    "tril": lambda w, x: x.tril(),
    "cat": lambda w, x: w.torch.cat([x, x * 2], 0)[: x.shape[0]],
    "where": lambda w, x: w.torch.where(w.mask(x.shape), x, x * 2),
    "gather": lambda w, x: x.clone().gather(0, x.detach().argsort(0)),
    "index_select": lambda w, x: x.index_select(0, w.places(x.shape[0], 3)),
    "masked_fill": lambda w, x: x.masked_fill(w.mask(x.shape), 0.5),
    "masked_select": lambda w, x: x.clone().masked_select(w.mask(x.shape)),
    "stack": lambda w, x: w.torch.stack([x, x.sin()])[1],
    "fresh": lambda w, x: w.array(x.shape),
    "leaf": lambda w, x: w.array(x.shape, True),
}


def _put(w: Writer, x: Any, value: Any, advanced: bool = True) -> None:
    key = w.key(x.shape, advanced)
    x[key] = value


def _add_at(w: Writer, x: Any) -> None:
    key = w.key(x.shape)
    x[key] += w.number()


def _times_at(w: Writer, x: Any) -> None:
    key = w.key(x.shape)
    x[key] *= w.number()


def _put_part(w: Writer, x: Any, other: Any) -> None:
    key = w.key(x.shape)
    part = x[key]
    x[key] = other.reshape(-1)[:1].reshape(()) * w.array(part.shape)


def _without_grad(w: Writer, x: Any) -> None:
    with w.torch.no_grad():
        x.mul_(w.number())


def _is_spread(x: Any) -> bool:
    """Return whether several elements are one in memory, as those of an expanded tensor."""
    return any(n > 1 and not s for n, s in zip(x.shape, x.stride(), strict=True))


CHANGES: dict[str, Callable[[Writer, Any, Any], Any]] = {
    "mul_": lambda w, x, y: x.mul_(w.number()),
    "mul_y": lambda w, x, y: x.mul_(y),
    "add_": lambda w, x, y: x.add_(w.number()),
    "add_y": lambda w, x, y: x.add_(y),
    "sub_y": lambda w, x, y: x.sub_(y.reshape(-1)[:1].sum()),
    "square": lambda w, x, y: x.mul_(x),
    "sin_": lambda w, x, y: x.sin_(),
    "exp_": lambda w, x, y: x.mul_(0.1).exp_(),
    "tanh_": lambda w, x, y: x.tanh_(),
    "copy_": lambda w, x, y: x.copy_(y),
    "fill_": lambda w, x, y: x.fill_(w.number()) if not _is_spread(x) else None,
    "zero_": lambda w, x, y: x.zero_() if not _is_spread(x) else None,
    "set": lambda w, x, y: _put(w, x, w.number()),
    "set_y": lambda w, x, y: _put_part(w, x, y),
    "set_basic": lambda w, x, y: _put(w, x, y.reshape(-1)[:1].clone(), False),
    "add_at": lambda w, x, y: _add_at(w, x),
    "times_at": lambda w, x, y: _times_at(w, x),
    "index_fill_": lambda w, x, y: (
        x.index_fill_(0, w.distinct(x.shape[0]), w.number()) if not _is_spread(x) else None
    ),
    "index_add_": lambda w, x, y: x.index_add_(0, w.places(x.shape[0], x.shape[0]), x.sin()),
    "masked_fill_": lambda w, x, y: (
        x.masked_fill_(w.mask(x.shape), w.number()) if not _is_spread(x) else None
    ),
    "index_put_": lambda w, x, y: x.index_put_(
        (w.places(x.shape[0], 2),), y.reshape(-1)[:1].clone(), accumulate=True
    ),
    "no_grad": lambda w, x, y: _without_grad(w, x),
    "data": lambda w, x, y: x.data.mul_(w.number()),
    "unsqueeze_": lambda w, x, y: x.unsqueeze_(0),
    "t_": lambda w, x, y: x.t_(),
    "tril_": lambda w, x, y: x.tril_() if not _is_spread(x) else None,
    "fill_diagonal_": lambda w, x, y: x.fill_diagonal_(w.number()),
}


def program(seed: int, steps: int = 14, second: bool = False) -> Callable[[Any], Any]:
    """Return a random program: it returns values, gradients and the classes of what it raised."""

    def run(torch: Any) -> Any:
        w = Writer(torch, seed)
        rows, columns = w.random.randint(1, 4), w.random.randint(1, 4)
        leaves = [w.array((rows, columns), True), w.array((rows, columns), True)]
        live = [leaves[0] * 1.5, leaves[1] + 0.5, w.array((rows, columns))]
        events: list[str] = []
        for _ in range(steps):
            group = w.random.choice([VIEWS, VIEWS, NEW, CHANGES, CHANGES])
            name = w.random.choice(list(group))
            x, y = w.random.choice(live), w.random.choice([*live, *leaves])
            state = w.random.getstate()
            try:
                _ = x.grad_fn  # PyTorch makes a view's entry when it is asked for
                found = group[name](w, x, y) if group is CHANGES else group[name](w, x)
                if group is not CHANGES and found.numel() <= 64 and found.ndim < 5:
                    live.append(found)
                    if found.is_leaf and found.requires_grad:
                        leaves.append(found)
                events.append(name)
            except (RuntimeError, IndexError, ValueError, TypeError) as error:
                w.random.setstate(state)
                w.random.random()
                events.append(f"{name} {type(error).__name__}")
        return (events, *_ending(w, leaves, live, second))

    return run


def _ending(w: Writer, leaves: list[Any], live: list[Any], second: bool) -> tuple[Any, ...]:
    """Return values, versions and gradients of what a program has made."""
    torch = w.torch
    values = [x.detach().clone() for x in live]
    flags = []
    total = None
    for x in live:
        try:
            flags.append((x.requires_grad, x.is_leaf, x._version))
            part = (x * w.array(x.shape)).sum()
            if second:
                part = part + (x * x).sum()
            total = part if total is None else total + part
        except RuntimeError:
            flags.append("RuntimeError")
    try:
        found = torch.autograd.grad(total, leaves, create_graph=second, allow_unused=True)
        if second:
            again = sum((g * g).sum() for g in found if g is not None)
            if again.requires_grad:
                found += torch.autograd.grad(again, leaves, materialize_grads=True)
        gradients: Any = [None if g is None else g.detach() for g in found]
    except RuntimeError as error:
        gradients = type(error).__name__
    return values, flags, gradients


# -- programs of lines -----------------------------------------------------------------------------


def difference(lines: list[str]) -> str:
    """Return how the dialect's outcome of a program differs from PyTorch's; "" if it does not."""
    import torch

    import wengert.torch as ours

    theirs = program_lines.run(lines, torch)
    if theirs == [program_lines.CRASH]:
        return ""
    mine = program_lines.run(lines, ours)
    try:
        assert_same(mine, theirs)
    except AssertionError as error:
        return str(error) or "they differ"
    return ""


def shortened(lines: list[str]) -> list[str]:
    """Return a program without lines that its difference does not need."""
    again = True
    while again:
        again = False
        for k in reversed(range(len(lines))):
            fewer = lines[:k] + lines[k + 1 :]
            if difference(fewer):
                lines, again = fewer, True
    return lines


def campaign(seed: int, minutes: float, most: int = 20) -> tuple[int, list[list[str]]]:
    """Return how many programs were compared, and short ones for the differences found."""
    begin, count, found = time.monotonic(), 0, []
    while time.monotonic() - begin < 60 * minutes and len(found) < most:
        lines = program_lines.generate(seed + count, 4 + (seed + count) % 12)
        count += 1
        if difference(lines):
            short = shortened(lines)
            found.append(short)
            print(f"\n# seed {seed + count - 1}: {difference(short)[:300]}")
            print("\n".join(short), flush=True)
    return count, found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--most", type=int, default=20, help="stop after so many differences")
    given = parser.parse_args()
    start = random.randrange(10**9) if given.seed is None else given.seed
    total, differences = campaign(start, given.minutes, given.most)
    print(f"\nseed {start}: {total} programs, {len(differences)} differences")
    sys.exit(bool(differences))
