"""A process that answers programs with TensorFlow and Keras: a line of JSON for each line."""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from typing import Any

import numpy as np

from tests.dialects.parity import Dialect
from tests.dialects.tensorflow.keras.parity import seeded
from tests.dialects.tensorflow.parity import special


def main() -> None:
    """Answer until there are no more lines."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # for what programs print
    tf: Any = importlib.import_module("tensorflow")
    dialect = Dialect("tensorflow", None, special, seeded)
    versions = {"tensorflow": tf.__version__, "keras": tf.keras.__version__}
    for line in sys.stdin:
        module, *name = json.loads(line)
        if name:
            program = importlib.import_module(module).PROGRAMS[name[0]]
            found = dialect.described(program, tf)
        else:
            found = {**versions, "numpy": np.__version__}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
