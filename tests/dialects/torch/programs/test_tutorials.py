"""First steps with tensors, networks and gradients, as tutorials teach them."""

from __future__ import annotations

import contextlib
import math
import warnings
from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def autograd_tutorial_first_steps(torch: Any) -> Any:
    x = torch.ones(5)
    y = torch.zeros(3)
    torch.manual_seed(1)
    w = torch.randn(5, 3, requires_grad=True)
    b = torch.randn(3, requires_grad=True)
    z = torch.matmul(x, w) + b
    loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
    print(f"Gradient function for z = {z.grad_fn}"[:40])
    print(f"Gradient function for loss = {loss.grad_fn}"[:55])
    loss.backward()
    print(w.grad)
    print(b.grad)
    with torch.no_grad():
        z = torch.matmul(x, w) + b
    print(z.requires_grad)
    print((torch.matmul(x, w) + b).detach().requires_grad)
    return w, b, loss


@program
def jacobian_products_tutorial(torch: Any) -> Any:
    inp = torch.eye(4, 5, requires_grad=True)
    out = (inp + 1).pow(2).t()
    out.backward(torch.ones_like(out), retain_graph=True)
    print(f"First call\n{inp.grad}")
    out.backward(torch.ones_like(out), retain_graph=True)
    print(f"\nSecond call\n{inp.grad}")
    inp.grad.zero_()
    out.backward(torch.ones_like(out), retain_graph=True)
    print(f"\nCall after zeroing gradients\n{inp.grad}")
    return inp


@program
def blitz_autograd(torch: Any) -> Any:
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    b = torch.tensor([6.0, 4.0], requires_grad=True)
    Q = 3 * a**3 - b**2
    external_grad = torch.tensor([1.0, 1.0])
    Q.backward(gradient=external_grad)
    print(9 * a**2 == a.grad)
    print(-2 * b == b.grad)
    x = torch.rand(5, 5)
    y = torch.rand(5, 5)
    z = torch.rand((5, 5), requires_grad=True)
    print(f"Does `a` require gradients?: {(x + y).requires_grad}")
    print(f"Does `b` require gradients?: {(x + z).requires_grad}")
    return a, b


@program
def blitz_tensors(torch: Any) -> Any:
    data = [[1, 2], [3, 4]]
    x_data = torch.tensor(data)
    np_array = np.array(data)
    x_np = torch.from_numpy(np_array)
    x_ones = torch.ones_like(x_data)
    print(f"Ones Tensor: \n {x_ones} \n")
    x_rand = torch.rand_like(x_data, dtype=torch.float)
    print(f"Random Tensor: \n {x_rand} \n")
    shape = (
        2,
        3,
    )
    print(torch.rand(shape), torch.ones(shape), torch.zeros(shape))
    tensor = torch.rand(3, 4)
    print(f"Shape of tensor: {tensor.shape}")
    print(f"Datatype of tensor: {tensor.dtype}")
    print(f"Device tensor is stored on: {tensor.device}")
    tensor = torch.ones(4, 4)
    tensor[:, 1] = 0
    print(tensor)
    t1 = torch.cat([tensor, tensor, tensor], dim=1)
    print(t1)
    print(f"tensor.mul(tensor) \n {tensor.mul(tensor)} \n")
    print(f"tensor.matmul(tensor.T) \n {tensor.matmul(tensor.T)} \n")
    print(tensor, "\n")
    tensor.add_(5)
    print(tensor)
    t = torch.ones(5)
    n = t.numpy()
    t.add_(1)
    print(f"t: {t}")
    print(f"n: {n}")
    n = np.ones(5)
    t = torch.from_numpy(n)
    np.add(n, 1, out=n)
    print(f"t: {t}")
    print(f"n: {n}")
    print(f"First row: {tensor[0]}")
    print(f"First column: {tensor[:, 0]}")
    print(f"Last column: {tensor[..., -1]}")
    agg = tensor.sum()
    print(agg.item(), type(agg.item()))
    y3 = torch.rand_like(tensor)
    torch.matmul(tensor, tensor.T, out=y3)
    z3 = torch.rand_like(tensor)
    torch.mul(tensor, tensor, out=z3)
    return x_np, y3, z3


