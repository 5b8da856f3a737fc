"""Methods of physics, statistics and geometry on tensors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def pinn_oscillator(torch: Any) -> Any:
    nn = torch.nn

    class FCN(nn.Module):
        def __init__(self, n_in, n_out, hidden, layers):
            super().__init__()
            act = nn.Tanh
            self.fcs = nn.Sequential(*[nn.Linear(n_in, hidden), act()])
            self.fch = nn.Sequential(
                *[nn.Sequential(*[nn.Linear(hidden, hidden), act()]) for _ in range(layers - 1)]
            )
            self.fce = nn.Linear(hidden, n_out)

        def forward(self, x):
            return self.fce(self.fch(self.fcs(x)))

    torch.manual_seed(123)
    pinn = FCN(1, 1, 16, 2)
    t_boundary = torch.tensor(0.0).view(-1, 1).requires_grad_(True)
    t_physics = torch.linspace(0, 1, 30).view(-1, 1).requires_grad_(True)
    d, w0 = 2, 20
    mu, k = 2 * d, w0**2
    optimiser = torch.optim.Adam(pinn.parameters(), lr=1e-3)
    for _i in range(10):
        optimiser.zero_grad()
        lambda1, lambda2 = 1e-1, 1e-4
        u = pinn(t_boundary)
        loss1 = (torch.squeeze(u) - 1) ** 2
        dudt = torch.autograd.grad(u, t_boundary, torch.ones_like(u), create_graph=True)[0]
        loss2 = (torch.squeeze(dudt) - 0) ** 2
        u = pinn(t_physics)
        dudt = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
        d2udt2 = torch.autograd.grad(dudt, t_physics, torch.ones_like(dudt), create_graph=True)[0]
        loss3 = torch.mean((d2udt2 + mu * dudt + k * u) ** 2)
        loss = loss1 + lambda1 * loss2 + lambda2 * loss3
        loss.backward()
        optimiser.step()
    print(pinn)
    return loss, pinn.fce.weight.detach(), d2udt2


@program
def neural_ode_rk4(torch: Any) -> Any:
    class ODEFunc(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(
                torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
            )
            for m in self.net.modules():
                if isinstance(m, torch.nn.Linear):
                    torch.nn.init.normal_(m.weight, mean=0, std=0.1)
                    torch.nn.init.constant_(m.bias, val=0)

        def forward(self, t, y):
            return self.net(y**3)

    def odeint(func, y0, t):
        ys = [y0]
        for t0, t1 in itertools.pairwise(t):
            h = t1 - t0
            y = ys[-1]
            k1 = func(t0, y)
            k2 = func(t0 + h / 2, y + h / 2 * k1)
            k3 = func(t0 + h / 2, y + h / 2 * k2)
            k4 = func(t1, y + h * k3)
            ys.append(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        return torch.stack(ys)

    f = ODEFunc()
    y0 = torch.tensor([[2.0, 0.0]], requires_grad=True)
    t = torch.linspace(0.0, 1.0, 6)
    sol = odeint(f, y0, t)
    loss = torch.mean(torch.abs(sol - 1))
    loss.backward()
    return sol.shape, y0, [p.grad for p in f.parameters()]


@program
def gaussian_process_regression(torch: Any) -> Any:
    x = torch.linspace(0, 1, 20, dtype=torch.float64)
    y = torch.sin(x * 2 * math.pi) + 0.1 * torch.cos(30 * x)
    log_ell = torch.zeros((), dtype=torch.float64, requires_grad=True)
    log_sf = torch.zeros((), dtype=torch.float64, requires_grad=True)
    log_sn = torch.tensor(-1.0, dtype=torch.float64, requires_grad=True)
    opt = torch.optim.Adam([log_ell, log_sf, log_sn], lr=0.1)

    def kernel(a, b):
        d = (a[:, None] - b[None, :]) ** 2
        return torch.exp(2 * log_sf) * torch.exp(-0.5 * d / torch.exp(2 * log_ell))

    for _it in range(15):
        opt.zero_grad()
        K = kernel(x, x) + torch.exp(2 * log_sn) * torch.eye(len(x), dtype=x.dtype)
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(y.unsqueeze(1), L)
        nll = (
            0.5 * (y.unsqueeze(0) @ alpha).squeeze()
            + torch.log(torch.diagonal(L)).sum()
            + 0.5 * len(x) * math.log(2 * math.pi)
        )
        nll.backward()
        opt.step()
    with torch.no_grad():
        xs = torch.linspace(0, 1, 5, dtype=torch.float64)
        mu = kernel(xs, x) @ alpha
        v = torch.linalg.solve_triangular(L, kernel(x, xs), upper=False)
        var = kernel(xs, xs).diag() - (v**2).sum(0)
    print(f"{nll.item():.4f}", log_ell)
    return mu, var, log_ell, log_sf, log_sn


@program
def kmeans(torch: Any) -> Any:
    X = torch.randn(60, 2) + torch.tensor([[0.0, 0.0], [5.0, 5.0], [-5.0, 5.0]]).repeat_interleave(
        20, 0
    )
    c = X[[0, 20, 40]].clone()
    for _ in range(5):
        d = torch.cdist(X, c)
        assign = d.argmin(dim=1)
        for k in range(3):
            c[k] = X[assign == k].mean(dim=0)
    counts = torch.bincount(assign, minlength=3)
    print(counts, c)
    c2 = torch.zeros(3, 2).index_add_(0, assign, X) / counts.unsqueeze(-1)
    soft = (c + 0.5).requires_grad_()
    loss = torch.logsumexp(-(torch.cdist(X, soft) ** 2), dim=1).mean()
    loss.backward()
    return c, c2, soft


@program
def matrix_factorisation(torch: Any) -> Any:
    class MF(torch.nn.Module):
        def __init__(self, n_users, n_items, k=4):
            super().__init__()
            self.user = torch.nn.Embedding(n_users, k)
            self.item = torch.nn.Embedding(n_items, k)
            self.user_bias = torch.nn.Embedding(n_users, 1)
            self.item_bias = torch.nn.Embedding(n_items, 1)

        def forward(self, u, i):
            return (
                (self.user(u) * self.item(i)).sum(1, keepdim=True).squeeze()
                + self.user_bias(u).squeeze()
                + self.item_bias(i).squeeze()
            )

    m = MF(5, 7)
    u = torch.LongTensor([0, 1, 2, 3, 4, 0])
    i = torch.LongTensor([6, 5, 4, 3, 2, 1])
    r = torch.FloatTensor([5, 3, 1, 4, 2, 5])
    opt = torch.optim.SGD(m.parameters(), lr=0.1, weight_decay=1e-4)
    for _epoch in range(5):
        loss = torch.nn.functional.mse_loss(m(u, i), r)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(m)
    return loss, m.user.weight, m.item_bias.weight


@program
def soft_dtw(torch: Any) -> Any:
    def softmin(a, b, c, gamma):
        z = torch.stack([a, b, c]) / -gamma
        return -gamma * torch.logsumexp(z, dim=0)

    def sdtw(D, gamma):
        n, m = D.shape
        inf = torch.tensor(float("inf"))
        R = [[inf] * (m + 1) for _ in range(n + 1)]
        R[0][0] = torch.tensor(0.0)
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                R[i][j] = D[i - 1, j - 1] + softmin(
                    R[i - 1][j - 1], R[i - 1][j], R[i][j - 1], gamma
                )
        return R[n][m]

    x = torch.randn(4, 1, requires_grad=True)
    y = torch.randn(5, 1)
    loss = sdtw(torch.cdist(x, y) ** 2, 0.5)
    loss.backward()
    print(loss)
    return x


@program
def crf_forward_algorithm(torch: Any) -> Any:
    def argmax(vec):
        _, idx = torch.max(vec, 1)
        return idx.item()

    def log_sum_exp(vec):
        max_score = vec[0, argmax(vec)]
        max_score_broadcast = max_score.view(1, -1).expand(1, vec.size()[1])
        return max_score + torch.log(torch.sum(torch.exp(vec - max_score_broadcast)))

    tagset_size = 5
    transitions = torch.nn.Parameter(torch.randn(tagset_size, tagset_size))
    transitions.data[3, :] = -10000
    transitions.data[:, 4] = -10000
    feats = torch.randn(6, tagset_size, requires_grad=True)
    init_alphas = torch.full((1, tagset_size), -10000.0)
    init_alphas[0][3] = 0.0
    forward_var = init_alphas
    for feat in feats:
        alphas_t = []
        for next_tag in range(tagset_size):
            emit_score = feat[next_tag].view(1, -1).expand(1, tagset_size)
            trans_score = transitions[next_tag].view(1, -1)
            next_tag_var = forward_var + trans_score + emit_score
            alphas_t.append(log_sum_exp(next_tag_var).view(1))
        forward_var = torch.cat(alphas_t).view(1, -1)
    terminal_var = forward_var + transitions[4]
    alpha = log_sum_exp(terminal_var)
    score = torch.zeros(1)
    tags = torch.cat([torch.tensor([3], dtype=torch.long), torch.tensor([0, 1, 2, 0, 1, 2])])
    for i, feat in enumerate(feats):
        score = score + transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
    nll = alpha - score
    nll.backward()
    print(nll)
    return feats, transitions


@program
def kalman_filter(torch: Any) -> Any:
    dt = 0.1
    A = torch.tensor([[1.0, dt], [0.0, 1.0]])
    H = torch.tensor([[1.0, 0.0]])
    log_q = torch.tensor(-2.0, requires_grad=True)
    log_r = torch.tensor(-1.0, requires_grad=True)
    zs = torch.sin(torch.arange(12) * dt)
    x, P = torch.zeros(2, 1), torch.eye(2)
    ll = 0.0
    for z in zs:
        x = A @ x
        P = A @ P @ A.T + log_q.exp() * torch.eye(2)
        S = H @ P @ H.T + log_r.exp()
        K = P @ H.T @ torch.inverse(S)
        innov = z - H @ x
        ll = ll - 0.5 * (
            torch.logdet(S) + innov.T @ torch.linalg.inv(S) @ innov + math.log(2 * math.pi)
        )
        x = x + K @ innov
        P = (torch.eye(2) - K @ H) @ P
    (-ll).backward()
    print(x, ll)
    return x, P, log_q, log_r


@program
def ray_marching(torch: Any) -> Any:
    H = W = 8
    i, j = torch.meshgrid(torch.linspace(-1, 1, W), torch.linspace(-1, 1, H), indexing="xy")
    d = torch.nn.functional.normalize(torch.stack([i, j, -torch.ones_like(i)], -1), dim=-1)
    centre = torch.tensor([0.0, 0.0, -3.0], requires_grad=True)
    ts = torch.linspace(1.0, 5.0, 16)
    pts = d[..., None, :] * ts[:, None]
    sigma = torch.sigmoid((1.0 - (pts - centre).norm(dim=-1)) * 10) * 5
    deltas = torch.cat([ts[1:] - ts[:-1], torch.tensor([1e10])])
    alpha = 1 - torch.exp(-sigma * deltas)
    T = torch.cumprod(torch.cat([torch.ones_like(alpha[..., :1]), 1 - alpha + 1e-10], -1), -1)[
        ..., :-1
    ]
    weights = alpha * T
    depth = (weights * ts).sum(-1)
    depth.mean().backward()
    return depth, centre


@program
def sinkhorn(torch: Any) -> Any:
    x = torch.randn(5, 2, requires_grad=True)
    y = torch.randn(6, 2)
    C = torch.cdist(x, y, p=2) ** 2
    eps = 0.5
    f, g = torch.zeros(5), torch.zeros(6)
    la, lb = torch.full((5,), -math.log(5)), torch.full((6,), -math.log(6))
    for _ in range(20):
        f = -eps * torch.logsumexp((g - C) / eps + lb, dim=1)
        g = -eps * torch.logsumexp((f[:, None] - C) / eps + la[:, None], dim=0)
    P = torch.exp((f[:, None] + g - C) / eps + la[:, None] + lb)
    cost = (P * C).sum()
    cost.backward()
    print(P.sum(), P.sum(0))
    return cost, x


@program
def sorting_network(torch: Any) -> Any:
    def soft_swap(a, b, beta=5.0):
        p = torch.sigmoid(beta * (b - a))
        return a * p + b * (1 - p), a * (1 - p) + b * p

    x = torch.tensor([3.0, 1.0, 2.0, 0.5], requires_grad=True)
    vals = list(x)
    for i, j in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]:
        vals[i], vals[j] = soft_swap(vals[i], vals[j])
    s = torch.stack(vals)
    (s * torch.arange(4.0)).sum().backward()
    print(s)
    a, _b, _c, _d = x
    print(a, type(a), x.unbind()[1])
    return s, x


@program
def quantile_regression(torch: Any) -> Any:
    qs = torch.tensor([0.1, 0.5, 0.9])
    lin = torch.nn.Linear(1, 3)
    x = torch.linspace(0, 1, 20)[:, None]
    y = x * 2 + torch.randn(20, 1) * 0.1
    opt = torch.optim.RMSprop(lin.parameters(), lr=0.01)
    for _ in range(10):
        e = y - lin(x)
        loss = torch.max((qs - 1) * e, qs * e).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(torch.quantile(y, qs), y.median())
    return loss, lin.weight, torch.quantile(y, qs, dim=0)


@program
def lotka_volterra_fit(torch: Any) -> Any:
    p = torch.tensor([1.0, 0.4, 0.1, 0.4], requires_grad=True)

    def simulate(p):
        z = torch.tensor([1.0, 1.0])
        out = [z]
        for _ in range(20):
            x, y = z
            z = z + 0.1 * torch.stack([p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y])
            out.append(z)
        return torch.stack(out)

    target = simulate(torch.tensor([1.1, 0.4, 0.1, 0.4])).detach()
    opt = torch.optim.Adam([p], lr=0.01)
    for _ in range(5):
        opt.zero_grad()
        loss = ((simulate(p) - target) ** 2).mean()
        loss.backward()
        opt.step()
    return p, loss


@program
def heat_equation_control(torch: Any) -> Any:
    u = torch.zeros(16)
    u[8] = 1.0
    k = torch.tensor(0.2, requires_grad=True)
    for _ in range(10):
        lap = torch.roll(u, 1) - 2 * u + torch.roll(u, -1)
        u = u + k * lap
    loss = (u[4:12] ** 2).sum()
    loss.backward()
    print(u.sum(), k.grad)
    return u, k


@program
def burgers_with_conv(torch: Any) -> Any:
    F = torch.nn.functional
    u = torch.sin(torch.linspace(0, 2 * math.pi, 33)[:-1]).requires_grad_()
    ker = torch.tensor([[[-0.5, 0.0, 0.5]]])
    v = u
    for _ in range(3):
        p = F.pad(v[None, None], (1, 1), mode="circular")
        dv = F.conv1d(p, ker)[0, 0]
        v = v - 0.1 * v * dv
    v.pow(2).sum().backward()
    return v, u


@program
def pendulum_lagrangian(torch: Any) -> Any:
    def L(q, qd):
        return 0.5 * (qd**2).sum() - 9.8 * (1 - torch.cos(q)).sum()

    q, qd = torch.tensor([0.3]), torch.tensor([0.1])
    fn = torch.func
    H = fn.hessian(L, argnums=1)(q, qd)
    g = fn.grad(L, argnums=0)(q, qd)
    C = fn.jacrev(fn.grad(L, argnums=1), argnums=0)(q, qd)
    return torch.linalg.solve(H, g - C @ qd)


@program
def pca_via_covariance(torch: Any) -> Any:
    x = torch.randn(20, 3) @ torch.tensor([[2.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.3, 0.2]])
    xc = x - x.mean(dim=0, keepdim=True)
    cov = xc.t() @ xc / (x.size(0) - 1)
    L, V = torch.linalg.eigh(cov)
    print(torch.allclose(cov, torch.cov(x.T), atol=1e-6))
    c = cov.clone().requires_grad_()
    torch.linalg.eigvalsh(c)[-1].backward()
    return L, c, (V @ torch.diag(L) @ V.T)


@program
def ridge_closed_form(torch: Any) -> Any:
    X, y = torch.randn(10, 3, dtype=torch.float64), torch.randn(10, dtype=torch.float64)
    lam = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    w = torch.linalg.solve(X.T @ X + lam * torch.eye(3), X.T @ y)
    val = ((torch.randn(4, 3, dtype=torch.float64) @ w) ** 2).mean()
    val.backward()
    ls = torch.linalg.lstsq(X, y[:, None])
    print(ls.solution.shape)
    return w, lam, ls.solution


@program
def logistic_regression_manual(torch: Any) -> Any:
    X = torch.cat([torch.randn(10, 2) + 1, torch.randn(10, 2) - 1])
    y = torch.cat([torch.ones(10), torch.zeros(10)])
    w, b = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _epoch in range(10):
        p = torch.sigmoid(X @ w + b)
        loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.5 * w.grad
            b -= 0.5 * b.grad
        w.grad.zero_()
        b.grad.zero_()
    acc = ((p > 0.5) == y.bool()).float().mean()
    print(f"acc {acc:.2f} loss {loss:.4f}")
    return w, b


@program
def svm_hinge(torch: Any) -> Any:
    X = torch.randn(12, 2)
    y = torch.sign(X[:, 0])
    w = torch.zeros(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1, weight_decay=0.01)
    for _ in range(5):
        loss = torch.clamp(1 - y * (X @ w), min=0).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    m = torch.nn.SoftMarginLoss()(torch.randn(3, 4), torch.ones(3, 4))
    return w, loss, m


@program
def signed_distance_eikonal(torch: Any) -> Any:
    x = torch.randn(6, 3, requires_grad=True)
    w = torch.randn(3, 1, requires_grad=True)
    sdf = torch.sin(x @ w)
    n = torch.autograd.grad(
        sdf,
        x,
        grad_outputs=torch.ones_like(sdf),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    eik = ((n.norm(2, dim=-1) - 1) ** 2).mean()
    eik.backward()
    return eik, w


@program
def molecular_forces(torch: Any) -> Any:
    pos = torch.randn(5, 3, requires_grad=True)
    i, j = torch.triu_indices(5, 5, offset=1)
    r = (pos[i] - pos[j]).norm(dim=1)
    e = (4 * ((1 / r) ** 12 - (1 / r) ** 6)).sum()
    forces = -torch.autograd.grad(e, pos)[0]
    print(forces.sum(0).abs().max() < 1e-1 * forces.abs().max())
    return e, forces


@program
def quaternion_rotation(torch: Any) -> Any:
    q = torch.tensor([0.9, 0.1, 0.3, -0.2], requires_grad=True)
    qn = q / q.norm()
    w, x, y, z = torch.unbind(qn, -1)
    R = torch.stack(
        [
            1 - 2 * (y * y + z * z),
            2 * (x * y - z * w),
            2 * (x * z + y * w),
            2 * (x * y + z * w),
            1 - 2 * (x * x + z * z),
            2 * (y * z - x * w),
            2 * (x * z - y * w),
            2 * (y * z + x * w),
            1 - 2 * (x * x + y * y),
        ],
        -1,
    ).reshape(3, 3)
    p = torch.tensor([[1.0, 2.0, 3.0]])
    (p @ R.T)[0, 0].backward()
    print(torch.det(R), R @ R.T)
    return R, q


@program
def camera_projection_bundle(torch: Any) -> Any:
    X = torch.randn(6, 3) + torch.tensor([0.0, 0.0, 5.0])
    aa = torch.zeros(3, requires_grad=True)
    t = torch.zeros(3, requires_grad=True)

    def hat(v):
        zero = torch.zeros((), dtype=v.dtype)
        return torch.stack(
            [
                torch.stack([zero, -v[2], v[1]]),
                torch.stack([v[2], zero, -v[0]]),
                torch.stack([-v[1], v[0], zero]),
            ]
        )

    R = torch.matrix_exp(hat(aa + 0.1))
    P = X @ R.T + t
    uv = P[:, :2] / P[:, 2:]
    loss = (uv - X[:, :2] / X[:, 2:]).pow(2).sum()
    loss.backward()
    return uv, aa, t


@program
def linalg_gradients(torch: Any) -> Any:
    A = torch.randn(3, 3, dtype=torch.float64)
    S = (A @ A.T + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_()
    L = torch.linalg
    outs = [
        L.inv(S),
        L.det(S),
        L.slogdet(S)[1],
        L.cholesky(S),
        L.eigvalsh(S),
        L.norm(S),
        L.matrix_norm(S),
        L.vector_norm(S, 3),
        L.solve(S, torch.ones(3, dtype=torch.float64)),
        L.svdvals(S),
        L.pinv(S),
        L.matrix_power(S, 3),
        torch.logdet(S),
        torch.trace(S),
        torch.matrix_exp(S / 10),
        L.qr(S)[1],
        torch.linalg.lu_factor(S)[0],
        L.eigh(S)[0],
        torch.cholesky_inverse(L.cholesky(S)),
        L.cross(S[0], S[1]),
        torch.kron(S, torch.eye(2, dtype=torch.float64)),
        L.matrix_rank(S),
    ]
    sum((o.double() ** 2).sum() for o in outs).backward()
    return outs, S


@program
def spectral_fft_filters(torch: Any) -> Any:
    F = torch.fft
    x = torch.randn(16, requires_grad=True)
    X = F.rfft(x)
    freq = F.rfftfreq(16)
    low = F.irfft(X * (freq < 0.2), n=16)
    conv = F.irfft(F.rfft(x, n=32) * F.rfft(torch.ones(4), n=32), n=32)[:19]
    (
        low.pow(2).sum()
        + conv.pow(2).sum()
        + F.fft2(x.view(4, 4)).abs().sum()
        + F.fftshift(F.fft(x)).imag.pow(2).sum()
        + F.fftn(x.view(2, 2, 4)).real.sum()
        + F.ihfft(x).abs().sum()
    ).backward()
    print(freq, X.dtype)
    return low, conv, x


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
