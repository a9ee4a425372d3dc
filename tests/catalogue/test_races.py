"""Workers that finish a run at the same time complete it, and its completion is published once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gribmill.catalogue.changes import apply
from gribmill.catalogue.events import Event, RunSeen, TileBuilt, TilesDone
from gribmill.database.protocol import Database
from gribmill.identity import RunRef
from gribmill.queue.job_type import Registry
from gribmill.queue.store import Store
from tests.pipeline.conftest import ingested
from tests.queue.backends import BOTH, new_address, open_address
from tests.queue.store.crew import together

pytestmark = pytest.mark.slow

REGIONS = ("ne", "texas", "west")
HOURS = (0, 1, 2)
RUNS = 8


@pytest.fixture(params=BOTH)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with new_address(request.param, tmp_path) as address:
        database = open_address(address, synchronous="normal")
        yield database
        database.close()


def record(database: Database, *events: Event) -> None:
    with database.write() as tx:
        for event in events:
            apply(tx, event)


def completed(database: Database) -> list[object]:
    return [event.payload["run_id"] for event in Store(database, Registry()).events.list(pattern="run.completed")]


def test_concurrent_last_tiles_of_an_hour_complete_the_run(database: Database) -> None:
    for n in range(RUNS):
        run = RunRef("hrrr", f"202611{n + 1:02}_12")
        record(database, RunSeen(run, (0,)), ingested(run.hour(0), regions=REGIONS))
        tiles = [run.hour(0).tile(region) for region in REGIONS]
        together(*(partial(record, database, TileBuilt(tile, 10), TilesDone(run.hour(0))) for tile in tiles))
        assert completed(database).count(run.run_id) == 1


def test_concurrent_last_hours_complete_the_run(database: Database) -> None:
    for n in range(RUNS):
        run = RunRef("hrrr", f"202611{n + 1:02}_12")
        record(database, RunSeen(run, HOURS), *(ingested(run.hour(hour), regions=("ne",)) for hour in HOURS))
        hours = [run.hour(hour) for hour in HOURS]
        together(*(partial(record, database, TileBuilt(hour.tile("ne"), 10), TilesDone(hour)) for hour in hours))
        assert completed(database).count(run.run_id) == 1
