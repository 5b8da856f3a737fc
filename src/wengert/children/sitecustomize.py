"""Child processes of `wengert run`: Wengert answers for the same imports as in their parent.

Python imports a module of this name when it starts. `wengert run` puts this folder on PYTHONPATH,
so all Python processes that a program starts find it: those of multiprocessing, however they are
started, and those of subprocess. Wengert itself is imported once a program asks for one of the
names, so that other processes start as fast as before.
"""

from __future__ import annotations

import os
import sys
from typing import Any


class _First:
    """What `import` asks until one of the names is imported; then Wengert's own finder."""

    def __init__(self, names: list[str], root: str) -> None:
        self._names, self._root = names, root

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return how to load a module; None for one of somebody else's."""
        if fullname.partition(".")[0] not in self._names:
            return None
        sys.meta_path.remove(self)
        if self._root not in sys.path:
            sys.path.append(self._root)
        from wengert import runner

        found = (finder.find_spec(fullname, path, target) for finder in runner.answer())
        return next(filter(None, found), None)


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    prefix, *names = os.environ.get("WENGERT_RUN", "").split(os.pathsep)
    if prefix == sys.prefix:  # another environment has other packages
        root = os.path.dirname(os.path.dirname(os.path.dirname(here)))
        sys.meta_path.insert(0, _First(names, root))
    _import_hidden(here)


def _import_hidden(here: str) -> None:
    """Import the module of this name that this one hides, if there is one."""
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    mine = sys.modules.pop(__name__, None)
    try:
        __import__(__name__)
    except ImportError as error:
        if error.name != __name__:
            raise
    finally:
        if mine is not None:
            sys.modules.setdefault(__name__, mine)


if __name__ == "sitecustomize":
    _start()
