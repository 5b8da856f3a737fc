"""The package `keras` on this dialect: how it is imported, and what it looks for in TensorFlow."""
