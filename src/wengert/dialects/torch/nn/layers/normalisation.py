"""Layers that bring numbers to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert.dialects.kernel.functions import warn
from wengert.dialects.torch.memory import add_one
from wengert.dialects.torch.nn import init
from wengert.dialects.torch.nn.layers.calls import Call, F, Weighted, family, offer, several
from wengert.dialects.torch.table import NAMES


class _Affine(Weighted):
    """Scales, which begin as 1, and offsets, which begin as 0."""

    def reset_parameters(self) -> None:
        """Make scales 1 and offsets 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)


# -- by channels -----------------------------------------------------------------------------------


#: What batch normalisation takes, beyond the size that lazy ones find out.
OPTIONS = (
    "eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, "
    "*, bias=True"
)


class _NormBase(
    _Affine,
    takes=f"num_features, {OPTIONS}",
    shown="num_features, eps=, momentum=, affine=, bias=, track_running_stats=",
):
    """Scales and offsets for each channel, and means and variances that are kept."""

    _version = 2
    #: the numbers of axes that the argument may have, by how many it works along
    _dims: ClassVar[dict[int, tuple[int, ...]]] = {}

    def _init_with(self, **options: Any) -> None:
        kept: list[Any] = [None, None, None]
        if options["track_running_stats"]:
            count, device, dtype = (options[n] for n in ("num_features", "device", "dtype"))
            kept = [NAMES[n](count, device=device, dtype=dtype) for n in ("zeros", "ones")]
            kept.append(NAMES["zeros"]((), dtype=NAMES["int64"], device=device))
        names = ("running_mean", "running_var", "num_batches_tracked")
        for name, value in zip(names, kept, strict=True):
            self.register_buffer(name, value)
        super()._init_with(**options)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("weight", "bias"), (self.num_features,))

    def reset_running_stats(self) -> None:
        """Forget the means and variances that were kept."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Give all tensors their first values."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Any) -> None:
        if not self._dims:
            raise NotImplementedError(f"{type(self).__name__} has no _check_input_dim")
        if input.ndim not in self._dims[self.axes]:
            expected = " or ".join(f"{n}D" for n in self._dims[self.axes])
            raise ValueError(f"the input has {input.ndim} axes; this layer takes {expected}")

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        key = f"{prefix}num_batches_tracked"
        if self.track_running_stats and (local_metadata.get("version") or 0) < 2:
            state_dict.setdefault(key, self.num_batches_tracked)  # there was none in the beginning
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Numbers over their mean and deviation in a batch; those kept from training in evaluation."""

    _dims: ClassVar = {1: (2, 3), 2: (4,), 3: (5,)}

    def forward(self, input: Any) -> Any:
        """Return the numbers of each channel, normalised."""
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        tracks = self.training and self.track_running_stats
        if tracks and self.num_batches_tracked is not None:
            add_one(self.num_batches_tracked)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        used = tracks or not self.training
        return F.batch_norm(
            input, self.running_mean if used else None, self.running_var if used else None,
            self.weight, self.bias, by_batch, momentum, self.eps,
        )  # fmt: skip


class _InstanceNorm(
    _NormBase,
    takes=(
        "num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, "
        "device=None, dtype=None, *, bias=True"
    ),
):
    """The numbers of each example and channel over their mean and deviation."""

    _dims: ClassVar = {n: (n + 1, n + 2) for n in (1, 2, 3)}

    def _check_channels(self, input: Any) -> None:
        axis = input.ndim - self.axes - 1
        if input.shape[axis] != self.num_features:
            message = (
                f"axis {axis} of the input has {input.shape[axis]} elements, and the layer was "
                f"made for {self.num_features}"
            )
            if self.affine:
                raise ValueError(message)
            warn(message)

    def forward(self, input: Any) -> Any:
        """Return the numbers of each example and channel, normalised."""
        self._check_input_dim(input)
        self._check_channels(input)
        if input.ndim == self.axes + 1:
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _normalised(self, input: Any) -> Any:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip


class GroupNorm(
    _Affine,
    function="group_norm",
    takes="num_groups, num_channels, eps, affine=True, device=None, dtype=None, *, bias=True",
    shown="num_groups, num_channels, eps=, affine=, bias=",
):
    """The numbers of each example and group of channels over their mean and deviation."""

    def _init_with(self, **options: Any) -> None:
        channels, groups = options["num_channels"], options["num_groups"]
        if channels % groups:
            raise ValueError(f"{channels} channels are not divisible into {groups} groups")
        super()._init_with(**options)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("weight", "bias"), (self.num_channels,))


# -- by the last axes ------------------------------------------------------------------------------


class _LastAxes(_Affine):
    def _init_with(self, **options: Any) -> None:
        options["normalized_shape"] = several(options["normalized_shape"], 1)
        super()._init_with(**options)


class LayerNorm(
    _LastAxes,
    function="layer_norm",
    takes="normalized_shape, eps, elementwise_affine=True, bias=True, device=None, dtype=None",
    shown="normalized_shape, eps=, elementwise_affine=, bias=",
):
    """The numbers along the last axes over their mean and deviation."""

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("weight", "bias"), self.normalized_shape)


class RMSNorm(
    _LastAxes,
    function="rms_norm",
    takes="normalized_shape, eps, elementwise_affine=True, device=None, dtype=None",
    shown="normalized_shape, eps=, elementwise_affine=",
):
    """The numbers along the last axes over the root of the mean of their squares."""

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": self.normalized_shape}

    def forward(self, x: Any) -> Any:
        """Return the numbers along the last axes, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class LocalResponseNorm(
    Call,
    function="local_response_norm",
    takes="size, alpha, beta, k",
    shown="size, alpha=, beta=, k=",
):
    """The numbers of each channel over a mean of the squares of those beside it."""


BATCH_NORMS = family("BatchNorm", _BatchNorm, "Batch normalisation of channels {}.")
INSTANCE_NORMS = family("InstanceNorm", _InstanceNorm, "Instance normalisation of channels {}.")
offer("batchnorm", _NormBase, _BatchNorm, *BATCH_NORMS)
offer("instancenorm", _InstanceNorm, *INSTANCE_NORMS)
offer("normalization", GroupNorm, LayerNorm, RMSNorm, LocalResponseNorm)
