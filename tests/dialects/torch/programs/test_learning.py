"""Reinforcement, generative models and flows: steps of training."""

from __future__ import annotations

import collections
import math
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def hmc_sampler(torch: Any) -> Any:
    def log_prob(q):
        return -0.5 * (q @ torch.tensor([[2.0, 0.5], [0.5, 1.0]]) @ q)

    def grad_u(q):
        q = q.detach().requires_grad_(True)
        return torch.autograd.grad(-log_prob(q), q)[0]

    torch.manual_seed(5)
    q = torch.zeros(2)
    samples = []
    for _ in range(10):
        p = torch.randn(2)
        q_new, p_new = q.clone(), p.clone()
        p_new -= 0.05 * grad_u(q_new)
        for _ in range(5):
            q_new += 0.1 * p_new
            p_new -= 0.1 * grad_u(q_new)
        dH = (-log_prob(q_new) + 0.5 * p_new.dot(p_new)) - (-log_prob(q) + 0.5 * p.dot(p))
        if torch.rand(1) < torch.exp(-dH):
            q = q_new
        samples.append(q.clone())
    return torch.stack(samples), torch.stack(samples).mean(0)


@program
def reinforce(torch: Any) -> Any:
    policy = torch.nn.Sequential(
        torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2), torch.nn.Softmax(dim=-1)
    )
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    log_probs, rewards = [], []
    state = torch.randn(4)
    for t in range(8):
        probs = policy(state)
        action = t % 2
        log_probs.append(torch.log(probs.squeeze(0)[action]))
        rewards.append(1.0 if action else 0.5)
        state = state.roll(1) * 0.9
    R, returns = 0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-9)
    policy_loss = []
    for lp, Rt in zip(log_probs, returns, strict=True):
        policy_loss.append(-lp * Rt)
    opt.zero_grad()
    loss = torch.stack(policy_loss).sum()
    loss.backward()
    opt.step()
    print(loss)
    return loss, policy[0].weight


@program
def dqn_step(torch: Any) -> Any:
    nn = torch.nn
    Transition = collections.namedtuple("Transition", ("state", "action", "next_state", "reward"))

    class DQN(nn.Module):
        def __init__(self, n_observations, n_actions):
            super().__init__()
            self.layer1 = nn.Linear(n_observations, 16)
            self.layer3 = nn.Linear(16, n_actions)

        def forward(self, x):
            return self.layer3(torch.nn.functional.relu(self.layer1(x)))

    policy_net, target_net = DQN(4, 2), DQN(4, 2)
    print(target_net.load_state_dict(policy_net.state_dict()))
    memory = [
        Transition(
            torch.randn(1, 4),
            torch.tensor([[k % 2]], dtype=torch.long),
            None if k == 3 else torch.randn(1, 4),
            torch.tensor([1.0 * k]),
        )
        for k in range(8)
    ]
    batch = Transition(*zip(*memory, strict=True))
    non_final_mask = torch.tensor(tuple(s is not None for s in batch.next_state), dtype=torch.bool)
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch, action_batch, reward_batch = (
        torch.cat(batch.state),
        torch.cat(batch.action),
        torch.cat(batch.reward),
    )
    state_action_values = policy_net(state_batch).gather(1, action_batch)
    next_state_values = torch.zeros(8)
    with torch.no_grad():
        next_state_values[non_final_mask] = target_net(non_final_next_states).max(1).values
    expected = (next_state_values * 0.99) + reward_batch
    criterion = nn.SmoothL1Loss()
    loss = criterion(state_action_values, expected.unsqueeze(1))
    optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-4, amsgrad=True)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    sd, pd = target_net.state_dict(), policy_net.state_dict()
    for key in pd:
        sd[key] = pd[key] * 0.005 + sd[key] * (1 - 0.005)
    target_net.load_state_dict(sd)
    a = policy_net(state_batch).max(1).indices.view(-1, 1)
    return loss, target_net.layer1.weight, a


