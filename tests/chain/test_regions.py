"""Which regions an hour is cut for, now and later."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gribmill.grib.message_header import MessageHeader
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers import ingest_grib
from gribmill.pipeline.handlers.ingest_grib import IngestGribArgs, ingest_job
from gribmill.pipeline.handlers.publish import publish_job
from gribmill.pipeline.scan_schedule import scan_job
from gribmill.queue.model import Failed, Succeeded
from gribmill.queue.worker.in_process import Ticker
from tests.chain.chain_driver import MIRRORS, World
from tests.chain.compare_tiles import source_of
from tests.chain.conftest import NewWorld, of_model


@pytest.mark.parametrize("kept", [True, False])
def test_region_added_later_gets_its_tiles(new_world: NewWorld, reference: dict[str, bytes], kept: bool) -> None:
    """From the kept messages where there are any; else they are fetched once more."""
    world = new_world(chain={"regions": ["ne"], "keep_grib": kept})
    world.publish("hrrr")
    world.look("hrrr")
    assert world.complete("hrrr")
    assert len(world.spooled()) == (3 if kept else 0)
    world.server.seen.clear()
    world.chain = {"regions": ["ne", "texas"], "keep_grib": kept}
    world.look("hrrr")
    assert world.tiles() == of_model(reference, "hrrr")
    assert bool(world.fetched()) is not kept
    assert world.latest("hrrr")["texas"]["complete"] == world.run_id
    assert len(world.spooled()) == (3 if kept else 0)
    assert world.hours("hrrr")[0].regions == ("ne", "texas")
    before = len(world.jobs())
    world.look("hrrr")
    assert len(world.jobs()) == before + 1, "the scan alone: nothing is asked for again"
    world.assert_sound()


def test_messages_that_came_again_stay_until_their_tiles_are_asked_for(
    new_world: NewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the download and the end of its job, the hour is still built for the regions of before."""
    world = new_world(chain={"regions": ["ne"]})
    world.publish("hrrr")
    world.look("hrrr")
    world.server.seen.clear()
    world.chain = {"regions": ["ne", "texas"]}
    reached = ingest_grib._reached

    def published_meanwhile(context: Context, args: IngestGribArgs, messages: Iterable[MessageHeader]) -> list[str]:
        world.store.jobs.enqueue(publish_job("hrrr", world.run_id, 0))
        Ticker(world.store, 60.0, world.settings.model_dump(mode="json")).tick(1, ["publish"])
        return reached(context, args, messages)

    monkeypatch.setattr(ingest_grib, "_reached", published_meanwhile)
    ran = world.look("hrrr")
    assert all(isinstance(one.outcome, Succeeded) for one in ran), world.troubles()
    assert world.latest("hrrr")["texas"]["complete"] == world.run_id
    assert not world.spooled()


