"""Tests of explanations: the line and the advice where a value leaves a tape, and HTML tables."""
