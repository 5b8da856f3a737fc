"""Jacobians, Hessians, vmap and derivatives of derivatives in programs."""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def forward_mode_tutorial(torch: Any) -> Any:
    fwAD = torch.autograd.forward_ad
    primal = torch.randn(10, 10)
    tangent = torch.randn(10, 10)

    def fn(x, y):
        return x**2 + y**2

    with fwAD.dual_level():
        dual_input = fwAD.make_dual(primal, tangent)
        assert fwAD.unpack_dual(dual_input).tangent is tangent
        plain_tensor = torch.randn(10, 10)
        dual_output = fn(dual_input, plain_tensor)
        jvp = fwAD.unpack_dual(dual_output).tangent
    print(fwAD.unpack_dual(dual_output).tangent is None)
    model = torch.nn.Linear(5, 5)
    input = torch.randn(16, 5)
    params = dict(model.named_parameters())
    tangents = {name: torch.rand_like(p) for name, p in params.items()}
    with fwAD.dual_level():
        for name, p in params.items():
            delattr(model, name)
            setattr(model, name, fwAD.make_dual(p, tangents[name]))
        out = model(input)
        jvp2 = fwAD.unpack_dual(out).tangent
    return jvp, jvp2.detach()


@program
def functional_jvp_tutorial(torch: Any) -> Any:
    ft = torch.func
    primal0, primal1 = torch.randn(10, 10), torch.randn(10, 10)
    tangent0, tangent1 = torch.randn(10, 10), torch.randn(10, 10)

    def fn(x, y):
        return x**2 + y**2

    _, tangent_out = ft.jvp(fn, (primal0, primal1), (tangent0, tangent1))

    f2 = functools.partial(fn, primal0)
    _, tangent_out2 = ft.jvp(f2, (primal1,), (tangent1,))
    model = torch.nn.Linear(5, 5)
    input = torch.randn(16, 5)
    tangents = tuple([torch.rand_like(p) for p in model.parameters()])
    params = dict(model.named_parameters())

    def func(params, input):
        return ft.functional_call(model, params, input)

    tangents = dict(zip(params, tangents, strict=True))
    out = ft.jvp(lambda p: func(p, input), (params,), (tangents,))
    return tangent_out, tangent_out2, out[1].detach()


@program
def jacobians_hessians_tutorial(torch: Any) -> Any:
    F = torch.nn.functional
    from functools import partial

    vmap, vjp, jacrev, jacfwd, hessian, jvp = (
        torch.func.vmap,
        torch.func.vjp,
        torch.func.jacrev,
        torch.func.jacfwd,
        torch.func.hessian,
        torch.func.jvp,
    )
    D = 6

    def predict(weight, bias, x):
        return F.linear(x, weight, bias).tanh()

    weight = torch.randn(D, D)
    bias = torch.randn(D)
    x = torch.randn(D)
    xp = x.clone().requires_grad_()
    unit_vectors = torch.eye(D)

    def compute_jac(xp):
        jacobian_rows = [
            torch.autograd.grad(predict(weight, bias, xp), xp, vec)[0] for vec in unit_vectors
        ]
        return torch.stack(jacobian_rows)

    jacobian = compute_jac(xp)
    _, vjp_fn = vjp(partial(predict, weight, bias), x)
    (ft_jacobian,) = vmap(vjp_fn)(unit_vectors)
    assert torch.allclose(ft_jacobian, jacobian)
    ft_jacobian = jacrev(predict, argnums=2)(weight, bias, x)
    jf = jacfwd(predict, argnums=2)(weight, bias, x)
    ft_jac_weight, ft_jac_bias = jacrev(predict, argnums=(0, 1))(weight, bias, x)
    hess = hessian(predict, argnums=2)(weight, bias, x)
    hess2 = jacfwd(jacrev(predict, argnums=2), argnums=2)(weight, bias, x)

    def hvp(f, primals, tangents):
        return jvp(torch.func.grad(f), primals, tangents)[1]

    def f(x):
        return x.sin().sum()

    x2 = torch.randn(20)
    tangent = torch.randn(20)
    result = hvp(f, (x2,), (tangent,))
    X = torch.randn(7, D)
    compute_batch_jacobian = vmap(jacrev(predict, argnums=2), in_dims=(None, None, 0))
    batch_jacobian0 = compute_batch_jacobian(weight, bias, X)

    def compute_grad_inputs(weight, bias, x):
        return predict(weight, bias, x).sum(0)

    batch_jacobian1 = jacrev(compute_grad_inputs, argnums=2)(weight, bias, X).movedim(1, 0)
    print(torch.allclose(batch_jacobian0, batch_jacobian1))
    return (
        jacobian,
        ft_jacobian,
        jf,
        ft_jac_weight,
        ft_jac_bias,
        hess,
        hess2,
        result,
        batch_jacobian0,
    )


