"""What runs on a GPU, and how fast: `python -m benchmarks.gpu [table] [speed] [compiled]`.

It needs an NVIDIA GPU with PyTorch, CuPy and JAX. The table runs every registered operation and its
rules on arrays of each library and compares with NumPy. The cases are timed in one process,
interleaved with the same program in PyTorch or JAX; times are seconds on the wall between two
synchronisations, medians of several. Ratios are paired by round, and medians as well.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import wengert as wg

# -- the table of operations -------------------------------------------------------------------


def _libraries() -> dict[str, Callable[[np.ndarray], Any]]:
    """Return how to make an array on the GPU, for each library that is here."""
    found: dict[str, Callable[[np.ndarray], Any]] = {}
    with contextlib.suppress(ImportError):
        import torch

        found["torch"] = lambda a: torch.from_numpy(np.array(a)).to("cuda")
    with contextlib.suppress(ImportError):
        import cupy

        found["cupy"] = cupy.asarray
    with contextlib.suppress(ImportError):
        import jax

        jax.config.update("jax_enable_x64", True)
        found["jax"] = lambda a: jax.device_put(a, jax.devices("gpu")[0])
    return found


def table(libraries: list[str]) -> Iterator[str]:
    """Yield lines of a report: for each library, which operations do not give NumPy's numbers."""
    from tests.ops.op_cases import CASES, assert_near, leaves, vjp, weights_like

    for library, make in _libraries().items():
        if libraries and library not in libraries:
            continue
        failed: dict[str, str] = {}
        names = {case.name for case in CASES}
        for case in CASES:
            if case.name in failed:
                continue
            arrays = case.arrays(case.kinds[0])
            try:
                if case.entry.family == "zero":
                    expected = leaves(case.function(*map(wg.asarray, arrays)))
                    got = leaves(case.function(*(wg.asarray(make(a)) for a in arrays)))
                else:
                    results, gradients = vjp(case.function, list(map(wg.asarray, arrays)))
                    weights = [make(w) for w in weights_like(results)]
                    given = [wg.asarray(make(a)) for a in arrays]
                    ours, pulled = vjp(case.function, given, weights)
                    expected, got = [*results, *gradients], [*ours, *pulled]
                for mine, theirs in zip(got, expected, strict=True):
                    assert_near(mine.numpy(), theirs, rtol=1e-9 * case.entry.rounding)
            except Exception as error:
                failed[case.name] = f"{type(error).__name__}: {error}".replace("\n", " ")[:160]
        yield f"### {library}: {len(names) - len(failed)} of {len(names)} operations\n"
        reasons = Counter(message.partition(":")[0] for message in failed.values())
        yield ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) + "\n"
        for name, message in failed.items():
            yield f"- `{name}`: {message}"
        yield ""


# -- times -------------------------------------------------------------------------------------


def _times(
    programs: dict[str, Callable[[], Any]], wait: Callable[[Any], None]
) -> dict[str, list[float]]:
    """Return samples of the time of each program; each round runs all of them, a few times each.

    A program of training runs again and again, so a sample is the mean of five runs in a row.
    """
    for program in programs.values():
        for _ in range(3):
            wait(program())
    found: dict[str, list[float]] = {name: [] for name in programs}
    names, processors = list(programs), sorted(os.sched_getaffinity(0))
    gc.collect()
    gc.freeze()  # what was made before now is not looked through again
    try:
        for i in range(22):  # each program is the first and the last equally often
            _run_on([processors[(4 * i + k) % len(processors)] for k in range(4)])
            for name in names:  # who comes first after a move would pay for it
                wait(programs[name]())
            for name in names:
                wait(programs[name]())
                start = time.perf_counter()
                for _ in range(5):
                    wait(programs[name]())
                found[name].append((time.perf_counter() - start) / 5)
            names.reverse()
    finally:
        gc.unfreeze()
        _run_on(processors)
    return found


def _run_on(processors: list[int]) -> None:
    """Have all threads of this process run on these processors.

    A thread stays where it is, and a processor may be slow for as long as others of its host are
    busy. PyTorch's backward pass is a thread of its own. So each round is on other processors.
    """
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), processors)


def _ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """Return the median of the ratios of two programs' times in a round."""
    return statistics.median(a / b for a, b in zip(times[name], times[base], strict=True))


def _milliseconds(times: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} {1e3 * statistics.median(t):.3f}" for name, t in times.items())


