"""tf.signal."""

import numpy as np
import pytest

from tests.dialects.tensorflow.linalg_cases import graded
from tests.dialects.tensorflow.parity import compare

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

RNG = np.random.default_rng(2)


X = RNG.normal(size=(2, 8))
XX = RNG.normal(size=(2, 4, 6))
C = X + 1j * X[::-1]
CC = XX + 1j * XX[::-1]
SIGNAL = {
    "fft": lambda tf: graded(tf, tf.signal.fft, C, dtype="complex128"),
    "ifft": lambda tf: graded(tf, tf.signal.ifft, C, dtype="complex128"),
    "fft2d": lambda tf: graded(tf, tf.signal.fft2d, CC, dtype="complex128"),
    "ifft2d": lambda tf: graded(tf, tf.signal.ifft2d, CC, dtype="complex128"),
    "fft3d": lambda tf: graded(tf, tf.signal.fft3d, CC, dtype="complex128"),
    "ifft3d": lambda tf: graded(tf, tf.signal.ifft3d, CC, dtype="complex128"),
    "rfft": lambda tf: graded(tf, tf.signal.rfft, X),
    "rfft longer": lambda tf: graded(tf, lambda x: tf.signal.rfft(x, [12]), X),
    "rfft shorter": lambda tf: tf.signal.rfft(tf.constant(X), fft_length=[5]),
    "rfft float32": lambda tf: tf.signal.rfft(tf.constant(X, tf.float32)),
    "irfft": lambda tf: graded(tf, tf.signal.irfft, C, dtype="complex128"),
    "irfft odd": lambda tf: tf.signal.irfft(tf.constant(C), [7]),
    "irfft of reals": lambda tf: tf.signal.irfft(tf.constant(X)),
    "rfft2d": lambda tf: graded(tf, tf.signal.rfft2d, XX),
    "rfft2d length": lambda tf: tf.signal.rfft2d(XX, [4, 8]),
    "irfft2d": lambda tf: graded(tf, tf.signal.irfft2d, CC, dtype="complex128"),
    "irfft2d length": lambda tf: tf.signal.irfft2d(CC, [4, 9]),
    "rfft3d": lambda tf: tf.signal.rfft3d(XX),
    "irfft3d": lambda tf: tf.signal.irfft3d(CC),
    "fft of reals": lambda tf: tf.signal.fft(X),
    "rfft of complex": lambda tf: tf.signal.rfft(tf.constant(C)),
    "fft of real tensors": lambda tf: tf.signal.fft(tf.constant(X)),
    "fft of lists": lambda tf: [tf.signal.fft([1.0, 2.0]), tf.signal.rfft([1.0, 2.0])],
    "fft complex64": lambda tf: tf.signal.fft(tf.constant(C, tf.complex64)),
    "fft scalar": lambda tf: tf.signal.fft(tf.constant(1j)),
    "fftshift": lambda tf: [
        tf.signal.fftshift(X),
        tf.signal.fftshift(XX, axes=1),
        tf.signal.fftshift(XX, axes=(0, -1)),
    ],
    "ifftshift": lambda tf: [tf.signal.ifftshift(XX[..., :5]), tf.signal.ifftshift(X, 1)],
    "fftshift grads": lambda tf: graded(tf, tf.signal.fftshift, X),
    "frame": lambda tf: graded(tf, lambda x: tf.signal.frame(x, 3, 2), X),
    "frame end": lambda tf: graded(
        tf, lambda x: tf.signal.frame(x, 3, 2, pad_end=True, pad_value=5.0), X
    ),
    "frame axis": lambda tf: tf.signal.frame(XX, 2, 1, axis=1),
    "frame ints": lambda tf: tf.signal.frame([1, 2, 3, 4, 5], 2, 2),
    "frame long": lambda tf: tf.signal.frame([1.0, 2.0], 5, 1),
    "overlap_and_add": lambda tf: graded(tf, lambda x: tf.signal.overlap_and_add(x, 2), XX),
    "overlap_and_add gaps": lambda tf: tf.signal.overlap_and_add(XX, 7),
    "windows": lambda tf: [
        f(n, **options)
        for f in (tf.signal.hann_window, tf.signal.hamming_window)
        for n in (1, 2, 5, 8)
        for options in ({}, {"periodic": False}, {"dtype": tf.float64})
    ],
    "kaiser": lambda tf: (
        [tf.signal.kaiser_window(n) for n in (1, 4, 7)] + [tf.signal.kaiser_window(5, beta=3.0)]
    ),
    "stft": lambda tf: graded(tf, lambda x: tf.signal.stft(x, 4, 2), X),
    "stft length": lambda tf: tf.signal.stft(X, 4, 2, fft_length=8, pad_end=True),
    "stft no window": lambda tf: tf.signal.stft(X, 4, 2, window_fn=None),
    "inverse_stft": lambda tf: tf.signal.inverse_stft(tf.signal.stft(X, 4, 2), 4, 2),
    "inverse_stft window": lambda tf: tf.signal.inverse_stft(
        tf.signal.stft(tf.constant(X, tf.float32), 4, 2),
        4,
        2,
        window_fn=tf.signal.inverse_stft_window_fn(2),
    ),
    "spectrum": lambda tf: graded(tf, lambda x: tf.reduce_sum(tf.abs(tf.signal.rfft(x)) ** 2), X),
}


@pytest.mark.parametrize("name", SIGNAL)
def test_signal(name):
    single = ("windows", "kaiser", "float32", "64", "stft", "2d length", "3d", "of reals")
    loose = any(word in name for word in single)
    compare(SIGNAL[name], rtol=1e-5 if loose else 1e-9)
