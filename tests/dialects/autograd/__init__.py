"""Tests of wengert.autograd."""