def test_messages_that_a_superfluous_download_held_back_are_removed(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr", 0)
    world.look_only("hrrr", "scan_source", "ingest_grib", "build_tile")
    world.store.jobs.enqueue(ingest_job("hrrr", world.stock.run, 0, live=True))
    Ticker(world.store, 60.0, world.settings.model_dump(mode="json")).tick(10, ["publish"])
    assert world.spooled()
    world.work()
    assert not world.spooled()


def test_hour_fetched_again_for_one_region_keeps_the_others(new_world: NewWorld) -> None:
    world = new_world(chain={"regions": ["ne"]})
    world.publish("hrrr", 0)
    world.look("hrrr")
    world.store.jobs.enqueue(ingest_job("hrrr", world.stock.run, 0, live=False, regions=("texas",)))
    world.work()
    assert world.hours("hrrr")[0].regions == ("ne", "texas")
    assert world.hours("hrrr")[0].state == "built"


def test_region_that_is_gone_from_the_settings_does_not_hold_up_the_hour(new_world: NewWorld) -> None:
    own = {"lake": {"box": [-80.0, 41.0, -76.0, 44.0]}}
    world = new_world(chain={"regions": ["ne", "lake"]}, changes={"regions": own})
    world.publish("hrrr")
    world.look_only("hrrr", "scan_source", "ingest_grib")
    world.chain, world.changes = {"regions": ["ne"]}, {}
    ran = world.work()
    errors = [one.outcome.error for one in ran if isinstance(one.outcome, Failed)]
    assert errors == ["there is no region 'lake' in these settings"] * 3
    assert world.complete("hrrr")
    assert not world.spooled()


def test_model_that_is_gone_from_the_settings_fails_clearly(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr", 0)
    world.changes = {"models": {"mine": {"like": "hrrr"}}}
    world.store.jobs.enqueue(scan_job("mine"))
    world.changes = {}
    (ran,) = world.work()
    assert isinstance(ran.outcome, Failed)
    assert ran.outcome.permanent
    assert "there is no model 'mine' in these settings" in ran.outcome.error


def test_model_beyond_all_regions_is_not_fetched(new_world: NewWorld) -> None:
    world = new_world(chain={"regions": ["europe"]})
    world.publish("hrrr")
    (scan,) = world.look("hrrr")
    assert isinstance(scan.outcome, Succeeded)
    assert "reaches none of the regions" in (scan.outcome.skipped or "")
    assert not world.server.seen


def test_file_that_reaches_no_region_is_whole_without_tiles(new_world: NewWorld) -> None:
    """Where a model's grid is not known beforehand, its first file tells."""
    world = new_world(chain={"regions": ["europe"]})
    models = world.settings.model_dump()["models"]
    models["hrrr"]["like"], models["hrrr"]["title"] = "hrrr", "without a grid"
    models["nogrid"] = {**models["hrrr"], "grid": None}
    world.changes = {"models": models}
    world.publish("hrrr")
    world.look("nogrid")
    assert world.complete("nogrid"), world.troubles()
    assert not world.tiles()
    assert not world.spooled()
    before = len(world.jobs())
    world.look("nogrid")
    assert len(world.jobs()) == before + 1


def _move_grid(world: World, hour: int, mirror: str) -> None:
    """That file of a mirror, on a grid 110 degrees further east."""
    place = world.folder / f"{mirror}{world.stock.hours['hrrr', hour].key[3:]}"
    data = bytearray(place.read_bytes())
    at = 0
    while at < len(data):
        end, section = at + int.from_bytes(data[at + 8 : at + 16], "big") - 4, at + 16
        while section < end:
            if data[section + 4] == 3:
                for angle in (section + 42, section + 51):  # of the first point, and of the cone's meridian
                    east = (int.from_bytes(data[angle : angle + 4], "big") + 110_000_000) % 360_000_000
                    data[angle : angle + 4] = east.to_bytes(4, "big")
            section += int.from_bytes(data[section : section + 4], "big")
        at = end + 4
    place.unlink()  # The stock has it, too.
    place.write_bytes(data)


def test_a_file_on_a_wrong_grid_is_fetched_from_the_next_mirror(
    new_world: NewWorld, reference: dict[str, bytes]
) -> None:
    world = new_world()
    world.publish("hrrr")
    _move_grid(world, 1, "aws")
    world.look("hrrr")
    assert world.complete("hrrr"), world.troubles()
    assert set(world.tiles()) == set(of_model(reference, "hrrr"))
    assert "/gcs-hrrr/" in source_of(world.tile("hrrr", "ne", 1).read_bytes())["url"]


def test_hour_on_a_wrong_grid_is_never_done(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr")
    for mirror in MIRRORS:
        _move_grid(world, 1, mirror)
    world.look("hrrr")
    assert not world.complete("hrrr")
    assert world.hours("hrrr")[1].state == "published"
    said = "the file's grid does not reach ne, texas, which the grid of hrrr (hrrr) does"
    assert [one for one in world.troubles() if said in one]
    world.assert_sound()


def test_region_added_later_is_not_cut_from_a_file_that_misses_it(new_world: NewWorld) -> None:
    world = new_world(chain={"keep_grib": True})
    world.publish("hrrr", 0)
    world.look("hrrr")
    (kept,) = [path for path in world.spooled() if path.name == "000.grib2"]
    _move_grid(world, 0, "aws")
    kept.write_bytes((world.folder / f"aws{world.stock.hours['hrrr', 0].key[3:]}").read_bytes())
    world.chain = {"keep_grib": True, "regions": ["ne", "texas", "california"]}
    world.look("hrrr")
    assert [one for one in world.troubles() if "does not reach california, ne, texas" in one]
    while world.hurry("ingest_grib"):
        world.work()
    assert world.tile("hrrr", "california", 0).is_file(), world.troubles()


def test_a_worker_without_regions_does_not_complete_the_hour(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr", 0)
    world.look_only("hrrr", "scan_source")
    world.chain = {"regions": []}
    (ran,) = world.work()
    assert isinstance(ran.outcome, Failed)
    assert not ran.outcome.permanent
    assert "no region is named" in ran.outcome.error
    assert world.hours("hrrr")[0].state == "published"
