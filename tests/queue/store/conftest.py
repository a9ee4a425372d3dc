"""The store under test, once for each backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.queue.store import Store
from tests.documented_events import undocumented
from tests.queue.backends import BOTH
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.tested_backend import BACKENDS, BackendUnderTest

OF_THE_DATABASE = ("job.*", "attempt.metered", "worker.lost")


@pytest.fixture(params=BOTH)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BackendUnderTest]:
    backend = BACKENDS[request.param](tmp_path)
    yield backend
    backend.close()


@pytest.fixture
def store(backend: BackendUnderTest) -> Iterator[Store]:
    """After each test every invariant holds, and every published event matches its documented schema."""
    yield backend.store
    assert backend.store.verify() == []
    published = [one for name in OF_THE_DATABASE for one in backend.store.events.list(pattern=name)]
    assert undocumented((one.name, one.values) for one in published) == []


@pytest.fixture
def clock(backend: BackendUnderTest) -> FakeClock:
    return backend.clock
