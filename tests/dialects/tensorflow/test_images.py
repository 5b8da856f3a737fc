"""tf.image."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.parity import Program, Programs
from tests.dialects.tensorflow.nn_cases import BYTES, PHOTO, SINGLE, grads, seeded
from tests.dialects.tensorflow.parity import compare

pytestmark = pytest.mark.parity

PROGRAMS = Programs()
#: Projective maps: a turn with a shift, a perspective that reaches far outside, and a mirror.
MAPS = np.array(
    [
        [0.8, -0.6, 2.3, 0.6, 0.8, -1.7, 0.0, 0.0],
        [1.9, 0.3, -9.4, -0.2, 2.1, -7.3, 0.02, -0.01],
        [-1.0, 0.0, 5.2, 0.0, 1.0, 0.4, 0.0, 0.0],
    ],
    "f",
)


def image(name: str, *args: Any, **options: Any) -> Program:
    return lambda tf: grads(tf, lambda x: getattr(tf.image, name)(x, *args, **options), PHOTO)


def plain_image(name: str, x: Any, *args: Any, **options: Any) -> Program:
    return lambda tf: getattr(tf.image, name)(tf.constant(x), *args, **options)


for _method in (
    "bilinear",
    "nearest",
    "bicubic",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
):
    PROGRAMS |= {
        f"resize {_method} smaller": image("resize", [3, 4], _method),
        f"resize {_method} larger": image("resize", [11, 14], method=_method),
        f"resize {_method} smooth": image("resize", [3, 5], _method, antialias=True),
        f"resize {_method} one": image("resize", [1, 1], _method),
        f"resize {_method} bytes": plain_image("resize", BYTES, [3, 4], _method),
    }
PROGRAMS |= {
    "resize area": plain_image("resize", PHOTO, [3, 4], "area"),
    "resize area larger": plain_image("resize", PHOTO, [11, 13], "area"),
    "resize area even": plain_image("resize", PHOTO, [4, 3], "area", antialias=True),
    "resize one image": plain_image("resize", PHOTO[0], [3, 4]),
    "resize ratio": plain_image("resize", PHOTO, [16, 4], preserve_aspect_ratio=True),
    "resize ratio 2": plain_image("resize", PHOTO, [5, 5], preserve_aspect_ratio=True),
    "resize same": plain_image("resize", PHOTO.astype("d"), [8, 6]),
    "resize f64": lambda tf: grads(tf, lambda x: tf.image.resize(x, [3, 4]), PHOTO.astype("d")),
    "resize tensor size": lambda tf: tf.image.resize(PHOTO, tf.constant([3, 4])),
    "resize enum": lambda tf: tf.image.resize(PHOTO, (3, 4), tf.image.ResizeMethod.BICUBIC),
    "resize rank": plain_image("resize", PHOTO[0, 0], [3, 4]),
    "resize size": plain_image("resize", PHOTO, [3]),
    "resize float size": plain_image("resize", PHOTO, [3.0, 4.0]),
    "resize number": plain_image("resize", PHOTO, 3),
    "resize zero": plain_image("resize", PHOTO, [0, 3]),
    "resize method": plain_image("resize", PHOTO, [3, 3], "foo"),
    "flip": image("flip_left_right"),
    "flip up": image("flip_up_down"),
    "flip one": plain_image("flip_left_right", PHOTO[0]),
    "flip rank": plain_image("flip_left_right", PHOTO[0, 0]),
    "patches": image("extract_patches", [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    "patches apart": image("extract_patches", [1, 3, 2, 1], [1, 1, 1, 1], [1, 2, 2, 1], "VALID"),
    "hsv": image("rgb_to_hsv"),
    "hsv gray": plain_image("rgb_to_hsv", np.array([[0.5] * 3, [0.0] * 3, [0, 1, 1]], "f")),
    "hsv channels": plain_image("rgb_to_hsv", PHOTO[..., :2]),
    "hsv bytes": plain_image("rgb_to_hsv", BYTES),
    "hsv back": plain_image("hsv_to_rgb", abs(PHOTO) % 1),
    "gray": image("rgb_to_grayscale"),
    "gray bytes": plain_image("rgb_to_grayscale", BYTES),
    "gray f64": plain_image("rgb_to_grayscale", PHOTO.astype("d")),
    "contrast": plain_image("adjust_contrast", PHOTO, 1.7),
    "contrast bytes": plain_image("adjust_contrast", BYTES, 2.0),
    "standard": image("per_image_standardization"),
    "standard flat": plain_image("per_image_standardization", np.ones((4, 4, 1), "float32")),
    "standard bytes": plain_image("per_image_standardization", BYTES),
    "variation": image("total_variation"),
    "variation one": plain_image("total_variation", PHOTO[0]),
    "sobel": image("sobel_edges"),
    "psnr": lambda tf: grads(tf, lambda a, b: tf.image.psnr(a, b, 1.0), PHOTO, PHOTO * 0.9),
    "psnr bytes": lambda tf: tf.image.psnr(BYTES, BYTES // 2, 255),
    "ssim": lambda tf: grads(
        tf,
        lambda a, b: tf.image.ssim(a, b, 1.0),
        np.tile(PHOTO, (1, 2, 2, 1)),
        np.tile(PHOTO, (1, 2, 2, 1)) ** 2,
    ),
    "ssim options": lambda tf: tf.image.ssim(
        tf.constant(PHOTO),
        tf.constant(PHOTO**2),
        max_val=1.0,
        filter_size=4,
        filter_sigma=1.0,
        k2=0.1,
    ),
    "ssim small": lambda tf: tf.image.ssim(PHOTO, PHOTO, 1.0),
    "to float": plain_image("convert_image_dtype", BYTES, "float32"),
    "to bytes": plain_image("convert_image_dtype", PHOTO, "uint8"),
    "to bytes saturated": plain_image("convert_image_dtype", PHOTO * 3 - 1, "uint8", saturate=True),
    "to int16": plain_image("convert_image_dtype", BYTES, "int16"),
    "random_crop": lambda tf: tf.image.random_crop(PHOTO, [1, 3, 3, 3]).shape,
    "random_crop large": lambda tf: tf.image.random_crop(PHOTO, [1, 30, 3, 3]),
    "random_flip": lambda tf: tf.reduce_sum(tf.image.random_flip_left_right(PHOTO)),
}


for _mode in ("NEAREST", "BILINEAR"):
    for _outside in ("CONSTANT", "NEAREST", "REFLECT", "WRAP"):
        PROGRAMS[f"seen through maps {_mode} {_outside}"] = lambda tf, mode=_mode, out=_outside: (
            tf.raw_ops.ImageProjectiveTransformV3(
                images=PHOTO, transforms=MAPS[: len(PHOTO)], output_shape=[7, 9], fill_value=0.3,
                interpolation=mode, fill_mode=out,
            )
        )  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    compare(seeded(PROGRAMS[name]), SINGLE.get(name))
