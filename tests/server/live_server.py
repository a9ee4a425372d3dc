"""A real server on loopback, in a thread of the test process, with its own data root."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from gribmill.access.permissions import Role
from gribmill.access.tokens import Tokens
from gribmill.console.extension import CONSOLE
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import NewTenant
from gribmill.queue.store import Store
from gribmill.server.app import create_app
from gribmill.server.listening import listen
from gribmill.server.serving import make_server
from gribmill.settings.schema import ServerSettings, Settings
from tests.queue.backends import BOTH, make_tables
from tests.servers.shared_postgres import fresh_database

PATIENCE_SECONDS = 60.0
# Each client would otherwise read the certificates of all authorities, which takes longer than most tests.
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class LiveServer:
    """The address of the server, and its store."""

    def __init__(self, url: str, settings: Settings, store: Store) -> None:
        self.url = url
        self.settings = settings
        self.store = store

    def client(self, token: str | None = None, **options: Any) -> httpx.Client:
        """A new client; close it, or use it in a `with`."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(
            base_url=self.url, timeout=PATIENCE_SECONDS, headers=headers, verify=NO_AUTHORITIES, **options
        )

    def token(self, role: Role, tenant_id: str | None = None, **options: Any) -> str:
        """The text of a new token; its tenant is created if necessary."""
        if tenant_id is not None and tenant_id not in {one.name for one in self.store.tenants.list()}:
            self.store.tenants.add(NewTenant(tenant_id))
        return Tokens(self.store.database).create(f"{role} in tests", role, tenant_id=tenant_id, **options).text


@contextmanager
def serving(
    settings: Settings, *, dev: bool = False, port: int = 0, warm_up: Callable[[FastAPI], None] | None = None
) -> Iterator[LiveServer]:
    """A server with these settings, on this port or a free one of loopback. It only warms up if a test wants it to:
    pages would be some seconds older than what a test has just written."""
    settings = settings.model_copy(update={"server": settings.server.model_copy(update={"port": port})})
    ready = threading.Event()
    urls: list[str] = []

    def note(url: str) -> None:
        urls.append(url)
        ready.set()

    app = create_app(settings, dev=dev, extensions=[replace(CONSOLE, warm_up=warm_up)])
    server = make_server(app, settings.server, note, warms_up=warm_up is not None)
    listening = listen(settings.server.host, port)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    store = open_queue(settings)
    try:
        assert ready.wait(PATIENCE_SECONDS), "the server did not start"
        yield LiveServer(urls[0], settings, store)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        listening.close()
        store.close()
        assert not thread.is_alive(), "the server did not end"


def backend_settings(backend: str, folder: Path, resources: ExitStack, **tables: Any) -> Settings:
    """Settings with a data root in the folder, and the queue in jobs.db or on the tests' PostgreSQL server."""
    if backend == "postgres":
        tables["database"] = resources.enter_context(fresh_database("tables", make_tables))
    return Settings(data=folder / "data", **tables)


StartServer = Callable[..., LiveServer]


@pytest.fixture(params=BOTH)
def start_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StartServer]:
    """Starts servers on one data root, once with each backend: `start_server(dev=True, threads=2)`."""
    with ExitStack() as resources:
        settings = backend_settings(request.param, tmp_path, resources)

        def start(*, dev: bool = False, **server: Any) -> LiveServer:
            wanted = settings.model_copy(update={"server": ServerSettings(**server)})
            return resources.enter_context(serving(wanted, dev=dev))

        yield start


@pytest.fixture
def live_server(start_server: StartServer) -> LiveServer:
    """A server that allows local reads without a token; changes need one."""
    return start_server()


@pytest.fixture
def dev_server(start_server: StartServer) -> LiveServer:
    """A server with --dev: local requests may change everything."""
    return start_server(dev=True)
