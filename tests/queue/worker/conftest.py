"""A queue with the test types, and workers for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gribmill.database.sqlite import SqliteDatabase
from gribmill.queue.store import Store
from tests.queue.backends import new_address, open_address
from tests.queue.sample_effects import SampleEffects
from tests.queue.worker.sample_types import TYPES
from tests.queue.worker.worker_driver import ROOT, SteppedWorker, Workers


@pytest.fixture(autouse=True, scope="module")
def _surroundings() -> Iterator[None]:
    """Let executors import the tests, and ignore the developer's settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        for name in list(os.environ):
            if name.startswith("GRIBMILL_") and not name.startswith("GRIBMILL_SOAK"):
                patch.delenv(name)
        yield


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The queue's address: a file, or with `parametrize("address", BOTH, indirect=True)` also a PostgreSQL database."""
    with new_address(getattr(request, "param", "sqlite"), tmp_path / "data") as address:
        yield address


@pytest.fixture
def database(address: str) -> Path:
    """The queue's file."""
    return Path(address)


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    store = Store(open_address(address), TYPES, SampleEffects())
    yield store
    assert store.verify() == []
    store.close()


@pytest.fixture(scope="module")
def shared_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SteppedWorker]:
    """One worker shared by the tests of a file, because executors are slow to start."""
    store = Store(SqliteDatabase(tmp_path_factory.mktemp("shared") / "jobs.db"), TYPES, SampleEffects())
    worker = SteppedWorker(store, lanes={"fetch": 1, "build": 1})
    yield worker
    worker.supervisor.close()
    assert store.verify() == []
    store.close()


@pytest.fixture
def new_worker(store: Store) -> Iterator[Callable[..., SteppedWorker]]:
    """Makes supervisors that the test drives."""
    made: list[SteppedWorker] = []

    def make(**options: Any) -> SteppedWorker:
        made.append(SteppedWorker(store, **options))
        return made[-1]

    yield make
    for one in made:
        one.supervisor.close()


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """Starts worker processes."""
    workers = Workers(tmp_path)
    yield workers
    workers.end()
