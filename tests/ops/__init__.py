"""Tests of operations; the registry drives most of them."""
