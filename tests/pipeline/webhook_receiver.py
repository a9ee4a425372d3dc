"""A real HTTP server that receives webhooks, and the queue's side of a delivery."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gribmill.queue.model import NewEvent
from gribmill.queue.store import Store
from gribmill.queue.worker.in_process import TickedJob, Ticker
from gribmill.settings.schema import Settings


class Receiver(ThreadingHTTPServer):
    """Responds with `status`, and keeps the requests."""

    daemon_threads = True
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?x=1"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """What is sent for a request; subclasses answer in other ways."""
        request.send_response(self.status)
        if self.status == 302:
            request.send_header("Location", self.url)
        request.end_headers()


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.server.answer(self)

    def log_message(self, *args: Any) -> None:
        """Silent."""


@contextmanager
def receiving(server: Receiver) -> Iterator[Receiver]:
    """The server, while it runs."""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def publish(store: Store, name: str = "run.completed", **payload: Any) -> None:
    with store.database.write() as tx:
        tx.publish(NewEvent(name, payload))


def tick(store: Store, settings: Settings) -> list[TickedJob]:
    """Dispatch events, then run all jobs, including delayed ones."""
    store.events.dispatch()
    for job in store.jobs.list().jobs:
        if job.status == "pending":
            store.jobs.run_now(job.id)
    return Ticker(store, 60.0, settings.model_dump(mode="json")).tick(1)
