"""The publisher's HTTP server: threads, keep-alive, limits, a clean stop."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
from collections import deque
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from gribmill.sandbox.errors import SandboxError
from gribmill.sandbox.publisher.faults import FaultInjector, Faults
from gribmill.sandbox.publisher.folder import Folder
from gribmill.sandbox.publisher.request import Request
from gribmill.sandbox.publisher.response import RawResponse, Response, refusal
from gribmill.sandbox.publisher.service import Service
from gribmill.sandbox.publisher.stored_object import ObjectStore
from gribmill.version import __version__

MOST_CONNECTIONS = 256
IDLE_SECONDS = 30
STOP_SECONDS = 5
MOST_SEEN = 100_000
# How long `stop` may wait for the accept loop.
POLL_SECONDS = 0.02
# On, after 0 seconds: closing discards what is unsent and resets the connection.
LINGER = struct.pack("ii", 1, 0)


class Server:
    """Serves a folder, or another store of objects, while entered: `with Server(folder) as server: server.url`.

    `url` ends with a slash. Each top folder is a bucket (`server.url + "noaa-hrrr/?list-type=2"`), and so is the
    whole store. `seen` keeps the latest requests. `digests`: whether responses carry a Content-Digest.
    `multi_range`: several ranges in one request are served, as NOMADS does; S3 sends the whole object instead.
    """

    def __init__(
        self,
        store: Path | ObjectStore,
        faults: FaultInjector | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        digests: bool = True,
        multi_range: bool = False,
    ) -> None:
        self.seen: deque[Request] = deque(maxlen=MOST_SEEN)
        self.stopping = threading.Event()
        self.store: ObjectStore = Folder(store) if isinstance(store, Path) else store
        self.service = Service(self.store, faults or Faults(), digests=digests, multi_range=multi_range)
        try:
            self._http = _Http((host, port), self)
        except OSError as error:
            raise SandboxError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(POLL_SECONDS,), name="publisher", daemon=True
        )

    @property
    def url(self) -> str:
        """Its address, with a slash at the end."""
        host, port = self._http.server_address[:2]
        name = str(host)
        return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"

    def start(self) -> None:
        """Serve from now on, in separate threads."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving; open connections are closed."""
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

    def __init__(self, address: tuple[str, int], owner: Server) -> None:
        self.owner = owner
        self.connections: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without looking up the host's name, which can take seconds."""
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
        """Ignores clients that disconnect; prints other errors."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def too_many(self) -> bool:
        """Whether the limit of connections is exceeded."""
        return len(self.connections) > MOST_CONNECTIONS

    def close_connections(self) -> None:
        """Close connections that are waiting for a next request, and join their threads."""
        with self._lock:
            open_now = dict(self.connections)
        for connection, thread in open_now.items():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join(STOP_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    server_version = f"gribmill-sandbox/{__version__}"
    sys_version = ""
    timeout = IDLE_SECONDS
    # Headers and body are sent in separate writes: with Nagle's algorithm and delayed ACKs, each would wait 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        headers = {name.title(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.client_address[1])
        if self.server.too_many():
            self.close_connection = True
            response: Response | RawResponse = refusal("SlowDown", None, {"Retry-After": "1"})
        else:
            response = self.server.owner.service.respond(request)
        try:
            if isinstance(response, RawResponse):
                self._send_raw(response, request)
            else:
                self._send(response, request)
        finally:
            self.server.owner.seen.append(request)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_PATCH = do_GET  # noqa: N815

    def _send(self, response: Response, request: Request) -> None:
        if self.headers.get("Content-Length", "0") != "0" or self.headers.get("Transfer-Encoding"):
            # The request body is not read, so it must not be mistaken for the next request.
            self.close_connection = True
        request.status = response.status
        self.send_response(response.status, response.reason or HTTPStatus(response.status).phrase)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.length is None:
            self.close_connection = True
        elif response.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(response.length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self._write_body(response.body, request)
            if request.sent != response.length:
                self.close_connection = True

    def _send_raw(self, response: RawResponse, request: Request) -> None:
        self.close_connection = True
        self._write_body(response.body, request)
        if response.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
            self.connection.close()

    def _write_body(self, body: Iterable[bytes], request: Request) -> None:
        for chunk in body:
            self.wfile.write(chunk)
            request.sent += len(chunk)
            if self.server.owner.stopping.is_set():
                break

    def log_message(self, format: str, *args: object) -> None:
        """Silent: requests are in `seen`."""
