"""Creation, conversions, printing, random numbers: programs on PyTorch and on Wengert."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.parity import compare, printed

pytestmark = pytest.mark.peers


def names(torch: Any) -> dict[str, Any]:
    """Return what the expressions below may use."""
    torch.manual_seed(7)
    return {
        "torch": torch,
        "np": np,
        "copy": copy,
        "pickle": pickle,
        "x": torch.arange(6.0).reshape(2, 3),
        "p": torch.ones(2, requires_grad=True),
        "i": torch.arange(4),
        "b": torch.tensor([True, False]),
        "c": torch.tensor([1 + 2j]),
    }


def check(expression: str) -> None:
    """Assert that an expression is the same on both, or raises the same class."""
    compare(lambda torch: eval(expression, names(torch)))


def lines(text: str) -> list[str]:
    """Return the expressions of a table."""
    return [line for line in text.strip().split("\n") if line]


CREATION = lines(
    r"""
torch.tensor([1,2.])
torch.tensor([True,2])
torch.tensor([1,2j])
torch.tensor([])
torch.tensor([[],[]])
torch.tensor([np.float64(1)])
torch.tensor([np.float32(1)])
torch.tensor([np.int32(1), 2])
torch.tensor([np.int32(1), 2.5])
torch.tensor([1.0, np.float64(1)])
torch.tensor([np.array([1.,2.])])
torch.tensor([np.array([1,2],dtype=np.int32)])
torch.tensor(np.float64(1))
torch.tensor(np.int32(1))
torch.tensor(np.bool_(True))
torch.tensor([np.bool_(True)])
torch.tensor([torch.tensor(1.), torch.tensor(2)])
torch.tensor([torch.tensor(1., dtype=torch.float64), 2])
torch.tensor([torch.tensor(1), 2])
torch.tensor([torch.tensor([1,2])])
torch.tensor([torch.tensor([1])])
torch.tensor([torch.tensor([1.]), torch.tensor([2.])])
torch.tensor([torch.tensor([1.,2]), torch.tensor([2.,3])])
torch.tensor(2**63)
torch.tensor(2**62)
torch.tensor(2**64)
torch.tensor(-2**63-1)
torch.tensor([2**63])
torch.tensor('a')
torch.tensor(None)
torch.tensor([None])
torch.tensor(['a'])
torch.tensor([[1],[2,3]])
torch.tensor([[1,2],3])
torch.tensor([1,[2,3]])
torch.tensor(range(3))
torch.tensor((1,2))
torch.tensor({1,2})
torch.tensor({1:2})
torch.tensor(x for x in range(3))
torch.tensor([1,2],dtype=float)
torch.tensor([1,2],dtype=int)
torch.tensor([1,2],dtype=bool)
torch.tensor([1,2],dtype=complex)
torch.tensor([1,2],dtype='float32')
torch.tensor([1,2],dtype=np.float32)
torch.tensor([1.7,2],dtype=torch.int64)
torch.tensor([1.7,-2],dtype=torch.uint8)
torch.tensor(300,dtype=torch.uint8)
torch.tensor(300,dtype=torch.int8)
torch.tensor([300],dtype=torch.int8)
torch.tensor(-1,dtype=torch.uint8)
torch.tensor(1e10,dtype=torch.int32)
torch.tensor(1e300,dtype=torch.float32)
torch.tensor(1e5,dtype=torch.float16)
torch.tensor([1e5],dtype=torch.float16)
torch.tensor(float('nan'),dtype=torch.int64)
torch.tensor(1j,dtype=torch.float32)
torch.tensor([1+1j],dtype=torch.float32)
torch.tensor([1+1j],dtype=torch.int64)
torch.tensor([0.5],dtype=torch.bool)
torch.tensor([1,2],requires_grad=True)
torch.tensor([1.,2],requires_grad=True)
torch.tensor([1.,2],device='cpu')
torch.tensor([1.,2],device='cuda')
torch.tensor([1.,2],device='foo')
torch.tensor([1.,2],device=torch.device('cpu'))
torch.tensor([1.,2],device=0)
torch.tensor(1,2)
torch.tensor()
torch.tensor(data=[1])
torch.tensor(x)
torch.tensor(p)
torch.tensor(np.array(['a']))
torch.tensor(np.array([1,2],dtype=object))
torch.tensor(np.array([1,2],dtype=np.float16))
torch.tensor(np.array([1,2],dtype=np.uint16))
torch.tensor(np.array([1,2],dtype='>f4'))
torch.tensor(np.array([1,2],dtype=np.longdouble))
torch.tensor(np.arange(6)[::-1])
torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8)
torch.zeros(2,3)
torch.zeros((2,3))
torch.zeros([2,3])
torch.zeros(torch.Size([2]))
torch.zeros(())
torch.zeros()
torch.zeros(2, dtype=int)
torch.zeros(2.0)
torch.zeros(-1)
torch.zeros(torch.tensor(2))
torch.zeros(torch.tensor([2,3]))
torch.zeros((torch.tensor(2),3))
torch.zeros(np.int64(2))
torch.zeros((np.int64(2),))
torch.zeros(True)
torch.zeros(size=(2,))
torch.zeros('a')
torch.zeros((2,), 3)
torch.zeros(None)
torch.zeros(2, dtype=torch.long, requires_grad=True)
torch.zeros(2, out=torch.ones(2))
torch.zeros(3, out=torch.ones(2))
torch.zeros(2, out=torch.ones(2,dtype=torch.int64))
torch.zeros(2, dtype=torch.float32,out=torch.ones(2,dtype=torch.int64))
torch.full((2,),1)
torch.full((2,),1.)
torch.full((2,),True)
torch.full((2,),1j)
torch.full(2,1)
torch.full([2],torch.tensor(3))
torch.full([2],torch.tensor(3.,dtype=torch.float64))
torch.full((2,),1,dtype=torch.float64)
torch.full((2,),fill_value=2)
torch.full(size=(2,),fill_value=2.5,dtype=torch.int32)
torch.full((2,),300,dtype=torch.int8)
torch.full((2,),1j,dtype=torch.float32)
torch.full((2,),torch.tensor([1,2]))
torch.full((2,),'a')
torch.eye(2)
torch.eye(2,3)
torch.eye(2,3,dtype=torch.int64)
torch.eye(-1)
torch.eye(2,m=1)
torch.eye(0)
torch.eye(n=2)
torch.eye(2,dtype=bool)
torch.arange(3)
torch.arange(3.)
torch.arange(1,4)
torch.arange(1,4,2)
torch.arange(0,1,0.3)
torch.arange(1,0,-0.25)
torch.arange(1,0)
torch.arange(0,1,-1)
torch.arange(0,1,0)
torch.arange(end=3)
torch.arange(start=1,end=3)
torch.arange(0,end=3)
torch.arange(0,3,step=2)
torch.arange(start=1,end=3,step=2)
torch.arange(3,dtype=torch.float64)
torch.arange(3,dtype=torch.bool)
torch.arange(2,dtype=torch.bool)
torch.arange(torch.tensor(3))
torch.arange(torch.tensor(3.5))
torch.arange(torch.tensor(1.,dtype=torch.float64),3)
torch.arange(True)
torch.arange(float('inf'))
torch.arange(float('nan'))
torch.arange('a')
torch.arange()
torch.arange(1j)
torch.arange(2**40,2**40+2)
torch.arange(0.,1.,0.1)
torch.arange(0,2.5,dtype=torch.int64)
torch.arange(1,4,0.5,dtype=torch.int64)
torch.range(0,3)
torch.range(0,3,2)
torch.range(1,0)
torch.range(0.5,3)
torch.range(0,3,dtype=torch.int64)
torch.linspace(0,1,5)
torch.linspace(0,1,1)
torch.linspace(0,1,0)
torch.linspace(0,1,-1)
torch.linspace(0,1)
torch.linspace(start=0,end=1,steps=3)
torch.linspace(0,10,5,dtype=torch.int64)
torch.linspace(0,10,4,dtype=torch.int64)
torch.linspace(10,0,4,dtype=torch.int32)
torch.linspace(0,1j,3)
torch.linspace(torch.tensor(0.),torch.tensor(1.),3)
torch.linspace(torch.tensor([0.,1]),1,3)
torch.linspace(0,1,3,dtype=torch.float64)
torch.linspace(0,1,3.0)
torch.linspace(torch.tensor(0.,dtype=torch.float64),1,3)
torch.linspace(0,1,3,dtype=torch.complex64)
torch.logspace(0,2,3)
torch.logspace(0,2,3,2)
torch.logspace(0,2,3,base=2.0)
torch.logspace(0,2,3,dtype=torch.int64)
torch.logspace(0,1,2,base=-2)
torch.logspace(0,1,0)
torch.logspace(torch.tensor(0.),1,3)
torch.zeros_like(x)
torch.zeros_like(p)
torch.zeros_like(p, requires_grad=True)
torch.zeros_like(x, dtype=torch.int64)
torch.zeros_like([1])
torch.zeros_like(3)
torch.zeros_like(i)
torch.full_like(i, 2.5)
torch.full_like(x, 2)
torch.full_like(x, True)
torch.full_like(x, 1j)
torch.full_like(i, 2.5, dtype=torch.float64)
torch.full_like(x, torch.tensor(3))
torch.ones_like(x.t()).stride()
torch.zeros_like(x, memory_format=torch.contiguous_format)
torch.empty_like(x).shape
torch.empty(2,3).shape
torch.empty_strided((2,3),(1,2)).stride()
torch.empty_permuted((2,3),(1,0)).stride()
x.new_zeros(2,3)
x.new_zeros((2,3))
i.new_zeros(2)
i.new_ones(2,dtype=torch.float64)
x.new_full((2,),3)
i.new_full((2,),3.5)
i.new_full((2,),3.5,dtype=torch.float32)
x.new_empty(2,3).shape
x.new_empty((2,3)).shape
x.new_empty_strided((2,3),(3,1)).stride()
x.new_tensor([1,2])
i.new_tensor([1.5,2])
x.new_tensor([1,2],requires_grad=True)
x.new_tensor(p)
x.new(2,3).shape
x.new([1,2])
x.new()
i.new([1,2])
torch.complex(x,x)
torch.complex(x,x.double())
torch.complex(i,i)
torch.complex(x.double(),x.double()).dtype
torch.complex(p,p)
torch.complex(torch.tensor(1.),torch.tensor([1.,2]))
torch.complex(1.,2.)
torch.polar(x,x).dtype
torch.polar(p,p)
torch.polar(i,i)
torch.Tensor(2,3).shape
torch.Tensor([1,2])
torch.Tensor((1,2))
torch.Tensor(3).shape
torch.Tensor(torch.Size([2,3])).shape
torch.Tensor()
torch.Tensor(np.array([1,2]))
torch.Tensor(np.arange(3,dtype=np.float32))
torch.Tensor(x)
torch.Tensor(i)
torch.Tensor(p)
torch.Tensor(2.5)
torch.Tensor('a')
torch.Tensor([1,2],device='cpu')
torch.Tensor([1j])
torch.Tensor(np.float32(2))
torch.Tensor([[1,2],[3,4]])
torch.Tensor(range(3))
torch.FloatTensor([1,2])
torch.FloatTensor(2,3).shape
torch.DoubleTensor([1,2])
torch.LongTensor([1.7,2])
torch.LongTensor(2).shape
torch.IntTensor([1])
torch.BoolTensor([1,0])
torch.ByteTensor([1,0])
torch.CharTensor([1,0])
torch.ShortTensor([1,0])
torch.HalfTensor([1,0])
torch.ComplexFloatTensor([1j])
torch.LongTensor(x)
torch.FloatTensor(x)
torch.FloatTensor(i)
torch.DoubleTensor(np.arange(3.))
torch.FloatTensor(np.arange(3.))
torch.FloatTensor()
torch.tensor([1.0,2]).requires_grad_(True).detach()._is_view()
torch.zeros(0,3).stride()
torch.zeros(2,1,3).stride()
torch.tensor(1.).stride()
torch.tensor([float('nan'),float('inf')]).int()
torch.tensor([-1.5,1.5,300.]).byte()
torch.tensor([3e9]).int()
torch.tensor([-1]).byte()
torch.tensor([[3]]).item()
torch.tensor([]).item()
torch.tensor(2.5,dtype=torch.float32).item()
torch.tensor(0.1).item()
torch.tensor(0.1,dtype=torch.float16).item()
torch.tensor(3).tolist()
torch.tensor([]).tolist()
torch.zeros(2,0).tolist()
torch.empty(2,3,pin_memory=False).shape
torch.zeros(2,layout=torch.strided)
torch.zeros(2,foo=3)
torch.zeros(2,names=None)
torch.zeros(2,3,(4,))
torch.zeros([2,3],dtype=None)
torch.zeros(2,dtype=torch.float16,requires_grad=True)
torch.ones(2,3,dtype=torch.complex64)
torch.ones(*x.shape)
torch.ones(x.shape)
torch.ones(x.size(0),1)
torch.ones(i[2])
torch.ones(i[2:3])
torch.full((),3.)
torch.full((2,),float('nan'))
torch.full((2,),np.float64(2))
torch.full((2,),np.float32(2))
torch.full((2,),np.int64(2))
torch.full((2,),p[0])
torch.arange(np.int64(3))
torch.arange(np.float64(3))
torch.arange(0,np.float32(3),1)
torch.arange(0,5,2,requires_grad=True)
torch.arange(0.,5,2,requires_grad=True)
torch.arange(5,dtype=float)
torch.arange(5).float()
torch.arange(0,10,3,dtype=torch.float16)
torch.arange(10,dtype=torch.uint8)
torch.arange(0,5,layout=torch.strided,device='cpu')
torch.arange(5,2,-1)
torch.arange(-3,3)
torch.arange(0)
torch.arange(-3)
torch.arange(1,2.5)
torch.arange(3,dtype=torch.complex64)
torch.linspace(-1,1,4).dtype
torch.linspace(0,1,steps=torch.tensor(3))
torch.linspace(p[0],1,3)
torch.linspace(0,1,np.int64(3))
torch.tensor(torch.nn.Parameter(torch.ones(2)))
torch.tensor(np.arange(3)).dtype
torch.tensor([np.arange(3),np.arange(3)])
torch.tensor([[np.float32(1),2.]])
torch.tensor([True,False]).dtype
torch.tensor([1,True])
torch.tensor([1,2.5,True])
torch.tensor([1j,True])
torch.tensor([[1,2],[3,4.]])
torch.tensor([[[1]]])
torch.tensor(3)
torch.tensor(3.)
torch.tensor(True)
torch.tensor(1j)
torch.tensor([np.float16(1)])
torch.tensor([np.float32(1),np.float64(2)])
torch.tensor([np.int8(1),np.int8(2)])
torch.tensor([np.complex128(1)])
torch.tensor([np.uint8(3),2])
torch.tensor(np.uint8(3))
torch.tensor([[1,2],[3]])
torch.tensor([(1,2),[3,4]])
torch.tensor([range(2),range(2)])
torch.tensor([{1:2}])
torch.tensor([[],[1]])
torch.tensor([1,[]])
torch.tensor("")
torch.tensor(b'ab')
torch.tensor([1,2],dtype=torch.float32,requires_grad=True)
torch.tensor([1,2],pin_memory=False)
torch.tensor([1,2],foo=3)
torch.tensor(object())
torch.tensor([object()])
torch.tensor(lambda: 3)
torch.tensor(np.array([1.,2.]),dtype=torch.float32)
torch.tensor(np.array([1.5,2.]),dtype=torch.int64)
torch.tensor(np.array([300,2.]),dtype=torch.uint8)
torch.tensor(np.array([1j]),dtype=torch.float32)
torch.tensor(x,dtype=torch.int64)
torch.tensor([x[0,1],x[0,2]])
torch.tensor([p[0],p[1]])
torch.tensor([p[0],p[1]],requires_grad=True)
torch.tensor([np.array(1.),np.array(2.)])
torch.tensor([np.array([1.]),2.])
torch.tensor([2.,np.array([1.,2])])
torch.tensor(float('inf'),dtype=torch.float32)
torch.tensor(2**40,dtype=torch.int32)
torch.tensor(2**40,dtype=torch.float32)
torch.tensor(2**70,dtype=torch.float32)
torch.tensor(2**70,dtype=torch.float64)
torch.tensor([1.5,2**65])
torch.tensor([2**63-1])
torch.tensor(2**63,dtype=torch.uint64)
torch.tensor(-5,dtype=torch.uint16)
torch.tensor(-300,dtype=torch.uint8)
torch.tensor([2.0**63],dtype=torch.int64)
torch.tensor([1e20],dtype=torch.int64)
torch.tensor(True,dtype=torch.float32)
torch.tensor('1',dtype=torch.float32)
torch.tensor(['1'],dtype=torch.float32)
torch.tensor(None,dtype=torch.float32)
torch.tensor([None],dtype=torch.float32)
torch.tensor([1,None])
torch.tensor([[1,2],[3,'a']])
"""
)

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
torch.poisson(torch.tensor([1.,2.])).dtype
torch.poisson(torch.tensor([-1.]))
torch.poisson(i)
torch.binomial(torch.tensor([10.]),torch.tensor([1.]))
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
x.cauchy_().shape
x.cauchy_(0,-1)
x.cauchy_(median=0,sigma=1).shape
x.log_normal_().min()>0
x.log_normal_(1,2).shape
x.log_normal_(1,-2).shape
x.geometric_(0.5).min()>=1
x.geometric_(1.5)
x.geometric_(0)
i.geometric_(0.5).dtype
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

TENSORS = lines(
    r"""
