"""Attention of several heads, and the transformer: encoder, decoder and their layers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.modes import is_grad_enabled
from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.attention import attend
from wengert.dialects.torch.nn.containers import ModuleList
from wengert.dialects.torch.nn.layers.calls import Call, F, offer, parameter
from wengert.dialects.torch.nn.layers.linear import Linear
from wengert.dialects.torch.nn.layers.normalisation import LayerNorm
from wengert.dialects.torch.nn.module import Module
from wengert.dialects.torch.table import NAMES

Dropout: Any = NAMES["nn.Dropout"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under another name, which printed modules show."""


class MultiheadAttention(
    Call,
    takes=(
        "embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, "
        "kdim=None, vdim=None, batch_first=False, device=None, dtype=None"
    ),
):
    """Attention of several heads: projections of queries, keys, values and of what is seen."""

    def _init_with(self, **options: Any) -> None:
        like = {"device": options.pop("device"), "dtype": options.pop("dtype")}
        bias, more = options.pop("bias"), options.pop("add_bias_kv")
        width, heads = options["embed_dim"], options["num_heads"]
        if width <= 0 or heads <= 0:
            raise ValueError(f"embed_dim={width}, num_heads={heads}; give numbers above 0")
        if width % heads:
            raise AssertionError(f"embed_dim={width} is not divisible by num_heads={heads}")
        for name in ("kdim", "vdim"):
            options[name] = width if options[name] is None else options[name]
        super()._init_with(**options)
        self.head_dim = width // heads
        self._qkv_same_embed_dim = self.kdim == width and self.vdim == width
        one = self._qkv_same_embed_dim
        for name, shape, wanted in (
            ("in_proj_weight", (3 * width, width), one),
            ("q_proj_weight", (width, width), not one),
            ("k_proj_weight", (width, self.kdim), not one),
            ("v_proj_weight", (width, self.vdim), not one),
            ("in_proj_bias", (3 * width,), bias),
        ):
            self.register_parameter(name, parameter(*shape, **like) if wanted else None)
        self.out_proj = NonDynamicallyQuantizableLinear(width, width, bias=bias, **like)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, parameter(1, 1, width, **like) if more else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
        need_weights: bool = True, attn_mask: Any = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Return what the queries see of the values, and the weights or None."""
        found: tuple[Any, Any] = attend(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, None, None, average_attn_weights, is_causal,
            self.batch_first and query.ndim == 3,
        )  # fmt: skip
        return found


# -- layers ----------------------------------------------------------------------------------------


def _activation(given: Any) -> Any:
    """Return an activation, which may be given by its name."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation is {given!r}; give 'relu', 'gelu' or a function")
    return getattr(F, given)


class _Layer(Module):
    """What the layers of encoder and decoder share; the number of blocks tells them apart."""

    #: what attention there is, in the order of the blocks before the last
    _attentions: tuple[str, ...]

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        like: Any = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            options = {"dropout": dropout, "batch_first": batch_first, **like}
            setattr(self, name, MultiheadAttention(d_model, nhead, **options))
        self.linear1 = Linear(d_model, dim_feedforward, **like)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **like)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for k in blocks:
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=layer_norm_eps, **like))
        for k in blocks:
            setattr(self, f"dropout{k}", Dropout(dropout))
        self.activation = _activation(activation)

    def _block(self, k: int, x: Any, function: Callable[[Any], Any]) -> Any:
        """Return x plus a function of it, normalised before or after."""
        norm, dropout = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")
        if self.norm_first:
            return x + dropout(function(norm(x)))
        return norm(x + dropout(function(x)))

    def _fed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _seen(layer: Any, x: Any, other: Any, mask: Any, padding: Any, is_causal: Any) -> Any:
    """Return what attention sees of another tensor, or of x itself."""
    options = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
    return layer(x, other, other, need_weights=False, **options)[0]


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, and two linear layers."""

    _attentions = ("self_attn",)

    @property
    def activation_relu_or_gelu(self) -> int:
        """1 for relu, 2 for gelu, 0 for another activation."""
        found = self.activation
        if found is F.relu or isinstance(found, NAMES["nn.ReLU"]):
            return 1
        return 2 if found is F.gelu or isinstance(found, NAMES["nn.GELU"]) else 0

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return the sequence after attention to itself and two linear layers."""
        masks = (src_mask, src_key_padding_mask, is_causal)
        x = self._block(1, src, lambda x: _seen(self.self_attn, x, x, *masks))
        return self._block(2, x, self._fed)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself and to another one, and two linear layers."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return the sequence after both kinds of attention and two linear layers."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self._block(1, tgt, lambda x: _seen(self.self_attn, x, x, *own))
        x = self._block(2, x, lambda x: _seen(self.multihead_attn, x, memory, *other))
        return self._block(3, x, self._fed)