def _gradient(f: Callable[..., Any], parameters: list[Any]) -> Any:
    """Return the gradients of f, by a tape, with respect to parameters that are tensors of ours.

    They are tensors, as PyTorch's are its own: `g.data` would be a copy, which may be written to.
    """
    with wg.GradientTape() as tape:
        tape.watch(parameters)
        y = f(*parameters)
    return tape.gradient(y, parameters)


def _torch_gradient(f: Callable[..., Any], parameters: list[Any]) -> Any:
    import torch

    leaves = [p.detach().requires_grad_() for p in parameters]
    return torch.autograd.grad(f(*leaves), leaves)


def _pair(
    ours: Callable[..., Any], theirs: Callable[..., Any], arrays: list[Any]
) -> dict[str, Callable[[], Any]]:
    """Return a program over PyTorch's arrays and the same program in PyTorch."""
    tensors = [wg.asarray(a) for a in arrays]
    return {
        "wengert": lambda: _gradient(ours, tensors),
        "torch": lambda: _torch_gradient(theirs, arrays),
    }


def chain(xp: Any, x: Any) -> Any:
    """Return the sum of a chain of 900 operations."""
    y = x
    for _ in range(300):
        y = xp.sin(y) * 1.01 + x
    return xp.sum(y)


def layers(xp: Any, x: Any, weights: list[Any]) -> Any:
    """Return the sum of squares of a perceptron's result."""
    for w in weights:
        x = xp.tanh(x @ w)
    return xp.mean(x * x)


def _random(*shape: int, dtype: str = "float32", scale: float = 1.0) -> Any:
    import torch

    return torch.randn(*shape, device="cuda", dtype=getattr(torch, dtype)) * scale


def cases() -> Iterator[tuple[str, dict[str, Callable[[], Any]]]]:
    """Yield cases by name: programs that give the same numbers."""
    import torch

    functional = torch.nn.functional
    x = _random(100, dtype="float64")
    programs = _pair(lambda x: chain(wg, x), lambda x: chain(torch, x), [x])
    with contextlib.suppress(ImportError):
        import cupy

        on_cupy = [wg.asarray(cupy.asarray(x.cpu().numpy()))]
        programs["wengert, CuPy"] = lambda: _gradient(lambda x: chain(wg, x), on_cupy)
    yield "chain of 900 operations, size 100", programs

    x, ws = _random(64, 256), [_random(256, 256, scale=0.05) for _ in range(8)]
    fixed = wg.asarray(x)
    yield (
        "MLP 64x256, 8 layers",
        _pair(lambda *ws: layers(wg, fixed, ws), lambda *ws: layers(torch, x, ws), ws),  # type: ignore[arg-type]
    )
    x = _random(4096, 4096, dtype="bfloat16")
    ws = [_random(4096, 4096, dtype="bfloat16", scale=0.01) for _ in range(6)]
    wide = wg.asarray(x)
    programs = _pair(lambda *ws: layers(wg, wide, ws), lambda *ws: layers(torch, x, ws), ws)  # type: ignore[arg-type]
    whole = torch.compile(lambda *ws: layers(torch, x, ws))
    programs["torch.compile"] = lambda: _torch_gradient(whole, ws)
    yield "MLP 4096x4096, 6 layers, bfloat16", programs
    image = _random(16, 64, 64, 64)
    kernels = [_random(64, 64, 3, 3, scale=0.05) for _ in range(4)]
    pixels = wg.asarray(image)

    def ours(*kernels: Any) -> Any:
        y = pixels
        for k in kernels:
            y = wg.nn.relu(wg.nn.conv2d(y, k, padding=1))
        return wg.mean(y * y)

    def theirs(*kernels: Any) -> Any:
        y = image
        for k in kernels:
            y = torch.relu(functional.conv2d(y, k, padding=1))
        return torch.mean(y * y)

    yield "four convolutions of 64 channels, batch 16, 64x64", _pair(ours, theirs, kernels)
    yield from _gpt()
    big = [_random(8192, 8192), _random(8192, 8192)]
    factors = [wg.asarray(a) for a in big]
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(factors)
        z = factors[0] @ factors[1]
    given = [a.requires_grad_() for a in big]
    product = given[0] @ given[1]
    yield (
        "gradient of z[0, 0] of an 8192 product",
        {
            "wengert": lambda: tape.gradient(z.at[0, 0], factors, dense=False),
            "torch": lambda: torch.autograd.grad(product[0, 0], given, retain_graph=True),
        },
    )