@program
def lenet_blitz(torch: Any) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 5)
            self.conv2 = nn.Conv2d(6, 16, 5)
            self.fc1 = nn.Linear(16 * 5 * 5, 120)
            self.fc2 = nn.Linear(120, 84)
            self.fc3 = nn.Linear(84, 10)

        def forward(self, input):
            c1 = F.relu(self.conv1(input))
            s2 = F.max_pool2d(c1, (2, 2))
            c3 = F.relu(self.conv2(s2))
            s4 = F.max_pool2d(c3, 2)
            s4 = torch.flatten(s4, 1)
            f5 = F.relu(self.fc1(s4))
            f6 = F.relu(self.fc2(f5))
            return self.fc3(f6)

    net = Net()
    print(net)
    params = list(net.parameters())
    print(len(params))
    print(params[0].size())
    input = torch.randn(1, 1, 32, 32)
    out = net(input)
    print(out)
    net.zero_grad()
    out.backward(torch.randn(1, 10))
    output = net(input)
    target = torch.randn(10)
    target = target.view(1, -1)
    criterion = nn.MSELoss()
    loss = criterion(output, target)
    print(loss)
    print(str(loss.grad_fn)[:16])
    print(str(loss.grad_fn.next_functions[0][0])[:16])
    print(str(loss.grad_fn.next_functions[0][0].next_functions[0][0])[:20])
    net.zero_grad()
    print(net.conv1.bias.grad)
    loss.backward()
    print(net.conv1.bias.grad)
    learning_rate = 0.01
    for f in net.parameters():
        f.data.sub_(f.grad.data * learning_rate)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    optimizer.zero_grad()
    loss = criterion(net(input), target)
    loss.backward()
    optimizer.step()
    print(optimizer)
    return loss, net.fc3.weight.detach(), net.conv1.weight.detach()


@program
def learning_with_examples_manual(torch: Any) -> Any:
    dtype = torch.float
    device = torch.device("cpu")
    x = torch.linspace(-math.pi, math.pi, 2000, device=device, dtype=dtype)
    y = torch.sin(x)
    a = torch.randn((), device=device, dtype=dtype)
    b = torch.randn((), device=device, dtype=dtype)
    c = torch.randn((), device=device, dtype=dtype)
    d = torch.randn((), device=device, dtype=dtype)
    learning_rate = 1e-6
    for t in range(60):
        y_pred = a + b * x + c * x**2 + d * x**3
        loss = (y_pred - y).pow(2).sum().item()
        if t % 20 == 19:
            print(t, round(loss, 1))
        grad_y_pred = 2.0 * (y_pred - y)
        a -= learning_rate * grad_y_pred.sum()
        b -= learning_rate * (grad_y_pred * x).sum()
        c -= learning_rate * (grad_y_pred * x**2).sum()
        d -= learning_rate * (grad_y_pred * x**3).sum()
    print(
        f"Result: y = {a.item():.3f} + {b.item():.3f} x + {c.item():.3f} x^2 + {d.item():.3f} x^3"
    )
    return a, b, c, d


@program
def learning_with_examples_autograd(torch: Any) -> Any:
    dtype = torch.float
    x = torch.linspace(-1, 1, 2000, dtype=dtype)
    y = torch.exp(x)
    a = torch.randn((), dtype=dtype, requires_grad=True)
    b = torch.randn((), dtype=dtype, requires_grad=True)
    initial_loss = 1.0
    for t in range(50):
        y_pred = a + b * x
        loss = (y_pred - y).pow(2).sum()
        if t == 0:
            initial_loss = loss.item()
        loss.backward()
        with torch.no_grad():
            a -= 1e-4 * a.grad
            b -= 1e-4 * b.grad
            a.grad = None
            b.grad = None
    print(f"{loss.item() / initial_loss:.4f}")
    print(a, b)
    return a, b


