"""The classes of TensorFlow's errors, and how errors of operations become them."""

from __future__ import annotations

from typing import Any

import numpy as np


class OpError(Exception):
    """An operation cannot be done."""

    error_code = 2

    def __init__(self, node_def: Any = None, op: Any = None, message: str = "", *_: Any) -> None:
        if isinstance(node_def, str) and op is None and not message:
            node_def, message = None, node_def
        super().__init__(message)
        self.node_def, self.op, self.message = node_def, op, message

    def __str__(self) -> str:
        return self.message


def _kind(name: str, code: int, doc: str) -> type[OpError]:
    return type(name, (OpError,), {"error_code": code, "__doc__": doc, "__module__": __name__})


CancelledError = _kind("CancelledError", 1, "An operation was cancelled.")
UnknownError = _kind("UnknownError", 2, "An error without a better name.")
InvalidArgumentError = _kind("InvalidArgumentError", 3, "An argument does not fit.")
DeadlineExceededError = _kind("DeadlineExceededError", 4, "Something took too long.")
NotFoundError = _kind("NotFoundError", 5, "Something was not found.")
AlreadyExistsError = _kind("AlreadyExistsError", 6, "Something is there already.")
PermissionDeniedError = _kind("PermissionDeniedError", 7, "Something is not allowed.")
ResourceExhaustedError = _kind("ResourceExhaustedError", 8, "Memory or the like ran out.")
FailedPreconditionError = _kind("FailedPreconditionError", 9, "The state does not allow it.")
AbortedError = _kind("AbortedError", 10, "An operation was aborted.")
OutOfRangeError = _kind("OutOfRangeError", 11, "An iteration is past its end.")
UnimplementedError = _kind("UnimplementedError", 12, "An operation is not offered.")
InternalError = _kind("InternalError", 13, "A defect.")
UnavailableError = _kind("UnavailableError", 14, "Something is not available now.")
DataLossError = _kind("DataLossError", 15, "Data was lost.")
UnauthenticatedError = _kind("UnauthenticatedError", 16, "Somebody is not known.")

#: What operations raise, and TensorFlow calls an invalid argument.
INVALID = (ValueError, IndexError, TypeError, ArithmeticError, np.linalg.LinAlgError)


def invalid(message: str) -> OpError:
    """Return an InvalidArgumentError."""
    return InvalidArgumentError(None, None, message)


def unfit(expected: str, error: Any = invalid, /, **given: Any) -> Exception:
    """Return the error for arguments that do not go together; of arrays it tells the shapes."""
    told = [
        f"{name} has shape {list(value.shape)}" if hasattr(value, "shape") else f"{name}={value!r}"
        for name, value in given.items()
    ]
    found: Exception = error(f"{', '.join(told)}; expected {expected}")
    return found


def as_is(error: Exception) -> Exception:
    """Return an error about a value that cannot be a tensor; it goes to the user as it is."""
    error.as_is = True  # type: ignore[attr-defined]
    return error


def mistake(wrong: type[Exception], what: str, given: Any, expected: str) -> Exception:
    """Return an error about something that was given, which says what was expected."""
    text = f"{what} is {given!r:.100}; expected {expected}"
    return invalid(text) if wrong is InvalidArgumentError else wrong(text)


def value_error(message: str) -> Exception:
    """Return a ValueError that goes to the user as it is."""
    return as_is(ValueError(message))


def type_error(message: str) -> Exception:
    """Return a TypeError that goes to the user as it is."""
    return as_is(TypeError(message))
