"""torch.fft, short-time transforms and windows, in the dialect and for real."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.dialects.torch.differentiation import parts_of, weighed
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity


def names(torch: Any, dtype: Any = None) -> dict[str, Any]:
    """Return signals by a letter, in single precision if nothing else is said."""
    kind = dtype or torch.float32
    x = torch.tensor(np.sin(np.arange(6.0) ** 2), dtype=kind)
    s = torch.tensor(np.cos(np.arange(20.0) ** 1.5), dtype=kind)
    m = torch.tensor(np.cos(np.arange(12.0)).reshape(3, 4), dtype=kind)
    return {
        "torch": torch,
        "F": torch.fft,
        "math": math,
        "x": x,
        "s": s,
        "m": m,
        "c": torch.complex(x, x.flip(0)),
        "d": torch.complex(m, m.flip(0) * 0.5),
        "k": torch.tensor(np.sin(np.arange(24.0)).reshape(2, 3, 4), dtype=kind),
        "w": torch.tensor([0.2, 0.9, 1.1, 0.4], dtype=kind),
        "z": torch.tensor(1.5, dtype=kind),
    }


def given(torch: Any) -> dict[str, Any]:
    """Return the same, and whole numbers."""
    return {**names(torch), "i": torch.arange(6), "b": torch.arange(6) > 2}


LETTERS = "xsmcdkwz"


def differentiated(text: str) -> Any:
    """Return a program for the value of an expression, its gradients and theirs."""

    def program(torch: Any) -> Any:
        known = names(torch, torch.float64)
        wanted = [known[k].requires_grad_() for k in LETTERS]
        y = eval(text, known)
        first = torch.autograd.grad(
            weighed(torch, parts_of(y)), wanted, create_graph=True, allow_unused=True
        )
        again = parts_of([g for g in first if g is not None])
        if again:
            weighed(torch, again).backward()
        return y, first, [None if t.grad is None else t.grad + 0 for t in wanted]

    return program


ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
#: What each transform of one axis is called with.
ONE_CALLS = [
    "(x)", "(i)", "(b)", "(c)", "(x.double())", "(x.half())", "(z)", "(x[:0])", "(x,4)", "(x,9)",
    "(x,n=0)", "(x,n=-1)", "(x,norm='ortho')", "(x,norm='forward')", "(x,norm='backward')",
    "(x,norm='bad')", "(x,norm=1)", "(m,dim=0)", "(m,None,0)", "(m,5,1,'ortho')", "(k,dim=-2)",
    "(x,dim=3)", "(x,n=2.5)", "(x[:1])", "([1.,2.])", "(x,dim=(0,))", "(input=x,n=3)", "(m,axis=0)",
    "(d,n=3,dim=0)",
]  # fmt: skip
MANY_CALLS = [
    "(m)", "(m,(2,2))", "(m,s=(2,-1))", "(m,s=(5,))", "(m,dim=0)", "(m,dim=(0,0))", "(m,dim=(0,5))",
    "(m,dim=())", "(m,s=(2,),dim=(0,1))", "(m,s=(2,2,2))", "(m,s=2)", "(x)", "(m,norm='x')",
    "(m,s=(0,2))", "(z)", "(m.long())", "(d)", "(m,dim=(1,0))", "(m,s=[])", "(k,norm='ortho')",
    "(k,(3,3),(0,2),'forward')", "(k.double(),dim=[0,1])", "(m.half())",
]  # fmt: skip
VALUES = [
    *[f"F.{f}{call}" for f in ONE for call in ONE_CALLS],
    *[f"F.{f}{end}{call}" for f in MANY for end in "2n" for call in MANY_CALLS],
    "F.fftfreq(5)", "F.fftfreq(4,.5)", "F.fftfreq(4,d=2,dtype=torch.float64)", "F.fftfreq(0)",
    "F.fftfreq(4,requires_grad=True)", "F.fftfreq(-1)", "F.fftfreq(4,dtype=torch.int64)",
    "F.fftfreq(4,dtype=torch.complex64)", "F.fftfreq(2.5)", "F.fftfreq(4,d=0)",
    "F.rfftfreq(5)", "F.rfftfreq(4,d=2)", "F.rfftfreq(0)",
    "F.rfftfreq(6,0.1,dtype=torch.float64)", "F.fftshift(x)", "F.fftshift(m,dim=1)",
    "F.fftshift(m,(0,1))", "F.fftshift(i)", "F.fftshift(m,dim=4)", "F.fftshift(z)",
    "F.fftshift(m,dim=())", "F.fftshift(m,0)", "F.fftshift(c)", "F.ifftshift(x[:5])",
    "F.ifftshift(k,dim=(0,-1))", "F.ifftshift(k)", "F.ifftshift(F.fftshift(m))", "F.fftshift(b)",
    "F.fft(x,out=torch.empty(6,dtype=torch.complex64))", "F.irfft(F.rfft(x),n=6)",
    "F.irfft(F.rfft(x[:5]),n=5)", "F.ifft(F.fft(c))", "F.fftn(k).real", "F.rfft(s).abs()",
    "torch.stft(s,4)", "torch.stft(s,4,return_complex=True)",
    "torch.stft(s,4,return_complex=False)",
    "torch.stft(torch.complex(s,s.flip(0)),4)",
    "torch.stft(torch.complex(s,s.flip(0)),4,return_complex=False)",
    "torch.stft(torch.complex(s,s),4,onesided=True)",
    "torch.stft(s,4,onesided=False,return_complex=True)",
    "torch.stft(s.reshape(1,1,20),4,return_complex=True)",
    "torch.stft(s.reshape(2,10),4,return_complex=True)", "torch.stft(s[:3],8,return_complex=True)",
    "torch.stft(s[:3],8,center=False,return_complex=True)", "torch.stft(s,4,0,return_complex=True)",
    "torch.stft(s,4,win_length=5,return_complex=True)",
    "torch.stft(s,4,win_length=2,return_complex=True)",
    "torch.stft(s,4,win_length=3,return_complex=True)",
    "torch.stft(s,4,window=torch.ones(3),return_complex=True)",
    "torch.stft(s,4,win_length=3,window=torch.hann_window(3),return_complex=True)",
    "torch.stft(s,4,window=w.double(),return_complex=True)",
    "torch.stft(s,4,window=torch.complex(w,w))", "torch.stft(i,4,return_complex=True)",
    "torch.stft(s,0,return_complex=True)",
    "torch.stft(s,4,pad_mode='constant',return_complex=True)",
    "torch.stft(s,4,pad_mode='circular',return_complex=True)",
    "torch.stft(s,4,pad_mode='replicate',return_complex=True)",
    "torch.stft(s,4,pad_mode='xx',return_complex=True)",
    "torch.stft(s,4,normalized=True,return_complex=True)",
    "torch.stft(s,4,center=False,return_complex=True)", "s.stft(4,return_complex=True)",
    "torch.stft(s,8,2,6,torch.hann_window(6),return_complex=True)",
    "torch.stft(s,5,hop_length=3,window=torch.hamming_window(5),return_complex=True)",
    "torch.istft(torch.stft(s,4,return_complex=True),4)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,length=15)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,length=25)",
    "torch.istft(torch.stft(s,4,return_complex=True).real,4)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,window=torch.zeros(4))",
    "torch.istft(torch.stft(s,4,center=False,return_complex=True),4,center=False)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,center=False,window=torch.hann_window(4))",
    "torch.istft(torch.stft(torch.complex(s,s*2),4),4,return_complex=True)",
    "torch.istft(torch.stft(s,4,onesided=False,return_complex=True),4,onesided=False)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,onesided=True,return_complex=True)",
    "torch.istft(torch.stft(s,4,return_complex=True),8)",
    "torch.istft(torch.stft(s,4,return_complex=True)[None],4)",
    "torch.istft(torch.stft(s,4,return_complex=True)[None,None],4)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,hop_length=5)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,hop_length=0)",
    "torch.istft(torch.stft(s,8,2,6,torch.hann_window(6),return_complex=True),8,2,6,"
    "torch.hann_window(6))",
    "torch.istft(torch.stft(s,4,normalized=True,return_complex=True),4,normalized=True)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,window=w+0j)",
    "torch.istft(torch.stft(s,4,return_complex=True),4,window=w.double()).dtype",
    "torch.istft(torch.stft(s,4,return_complex=True)[:,:0],4)",
    "torch.stft(s,4,return_complex=True).istft(4)",
    "torch.hann_window(5)", "torch.hamming_window(4,False)",
    "torch.blackman_window(6)",
]  # fmt: skip
#: Expressions of leaves, differentiated twice.
GRADIENTS = [
    *[f"F.{f}({x})" for f in ONE for x in ("x", "x,4", "x,9,norm='ortho'", "m,dim=0")],
    *[f"F.{f}({x})" for f in ("fft", "ifft", "irfft", "hfft") for x in ("c", "c,4", "d,9,0")],
    *[f"F.{f}2({x})" for f in MANY for x in ("m", "m,(2,5)", "k,norm='forward'")],
    *[f"F.{f}n({x})" for f in MANY for x in ("k", "k,(4,2),(0,2),'ortho'")],
    *[f"F.{f}n({x})" for f in ("fft", "ifft", "irfft", "hfft") for x in ("d", "d,dim=(1,0)")],
    "F.irfft(c,5)", "F.hfft(c,7)", "F.fft(x).abs()", "F.rfft(x).abs()**2", "F.rfft(x).angle()",
    "F.irfft(F.rfft(x)*F.rfft(x.flip(0)),n=6)", "F.fftshift(m)*m", "F.ifftshift(c,dim=0)*c",
    "F.ifft(F.fft(c)*c)", "F.fftn(k).real", "F.fft(x).imag", "F.fft2(d,dim=(-1,0))",
    "torch.stft(s,4,return_complex=True)", "torch.stft(s,4,return_complex=False)**2",
    "torch.stft(s,4,window=w,return_complex=True).abs()**2",
    "torch.stft(s.reshape(2,10),4,2,window=w,return_complex=True)",
    "torch.stft(s,4,window=w,center=False,onesided=False,return_complex=True)",
    "torch.stft(s,6,win_length=4,window=w,normalized=True,return_complex=True)",
    "torch.istft(torch.stft(s,4,window=w,return_complex=True)**2,4,window=w)",
    "torch.istft(torch.stft(s,4,return_complex=True)*z,4,length=18)",
    "torch.istft(torch.stft(torch.complex(s,s*s),4,window=w)**2,4,window=w,return_complex=True)",
    "torch.istft(torch.stft(s,4,onesided=False,return_complex=True)*(1+2j),4,onesided=False)",
    "torch.istft(torch.stft(s,4,onesided=False,return_complex=True)*(1+2j),4)",
    "torch.istft(torch.stft(torch.complex(s,s*s),4),4,window=torch.complex(w,w.flip(0)*.5),"
    "return_complex=True)",
]  # fmt: skip


def test_the_programs_are_many() -> None:
    """Count them."""
    assert len(VALUES) + len(GRADIENTS) > 400
    assert len(set(VALUES)) == len(VALUES)
    assert len(set(GRADIENTS)) == len(GRADIENTS)


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    compare(lambda torch: eval(text, given(torch)))


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text: str) -> None:
    compare(differentiated(text), rtol=1e-9)