@program
def gan_step(torch: Any) -> Any:
    nn = torch.nn
    G = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 2))
    D = nn.Sequential(
        nn.Linear(2, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1), nn.Sigmoid()
    )

    def weights_init(m):
        classname = m.__class__.__name__
        if classname.find("Linear") != -1:
            nn.init.normal_(m.weight.data, 0.0, 0.02)
            nn.init.constant_(m.bias.data, 0)

    G.apply(weights_init)
    D.apply(weights_init)
    criterion = nn.BCELoss()
    optD = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optG = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for _ in range(3):
        D.zero_grad()
        real = torch.randn(4, 2)
        label = torch.full((4,), 1.0, dtype=torch.float)
        output = D(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        noise = torch.randn(4, 3)
        fake = G(noise)
        label.fill_(0.0)
        output = D(fake.detach()).view(-1)
        errD_fake = criterion(output, label)
        errD_fake.backward()
        optD.step()
        G.zero_grad()
        label.fill_(1.0)
        errG = criterion(D(fake).view(-1), label)
        errG.backward()
        optG.step()
    print(f"{errD_real.item():.4f} {errG.item():.4f}")
    return G[0].weight, D[0].weight


@program
def wgan_gradient_penalty(torch: Any) -> Any:
    D = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    real, fake = torch.randn(5, 2), torch.randn(5, 2)
    alpha = torch.rand(5, 1)
    interp = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d = D(interp)
    grads = torch.autograd.grad(
        outputs=d,
        inputs=interp,
        grad_outputs=torch.ones_like(d),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gp = ((grads.view(5, -1).norm(2, dim=1) - 1) ** 2).mean()
    gp.backward()
    return gp, D[0].weight, D[2].weight, D[2].bias.grad, interp


@program
def vae_step(torch: Any) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(12, 8)
            self.fc21 = nn.Linear(8, 2)
            self.fc22 = nn.Linear(8, 2)
            self.fc3 = nn.Linear(2, 8)
            self.fc4 = nn.Linear(8, 12)

        def encode(self, x):
            h1 = F.relu(self.fc1(x))
            return self.fc21(h1), self.fc22(h1)

        def reparameterize(self, mu, logvar):
            std = torch.exp(0.5 * logvar)
            eps = torch.randn_like(std)
            return mu + eps * std

        def decode(self, z):
            return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

        def forward(self, x):
            mu, logvar = self.encode(x.view(-1, 12))
            z = self.reparameterize(mu, logvar)
            return self.decode(z), mu, logvar

    def loss_function(recon_x, x, mu, logvar):
        BCE = F.binary_cross_entropy(recon_x, x.view(-1, 12), reduction="sum")
        KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return BCE + KLD

    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = torch.rand(6, 3, 4)
    model.train()
    for _ in range(3):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        optimizer.step()
    return loss, model.fc21.weight, model.fc4.bias


@program
def planar_flow(torch: Any) -> Any:
    class PlanarFlow(torch.nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.u = torch.nn.Parameter(torch.rand(dim))
            self.w = torch.nn.Parameter(torch.rand(dim))
            self.b = torch.nn.Parameter(torch.rand(1))

        def forward(self, z):
            f = z + self.u.unsqueeze(0) * torch.tanh(z @ self.w.unsqueeze(1) + self.b)
            psi = (1 - torch.tanh(z @ self.w.unsqueeze(1) + self.b) ** 2) * self.w
            log_det = torch.log(torch.abs(1 + psi @ self.u) + 1e-8)
            return f, log_det

    flows = torch.nn.ModuleList([PlanarFlow(2) for _ in range(3)])
    z = torch.randn(10, 2)
    total = torch.zeros(10)
    for fl in flows:
        z, ld = fl(z)
        total += ld
    logp = -0.5 * (z**2).sum(1) - math.log(2 * math.pi)
    loss = -(logp + total).mean()
    loss.backward()
    print(flows)
    return loss, list(flows.parameters())


@program
def bayesian_linear_elbo(torch: Any) -> Any:
    X, y = torch.randn(10, 2), torch.randn(10)
    mu = torch.zeros(2, requires_grad=True)
    rho = torch.full((2,), -1.0, requires_grad=True)
    sigma = torch.nn.functional.softplus(rho)
    w = mu + sigma * torch.randn(2)
    ll = -0.5 * ((y - X @ w) ** 2).sum()
    kl = (-torch.log(sigma) + 0.5 * (sigma**2 + mu**2) - 0.5).sum()
    loss = kl - ll
    loss.backward()
    return loss, mu, rho


@program
def gumbel_softmax(torch: Any) -> Any:
    logits = torch.randn(4, 3, requires_grad=True)
    torch.manual_seed(3)
    y = torch.nn.functional.gumbel_softmax(logits, tau=0.5)
    (y * torch.arange(3.0)).sum().backward()
    torch.manual_seed(3)
    h = torch.nn.functional.gumbel_softmax(logits, tau=0.5, hard=True)
    print(h.detach().sum(1), y.argmax(1) == h.argmax(1))
    return y, h, logits


@program
def ppo_clipped_objective(torch: Any) -> Any:
    lp = torch.tensor([-0.5, -1.2, -0.3], requires_grad=True)
    old = torch.tensor([-0.6, -1.0, -0.9])
    adv = torch.tensor([1.0, -0.5, 2.0])
    ratio = torch.exp(lp - old)
    loss = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
    loss.backward()
    print(ratio)
    return loss, lp


@program
def gae_returns(torch: Any) -> Any:
    r = torch.tensor([1.0, 0.0, 2.0, 1.0])
    v = torch.tensor([0.5, 0.4, 0.3, 0.2, 0.1])
    done = torch.tensor([0, 0, 1, 0])
    adv = torch.zeros_like(r)
    last = 0
    for t in reversed(range(len(r))):
        nt = 1.0 - done[t]
        delta = r[t] + 0.99 * v[t + 1] * nt - v[t]
        adv[t] = last = delta + 0.99 * 0.95 * nt * last
    return adv, adv + v[:-1]


@program
def actor_critic(torch: Any) -> Any:
    class AC(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1 = torch.nn.Linear(4, 8)
            self.action_head = torch.nn.Linear(8, 2)
            self.value_head = torch.nn.Linear(8, 1)

        def forward(self, x):
            x = torch.nn.functional.relu(self.affine1(x))
            return torch.nn.functional.softmax(self.action_head(x), dim=-1), self.value_head(x)

    m = AC()
    p, v = m(torch.randn(3, 4))
    a = torch.tensor([0, 1, 0])
    logp = p.gather(1, a.unsqueeze(1)).squeeze(1).log()
    R = torch.tensor([1.0, 2.0, 3.0])
    adv = R - v.squeeze(-1).detach()
    ent = -(p * p.log()).sum(-1)
    loss = (
        -(logp * adv).mean()
        + torch.nn.functional.smooth_l1_loss(v.squeeze(-1), R)
        - 0.01 * ent.mean()
    )
    loss.backward()
    return loss, m.affine1.weight, m.value_head.bias


@program
def mixture_density(torch: Any) -> Any:
    x = torch.randn(6, 1)
    y = torch.randn(6, 1)
    net = torch.nn.Linear(1, 9)
    pi, mu, ls = net(x).split(3, dim=1)
    logp = (
        torch.log_softmax(pi, 1)
        - 0.5 * ((y - mu) / ls.exp()) ** 2
        - ls
        - 0.5 * math.log(2 * math.pi)
    )
    nll = -torch.logsumexp(logp, 1).mean()
    nll.backward()
    return nll, net.weight


@program
def realnvp_coupling(torch: Any) -> Any:
    s_net, t_net = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    x = torch.randn(5, 2, requires_grad=True)
    x1, x2 = x[:, :1], x[:, 1:]
    s = torch.tanh(s_net(x1))
    t = t_net(x1)
    z = torch.cat([x1, x2 * s.exp() + t], 1)
    ld = s.sum(1)
    J = torch.stack(
        [
            torch.autograd.functional.jacobian(
                lambda q: torch.cat([q[:1], q[1:] * torch.tanh(s_net(q[:1])).exp() + t_net(q[:1])]),
                row,
            )
            for row in x.detach()
        ]
    )
    print(torch.allclose(torch.linalg.slogdet(J)[1], ld, atol=1e-5))
    (-ld.mean() + z.pow(2).mean()).backward()
    return z, x, s_net.weight


@program
def diffusion_step(torch: Any) -> Any:
    T = 10
    betas = torch.linspace(1e-4, 0.02, T)
    alphas = 1.0 - betas
    ac = torch.cumprod(alphas, dim=0)
    acp = torch.nn.functional.pad(ac[:-1], (1, 0), value=1.0)
    post = betas * (1.0 - acp) / (1.0 - ac)

    def extract(a, t, shape):
        out = a.gather(-1, t)
        return out.reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    x0 = torch.randn(3, 1, 4, 4)
    t = torch.tensor([0, 5, 9])
    noise = torch.randn_like(x0)
    xt = extract(ac.sqrt(), t, x0.shape) * x0 + extract((1 - ac).sqrt(), t, x0.shape) * noise
    net = torch.nn.Conv2d(1, 1, 3, padding=1)
    loss = torch.nn.functional.smooth_l1_loss(net(xt), noise)
    loss.backward()
    return post, xt, loss, net.weight


@program
def score_matching_hutchinson(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Softplus(), torch.nn.Linear(8, 2))
    x = torch.randn(6, 2).requires_grad_()
    v = torch.randn_like(x)
    s = net(x)
    sv = (s * v).sum()
    (g,) = torch.autograd.grad(sv, x, create_graph=True)
    loss = ((v * g).sum(-1) + 0.5 * (s * v).sum(-1) ** 2).mean()
    loss.backward()
    return loss, net[0].weight, net[2].bias


@program
def langevin_energy(torch: Any) -> Any:
    def energy(x):
        return 0.25 * (x**4).sum(-1) - (x**2).sum(-1)

    x = torch.zeros(4, 2)
    for _ in range(5):
        x.requires_grad_(True)
        g = torch.autograd.grad(energy(x).sum(), x)[0]
        with torch.no_grad():
            x = x - 0.1 * g + math.sqrt(0.2) * torch.randn_like(x)
    print(x.requires_grad)
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
