"""One declaration for each operation, and all that is known about it."""
