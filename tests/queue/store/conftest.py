"""The store under test, once for each backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.tested_backend import BENCHES, Bench


@pytest.fixture(params=sorted(BENCHES))
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    bench = BENCHES[request.param](tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def store(bench: Bench) -> Iterator[Store]:
    """Every test of the contract ends with all promises kept."""
    yield bench.store
    assert bench.store.verify() == []


@pytest.fixture
def clock(bench: Bench) -> FakeClock:
    return bench.clock
