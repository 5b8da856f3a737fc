"""Programs for tf.keras, which TensorFlow answers in a process of its own.

Keras holds one backend in a process. This process has it on Wengert; `peers` asks another one, see
`real.py`, for what TensorFlow says. Programs are therefore functions of a test's module, in its
dictionary PROGRAMS.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from typing import Any

import wengert.tensorflow as ours
from tests.dialects.parity import Dialect, Program
from tests.dialects.tensorflow.parity import special


def seeded(program: Program, module: Any) -> Any:
    """Return what a program returns that starts with the same random numbers each time."""
    module.keras.utils.clear_session(free_memory=False)
    module.keras.utils.set_random_seed(1)
    return program(module)


class Keras(Dialect):
    """What the harness must know of TensorFlow with Keras."""

    @functools.cached_property
    def process(self) -> Any:
        """The process that has Keras on TensorFlow; it answers a line with a line."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.dialects.tensorflow.keras.real"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def real(self) -> Any:
        """Return None: the real library is in another process."""

    def _asked(self, *question: str) -> Any:
        print(json.dumps(question), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def versions(self) -> dict[str, str]:
        """Return the versions of the libraries that answers depend on."""
        found: dict[str, str] = self._asked("versions")
        return found

    def described(self, program: Program, module: Any) -> Any:
        """Return the description of a program's outcome."""
        if module is not None:
            return super().described(program, module)
        return self._asked(program.__module__, program.__name__)


KERAS = Keras("tensorflow", ours, special, seeded)
compare = KERAS.compare
