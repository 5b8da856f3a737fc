"""Layers of linear functions, tables of vectors, and dropout."""

from __future__ import annotations

import math
from typing import Any

from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.layers.calls import Call, Weighted, layer, offer, parameter
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter


class Identity(Module):
    """The argument itself; what it is made with is not looked at."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the argument."""
        return input


#: What Linear takes, beyond the size that LazyLinear finds out.
OPTIONS = "out_features, bias=True, device=None, dtype=None"


class Linear(
    Weighted,
    function="linear",
    takes=f"in_features, {OPTIONS}",
    shown="in_features=, out_features=, bias=",
):
    """x @ weight.T + bias."""

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def reset_parameters(self) -> None:
        """Draw weights and biases."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        draw_bias(self)


def draw_bias(layer: Any) -> None:
    """Draw the biases of a layer within a bound that depends on the shape of its weights."""
    if layer.bias is not None:
        fan_in = init.fans_of(layer.weight)[0]
        bound = 1 / math.sqrt(fan_in) if fan_in else 0
        init.uniform_(layer.bias, -bound, bound)


class Bilinear(
    Weighted,
    function="bilinear",
    takes="in1_features, in2_features, out_features, bias=True, device=None, dtype=None",
    shown="in1_features=, in2_features=, out_features=, bias=",
):
    """x1 @ weight @ x2 + bias, for one matrix of weights for each result."""

    def _init_with(self, **options: Any) -> None:
        if options["in1_features"] <= 0:
            raise ValueError(f"Bilinear: in1_features is {options['in1_features']}; give 1 or more")
        super()._init_with(**options)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        weight = (self.out_features, self.in1_features, self.in2_features)
        return {"weight": weight, "bias": (self.out_features,)}

    def reset_parameters(self) -> None:
        """Draw weights and biases."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)


# -- tables of vectors -----------------------------------------------------------------------------


class _Table(Call, passes="weight"):
    """What Embedding and EmbeddingBag share: a table of vectors, one of which may be padding."""

    def _init_with(self, **options: Any) -> None:
        like = {"device": options.pop("device"), "dtype": options.pop("dtype")}
        weight, learns = options.pop("_weight"), not options.pop("_freeze", False)
        super()._init_with(**options)
        shape = (self.num_embeddings, self.embedding_dim)
        if self.padding_idx is not None:
            count = max(self.num_embeddings, 1)
            if not -self.num_embeddings <= self.padding_idx < count:
                raise AssertionError(f"there is no row padding_idx={self.padding_idx}")
            self.padding_idx %= count
        if weight is None:
            self.weight = Parameter(parameter(*shape, **like), learns)
            self.reset_parameters()
        elif tuple(weight.shape) != shape:
            raise AssertionError(f"the weight is {list(weight.shape)}; give {list(shape)}")
        else:
            self.weight = Parameter(weight, learns)

    def reset_parameters(self) -> None:
        """Draw the vectors; that of the padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)  # type: ignore[index]

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, *args: Any, **given: Any) -> Any:
        """Return a layer with the vectors of a tensor; further arguments are the options."""
        if embeddings.ndim != 2:
            raise AssertionError("from_pretrained: the table is no matrix; give rows")
        names = [name for name in list(cls._takes)[2:-2] if not name.startswith("_")]
        options = dict(zip(names, args, strict=False)) | given
        if "_freeze" in cls._takes:
            options["_freeze"] = freeze
        layer = cls(*embeddings.shape, _weight=embeddings, **options)
        layer.weight.requires_grad = not freeze
        return layer


class Embedding(
    _Table,
    function="embedding",
    takes=(
        "num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, "
        "sparse, _weight=None, _freeze=False, device=None, dtype=None"
    ),
    shown=(
        "num_embeddings, embedding_dim, padding_idx?, max_norm?, norm_type?, "
        "scale_grad_by_freq?, sparse?"
    ),
):
    """A table of vectors that are looked up by their numbers."""


class EmbeddingBag(
    _Table,
    function="embedding_bag",
    inputs="input, offsets, per_sample_weights",
    takes=(
        "num_embeddings, embedding_dim, max_norm, norm_type=2.0, scale_grad_by_freq, mode, "
        "sparse, _weight=None, include_last_offset, padding_idx, device=None, dtype=None"
    ),
    shown=(
        "num_embeddings, embedding_dim, max_norm?, norm_type?, scale_grad_by_freq?, mode=, "
        "padding_idx?"
    ),
):
    """Sums, means or maxima of vectors that are looked up by their numbers."""


# -- dropout ---------------------------------------------------------------------------------------


class _DropoutNd(Call, takes="p=0.5, inplace=False", shown="p=, inplace="):
    def _init_with(self, **options: Any) -> None:
        if not 0 <= options["p"] <= 1:
            raise ValueError(f"p is {options['p']}; give a probability from 0 to 1")
        super()._init_with(**options)


offer("linear", Identity, Linear, Bilinear)
offer("sparse", Embedding, EmbeddingBag)
offer("dropout", _DropoutNd)
for _name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
    offer("dropout", layer(_name, _DropoutNd, function=_name.lower()))
offer("dropout", layer("AlphaDropout", _DropoutNd, function="alpha_dropout"))
