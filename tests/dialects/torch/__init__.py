"""Tests of wengert.torch."""
