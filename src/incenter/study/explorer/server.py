"""The explorer's server: this machine only, and only for whoever knows the address it was opened with.

The address holds a random token, and the Host must be this server's own: a page of another origin can neither guess the
one nor forge the other. Connections are kept open, because a drag asks many times a second.
"""

import json
import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from incenter.geometry.errors import IncenterError
from incenter.study import gradients_file
from incenter.study.examples import Gradients
from incenter.study.explorer.answering import answer
from incenter.study.explorer.page import described, live_page

ADDRESS = "127.0.0.1"
GIVEN, LOADED = "given", "loaded"  # held from the command line, and from the page
_LARGEST = 2**30  # bytes of a file that a page may send; the command line takes any


class Explorer(ThreadingHTTPServer):
    """A server of one page; `url` is where it is."""

    daemon_threads = True

    def __init__(self, given: Gradients | None = None, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(16)
        self.held: dict[str, Gradients] = {} if given is None else {GIVEN: given}
        # The first answer imports what the others find in place.
        answer({"gradients": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}, {})
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise IncenterError(
                f"Port {port} of {ADDRESS} cannot be had ({error}); give another --port, or none to take a free one."
            ) from error

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def respond(self, path: str, body: bytes) -> Any:
        """The answer to what the page posts at `path`, below the token."""
        where = urlsplit(path)
        if where.path == "answer":
            return answer(_parsed(body), self.held)
        if where.path == "file":
            name = parse_qs(where.query).get("name", ["the file"])[0]
            self.held[LOADED] = gradients_file.read_bytes(body, name)
            return described(LOADED, self.held[LOADED])
        return None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that is closed or loaded again hangs up in the middle, which is no fault."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Explorer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body in one packet

    def do_GET(self) -> None:
        if self._below_token() == "":
            self._send(HTTPStatus.OK, live_page(self.server.held).encode(), "text/html; charset=utf-8")
        else:
            self._refuse()

    def do_POST(self) -> None:
        below, size = self._below_token(), self.headers.get("Content-Length", "")
        if below is None or not size.isdecimal():
            self._refuse()
        elif int(size) > _LARGEST:
            most = f"from the page at most {_LARGEST:,}. Try: incenter explore FILE"
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The file has {int(size):,} bytes; {most}")
        else:
            self._answer(below, self.rfile.read(int(size)))

    def _answer(self, below: str, body: bytes) -> None:
        try:
            found = self.server.respond(below, body)
        except IncenterError as error:
            self._send_json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return
        self._send_json(HTTPStatus.NOT_FOUND if found is None else HTTPStatus.OK, found)

    def _below_token(self) -> str | None:
        """The path below the token; None for whoever has no business here."""
        ours = {f"{host}:{self.server.server_port}" for host in (ADDRESS, "localhost")}
        front, _, below = self.path[1:].partition("/")
        known = secrets.compare_digest(front.encode(), self.server.token.encode())
        origin = self.headers.get("Origin")
        local = self.headers.get("Host") in ours and (origin is None or urlsplit(origin).netloc in ours)
        return below if known and local else None

    def _refuse(self, code: HTTPStatus = HTTPStatus.NOT_FOUND, sentence: str = "There is nothing here.") -> None:
        self.close_connection = True  # a body may be left unread
        self._send_json(code, {"error": sentence})

    def _send_json(self, code: HTTPStatus, found: Any) -> None:
        self._send(code, json.dumps(found, allow_nan=False).encode(), "application/json")

    def _send(self, code: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Frame-Options", "DENY")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: a line for every move of the mouse helps nobody."""


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        question = json.loads(body)
    except ValueError as error:
        raise IncenterError(f"The question is not JSON ({error}).") from error
    if not isinstance(question, dict):
        raise IncenterError(f"The question must be a JSON object; got {type(question).__name__}.")
    return question
