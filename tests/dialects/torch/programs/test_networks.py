"""Networks of known kinds: attention, recurrence, convolutions, their losses."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.parity import compare_program

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()


@program
def attention_by_hand(torch: Any) -> Any:
    F = torch.nn.functional

    class MHA(torch.nn.Module):
        def __init__(self, d_model, h):
            super().__init__()
            self.h, self.dk = h, d_model // h
            self.qkv = torch.nn.Linear(d_model, 3 * d_model, bias=False)
            self.out = torch.nn.Linear(d_model, d_model)
            self.register_buffer("mask", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

        def forward(self, x):
            B, T, C = x.shape
            q, k, v = self.qkv(x).split(C, dim=2)
            q = q.view(B, T, self.h, self.dk).transpose(1, 2)
            k = k.view(B, T, self.h, self.dk).transpose(1, 2)
            v = v.view(B, T, self.h, self.dk).transpose(1, 2)
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            y = att @ v
            y = y.transpose(1, 2).contiguous().view(B, T, C)
            return self.out(y)

    class Block(torch.nn.Module):
        def __init__(self, d, h):
            super().__init__()
            self.ln1, self.ln2 = torch.nn.LayerNorm(d), torch.nn.LayerNorm(d)
            self.attn = MHA(d, h)
            self.mlp = torch.nn.Sequential(
                torch.nn.Linear(d, 4 * d),
                torch.nn.GELU(),
                torch.nn.Linear(4 * d, d),
                torch.nn.Dropout(0.0),
            )

        def forward(self, x):
            x = x + self.attn(self.ln1(x))
            return x + self.mlp(self.ln2(x))

    b = Block(8, 2)
    x = torch.randn(2, 5, 8, requires_grad=True)
    y = b(x)
    y.pow(2).mean().backward()
    print(b)
    print([(n, tuple(p.shape)) for n, p in b.named_parameters()])
    print([n for n, _ in b.named_buffers()])
    return y, x, b.attn.qkv.weight, b.ln1.weight


@program
def char_gpt_bigram(torch: Any) -> Any:
    text = "hello world, this is a tiny corpus of text for a bigram model"
    chars = sorted(set(text))
    stoi = {ch: i for i, ch in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in text], dtype=torch.long)

    class Bigram(torch.nn.Module):
        def __init__(self, v):
            super().__init__()
            self.token_embedding_table = torch.nn.Embedding(v, v)

        def forward(self, idx, targets=None):
            logits = self.token_embedding_table(idx)
            if targets is None:
                return logits, None
            B, T, C = logits.shape
            loss = torch.nn.functional.cross_entropy(logits.view(B * T, C), targets.view(B * T))
            return logits, loss

        def generate(self, idx, n):
            for _ in range(n):
                logits, _ = self(idx)
                probs = torch.nn.functional.softmax(logits[:, -1, :], dim=-1)
                idx_next = torch.argmax(probs, dim=-1, keepdim=True)
                idx = torch.cat((idx, idx_next), dim=1)
            return idx

    torch.manual_seed(1337)

    def get_batch():
        ix = torch.randint(len(data) - 8, (4,))
        return torch.stack([data[i : i + 8] for i in ix]), torch.stack(
            [data[i + 1 : i + 9] for i in ix]
        )

    m = Bigram(len(chars))
    opt = torch.optim.AdamW(m.parameters(), lr=1e-2)
    for _ in range(10):
        xb, yb = get_batch()
        _logits, loss = m(xb, yb)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    print(loss.item() < 4, m.generate(torch.zeros((1, 1), dtype=torch.long), 6)[0].tolist())
    return loss


@program
def rnn_cell_by_hand(torch: Any) -> Any:
    class RNN(torch.nn.Module):
        def __init__(self, input_size, hidden_size, output_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.i2h = torch.nn.Linear(input_size + hidden_size, hidden_size)
            self.h2o = torch.nn.Linear(hidden_size, output_size)
            self.softmax = torch.nn.LogSoftmax(dim=1)

        def forward(self, input, hidden):
            combined = torch.cat((input, hidden), 1)
            hidden = torch.tanh(self.i2h(combined))
            return self.softmax(self.h2o(hidden)), hidden

        def initHidden(self):
            return torch.zeros(1, self.hidden_size)

    rnn = RNN(5, 6, 3)
    line = torch.nn.functional.one_hot(torch.tensor([0, 3, 2, 4]), 5).float().unsqueeze(1)
    hidden = rnn.initHidden()
    rnn.zero_grad()
    for i in range(line.size()[0]):
        output, hidden = rnn(line[i], hidden)
    loss = torch.nn.NLLLoss()(output, torch.tensor([1]))
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.005)
    top_n, top_i = output.topk(1)
    print(top_i[0].item(), top_n)
    return loss, list(rnn.parameters())


@program
def lstm_cell_by_hand(torch: Any) -> Any:
    class LSTMCell(torch.nn.Module):
        def __init__(self, n, h):
            super().__init__()
            self.W = torch.nn.Parameter(torch.Tensor(n, 4 * h))
            self.U = torch.nn.Parameter(torch.Tensor(h, 4 * h))
            self.bias = torch.nn.Parameter(torch.Tensor(4 * h))
            self.h = h
            stdv = 1.0 / math.sqrt(h)
            for weight in self.parameters():
                weight.data.uniform_(-stdv, stdv)

        def forward(self, x, init=None):
            bs, T, _ = x.size()
            hs = []
            h_t, c_t = (
                (torch.zeros(bs, self.h).to(x.device), torch.zeros(bs, self.h).to(x.device))
                if init is None
                else init
            )
            for t in range(T):
                gates = x[:, t, :] @ self.W + h_t @ self.U + self.bias
                i, f, g, o = gates.chunk(4, 1)
                c_t = torch.sigmoid(f) * c_t + torch.sigmoid(i) * torch.tanh(g)
                h_t = torch.sigmoid(o) * torch.tanh(c_t)
                hs.append(h_t.unsqueeze(0))
            return torch.cat(hs, dim=0).transpose(0, 1).contiguous(), (h_t, c_t)

    cell = LSTMCell(3, 4)
    out, (h, c) = cell(torch.randn(2, 5, 3))
    out.sum().backward()
    total = torch.nn.utils.clip_grad_norm_(cell.parameters(), 0.5)
    print(total)
    return out, h, c, cell.W, cell.U, cell.bias, total


@program
def gnn_index_add(torch: Any) -> Any:
    edge_index = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 0]])
    x = torch.randn(4, 3, requires_grad=True)
    W = torch.randn(3, 3, requires_grad=True)
    src, dst = edge_index
    deg = torch.zeros(4).scatter_add_(0, dst, torch.ones(5)).clamp(min=1)
    norm = deg[src].rsqrt() * deg[dst].rsqrt()
    msg = (x @ W)[src] * norm.unsqueeze(-1)
    out = torch.zeros(4, 3).index_add(0, dst, msg)
    out2 = torch.zeros(4, 3).scatter_add(0, dst.unsqueeze(-1).expand_as(msg), msg)
    att = torch.zeros(4).scatter_reduce(0, dst, msg.sum(1), reduce="amax", include_self=False)
    (torch.relu(out).sum() + out2.pow(2).sum() + att.sum()).backward()
    print(deg)
    return out, x, W


@program
def style_transfer_gram(torch: Any) -> Any:
    F = torch.nn.functional

    class ContentLoss(torch.nn.Module):
        def __init__(self, target):
            super().__init__()
            self.target = target.detach()

        def forward(self, input):
            self.loss = F.mse_loss(input, self.target)
            return input

    def gram_matrix(input):
        a, b, c, d = input.size()
        features = input.view(a * b, c * d)
        G = torch.mm(features, features.t())
        return G.div(a * b * c * d)

    conv = torch.nn.Conv2d(3, 4, 3, padding=1)
    style = torch.rand(1, 3, 8, 8)
    target = gram_matrix(conv(style)).detach()
    img = torch.rand(1, 3, 8, 8)
    img.requires_grad_(True)
    conv.eval()
    conv.requires_grad_(False)
    closs = ContentLoss(conv(style))
    optimizer = torch.optim.LBFGS([img])
    run = [0]
    while run[0] <= 10:

        def closure():
            with torch.no_grad():
                img.clamp_(0, 1)
            optimizer.zero_grad()
            f = closs(conv(img))
            loss = F.mse_loss(gram_matrix(f), target) * 1000 + closs.loss
            loss.backward()
            run[0] += 1
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        img.clamp_(0, 1)
    print(run[0] > 10, img.shape)
    return target


@program
def spectral_loss(torch: Any) -> Any:
    x = torch.randn(2, 64, requires_grad=True)
    y = torch.sin(torch.arange(64) * 0.3).expand(2, -1)
    X, Y = torch.fft.rfft(x), torch.fft.rfft(y)
    loss = (X.abs() - Y.abs()).pow(2).mean() + (
        torch.log(X.abs() + 1e-3) - torch.log(Y.abs() + 1e-3)
    ).abs().mean()
    win = torch.hann_window(16)
    S = torch.stft(x, n_fft=16, hop_length=4, window=win, return_complex=True)
    loss = loss + S.abs().mean()
    loss.backward()
    print(S.shape, S.dtype, X.dtype)
    return loss, x


@program
def knowledge_distillation(torch: Any) -> Any:
    F = torch.nn.functional
    teacher, student = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
    x, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    T = 2.0
    with torch.no_grad():
        tl = teacher(x)
    sl = student(x)
    soft = (
        F.kl_div(F.log_softmax(sl / T, dim=-1), F.softmax(tl / T, dim=-1), reduction="batchmean")
        * T**2
    )
    loss = 0.5 * soft + 0.5 * F.cross_entropy(sl, y, label_smoothing=0.1)
    loss.backward()
    print(loss)
    return student.weight, soft


@program
def contrastive_nt_xent(torch: Any) -> Any:
    F = torch.nn.functional
    z1 = torch.randn(4, 6, requires_grad=True)
    z2 = torch.randn(4, 6)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / 0.5
    mask = torch.eye(8, dtype=torch.bool)
    sim = sim.masked_fill(mask, -9e15)
    pos = mask.roll(shifts=4, dims=0)
    nll = (-sim[pos] + torch.logsumexp(sim, dim=-1)).mean()
    nll.backward()
    trip = torch.nn.TripletMarginLoss(margin=1.0)(z1, z2, z2.flip(0))
    cos = F.cosine_embedding_loss(z1, z2, torch.tensor([1, -1, 1, -1]))
    print(nll, trip, cos)
    return z1, trip, cos


@program
def beam_logits_topk(torch: Any) -> Any:
    logits = torch.randn(2, 7, requires_grad=True)
    vals, idx = torch.topk(torch.log_softmax(logits, -1), k=3, dim=-1)
    vals.sum().backward()
    print(idx, idx.dtype)
    thr = logits.topk(2).values[..., -1:]
    masked = logits.masked_fill(logits < thr, -float("inf")).softmax(-1)
    srt, si = torch.sort(logits, descending=True)
    cum = srt.softmax(-1).cumsum(-1)
    keep = cum - srt.softmax(-1) < 0.9
    return vals, idx, logits, masked, keep, si


@program
def positional_encoding(torch: Any) -> Any:
    class PE(torch.nn.Module):
        def __init__(self, d_model, max_len=50):
            super().__init__()
            position = torch.arange(max_len).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
            pe = torch.zeros(max_len, 1, d_model)
            pe[:, 0, 0::2] = torch.sin(position * div_term)
            pe[:, 0, 1::2] = torch.cos(position * div_term)
            self.register_buffer("pe", pe)

        def forward(self, x):
            return x + self.pe[: x.size(0)]

    m = PE(6)
    x = torch.zeros(4, 2, 6, requires_grad=True)
    y = m(x)
    y.mean().backward()
    print(m.pe.requires_grad, m.state_dict()["pe"].shape)
    return y, x


@program
def rotary_embedding(torch: Any) -> Any:
    def rotate_half(x):
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((-x2, x1), dim=-1)

    x = torch.randn(2, 5, 4, requires_grad=True)
    inv = 1.0 / (10000 ** (torch.arange(0, 4, 2).float() / 4))
    f = torch.outer(torch.arange(5).float(), inv)
    emb = torch.cat((f, f), -1)
    y = x * emb.cos() + rotate_half(x) * emb.sin()
    y.pow(3).sum().backward()
    return y, x


@program
def rms_norm_swiglu(torch: Any) -> Any:
    x = torch.randn(2, 3, 8, requires_grad=True)
    w = torch.ones(8, requires_grad=True)
    n = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
    w1, w2 = torch.randn(8, 16, requires_grad=True), torch.randn(8, 16)
    y = torch.nn.functional.silu(n @ w1) * (n @ w2)
    y.mean().backward()
    return n, x, w, w1


@program
def causal_attention_functional(torch: Any) -> Any:
    F = torch.nn.functional
    q = torch.randn(2, 3, 5, 4, requires_grad=True)
    k = torch.randn(2, 3, 5, 4, requires_grad=True)
    v = torch.randn(2, 3, 5, 4, requires_grad=True)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    y.pow(2).sum().backward()
    m = torch.ones(5, 5, dtype=torch.bool).tril()
    y2 = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    y3 = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros(5, 5), scale=0.3)
    print(torch.allclose(y, y2, atol=1e-6))
    return y, q, k, v, y3


@program
def seq_padding_mask_loss(torch: Any) -> Any:
    F = torch.nn.functional
    seqs = [torch.tensor([1, 2, 3]), torch.tensor([4, 5]), torch.tensor([6])]
    pad = torch.nn.utils.rnn.pad_sequence(seqs, batch_first=True, padding_value=0)
    lens = torch.tensor([len(s) for s in seqs])
    mask = torch.arange(pad.size(1))[None, :] < lens[:, None]
    logits = torch.randn(3, 3, 7, requires_grad=True)
    loss = F.cross_entropy(logits.transpose(1, 2), pad, ignore_index=0)
    l2 = (
        F.cross_entropy(logits.reshape(-1, 7), pad.reshape(-1), reduction="none").view(3, 3) * mask
    ).sum() / mask.sum()
    (loss + l2).backward()
    print(pad, mask)
    return loss, l2, logits


@program
def cross_entropy_forms(torch: Any) -> Any:
    F = torch.nn.functional
    x = torch.randn(4, 3, requires_grad=True)
    t = torch.tensor([0, 2, 1, 2])
    a = F.cross_entropy(x, t)
    b = -torch.log_softmax(x, 1)[range(4), t].mean()
    c = F.nll_loss(F.log_softmax(x, dim=1), t)
    d = F.cross_entropy(x, F.one_hot(t, 3).float())
    e = -(F.log_softmax(x, -1).gather(1, t[:, None])).squeeze().mean()
    w = F.cross_entropy(x, t, weight=torch.tensor([1.0, 2.0, 0.5]), reduction="sum")
    (a + b + c + d + e + w).backward()
    print(a, b, c, e, w)
    return x, d


@program
def dice_focal_loss(torch: Any) -> Any:
    x = torch.randn(2, 1, 4, 4, requires_grad=True)
    y = (torch.rand(2, 1, 4, 4) > 0.5).float()
    p = torch.sigmoid(x).view(-1)
    t = y.view(-1)
    dice = 1 - (2.0 * (p * t).sum() + 1) / (p.sum() + t.sum() + 1)
    bce = torch.nn.functional.binary_cross_entropy(p, t, reduction="mean")
    focal = 0.8 * (1 - torch.exp(-bce)) ** 2 * bce
    (dice + focal).backward()
    return dice, focal, x


@program
def ssim_like(torch: Any) -> Any:
    F = torch.nn.functional
    a = torch.rand(1, 1, 12, 12, requires_grad=True)
    b = torch.rand(1, 1, 12, 12)
    w = torch.ones(1, 1, 5, 5) / 25
    mu1, mu2 = F.conv2d(a, w, padding=2), F.conv2d(b, w, padding=2)
    s1 = F.conv2d(a * a, w, padding=2) - mu1.pow(2)
    s2 = F.conv2d(b * b, w, padding=2) - mu2**2
    s12 = F.conv2d(a * b, w, padding=2) - mu1 * mu2
    m = ((2 * mu1 * mu2 + 1e-4) * (2 * s12 + 9e-4)) / ((mu1**2 + mu2**2 + 1e-4) * (s1 + s2 + 9e-4))
    (1 - m.mean()).backward()
    return m, a


@program
def total_variation_denoise(torch: Any) -> Any:
    noisy = torch.rand(6, 6)
    img = noisy.clone().requires_grad_(True)
    opt = torch.optim.Adagrad([img], lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        tv = (img[1:, :] - img[:-1, :]).abs().sum() + (img[:, 1:] - img[:, :-1]).abs().sum()
        loss = ((img - noisy) ** 2).sum() + 0.1 * tv
        loss.backward()
        opt.step()
    return img, loss


@program
def resnet_block(torch: Any) -> Any:
    nn = torch.nn

    class BasicBlock(nn.Module):
        expansion: int = 1

        def __init__(self, inp, out, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(inp, out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(out)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(out)
            self.downsample = (
                nn.Sequential(nn.Conv2d(inp, out, 1, stride, bias=False), nn.BatchNorm2d(out))
                if stride != 1 or inp != out
                else None
            )
            for m in self.modules():
                if isinstance(m, nn.Conv2d):
                    nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                elif isinstance(m, nn.BatchNorm2d):
                    nn.init.constant_(m.weight, 1)
                    nn.init.zeros_(m.bias)

        def forward(self, x):
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return self.relu(out)

    b = BasicBlock(3, 4, 2)
    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    y = b(x)
    y.mean().backward()
    b.eval()
    y2 = b(x)
    print(b)
    print(b.bn1.running_mean, b.bn1.num_batches_tracked)
    return y, x, b.conv1.weight, y2


@program
def unet_pieces(torch: Any) -> Any:
    nn, F = torch.nn, torch.nn.functional
    down = nn.Conv2d(1, 2, 3, stride=2, padding=1)
    up = nn.ConvTranspose2d(2, 1, 2, stride=2)
    x = torch.randn(1, 1, 8, 8, requires_grad=True)
    h = F.relu(down(x))
    u = up(h)
    i = F.interpolate(h, scale_factor=2, mode="bilinear", align_corners=False)
    cat = torch.cat([x, u, i], dim=1)
    cat.pow(2).mean().backward()
    p = F.pad(x, (1, 2, 3, 4), mode="reflect")
    print(cat.shape, p.shape)
    return cat, x, up.weight


@program
def depthwise_separable(torch: Any) -> Any:
    nn = torch.nn
    m = nn.Sequential(
        nn.Conv2d(4, 4, 3, padding=1, groups=4),
        nn.Conv2d(4, 6, 1),
        nn.BatchNorm2d(6),
        nn.Hardswish(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(6, 2),
    )
    y = m(torch.randn(3, 4, 5, 5))
    y.logsumexp(1).sum().backward()
    return y, m[0].weight, m[6].weight


@program
def spatial_transformer(torch: Any) -> Any:
    F = torch.nn.functional
    theta = torch.tensor([[[1.0, 0.1, 0.2], [-0.13, 0.87, 0.03]]], requires_grad=True)
    img = torch.rand(1, 1, 5, 5)
    grid = F.affine_grid(theta, img.size(), align_corners=False)
    out = F.grid_sample(img, grid, align_corners=False)
    out.sum().backward()
    return out, theta


@program
def siamese_shared_weights(torch: Any) -> Any:
    enc = torch.nn.Linear(3, 2)
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    d = torch.nn.functional.pairwise_distance(enc(a), enc(b))
    y = torch.tensor([0.0, 1.0, 0.0, 1.0])
    loss = ((1 - y) * d**2 + y * torch.clamp(1.0 - d, min=0) ** 2).mean()
    loss.backward()
    return d, loss, enc.weight


@program
def autoencoder_orthogonal_penalty(torch: Any) -> Any:
    W = torch.nn.Parameter(torch.randn(4, 2))
    x = torch.randn(10, 4)
    rec = x @ W @ W.T
    loss = (rec - x).pow(2).sum(1).mean() + 0.1 * torch.linalg.norm(W.T @ W - torch.eye(2)) ** 2
    loss.backward()
    _U, S, Vh = torch.linalg.svd(x - x.mean(0), full_matrices=False)
    return loss, W, S, (Vh[:2].T @ Vh[:2])


@program
def mnist_mlp_minibatches(torch: Any) -> Any:
    nn = torch.nn
    X, y = torch.randn(40, 10), torch.randint(0, 3, (40,))
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Dropout(p=0.0), nn.Linear(16, 3))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)
    for epoch in range(2):
        perm = torch.randperm(X.size()[0])
        running = 0.0
        model.train()
        for i in range(0, X.size()[0], 8):
            idx = perm[i : i + 8]
            bx, by = X[idx], y[idx]
            optimizer.zero_grad()
            out = model(bx)
            loss = loss_fn(out, by)
            loss.backward()
            optimizer.step()
            running += loss.item() * bx.size(0)
        model.eval()
        with torch.no_grad():
            pred = model(X).argmax(dim=1, keepdim=True)
            correct = pred.eq(y.view_as(pred)).sum().item()
        print(f"epoch {epoch} loss {running / 40:.4f} acc {correct}/{len(y)}")
    return model[0].weight


@program
def sparse_like_embedding_grads(torch: Any) -> Any:
    e = torch.nn.Embedding(5, 3, padding_idx=0)
    out = e(torch.tensor([[0, 2, 2], [4, 1, 0]]))
    (out**2).sum().backward()
    print(e.weight[0], e.weight.grad[0])
    b = torch.nn.EmbeddingBag(5, 3, mode="sum")
    o = b(torch.tensor([0, 1, 2, 3]), torch.tensor([0, 2]))
    o.sum().backward()
    f = torch.nn.Embedding.from_pretrained(torch.arange(6.0).view(3, 2))
    print(f(torch.tensor([1])), f.weight.requires_grad)
    return e.weight, b.weight


@program
def timestep_bptt_truncated(torch: Any) -> Any:
    cell = torch.nn.Linear(4, 3)
    h = torch.zeros(1, 3)
    losses = []
    for t in range(9):
        h = torch.tanh(cell(torch.cat([torch.ones(1, 1) * t / 9, h], 1)))
        losses.append((h**2).sum())
        if t % 3 == 2:
            torch.stack(losses).sum().backward()
            losses = []
            h = h.detach()
    return cell.weight, cell.bias, h


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare_program(PROGRAMS[name])
