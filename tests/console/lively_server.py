"""A server with a busy data root, once per backend and test file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.console.lively_root import CHAIN, ROOTS, LivelyRoot, make_lively
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving


@dataclass(frozen=True, slots=True)
class LivelyServer:
    backend: str
    live: LiveServer
    root: LivelyRoot

    @property
    def url(self) -> str:
        return self.live.url


def start_lively(
    backend: str, tmp_path_factory: pytest.TempPathFactory, resources: ExitStack, *, dev: bool = True
) -> LivelyServer:
    """With `dev`, local visitors may change everything."""
    folder = tmp_path_factory.mktemp("lively")
    settings = backend_settings(backend, folder, resources, chain=CHAIN, roots=ROOTS)
    live = resources.enter_context(serving(settings, dev=dev))
    return LivelyServer(backend, live, make_lively(settings, live.store))


@pytest.fixture(scope="module", params=BOTH)
def lively(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivelyServer]:
    with ExitStack() as resources:
        yield start_lively(request.param, tmp_path_factory, resources)
