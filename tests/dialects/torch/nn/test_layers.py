"""Linear layers, embeddings, attention and the like of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, labels, with_gradients

pytestmark = pytest.mark.parity


LAYERS: dict[str, Program] = {
    "linear": with_gradients(
        lambda t, x, w, b: t.nn.functional.linear(x, w, b), (3, 4), (5, 4), (5,)
    ),
    "linear-3d": with_gradients(
        lambda t, x, w, b: t.nn.functional.linear(x, w, bias=b), (2, 3, 4), (5, 4), (5,)
    ),
    "linear-1d": with_gradients(
        lambda t, x, w, b: t.nn.functional.linear(x, w, b), (4,), (5, 4), (5,)
    ),
    "linear-no-bias": with_gradients(lambda t, x, w: t.nn.functional.linear(x, w), (3, 4), (5, 4)),
    "linear-vector": with_gradients(lambda t, x, w: t.nn.functional.linear(x, w), (3, 4), (4,)),
    "linear-empty": lambda t: t.nn.functional.linear(t.zeros(0, 4), t.zeros(5, 4), t.zeros(5)),
    "linear-integers": lambda t: t.nn.functional.linear(t.ones(2, 3).long(), t.ones(4, 3).long()),
    "linear-shapes": lambda t: t.nn.functional.linear(data(t, 3, 4), data(t, 5, 3)),
    "linear-dtypes": lambda t: t.nn.functional.linear(
        data(t, 3, 4, dtype="float32"), data(t, 5, 4)
    ),
    "linear-number": lambda t: t.nn.functional.linear(2.0, data(t, 5, 4)),
    "bilinear": with_gradients(
        lambda t, x, y, w, b: t.nn.functional.bilinear(x, y, w, b), (3, 4), (3, 2), (5, 4, 2), (5,)
    ),
    "torch.bilinear": with_gradients(
        lambda t, x, y, w: t.bilinear(x, y, w, None), (2, 3, 4), (2, 3, 2), (5, 4, 2)
    ),
    "embedding": with_gradients(
        lambda t, w: t.nn.functional.embedding(labels(t, 6, 2, 3), w), (6, 4)
    ),
    "embedding-padding": with_gradients(
        lambda t, w: t.nn.functional.embedding(t.tensor([[1, 5, 0], [5, 5, 2]]), w, padding_idx=-1),
        (6, 4),
        second=False,
    ),
    "embedding-0d": with_gradients(
        lambda t, w: t.nn.functional.embedding(t.tensor(2), w), (6, 4), second=False
    ),
    "embedding-frequency": with_gradients(
        lambda t, w: t.nn.functional.embedding(t.tensor([1, 1, 0, 1]), w, scale_grad_by_freq=True),
        (6, 4),
        second=False,
    ),
    "embedding-int32": lambda t: t.nn.functional.embedding(
        t.tensor([1, 0], dtype=t.int32), data(t, 6, 4)
    ),
    "embedding-out": lambda t: t.nn.functional.embedding(t.tensor([6]), data(t, 6, 4)),
    "embedding-negative": lambda t: t.nn.functional.embedding(t.tensor([-1]), data(t, 6, 4)),
    "embedding-float": lambda t: t.nn.functional.embedding(t.tensor([1.0]), data(t, 6, 4)),
    "embedding-wrong-padding": lambda t: t.nn.functional.embedding(
        t.tensor([1]), data(t, 6, 4), padding_idx=9
    ),
    "embedding-integers": lambda t: t.nn.functional.embedding(
        t.tensor([[1], [0]]), t.tensor([[1, 2], [3, 4]])
    ),
    "one_hot": lambda t: t.nn.functional.one_hot(t.tensor([[0, 2], [1, 0]])),
    "one_hot-classes": lambda t: t.nn.functional.one_hot(t.tensor([0, 2]), num_classes=5),
    "one_hot-0d": lambda t: t.nn.functional.one_hot(t.tensor(3)),
    "one_hot-few": lambda t: t.nn.functional.one_hot(t.tensor([0, 2]), 2),
    "one_hot-negative": lambda t: t.nn.functional.one_hot(t.tensor([-1, 2])),
    "one_hot-float": lambda t: t.nn.functional.one_hot(t.tensor([1.0])),
    "one_hot-int32": lambda t: t.nn.functional.one_hot(t.tensor([1], dtype=t.int32)),
    "one_hot-empty": lambda t: t.nn.functional.one_hot(t.zeros(0, dtype=t.int64), 3),
    "one_hot-empty-unknown": lambda t: t.nn.functional.one_hot(t.zeros(0, dtype=t.int64)),
    "prelu": with_gradients(lambda t, x, w: t.nn.functional.prelu(x, w), (2, 3, 2), (3,)),
    "prelu-one": with_gradients(lambda t, x, w: t.nn.functional.prelu(x, w), (2, 3), (1,)),
    "attention": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v),
        (2, 3, 4),
        (2, 5, 4),
        (2, 5, 6),
        second=False,
    ),
    "attention-causal": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        (2, 2, 3, 4),
        (2, 2, 3, 4),
        (2, 2, 3, 4),
        second=False,
    ),
    "attention-mask": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=t.tensor([[True, False], [True, True], [False, True]])
        ),
        (2, 3, 4),
        (2, 2, 4),
        (2, 2, 4),
        second=False,
    ),
    "attention-bias": with_gradients(
        lambda t, q, k, v, m: t.nn.functional.scaled_dot_product_attention(q, k, v, m, scale=0.3),
        (2, 3, 4),
        (2, 2, 4),
        (2, 2, 4),
        (3, 2),
        second=False,
    ),
    "attention-gqa": with_gradients(
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        (1, 4, 3, 2),
        (1, 2, 5, 2),
        (1, 2, 5, 2),
        second=False,
    ),
    "attention-all-masked": lambda t: t.nn.functional.scaled_dot_product_attention(
        data(t, 1, 2, 4),
        data(t, 1, 2, 4),
        data(t, 1, 2, 4),
        t.tensor([[False, False], [True, True]]),
    ),
    "attention-both": lambda t: t.nn.functional.scaled_dot_product_attention(
        data(t, 1, 2, 4), data(t, 1, 2, 4), data(t, 1, 2, 4), t.ones(2, 2).bool(), is_causal=True
    ),
    "embedding_bag": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(
            t.tensor([1, 2, 4, 5, 4, 3]), w, t.tensor([0, 2, 2])
        ),
        (6, 4),
        second=False,
    ),
    "embedding_bag-2d": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(t.tensor([[1, 2], [4, 5]]), w, mode="sum"),
        (6, 4),
        second=False,
    ),
    "embedding_bag-max": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(t.tensor([[1, 2], [4, 5]]), w, mode="max"),
        (6, 4),
        second=False,
    ),
    "embedding_bag-weights": with_gradients(
        lambda t, w, s: t.nn.functional.embedding_bag(
            t.tensor([[1, 2], [4, 5]]), w, mode="sum", per_sample_weights=s
        ),
        (6, 4),
        (2, 2),
        second=False,
    ),
    "embedding_bag-padding": with_gradients(
        lambda t, w: t.nn.functional.embedding_bag(t.tensor([[1, 2], [4, 1]]), w, padding_idx=1),
        (6, 4),
        second=False,
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str) -> None:
    check(LAYERS[name])


def test_max_norm_shortens_rows_in_place() -> None:
    def program(torch: Any) -> Any:
        w = data(torch, 5, 3)
        y = torch.nn.functional.embedding(torch.tensor([[1, 3], [1, 1]]), w.detach(), max_norm=1.0)
        return y, w.detach().clone()

    check(program)
