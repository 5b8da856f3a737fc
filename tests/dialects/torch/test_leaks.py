"""Memory of PyTorch's dialect: training takes no more with time, and leaves no cycles behind.

``python -m tests.dialects.torch.test_leaks 100000`` trains for so many steps and prints what grew.
"""

import contextlib
import gc
import sys
import tracemalloc
import warnings

import pytest

import wengert.torch as ours

#: Bytes by which memory may grow over a training, however long: caches that fill up.
ALLOWED = 1_000_000


def training(torch):
    """Return a step of a training with what programs use: a network, Adam, a hook, a schedule."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1000)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    running = torch.zeros(3)
    losses = []

    def step():
        optimizer.zero_grad()
        middle = model[:2](x)
        middle.retain_grad()
        middle.register_hook(lambda g: g * 1.0)
        loss = ((model[2:](middle) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        schedule.step()
        running[0] += loss.detach()  # numbers that change would fill a cache of constants
        running[1:].mul_(0.5)
        losses[:] = [loss.item()]

    return step


def growth(torch, steps):
    """Return by how many bytes Python's memory has grown over a training, after a tenth of it.

    It is the least of three such stretches: a leak is in each of them, a cache that fills is not.
    """
    step = training(torch)
    for _ in range(max(steps // 10, 100)):
        step()
    gc.collect()
    grown = []
    tracemalloc.start()
    try:
        step()
        for _ in range(3):
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(steps):
                step()
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
        return min(grown)
    finally:
        tracemalloc.stop()


def test_training_does_not_grow():
    assert growth(ours, 500) < 500 * ALLOWED / 100_000


# -- cycles ----------------------------------------------------------------------------------------


def _function(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, _ = ctx.saved_tensors
            return g * 2 * x

    def run():
        x = torch.ones(3, requires_grad=True)
        Square.apply(x * 2).sum().backward()

    return run


def _function_of_views(torch):
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, x.view(-1), y.view(-1))
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    def run():
        x = torch.ones(3, requires_grad=True)
        Flat.apply((x * 2)[:2]).sum().backward()
        Flat.apply(x * 2)

    return run


def _nodes_of_several_results(torch):
    def run():
        x = torch.ones(4, 3, requires_grad=True)
        one, other = (x * 2).split(2)
        one.grad_fn.register_hook(lambda inputs, outputs: None)
        other.register_hook(lambda g: None)
        (one.sum() + other.sum()).backward()
        mean = torch.std_mean(x)[1]
        mean.grad_fn.register_prehook(lambda outputs: None)

    return run


def _function_in_place(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def run():
        x = torch.ones(3, requires_grad=True)
        Double.apply(x * 1).sum().backward()

    return run


def _not_swept(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        y = (x * x).exp()
        y.retain_grad()
        y.sum()

    return run


def _hooks(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        y = x * x
        y.register_hook(lambda g: g * 2)
        y.retain_grad()
        x.register_post_accumulate_grad_hook(lambda p: None)
        x.register_hook(lambda g: None)
        z = y.exp()
        z.grad_fn.register_hook(lambda inputs, outputs: None)
        z.sum().backward()

    return run


def _hooks_not_swept(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        y = x * x
        y.register_hook(lambda g: g * 2)
        y.retain_grad()
        v = y[:2]
        v.register_hook(lambda g: None)
        v.retain_grad()
        x.register_post_accumulate_grad_hook(lambda p: None)

    return run


def _views(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        y = x * x
        v = y[:2]
        v.mul_(3)
        w = y.view(3, 1)
        w.add_(1)
        (v.sum() + w.sum() + y.sum()).backward()

    return run


def _looked_at_views(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        y = x * x
        v = y[:2]
        v.retain_grad()
        v.register_hook(lambda g: None)
        y.mul_(3)
        (v.sum() + y.sum()).backward()

    return run


def _second_order(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        torch.autograd.grad(g.sum(), x)

    return run


def _saved_tensors_hooks(torch):
    def run():
        x = torch.ones(3, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            y = (x * x).exp()
        y.sum().backward()

    return run


def _checkpoint(torch):
    checkpoint = torch.utils.checkpoint.checkpoint

    def run():
        x = torch.ones(3, requires_grad=True)
        checkpoint(lambda v: (v * v).exp(), x, use_reentrant=False).sum().backward()

    return run


def _transforms(torch):
    def run():
        x = torch.ones(3)
        torch.func.grad(lambda v: (v**3).sum())(x)
        torch.func.jvp(lambda v: v**3, (x,), (x,))
        torch.func.vmap(lambda v: v**3)(x)
        torch.func.hessian(lambda v: (v**3).sum())(x)
        torch.autograd.functional.jacobian(lambda v: v**3, x)

    return run


def _sweeps_in_sweeps(torch):
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, levels):
            ctx.levels = levels
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if not ctx.levels:
                raise KeyError
            with torch.enable_grad():
                y = torch.ones(3, requires_grad=True)
                Nested.apply(y, ctx.levels - 1).sum().backward()
            return g, None

    def run():
        x = torch.ones(3, requires_grad=True)
        with contextlib.suppress(KeyError):
            Nested.apply(x, 100).sum().backward()

    return run


def _training(torch):
    return training(torch)


LOOPS = {
    f.__name__[1:]: f
    for f in (
        _function, _function_in_place, _not_swept, _hooks, _hooks_not_swept, _views,
        _looked_at_views, _second_order, _saved_tensors_hooks, _checkpoint, _transforms,
        _sweeps_in_sweeps, _function_of_views, _nodes_of_several_results, _training,
    )
}  # fmt: skip


def left_to_collector(torch, name, times=20):
    """Return what a loop leaves that only the cycle collector frees, by type."""
    run = LOOPS[name](torch)
    run()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for _ in range(times):
            run()
        gc.collect()
        return [type(value).__name__ for value in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.collect()


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_leaves_nothing_to_the_cycle_collector(name):
    assert left_to_collector(ours, name) == []


@pytest.mark.peers
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_leaves_no_more_than_pytorch(name):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.func uses what PyTorch itself calls deprecated
        theirs = left_to_collector(torch, name)
    assert len(left_to_collector(ours, name)) <= len(theirs)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    grown = growth(ours, count)
    print(f"{count} steps: {grown} bytes more")
    sys.exit(grown > ALLOWED)