@program
def dynamic_net(torch: Any) -> Any:
    import random

    random.seed(1)

    class DynamicNet(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.randn(()))
            self.b = torch.nn.Parameter(torch.randn(()))
            self.c = torch.nn.Parameter(torch.randn(()))
            self.d = torch.nn.Parameter(torch.randn(()))
            self.e = torch.nn.Parameter(torch.randn(()))

        def forward(self, x):
            y = self.a + self.b * x + self.c * x**2 + self.d * x**3
            for exp in range(4, random.randint(4, 6)):
                y = y + self.e * x**exp
            return y

        def string(self):
            return f"y = {self.a.item():.3f} + {self.b.item():.3f} x"

    x = torch.linspace(-math.pi, math.pi, 200)
    y = torch.sin(x)
    random.seed(3)
    model = DynamicNet()
    criterion = torch.nn.MSELoss(reduction="sum")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-8, momentum=0.9)
    for t in range(30):
        random.seed(t)
        y_pred = model(x)
        loss = criterion(y_pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"Result: {model.string()}")
    print(model)
    return [p.detach() for p in model.parameters()]


@program
def second_backward_message(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x**2).sum()
    y.backward()
    try:
        y.backward()
    except RuntimeError as e:
        print("a second time" in str(e))
        print("retain_graph=True" in str(e))
    return x


@program
def variable_legacy(torch: Any) -> Any:
    Variable = torch.autograd.Variable
    x = Variable(torch.Tensor([1, 2, 3]), requires_grad=True)
    w = Variable(torch.FloatTensor([[1, 2, 3]]).t(), requires_grad=True)
    y = x.unsqueeze(0).mm(w)
    y.backward()
    print(
        x.data,
        x.grad.data,
        w.grad,
        y.data[0],
        y.creator if hasattr(y, "creator") else None,
        x.volatile if hasattr(x, "volatile") else "no",
    )
    x.data -= 0.1 * x.grad.data
    x.grad.data.zero_()
    return x, w


@program
def grad_options(torch: Any) -> Any:
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    z = torch.tensor(1.0, requires_grad=True)
    f = x**2 * y
    print(torch.autograd.grad(f, [x, y], retain_graph=True))
    print(torch.autograd.grad(f, [x, z], allow_unused=True, retain_graph=True))
    print(torch.autograd.grad(f, [x, z], materialize_grads=True, retain_graph=True))
    try:
        torch.autograd.grad(f, z, retain_graph=True)
    except RuntimeError as e:
        print(type(e).__name__)
    print(
        torch.autograd.grad(
            [f, x * y], [x], grad_outputs=[torch.tensor(1.0), torch.tensor(2.0)], retain_graph=True
        )
    )
    g = torch.autograd.grad(f, x, create_graph=True)[0]
    print(g, torch.autograd.grad(g, y, retain_graph=True), torch.autograd.grad(g, x))
    v = torch.ones(2, requires_grad=True)
    J = torch.autograd.grad(v * v, v, torch.eye(2), is_grads_batched=True)
    f2 = x * y
    torch.autograd.backward([f2, x * 2], [torch.tensor(1.0), None])
    f3 = x * z
    f3.backward(inputs=[x])
    return x, y, z, J


