"""The server: the page and the answers to its questions, on loopback, for who knows the address."""

from __future__ import annotations

import http.server
import json
import secrets
import socket
import threading
import time
import urllib.parse
from typing import Any

from wengert.inspector.api import Api, Refused
from wengert.inspector.page import rendered

#: Where it is looked for a free port, and how many are tried.
FIRST_PORT, TRIED = 8764, 64
#: How long after the last page was closed the server is done, in seconds; one may be loaded anew.
GRACE = 4.0
#: How often a page is told that the server is there, in seconds.
_BEAT = 0.5


class Server:
    """Serves the page of a program in threads of its own.

    The address has a token that nobody can guess. Without it every answer is "not found": other
    users of the machine can reach its ports, too.
    """

    def __init__(self, api: Api, port: int | None = None, host: str = "127.0.0.1") -> None:
        self.api, self.token = api, secrets.token_urlsafe(16)
        self.is_closed = threading.Event()
        self._lock = threading.Lock()
        self._pages = 0
        self._last_seen: float | None = None
        self._http = _bound(host, port)
        self._http.owner = self
        self.host, self.port = host, self._http.server_address[1]
        name = f"[{host}]" if ":" in host else host
        local = ("127.0.0.1", "localhost", "[::1]")
        #: on loopback, the hosts that requests may name; elsewhere a machine has names of its own
        self.hosts = {f"{n}:{self.port}" for n in local} if name in local else None
        if host in ("0.0.0.0", "::"):
            name = socket.gethostname()
        self.address = f"http://{name}:{self.port}/{self.token}/"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Serve nothing more; pages that are open say so."""
        if not self.is_closed.is_set():
            self.is_closed.set()
            self._http.shutdown()
            self._http.server_close()

    def opened(self, by: int) -> None:
        """Count a page that was opened (1) or closed (-1)."""
        with self._lock:
            self._pages += by
            self._last_seen = time.monotonic()

    def wait(self, stay: bool) -> None:
        """Return when the last page was closed, unless that is to be ignored, or the server."""
        while not self.is_closed.wait(0.2):
            if stay:
                continue
            with self._lock:
                alone = self._pages == 0 and self._last_seen is not None
                if alone and time.monotonic() - (self._last_seen or 0.0) > GRACE:
                    return


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = False
    owner: Server


def _bound(host: str, port: int | None) -> _Http:
    """Return a server on a port, or on the next that is free."""
    first = FIRST_PORT if port is None else port
    kind = type("Server", (_Http,), {"address_family": socket.AF_INET6}) if ":" in host else _Http
    for candidate in (*range(first, min(first + TRIED, 65536)), 0):
        try:
            return kind((host, candidate), _Handler)
        except PermissionError:
            raise
        except OSError as error:
            if candidate == 0:
                raise
            if error.errno is None or "Address already in use" not in str(error):
                raise
    raise AssertionError("port 0 is any port that is free")


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the terminal is the program's."""

    def do_GET(self) -> None:
        """Answer with the page, with data, or with a stream of states."""
        place, given = self._asked()
        if place is None:
            return
        if place == "":
            nonce = secrets.token_urlsafe(16)
            policy = (
                f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
                "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                "frame-ancestors http://localhost:* http://127.0.0.1:*"
            )
            text = rendered(nonce=nonce).encode()
            self._send(200, "text/html; charset=utf-8", text, {"Content-Security-Policy": policy})
        elif place == "api/events":
            self._stream()
        elif place.startswith("api/"):
            self._answer(place.removeprefix("api/"), given)
        else:
            self._send(404, "text/plain", b"not found")

    def do_POST(self) -> None:
        """Stop the program."""
        place, _ = self._asked()
        self.close_connection = True
        if place == "api/stop":
            found = self.server.owner.api.program.stop()
            self._send(200, "application/json", json.dumps(found).encode())
        elif place is not None:
            self._send(404, "text/plain", b"not found")

    def _asked(self) -> tuple[str | None, dict[str, str]]:
        """Return what is asked for behind the token; None if the token or the host is wrong."""
        owner = self.server.owner
        parts = urllib.parse.urlsplit(self.path)
        first, _, place = parts.path.lstrip("/").partition("/")
        known = secrets.compare_digest(first.encode(), owner.token.encode())
        host = self.headers.get("Host", "")
        if not known or (owner.hosts is not None and host not in owner.hosts):
            self._send(404, "text/plain", b"not found")
            return None, {}
        return place, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))

    def _answer(self, question: str, given: dict[str, str]) -> None:
        try:
            body = json.dumps(self.server.owner.api.answer(question, given)).encode()
            self._send(200, "application/json", body)
        except Refused as refused:
            text = json.dumps({"error": str(refused)}).encode()
            self._send(400, "application/json", text)

    def _stream(self) -> None:
        """Tell a page how the program is doing for as long as the page is open."""
        owner = self.server.owner
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        owner.opened(1)
        ended = owner.api.program.ended
        try:
            while not owner.is_closed.is_set():
                is_over = ended.is_set()
                state = json.dumps(owner.api.answer("state", {}))
                self.wfile.write(f"data: {state}\n\n".encode())
                self.wfile.flush()
                (owner.is_closed if is_over else ended).wait(_BEAT)  # its end is told at once
        except OSError:  # the page is closed
            pass
        finally:
            owner.opened(-1)

    def _send(
        self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
