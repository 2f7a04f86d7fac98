"""Local server of the page. GET / returns the page, and POST /answer answers a request.

The server accepts only requests that name this host, which prevents DNS rebinding. It also rejects requests from other
origins, and bodies of more than 64 kB. It makes no network requests, and it stores no data.
"""

from __future__ import annotations

import json
import re
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from grammar.errors import NotationError

from ..core.processes import MAX_MEMORY_BYTES
from .replies import error_data
from .worker import SECONDS, Worker

LONGEST = 64 * 1024  # bytes of a request
PAGE = "page.html"
NAMES = ("127.0.0.1", "localhost")
WAITING = 20.0  # seconds for the bytes of a request
POLICY = "default-src 'none'"  # for all replies but the page, which states its policy in its text
HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
}  # fmt: skip


@cache
def page() -> str:
    """Return the HTML of the page. Raise FileNotFoundError if the page was not built."""
    return (files(__name__.rpartition(".")[0]) / PAGE).read_text(encoding="utf-8")


def policy(text: str) -> str:
    """Return the content security policy of a page for the response header. The policy also forbids frames."""
    match = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    return f"{match[1] if match else POLICY}; frame-ancestors 'none'"


class Server(ThreadingHTTPServer):
    """HTTP server of the page on a port of the loopback interface.

    `file` is the initial text of the page. `memory` is the memory limit of a request in bytes. `site` is the base
    address of the links that the page shares.
    """

    daemon_threads = True

    def __init__(
        self,
        port: int = 0,
        file: str | None = None,
        seconds: float = SECONDS,
        memory: int = MAX_MEMORY_BYTES,
        site: str | None = None,
    ):
        self.worker = Worker(file, seconds, memory, site)
        super().__init__((NAMES[0], port), Handler)  # closes the socket if it fails

    @property
    def port(self) -> int:
        return self.server_address[1]

    @property
    def address(self) -> str:
        return f"http://{NAMES[0]}:{self.port}/"

    def server_close(self) -> None:
        super().server_close()
        self.worker.close()


class Handler(BaseHTTPRequestHandler):
    """Handler of the requests on one connection."""

    timeout = WAITING
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "namedtensor", ""

    @property
    def owner(self) -> Server:
        assert isinstance(self.server, Server)
        return self.server

    def do_GET(self) -> None:
        if self.refused():
            return
        if self.path.partition("?")[0] not in ("/", f"/{PAGE}"):
            self.refuse(HTTPStatus.NOT_FOUND, "there is one page, /, and one question, POST /answer")
            return
        text = page()
        self.sent(HTTPStatus.OK, text.encode(), "text/html; charset=utf-8", policy(text))

    do_HEAD = do_GET

    def do_POST(self) -> None:
        if self.refused():
            return
        if self.path != "/answer":
            self.refuse(HTTPStatus.NOT_FOUND, "questions go to /answer")
        elif self.headers.get_content_type() != "application/json":
            self.refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a question is application/json")
        elif not (length := self.headers.get("Content-Length", "")).isdecimal():
            self.refuse(HTTPStatus.LENGTH_REQUIRED, "a request needs its length")
        elif len(length) > 9 or int(length) > LONGEST:
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a question has at most {LONGEST} bytes")
        else:
            body = self.rfile.read(int(length))
            self.sent(HTTPStatus.OK, self.owner.worker.answer(body).strip(), "application/json; charset=utf-8", POLICY)

    def refused(self) -> bool:
        """Return whether a request names another host or comes from another origin. If so, reply with an error."""
        hosts = {f"{name}:{self.owner.port}" for name in NAMES}
        origin = self.headers.get("Origin")
        if self.headers.get("Host") in hosts and origin in (None, *(f"http://{host}" for host in hosts)):
            return False
        self.refuse(HTTPStatus.FORBIDDEN, f"this page is at {self.owner.address} alone")
        return True

    def refuse(self, status: HTTPStatus, message: str) -> None:
        self.close_connection = True  # The rest of the request is not read.
        result = {"ok": False, "error": error_data(NotationError(405, message))}
        self.sent(status, json.dumps(result, ensure_ascii=False).encode(), "application/json; charset=utf-8", POLICY)

    def sent(self, status: HTTPStatus, body: bytes, kind: str, allowed: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Security-Policy": allowed}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Ignore log messages, since they would interrupt the user's typing."""
