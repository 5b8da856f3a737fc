"""Tests of elements: selections, influence, and what a derivative of an element costs."""
