"""Tests of how tensors are made, converted, printed and drawn at random."""
