"""Images and pads of torch.nn.functional."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.parity import Program
from tests.dialects.torch.nn.functional_cases import check, data, with_gradients

pytestmark = pytest.mark.parity


def resize(shape: Any, *args: Any, **options: Any) -> Program:
    return with_gradients(
        lambda t, x: t.nn.functional.interpolate(x, *args, **options), shape, second=False
    )


def sampled(mode: str, padding_mode: str, align_corners: bool, spatial: int = 2) -> Program:
    def call(t: Any, x: Any, g: Any) -> Any:
        return t.nn.functional.grid_sample(
            x, g * 0.6, mode=mode, padding_mode=padding_mode, align_corners=align_corners
        )

    image, grid = (
        ((2, 3, 4, 5), (2, 3, 4, 2)) if spatial == 2 else ((1, 2, 3, 4, 3), (1, 2, 3, 2, 3))
    )
    return with_gradients(call, image, grid, second=False)


IMAGES: dict[str, Program] = {
    "nearest": resize((1, 2, 4, 5), (7, 3)),
    "nearest-scale": resize((1, 2, 4, 5), scale_factor=2),
    "nearest-fraction": resize((1, 2, 4, 5), scale_factor=1.7),
    "nearest-1d": resize((2, 3, 5), 8),
    "nearest-3d": resize((1, 2, 3, 3, 2), scale_factor=(2, 1, 2)),
    "nearest-exact": resize((1, 2, 4, 5), (7, 3), mode="nearest-exact"),
    "linear": resize((2, 3, 5), 8, mode="linear"),
    "linear-corners": resize((2, 3, 5), 8, mode="linear", align_corners=True),
    "bilinear": resize((1, 2, 4, 5), (7, 3), mode="bilinear"),
    "bilinear-scale": resize((1, 2, 4, 5), scale_factor=2.0, mode="bilinear", align_corners=False),
    "bilinear-corners": resize((1, 2, 4, 5), (7, 9), mode="bilinear", align_corners=True),
    "bilinear-fraction": resize((1, 2, 4, 5), scale_factor=1.6, mode="bilinear"),
    "bilinear-recompute": resize(
        (1, 2, 4, 5), scale_factor=1.6, mode="bilinear", recompute_scale_factor=True
    ),
    "bicubic": resize((1, 2, 4, 5), (7, 3), mode="bicubic"),
    "bicubic-corners": resize((1, 2, 4, 5), (7, 3), mode="bicubic", align_corners=True),
    "trilinear": resize((1, 2, 3, 3, 2), (4, 5, 3), mode="trilinear"),
    "area": resize((1, 2, 5, 6), (2, 4), mode="area"),
    "area-scale": resize((1, 2, 6, 6), scale_factor=0.5, mode="area"),
    "both": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2), 3, 2),
    "neither": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2)),
    "nearest-with-corners": lambda t: t.nn.functional.interpolate(
        data(t, 1, 1, 2, 2), 3, align_corners=True
    ),
    "bilinear-3d": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2), 3, mode="bilinear"),
    "unknown-mode": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2), 3, mode="cubic"),
    "wrong-sizes": lambda t: t.nn.functional.interpolate(data(t, 1, 1, 2, 2), (3,)),
    "upsample": lambda t: t.nn.functional.upsample(data(t, 1, 1, 2, 2), scale_factor=2),
    "upsample_bilinear": lambda t: t.nn.functional.upsample_bilinear(data(t, 1, 1, 2, 2), (3, 4)),
    "upsample_nearest": lambda t: t.nn.functional.upsample_nearest(data(t, 1, 1, 2, 2), 3),
    **{
        f"grid_sample-{mode}-{padding}-{corners}": sampled(mode, padding, corners)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    },
    "grid_sample-3d": sampled("bilinear", "zeros", False, 3),
    "grid_sample-3d-nearest": sampled("nearest", "border", True, 3),
    "grid_sample-word": lambda t: t.nn.functional.grid_sample(
        data(t, 1, 1, 2, 2), data(t, 1, 2, 2, 2), mode="cubic"
    ),
    "grid_sample-batches": lambda t: t.nn.functional.grid_sample(
        data(t, 1, 1, 2, 2), data(t, 2, 2, 2, 2)
    ),
    "affine_grid": with_gradients(
        lambda t, m: t.nn.functional.affine_grid(m, (2, 3, 4, 5), align_corners=False), (2, 2, 3)
    ),
    "affine_grid-corners": with_gradients(
        lambda t, m: t.nn.functional.affine_grid(m, [2, 3, 4, 5], align_corners=True), (2, 2, 3)
    ),
    "affine_grid-3d": with_gradients(
        lambda t, m: t.nn.functional.affine_grid(m, (1, 1, 2, 3, 4), align_corners=False), (1, 3, 4)
    ),
    "affine_grid-shape": lambda t: t.nn.functional.affine_grid(data(t, 2, 2, 2), (2, 3, 4, 5)),
    "pixel_shuffle": with_gradients(lambda t, x: t.nn.functional.pixel_shuffle(x, 2), (1, 8, 2, 3)),
    "torch.pixel_shuffle": with_gradients(lambda t, x: t.pixel_shuffle(x, 2), (4, 2, 3)),
    "pixel_unshuffle": with_gradients(
        lambda t, x: t.nn.functional.pixel_unshuffle(x, 2), (1, 2, 4, 6)
    ),
    "pixel_shuffle-wrong": lambda t: t.pixel_shuffle(data(t, 1, 3, 2, 2), 2),
}


@pytest.mark.parametrize("name", IMAGES)
def test_image(name: str) -> None:
    check(IMAGES[name])


PADS: dict[str, Program] = {
    "constant": with_gradients(lambda t, x: t.nn.functional.pad(x, (1, 2)), (2, 3)),
    "constant-value": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 1), value=3.5), (2, 3)
    ),
    "constant-list": with_gradients(
        lambda t, x: t.nn.functional.pad(x, [1, 1, 2, 0, 0, 1], "constant", 1), (2, 3, 2)
    ),
    "constant-negative": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (-1, 2, 1, -1)), (3, 4)
    ),
    "constant-empty": with_gradients(lambda t, x: t.nn.functional.pad(x, ()), (3, 4)),
    "constant-integers": lambda t: t.nn.functional.pad(t.tensor([1, 2]), (1, 1), value=7),
    "constant-bool": lambda t: t.nn.functional.pad(t.tensor([True]), (1, 1), value=True),
    "reflect": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 2, 1), mode="reflect"), (1, 2, 3, 4)
    ),
    "reflect-1d": with_gradients(lambda t, x: t.nn.functional.pad(x, (2, 3), "reflect"), (2, 5)),
    "replicate": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 3, 1), mode="replicate"), (1, 2, 3, 4)
    ),
    "replicate-3d": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 0, 1, 1, 0, 2), mode="replicate"), (1, 2, 2, 3, 2)
    ),
    "circular": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (1, 2, 3, 0), mode="circular"), (1, 2, 3, 4)
    ),
    "circular-1d": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (3, 2), "circular"), (1, 2, 4)
    ),
    "replicate-negative": with_gradients(
        lambda t, x: t.nn.functional.pad(x, (-1, 2), mode="replicate"), (1, 2, 4)
    ),
    "odd": lambda t: t.nn.functional.pad(data(t, 3), (1,)),
    "too-many": lambda t: t.nn.functional.pad(data(t, 3), (1, 1, 1, 1)),
    "reflect-large": lambda t: t.nn.functional.pad(data(t, 2, 3), (3, 0), mode="reflect"),
    "circular-large": lambda t: t.nn.functional.pad(data(t, 1, 2, 3), (4, 0), mode="circular"),
    "unknown": lambda t: t.nn.functional.pad(data(t, 1, 2, 3), (1, 0), mode="edge"),
    "reflect-axes": lambda t: t.nn.functional.pad(data(t, 3), (1, 1), mode="reflect"),
    "reflect-value": lambda t: t.nn.functional.pad(data(t, 2, 3), (1, 1), "reflect", 2.0),
}


@pytest.mark.parametrize("name", PADS)
def test_pad(name: str) -> None:
    check(PADS[name])
