"""gradcheck and checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.autograd.tensors import function, ones, two, z_of
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


# -- gradcheck -------------------------------------------------------------------------------------


def _wrong(torch: Any) -> Any:
    return function(torch, lambda ctx, x: x * x, lambda ctx, g: g * 3)


PROGRAMS.update(
    gradcheck_right=lambda torch: torch.autograd.gradcheck(lambda x: x.exp() * x, (two(torch),)),
    gradcheck_one_tensor=lambda torch: torch.autograd.gradcheck(lambda x: x.sin(), two(torch)),
    gradcheck_fast=lambda torch: torch.autograd.gradcheck(
        lambda x: x.exp() * x, two(torch), fast_mode=True
    ),
    gradcheck_wrong=lambda torch: torch.autograd.gradcheck(_wrong(torch).apply, two(torch)),
    gradcheck_wrong_false=lambda torch: torch.autograd.gradcheck(
        _wrong(torch).apply, two(torch), raise_exception=False
    ),
    gradcheck_wrong_fast=lambda torch: torch.autograd.gradcheck(
        _wrong(torch).apply, two(torch), raise_exception=False, fast_mode=True
    ),
    gradcheck_options=lambda torch: torch.autograd.gradcheck(
        lambda x: x**3, two(torch), eps=1e-5, atol=1e-3, rtol=1e-2, check_undefined_grad=False,
        nondet_tol=1e-5, check_grad_dtypes=True, check_batched_grad=True,
    ),
    gradcheck_several=lambda torch: torch.autograd.gradcheck(
        lambda x, w, k: (x * w, (x + w).exp() * k), (two(torch), two(torch), 3)
    ),
    gradcheck_complex=lambda torch: torch.autograd.gradcheck(
        lambda z: z * z.conj() * z, z_of(torch)
    ),
    gradcheck_nothing=lambda torch: torch.autograd.gradcheck(lambda x: x, ones(torch)),
    gradcheck_float32=lambda torch: torch.autograd.gradcheck(
        lambda x: x * 2, two(torch, torch.float32), eps=1e-2, atol=1e-2
    ),
    gradcheck_no_outputs=lambda torch: torch.autograd.gradcheck(
        lambda x: ones(torch) * 3, two(torch)
    ),
    gradcheck_module=lambda torch: torch.autograd.gradcheck.__name__.rpartition(".")[2],
    gradgradcheck_right=lambda torch: torch.autograd.gradgradcheck(lambda x: x**3, two(torch)),
    gradgradcheck_given=lambda torch: torch.autograd.gradgradcheck(
        lambda x: x.sin() * x, (two(torch),), (two(torch),)
    ),
    gradgradcheck_wrong=lambda torch: torch.autograd.gradgradcheck(
        function(
            torch, lambda ctx, x: ctx.save_for_backward(x) or x * x,
            lambda ctx, g: g * 2 * ctx.saved_tensors[0].detach(),
        ).apply,
        two(torch),
    ),
)  # fmt: skip


# -- checkpoint ------------------------------------------------------------------------------------


def checkpointed(torch: Any, reentrant: bool, body: Any, **options: Any) -> Any:
    x, w = two(torch), two(torch)
    count = [0]

    def f(a: Any) -> Any:
        count[0] += 1
        return body(a, w)

    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant, **options)
    total = sum(p.sum() for p in y) if isinstance(y, tuple) else y.sum()
    total.backward()
    return x, w, count


for _reentrant in (False, True):
    _name = "reentrant" if _reentrant else "not_reentrant"
    PROGRAMS.update(
        **{
            f"checkpoint_{_name}": lambda torch, r=_reentrant: checkpointed(
                torch, r, lambda a, w: (a * w).exp() * a
            ),
            f"checkpoint_{_name}_tuple": lambda torch, r=_reentrant: checkpointed(
                torch, r, lambda a, w: ((a * w).exp(), a * a)
            ),
            f"checkpoint_{_name}_random_state": lambda torch, r=_reentrant: checkpointed(
                torch, r, lambda a, w: a * w * a, preserve_rng_state=False
            ),
        }
    )


@program
def checkpoint_keywords(torch: Any) -> Any:
    x = two(torch)
    f = torch.utils.checkpoint.checkpoint
    f(lambda a, k: (a * k).exp(), x, use_reentrant=False, k=2).sum().backward()
    return x


@program
def checkpoint_second_order(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: (a**3).exp(), x * 0.3, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), torch.autograd.grad(g.sum(), x)


@program
def checkpoint_nested(torch: Any) -> Any:
    x = two(torch)
    f = torch.utils.checkpoint.checkpoint

    def inner(a: Any) -> Any:
        return (a * 0.1).exp() * a

    def outer(a: Any) -> Any:
        return f(inner, f(inner, a, use_reentrant=False), use_reentrant=False) * 2

    f(outer, x, use_reentrant=False).sum().backward()
    return x


@program
def checkpoint_chain(torch: Any) -> Any:
    x = two(torch)
    y = x
    for _ in range(4):
        y = torch.utils.checkpoint.checkpoint(lambda a: (a * 0.5).sin() + x, y, use_reentrant=False)
    y.sum().backward()
    return x


@program
def checkpoint_retain_graph(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: a.exp(), x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x


@program
def checkpoint_freed(torch: Any) -> Any:
    y = torch.utils.checkpoint.checkpoint(lambda a: a.exp(), two(torch), use_reentrant=False).sum()
    y.backward()
    y.backward()


@program
def checkpoint_does_something_else(torch: Any) -> Any:
    count = [0]

    def f(a: Any) -> Any:
        count[0] += 1
        return a * a if count[0] == 1 else a + a + a

    y = torch.utils.checkpoint.checkpoint(f, two(torch), use_reentrant=False)
    y.sum().backward()


@program
def checkpoint_of_constants(torch: Any) -> Any:
    y = torch.utils.checkpoint.checkpoint(lambda a: a * 2, ones(torch), use_reentrant=False)
    return y, y.requires_grad


@program
def checkpoint_under_no_grad(torch: Any) -> Any:
    with torch.no_grad():
        y = torch.utils.checkpoint.checkpoint(lambda a: a * 2, two(torch), use_reentrant=False)
    return y, y.requires_grad


@program
def checkpoint_reentrant_and_grad(torch: Any) -> Any:
    x = two(torch)
    y = torch.utils.checkpoint.checkpoint(lambda a: a * a, x, use_reentrant=True)
    return torch.autograd.grad(y.sum(), x)


@program
def checkpoint_reentrant_keywords(torch: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(lambda a, k: a, two(torch), use_reentrant=True, k=1)


@program
def checkpoint_default(torch: Any) -> Any:
    x = two(torch)
    torch.utils.checkpoint.checkpoint(lambda a: a.exp(), x).sum().backward()
    return x


for _reentrant in (False, True):
    PROGRAMS.update(
        **{f"checkpoint_sequential_{_reentrant}": lambda torch, r=_reentrant: _sequential(torch, r)}
    )


def _sequential(torch: Any, reentrant: bool) -> Any:
    x = two(torch)
    steps = [torch.sin, torch.exp, torch.cos, torch.tanh, lambda a: a * 2]
    f = torch.utils.checkpoint.checkpoint_sequential
    y = f(steps, 2, x, use_reentrant=reentrant)
    y.sum().backward()
    return y.detach(), x


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
