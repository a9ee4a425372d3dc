"""Database servers that fail on request, and workers that use them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gribmill.queue.store import Store
from tests.queue.backends import make_tables, open_address
from tests.queue.sample_effects import SampleEffects
from tests.queue.worker.conftest import _surroundings, workers
from tests.queue.worker.sample_types import TYPES
from tests.servers.own_postgres import own_postgres
from tests.servers.postgres import PostgresServer

__all__ = ["_surroundings", "workers"]  # fixtures


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with own_postgres() as server:
        make_tables(server.url())
        yield server


@pytest.fixture
def address(server: PostgresServer) -> str:
    return server.url()


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    store = Store(open_address(address), TYPES, SampleEffects())
    yield store
    assert store.verify() == []
    store.close()
