"""Random numbers: PyTorch's own for the same seeds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.torch.creation.expressions import check, lines
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


RANDOM = lines(
    r"""
torch.finfo(torch.float32).smallest_normal
torch.cuda.manual_seed(3)
torch.cuda.manual_seed_all(3)
torch.rand(2,3).shape
torch.rand((2,3),dtype=torch.float64).dtype
torch.rand(2,dtype=torch.int64)
torch.rand()
torch.rand(2,dtype=torch.complex64).dtype
torch.rand(2,generator=torch.Generator().manual_seed(3)).shape
torch.rand(2,requires_grad=True).requires_grad
torch.rand(size=(2,)).shape
torch.rand(-1)
torch.rand(2.)
torch.randn(2,dtype=torch.int64)
torch.randn(2,3,requires_grad=True).shape
torch.randn(2,dtype=torch.complex64).dtype
torch.randint(10,(2,)).dtype
torch.randint(1,10,(2,)).dtype
torch.randint(10,size=(2,)).shape
torch.randint(low=1,high=10,size=(2,)).shape
torch.randint(0,10,(2,),dtype=torch.float32).dtype
torch.randint(5,5,(2,))
torch.randint(0,(2,))
torch.randint(10,2)
torch.randint(10.5,(2,))
torch.randint(10)
torch.randint(0,2,(2,),dtype=torch.bool).dtype
torch.randint(0,300,(2,),dtype=torch.uint8).dtype
torch.randint(high=3,size=(1,)).shape
torch.randint(3,(2,),generator=torch.Generator()).shape
torch.randperm(5).dtype
torch.randperm(0)
torch.randperm(-1)
torch.randperm(3,dtype=torch.float32).dtype
torch.randperm(3,dtype=torch.int32).dtype
torch.randperm(3.)
torch.randperm(n=3).shape
torch.normal(0.,1.,(2,)).shape
torch.normal(0,1,size=(2,)).shape
torch.normal(torch.zeros(2),torch.ones(2)).shape
torch.normal(torch.zeros(2),1.).shape
torch.normal(0.,torch.ones(2)).shape
torch.normal(torch.zeros(2)).shape
torch.normal(mean=torch.zeros(2),std=torch.ones(2)).shape
torch.normal(mean=0.,std=1.,size=(2,)).shape
torch.normal(0.,1.)
torch.normal(torch.zeros(2),-1.)
torch.normal(0.,-1.,(2,))
torch.normal(torch.zeros(2),-torch.ones(2))
torch.normal(torch.zeros(2,1),torch.ones(3)).shape
torch.normal(torch.zeros(2),torch.ones(3))
torch.normal(i,1.)
torch.normal(0.,1.,(2,),dtype=torch.float64).dtype
torch.normal(torch.zeros(2,dtype=torch.float64),torch.ones(2)).dtype
torch.bernoulli(torch.tensor([0.,1.]))
torch.bernoulli(torch.tensor([0.5,2.]))
torch.bernoulli(torch.tensor([0.5],requires_grad=True))
torch.bernoulli(i)
torch.bernoulli(x*0,p=1.0)
torch.bernoulli(0.5)
torch.zeros(2).bernoulli(1.0)
torch.multinomial(torch.tensor([0.,1.,0.]),3,replacement=True)
torch.multinomial(torch.tensor([0.,1.,0.]),2)
torch.multinomial(torch.tensor([0.,1.,1.]),2).shape
torch.multinomial(torch.tensor([[0.,1.,0.],[1.,0.,0.]]),1)
torch.multinomial(torch.tensor([-1.,1.]),1)
torch.multinomial(torch.tensor([0.,0.]),1)
torch.multinomial(torch.tensor([1.,1.]),3)
torch.multinomial(torch.tensor([1,1]),1)
torch.multinomial(torch.tensor([1.,1.]),0)
torch.multinomial(torch.ones(2,2,2),1)
torch.multinomial(torch.tensor([float('inf'),1.]),1)
torch.rand_like(x).shape
torch.rand_like(i)
torch.rand_like(i,dtype=torch.float32).dtype
torch.randn_like(p,requires_grad=True).requires_grad
torch.randn_like(3)
torch.randint_like(x,5).dtype
torch.randint_like(x,2,5).shape
torch.randint_like(x,5,dtype=torch.int64).dtype
torch.randint_like(x,low=2,high=3)
x.uniform_(2,3).min()>=2
x.uniform_(3,2)
i.uniform_()
p.uniform_()
x.normal_().shape
x.normal_(0,0)
x.normal_(mean=1,std=0)
x.normal_(0,-1)
i.normal_()
x.bernoulli_(1.0)
x.bernoulli_(2.0)
i.bernoulli_(1.0)
x.bernoulli_(torch.ones(3))
x.bernoulli_(torch.ones(2,3))
b.bernoulli_(1.)
x.exponential_().min()>=0
x.exponential_(0)
x.exponential_(-1)
x.exponential_(lambd=2).shape
i.exponential_()
x.random_().dtype
i.random_(5).max()<5
i.random_(3,4)
i.random_(4,3)
b.random_().dtype
x.random_(1,1)
torch.manual_seed(2**64)
torch.manual_seed('a')
torch.Generator('cpu').device
torch.Generator(device='cuda')
torch.Generator().get_state().dtype
torch.get_rng_state().dtype
torch.set_rng_state(torch.get_rng_state())
torch.set_rng_state(torch.zeros(3,dtype=torch.uint8))
torch.Generator().seed()>0
torch.cuda.get_rng_state()
"""
)


@pytest.mark.parametrize("expression", RANDOM)
def test_random_expressions_agree(expression: str) -> None:
    check(expression)


FILLED = {
    "uniform_": lambda z: z.uniform_(-2, 3),
    "normal_": lambda z: z.normal_(1, 2),
    "bernoulli_": lambda z: z.bernoulli_(0.3),
    "bernoulli_ of a tensor": lambda z: z.bernoulli_(z + 0.3),
    "exponential_": lambda z: z.exponential_(2),
    "random_": lambda z: z.random_(),
    "random_ to": lambda z: z.random_(9),
    "random_ from to": lambda z: z.random_(3, 9),
}


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", FILLED)
def test_the_same_seed_fills_with_the_same_numbers(name: str, kind: str) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(11)
        sizes = (0, 1, 5, 15, 16, 17, 37, 100)
        return [FILLED[name](torch.zeros(n, dtype=getattr(torch, kind))) for n in sizes]

    compare(program, 5e-5)


DRAWN = {
    "rand": lambda torch, n: [
        torch.rand(n, dtype=k) for k in (torch.float32, torch.float64, torch.float16,
        torch.complex64)
    ],
    "randn": lambda torch, n: [
        torch.randn(n, dtype=k)
        for k in (torch.float32, torch.float64, torch.float16, torch.complex64, torch.complex128)
    ],
    "randint": lambda torch, n: [
        torch.randint(10, (n,)), torch.randint(-5, 2**40, (n,)), torch.randint(2**30, (n,)),
        torch.randint(0, 2, (n,), dtype=torch.float64), torch.randint(3, (2, n), dtype=torch.int8),
    ],
    "randperm": lambda torch, n: [torch.randperm(n), torch.randperm(n, dtype=torch.int32)],
    "normal": lambda torch, n: [
        torch.normal(torch.zeros(n) + 3, 2.0), torch.normal(torch.zeros(n), torch.ones(n)),
        torch.normal(2.0, torch.ones(n)), torch.normal(1.0, 2.0, (n,)),
    ],
    "bernoulli": lambda torch, n: [
        torch.bernoulli(torch.zeros(n) + 0.3), torch.bernoulli(torch.zeros(n), 0.3),
        torch.bernoulli(torch.zeros(n, dtype=torch.float64) + 0.3),
    ],
    "multinomial": lambda torch, n: [
        torch.multinomial(torch.arange(1.0, n + 3), 2),
        torch.multinomial(torch.arange(1.0, n + 3), 1),
        torch.multinomial(torch.arange(1.0, 2 * n + 7).reshape(2, n + 3), 5, replacement=True),
    ],
    "likes": lambda torch, n: [
        torch.rand_like(torch.zeros(n, 2).t()), torch.randn_like(torch.zeros(n, 3).t()),
        torch.randn_like(torch.zeros(n)), torch.randint_like(torch.zeros(n), 3),
    ],
    "whole numbers": lambda torch, n: [
        torch.zeros(n, dtype=k).random_()
        for k in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
    ],
    "generator": lambda torch, n: [
        torch.randn(n, generator=torch.Generator().manual_seed(n)), torch.rand(2),
    ],
    "after another": lambda torch, n: [torch.randn(3), torch.randn(n), torch.randn(2)],
}  # fmt: skip


@pytest.mark.parametrize("seed", [0, 11, 12345678901, -3])
@pytest.mark.parametrize("name", DRAWN)
def test_the_same_seed_gives_the_same_numbers(name: str, seed: int) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(seed)
        return [DRAWN[name](torch, n) for n in (1, 5, 15, 16, 17, 20, 33, 100)]

    compare(program, 5e-5)


def test_states_can_be_gone_back_to() -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(5)
        torch.randn(3)
        state = torch.get_rng_state()
        first = torch.randn(4)
        torch.set_rng_state(state)
        second = torch.randn(4)
        with torch.random.fork_rng():
            inside = torch.rand(2)
        after = torch.rand(2)
        g = torch.Generator()
        g.manual_seed(3)
        kept = g.get_state()
        one = torch.rand(2, generator=g)
        g.set_state(kept)
        return first, second, inside, after, one, torch.rand(2, generator=g), g.initial_seed()

    compare(program, 5e-5)


def test_gradients_of_random_numbers_are_zero() -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(2)
        x = torch.full((3,), 0.5, requires_grad=True)
        s = torch.ones(3, requires_grad=True)
        (torch.bernoulli(x) * 2 + torch.normal(x, s)).sum().backward()
        y = x * 2
        y.uniform_()
        (y * x).sum().backward()
        return x, s, y

    compare(program, 5e-5)


def test_a_network_s_first_steps_are_the_same() -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(0)
        x, y = torch.randn(64, 3), torch.randint(0, 2, (64, 1)).float()
        w, b = torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
        losses = []
        for _ in range(5):
            loss = ((x @ w + b - y) ** 2).mean()
            loss.backward()
            with torch.no_grad():
                for p in (w, b):
                    p -= 0.1 * p.grad
                    p.grad = None
            losses.append(loss.item())
        return losses, w, b

    compare(program, 5e-5)
