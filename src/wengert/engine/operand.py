"""The base of tensors and variables, whose operators are declared in `operand.pyi`."""


class Operand:
    """Something that operators and NumPy functions take; `ops.operators` installs them."""

    __slots__ = ()
