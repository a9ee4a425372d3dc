"""A web site with the console's scripts and a test's files, for testing scripts without a full page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gribmill.console.render import STATIC
from gribmill.server.middleware.security_headers import CONTENT_SECURITY_POLICY

TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
BLANK = b"<!doctype html><html lang='en'><title>Blank</title><link rel='icon' href='data:,'><main></main>"


@dataclass
class ModuleSite:
    """`files` are served below /files/. `sent` counts their bytes; without `ranges` they are always sent whole. With
    `cached`, browsers may keep them."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    sent: int = 0
    requests: int = 0
    ranges: bool = True
    cached: bool = False

    def add(self, name: str, content: bytes | Path) -> str:
        """The address of a file."""
        self.files[name] = content if isinstance(content, bytes) else content.read_bytes()
        return f"/files/{name}"


def handler_of(site: ModuleSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path.startswith("/static/"):
                source = STATIC / path.removeprefix("/static/")
                self.answer(200, source.read_bytes(), {"Content-Type": TYPES[source.suffix]})
            elif path.startswith("/files/"):
                self.send_file(path.removeprefix("/files/"))
            else:
                self.answer(200, BLANK, {"Content-Type": "text/html"})

        def send_file(self, name: str) -> None:
            content = site.files.get(name)
            if content is None:
                return self.answer(404, b"{}", {"Content-Type": "application/problem+json"})
            headers = {
                "Content-Type": "application/x-npz",
                "ETag": site.etags.get(name, '"one"'),
                "Accept-Ranges": "bytes",
            }
            asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            site.requests += 1
            if asked is None or not site.ranges:
                site.sent += len(content)
                return self.answer(200, content, headers)
            if not content:
                return self.answer(416, b"", headers)
            first, last = asked.groups()
            begin = int(first) if first else max(0, len(content) - int(last))
            end = min(len(content), int(last) + 1) if first and last else len(content)
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(content)}"
            site.sent += end - begin
            return self.answer(206, content[begin:end], headers)

        def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
            keep = site.cached and "/files/" in self.path
            self.send_header("Cache-Control", "private, max-age=31536000, immutable" if keep else "no-store")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


@pytest.fixture
def site() -> Iterator[ModuleSite]:
    """The console's scripts, and the files that a test adds."""
    made = ModuleSite()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(made))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    thread.join()
    server.server_close()
