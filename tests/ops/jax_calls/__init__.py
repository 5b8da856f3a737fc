"""What JAX calls our operations, where it is not by our name with our parameters.

Each module has JAX_CALLS (operations that JAX calls otherwise) and NOT_IN_JAX (those it lacks,
or cannot differentiate, with the reason), for one part of the namespace.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

JAX_CALLS: dict[str, Callable[..., Any]] = {}
NOT_IN_JAX: dict[str, str] = {}

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    _found = importlib.import_module(_module.name)
    JAX_CALLS |= getattr(_found, "JAX_CALLS", {})
    NOT_IN_JAX |= getattr(_found, "NOT_IN_JAX", {})
