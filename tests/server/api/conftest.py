"""A server with a program that definitions may run, and a client for each role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from gribmill.settings.schema import CommandSettings
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving

TENANT = "bcg"


@pytest.fixture(params=BOTH)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveServer]:
    with ExitStack() as resources:
        programs = {"sync-dropbox": Path("/bin/true"), "recompute-trained-tags": Path("/bin/true")}
        commands = CommandSettings(allow=programs)
        settings = backend_settings(request.param, tmp_path, resources, commands=commands)
        yield resources.enter_context(serving(settings))


@pytest.fixture
def root(server: LiveServer) -> Iterator[httpx.Client]:
    """A super admin."""
    with server.client(server.token("super_admin")) as client:
        yield client


@pytest.fixture
def admin(server: LiveServer) -> Iterator[httpx.Client]:
    """The admin of a tenant."""
    with server.client(server.token("tenant_admin", TENANT)) as client:
        yield client


@pytest.fixture
def worker(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client(server.token("worker")) as client:
        yield client
