"""The ways to the page: from Python, from a tape, and from the command line."""

from __future__ import annotations

import html
import os
import sys
import webbrowser
from collections.abc import Callable
from typing import Any

from wengert.errors import users_frame
from wengert.inspector import export, program
from wengert.inspector.api import Api
from wengert.inspector.program import Program
from wengert.inspector.server import Server


class Inspector:
    """The page of a program: its address, and what becomes of it.

    In a notebook it shows itself. In a script, `wait` until the page is closed. `wg.inspect`
    returns one, with an example.
    """

    def __init__(self, program: Program, port: int | None = None, host: str = "127.0.0.1") -> None:
        self.program = program
        self.api = Api(program)
        self._server = Server(self.api, port, host)

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return self._server.address

    def wait(self, stay: bool = False) -> None:
        """Return when the page was opened and closed again; if it is to stay, after `close`."""
        self._server.wait(stay)

    def close(self) -> None:
        """Serve the page no more."""
        self._server.close()

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write a page that needs no server, with answers for a grid of selections."""
        export.write_page(self.api, path)

    def __enter__(self) -> Inspector:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Inspector of {self.program.title}: {self.address}>"

    def _repr_html_(self) -> str:
        address = html.escape(self.address, quote=True)
        return (
            f'<iframe src="{address}" title="Inspector" width="100%" height="720" '
            f'style="border: 1px solid #888"></iframe><p><a href="{address}">{address}</a></p>'
        )


def inspect(
    fun: Callable[..., Any], *args: Any, port: int | None = None, browser: bool | None = None
) -> Inspector:
    """Call a function on some arguments, and open a page that shows what depends on what in it.

    Parameters
    ----------
    fun
        Computes with functions of wengert or NumPy.
    args
        Arrays or nests of them, all of which are watched.
    port
        Where to serve the page, on loopback; if it is in use, the next one.
    browser
        Whether to open a browser; by default, unless this is a notebook, which shows the page.

    Examples
    --------
    >>> import numpy as np, wengert as wg
    >>> page = wg.inspect(lambda x: np.tanh(x) * x[::-1], np.ones(4), browser=False)
    >>> page.address.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    name = getattr(fun, "__name__", type(fun).__name__)
    shown = Program(name)
    program.function(shown, fun, args)
    return _opened(Inspector(shown, port), browser)


def inspect_tape(
    tape: Any, target: Any = None, port: int | None = None, browser: bool | None = None
) -> Inspector:
    """Open a page that shows what a tape recorded: see `wg.inspect`.

    Under `wg.debug()` it also knows lines. `target` is what was computed; without it, all that the
    tape recorded and that something still refers to is shown.
    """
    shown = Program("tape")
    frame = users_frame()
    program.recorded(shown, tape, target, frame.f_globals | frame.f_locals)
    return _opened(Inspector(shown, port), browser)


def _opened(inspector: Inspector, browser: bool | None) -> Inspector:
    if browser or (browser is None and not _is_notebook()):
        webbrowser.open(inspector.address)
    return inspector


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")
