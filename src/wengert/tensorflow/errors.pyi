# Written by docs/make_tables.py from the functions' signatures.
from collections.abc import Sequence
from typing import Any

from wengert.dialects.tensorflow.tensors import Tensor as _Tensor
from wengert.tensorflow import Tensor as Tensor

from wengert.dialects.tensorflow.errors import AbortedError as AbortedError
from wengert.dialects.tensorflow.errors import AlreadyExistsError as AlreadyExistsError
from wengert.dialects.tensorflow.errors import CancelledError as CancelledError
from wengert.dialects.tensorflow.errors import DataLossError as DataLossError
from wengert.dialects.tensorflow.errors import DeadlineExceededError as DeadlineExceededError
from wengert.dialects.tensorflow.errors import FailedPreconditionError as FailedPreconditionError
from wengert.dialects.tensorflow.errors import InternalError as InternalError
from wengert.dialects.tensorflow.errors import InvalidArgumentError as InvalidArgumentError
from wengert.dialects.tensorflow.errors import NotFoundError as NotFoundError
from wengert.dialects.tensorflow.errors import OpError as OpError
from wengert.dialects.tensorflow.errors import OutOfRangeError as OutOfRangeError
from wengert.dialects.tensorflow.errors import PermissionDeniedError as PermissionDeniedError
from wengert.dialects.tensorflow.errors import ResourceExhaustedError as ResourceExhaustedError
from wengert.dialects.tensorflow.errors import UnauthenticatedError as UnauthenticatedError
from wengert.dialects.tensorflow.errors import UnavailableError as UnavailableError
from wengert.dialects.tensorflow.errors import UnimplementedError as UnimplementedError
from wengert.dialects.tensorflow.errors import UnknownError as UnknownError
