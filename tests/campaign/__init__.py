"""Random programs of operations of the registry, compared with independent answers.

    python -m tests.campaign --minutes 2 --seed 7

draws programs of up to 12 operations, asks Wengert for all kinds of derivatives of them, and
compares each with PyTorch, JAX or differences. A program that differs is shrunk and printed.
"""