# -- stacks ----------------------------------------------------------------------------------------


class _Stack(Module):
    """Copies of a layer, one after the other, and a normalisation at the end."""

    def _init_with(self, layer: Module, num_layers: int, norm: Any) -> None:
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


def _is_causal(mask: Any, is_causal: bool | None) -> bool:
    """Return whether a mask is known to be causal, as said or as seen."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    if mask.ndim != 2 or mask.shape[0] != mask.shape[1] or not mask.is_floating_point():
        return False
    return bool((mask == _causal(mask.shape[0], mask.device, mask.dtype)).all())


def _causal(size: int, device: Any = None, dtype: Any = None) -> Any:
    full = NAMES["full"]((size, size), -math.inf, device=device, dtype=dtype)
    return full.triu(1)


class TransformerEncoder(_Stack):
    """Layers of an encoder."""

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Any = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self._init_with(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        reason = _keeps_padding(encoder_layer)
        if enable_nested_tensor and reason:
            warn(f"enable_nested_tensor=True does nothing here, for {reason}")
        self.use_nested_tensor = enable_nested_tensor and not reason

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:  # fmt: skip
        """Return the sequence after all layers."""
        x, padding = src, src_key_padding_mask
        causal = _is_causal(mask, is_causal)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if mask is None and self._drops_padding(src, padding):
            hidden = padding if padding.dtype is NAMES["bool"] else padding != 0
            x = x.masked_fill(hidden.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)

    def _drops_padding(self, src: Any, padding: Any) -> bool:
        """Return whether PyTorch would pack the sequences here, which makes padding 0.

        It does so in evaluation, if nothing requires a gradient.
        """
        first = self.layers[0]
        if not self.use_nested_tensor or first.training or src.ndim != 3 or padding is None:
            return False
        if is_grad_enabled() and any(t.requires_grad for t in (src, *first.parameters())):
            return False
        hidden = padding if padding.dtype is NAMES["bool"] else padding != 0
        return not self.mask_check or not (hidden[:, :-1] & ~hidden[:, 1:]).any()


def _keeps_padding(layer: Any) -> str:
    """Return why a layer's sequences cannot be packed; "" if they can."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "the layer is no TransformerEncoderLayer"
    attention: Any = layer.self_attn
    reasons = {
        "norm_first=True": layer.norm_first,
        "batch_first=False": not attention.batch_first,
        "key and value have sizes of their own": not attention._qkv_same_embed_dim,
        "bias=False": attention.in_proj_bias is None,
        "the activation is neither relu nor gelu": not layer.activation_relu_or_gelu,
        "the normalisations have other eps": layer.norm1.eps != layer.norm2.eps,
        "nhead is odd": attention.num_heads % 2,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class TransformerDecoder(_Stack):
    """Layers of a decoder."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self._init_with(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return the sequence after all layers."""
        x, causal = tgt, _is_causal(tgt_mask, tgt_is_causal)
        for layer in self.layers:
            x = layer(
                x, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder of one sequence, and a decoder of another one that sees the first."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        like: Any = {"bias": bias, "device": device, "dtype": dtype}
        shared = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        for name, given, layer, stack, count in (
            ("encoder", custom_encoder, TransformerEncoderLayer, TransformerEncoder,
             num_encoder_layers),
            ("decoder", custom_decoder, TransformerDecoderLayer, TransformerDecoder,
             num_decoder_layers),
        ):  # fmt: skip
            if given is None:
                one = layer(*shared, batch_first, norm_first, **like)
                norm = LayerNorm(d_model, eps=layer_norm_eps, **like)
                given = stack(one, count, norm)
            setattr(self, name, given)
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for weight in self.parameters():
            if weight.ndim > 1:
                init.xavier_uniform_(weight)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None,
        memory_mask: Any = None, src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """Return the second sequence after the decoder."""
        axis = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[axis] != tgt.shape[axis]:
            raise RuntimeError(
                f"src has {src.shape[axis]} sequences and tgt {tgt.shape[axis]}; give as many"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                f"src has {src.shape[-1]} features and tgt {tgt.shape[-1]}; give {self.d_model}"
            )
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Return a mask that hides what comes later: -inf above the diagonal, else 0."""
        return _causal(sz, device, dtype)


offer("activation", MultiheadAttention)
offer(
    "transformer", Transformer, TransformerEncoder, TransformerDecoder, TransformerEncoderLayer,
    TransformerDecoderLayer,
)  # fmt: skip
