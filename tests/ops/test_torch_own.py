"""PyTorch's own kernels of operations and rules: they say what our rules say, at every order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg
from tests.ops.op_cases import CASES, Case, ids, weights_like
from tests.ops.test_torch_arrays import derivatives, on
from wengert import backends, nn

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

dispatch: Any = pytest.importorskip("torch.utils._python_dispatch")
functional = torch.nn.functional
XP: Any = backends.namespace_of(torch.ones(1))
OWNED = [case for case in CASES if case.name in XP.own]
#: The kernels that values and rules of each operation come from.
KERNELS = {
    "tanh": {"tanh", "tanh_backward"},
    "sum": {"sum"},
    "mean": {"mean"},
    "reshape": set(),  # views
    "permute_dims": set(),
    "matmul": {"mm"},
    "nn.relu": {"relu", "threshold_backward"},
    "nn.silu": {"silu", "silu_backward"},
    "nn.gelu": {"gelu", "gelu_backward"},
    "special.softmax": {"_softmax", "_softmax_backward_data"},
    "special.log_softmax": {"_log_softmax", "_log_softmax_backward_data"},
    "nn.layer_norm": {"native_layer_norm", "native_layer_norm_backward"},
    "nn.batch_norm": {"native_batch_norm", "native_batch_norm_backward"},
    "nn.batch_norm_with_moments": {"native_batch_norm"},
    "nn.linear": {"addmm", "mm"},
    "nn.convolve": {"convolution", "convolution_backward"},
    "nn.convolve_biased": {"convolution", "convolution_backward"},
    "slice": {"select"},
    "nn.embedding": {"embedding", "embedding_dense_backward"},
    "nn.attention": set(),  # whichever PyTorch takes: see below
    "nn.cross_entropy": {"_log_softmax", "nll_loss_forward", "nll_loss_backward"},
    "nn.total_cross_entropy": {"_log_softmax", "nll_loss_forward", "nll_loss_backward"},
}


class Launched(dispatch.TorchDispatchMode):  # type: ignore[misc]
    """Counts the functions of PyTorch's that run, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), options: Any = None):  # type: ignore[no-untyped-def]
        self.names[function.overloadpacket.__name__] += 1
        return function(*args, **(options or {}))


#: What makes no kernel run: views, and memory that is not written to.
QUIET = {
    "_unsafe_view", "alias", "as_strided", "detach", "empty", "empty_like", "expand", "new_empty",
    "permute", "select", "slice", "squeeze", "split", "t", "transpose", "unbind", "unsqueeze",
    "view",
}  # fmt: skip


def kernels_of(program: Callable[[], Any]) -> Counter[str]:
    program()  # what is made once is made
    with Launched() as launched:
        program()
    return Counter({name: n for name, n in launched.names.items() if name not in QUIET})


