"""Each content of an hour has a generation; tiles of an earlier one are neither recorded nor kept."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

import pytest

from gribmill.catalogue.events import TileBuilt, TilesDone
from gribmill.identity import HourRef
from gribmill.pipeline import context
from gribmill.pipeline.handlers import build_tile
from gribmill.pipeline.handlers.publish import overtaken_tiles
from gribmill.queue.model import Snoozed
from gribmill.tiles.build.build import build
from gribmill.tiles.read.tile import read_tile
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain


@pytest.fixture
def chain(new_chain: NewChain) -> ChainDriver:
    """Hour 1, built with one variable."""
    chain = new_chain(chain={"regions": ["ne"]})
    chain.publish("hrrr", 1)
    backfill(chain, "--vars", "t2m")
    assert generations(chain) == (1, 1)
    return chain


def backfill(chain: ChainDriver, *words: str) -> None:
    chain.command("backfill", "hrrr", "--from", chain.run_id, "--to", chain.run_id, "--hours", "1", *words)
    chain.work()


def generations(chain: ChainDriver) -> tuple[int, int | None]:
    """The generations of the record and of the tile."""
    return chain.hours("hrrr")[1].generation, read_tile(chain.tile("hrrr", "ne", 1)).meta.generation


def ref(chain: ChainDriver) -> HourRef:
    return HourRef("hrrr", chain.run_id, 1)


def change_rows(chain: ChainDriver, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(chain.data / "jobs.db")) as rows, rows:
        rows.execute(statement)


def test_generation_grows_with_the_content_and_only_then(chain: ChainDriver) -> None:
    chain.tile("hrrr", "ne", 1).unlink()
    backfill(chain, "--vars", "t2m")
    assert generations(chain) == (1, 1), "the same messages, fetched again"
    backfill(chain)
    assert generations(chain) == (2, 2)
    (tile,) = chain.context.catalogue.tiles(ref(chain).run)
    assert (tile.generation, tile.variables) == (2, tuple(read_tile(chain.tile("hrrr", "ne", 1)).names))


def test_build_that_is_overtaken_by_a_download_starts_again(
    chain: ChainDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The download requests the tile while its job runs, so no other job is created."""
    chain.tile("hrrr", "ne", 1).unlink()
    honest = build

    def overtaken(*args: Any, **options: Any) -> Any:
        made = honest(*args, **options)
        change_rows(chain, "UPDATE hours SET generation = 2")
        return made

    monkeypatch.setattr(build_tile, "build", overtaken)
    chain.command("backfill", "hrrr", "--from", chain.run_id, "--to", chain.run_id, "--hours", "1", "--vars", "t2m")
    (built,) = [one.outcome for one in chain.work() if one.job.type == "build_tile"]
    assert isinstance(built, Snoozed)
    assert "other messages were downloaded meanwhile" in built.reason


def test_tile_of_an_earlier_generation_is_not_recorded_and_is_built_again(chain: ChainDriver) -> None:
    hour, catalogue = ref(chain), chain.context.catalogue
    change_rows(chain, "UPDATE hours SET generation = 2, state = 'ingested'")
    change_rows(chain, "DELETE FROM tiles")
    catalogue.record([TileBuilt(hour.tile("ne"), 5, generation=1), TilesDone(hour)])
    assert catalogue.tiles(hour.run) == []
    assert catalogue.hours(hour.run)[1].state == "ingested"
    (job,) = overtaken_tiles(chain.context, hour)
    assert (job.type, job.args["region"]) == ("build_tile", "ne")
    chain.store.jobs.enqueue(job)
    assert overtaken_tiles(chain.context, hour) == (), "a job that will build it is there"


def test_catalogue_that_was_lost_does_not_stop_later_builds(chain: ChainDriver) -> None:
    backfill(chain)
    chain.store.close()
    chain._store = None
    context._context.cache_clear()  # which has the database open
    for path in chain.data.glob("jobs.db*"):
        if path.is_file():
            path.unlink()
    backfill(chain)
    assert generations(chain) == (3, 3), "later than the tile in place"


def test_catalogue_that_was_restored_from_a_backup_does_not_stop_later_builds(chain: ChainDriver) -> None:
    backfill(chain)
    change_rows(chain, "UPDATE hours SET generation = 1, state = 'ingested'")
    change_rows(chain, "DELETE FROM tiles")
    backfill(chain)
    assert generations(chain) == (3, 3)
    assert not chain.jobs("failed")
