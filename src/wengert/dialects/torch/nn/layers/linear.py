"""Layers of linear functions, tables of vectors, and dropout."""

from __future__ import annotations

import math
from typing import Any

from wengert.dialects.torch.modes import no_grad
from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.layers.calls import F, offer, parameter
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.nn.parameters import Parameter


class Identity(Module):
    """The argument itself; what it is made with is not looked at."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Return the argument."""
        return input


class Linear(Module):
    """x @ weight.T + bias."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter(out_features, in_features, device=device, dtype=dtype)
        self.register_parameter(
            "bias", parameter(out_features, device=device, dtype=dtype) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and biases."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        draw_bias(self)

    def forward(self, input: Any) -> Any:
        """Return the linear function of vectors along the last axis."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


def draw_bias(layer: Any) -> None:
    """Draw the biases of a layer within a bound that depends on the shape of its weights."""
    if layer.bias is not None:
        fan_in = init.fans_of(layer.weight)[0]
        bound = 1 / math.sqrt(fan_in) if fan_in else 0
        init.uniform_(layer.bias, -bound, bound)


class Bilinear(Module):
    """x1 @ weight @ x2 + bias, for one matrix of weights for each result."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features is {in1_features}; give 1 or more")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight = parameter(
            out_features, in1_features, in2_features, device=device, dtype=dtype
        )
        self.register_parameter(
            "bias", parameter(out_features, device=device, dtype=dtype) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and biases."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        """Return the bilinear function of two vectors."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


# -- tables of vectors -----------------------------------------------------------------------------


class _Table(Module):
    """What Embedding and EmbeddingBag share: a table of vectors, one of which may be padding."""

    def _set_up(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, weight: Any,
        learns: bool, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < max(num_embeddings, 1):
                raise AssertionError(
                    f"Embedding: padding_idx is {padding_idx}, and there are {num_embeddings} rows"
                )
            padding_idx %= max(num_embeddings, 1)
        self.padding_idx = padding_idx
        if weight is None:
            empty = parameter(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(empty, learns)
            self.reset_parameters()
        elif tuple(weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError(
                f"Embedding: the weight has shape {list(weight.shape)}; give "
                f"{[num_embeddings, embedding_dim]}"
            )
        else:
            self.weight = Parameter(weight, learns)

    def reset_parameters(self) -> None:
        """Draw the vectors; that of the padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)  # type: ignore[index]

    def _options(self) -> str:
        text = ""
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text


def _check_table(embeddings: Any) -> None:
    if embeddings.ndim != 2:
        raise AssertionError("from_pretrained: the table is no matrix; give rows")


class Embedding(_Table):
    """A table of vectors that are looked up by their numbers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._set_up(
            num_embeddings, embedding_dim, padding_idx, _weight, not _freeze, device, dtype
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Any:
        """Return a layer with the vectors of a tensor."""
        _check_table(embeddings)
        count, length = embeddings.shape
        return cls(
            count, length, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            embeddings, freeze,
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        """Return the vectors with these numbers."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the sizes, and options that are not the usual ones."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        sparse = ", sparse=True" if self.sparse is not False else ""
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}{self._options()}{sparse}"


class EmbeddingBag(_Table):
    """Sums, means or maxima of vectors that are looked up by their numbers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self._set_up(num_embeddings, embedding_dim, padding_idx, _weight, True, device, dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Any:
        """Return a layer with the vectors of a tensor."""
        _check_table(embeddings)
        count, length = embeddings.shape
        made = cls(
            count, length, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
            include_last_offset, padding_idx,
        )  # fmt: skip
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Return one vector for each bag of numbers."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the sizes, and options that are not the usual ones."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return (
            f"{self.num_embeddings}, {self.embedding_dim}{self._options()}, mode={self.mode!r}"
            f"{padding}"
        )


# -- dropout ---------------------------------------------------------------------------------------


class _DropoutNd(Module):
    function = ""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"p is {p}; give a probability from 0 to 1")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """Return the numbers, in training without those that are left out."""
        return getattr(F, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeros in the place of random numbers in training."""

    function = "dropout"


class Dropout1d(_DropoutNd):
    """Zeros in the place of random channels in training."""

    function = "dropout1d"


class Dropout2d(_DropoutNd):
    """Zeros in the place of random channels of images in training."""

    function = "dropout2d"


class Dropout3d(_DropoutNd):
    """Zeros in the place of random channels of volumes in training."""

    function = "dropout3d"


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean 0 and variance 1."""

    function = "alpha_dropout"


class FeatureAlphaDropout(_DropoutNd):
    """Dropout of whole channels that keeps mean 0 and variance 1."""

    function = "feature_alpha_dropout"


offer("linear", Identity, Linear, Bilinear)
offer("sparse", Embedding, EmbeddingBag)
offer(
    "dropout", _DropoutNd, Dropout, Dropout1d, Dropout2d, Dropout3d, AlphaDropout,
    FeatureAlphaDropout,
)  # fmt: skip
