"""Convolutions.

All of them are one sum with a factor missing: over z[n, o, p] * w[o, c, k] * x[n, c, i], where
``i = p * stride + k * dilation - offset`` along each spatial axis. `convolve` has x and w and gives
z; `convolve_input` gives x, and `convolve_weight` gives w. So the derivatives of each are the
others, for all orders, and a part of one of the three arrays has to do with a part of the others
that follows from the line above.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

from wengert import backends
from wengert.backends.numpy_windows import Geometry
from wengert.engine.cotangents import Block
from wengert.engine.examples import one_by_one
from wengert.engine.node import Node, Values
from wengert.engine.record import apply
from wengert.engine.tensor import Tensor
from wengert.errors import DtypeError, ShapeError
from wengert.ops import batching, elementwise, shapes
from wengert.ops.checks import misfit
from wengert.ops.contractions import conj
from wengert.ops.families import Contraction, Rule, Sample, declared, sample
from wengert.ops.families.narrow import in_single
from wengert.ops.neural.windows import (
    Ints,
    Rank,
    ascending,
    ascending_region,
    batched,
    by_rank,
    cut_geometry,
    filled,
    fitting_windows,
    geometry_of,
    hull,
    moved,
    pairs_per_axis,
    per_axis,
    seeing,
    seen,
    unbatched,
)
from wengert.regions import Region, slices

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
]  # fmt: skip

# -- the three operations ---------------------------------------------------------------------


def _channels(
    role: str, region: Region, inputs: int, outputs: int
) -> tuple[range, range, range, int]:
    """Return the channels of x and of z, the columns of w, and the groups, of a part of one.

    `inputs` and `outputs` are those of a group. Of one group a part will do; several are whole.
    """
    own, size = (region[1], inputs) if role == "x" else (region["wz".index(role)], outputs)
    first, last = own[0] // size, own[-1] // size
    x = range(first * inputs, (last + 1) * inputs)
    z = range(first * outputs, (last + 1) * outputs)
    if first < last:
        return x, z, range(inputs), last - first + 1
    if role == "x":
        x = own
    else:
        z = own
        x = moved(region[1], first * inputs) if role == "w" else x
    return x, z, moved(x, -first * inputs), 1


def _parts(
    role: str, region: Region, lengths: dict[str, Ints], geometry: Geometry, groups: int
) -> tuple[dict[str, Region], int]:
    """Return what parts of x, w and z a part of one of them has to do with, and their groups."""
    x, z, columns, touched = _channels(
        role, region, lengths["x"][1] // groups, lengths["z"][1] // groups
    )
    batch = range(lengths["x"][0]) if role == "w" else region[0]
    spatial: list[tuple[range, range, range]] = []
    for a, here in enumerate(zip(*geometry, strict=True), 2):
        places, taps, length = range(lengths["z"][a]), range(lengths["w"][a]), lengths["x"][a]
        if role == "x":
            positions = hull(region[a])
            places = seeing(positions, taps, len(places), *here)
        else:
            places, taps = (region[a], taps) if role == "z" else (places, region[a])
            positions = seen(places, taps, length, *here) if places else range(0)
        spatial.append((positions, taps, places))
    by_role = zip(*spatial, strict=True)
    lead = {"x": (batch, x), "w": (z, columns), "z": (batch, z)}
    return {r: (*lead[r], *ranges) for r, ranges in zip("xwz", by_role, strict=True)}, touched


def _inside(roles: set[str], groups: int) -> dict[str, tuple[int, int]]:
    """Return in which axis the examples of a vmap go, and in how many parts of it, for each role.

    Of x, w and z two that have examples share an axis of the sum, which gets longer. If all have
    examples, these are groups.
    """
    if roles == {"x", "z"}:
        return {"x": (0, 1), "z": (0, 1)}
    if roles == {"w", "z"}:
        return {"w": (0, groups), "z": (1, groups)}
    if roles == {"x", "w"}:
        return {"x": (1, groups), "w": (1, 1)}
    return {"x": (1, 1), "w": (0, 1), "z": (1, 1)}


class Convolution(Contraction):
    """One of the three; `result` is the factor it gives, and its arguments are the others."""

    broadcasts = False
    result: str

    def pull_block(
        self, xp: Any, g: Block, node: Node, parent: Node, argument: int, values: Values
    ) -> Any:
        """Return the rule's answer on the parts of x, w and z that the Block has to do with."""
        if self.args[argument] == "bias":
            total = self.pull_array(xp, g.values, node, argument, values)
            return Block(parent.shape, (g.region[1],), total)
        wanted, other, known = self._roles(argument, values)
        part, region = ascending(xp, g)
        parts, groups = self._related(self.result, region, node, parent, argument, values)
        if not all(map(all, (map(len, r) for r in parts.values()))):
            return None  # all that it has to do with is padding
        part = filled(xp, part, region, parts[self.result])
        z, w, x = (parts[role][2:] for role in "zwx")
        known |= {"geometry": cut_geometry(z, w, x, known["geometry"]), "groups": groups}
        known[other] = known[other][slices(parts[other])]
        known[f"{wanted}_shape"] = tuple(map(len, parts[wanted]))
        answer = self.pull_array(xp, part, node, argument, tuple(known.values()))
        return Block(parent.shape, parts[wanted], answer)

    def implied(self, node: Node) -> dict[str, Any]:
        """Return the lengths of the result's spatial axes."""
        return {"size": node.shape[2:]}

    def _roles(self, argument: int, values: Any) -> tuple[str, str, dict[str, Any]]:
        """Return the role of an argument, that of the other one, and what the rule reads."""
        wanted = self.args[argument]
        (other,) = {"x", "w", "z"} - {self.result, wanted}
        return wanted, other, dict(zip(self.reads[argument] or (), values, strict=True))

    def _related(
        self, role: str, region: Region, node: Node, parent: Node, argument: int, values: Any
    ) -> tuple[dict[str, Region], int]:
        """Return the parts that a part of the result, or of the argument, has to do with."""
        wanted, other, known = self._roles(argument, values)
        lengths = {self.result: node.shape, wanted: parent.shape, other: tuple(known[other].shape)}
        return _parts(role, region, lengths, known["geometry"], known["groups"])

    def depends(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the part of an argument that a part of the result has to do with."""
        if self.args[argument] == "bias":
            return (region[1],)
        if not all(map(len, region)):
            return tuple(range(0) for _ in parent.shape)
        region = ascending_region(region)
        parts, _ = self._related(self.result, region, node, parent, argument, values)
        return parts[self.args[argument]]

    def reach(self, region: Region, node: Node, parent: Node, argument: int, values: Any) -> Any:
        """Return the part of the result that a part of an argument has to do with."""
        if self.args[argument] == "bias":
            return (range(node.shape[0]), region[0], *map(range, node.shape[2:]))
        if not all(map(len, region)):
            return tuple(range(0) for _ in node.shape)
        role = self.args[argument]
        parts, _ = self._related(role, region, node, parent, argument, values)
        return parts[self.result]

    def batch(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return the operation on all examples, as images, channels or groups of one call."""
        if not level.size:
            return one_by_one(self, level, arrays, mapped, params)
        if self.args[-1] == "bias" and any(mapped[1:]):
            return self._plus_bias(level, arrays, mapped, params)
        groups = params["groups"]
        roles = {role for role, m in zip(self.args, mapped, strict=True) if m} | {self.result}
        inside = _inside(roles, groups)
        merged = tuple(
            batching.merged(a, *inside[role]) if m else a
            for role, a, m in zip(self.args, arrays, mapped, strict=True)
        )
        if len(roles) == 3:
            params = params | {"groups": groups * level.size}
        return batching.parted(apply(self, merged, params), level.size, *inside[self.result])

    def _plus_bias(self, level: Any, arrays: Any, mapped: Any, params: Any) -> Any:
        """Return a convolution and its bias one after the other, for all examples."""
        x, w, bias = arrays
        if any(mapped[:2]):
            y = convolve.op.batch(level, [x, w], mapped[:2], params)
        else:
            y = convolve(x, w, **params)
        wide = (*bias.shape[:-1], 1, bias.shape[-1], *(1 for _ in params["size"]))
        return elementwise.add(y, shapes.reshape(bias, wide))

    def work(self, region: Region, part: Region, node: Node, argument: int, values: Any) -> int:
        """Return the number of terms of the sum over z, w and x that have to do with a part."""
        if self.args[argument] == "bias" or not all(map(len, region)):
            return math.prod(map(len, region))
        wanted, other, known = self._roles(argument, values)
        whole = tuple(map(range, known[other].shape))
        sides = {self.result: region, wanted: part, other: whole}
        return math.prod(map(len, (*sides["z"], *sides["w"][1:])))


def _factor(
    name: str, xp: Any, a: Any, b: Any, shape: Ints, geometry: Geometry, groups: int
) -> Any:
    """Return one of the three operations of a and b, whose result has a shape."""
    compute = getattr(xp.nn, name)
    return compute(a, b, size=tuple(shape[2:]), geometry=geometry, groups=groups)


_to_z = partial(_factor, "convolve")  # of x and w
_to_x = partial(_factor, "convolve_input")  # of z and w
_to_w = partial(_factor, "convolve_weight")  # of x and z


def _convolution(
    name: str, result: str, args: tuple[str, ...], *rules: Rule, samples: list[Sample]
) -> Any:
    op = Convolution(
        name,
        args,
        lambda xp, *arrays, **params: getattr(xp.nn, kernel)(*arrays, **params),
        rules,
        ("size", "geometry", "groups"),
    )
    kernel = {"z": "convolve", "x": "convolve_input", "w": "convolve_weight"}[result]
    op.result = result
    op.added = 1 if len(args) == 3 else None
    return declared(op, {"samples": samples})


def _sample(
    *arrays: Ints, size: Ints, stride: Any = 1, offset: Any = 0, dilation: Any = 1, groups: int = 1
) -> Sample:
    def each(value: Any) -> Ints:
        return value if isinstance(value, tuple) else (value,) * len(size)

    geometry = Geometry(each(stride), each(offset), each(dilation))
    return sample(*arrays, size=size, geometry=geometry, groups=groups)


def _x_rule(xp: Any, g: Any, w: Any, x_shape: Ints, geometry: Geometry, groups: int) -> Any:
    return _to_x(xp, g, conj(xp, w), x_shape, geometry, groups)


def _w_rule(xp: Any, g: Any, x: Any, w_shape: Ints, geometry: Geometry, groups: int) -> Any:
    return _to_w(xp, conj(xp, x), g, w_shape, geometry, groups)


convolve = _convolution(
    "nn.convolve", "z", ("x", "w"),
    _x_rule,
    _w_rule,
    samples=[
        _sample((2, 2, 4, 3), (3, 2, 2, 3), size=(3, 2), offset=(0, 1)),
        _sample((1, 4, 5), (4, 2, 2), size=(3,), stride=2, offset=1, groups=2),
        _sample((2, 2, 5, 4), (2, 1, 2, 2), size=(2, 3), stride=(2, 1), dilation=(1, 2), offset=1,
                groups=2),
        _sample((1, 1, 2, 3, 2), (2, 1, 2, 1, 2), size=(1, 3, 1)),
        _sample((2, 1, 4), (2, 1, 1), size=(4,)),
        _sample((2, 1, 6), (1, 1, 2), size=(2,), offset=-2),
        _sample((0, 2, 4), (3, 2, 3), size=(2,)),
        _sample((1, 2, 0), (3, 2, 3), size=(2,), offset=2),
    ],
)  # fmt: skip
convolve_input = _convolution(
    "nn.convolve_input", "x", ("z", "w"),
    lambda xp, g, w, z_shape, geometry, groups: (
        _to_z(xp, g, conj(xp, w), z_shape, geometry, groups)
    ),
    lambda xp, g, z, w_shape, geometry, groups: (
        _to_w(xp, g, conj(xp, z), w_shape, geometry, groups)
    ),
    samples=[
        _sample((2, 3, 3, 2), (3, 2, 2, 3), size=(4, 3), offset=(0, 1)),
        _sample((1, 4, 3), (4, 2, 2), size=(5,), stride=2, offset=1, groups=2),
        _sample((1, 2, 2, 3), (2, 1, 2, 2), size=(5, 4), stride=(2, 1), dilation=(1, 2), offset=1,
                groups=2),
        _sample((1, 4, 3), (4, 1, 2), size=(4,)),
        _sample((0, 3, 2), (3, 2, 3), size=(4,)),
    ],
)  # fmt: skip
convolve_weight = _convolution(
    "nn.convolve_weight", "w", ("x", "z"),
    lambda xp, g, z, x_shape, geometry, groups: (
        _to_x(xp, conj(xp, z), g, x_shape, geometry, groups)
    ),
    lambda xp, g, x, z_shape, geometry, groups: (
        _to_z(xp, conj(xp, x), g, z_shape, geometry, groups)
    ),
    samples=[
        _sample((2, 2, 4, 3), (2, 3, 3, 2), size=(2, 3), offset=(0, 1)),
        _sample((1, 4, 5), (1, 4, 3), size=(2,), stride=2, offset=1, groups=2),
        _sample((2, 2, 5, 4), (2, 2, 2, 3), size=(2, 2), stride=(2, 1), dilation=(1, 2), offset=1,
                groups=2),
        _sample((0, 2, 4), (0, 3, 2), size=(3,)),
    ],
)  # fmt: skip


def _bias_rule(xp: Any, g: Any) -> Any:
    """Return the sums of channels; those of NumPy's images as a product, which BLAS does faster."""
    if xp is not backends.NUMPY or not g.flags.c_contiguous:
        return xp.sum(g, axis=(0, *range(2, len(g.shape))))
    rows = g.reshape(g.shape[0] * g.shape[1], math.prod(g.shape[2:]))
    sums = xp.matmul(rows, xp.ones((rows.shape[1],), dtype=g.dtype))
    return xp.sum(sums.reshape(g.shape[:2]), axis=0)


convolve_biased = _convolution(
    "nn.convolve_biased", "z", ("x", "w", "bias"),
    _x_rule,
    _w_rule,
    _bias_rule,
    samples=[
        _sample((2, 2, 4, 3), (3, 2, 2, 3), (3,), size=(3, 2), offset=(0, 1)),
        _sample((1, 4, 5), (4, 2, 2), (4,), size=(3,), stride=2, offset=1, groups=2),
        _sample((4, 1, 3), (2, 1, 2), (2,), size=(2,)),
        _sample((2, 0, 3), (2, 0, 2), (2,), size=(2,)),
    ],
)  # fmt: skip


# -- what users call --------------------------------------------------------------------------


def _checked(
    name: str, spatial: int, x: Any, weight: Any, bias: Any, groups: Any
) -> tuple[Tensor, bool, Tensor, Tensor | None, int]:
    """Return the arrays as tensors whose axes, dtypes and groups are right."""
    x, had_batch = batched(x, spatial, name)
    weight = shapes.tensor(weight, name)
    lengths = weight._raw.shape
    if len(lengths) != spatial + 2:
        raise misfit(name, f"two axes for channels and {spatial} for the kernel", weight=weight)
    if 0 in lengths[2:]:
        raise misfit(name, "a kernel with elements", weight=weight)
    if not (backends.is_inexact(x.dtype) or backends.is_inexact(weight.dtype)):
        raise DtypeError(
            f"{name}: x is of {x.dtype} and weight of {weight.dtype}; expected floating-point "
            "numbers: write wg.astype(x, wg.float32)"
        )
    if type(groups) is not int or groups < 1:
        (groups,) = per_axis(groups, 1, name, "groups", 1)
    return x, had_batch, weight, None if bias is None else shapes.tensor(bias, name), groups


def _checked_bias(name: str, bias: Tensor | None, channels: int) -> None:
    if bias is not None and bias.shape != (channels,):
        raise misfit(name, f"({channels},), a number for each channel of the result", bias=bias)


@lru_cache(512)
def _usual(
    spatial: int, x: Ints, weight: Ints, bias: Ints | None, *numbers: int
) -> tuple[Ints, Geometry] | None:
    """Return how many windows there are and their geometry, for arrays of such shapes.

    It is None where something is unusual or wrong, which `_conv` looks into.
    """
    stride, padding, dilation, groups = numbers
    if not len(x) == len(weight) == spatial + 2 or 0 in weight[2:] or groups < 1:
        return None
    if x[1] != weight[1] * groups or weight[0] % groups or bias not in (None, weight[:1]):
        return None
    try:
        size, geometry, _ = fitting_windows("", x[2:], weight[2:], stride, padding, dilation)
    except ValueError:
        return None
    return size, geometry


def _conv(
    rank: Rank,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of x (batch, channels, {axes}) with a kernel.

    `weight` is (out, in / groups, {axes}); the kernel is not flipped. x may lack the batch axis.
    `padding` is a number, one for each axis, a pair (before, after) for each, "valid" (none) or
    "same" (as many places as `stride` makes steps; for an odd number the larger part comes after).
    `wg.nn.conv{n}d(np.ones({cube}), np.ones({cube})).item()` is `3.0 ** {n}`.
    """
    name, spatial = rank
    tensors = type(x) is type(weight) is Tensor and (bias is None or type(bias) is Tensor)
    if tensors and type(stride) is type(padding) is type(dilation) is type(groups) is int:
        given = x._raw.shape, weight._raw.shape, None if bias is None else bias._raw.shape
        known = _usual(spatial, *given, stride, padding, dilation, groups)
        if known is not None and backends.is_inexact(x._raw.dtype):
            size, geometry = known
            if bias is None:
                return convolve(x, weight, size=size, geometry=geometry, groups=groups)
            return convolve_biased(x, weight, bias, size=size, geometry=geometry, groups=groups)
    x, had_batch, weight, bias, groups = _checked(name, spatial, x, weight, bias, groups)
    (_, channels, *length), (outputs, inputs, *kernel) = x._raw.shape, weight._raw.shape
    if channels != inputs * groups:
        expected = f"{inputs * groups} channels of x, for groups={groups}"
        raise misfit(name, expected, x=x, weight=weight)
    if outputs % groups:
        raise ShapeError(f"{name}: groups={groups} does not divide the {outputs} channels it gives")
    _checked_bias(name, bias, outputs)
    size, geometry, _ = fitting_windows(
        name, tuple(length), tuple(kernel), stride, padding, dilation
    )
    if bias is None:
        y = convolve(x, weight, size=size, geometry=geometry, groups=groups)
    else:
        y = convolve_biased(x, weight, bias, size=size, geometry=geometry, groups=groups)
    return y if had_batch else unbatched(y, had_batch)


conv1d, conv2d, conv3d = by_rank("conv", _conv)


@in_single
def _conv_transpose(
    rank: Rank,
    x: Any,
    weight: Any,
    bias: Any = None,
    *,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the transpose of `conv{n}d`: each element of x puts a kernel into the result.

    `weight` is (in, out / groups, {axes}). `padding` is that of the convolution which this
    transposes, so it makes the result smaller; `output_padding` makes it larger, at the end of
    each axis. `wg.nn.conv_transpose{n}d(np.ones({cube}), np.ones({cube})).max()` is `3.0 ** {n}`.
    """
    name, spatial = rank
    x, had_batch, weight, bias, groups = _checked(name, spatial, x, weight, bias, groups)
    inputs, outputs, kernel = weight.shape[0], weight.shape[1] * groups, weight.shape[2:]
    if x.shape[1] != inputs:
        expected = f"{inputs} channels of x, for a weight (in, out / groups, *kernel)"
        raise misfit(name, expected, x=x, weight=weight)
    if inputs % groups:
        raise ShapeError(f"{name}: groups={groups} does not divide the {inputs} channels of x")
    _checked_bias(name, bias, outputs)
    strides = per_axis(stride, spatial, name, "stride", 1)
    dilations = per_axis(dilation, spatial, name, "dilation", 1)
    pairs = pairs_per_axis(padding, spatial, name)
    more = per_axis(output_padding, spatial, name, "output_padding", 0)
    if any(m >= max(s, d) for m, s, d in zip(more, strides, dilations, strict=True)):
        raise ValueError(
            f"{name}: output_padding is {output_padding!r}; expected less than the stride "
            f"{strides} or the dilation {dilations}"
        )
    size = tuple(
        (n - 1) * s + (k - 1) * d + 1 + m - before - after
        for n, s, k, d, m, (before, after) in zip(
            x.shape[2:], strides, kernel, dilations, more, pairs, strict=True
        )
    )
    if min(size) < 1 or 0 in x.shape[2:]:
        raise ShapeError(
            f"{name}: x of shape {x.shape} with a kernel of {kernel} and padding {padding!r} "
            f"gives {size}; expected at least one element on each axis"
        )
    geometry = geometry_of(strides, pairs, dilations)
    y = convolve_input(x, weight, size=size, geometry=geometry, groups=groups)
    if bias is not None:
        y = elementwise.add(y, shapes.reshape(bias, (outputs, *(1,) * spatial)))
    return unbatched(y, had_batch)


conv_transpose1d, conv_transpose2d, conv_transpose3d = by_rank("conv_transpose", _conv_transpose)