@program
def undefined_and_none_grads(torch: Any) -> Any:
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            print(a, b)
            return a * 2 + b * 3

    class TwoN(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            print(a, b)
            return (a * 2 if a is not None else 0) + (b * 3 if b is not None else 0)

    x = torch.ones(2, requires_grad=True)
    Two.apply(x)[0].sum().backward()
    TwoN.apply(x)[1].sum().backward()
    return x


@program
def complex_autograd(torch: Any) -> Any:
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    L = (z * z.conj()).real.sum()
    L.backward()
    print(z.grad, z.abs(), z.angle(), z.real, z.imag)
    w = torch.tensor(1 + 1j, requires_grad=True)
    (w**2).abs().backward()
    a = torch.ones(2, requires_grad=True)
    b = torch.complex(a, 2 * a)
    torch.view_as_real(b).sum().backward()
    try:
        (z * 2).sum().backward()
    except RuntimeError as e:
        print("complex64" in str(e))
    u = torch.fft.ifft(torch.fft.fft(a) * 2)
    u.abs().sum().backward()
    print(
        torch.is_complex(z),
        z.dtype,
        z.grad.dtype,
        torch.polar(torch.tensor(1.0), torch.tensor(math.pi / 2)),
    )
    return z, w, a


@program
def requires_grad_propagation(torch: Any) -> Any:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2)
    for r in (
        x + y,
        y + y,
        x.detach() + y,
        (x > 0),
        x.long(),
        x.argmax(),
        x.sum(),
        x.round(),
        torch.zeros_like(x),
        torch.ones_like(x),
        x.data,
        x.clone(),
        x.to(torch.float64),
        x.new_ones(2),
        torch.empty_like(x),
        x.floor(),
        x.sign(),
        torch.tensor(x.tolist()),
        x.T,
        x[0],
        x.view(2, 1),
        x.expand(3, 2),
        torch.stack([x, y]),
        torch.where(x > 0, x, y),
        x.max(),
        x.max(0)[1],
        torch.rand_like(x),
        x.bool(),
        x.isnan(),
        x.double().float(),
        x * 0,
        torch.full_like(x, 3),
        x.histc() if False else x.abs(),
    ):
        print(r.requires_grad, r.is_leaf, end=" ")
    z = torch.zeros(2)
    z += x
    print(z.requires_grad, z.is_leaf)
    w = torch.zeros(2)
    w[0] = x[0]
    print(w.requires_grad, w.grad_fn.name())
    v = torch.tensor([1.0]).requires_grad_()
    print(v.requires_grad, v.is_leaf)
    try:
        (x * 2).requires_grad = False
    except RuntimeError as e:
        print(type(e).__name__)
    x.requires_grad = False
    print((x * 2).requires_grad)


