"""A small real HTTP server for tests: files, ranges, and connections that break on demand."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self

__all__ = ("Answer", "Asked", "FileServer")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that the server saw.

    Attributes:
        start: first byte of the range asked for; 0 without a range.
    """

    method: str
    path: str
    start: int
    authorization: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server has to say to a path."""

    body: bytes = b""
    status: HTTPStatus = HTTPStatus.OK
    headers: dict[str, str] = field(default_factory=dict)


class FileServer:
    """Serves `files` on a loopback port that the system chooses.

    Attributes:
        files: bodies by path.
        asked: every request, in order.
        cuts: each GET of a file takes the next number and breaks the connection after so many bytes of its body.
        knows_ranges: whether `Range` is understood.
    """

    def __init__(self, files: dict[str, bytes] | None = None, *, cuts: tuple[int, ...] = ()) -> None:
        self.files = dict(files or {})
        self.asked: list[Asked] = []
        self.cuts = deque(cuts)
        self.knows_ranges = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """The server's root, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, asked: Asked) -> Answer:
        """Return what belongs to a path, without its query; subclasses know more paths."""
        body = self.files.get(asked.path)
        if body is None:
            return Answer(status=HTTPStatus.NOT_FOUND)
        kind = "text/html" if asked.path.endswith("/") else "application/octet-stream"
        return Answer(body, headers={"Content-Type": kind})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            """One connection."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.serve(self)

            def do_HEAD(self) -> None:
                server.serve(self)

            def log_message(self, *_: object) -> None:
                """Stay quiet: what was asked is in `asked`."""

        return Handler

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        wanted = handler.headers.get("Range", "").removeprefix("bytes=").partition("-")
        ranged = self.knows_ranges and bool(wanted[0] or wanted[2])
        start = int(wanted[0]) if ranged and wanted[0] else 0
        # A client that takes this server for its proxy asks for whole URLs.
        path = handler.path.removeprefix(self.url).partition("?")[0]
        asked = Asked(handler.command, path, start, handler.headers.get("Authorization", ""))
        self.asked.append(asked)
        answer = self.answer(asked)
        body, status = answer.body, answer.status
        if ranged and not wanted[0]:
            start = max(0, len(body) - int(wanted[2]))
        end = int(wanted[2]) + 1 if ranged and wanted[0] and wanted[2] else len(body)
        if ranged and status == HTTPStatus.OK:
            status = HTTPStatus.PARTIAL_CONTENT if start < len(body) else HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        part = body[start:end]
        handler.send_response(status)
        if status == HTTPStatus.PARTIAL_CONTENT:
            handler.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(body)}")
        if self.knows_ranges:
            handler.send_header("Accept-Ranges", "bytes")
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(part)))
        handler.end_headers()
        if handler.command == "HEAD":
            return
        if answer.body and self.cuts and path in self.files:
            handler.wfile.write(part[: self.cuts.popleft()])
            handler.close_connection = True
            return
        handler.wfile.write(part)
