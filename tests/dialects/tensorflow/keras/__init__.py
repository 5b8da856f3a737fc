"""Tests of tf.keras, as far as a loop with a GradientTape takes from it."""