def _gpt(width: int = 1024, length: int = 1024, heads: int = 16, blocks: int = 4) -> Any:
    import torch

    functional = torch.nn.functional
    batch = 8
    x = _random(batch, length, width, dtype="bfloat16")
    sizes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    weights = [_random(*s, dtype="bfloat16", scale=0.02) for _ in range(blocks) for s in sizes]
    ones = torch.ones(width, device="cuda", dtype=torch.bfloat16)
    zeros = torch.zeros_like(ones)
    tokens, gain, shift = map(wg.asarray, (x, ones, zeros))

    def split(xp: Any, y: Any, permute: Any) -> Any:
        parts = xp.reshape(y, (batch, length, 3, heads, width // heads))
        return permute(parts, (2, 0, 3, 1, 4))

    def ours(*weights: Any) -> Any:
        y = tokens
        for i in range(blocks):
            qkv, out, up, down = weights[4 * i : 4 * i + 4]
            parts = split(wg, wg.nn.layer_norm(y, gain, shift) @ qkv, wg.permute_dims)
            a = wg.nn.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
            a = wg.reshape(wg.permute_dims(a, (0, 2, 1, 3)), (batch, length, width))
            y = y + a @ out
            y = y + wg.nn.gelu(wg.nn.layer_norm(y, gain, shift) @ up) @ down
        return wg.mean(y * y)

    def theirs(*weights: Any) -> Any:
        y = x
        for i in range(blocks):
            qkv, out, up, down = weights[4 * i : 4 * i + 4]
            norm = functional.layer_norm(y, (width,), ones, zeros)
            parts = split(torch, norm @ qkv, torch.permute)
            a = functional.scaled_dot_product_attention(*parts, is_causal=True)
            y = y + torch.reshape(torch.permute(a, (0, 2, 1, 3)), (batch, length, width)) @ out
            norm = functional.layer_norm(y, (width,), ones, zeros)
            y = y + functional.gelu(norm @ up) @ down
        return torch.mean(y * y)

    yield (
        "GPT blocks 1024x1024, 16 heads, 4 blocks, batch 8, bfloat16",
        _pair(ours, theirs, weights),
    )


def transfers(program: Callable[[], Any]) -> int:
    """Return how many copies between host and device a program makes, by PyTorch's profiler."""
    from torch.profiler import ProfilerActivity, profile

    program()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        program()
    kinds = ("Memcpy HtoD", "Memcpy DtoH")
    return sum(event.count for event in found.key_averages() if event.key.startswith(kinds))


def speed() -> Iterator[str]:
    """Yield lines of a table of times."""
    import torch

    def wait(_: Any) -> None:
        torch.cuda.synchronize()

    yield "| case | times, ms | ratios |"
    yield "|---|---|---|"
    for name, programs in cases():
        try:
            times = _times(programs, wait)
            ratios = [
                f"{ours} to {peer} {_ratio(times, ours, peer):.3f}"
                for ours in times
                for peer in times
                if ours.startswith("wengert") and peer.startswith("torch")
            ]
            yield f"| {name} | {_milliseconds(times)} | {', '.join(ratios)} |"
        except Exception as error:
            message = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
            yield f"| {name} | {message} | |"
        torch.cuda.empty_cache()
    yield ""
    yield "| case | host transfers |"
    yield "|---|---|"
    for name, programs in cases():  # at last, since launches are slower once a profiler was there
        yield f"| {name} | {transfers(programs['wengert'])} |"


def compiled() -> Iterator[str]:
    """Yield lines of a table of times of compiled programs."""
    import jax

    from benchmarks import gpu_compiled

    yield "| compiled | times, ms | to jax.jit | relative difference |"
    yield "|---|---|---|---|"
    for name, programs in gpu_compiled.cases():
        try:
            apart = gpu_compiled.difference(programs)
            times = _times(programs, jax.block_until_ready)
            ratio = _ratio(times, "wengert", "jax")
            yield f"| {name} | {_milliseconds(times)} | {ratio:.3f} | {apart:.1e} |"
        except Exception as error:
            message = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
            yield f"| {name} | {message} | | |"


def versions() -> str:
    """Return the GPU's name and the libraries' versions."""
    import importlib.metadata as metadata

    import torch

    names = ("torch", "cupy-cuda13x", "cupy-cuda12x", "jax", "numpy")
    found = []
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return f"{torch.cuda.get_device_name()}; {', '.join(found)}"


def main() -> None:
    """Print what was asked for, and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["table", "speed", "compiled"])
    parser.add_argument("--save", type=Path)
    parser.add_argument("--library", action="append", default=[], help="only these in the table")
    options = parser.parse_args()
    lines = [versions(), ""]
    for part in options.parts:
        found = {"speed": speed, "compiled": compiled}.get(part)
        for line in table(options.library) if found is None else found():
            print(line, flush=True)
            lines.append(line)
    if options.save:
        options.save.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
