"""Further expressions of tensors: flags, types, shapes and misuse."""

from __future__ import annotations

import pytest

from tests.dialects.torch.creation.expressions import check, lines

pytestmark = pytest.mark.parity


FURTHER = lines(
    r"""
x.requires_grad_(1)
x.requires_grad_(np.True_)
x.requires_grad_(requires_grad=True)
torch.zeros(2, requires_grad=1)
torch.tensor(1., requires_grad=None)
setattr(x.detach(),'requires_grad',1)
x.to(x.dtype)
x.to(torch.float64, copy=True)
x.to('cpu', copy=True) is x
x.to(device=torch.device('cpu'))
x.to(device='cuda:0')
x.to('cpu:0')
x.to(dtype=None)
x.to(x.double())
x.to(i, non_blocking=True)
x.to(i, copy=True).dtype
x.to(torch.int64, True)
x.to(torch.int64, True, True)
x.to('cpu', torch.int64, False, True)
p.to(torch.float32) is p
p.to(torch.float32, copy=True)
p.double().float()
p.cdouble()
p.half()
p.long().requires_grad
p.bool()
c.to(torch.float32)
c.to(torch.complex128)
b.to(torch.float32)
b.float()
b.long()
i.to(torch.complex64)
i.double()
b.to(torch.bool, copy=True)
i.to(torch.int64, copy=True)
c.to(torch.complex64, copy=True)
torch.asarray(b, copy=True)
torch.vmap(lambda t: t.double() + t.size(0))(x)
torch.vmap(lambda t: t.to(torch.int64))(x)
torch.vmap(lambda t: torch.zeros_like(t) + torch.ones(t.shape))(x)
torch.vmap(lambda t: t.item())(x)
torch.vmap(lambda t: torch.isclose(t, t))(x)
(i-1).bool()
x.int().float()
x.type(torch.LongTensor)
x.type('torch.LongTensor')
x.type(torch.FloatTensor) is x
p.type(torch.float64)
torch.is_tensor(x)
torch.is_tensor(np.ones(2))
torch.is_tensor(p)
x.dtype is torch.float32
x.dtype == torch.float
x.dtype in (torch.float32, torch.float64)
x.dtype != torch.int64
{torch.float32: 1}[x.dtype]
str(x.dtype).split('.')[1]
f'{x.dtype}'
x.is_leaf
(p*2).is_leaf
(x*2).is_leaf
p.detach().is_leaf
(p*2).grad_fn is None
x.grad_fn
p.grad_fn
(p*2).grad_fn.name()
(p.double()).grad_fn.name()
p.clone().grad_fn.name()
torch.ones(3, requires_grad=True).sum().item()
p.sum().item()
p[0].item()
float(p[0])
f'{p.sum():.3f}'
'{:.2f}'.format(p[0])
'%.1f %.1f' % (p[0], p[1])
'{}'.format(p)
str(p*2)
repr([p, x[0]])
print(x)
len(p)
(p*2).tolist()
p.detach().numpy() is not None
np.array(p.detach())
np.array(p.tolist())
list(map(float, p))
[float(v) for v in x.reshape(-1)]
[v.item() for v in x[0]]
dict(zip('ab', p.tolist()))
sum(x[0])
max(x[0])
min(x[0])
sorted(x[0].tolist())
any(b)
all(b)
x.nelement() * x.element_size()
x.size()[0]
x.size()[-1:]
x.shape[0] * x.shape[1]
x.numel() == np.prod(x.shape)
np.prod(x.shape)
np.zeros(x.shape).shape
np.zeros(x.size()).shape
torch.zeros(x.size()).shape
torch.zeros(*x.size(), 2).shape
torch.ones(x.shape[0], x.shape[1])
torch.zeros(len(x))
torch.zeros((len(x), 2))
torch.zeros(torch.tensor([2]).item())
torch.zeros(i.max() + 1)
torch.zeros(i.max().item())
torch.zeros(x.size(0), dtype=torch.bool)
torch.zeros_like(x, dtype=torch.bool)
torch.zeros_like(x, device='cpu')
torch.ones_like(c)
torch.ones_like(b)
torch.full_like(x, float('inf'))
torch.full_like(b, 1)
torch.full_like(i, -1)
torch.full((2, 2), float('-inf'))
torch.full((2,), 1e10, dtype=torch.float16)
torch.full((2,), -1, dtype=torch.uint8)
torch.full((2,), 2.7, dtype=torch.int64)
torch.full((2,), 5, dtype=torch.bool)
torch.full((2,), 2, requires_grad=True)
torch.full((2,), 2., requires_grad=True)
torch.full((2, 3), True, dtype=torch.float32)
torch.empty(2, 3, dtype=torch.float64).dtype
torch.empty(0, 3)
torch.empty(2).fill_(3.)
torch.empty(2).zero_()
torch.arange(10)[2:5]
torch.arange(0, 10, 2.5)
torch.arange(1, 2, 0.1, dtype=torch.float64)
torch.arange(0, 1, 0.1)
torch.arange(0.1, 0.5, 0.1)
torch.arange(6).reshape(2, 3)
torch.arange(6, dtype=torch.float32).view(2, 3)
torch.arange(4, requires_grad=True, dtype=torch.float32)
torch.arange(3, 0, -1)
torch.arange(3, 0, -0.5)
torch.arange(2**33, 2**33 + 3)
torch.arange(0, 0)
torch.arange(0., 0.)
torch.arange(1, 1)
torch.arange(5, 5, -1)
torch.arange(0, 10, 3)
torch.arange(-1, 1, 0.5)
torch.arange(0, -3, -1)
torch.linspace(0, 1, 11)
torch.linspace(-3, 3, 7)
torch.linspace(1, 0, 4)
torch.linspace(0, 1, 2)
torch.linspace(5, 5, 3)
torch.linspace(0, 1, 10, requires_grad=True)
torch.linspace(0, 1, steps=4, dtype=torch.float64)
torch.linspace(0, 1, 1000).sum()
torch.linspace(1, 2, 5, dtype=torch.complex64)
torch.logspace(-2, 2, 5)
torch.logspace(0, 3, 4, base=2)
torch.logspace(0.1, 1, 4)
torch.eye(3)[1]
torch.eye(3, requires_grad=True)
torch.eye(2, 0)
torch.eye(3, dtype=torch.complex64)
torch.tensor([[1, 2], [3, 4]], dtype=torch.float32)
torch.tensor([[1., 2], [3, 4]]).T
torch.tensor(np.eye(2))
torch.tensor(np.eye(2, dtype=np.float32))
torch.tensor(np.array([True, False]))
torch.tensor(np.array(3))
torch.tensor(np.array([1, 2], dtype=np.int8))
torch.tensor([np.float32(1.5), 2])
torch.tensor(x.shape)
torch.tensor(list(x.shape))
torch.tensor([x.shape[0], 2.5])
torch.tensor([p[0], 2.0])
torch.tensor([x[0].sum(), x[1].sum()])
torch.tensor([1, 2, 3]).float()
torch.tensor([[1, 2, 3]]) / 2
torch.tensor([1, 2]) * 0.5
torch.tensor([1, 2]) // 2
torch.tensor((1., 2.), requires_grad=True)
torch.tensor([float('nan'), float('inf'), -float('inf')])
torch.tensor([1e-10, 1.0])
torch.tensor([1e10, 1.0])
torch.tensor([123456.789])
torch.tensor([0.1, 0.22, 0.333], dtype=torch.float64)
torch.tensor(3.14159265358979)
torch.tensor(3.14159265358979, dtype=torch.float64)
torch.tensor(1e-8)
torch.tensor([1, 1000000])
torch.tensor([[1e-3, 1e3]])
torch.tensor([-0.0, 0.0])
torch.tensor(5).dtype
torch.tensor([[]]).shape
torch.tensor([[[], []]]).shape
torch.tensor([1, 2], dtype=torch.double)
torch.tensor([1.9, -1.9]).int()
torch.tensor([1.9, -1.9]).long()
torch.tensor(1 + 0j)
torch.tensor([1, 2], device=x.device)
torch.tensor(1, dtype=torch.bool)
torch.tensor([0, 1, 2], dtype=torch.bool)
torch.tensor(b.numpy())
torch.as_tensor([1, 2])
torch.as_tensor(2.5)
torch.as_tensor(p) is p
torch.as_tensor(np.float64(2))
torch.as_tensor(x.numpy()).data_ptr() == x.data_ptr()
torch.from_numpy(np.ones((2, 2)).T)
torch.from_numpy(np.ones((2, 2), dtype=bool))
torch.from_numpy(np.arange(6)[::2])
torch.from_numpy(np.array([1 + 1j]))
torch.complex(torch.tensor([1., 2]), torch.tensor([3., 4])).abs()
torch.complex(torch.tensor(1.), torch.tensor(float('inf')))
torch.complex(torch.tensor(float('inf')), torch.tensor(1.))
torch.polar(torch.tensor(2.), torch.tensor(0.))
torch.equal(x, x + 0)
torch.equal(x, x[0])
torch.allclose(x, x + 1e-6)
torch.allclose(x, x + 1e-3)
torch.allclose(x, x + 1e-3, atol=1e-2)
torch.allclose(x, x + 1e-3, rtol=0, atol=1e-2)
torch.allclose(p, p.detach())
torch.isclose(p, p * 1.0000001)
torch.isclose(x, torch.tensor(1.))
torch.testing.assert_close(p, p.detach())
torch.testing.assert_close(p.grad, None)
torch.testing.assert_close(x, x.tolist())
torch.testing.assert_close(torch.tensor(1.), 1.)
torch.testing.assert_close((1, 2.), (1, 2.))
torch.testing.assert_close([1], [1, 2])
torch.testing.assert_close({'a': 1}, {'b': 1})
torch.testing.assert_close(b, b)
torch.testing.assert_close(x, x.t())
torch.testing.assert_close(c, c + 1e-9)
torch.testing.assert_close(x.double(), x.double() + 1e-6)
torch.testing.assert_close(x.double(), x.double() + 1e-6, rtol=1e-3, atol=1e-3)
x.detach() is x
x.detach().data_ptr() == x.data_ptr()
x.data is x
x.data.data_ptr() == x.data_ptr()
p.data.requires_grad
x.clone().data_ptr() == x.data_ptr()
x.contiguous() is x
x.t().contiguous().is_contiguous()
x[:, 1].is_contiguous()
x.view(-1).is_contiguous()
x._version
x.add_(1)._version
x.detach()._version
x.view(-1)._is_view()
x.view(-1)._base is None
c.element_size()
b.element_size()
x.to_dense() is x
x.bool().any()
1 in i
2.5 in x
torch.tensor(3) in i
x in [x]
x[0, 1] in x
i.tolist().index(2)
bool(torch.tensor(0.))
bool(torch.tensor([0.]))
bool(torch.tensor([[1]]))
not torch.tensor(0)
1 if torch.tensor(True) else 0
bool(c)
int(True) + i[1]
i[i[1]]
[1, 2, 3][i[1]:i[3]]
'abc'[i[2]]
np.arange(5)[i]
np.arange(5)[i[2]]
range(i[0], i[3])
list(range(i[3]))
3 * [i[1].item()]
torch.Size([2, 3]) + torch.Size([4])
torch.Size((1,)) == (1,)
torch.Size([1, 2]).index(2)
sorted(torch.Size([3, 1]))
torch.Size(i)
torch.Size(range(3))
torch.Size([True])
torch.Size([2])[5]
torch.finfo(torch.float64).max
torch.finfo(torch.float64).min
torch.finfo(torch.float16).max
torch.finfo(torch.float16).eps
torch.finfo(torch.double).tiny
torch.finfo(x.dtype).eps
torch.iinfo(torch.int8).min
torch.iinfo(torch.int64).max
torch.iinfo(torch.long).bits
torch.rand(2, 3).shape
torch.rand(5).max() < 1
torch.randn(3, requires_grad=True).is_leaf
torch.randn(2, 2).requires_grad_().requires_grad
torch.randn(x.shape)
torch.randn(*x.shape)
torch.randn(x.size(), dtype=torch.float64)
torch.rand([2, 3])
torch.rand(torch.Size([2]))
torch.randint(5, x.shape)
torch.randint(0, 5, [2])
torch.randint(low=0, high=5, size=(3,), dtype=torch.int32)
torch.randint(3, 3, (1,))
torch.randperm(5)[:2]
x[torch.randperm(2)]
torch.rand_like(p).requires_grad
torch.rand_like(x, dtype=torch.float64)
torch.randn_like(x, requires_grad=True)
torch.normal(0, 1, (3,))
torch.normal(mean=torch.arange(3.), std=torch.ones(3))
torch.normal(torch.zeros(2), 0.)
torch.bernoulli(torch.full((2, 2), 0.5))
torch.multinomial(torch.ones(4), 4).sort()[0]
torch.multinomial(torch.ones(2, 4), 2).shape
torch.empty(3).uniform_(0, 1)
torch.empty(3).uniform_(to=2)
torch.empty(3).normal_(mean=0, std=2)
torch.empty(3).normal_(generator=torch.Generator().manual_seed(1))
torch.Tensor(3).uniform_(-1, 1)
torch.zeros(3).random_(0, 10)
x.bernoulli(p=1)
p.data.uniform_(0, 1)
p.detach().normal_()
torch.manual_seed(1).initial_seed()
torch.random.manual_seed(1).initial_seed()
torch.cuda.manual_seed_all(1)
torch.compile(lambda v: v + 1, dynamic=True)(1)
torch.set_printoptions(profile='default')
torch.set_printoptions(profile='none')
x.foo
torch.zeros(2).foo_()
"""
)


@pytest.mark.parametrize("expression", FURTHER)
def test_further_expressions_agree(expression: str) -> None:
    check(expression)