@program
def per_sample_gradients_tutorial(torch: Any) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class SimpleCNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 4, 3, 1)
            self.conv2 = nn.Conv2d(4, 5, 3, 1)
            self.fc1 = nn.Linear(5 * 4 * 4, 10)
            self.fc2 = nn.Linear(10, 10)

        def forward(self, x):
            x = self.conv1(x)
            x = F.relu(x)
            x = self.conv2(x)
            x = F.relu(x)
            x = F.max_pool2d(x, 2)
            x = torch.flatten(x, 1)
            x = self.fc1(x)
            x = F.relu(x)
            x = self.fc2(x)
            output = F.log_softmax(x, dim=1)
            return output

    def loss_fn(predictions, targets):
        return F.nll_loss(predictions, targets)

    data = torch.randn(4, 1, 12, 12)
    targets = torch.randint(10, (4,))
    model = SimpleCNN()

    def compute_grad(sample, target):
        sample = sample.unsqueeze(0)
        target = target.unsqueeze(0)
        prediction = model(sample)
        loss = loss_fn(prediction, target)
        return torch.autograd.grad(loss, list(model.parameters()))

    per = [compute_grad(data[i], targets[i]) for i in range(4)]
    per = [torch.stack(s) for s in zip(*per, strict=True)]
    functional_call, vmap, grad = torch.func.functional_call, torch.func.vmap, torch.func.grad
    params = {k: v.detach() for k, v in model.named_parameters()}
    buffers = {k: v.detach() for k, v in model.named_buffers()}

    def compute_loss(params, buffers, sample, target):
        batch = sample.unsqueeze(0)
        targets = target.unsqueeze(0)
        predictions = functional_call(model, (params, buffers), (batch,))
        return loss_fn(predictions, targets)

    ft_compute_grad = grad(compute_loss)
    ft_compute_sample_grad = vmap(ft_compute_grad, in_dims=(None, None, 0, 0))
    ft = ft_compute_sample_grad(params, buffers, data, targets)
    for a, b in zip(per, ft.values(), strict=True):
        assert torch.allclose(a, b, atol=3e-3, rtol=1e-5)
    return ft


@program
def ensembling_tutorial(torch: Any) -> Any:
    nn = torch.nn

    class SimpleMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(8, 16)
            self.fc2 = nn.Linear(16, 4)

        def forward(self, x):
            return self.fc2(torch.relu(self.fc1(x.flatten(1))))

    num_models = 5
    models = [SimpleMLP() for _ in range(num_models)]
    minibatches = torch.randn(num_models, 3, 2, 4)
    predictions_diff = [model(mb) for model, mb in zip(models, minibatches, strict=True)]
    stack_module_state, functional_call, vmap = (
        torch.func.stack_module_state,
        torch.func.functional_call,
        torch.func.vmap,
    )
    params, buffers = stack_module_state(models)
    base_model = copy.deepcopy(models[0])
    base_model = base_model.to("meta") if False else base_model

    def fmodel(params, buffers, x):
        return functional_call(base_model, (params, buffers), (x,))

    print([p.size(0) for p in params.values()])
    out = vmap(fmodel)(params, buffers, minibatches)
    assert torch.allclose(out, torch.stack(predictions_diff), atol=1e-3, rtol=1e-5)
    out2 = vmap(fmodel, in_dims=(0, 0, None))(params, buffers, minibatches[0])
    return out.detach(), out2.detach()


