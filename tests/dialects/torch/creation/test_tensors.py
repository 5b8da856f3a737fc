"""Expressions of tensors: conversions, attributes and methods."""

from __future__ import annotations

import pytest

from tests.dialects.torch.creation.expressions import check, lines

pytestmark = pytest.mark.parity


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
x.is_pinned()
x.is_shared()
x.name
p.name
x.get_device()
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
torch.is_signed(x)
torch.is_conj(c)
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
x.untyped_storage().nbytes()
x.storage().size()
x.nonzero_thing
x.pin_memory()
x.share_memory_() is x
x.as_subclass(torch.Tensor)
x.copy_(x+1)
x.fill_(3)
x.zero_()
torch.nan
torch.hann_window(4)
torch.hamming_window(4)
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


@pytest.mark.parametrize("expression", TENSORS)
def test_tensors_expressions_agree(expression: str) -> None:
    check(expression)