torch.from_numpy(np.arange(6)[::-1])
torch.from_numpy(np.float64(2))
torch.from_numpy([1])
torch.from_numpy(np.array(['a']))
torch.from_numpy(np.zeros((2,0)))
torch.as_tensor([1,2.])
torch.as_tensor(x) is x
torch.as_tensor(x, dtype=torch.float64)
torch.as_tensor(np.arange(3.))
torch.as_tensor(3)
torch.as_tensor(p, dtype=torch.float64)
torch.asarray([1,2.])
torch.asarray(x) is x
torch.asarray(p, requires_grad=True)
torch.asarray(p)
torch.asarray(np.arange(3), copy=True)
torch.asarray([1], copy=False)
torch.asarray(x, dtype=torch.float64, copy=False)
torch.asarray(b'abc', dtype=torch.uint8)
torch.scalar_tensor(3)
torch.scalar_tensor(3,dtype=torch.int64)
torch.scalar_tensor(True)
torch.scalar_tensor(1j)
isinstance(x, torch.FloatTensor)
isinstance(i, torch.FloatTensor)
isinstance(i, torch.LongTensor)
isinstance(x, torch.Tensor)
x.shape
x.size()
x.size(0)
x.size(-1)
x.size(dim=1)
x.size(5)
x.stride()
x.stride(0)
x.stride(5)
x.t().stride()
x.dim()
x.ndim
x.ndimension()
x.numel()
x.nelement()
x.element_size()
x.itemsize
x.nbytes
x.is_contiguous()
x.t().is_contiguous()
x[1:].storage_offset()
x[1:,1:].storage_offset()
x[1:].data_ptr()-x.data_ptr()
x.is_floating_point()
x.is_complex()
x.is_signed()
x.device
x.is_cuda
x.is_sparse
x.is_quantized
x.is_meta
x.is_cpu
x.is_conj()
x.is_neg()
x.is_pinned()
x.is_shared()
x.name
p.name
x.get_device()
x.dim_order()
x.dense_dim()
x.T
x.to(torch.float64)
x.to('cpu') is x
x.to(torch.float32) is x
x.to(torch.float32,copy=True) is x
x.to(device='cpu',dtype=torch.int64)
x.to('cpu',torch.int64)
x.to(torch.device('cpu'),torch.int64,True)
x.to(i)
x.to('cuda')
x.to('mps')
x.to('foo')
x.to(dtype=torch.half)
x.to(int)
x.to(float)
x.to(None)
x.to()
x.to(3)
x.to(np.float64)
x.to(torch.float64, non_blocking=True)
x.to(memory_format=torch.contiguous_format)
x.to(other=i)
p.to(torch.float64)
p.to(torch.int64)
x.type()
i.type()
b.type()
c.type()
x.type(torch.float64)
x.type('torch.DoubleTensor')
x.type(torch.DoubleTensor)
x.type(torch.float32) is x
x.type('foo')
x.type(dtype=torch.int32)
x.type_as(i)
x.type_as(3)
x.float() is x
x.double()
x.half()
x.int()
x.long()
x.short()
x.char()
x.byte()
x.bool()
x.cfloat()
x.cdouble()
x.cpu() is x
x.cuda()
p.double()
c.float()
c.long()
c.bool()
c.double()
x.item()
x[0,0].item()
b[0].item()
c.item()
p.tolist()
x.tolist()
c.tolist()
b.tolist()
x.numpy()
p.numpy()
p.numpy(force=True)
p.detach().numpy()
np.asarray(x)
np.asarray(p)
np.array(x, dtype=np.float64)
np.sin(x)
np.sin(p)
np.add(x,1)
np.add(x,x)
np.max(x)
np.exp(torch.tensor(1.))
np.sqrt(i)
np.array([torch.tensor(1.),torch.tensor(2.)])
np.array([x,x]).shape
np.stack([x,x]).shape
np.concatenate([x,x]).shape
np.dot(x[0],x[0])
np.float64(2)*x
np.float32(2)*i
np.float64(2)*i
np.float64(2)*p
x*np.float64(2)
i*np.float64(2)
i+np.int32(2)
np.int64(2)*x
np.int64(3)+i
np.array(2.)*x
np.array([1.,2.,3.])*x
x*np.array([1.,2.,3.])
x+np.array([1.,2.,3.])
x*np.array(2.)
x+np.array(2.)
np.array([1.,2.,3.])+x
np.array([1.,2.,3.])-x
np.array([1.,2.,3.])/x
x-np.array([1.,2.,3.])
x/np.array([1.,2.,3.])
x@np.ones(3)
x@np.ones(3,dtype=np.float32)
np.ones(2)@x
np.array([1.,1.])*p
p*np.array([1.,1.])
p+np.array([1.,1.])
p+np.float64(1)
p*np.float64(2)
np.float64(2)+p
np.float64(2)**p
p**np.float64(2)
x==np.array([0.,1.,2.])
np.array([0.,1.,2.])==x
x<np.array([0.,1.,2.])
x<np.float64(2)
np.float64(2)<x
x+[1,2,3]
x*[1,2,3]
[1,2,3]*x
x+'a'
x==None
x!=None
x=='a'
x<None
torch.add(x,np.ones(3))
torch.add(x,np.float64(1))
torch.sin(np.ones(3))
torch.mul(2,x)
torch.add(2,x)
torch.add(2,3)
np.float64(2)@x
float(x[0,1])
float(x)
int(x[1,1])
int(torch.tensor(2.7))
bool(x)
bool(x[0,0])
bool(torch.tensor([]))
bool(torch.tensor([2]))
complex(c)
complex(x[0,1])
float(c)
int(c)
float(b[0])
int(torch.tensor(float('nan')))
[1,2,3][torch.tensor(1)]
[1,2,3][torch.tensor(1.)]
[1,2,3][torch.tensor([1])]
[1,2,3][torch.tensor(True)]
range(torch.tensor(3))
hex(torch.tensor(3))
round(torch.tensor(2.6))
round(torch.tensor(2.64),1)
abs(torch.tensor(-2.))
divmod(torch.tensor(5),2)
divmod(5,torch.tensor(2))
len(x)
len(torch.tensor(1))
len(torch.zeros(0,3))
list(x)
list(torch.tensor(1))
list(p)
[t.requires_grad for t in p]
1.0 in x
9.0 in x
x[0,0] in x
x[0] in x
'a' in x
None in x
[1] in x
list(reversed(x))
reversed(torch.tensor(1))
format(x[0,1],'.3f')
format(x,'.3f')
format(x[0,1],'d')
format(i[1],'d')
format(i[1],'05d')
'%.2f' % x[0,1]
'%d' % i[1]
'%s' % x[0,1]
f'{x[0,1]}'
f'{p[0]}'
f'{p[0]:.2f}'
f'{x}'
f'{x:>5}'
f'{c[0]:.2f}'
str(x[0,1])
copy.copy(p)
copy.copy(p) is p
copy.deepcopy(p)
copy.deepcopy(p*2)
copy.deepcopy(x)
pickle.loads(pickle.dumps(x))
pickle.loads(pickle.dumps(p))
pickle.loads(pickle.dumps(p*2))
pickle.loads(pickle.dumps(torch.float32))
pickle.loads(pickle.dumps(torch.Size([1,2])))
pickle.loads(pickle.dumps(torch.device('cpu')))
x.__array__()
x.__array__(np.float64)
x.__array__(dtype=np.int64)
x.__array_wrap__(np.ones(3))
x.__array_wrap__(np.ones(3,dtype=bool))
memoryview(x)
np.from_dlpack(x)
torch.from_dlpack(np.arange(3.))
torch.from_dlpack(x)
x.__cuda_array_interface__
torch.Size([2,3])
torch.Size((2,3)).numel()
torch.Size([]).numel()
torch.Size([2,3])+(4,)
(4,)+torch.Size([2,3])
torch.Size([2,3])+torch.Size([2])
torch.Size([2,3])[0]
torch.Size([2,3])[:1]
torch.Size([2,3])*2
2*torch.Size([2,3])
torch.Size([2,3])==(2,3)
torch.Size([2.5])
torch.Size(['a'])
torch.Size(3)
torch.Size()
torch.Size([torch.tensor(3)])
torch.Size([2,3])+[1]
torch.Size([2,3]).count(2)
str(torch.Size([2]))
x.shape+(1,)
(1,)+x.shape
[*x.shape,1]
x.shape[-1]
x.shape[1:]
x.shape==[2,3]
isinstance(x.shape,tuple)
torch.device('cpu')
torch.device('cpu',0)
torch.device('cpu:0')
torch.device('cpu:1')
torch.device('cuda')
torch.device('cuda:0')
torch.device('cuda',1)
torch.device(0)
torch.device('foo')
torch.device('cpu:a')
torch.device(type='cpu')
torch.device('mps')
torch.device('meta')
torch.device(torch.device('cpu'))
torch.device(None)
torch.device('cpu').type
torch.device('cpu').index
torch.device('cuda:1').index
torch.device('cpu')=='cpu'
torch.device('cpu')==torch.device('cpu')
str(torch.device('cuda:1'))
x.device=='cpu'
x.device==torch.device('cpu')
x.device.type
torch.finfo(torch.float32)
torch.finfo()
torch.finfo(torch.float64).eps
torch.finfo(torch.float32).max
torch.finfo(torch.float16).tiny
torch.finfo(torch.float32).resolution
torch.finfo(torch.float32).bits
torch.finfo(torch.float32).dtype
torch.finfo(torch.complex64)
torch.finfo(torch.int64)
torch.iinfo(torch.int64)
torch.iinfo(torch.uint8)
torch.iinfo(torch.float32)
torch.iinfo(torch.bool)
torch.iinfo(torch.int32).max
torch.iinfo(torch.int32).dtype
torch.can_cast(torch.float64,torch.int64)
torch.can_cast(torch.int64,torch.float16)
torch.can_cast(torch.complex64,torch.float64)
torch.promote_types(torch.int32,torch.float32)
torch.promote_types(torch.uint8,torch.int8)
torch.promote_types(torch.uint16,torch.int8)
torch.promote_types(torch.uint64,torch.int64)
torch.promote_types(torch.uint64,torch.float32)
torch.promote_types(torch.float16,torch.complex64)
torch.promote_types(3,4)
torch.result_type(x,1)
torch.result_type(i,1.0)
torch.result_type(i,torch.tensor(1.,dtype=torch.float64))
torch.result_type(1,2.0)
torch.result_type(x,1j)
torch.result_type('a',2.0)
torch.is_tensor(3)
torch.is_floating_point(x)
torch.is_floating_point(3)
torch.is_complex(c)
torch.is_nonzero(torch.tensor(1.))
torch.is_nonzero(x)
torch.is_nonzero(torch.tensor([]))
torch.is_same_size(x,x)
torch.is_same_size(x,i)
torch.is_signed(x)
torch.is_conj(c)
torch.is_storage(x)
torch.numel(x)
torch.numel(3)
x.requires_grad
x.detach_()
p.detach_()
(p*2).detach_()
torch.detach(p)
p.detach().requires_grad
p.data
x.requires_grad_()
i.requires_grad_()
x.requires_grad_('a')
(p*2).requires_grad_(False)
p.retain_grad()
x.retain_grad()
(p*2).retain_grad()
p.retains_grad
(p*2).retains_grad
p.is_leaf
p.output_nr
p._base
p[0]._base is p
p[0]._is_view()
p._is_view()
p.detach()._is_view()
p._version
p.grad
(p*2).grad
torch.equal(x,x)
torch.equal(x,i)
torch.equal(x,x.double())
torch.equal(x,3)
torch.equal(torch.tensor([float('nan')]),torch.tensor([float('nan')]))
x.equal(x)
torch.allclose(x,x+1e-9)
torch.allclose(x,x.double())
torch.allclose(i,i)
torch.allclose(x,x,equal_nan=True)
torch.allclose(x,x[:1])
torch.allclose(x,3)
torch.allclose(torch.tensor([float('nan')]),torch.tensor([float('nan')]),equal_nan=True)
torch.allclose(x,x+0.1,atol=1)
torch.allclose(x,x+0.1,1,1)
torch.isclose(x,x+1e-9)
torch.isclose(x,x.double())
torch.isclose(i,i)
torch.isclose(b,b)
torch.isclose(c,c)
torch.isclose(torch.tensor([float('inf'),float('nan')]),torch.tensor([float('inf'),float('nan')]))
torch.isclose(x,x,rtol=-1)
torch.isclose(i,i+1,rtol=0.5)
torch.typename(x)
torch.typename(3)
torch.strided
torch.sparse_coo
torch.float32
repr(torch.dtype)
torch.float32.is_floating_point
torch.float32.itemsize
torch.float32.is_signed
torch.uint8.is_signed
torch.bool.is_signed
torch.float32.to_complex()
torch.int64.to_complex()
torch.complex64.to_real()
torch.int64.to_real()
str(torch.int64)
x.apply_(lambda v: v+1)
p.apply_(lambda v: v+1)
x.map_(x, lambda a,b: a+b)
x.set_(i.float())
x.untyped_storage().nbytes()
x.storage().size()
x.volatile
x.resize_(3)
x.resize_(3,4).shape
p.resize_(1)
x.nonzero_thing
x.pin_memory()
x.share_memory_() is x
x.is_set_to(x)
x.as_subclass(torch.Tensor)
x.is_same_size(x)
x.copy_(x+1)
x.fill_(3)
x.zero_()
torch.nan
torch.bartlett_window(3)
torch.hann_window(4)
torch.hamming_window(4)
torch.kaiser_window(4)
torch.finfo(torch.float32)==torch.finfo(torch.float32)
torch.from_numpy(np.arange(3,dtype=np.float32))
torch.from_numpy(np.array(1.))
torch.as_tensor(np.float32(3))
torch.as_tensor([1,2],dtype=torch.float32,device='cpu')
torch.as_tensor(np.arange(3),dtype=torch.int64)
torch.as_tensor(x,device='cpu') is x
torch.as_tensor('a')
torch.as_tensor([torch.tensor(1.),torch.tensor(2.)])
torch.as_tensor((x,))
torch.asarray(3)
torch.asarray(3.,dtype=torch.int32)
torch.asarray(np.float64(3))
torch.asarray([1.,2.],requires_grad=True)
"""
)

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
torch.scalar_tensor(2.5, dtype=torch.float64)
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
x.is_set_to(x.view(2, 3))
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

SETTINGS = lines(
    r"""