@program
def grad_accumulates_and_none(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    print(x.grad)
    for k in range(3):
        (x * k).sum().backward()
        print(x.grad)
    g = x.grad
    x.grad = None
    (x * 5).sum().backward()
    print(g, x.grad, g is x.grad)
    x.grad.zero_()
    x.grad += 1
    x.grad.data.mul_(2)
    print(x.grad)
    del x.grad
    print(x.grad)
    x.grad = torch.full_like(x, 7.0)
    (x * 1).sum().backward()
    return x


@program
def nonleaf_grad_warning(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.sum().backward()
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        print(y.grad, len(w) > 0 and "retain_grad" in str(w[0].message))


@program
def retain_graph_patterns(torch: Any) -> Any:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    print(x.grad)
    try:
        y.backward()
    except RuntimeError as e:
        print("second time" in str(e))
    z = x + 1
    z.backward()
    z.backward()
    print(x.grad)
    h = torch.zeros(1, requires_grad=True)
    s = h
    try:
        for _ in range(2):
            s = torch.tanh(s + x)
            s.sum().backward()
    except RuntimeError as e:
        print("retain_graph" in str(e))
    s = torch.zeros(1)
    for _ in range(2):
        s = torch.tanh(s.detach() + x)
        s.sum().backward()
    return x, h


@program
def broadcasting_gradients(torch: Any) -> Any:
    a = torch.randn(3, 1, requires_grad=True)
    b = torch.randn(4, requires_grad=True)
    c = torch.randn((), requires_grad=True)
    (a * b + c / (1 + b**2) - a**2).sum().backward()
    d = torch.ones(1, requires_grad=True)
    (d.expand(3, 2) * torch.arange(6.0).view(3, 2)).sum().backward()
    return a, b, c, d


@program
def second_backward_names_line(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = (x * x).exp().sum()
    y.backward()
    with contextlib.suppress(RuntimeError):
        y.backward()
    layer = torch.nn.Linear(2, 2)
    o = layer(x).relu().sum()
    o.backward()
    try:
        o.backward()
    except RuntimeError as e:
        print("a second time" in str(e))
    return x


@program
def no_grad_inplace_update_keeps_leaf(torch: Any) -> Any:
    w = torch.ones(2, requires_grad=True)
    for _ in range(3):
        loss = (w * torch.tensor([1.0, 2.0])).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.01 * w.grad
            w.grad = None
        print(w.is_leaf, w.requires_grad, w._version)
    w = w - 0.1
    print(w.is_leaf)
    with torch.no_grad():
        v = w - 1
    print(v.requires_grad, v.is_leaf)
    v.requires_grad_()
    (v * 2).sum().backward()
    print(v.grad)


@program
def stack_exchange_freeze_part_of_tensor(torch: Any) -> Any:
    w = torch.randn(4, requires_grad=True)
    mask = torch.tensor([1.0, 0.0, 1.0, 0.0])
    w.register_hook(lambda g: g * mask)
    (w**2).sum().backward()
    return w


@program
def detach_vs_clone(torch: Any) -> Any:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b, c, d = x.detach(), x.clone(), x.clone().detach(), x.data
    for t in (a, b, c, d):
        print(t, t.requires_grad, t.is_leaf, t.data_ptr() == x.data_ptr())
    b.sum().backward()
    e = torch.tensor(x)
    print(e, e.requires_grad)
    f = torch.empty_like(x).copy_(x)
    print(f.requires_grad, f)
    return x


@program
def gradient_wrt_intermediate(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    h = x * 3
    y = (h**2).sum()
    g = torch.autograd.grad(y, h, retain_graph=True)[0]
    gx, gh = torch.autograd.grad(y, [x, h])
    return g, gx, gh


@program
def sum_of_python_list_of_losses(torch: Any) -> Any:
    x = torch.tensor(1.5, requires_grad=True)
    losses = [x**k for k in range(4)]
    total = sum(losses)
    total.backward()
    print(total, x.grad)
    avg = torch.mean(torch.stack(losses))
    m = max(losses, key=lambda t: t.item())
    print(
        avg,
        m,
        float(avg),
        int(m),
        round(float(m), 2),
        math.sqrt(x),
        abs(-x),
        x > 1,
        not x,
        x == 1.5,
        divmod(7.0, 2.0),
        -x,
        +x,
        x // 1,
        x % 1,
        x.__class__,
    )
    return x


@program
def stackoverflow_inplace_relu_error(torch: Any) -> Any:
    x = torch.randn(3, requires_grad=True)
    y = torch.sigmoid(x)
    z = y * 2
    y += 1
    z.sum().backward() if False else None
    try:
        (y.exp() + z).sum().backward()
    except RuntimeError as e:
        print("modified" in str(e))
    w = torch.relu(x)
    w.mul_(2)
    try:
        w.sum().backward()
        print("fine")
    except RuntimeError as e:
        print("modified" in str(e))
    v = torch.tanh(x)
    v2 = v + 1
    v2.relu_()
    v2.sum().backward()
    u = x.exp()
    u.zero_()
    try:
        u.sum().backward()
        print("ok")
    except RuntimeError as e:
        print("modified" in str(e))
    return x


@program
def zero_grad_variants(torch: Any) -> Any:
    m = torch.nn.Linear(1, 1)
    m(torch.ones(1, 1)).backward()
    m.zero_grad()
    print(m.weight.grad)
    m(torch.ones(1, 1)).backward()
    m.zero_grad(set_to_none=False)
    print(m.weight.grad, m.bias.grad)
    for p in m.parameters():
        p.grad = torch.zeros_like(p)
    m(torch.ones(1, 1)).backward()
    print([p.grad for p in m.parameters()])
    for p in m.parameters():
        if p.grad is not None:
            p.grad.detach_()
            p.grad.zero_()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