@pytest.fixture
def without_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Return a function after which operations go by our own formulas."""

    def change() -> None:
        monkeypatch.setattr(XP, "own", {})
        monkeypatch.delitem(backends.QUICK, torch.Tensor)  # whose functions are written already

    return change


def cast(arrays: list[Any], dtype: Any) -> list[Any]:
    return [wg.asarray(torch.asarray(np.array(a)).to(dtype)) for a in arrays]


def close(got: Any, expected: Any, rtol: float) -> None:
    got, expected = (t._raw.to(torch.float64) for t in (got, expected))
    torch.testing.assert_close(got, expected, rtol=rtol, atol=rtol, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("order", [1, 2], ids=["first order", "second order"])
@pytest.mark.parametrize("case", OWNED, ids=ids(OWNED))
def test_kernels_agree_with_our_rules(
    case: Case, order: int, dtype: Any, without_own: Callable[[], None]
) -> None:
    tensors = cast(case.arrays("f"), dtype)
    raw = weights_like(case.function(*map(wg.asarray, case.arrays("f"))))
    weights = [torch.asarray(w).to(dtype) for w in raw]
    got = derivatives(case.function, tensors, weights, order)
    without_own()
    expected = derivatives(case.function, tensors, weights, order)
    # narrow floats are rounded between the steps of a formula, and once by a kernel
    rtol = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 0.06 * order}[dtype]
    for mine, ours in zip(got, expected, strict=True):
        assert mine._raw.dtype is ours._raw.dtype is dtype
        close(mine, ours, rtol * case.entry.rounding)


def test_every_kernel_is_tested() -> None:
    assert XP.own.keys() == KERNELS.keys() == {case.name for case in OWNED}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_used(name: str) -> None:
    case = next(case for case in OWNED if case.name == name)
    tensors = [on(a, "cpu") for a in case.arrays("f")]
    weights = [torch.asarray(w) for w in weights_like(case.function(*tensors))]
    with Launched() as launched:
        derivatives(case.function, tensors, weights, 1)
    assert launched.names.keys() >= KERNELS[name]


def gradient(f: Callable[..., Any], *arrays: Any) -> list[Any]:
    with wg.GradientTape() as tape:
        tape.watch(list(arrays))
        y = f(*arrays)
    return tape.gradient(y, list(arrays))


def numbers(*shape: int, dtype: Any = torch.float64, seed: int = 0) -> Any:
    random = np.random.default_rng((seed, *shape))
    return torch.asarray(random.standard_normal(shape)).to(dtype)


# -- rows of a table --------------------------------------------------------------------------


@pytest.mark.parametrize("padding", [None, 0, -1])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_embeddings_are_pytorchs(padding: int | None, dtype: Any) -> None:
    table = numbers(5, 3, dtype=dtype)
    where = torch.tensor([[0, 4, 4, 2], [1, 0, 0, 4]])

    def ours(table: Any) -> Any:
        return wg.sum(nn.embedding(wg.asarray(where), table, padding_idx=padding) ** 3)

    leaf = table.clone().requires_grad_()
    y = torch.sum(functional.embedding(where, leaf, padding_idx=padding) ** 3)
    (expected,) = torch.autograd.grad(y, leaf)
    (got,) = gradient(ours, wg.asarray(table))
    torch.testing.assert_close(got._raw, expected)
    with pytest.raises(IndexError, match="of 5 rows"):
        nn.embedding(wg.asarray(where + 1), wg.asarray(table))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_many_narrow_rows_are_added_up_in_single_precision(dtype: Any) -> None:
    where = np.random.default_rng(0).integers(0, 3, 8000)
    weights = numbers(8000, 4, dtype=dtype).abs()
    (got,) = gradient(
        lambda t: wg.sum(nn.embedding(where, t) * wg.asarray(weights)),
        wg.asarray(numbers(3, 4, dtype=dtype)),
    )
    exact = torch.zeros(3, 4, dtype=torch.float64)
    exact.index_add_(0, torch.asarray(where), weights.to(torch.float64))
    torch.testing.assert_close(got._raw.to(torch.float64), exact, rtol=5e-3, atol=0)


# -- attention --------------------------------------------------------------------------------


def heads(dtype: Any = torch.float64) -> list[Any]:
    return [numbers(2, 3, n, 4, dtype=dtype, seed=i) for i, n in enumerate((5, 6, 6))]


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_attention_is_pytorchs(is_causal: bool, dtype: Any) -> None:
    arrays = heads(dtype)

    def ours(*a: Any) -> Any:
        return wg.sum(nn.scaled_dot_product_attention(*a, is_causal=is_causal) ** 2)

    leaves = [a.clone().requires_grad_() for a in arrays]
    y = functional.scaled_dot_product_attention(*leaves, is_causal=is_causal)
    expected = torch.autograd.grad(torch.sum(y**2), leaves)
    got = gradient(ours, *map(wg.asarray, arrays))
    for mine, theirs in zip(got, expected, strict=True):
        assert mine._raw.dtype is dtype
        torch.testing.assert_close(mine._raw, theirs)


def test_attention_is_one_kernel_each_way() -> None:
    arrays = list(map(wg.asarray, heads()))
    found = kernels_of(lambda: gradient(lambda *a: nn.scaled_dot_product_attention(*a), *arrays))
    assert found["_scaled_dot_product_flash_attention_for_cpu"] == 1
    assert found["_scaled_dot_product_flash_attention_for_cpu_backward"] == 1
    assert "bmm" not in found


def test_a_tape_can_be_asked_for_attention_again() -> None:
    arrays = list(map(wg.asarray, heads()))
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(arrays)
        y = nn.scaled_dot_product_attention(*arrays)
    first, again = tape.gradient(y, arrays), tape.gradient(y, arrays[1:])
    for one, other in zip(first[1:], again, strict=True):
        assert torch.equal(one._raw, other._raw)


@pytest.mark.parametrize("shapes", [
    [(2, 3), (4, 3), (4, 2)],  # without axes before these
    [(2, 2, 3), (4, 3), (4, 2)],  # which differ
    [(1, 0, 3), (1, 4, 3), (1, 4, 2)],
    [(1, 2, 3), (1, 0, 3), (1, 0, 2)],
    [(2, 2, 0), (2, 4, 0), (2, 4, 2)],
], ids=str)  # fmt: skip
def test_attention_of_any_shapes(shapes: Any) -> None:
    arrays = [numbers(*shape) for shape in shapes]

    def f(*a: Any) -> Any:
        return wg.sum(wg.sin(nn.scaled_dot_product_attention(*a)))

    got = gradient(f, *map(wg.asarray, arrays))
    expected = gradient(f, *(wg.asarray(a.numpy()) for a in arrays))
    for mine, numpys in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), numpys.numpy(), atol=1e-12)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("kind", [torch.bool, torch.float64], ids=str)
def test_masks_of_attention_stay_where_they_are(kind: Any, device: str) -> None:
    arrays, mask = heads(), (numbers(5, 6) > 0).to(kind)

    def f(mask: Any) -> Callable[..., Any]:
        return lambda *a: nn.scaled_dot_product_attention(*a, mask=mask, is_causal=True)

    placed = [wg.asarray(a.to(device)) for a in (*arrays, mask)]
    got = gradient(f(placed[3]), *placed[:3])
    expected = gradient(f(mask.numpy()), *(wg.asarray(a.numpy()) for a in arrays))
    for mine, numpys in zip(got, expected, strict=True):
        assert mine._raw.device.type == device
        if device == "cpu":
            np.testing.assert_allclose(mine.numpy(), numpys.numpy(), atol=1e-12)


# -- what kernels leave to our rules ----------------------------------------------------------

X, W, B = numbers(3, 4), numbers(4, 4), numbers(4)


@pytest.mark.parametrize("f", [
    lambda x, w, b: nn.layer_norm(x, wg.astype(b, wg.float32), b),
    lambda x, w, b: nn.linear(wg.astype(x, wg.float32), w, b),
    lambda x, w, b: wg.astype(x, wg.float32) @ w,
    lambda x, w, b: wg.special.softmax(x),
    lambda x, w, b: wg.special.log_softmax(x, axis=(0, 1)),
    lambda x, w, b: wg.real(wg.tanh(wg.astype(x, wg.complex128) * (1 + 0.5j))),
    lambda x, w, b: nn.layer_norm(x, b, b, axis=-1)[1],
    lambda x, w, b: wg.reshape(x, (3, 1, 4)) @ wg.stack([w, w, w]),
    lambda x, w, b: nn.batch_norm(x, training=True)[0] * nn.batch_norm(x, training=True)[1],
    lambda x, w, b: nn.max_pool2d(wg.reshape(wg.concat([x, w[:3]]), (1, 1, 6, 4)), 2),
    lambda x, w, b: nn.max_pool2d(wg.reshape(w, (1, 1, 4, 4)), 3, stride=2, padding=1),
    lambda x, w, b: nn.conv1d(wg.reshape(w, (1, 4, 4)), wg.reshape(w[:2], (2, 4, 1)),
                              padding=((1, 0),)),
])  # fmt: skip
def test_what_a_kernel_does_not_take(f: Callable[..., Any]) -> None:
    def loss(*a: Any) -> Any:
        return wg.sum(wg.sin(f(*a)))

    def all_derivatives(arrays: list[Any]) -> list[Any]:
        with wg.GradientTape() as outer:
            outer.watch(arrays)
            first = [g for g in gradient(loss, *arrays) if g is not None]
        second = outer.gradient(first, arrays)
        tangent = wg.jvp(loss, tuple(arrays), tuple(a * 0.5 for a in arrays))[1]
        return [*first, *(g for g in second if g is not None), tangent]

    got = all_derivatives([*map(wg.asarray, (X, W, B))])
    expected = all_derivatives([wg.asarray(a.numpy()) for a in (X, W, B)])
    for mine, numpys in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), numpys.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", [
    lambda x: nn.layer_norm(x),
    lambda x: nn.gelu(x) @ x.T,
    lambda x: nn.scaled_dot_product_attention(x, x, x, is_causal=True),
    lambda x: nn.softmax(x) * nn.relu(x),
    lambda x: nn.batch_norm(x, training=True)[0],
])  # fmt: skip
def test_of_many_examples(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return wg.sum(wg.sin(f(x)))

    x = numbers(3, 4, 5)
    got, expected = (wg.vmap(wg.grad(loss))(wg.asarray(a)) for a in (x, x.numpy()))
    np.testing.assert_allclose(got.numpy(), expected.numpy(), atol=1e-11)
    narrow = wg.vmap(wg.grad(loss))(wg.asarray(x.to(torch.bfloat16)))
    assert narrow._raw.dtype is torch.bfloat16
    np.testing.assert_allclose(narrow._raw.to(torch.float64).numpy(), expected.numpy(), atol=0.3)


@pytest.mark.parametrize("f", [
    lambda x: nn.layer_norm(x, x[0], x[1]),
    lambda x: nn.linear(x, x.T, x[:, 0]),
    lambda x: nn.gelu(x) @ nn.relu(x).T,
    lambda x: nn.softmax(x),
    lambda x: nn.scaled_dot_product_attention(x, x, x),
    lambda x: nn.batch_norm(x, training=True)[0],
    lambda x: nn.conv1d(x[None], wg.reshape(x, (4, 4, 1)))[0],
    lambda x: wg.mean(x, axis=0, keepdims=True) * wg.tanh(x),
])  # fmt: skip
def test_of_single_elements(f: Callable[..., Any]) -> None:
    def derivatives_of(array: Any) -> list[Any]:
        x = wg.asarray(array)
        with wg.GradientTape(persistent=True) as tape:
            tape.watch(x)
            z = f(x)
        asked = (z.at[1, 2], x), (z, x.at[2]), (z.at[0], x.at[:, 1])
        cost = tape.cost(z.at[1, 2], x)
        assert 0 < cost.structured.multiply_adds <= cost.dense.multiply_adds
        return [tape.gradient(*pair) for pair in asked]

    got, expected = derivatives_of(numbers(4, 4)), derivatives_of(numbers(4, 4).numpy())
    for mine, numpys in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine.numpy(), numpys.numpy(), atol=1e-12)


@pytest.mark.parametrize("keys", [
    (slice(0, 2), slice(2, 4)),
    (slice(2, 4), slice(0, 2)),
    (3, 2, 1, 0),
    (slice(0, 3), slice(1, 4)),
    ((slice(None), slice(0, 2)), (slice(None), slice(2, 3))),
    ((slice(0, 2), 0), (slice(2, 4), 1)),
    (slice(0, 4, 2), slice(1, 4, 2)),
], ids=str)  # fmt: skip
def test_parts_are_put_together(keys: Any) -> None:
    def f(x: Any) -> Any:
        total = wg.sum(x[keys[0]] ** 2)
        for i, key in enumerate(keys[1:], 2):
            total = total + wg.sum(wg.sin(i * x[key]))
        return total

    x = numbers(4, 5)
    got, expected = (wg.hessian(f)(wg.asarray(a)) for a in (x, x.numpy()))
    np.testing.assert_allclose(got.numpy(), expected.numpy(), atol=1e-12)
    (first,), (usual,) = (gradient(f, wg.asarray(a)) for a in (x, x.numpy()))
    np.testing.assert_allclose(first.numpy(), usual.numpy(), atol=1e-12)


def test_an_infinite_cotangent_stays_with_the_largest() -> None:
    x = wg.asarray(torch.tensor([[[1.0, 2.0, 3.0, 3.0]]]))
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = nn.max_pool1d(x, 2)
    weights = torch.tensor([[[torch.inf, 1.0]]])
    found = tape.gradient(y, x, output_gradients=weights)
    assert found.tolist() == [[[0.0, float("inf"), 0.5, 0.5]]]


@pytest.mark.parametrize("f", [
    wg.tanh, wg.sum, wg.mean, nn.softmax, nn.relu, nn.layer_norm, nn.gelu,
    lambda x: x @ wg.ones_like(x), lambda x: x + 1.5, lambda x: x * 0.3,
    lambda x: nn.scaled_dot_product_attention(x, wg.ones_like(x), wg.ones_like(x)),
])  # fmt: skip
def test_floats_of_one_byte_are_computed_in_float32(f: Callable[..., Any]) -> None:
    kind = torch.float8_e4m3fn
    raw = numbers(4, 4, dtype=torch.float32).to(kind)
    x, wide = wg.asarray(raw), wg.asarray(raw.to(torch.float32))
    y, exact = f(x), f(wide)
    (g,), (slope,) = gradient(f, x), gradient(f, wide)
    assert y._raw.dtype is g._raw.dtype is kind
    assert torch.equal(y._raw.to(torch.float32), exact._raw.to(kind).to(torch.float32))
    torch.testing.assert_close(g._raw.to(torch.float32), slope._raw, rtol=0.2, atol=0.1)


def test_attention_of_arrays_that_pytorch_does_not_record() -> None:
    with torch.inference_mode():
        raw = [a + 0 for a in heads()]
        found = gradient(lambda *a: nn.scaled_dot_product_attention(*a), *map(wg.asarray, raw))
    expected = gradient(lambda *a: nn.scaled_dot_product_attention(*a), *map(wg.asarray, heads()))
    for mine, usual in zip(found, expected, strict=True):
        close(mine, usual, 1e-12)


def test_kinks_are_ours() -> None:
    x = wg.asarray(torch.tensor([-1.0, 0.0, -0.0, 2.0]))
    (g,) = gradient(lambda x: wg.sum(nn.relu(x)), x)
    assert g.tolist() == [0.0, 0.0, 0.0, 1.0]


# -- how much runs ----------------------------------------------------------------------------


def blocks(xp: Any, y: Any, weights: list[Any], module: Any) -> Any:
    """Return the mean square of what two blocks of a GPT give, in our names or PyTorch's."""
    width = y.shape[-1]
    permute = wg.permute_dims if xp is wg else torch.permute
    norm = nn.layer_norm if xp is wg else lambda y: functional.layer_norm(y, (width,))
    for i in range(2):
        qkv, out, up, down = weights[4 * i : 4 * i + 4]
        parts = xp.reshape(norm(y) @ qkv, (*y.shape[:2], 3, 2, width // 2))
        q, k, v = permute(parts, (2, 0, 3, 1, 4))
        a = module.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y + xp.reshape(permute(a, (0, 2, 1, 3)), y.shape) @ out
        y = y + module.gelu(norm(y) @ up) @ down
    return xp.mean(y * y)


def parameters(device: str = "cpu", dtype: Any = torch.bfloat16) -> list[Any]:
    sizes = [(8, 24), (8, 8), (8, 32), (32, 8)] * 2
    made = [numbers(2, 5, 8), *(numbers(*s, seed=i) * 0.3 for i, s in enumerate(sizes))]
    return [a.to(dtype).to(device) for a in made]


def theirs(function: Callable[..., Any], arrays: list[Any]) -> Any:
    leaves = [a.clone().requires_grad_() for a in arrays]
    return torch.autograd.grad(function(leaves), leaves)


def test_blocks_of_a_transformer_launch_what_pytorch_launches() -> None:
    raw = parameters()
    tensors = list(map(wg.asarray, raw))
    mine = kernels_of(lambda: gradient(lambda y, *w: blocks(wg, y, list(w), nn), *tensors))
    peer = kernels_of(lambda: theirs(lambda a: blocks(torch, a[0], a[1:], functional), raw))
    del peer["clone"]  # of the leaves, and of a permutation that is made a matrix
    for name in ("mm", "native_layer_norm_backward", "gelu_backward"):
        assert mine[name] == peer[name]
    assert "_to_copy" not in mine  # all is computed in bfloat16
    # ones and zeros for layer norms without weights; parts are put together one after the other
    assert mine.total() <= peer.total() + 12


def test_gradients_of_blocks_are_pytorchs() -> None:
    raw = parameters(dtype=torch.float32)
    got = gradient(lambda y, *w: blocks(wg, y, list(w), nn), *map(wg.asarray, raw))
    expected = theirs(lambda a: blocks(torch, a[0], a[1:], functional), raw)
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g._raw, e, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_no_value_of_blocks_is_read(dtype: Any) -> None:
    tensors = list(map(wg.asarray, parameters("meta", dtype)))
    found = gradient(lambda y, *w: blocks(wg, y, list(w), nn), *tensors)
    assert all(g._raw.device.type == "meta" and g._raw.dtype is dtype for g in found)


def test_layers_of_a_network_launch_what_pytorch_launches() -> None:
    x, *kernels = numbers(2, 3, 6, 6), numbers(4, 3, 3, 3), numbers(4, 4, 3, 3)

    def layers(xp: Any, conv: Any, relu: Any, y: Any, weights: Any) -> Any:
        for w in weights:
            y = xp.tanh(relu(conv(y, w, padding=1)))
        return xp.mean(y * y)

    tensors = list(map(wg.asarray, (x, *kernels)))
    mine = kernels_of(
        lambda: gradient(lambda y, *w: layers(wg, nn.conv2d, nn.relu, y, w), *tensors)
    )
    peer = kernels_of(
        lambda: theirs(
            lambda a: layers(torch, functional.conv2d, torch.relu, a[0], a[1:]), [x, *kernels]
        )
    )
    del peer["clone"]
    assert mine.total() <= peer.total()
    assert mine["convolution_backward"] == peer["convolution_backward"] == 2


def test_the_rule_of_a_square_is_one_product() -> None:
    x = numbers(3, 4)
    tensor = wg.asarray(x)
    found = kernels_of(lambda: gradient(lambda x: wg.sum(x * x), tensor))
    assert found["mul"] == 1  # the rule's

    def f(xp: Any, x: Any) -> Any:
        y = xp.sin(x)
        return xp.sum(x * x * y + y * y * y + y * y + y)

    (got,) = gradient(lambda x: f(wg, x), tensor)
    (expected,) = theirs(lambda a: f(torch, a[0]), [x])
    torch.testing.assert_close(got._raw, expected)
