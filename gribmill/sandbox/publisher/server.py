"""The mirror's HTTP server: threads, keep-alive, limits, a clean stop."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from gribmill.sandbox.errors import MirrorError
from gribmill.sandbox.publisher.faults import Faults
from gribmill.sandbox.publisher.folder import Folder
from gribmill.sandbox.publisher.response import Answer, refusal
from gribmill.sandbox.publisher.service import Service
from gribmill.version import __version__

MOST_CONNECTIONS = 256
IDLE_SECONDS = 30
STOP_SECONDS = 5
MOST_SEEN = 100_000
SLOW_PIECES_PER_SECOND = 10


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that was answered: `sent` counts the bytes of the body."""

    method: str
    key: str
    range: str | None
    status: int
    sent: int


class Server:
    """Serves a folder while it is entered: `with Server(folder) as server: server.url`.

    `url` ends with a slash. Each top folder is a bucket (`server.url + "noaa-hrrr/?list-type=2"`), and so is the
    whole. `seen` remembers the latest requests. `digests`: whether answers carry a checksum (Content-Digest).
    `multi_range`: several ranges in one request are answered, as NOMADS does; S3 sends the whole object then.
    """

    def __init__(
        self,
        folder: Path,
        faults: Faults | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        digests: bool = True,
        multi_range: bool = False,
    ) -> None:
        self.seen: deque[Seen] = deque(maxlen=MOST_SEEN)
        self.stopping = threading.Event()
        self.service = Service(Folder(folder), faults or Faults(), digests=digests, multi_range=multi_range)
        try:
            self._http = _Http((host, port), self)
        except OSError as error:
            raise MirrorError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.1,), name="mirror", daemon=True)

    @property
    def url(self) -> str:
        """Where it is."""
        host, port = self._http.server_address[:2]
        name = str(host)
        return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"

    def start(self) -> None:
        """Answer from now on, in threads of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering; open connections are closed."""
        self.stopping.set()
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.close_connections()
        self._http.server_close()

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], mirror: Server) -> None:
        self.mirror = mirror
        self.connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without the look-up of the host's name, which can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self.connections[request] = threading.current_thread()
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self.connections.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no error of the mirror's; others are shown."""
        import sys

        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def too_many(self) -> bool:
        """Whether there are more connections than a mirror should have."""
        return len(self.connections) > MOST_CONNECTIONS

    def close_connections(self) -> None:
        """End those that wait for a next request, and wait for their threads."""
        with self._lock:
            open_now = dict(self.connections)
        for connection, thread in open_now.items():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join(STOP_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    server_version = f"gribmill-mirror/{__version__}"
    sys_version = ""
    timeout = IDLE_SECONDS
    # Headers and body go in separate writes; together with delayed ACKs each answer would wait 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        mirror = self.server.mirror
        if self.server.too_many():
            self.close_connection = True
            key, answer = "", refusal("SlowDown", None, {"Retry-After": "1"})
        else:
            headers = {name.title(): value for name, value in self.headers.items()}
            key, answer = mirror.service.answer(self.command, self.path, headers)
        sent = self._send(answer)
        mirror.seen.append(Seen(self.command, key, self.headers.get("Range"), answer.status, sent))

    do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_PATCH = do_GET  # noqa: N815

    def _send(self, answer: Answer) -> int:
        if self.headers.get("Content-Length", "0") != "0" or self.headers.get("Transfer-Encoding"):
            # What is said after the headers is not read, so it must not be taken for a next request.
            self.close_connection = True
        self.send_response(HTTPStatus(answer.status))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(answer.length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        return 0 if self.command == "HEAD" else self._pour(answer)

    def _pour(self, answer: Answer) -> int:
        trouble, sent = answer.trouble, 0
        flip = None if trouble.flip is None else int(answer.length * trouble.flip)
        end = answer.length if trouble.cut is None else int(answer.length * trouble.cut)
        for whole in answer.body:
            chunk = whole
            if flip is not None and sent <= flip < sent + len(chunk):
                place = flip - sent
                chunk = chunk[:place] + bytes((chunk[place] ^ 0x10,)) + chunk[place + 1 :]
            self._write(chunk[: end - sent], trouble.bytes_per_second)
            sent += min(len(chunk), end - sent)
            if sent >= end or self.server.mirror.stopping.is_set():
                break
        if sent < answer.length:
            self.close_connection = True
        return sent

    def _write(self, chunk: bytes, bytes_per_second: int | None) -> None:
        if bytes_per_second is None:
            self.wfile.write(chunk)
            return
        piece = max(1, bytes_per_second // SLOW_PIECES_PER_SECOND)
        for place in range(0, len(chunk), piece):
            if self.server.mirror.stopping.wait(1 / SLOW_PIECES_PER_SECOND):
                return
            self.wfile.write(chunk[place : place + piece])

    def log_message(self, format: str, *args: object) -> None:
        """Silent: `seen` and the log of the command tell."""
