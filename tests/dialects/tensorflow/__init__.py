"""Tests of wengert.tensorflow."""
