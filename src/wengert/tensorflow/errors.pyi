# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.errors import OpError as _OpError
class AbortedError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class AlreadyExistsError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class CancelledError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class DataLossError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class DeadlineExceededError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class FailedPreconditionError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class InternalError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class InvalidArgumentError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class NotFoundError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as OpError
from wengert.dialects.tensorflow.errors import OpError as _OpError
class OutOfRangeError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class PermissionDeniedError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class ResourceExhaustedError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class UnauthenticatedError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class UnavailableError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class UnimplementedError(_OpError):
    error_code: Any
    ...
from wengert.dialects.tensorflow.errors import OpError as _OpError
class UnknownError(_OpError):
    error_code: Any
    ...