torch.get_default_dtype()
torch.get_default_device()
torch.cuda.is_available()
torch.cuda.device_count()
torch.backends.mps.is_available()
torch.backends.cudnn.deterministic
torch.backends.cudnn.benchmark
torch.backends.cudnn.enabled
torch.cuda.synchronize()
torch.cuda.empty_cache()
torch.cuda.current_device()
torch.cuda.get_device_name()
torch.version.cuda
torch.backends.cuda.matmul.allow_tf32
torch.xpu.is_available()
torch.mps.is_available()
torch.accelerator.is_available()
torch.accelerator.current_accelerator()
torch.testing.assert_close(x,x)
torch.testing.assert_close(x,x+1)
torch.testing.assert_close(x,x.double())
torch.testing.assert_close(x,x.double(),check_dtype=False)
torch.testing.assert_close(1.0,1.0)
torch.testing.assert_close([x,1],[x,1])
torch.testing.assert_close({'a':x},{'a':x})
torch.testing.assert_close(x,i)
torch.testing.assert_close(x,x+1e-3,atol=1e-2,rtol=0)
torch.testing.assert_close(x,x,atol=1e-2)
torch.testing.assert_close(np.ones(3),np.ones(3))
torch.testing.assert_close('a','a')
torch.testing.assert_close(torch.tensor([float('nan')]),torch.tensor([float('nan')]))
torch.testing.assert_close(torch.tensor([float('nan')]),torch.tensor([float('nan')]),equal_nan=True)
torch.testing.assert_close(1,1.0)
torch.testing.assert_close(i,i+1,msg='hey')
torch.testing.assert_close(x,[1])
torch.testing.make_tensor((2,3),dtype=torch.float32,device='cpu').shape
torch.testing.assert_allclose(x,x)
torch.compile(lambda v: v+1)(x)
torch.backends.cudnn.is_available()
torch.backends.cudnn.version()
torch.has_cuda
torch.is_anomaly_enabled()
"""
)


@pytest.mark.parametrize("expression", CREATION)
def test_creation_expressions_agree(expression: str) -> None:
    check(expression)


@pytest.mark.parametrize("expression", RANDOM)
def test_random_expressions_agree(expression: str) -> None:
    check(expression)


@pytest.mark.parametrize("expression", TENSORS)
def test_tensors_expressions_agree(expression: str) -> None:
    check(expression)


@pytest.mark.parametrize("expression", FURTHER)
def test_further_expressions_agree(expression: str) -> None:
    check(expression)


@pytest.mark.parametrize("expression", SETTINGS)
def test_settings_expressions_agree(expression: str) -> None:
    check(expression)


# -- gradients and memory --------------------------------------------------------------------------


def converted(*kinds: str) -> Any:
    """Return a program that differentiates through a chain of conversions."""

    def program(torch: Any) -> Any:
        x = torch.tensor([1.5, -2.0, 3.0], requires_grad=True)
        y = x * x
        for kind in kinds:
            y = y.to(getattr(torch, kind))
        if y.is_complex():
            y = y * (2 + 1j)
            y = y.real + y.imag
        (y * y).sum().backward()
        return x.grad, y

    return program


@pytest.mark.parametrize(
    "kinds",
    [
        ("float64",), ("float16",), ("float64", "float32"), ("complex64",), ("complex128",),
        ("float64", "complex64"), ("float32",), ("complex64", "float64"), ("int64",), ("bool",),
        ("float64", "int64", "float32"),
    ],
    ids="-".join,
)  # fmt: skip
def test_gradients_go_through_conversions(kinds: tuple[str, ...]) -> None:
    compare(converted(*kinds))


def _second_order(torch: Any) -> Any:
    x = torch.tensor([1.5, -2.0], requires_grad=True)
    y = (x.double() ** 3).float()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    return g, h


def _complex_parts(torch: Any) -> Any:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([0.5, -3.0], requires_grad=True)
    z = torch.complex(a, b) * (1 + 2j)
    (z * z).real.sum().backward()
    return z, a.grad, b.grad


def _polar_parts(torch: Any) -> Any:
    a = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
    b = torch.tensor([0.5, -3.0], requires_grad=True, dtype=torch.float64)
    z = torch.polar(a, b)
    (z.real * z.imag).sum().backward()
    (h,) = torch.autograd.grad(torch.polar(a, b).real.sum(), b, create_graph=True)
    return z, a.grad, b.grad, torch.autograd.grad(h.sum(), [a, b])


def _legacy_alias(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = torch.Tensor(x)
    (y * 3).sum().backward()
    return y, x.grad


def _as_tensor_keeps_the_graph(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = torch.as_tensor(x * 2, dtype=torch.float64)
    y.sum().backward()
    return y, x.grad


def _type_as(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x.type_as(torch.zeros(1, dtype=torch.float64)) * 2
    y.type(torch.float32).sum().backward()
    return x.grad


def _numpy_shares(torch: Any) -> Any:
    x = torch.zeros(3)
    a = x.numpy()
    a[0] = 5
    x[1] = 7
    x.add_(1)
    return x, a


def _from_numpy_shares(torch: Any) -> Any:
    a = np.zeros((2, 2))
    x = torch.from_numpy(a)
    x[0, 0] = 3
    a[1, 1] = 4
    y = torch.as_tensor(a)
    y.mul_(2)
    z = torch.tensor(a)
    z.zero_()
    return x, y, a.tolist(), torch.asarray(a).data_ptr() == a.ctypes.data


def _detach_shares(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    d = y.detach()
    d[0] = 10
    x.data[1] = 4
    return x, y, d, y._version, d._version, d.requires_grad, x.detach().is_leaf


def _detached_in_place(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * 3
    y.detach_()
    z.sum().backward()
    return y, y.is_leaf, x.grad


def _write_to_detached(torch: Any) -> Any:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.detach().zero_()
    y.sum().backward()


def _iteration(torch: Any) -> Any:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    total = 0
    for k, row in enumerate(x):
        for v in row:
            total = total + v * v * (k + 1)
    total.backward()
    return total, x.grad


def _deepcopy(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.note = "kept"
    y, z = copy.deepcopy([x, x])
    (y * 3).sum().backward()
    return x, y, y is z, y is x, y.note, y.grad, x.grad


def _shallow_copy(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0])
    y = copy.copy(x)
    y[0] = 9
    return x, y, x is y


def _pickled(torch: Any) -> Any:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y, s, k = pickle.loads(pickle.dumps((x, x.shape, x.dtype)))
    (y * y).sum().backward()
    t = pickle.loads(pickle.dumps(x.t()))
    return y, s, k, t, x.grad


def _retained(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    before = y.retains_grad
    (y * y).sum().backward()
    return before, y.grad, x.grad, x.retains_grad, y.is_leaf


def _data_replaced(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    x.data = torch.tensor([3.0, 4.0])
    (x * x).sum().backward()
    return x, x.grad


def _default_dtype(torch: Any) -> Any:
    torch.set_default_dtype(torch.float64)
    found = (
        torch.tensor(1.5), torch.zeros(2), torch.arange(0, 1, 0.25), torch.tensor(1j),
        torch.full((1,), 2.0), torch.linspace(0, 1, 3), torch.tensor([1, 2]) / 2, torch.eye(2),
        torch.rand(1).dtype, torch.get_default_dtype(), torch.tensor([1]) + 1.5, torch.Tensor([1]),
    )  # fmt: skip
    text = repr((torch.tensor(1.5), torch.tensor(1.5, dtype=torch.float32), torch.tensor(1j)))
    torch.set_default_dtype(torch.float32)
    return found, text


def _sizes(torch: Any) -> Any:
    x = torch.zeros(2, 3, 4)
    n, *rest = x.shape
    return (
        n, rest, x.size(), x.size(-1), x.shape[1:], (*x.shape[:-1], 7), (7, *x.shape), len(x.shape),
        x.shape.numel(), x.shape == (2, 3, 4), x.shape == torch.Size([2, 3, 4]), list(x.shape),
        torch.zeros(x.shape[-1]), torch.zeros(x.shape[:2]), {x.shape: 1}[(2, 3, 4)], str(x.shape),
        f"{x.shape}", f"{tuple(x.shape)}", x.size(0) * 2, x.dim(), max(x.shape),
    )  # fmt: skip


def _numbers(torch: Any) -> Any:
    t = torch.tensor(2.5)
    n = torch.tensor(3)
    return (
        float(t), int(t), bool(t), n.item(), [1, 2, 3, 4][n], f"{t:.3f}", f"{t:.2f}", f"{n:4d}|",
        f"{t}", str(t), range(n), complex(t), np.float64(t), round(float(t), 1), t.tolist(),
        sum([torch.tensor(1.0), torch.tensor(2.0)]), max(torch.tensor(1.0), t), sorted([t, n])[0],
        [10, 20, 30, 40][torch.tensor([1])], abs(-t), -t, +t, t.numpy(), np.asarray(n),
    )  # fmt: skip


def _numpy_functions(torch: Any) -> Any:
    x = torch.tensor([1.0, 4.0])
    return (
        np.sqrt(x), np.add(x, 1), np.add(x, np.ones(2)), np.array(x), np.asarray(x, np.float64),
        np.concatenate([x, x]), np.stack([x, x]), np.array([x.numpy(), x.numpy()]), np.dot(x, x),
        np.allclose(x, x), np.array_equal(x, x), np.float64(2) * x, x * np.float64(2),
        x * np.ones(2),
        np.linalg.norm(x), np.isfinite(x), np.where(x > 2, 1, 0), np.broadcast_to(x, (3, 2)),
    )  # fmt: skip


def _types_shown(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    return [repr(type(v)) for v in (x, x.shape, x.dtype, x.device)], type(x) is torch.Tensor


def _resized(torch: Any) -> Any:
    x = torch.arange(6.0)
    x.resize_(2, 3)
    y = torch.arange(4.0)
    y.resize_as_(torch.zeros(2))
    return x, y


def _set_to(torch: Any) -> Any:
    x, y = torch.zeros(2), torch.ones(3)
    x.set_(y)
    y[0] = 5
    return x, y


def _strides(torch: Any) -> Any:
    x = torch.arange(24.0).reshape(2, 3, 4)
    found = [
        x,
        x.transpose(0, 2),
        x[:, ::2],
        x[..., 1],
        x.expand(2, 2, 3, 4),
        x[0, 0, 0],
        x[1:, 1:],
    ]
    return [(t.stride(), t.storage_offset(), t.is_contiguous()) for t in found], [
        torch.empty_like(t).stride() for t in found[:2]
    ]


def _storages(torch: Any) -> Any:
    x = torch.arange(6.0).reshape(2, 3)
    y, z = x[1], x.clone()
    return (
        x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr(),
        x.untyped_storage().data_ptr() == z.untyped_storage().data_ptr(),
        x.storage().data_ptr() == y.storage().data_ptr(),
        y.data_ptr() - x.data_ptr(),
        x.storage().tolist(),
        len(x.storage()),
        y.untyped_storage().nbytes(),
    )


def _equal_to_arrays(torch: Any) -> Any:
    x = torch.arange(3.0)
    a = np.array([0.0, 5.0, 2.0])
    return x == a, a == x, x**a, x - a, (x + 1) / a.clip(1), a / (x + 1), x != a


def _inplace_with_array(torch: Any) -> Any:
    x = torch.arange(3.0)
    x += np.ones(3)
    return x


def _device_usage(torch: Any) -> Any:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.ones(2, device=device).to(device)
    with torch.device("cpu"):
        y = torch.zeros(2)
    return x, y, x.device, str(device), x.device.type, x.is_cuda, x.cpu() is x, x.get_device()


def _switches(torch: Any) -> Any:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    on = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("high")
    found = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    after = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = before
    torch.set_default_device("cpu")
    torch.set_default_device(None)
    return torch.get_num_threads(), on, found, before, after


def _decorated(torch: Any) -> Any:
    @torch.jit.ignore
    def f(x: Any) -> Any:
        return x * 2

    return f(torch.ones(2)), torch.jit.is_scripting()


def _windows(torch: Any) -> Any:
    kinds = ("hann", "hamming", "blackman", "bartlett", "kaiser")
    made = [getattr(torch, f"{k}_window") for k in kinds]
    return (
        [w(n, periodic=p, dtype=torch.float64)
         for w in made for n in (0, 1, 5, 8) for p in (True, False)],
        torch.kaiser_window(6, True, 8.0), torch.hamming_window(6, True, 0.5, 0.5),
        torch.hann_window(4).dtype,
    )  # fmt: skip


def _bad_window(torch: Any) -> Any:
    return torch.hann_window(4, dtype=torch.int64)


def _casts_that_do_not_fit(torch: Any) -> Any:
    x = torch.tensor([-1.5, 1.5, 300.0, 3e9])
    return [x.to(k) for k in (torch.int64, torch.bool, torch.float16)], [
        torch.tensor([-1, 300, 70000]).to(k) for k in (torch.uint8, torch.int8, torch.int16)
    ]


def _applied(torch: Any) -> Any:
    x = torch.arange(3.0)
    x.apply_(lambda v: v * v + 1)
    y = torch.arange(3)
    y.map_(torch.tensor([5, 6, 7]), lambda a, b: a * b)
    return x, y


def _out(torch: Any) -> Any:
    out = torch.empty(3)
    found = torch.ones(3, out=out)
    other = torch.empty(0, dtype=torch.float64)
    torch.arange(4, out=other)
    torch.linspace(0, 1, 3, out=out)
    return (
        found is out,
        out,
        other,
        torch.eye(2, out=torch.empty(2, 2)),
        torch.full((2,), 3.0, out=other),
    )


def _channels_last(torch: Any) -> Any:
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    y = x.to(memory_format=torch.channels_last)
    return y, y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=torch.channels_last)


def _close(torch: Any) -> Any:
    x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 0.0])
    y = torch.tensor([1.0 + 1e-6, float("nan"), float("inf"), float("inf"), 1e-9])
    z = torch.tensor([1 + 1j, 2.0])
    return (
        torch.isclose(x, y), torch.isclose(x, y, equal_nan=True), torch.isclose(x, y,
        rtol=0, atol=0),
        torch.allclose(x, y), torch.isclose(z, z + 1e-9), x.isclose(y, 0.1, 0.1), x.allclose(x),
        torch.isclose(torch.tensor([1, 2]), torch.tensor([1, 3]), atol=1),
        torch.equal(x, x.clone()),
        torch.isclose(x[:, None], y), torch.isclose(torch.zeros(0), torch.zeros(0)),
    )  # fmt: skip


def _subclass(torch: Any) -> Any:
    class Mine(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Mine)
    return type(x).__name__, repr(x), isinstance(x, torch.Tensor)


PROGRAMS = [v for k, v in sorted(globals().items()) if k.startswith("_") and k[1] != "_"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs_agree(program: Any) -> None:
    compare(program)


# -- printing --------------------------------------------------------------------------------------


def array(rng: np.random.Generator) -> np.ndarray:
    """Return an array of a random shape, dtype and habit."""
    if rng.random() < 0.8:
        shape = tuple(int(n) for n in rng.integers(rng.random() < 0.9, 9, rng.integers(0, 5)))
    else:
        shape = tuple(int(n) for n in rng.integers(5, 60, rng.integers(1, 3)))
    value = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 9)
    chosen = rng.random(shape)
    value = [
        value,
        np.round(value),
        np.where(chosen < 0.2, np.nan, value),
        np.where(chosen < 0.2, np.inf, np.round(value)),
        np.where(chosen < 0.2, -np.inf, chosen),
        np.zeros(shape),
        np.full(shape, -0.0),
        rng.integers(-5, 2000, shape).astype(float),
        np.where(chosen < 0.5, 0, value),
    ][rng.integers(9)]
    kind = np.dtype(
        str(rng.choice(["f4", "f8", "i8", "i4", "?", "c8", "f2", "u1", "c16"])),
    )
    with np.errstate(all="ignore"):
        if kind.kind == "c":
            value = value + 1j * np.roll(value, 1) * rng.choice([1, 0.001, 0])
        if kind.kind in "iub":
            value = np.nan_to_num(value, posinf=3, neginf=-3)
        return np.asarray(value).astype(kind).reshape(shape)


@pytest.mark.parametrize("seed", range(20))
def test_random_tensors_are_printed_alike(seed: int) -> None:
    def program(torch: Any) -> list[str]:
        rng = np.random.default_rng(seed)
        texts = []
        for k in range(20):
            value = array(rng)
            options: dict[str, Any] = {"profile": "default"}
            if k % 3 == 0:
                options = {
                    "precision": int(rng.integers(0, 7)), "threshold": int(rng.integers(5, 1000)),
                    "edgeitems": int(rng.integers(1, 4)), "linewidth": int(rng.integers(30, 120)),
                    "sci_mode": [None, True, False][rng.integers(3)],
                }  # fmt: skip
            torch.set_printoptions(**options)
            t = torch.from_numpy(value)
            if k % 4 == 0 and value.dtype.kind in "fc":
                t = t.requires_grad_()
                t = t * 2 if k % 8 == 0 else t
            texts.append(repr(t))
        torch.set_printoptions(profile="default")
        return texts

    compare(program)


SHOWN = {
    "results": lambda torch: [
        print(f(torch.tensor([[1.0, 2.0]], requires_grad=True)))
        for f in (
            lambda x: x + 1, lambda x: x.sum(), lambda x: x * x, lambda x: x[0], lambda x: x.exp(),
            lambda x: x.t(), lambda x: -x, lambda x: x / 3, lambda x: x - 1, lambda x: x.double(),
            lambda x: x.detach(), lambda x: x > 1, lambda x: x.reshape(-1), lambda x: x.clone(),
        )
    ],
    "leaves": lambda torch: print(
        torch.ones(2, requires_grad=True), torch.tensor(3), torch.tensor([True]), torch.tensor(1.5)
    ),
    "lists": lambda torch: print([torch.ones(2), torch.zeros(1)], {"a": torch.tensor(1.0)}),
    "empty": lambda torch: print(
        torch.zeros(0), torch.zeros(0, 3), torch.zeros(2, 0, dtype=torch.int64), torch.tensor([])
    ),
    "large": lambda torch: print(torch.arange(2000), torch.zeros(100, 100), torch.ones(3, 20, 40)),
    "long lines": lambda torch: print(torch.arange(60.0), torch.arange(30) * 1000),
    "long notes": lambda torch: print(
        torch.ones(2, 9, dtype=torch.float64, requires_grad=True) * 1.2345
    ),
    "gradients": lambda torch: (
        lambda x: ((x**2).sum().backward(), print(x.grad, x))
    )(torch.arange(3.0, requires_grad=True)),
    "profiles": lambda torch: [
        (torch.set_printoptions(profile=p), print(torch.rand(2) * 0 + 1.23456789))
        for p in ("short", "full", "default")
    ],
    "precision": lambda torch: (
        torch.set_printoptions(precision=8), print(torch.tensor([1 / 3])),
        torch.set_printoptions(precision=4),
    ),
    "other dtypes": lambda torch: print(
        torch.zeros(1, dtype=torch.float16), torch.zeros(1, dtype=torch.int8), torch.tensor([1j])
    ),
    "types": lambda torch: print(torch.float32, torch.device("cpu"), torch.Size([1]),
    torch.strided),
    "limits": lambda torch: print(torch.finfo(torch.float32), torch.iinfo(torch.int16)),
}  # fmt: skip


@pytest.mark.parametrize("program", SHOWN.values(), ids=SHOWN)
def test_programs_print_alike(program: Any) -> None:
    compare(printed(program))


# -- random numbers --------------------------------------------------------------------------------

FILLED = {
    "uniform_": lambda z: z.uniform_(-2, 3),
    "normal_": lambda z: z.normal_(1, 2),
    "bernoulli_": lambda z: z.bernoulli_(0.3),
    "bernoulli_ of a tensor": lambda z: z.bernoulli_(z + 0.3),
    "exponential_": lambda z: z.exponential_(2),
    "cauchy_": lambda z: z.cauchy_(1, 2).clamp(-50, 50),
    "log_normal_": lambda z: z.log_normal_(0, 0.5),
    "geometric_": lambda z: z.geometric_(0.3),
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
    "poisson": lambda torch, n: [torch.poisson(torch.zeros(n) + r) for r in (0.0, 3.0, 30.0)],
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
        (torch.bernoulli(x) * 2 + torch.normal(x, s) + torch.poisson(x)).sum().backward()
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


# -- names -----------------------------------------------------------------------------------------


def test_common_dtypes_of_all_pairs_agree() -> None:
    kinds = [
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "complex64",
        "complex128",
        "bool",
    ]

    def program(torch: Any) -> Any:
        found = []
        for first in kinds:
            for second in kinds:
                a, b = getattr(torch, first), getattr(torch, second)
                found.append((torch.promote_types(a, b), torch.can_cast(a, b)))
                for shapes in (((), ()), ((), (2,)), ((2,), ()), ((2,), (2,))):
                    one, two = torch.zeros(shapes[0], dtype=a), torch.zeros(shapes[1], dtype=b)
                    kind = str(torch.result_type(one, two))
                    found.append(kind.replace("complex32", "complex64"))  # NumPy has no such
            for number in (True, 1, 1.0, 1j):
                kind = str(torch.result_type(torch.zeros(2, dtype=getattr(torch, first)), number))
                found.append(kind.replace("complex32", "complex64"))
        return [str(f) if not isinstance(f, tuple) else (str(f[0]), f[1]) for f in found]

    compare(program)
