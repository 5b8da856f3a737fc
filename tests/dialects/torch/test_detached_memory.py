"""What detached tensors and `.data` share with the tensors they come from, and what they do not.

A detached tensor shares memory and the count of writes, `.data` only the memory. Most programs are
differences from PyTorch that random programs have found.
"""

import numpy as np
import pytest

import wengert.torch as ours
from tests.dialects.torch import program_lines
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

A = "a = torch.tensor([[-1.1, 0.9, 0.5], [1.4, 0.6, 1.2]], dtype=torch.float64).requires_grad_()"
D = "d = torch.tensor([[0.7, -0.8, 1.5], [-0.4, 1.1, 0.6]], dtype=torch.float64)"
NO_GRAD = "with torch.no_grad(): "
PROGRAMS = {
    "a view, used before and after a write to it detached": [
        A,
        "v = a.mT",
        "w = v.sum(0)",
        "v.detach().mul_(1.2)",
        "(v * w[0].exp()).sum().backward(inputs=[v])",
    ],
    "a view, and a write to its base detached twice": [
        A,
        "v = a[0]",
        "w = v * v",
        "a.detach()[1:].detach().mul_(1.2)",
        "(v * v + w.sin()).sum().backward(inputs=[v])",
    ],
    "a view of a result, and elements of it written detached": [
        A,
        "c = a * 1.5",
        "v = c.view(-1)",
        "w = v * 2",
        "c.detach()[0] = 0.5",
        "(v * 3 + w).sum().backward(inputs=[v])",
    ],
    "a detached tensor that outlives its origin": [
        A,
        "c = (a * 1.5).detach()",
        "c.mul_(2)",
        "(a * c).sum().backward()",
    ],
    "data that was saved, and is written": [
        A,
        "v = a.data",
        "w = v * a",
        "v.mul_(2)",
        "(w * w).sum().backward()",
    ],
    "data that was saved, and what it comes from is written": [
        A,
        D,
        "v = d.data",
        "w = v * a",
        "d.mul_(2)",
        "(w * w).sum().backward()",
    ],
    "saved, and its data is written": [
        A,
        D,
        "w = d * a",
        "d.data.mul_(2)",
        "(w * w).sum().backward()",
    ],
    "data that requires gradients after a view of it was written": [
        A,
        "v = (a * 1.5).data",
        "w = v[:, 0]",
        "w[..., 0] *= w.clone().mean()",
        "v.requires_grad_()",
        "(w * w).sum().backward()",
    ],
    "one of several views of data that is written": [
        A,
        "v = (a * 1.5).data",
        "w = v.unbind()[0]",
        "v.copy_(a.clone().sum())",
        "x = w * w",
    ],
    "a view of data without gradients, reshaped": [
        A,
        "v = a.data",
        NO_GRAD + "w = v[:, 0]",
        "x = w.reshape(w.shape)",
        "v[..., 0] *= a.clone().mean()",
        "_ = x.grad_fn",
    ],
    "a checkpoint of data whose origin is written": [
        A,
        D,
        "v = d.data",
        "w = torch.utils.checkpoint.checkpoint(lambda z: z.sin() * a, v, use_reentrant=False)",
        "d.zero_()",
        "(w * w).sum().backward()",
    ],
    "counts of writes": [
        A,
        D,
        "v, w = d.data, d.detach()",
        "v.mul_(2)",
        "v[0] = 1.0",
        "w.mul_(2)",
        "x = torch.tensor([t._version for t in (d, v, w, d.data, v[0], w[0])])",
        "y = torch.tensor([float(t.data_ptr() == d.data_ptr()) for t in (v, w, v[0])])",
        "z = torch.tensor([d.data[1:].storage_offset()])",
    ],
    "data read with other strides, and written": [
        A,
        "c = a * 1.5",
        "v = c.sin()",
        "w = c.data[1:].as_strided((2,), (2,), 3)",
        "w.tanh_()",
        "x = c.detach()[1:].as_strided((3,), (1,), 3)",
        "v.sum().backward()",
        "y = torch.tensor([t._version for t in (c, w, x)])",
        "x.mul_(2)",
        "z = torch.tensor([t._version for t in (c, w, x)])",
    ],
    "data written where it overlaps": [
        "d = torch.arange(6.0)",
        "d.data[1:].copy_(d[:-1])",
        "d[1:].copy_(d.data[:-1])",
    ],
    "data of other layouts": [
        D,
        "v = [d.t().data, d[:, ::2].data, d[0, 0].data, d[:0].data, (d > 0).data]",
        "w = torch.cat([t.double().reshape(-1) for t in v])",
        "x = torch.tensor([t.stride() for t in v[:2]])",
        "v[0][0] = 7.0",
    ],
    "a part made without gradients that loses an axis in place": [
        D,
        NO_GRAD + "v = d.chunk(2)[0]",
        "v.squeeze_()",
        "d.requires_grad_()",
        "w = v.select(0, 0)",
    ],
    "a Function that may not write to a view of a leaf": [
        A,
        "v = a.t()",
        "(v * v).sum().backward(inputs=[v], retain_graph=True)",
        "Scale.apply(v, 0.8)",
        "w = v.grad",
    ],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(lambda torch: program_lines.run(PROGRAMS[name], torch))


@pytest.mark.parametrize("late", ["argument", "option"])
def test_a_checkpoint_of_a_constant_that_requires_gradients_later(late):
    # PyTorch reads another saved tensor in the place of the sine, and says nothing
    b = ours.tensor([1.0, 2.0], requires_grad=True)
    d = ours.tensor([0.5, 0.7])
    args, options = ((d,), {}) if late == "argument" else ((), {"z": d})
    y = ours.utils.checkpoint.checkpoint(
        lambda z: z.sin() * b.sum(), *args, use_reentrant=False, **options
    )
    d.requires_grad_()
    y.sum().backward()
    np.testing.assert_allclose(b.grad, np.full(2, np.sin([0.5, 0.7]).sum()), rtol=1e-6)
    assert d.grad is None