@program
def ntk_tutorial(torch: Any) -> Any:
    nn = torch.nn
    functional_call, vmap, vjp, jvp, jacrev = (
        torch.func.functional_call,
        torch.func.vmap,
        torch.func.vjp,
        torch.func.jvp,
        torch.func.jacrev,
    )

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, (3, 3))
            self.conv2 = nn.Conv2d(4, 4, (3, 3))
            self.fc = nn.Linear(4 * 4 * 4, 3)

        def forward(self, x):
            x = self.conv1(x)
            x = x.relu()
            x = self.conv2(x)
            x = x.flatten(1)
            x = self.fc(x)
            return x

    x_train = torch.randn(4, 3, 8, 8)
    x_test = torch.randn(2, 3, 8, 8)
    net = CNN()
    params = {k: v.detach() for k, v in net.named_parameters()}

    def fnet_single(params, x):
        return functional_call(net, params, (x.unsqueeze(0),)).squeeze(0)

    def empirical_ntk_jacobian_contraction(fnet_single, params, x1, x2):
        jac1 = vmap(jacrev(fnet_single), (None, 0))(params, x1)
        jac1 = jac1.values()
        jac1 = [j.flatten(2) for j in jac1]
        jac2 = vmap(jacrev(fnet_single), (None, 0))(params, x2)
        jac2 = jac2.values()
        jac2 = [j.flatten(2) for j in jac2]
        pairs = zip(jac1, jac2, strict=True)
        result = torch.stack([torch.einsum("Naf,Mbf->NMab", j1, j2) for j1, j2 in pairs])
        result = result.sum(0)
        return result

    result = empirical_ntk_jacobian_contraction(fnet_single, params, x_train, x_test)

    def empirical_ntk_ntk_vps(func, params, x1, x2, compute="full"):
        def get_ntk(x1, x2):
            def func_x1(params):
                return func(params, x1)

            def func_x2(params):
                return func(params, x2)

            output, vjp_fn = vjp(func_x1, params)

            def get_ntk_slice(vec):
                vjps = vjp_fn(vec)
                _, jvps = jvp(func_x2, (params,), vjps)
                return jvps

            basis = torch.eye(output.numel(), dtype=output.dtype, device=output.device).view(
                output.numel(), -1
            )
            return vmap(get_ntk_slice)(basis)

        result = vmap(vmap(get_ntk, (None, 0)), (0, None))(x1, x2)
        if compute == "full":
            return result
        if compute == "trace":
            return torch.einsum("NMKK->NM", result)
        if compute == "diagonal":
            return torch.einsum("NMKK->NMK", result)

    r2 = empirical_ntk_ntk_vps(fnet_single, params, x_test, x_train, "trace")
    return result, r2


