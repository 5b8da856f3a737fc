"""Attention of several heads and the transformer: values, derivatives, draws, masks, errors."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.dialects.parity import Programs
from tests.dialects.torch.nn.module_cases import everything, numbers, raising
from tests.dialects.torch.parity import compare

pytestmark = pytest.mark.parity

program = PROGRAMS = Programs()
DOUBLE: Any = {"dtype": "float64", "grad": True}


def weighted(torch: Any, y: Any) -> Any:
    places = torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape)
    return (y * y * torch.cos(places)).sum()


def swept(torch: Any, module: Any, results: Any, leaves: Any, orders: int = 1) -> list[Any]:
    """Return results and the gradients of one order or two, by tensors and parameters."""
    given = [y for y in results if y is not None]
    leaves = [*leaves, *module.parameters()]
    found = [y.detach() for y in given]
    total = sum(weighted(torch, y) for y in given)
    for _ in range(orders):
        gradients = torch.autograd.grad(total, leaves, create_graph=orders > 1, allow_unused=True)
        found += [None if g is None else g.detach() for g in gradients]
        if orders > 1:
            total = sum(weighted(torch, g) for g in gradients if g is not None)
    return found


# -- attention -------------------------------------------------------------------------------------

#: How attention is made, and what it is called with.
ATTENTION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "usual": ({}, {}),
    "batch_first": ({"batch_first": True}, {}),
    "dropout": ({"dropout": 0.4}, {}),
    "dropout_batch_first": ({"dropout": 0.4, "batch_first": True}, {"average_attn_weights": False}),
    "no_bias": ({"bias": False}, {"average_attn_weights": False}),
    "sizes": ({"kdim": 3, "vdim": 5}, {}),
    "more_keys": ({"add_bias_kv": True, "add_zero_attn": True}, {"key_padding_mask": True}),
    "zero_key": ({"add_zero_attn": True}, {"attn_mask": "matrix"}),
    "padding": ({}, {"key_padding_mask": True}),
    "both_masks": ({"batch_first": True}, {"key_padding_mask": True, "attn_mask": "bool"}),
    "numbers": ({}, {"attn_mask": "matrix"}),
    "numbers_for_each": ({}, {"attn_mask": "each", "key_padding_mask": True}),
}


def call(torch: Any, made: Any, given: Any, *, need_weights: bool, alike: bool) -> Any:
    """Return the module, its arguments and the mask that has a gradient."""
    torch.manual_seed(7)
    module = torch.nn.MultiheadAttention(4, 2, **made).double()
    options = {"need_weights": need_weights, **given}
    queries, keys, batch = 3, 3 if alike else 5, 2

    def tensor(count: int, width: int, seed: int) -> Any:
        lead = (batch, count) if module.batch_first else (count, batch)
        return numbers(torch, *lead, width, seed=seed, **DOUBLE)

    q = tensor(queries, 4, 1)
    k, v = (q, q) if alike else (tensor(keys, module.kdim, 2), tensor(keys, module.vdim, 3))
    leaves = [q] if alike else [q, k, v]
    if options.get("key_padding_mask"):
        options["key_padding_mask"] = torch.arange(keys).expand(batch, keys) >= keys - 1
    if "attn_mask" in options:
        shape = (queries, keys) if options["attn_mask"] != "each" else (batch * 2, queries, keys)
        mask = numbers(torch, *shape, seed=4, **DOUBLE)
        if options["attn_mask"] == "bool":
            mask = (mask.detach() > 1) & (torch.arange(keys) > 0)
        else:
            leaves.append(mask)
        options["attn_mask"] = mask
    return module, (q, k, v), options, leaves


#: Queries that are also keys have as many numbers.
CALLS = [(name, alike) for name in ATTENTION for alike in (True, False)]
CALLS.remove(("sizes", True))


@pytest.mark.parametrize("need_weights", [True, False], ids=["weights", "none"])
@pytest.mark.parametrize(("name", "alike"), CALLS)
def test_attention(name: str, alike: bool, need_weights: bool) -> None:
    made, given = ATTENTION[name]

    def program(torch: Any) -> Any:
        module, tensors, options, leaves = call(
            torch, made, given, need_weights=need_weights, alike=alike
        )
        # PyTorch's operation without weights has one order, and no derivative for masks
        orders = 2 if need_weights else 1
        leaves = leaves if need_weights else [t for t in leaves if t in tensors]
        found = [repr(module), module.state_dict()]
        found += swept(torch, module, module(*tensors, **options), leaves, orders)
        module.eval()
        with torch.no_grad():
            # in evaluation PyTorch takes all numbers but 0 for True
            if name not in ("numbers", "numbers_for_each", "zero_key"):
                found.append(module(*tensors, **options))
        return found

    compare(program, rtol=1e-10)


@program
def attention_without_a_batch(torch: Any) -> Any:
    torch.manual_seed(1)
    module, x = torch.nn.MultiheadAttention(4, 2, batch_first=True), numbers(torch, 3, 4)
    padding = torch.tensor([False, False, True])
    return [
        module(x, x, x),
        module(x, x, x, key_padding_mask=padding, need_weights=False),
        module(x, x[:2], x[:2], attn_mask=torch.zeros(2, 3, 2)),
    ]


@program
def causal_attention(torch: Any) -> Any:
    torch.manual_seed(1)
    module, x = torch.nn.MultiheadAttention(4, 2), numbers(torch, 3, 2, 4)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    options = {"attn_mask": mask, "is_causal": True}
    padding = torch.tensor([[False, False, True]] * 2)
    return [
        mask,
        module(x, x, x, **options),
        module(x, x, x, need_weights=False, **options),
        module(
            x, x, x, key_padding_mask=padding.float().masked_fill(padding, -torch.inf), **options
        ),
    ]


@program
def queries_that_see_nothing(torch: Any) -> Any:
    torch.manual_seed(1)
    module, x = torch.nn.MultiheadAttention(4, 2), numbers(torch, 3, 2, 4)
    nothing = torch.ones(2, 3, dtype=torch.bool)
    found = [module(x, x, x, key_padding_mask=nothing, need_weights=n)[0] for n in (True, False)]
    return [y.isnan().all() for y in found] + [found[1]]


@program
def the_function_of_attention(torch: Any) -> Any:
    F = torch.nn.functional
    width, heads = 4, 2
    q, k = numbers(torch, 3, 2, width), numbers(torch, 5, 2, width, seed=1)
    weight, bias = numbers(torch, 12, width, seed=2), numbers(torch, 12, seed=3)
    out = numbers(torch, width, width, seed=4)
    first = (q, k, k, width, heads, weight, bias, None, None, False, 0.0, out, None)
    static = numbers(torch, 4, 6, 2, seed=5)
    parts = weight.chunk(3)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    separate = dict(zip(names, parts, strict=True))
    return [
        F.multi_head_attention_forward(*first),
        F.multi_head_attention_forward(*first, training=False, need_weights=False),
        F.multi_head_attention_forward(*first, static_k=static, static_v=2 * static),
        F.multi_head_attention_forward(*first, use_separate_proj_weight=True, **separate),
    ]


@program
def errors_of_attention(torch: Any) -> Any:
    nn = torch.nn
    module, x = nn.MultiheadAttention(4, 2), torch.ones(3, 2, 4)
    calls = [
        lambda: nn.MultiheadAttention(4, 3),
        lambda: nn.MultiheadAttention(0, 2),
        lambda: nn.MultiheadAttention(4, 0),
        lambda: module(x, x[0], x),
        lambda: module(torch.ones(4), x, x),
        lambda: module(x, x[:2], x),
        lambda: module(torch.ones(3, 2, 6), x, x),
        lambda: module(x, x, x, attn_mask=torch.zeros(3, 4)),
        lambda: module(x, x, x, attn_mask=torch.zeros(3)),
        lambda: module(x, x, x, attn_mask=torch.zeros(3, 3, 3)),
        lambda: module(x[:, 0], x[:, 0], x[:, 0], attn_mask=torch.zeros(3, 3, 3)),
        lambda: module(x, x, x, attn_mask=torch.zeros(3, 3, dtype=torch.int64)),
        lambda: module(x, x, x, key_padding_mask=torch.zeros(3, 3, dtype=torch.bool)),
        lambda: module(x, x, x, key_padding_mask=torch.zeros(3, dtype=torch.bool)),
        lambda: module(x, x, x, is_causal=True),
        lambda: module(x.double(), x.double(), x.double()),
        lambda: module(x, x, x, attn_mask=torch.zeros(3, 3).double()),
        lambda: module(x, x, x, attn_mask=torch.zeros(3, 3).double(), need_weights=False),
        lambda: module(x, x.double(), x.double()),
    ]
    return [raising(call) for call in calls]


# -- the transformer -------------------------------------------------------------------------------

LAYERS: dict[str, dict[str, Any]] = {
    "usual": {},
    "batch_first": {"batch_first": True},
    "norm_first": {"norm_first": True, "activation": "gelu"},
    "no_bias": {"bias": False, "dropout": 0.0, "layer_norm_eps": 0.1},
    "no_dropout": {"dropout": 0.0, "batch_first": True, "norm_first": True},
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_encoder_and_decoder(name: str) -> None:
    def program(torch: Any) -> Any:
        nn, options = torch.nn, {"dim_feedforward": 6, **LAYERS[name]}
        torch.manual_seed(2)
        encoder, decoder = nn.TransformerEncoderLayer(4, 2, **options), None
        decoder = nn.TransformerDecoderLayer(4, 2, **options)
        found = [repr(encoder), repr(decoder), encoder.state_dict(), decoder.state_dict()]
        encoder, decoder = encoder.double(), decoder.double()
        lead = (2, 5) if encoder.self_attn.batch_first else (5, 2)
        x, y = (numbers(torch, *lead, 4, seed=k, **DOUBLE) for k in (1, 2))
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
        hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
        orders = 2 if options.get("dropout", 0.1) else 1  # PyTorch's quick operation has one
        found += swept(torch, encoder, [encoder(x, src_key_padding_mask=padding)], [x], orders)
        masked = encoder(x, hidden, padding)
        found += swept(torch, encoder, [masked], [x])
        result = decoder(y, x, tgt_mask=hidden, memory_key_padding_mask=padding)
        found += swept(torch, decoder, [result], [x, y], orders)
        encoder.eval()
        with torch.no_grad():
            found += [encoder(x, hidden), encoder(x, src_key_padding_mask=padding)]
        return found

    compare(program, rtol=1e-10)


@pytest.mark.parametrize("options", [{}, {"batch_first": True, "norm_first": True}], ids=str)
def test_transformer(options: Any) -> None:
    def program(torch: Any) -> Any:
        torch.manual_seed(3)
        model = torch.nn.Transformer(4, 2, 2, 1, 6, activation="gelu", **options)
        found = [repr(model), model.state_dict(), torch.rand(1)]
        model.double()
        lead = (2, 5) if model.batch_first else (5, 2)
        x, y = (numbers(torch, *lead, 4, seed=k, **DOUBLE) for k in (1, 2))
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
        mask = model.generate_square_subsequent_mask(5, dtype=torch.float64)
        result = model(
            x, y, tgt_mask=mask, src_key_padding_mask=padding, memory_key_padding_mask=padding
        )
        found += swept(torch, model, [result], [x, y], 2)
        model.eval()
        return [*found, model(x, y, src_mask=mask, tgt_is_causal=True, tgt_mask=mask)]

    compare(program, rtol=1e-10)


@program
def encoders_make_padding_zero_in_evaluation(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(4)
    x = numbers(torch, 2, 4, 4)
    right = torch.tensor([[False] * 4, [False, False, True, True]])
    found = []
    for heads, norm, padding in (
        (2, None, right), (2, nn.LayerNorm(4), right), (2, None, ~right), (1, None, right),
        (2, None, torch.zeros(2, 4).masked_fill(right, -torch.inf)),
    ):  # fmt: skip
        layer = nn.TransformerEncoderLayer(4, heads, 6, batch_first=True)
        encoder = nn.TransformerEncoder(layer, 2, norm).eval()
        found.append([encoder.use_nested_tensor, encoder(x, src_key_padding_mask=padding)])
        with torch.no_grad():
            seen = encoder(x, src_key_padding_mask=padding)
        found.append(seen[~padding.bool()] if padding[0].all() else seen)
    kept = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()
    with torch.no_grad():
        found.append(kept(x, src_key_padding_mask=right))
    return found


@program
def a_model_of_language(torch: Any) -> Any:
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.places = nn.Embedding(7, 8), nn.Parameter(torch.zeros(5, 1, 8))
            layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1)
            self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8))
            self.head = nn.Linear(8, 7)

        def forward(self, x: Any) -> Any:
            mask = nn.Transformer.generate_square_subsequent_mask(len(x))
            return self.head(self.encoder(self.table(x) + self.places, mask))

    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, losses = torch.randint(0, 7, (6, 4)), []
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[:-1]).reshape(-1, 7), x[1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [losses, everything(model)[0], copy.deepcopy(model).eval()(x[:-1])]


@program
def errors_of_transformers(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Transformer(4, 2, 1, 1, 6)
    x = torch.ones(3, 2, 4)
    calls = [
        lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
        lambda: nn.TransformerDecoderLayer(4, 2, activation="tanh"),
        lambda: model(x, x[:, :1]),
        lambda: model(x, torch.ones(3, 2, 6)),
        lambda: model.encoder(x, is_causal=True),
        lambda: nn.Transformer(4, 3, 1, 1),
    ]
    own = nn.Transformer(4, 2, custom_encoder=nn.Identity(), num_decoder_layers=1)
    layer = nn.TransformerEncoderLayer(4, 2, 6, activation=nn.Tanh())
    return [[raising(call) for call in calls], repr(own.encoder), repr(layer)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(PROGRAMS[name])
