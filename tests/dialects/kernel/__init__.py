"""Functions made from signatures, without any framework."""
