"""Tests of backends: kernels of array libraries, and the way to host memory."""
