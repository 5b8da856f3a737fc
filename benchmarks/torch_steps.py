"""Steps of networks over PyTorch's arrays in host memory: `python -m benchmarks.torch_steps`.

Each is timed beside the same program in PyTorch, interleaved in one process on one thread, and
the kernels that either launches are counted. Times are those of the thread, lower quartiles of
several, because a machine may have other work.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import wengert as wg
from benchmarks.gpu import _pair

functional: Any = torch.nn.functional
#: What makes no kernel run.
_VIEWS = {
    "_unsafe_view", "alias", "as_strided", "detach", "empty", "empty_like", "expand", "new_empty",
    "permute", "select", "slice", "squeeze", "t", "transpose", "unbind", "unsqueeze", "view",
}  # fmt: skip


def _normal(*shape: int, scale: float = 1.0) -> Any:
    return torch.randn(*shape) * scale


def network(channels: int = 16, size: int = 28, batch: int = 64) -> dict[str, Callable[[], Any]]:
    """Return a step of two convolutions with batch norm and max pooling: gradients of its loss."""
    x, labels = _normal(batch, 1, size, size), torch.randint(0, 10, (batch,))
    parameters = [
        _normal(channels, 1, 3, 3, scale=0.3), torch.ones(channels), torch.zeros(channels),
        _normal(2 * channels, channels, 3, 3, scale=0.1), torch.ones(2 * channels),
        torch.zeros(2 * channels), _normal(2 * channels * (size // 4) ** 2, 10, scale=0.02),
        torch.zeros(10),
    ]  # fmt: skip
    kept = [(torch.zeros(c), torch.ones(c)) for c in (channels, 2 * channels)]
    images, classes = wg.asarray(x), wg.asarray(labels)
    before = [tuple(map(wg.asarray, pair)) for pair in kept]

    def ours(*p: Any) -> Any:
        y = images
        for i in (0, 1):
            kernel, weight, bias = p[3 * i : 3 * i + 3]
            y = wg.nn.conv2d(y, kernel, padding=1)
            y, *_ = wg.nn.batch_norm(y, *before[i], weight, bias, training=True)
            y = wg.nn.max_pool2d(wg.nn.relu(y), 2)
        return wg.nn.cross_entropy(wg.nn.linear(wg.reshape(y, (batch, -1)), p[6], p[7]), classes)

    def theirs(*p: Any) -> Any:
        y = x
        for i in (0, 1):
            kernel, weight, bias = p[3 * i : 3 * i + 3]
            y = functional.conv2d(y, kernel, padding=1)
            y = functional.batch_norm(y, *kept[i], weight, bias, training=True)
            y = functional.max_pool2d(torch.relu(y), 2)
        return functional.cross_entropy(torch.addmm(p[7], y.reshape(batch, -1), p[6]), labels)

    return _pair(ours, theirs, parameters)


def transformer(
    blocks: int = 2, width: int = 128, heads: int = 4, length: int = 128, words: int = 100
) -> dict[str, Callable[[], Any]]:
    """Return a step of a small GPT: gradients of its loss."""
    batch = 8
    tokens, targets = (torch.randint(0, words, (batch, length)) for _ in range(2))
    sizes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    parameters = [_normal(words, width, scale=0.02), _normal(length, width, scale=0.02)]
    for _ in range(blocks):
        for rows, columns in sizes:
            parameters += [_normal(rows, columns, scale=0.05), torch.zeros(columns)]
        parameters += [torch.ones(width), torch.zeros(width)] * 2
    parameters += [torch.ones(width), torch.zeros(width), _normal(width, words, scale=0.05)]
    given, wanted = wg.asarray(tokens), wg.asarray(targets)
    split, joined = (batch, length, 3, heads, width // heads), (batch, length, width)

    def ours(words: Any, places: Any, *p: Any) -> Any:
        nn = wg.nn
        y = nn.embedding(given, words) + places
        for i in range(blocks):
            qkv, b0, out, b1, up, b2, down, b3, *norms = p[12 * i : 12 * i + 12]
            parts = wg.reshape(nn.linear(nn.layer_norm(y, *norms[:2]), qkv, b0), split)
            q, k, v = wg.permute_dims(parts, (2, 0, 3, 1, 4))
            a = nn.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = y + nn.linear(wg.reshape(wg.permute_dims(a, (0, 2, 1, 3)), joined), out, b1)
            y = y + nn.linear(nn.gelu(nn.linear(nn.layer_norm(y, *norms[2:]), up, b2)), down, b3)
        gain, shift, last = p[-3:]
        return nn.cross_entropy(nn.layer_norm(y, gain, shift) @ last, wanted)

    def theirs(words: Any, places: Any, *p: Any) -> Any:
        nn = functional
        y = nn.embedding(tokens, words) + places
        for i in range(blocks):
            qkv, b0, out, b1, up, b2, down, b3, *norms = p[12 * i : 12 * i + 12]
            norm = nn.layer_norm(y, (width,), *norms[:2])
            q, k, v = nn.linear(norm, qkv.T, b0).reshape(split).permute(2, 0, 3, 1, 4)
            a = nn.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = y + nn.linear(a.permute(0, 2, 1, 3).reshape(joined), out.T, b1)
            norm = nn.layer_norm(y, (width,), *norms[2:])
            y = y + nn.linear(nn.gelu(nn.linear(norm, up.T, b2)), down.T, b3)
        gain, shift, last = p[-3:]
        scores = nn.layer_norm(y, (width,), gain, shift) @ last
        return nn.cross_entropy(scores.reshape(batch * length, -1), targets.reshape(-1))

    return _pair(ours, theirs, parameters)


class _Launched(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None):  # type: ignore[no-untyped-def]
        self.names[function.overloadpacket.__name__] += 1
        return function(*args, **(kwargs or {}))


def kernels(program: Callable[[], Any]) -> int:
    """Return how many kernels a program launches."""
    program()
    with _Launched() as launched:
        program()
    return sum(n for name, n in launched.names.items() if name not in _VIEWS)


def times(programs: dict[str, Callable[[], Any]], rounds: int = 40) -> dict[str, float]:
    """Return the lower quartile of the time of each program; each round runs all of them."""
    found: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            start = time.thread_time()
            program()
            found[name].append(time.thread_time() - start)
    return {name: sorted(all_times)[rounds // 4] for name, all_times in found.items()}


def table() -> Iterator[str]:
    """Yield lines of a table."""
    yield "| step | Wengert, ms | PyTorch eager, ms | ratio | kernels | PyTorch's |"
    yield "|---|---|---|---|---|---|"
    for name, programs in (("CNN", network()), ("GPT", transformer())):
        counts = [kernels(program) for program in programs.values()]
        ours, theirs = times(programs).values()
        shown = f"{1e3 * ours:.2f} | {1e3 * theirs:.2f} | {ours / theirs:.3f}"
        yield f"| {name} | {shown} | {counts[0]} | {counts[1]} |"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in table():
        print(line, flush=True)