@program
def maml_inner_loop(torch: Any) -> Any:
    w = torch.tensor([[0.5], [-0.3]], requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    meta_opt = torch.optim.Adam([w, b], lr=1e-2)
    for _task in range(3):
        meta_opt.zero_grad()
        meta_loss = 0.0
        for s in range(2):
            x = torch.randn(5, 2)
            y = x.sum(1, keepdim=True) * (s + 1)
            fast = [w, b]
            for _ in range(2):
                loss = ((x @ fast[0] + fast[1] - y) ** 2).mean()
                grads = torch.autograd.grad(loss, fast, create_graph=True)
                fast = [p - 0.1 * g for p, g in zip(fast, grads, strict=True)]
            meta_loss += ((x @ fast[0] + fast[1] - y) ** 2).mean()
        meta_loss.backward()
        meta_opt.step()
    print(meta_loss)
    return w, b


@program
def influence_functions(torch: Any) -> Any:
    X, y = torch.randn(12, 3, dtype=torch.float64), torch.randn(12, dtype=torch.float64)
    w = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def loss(w):
        return ((X @ w - y) ** 2).mean() + 0.1 * w.pow(2).sum()

    H = torch.autograd.functional.hessian(loss, w)
    g = torch.autograd.functional.jacobian(loss, w)
    w_star = torch.linalg.solve(H, -g)
    per = torch.func.vmap(torch.func.grad(lambda w, x, t: (x @ w - t) ** 2), (None, 0, 0))(
        w_star, X, y
    )
    infl = -per @ torch.linalg.solve(H, per[0])
    v = torch.ones(3, dtype=torch.float64)
    _val, hv = torch.autograd.functional.hvp(loss, w, v)
    _val2, vh = torch.autograd.functional.vhp(loss, w, v)
    print(H)
    return H, w_star, infl, hv, vh


@program
def fisher_information(torch: Any) -> Any:
    model = torch.nn.Linear(3, 4)
    x = torch.randn(6, 3)
    y = torch.tensor([0, 1, 2, 3, 0, 1])
    fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    for xi, yi in zip(x, y, strict=True):
        model.zero_grad()
        logp = torch.log_softmax(model(xi), -1)[yi]
        logp.backward()
        for n, p in model.named_parameters():
            fisher[n] += p.grad.detach() ** 2 / len(x)
    star = {n: p.clone().detach() for n, p in model.named_parameters()}
    ewc = sum((fisher[n] * (p - star[n] + 0.1) ** 2).sum() for n, p in model.named_parameters())
    model.zero_grad()
    ewc.backward()
    return fisher, model.weight, ewc


@program
def functional_api(torch: Any) -> Any:
    AF = torch.autograd.functional

    def f(x):
        return x.exp().sum(dim=1)

    x = torch.rand(2, 2)
    J = AF.jacobian(f, x)

    def g(x, y):
        return 2 * x + 3 * y

    J2 = AF.jacobian(g, (torch.rand(2), torch.rand(2)))
    H = AF.hessian(lambda x: x.pow(3).sum(), torch.rand(2, 2))
    H2 = AF.hessian(
        lambda x, y: (2 * x.pow(2) + 3 * y.pow(2)).sum(), (torch.rand(1), torch.rand(1))
    )
    v = AF.vjp(f, x, torch.ones(2))
    jv = AF.jvp(f, x, torch.ones(2, 2))
    Jc = AF.jacobian(f, x, create_graph=True)
    Jv = AF.jacobian(f, x, vectorize=True)
    Jf = AF.jacobian(f, x, strategy="forward-mode", vectorize=True)
    try:
        AF.jacobian(lambda x: torch.ones(2), x, strict=True)
    except RuntimeError as e:
        print("strict" in str(e))
    try:
        AF.vjp(f, x)
    except RuntimeError as e:
        print(type(e).__name__)
    return J, J2, H, H2, v, jv, Jc, Jv, Jf


@program
def torch_func_extras(torch: Any) -> Any:
    fn = torch.func
    x = torch.randn(3)
    g, v = fn.grad_and_value(lambda x: x.sin().sum())(x)
    (g2, aux) = fn.grad(lambda x: (x.sum(), x * 2), has_aux=True)(x)
    out, pull = fn.vjp(lambda a, b: {"s": a * b, "t": a.sum()}, x, x)
    pulled = pull({"s": torch.ones(3), "t": torch.tensor(1.0)})
    h = fn.hessian(lambda x: (x**3).sum())(x)
    vm = fn.vmap(torch.dot, in_dims=(0, None))(torch.randn(4, 3), x)
    vm2 = fn.vmap(lambda a, b: (a + b, a), in_dims=(1, 0), out_dims=(1, 0))(
        torch.randn(3, 4), torch.randn(4, 3)
    )
    r = fn.vmap(lambda a: a + torch.randn(()), randomness="same")(torch.zeros(3))
    ln = fn.linearize(lambda x: x.sin(), x)[1](torch.ones(3))
    ch = fn.vmap(lambda a: a.sum(), chunk_size=2)(torch.ones(5, 2))
    try:
        fn.grad(lambda x: x)(x)
    except RuntimeError as e:
        print(type(e).__name__)
    try:
        fn.vmap(lambda a: a.item())(x)
    except RuntimeError as e:
        print(".item()" in str(e))
    try:
        fn.vmap(lambda a: a if a > 0 else -a)(x)
    except RuntimeError as e:
        print("data-dependent control flow" in str(e))
    jj = fn.jacrev(fn.jacfwd(lambda x: x.prod()))(x)
    return g, v, g2, aux, out, pulled, h, vm, vm2, ln, ch, jj, (r[0] == r[1]).item()


@program
def newton_method(torch: Any) -> Any:
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    for _ in range(6):
        y = x**3 - 2 * x - 5
        (g,) = torch.autograd.grad(y, x)
        x = (x - y / g).detach().requires_grad_()
    print(f"{x.item():.8f}")
    return x


@program
def newton_hessian_step(torch: Any) -> Any:
    def f(p):
        return (p[0] - 1) ** 4 + (p[1] + 2) ** 2 * (p[0] ** 2 + 1)

    p = torch.tensor([3.0, 1.0], dtype=torch.float64)
    for _ in range(5):
        g = torch.autograd.functional.jacobian(f, p)
        H = torch.autograd.functional.hessian(f, p)
        p = p - torch.linalg.solve(H, g)
    return p


@program
def nested_grad_third_derivative(torch: Any) -> Any:
    x = torch.tensor(0.7, requires_grad=True)
    y = torch.sin(x) * x**2
    ds = []
    for _ in range(4):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        ds.append(y)
    print(ds)
    return ds


@program
def hessian_vector_product_by_hand(torch: Any) -> Any:
    w = torch.randn(4, requires_grad=True)
    f = (w**4).sum() + (w[0] * w[1] * w[2])
    v = torch.arange(4.0)
    (g,) = torch.autograd.grad(f, w, create_graph=True)
    (hv,) = torch.autograd.grad(g @ v, w, retain_graph=True)
    (hv2,) = torch.autograd.grad(g, w, grad_outputs=v)
    return hv, hv2


@program
def power_iteration(torch: Any) -> Any:
    A = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    v = torch.ones(2)
    for _ in range(30):
        v = A @ v
        v = v / v.norm()
    lam = v @ A @ v
    lam.backward()
    print(lam, torch.linalg.eigvalsh(A.detach())[-1])
    return A


@program
def implicit_differentiation(torch: Any) -> Any:
    class FixedPoint(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            x = torch.ones_like(a)
            for _ in range(60):
                x = 0.5 * (x + a / x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g / (2 * x)

    a = torch.tensor([4.0, 9.0], dtype=torch.float64, requires_grad=True)
    y = FixedPoint.apply(a)
    y.sum().backward()
    print(torch.autograd.gradcheck(FixedPoint.apply, (a,)))
    return y, a


@program
def functional_call_training(torch: Any) -> Any:
    m = torch.nn.Linear(2, 1)
    params = dict(m.named_parameters())

    def loss_fn(params, x, y):
        return ((torch.func.functional_call(m, params, (x,)) - y) ** 2).mean()

    x, y = torch.randn(5, 2), torch.randn(5, 1)
    params = {k: v.detach() for k, v in params.items()}
    for _ in range(3):
        g = torch.func.grad(loss_fn)(params, x, y)
        params = {k: params[k] - 0.1 * g[k] for k in params}
    print(list(g), m.weight.grad)
    return params


@program
def laplacian_of_network(torch: Any) -> Any:
    f = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.randn(4, 3, requires_grad=True)
    u = f(x)
    g = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    lap = 0
    for i in range(3):
        lap = lap + torch.autograd.grad(g[:, i].sum(), x, create_graph=True)[0][:, i]
    lap.sum().backward()
    h = torch.func.vmap(torch.func.hessian(lambda q: f(q).squeeze()))(x.detach())
    print(torch.allclose(lap, h.diagonal(dim1=-2, dim2=-1).sum(-1), atol=1e-5))
    return lap, x, h.detach()


@program
def divergence_and_curl(torch: Any) -> Any:
    def field(p):
        return torch.stack([p[1] * p[2], p[0] ** 2, torch.sin(p[0] * p[1])])

    p = torch.tensor([0.5, -1.0, 2.0])
    J = torch.func.jacrev(field)(p)
    return torch.trace(J), torch.stack([J[2, 1] - J[1, 2], J[0, 2] - J[2, 0], J[1, 0] - J[0, 1]])


@program
def batch_jacobian_loop_vs_vmap(torch: Any) -> Any:
    f = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    x = torch.randn(5, 3)
    J1 = torch.stack([torch.autograd.functional.jacobian(f, xi) for xi in x])
    J2 = torch.func.vmap(torch.func.jacrev(f))(x)
    J3 = torch.func.vmap(torch.func.jacfwd(f))(x)
    J4 = torch.autograd.functional.jacobian(lambda q: f(q).sum(0), x).permute(1, 0, 2)
    print(
        torch.allclose(J1, J2, atol=1e-6),
        torch.allclose(J2, J3, atol=1e-6),
        torch.allclose(J3, J4, atol=1e-6),
    )
    return J1, J2.detach(), J4


@program
def higher_order_polynomials(torch: Any) -> Any:
    x = torch.linspace(-1, 1, 5, dtype=torch.float64, requires_grad=True)
    for f in (
        lambda x: x**5,
        torch.exp,
        lambda x: torch.sin(x) * torch.cosh(x),
        lambda x: 1 / (1 + 25 * x**2),
        torch.erf,
        lambda x: torch.atan(x**3),
        lambda x: torch.sigmoid(x) ** 2,
        lambda x: torch.log1p(x * x),
        lambda x: torch.softmax(x, 0),
    ):
        y = f(x)
        row = []
        for _ in range(3):
            (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            row.append(y.detach())
        print(row[-1])


@program
def double_backward_through_modules(torch: Any) -> Any:
    nn = torch.nn
    for m, x in (
        (nn.Conv2d(1, 2, 3), torch.randn(1, 1, 5, 5)),
        (nn.BatchNorm1d(3), torch.randn(4, 3)),
        (nn.LayerNorm(3), torch.randn(2, 3)),
        (nn.MaxPool2d(2), torch.randn(1, 1, 4, 4)),
        (nn.Softmax(1), torch.randn(2, 3)),
        (nn.GELU(), torch.randn(3)),
        (nn.Linear(3, 2), torch.randn(2, 3)),
        (nn.AvgPool2d(2), torch.randn(1, 1, 4, 4)),
        (nn.ELU(), torch.randn(4)),
        (nn.Softplus(), torch.randn(4)),
        (nn.ConvTranspose2d(1, 1, 2), torch.randn(1, 1, 3, 3)),
        (nn.GroupNorm(1, 2), torch.randn(2, 2, 3)),
        (nn.Upsample(scale_factor=2, mode="bilinear"), torch.randn(1, 1, 3, 3)),
        (nn.CosineSimilarity(), None),
    ):
        if x is None:
            continue
        x.requires_grad_()
        y = (m(x) ** 3).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        gg = torch.autograd.grad((g**2).sum(), [x, *m.parameters()], allow_unused=True)
        print([None if v is None else v.norm() for v in gg])


@program
def vmap_in_practice(torch: Any) -> Any:
    v = torch.vmap
    A, x = torch.randn(5, 3, 3), torch.randn(5, 3)
    outs = [
        v(torch.mv)(A, x),
        v(torch.linalg.solve)(A, x),
        v(lambda a: a.trace())(A),
        v(torch.outer)(x, x),
        v(lambda a, b: torch.where(a > 0, b, -b))(x, x),
        v(lambda a: torch.cat([a, a]))(x),
        v(lambda a: a.sort(descending=True)[0])(x),
        v(v(torch.mul), in_dims=(0, None))(A.unbind(1)[0], torch.ones(3)),
        v(lambda a: a.softmax(0).max())(x),
        v(lambda d: d["a"] + d["b"])({"a": x, "b": x}),
        v(lambda a: a[0:2].clone())(x),
        v(lambda a: torch.zeros(2).index_add(0, torch.tensor([0, 1, 0]), a))(x),
        v(lambda a, i: a[i], in_dims=(0, 0))(x, torch.tensor([0, 1, 2, 0, 1])),
        v(torch.dot, in_dims=1)(x, x),
        v(lambda a: torch.nn.functional.layer_norm(a, (3,)))(x),
        v(lambda m: torch.linalg.inv(m) @ m)(A + 5 * torch.eye(3)),
        v(lambda a: torch.einsum("i,j->ij", a, a))(x),
    ]
    return outs


@program
def printing_inside_of_vmap_and_duals(torch: Any) -> Any:
    def show(x):
        print(x, x.sum(), x.shape)
        return x * 2

    torch.vmap(show)(torch.arange(6.0).view(2, 3))
    torch.vmap(torch.vmap(lambda y: (print(y), y)[1]))(torch.ones(2, 3))
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        d = forward.make_dual(torch.arange(3.0), torch.ones(3))
        print(d, d * d)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
