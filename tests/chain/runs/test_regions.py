"""The regions for which an hour is built, even when regions change."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable

import pytest

from gribmill.grib.messages import MessageHeader
from gribmill.identity import HourRef
from gribmill.pipeline.handlers.ingest_grib import RequestedHour
from gribmill.pipeline.job_types import ingest_job, publish_job, scan_job
from gribmill.queue.model import Failed, Succeeded
from gribmill.queue.worker.in_process import Ticker
from tests.chain.chain_driver import ChainDriver
from tests.chain.compare_tiles import source_of
from tests.chain.conftest import NewChain, of_model
from tests.chain.sample_forecasts import MIRRORS


@pytest.mark.parametrize("kept", [True, False])
def test_region_added_later_gets_its_tiles(new_chain: NewChain, reference: dict[str, bytes], kept: bool) -> None:
    """From the kept messages if there are any; otherwise they are fetched again."""
    chain = new_chain(chain={"regions": ["ne"], "keep_grib": kept})
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr")
    assert len(chain.spooled()) == (3 if kept else 0)
    chain.server.seen.clear()
    chain.chain = {"regions": ["ne", "texas"], "keep_grib": kept}
    chain.look("hrrr")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert bool(chain.fetched()) is not kept
    assert chain.latest("hrrr")["texas"]["complete"] == chain.run_id
    assert len(chain.spooled()) == (3 if kept else 0)
    assert chain.hours("hrrr")[0].regions == ("ne", "texas")
    before = len(chain.jobs())
    chain.look("hrrr")
    assert len(chain.jobs()) == before + 1, "the scan alone: nothing is asked for again"
    chain.assert_sound()


def test_messages_fetched_again_stay_until_their_tiles_are_requested(
    new_chain: NewChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the download and the end of its job, the hour is still built for the previous regions."""
    chain = new_chain(chain={"regions": ["ne"]})
    chain.publish("hrrr")
    chain.look("hrrr")
    chain.server.seen.clear()
    chain.chain = {"regions": ["ne", "texas"]}
    reached = RequestedHour.reached_by

    def published_meanwhile(request: RequestedHour, messages: Iterable[MessageHeader]) -> list[str]:
        chain.store.jobs.enqueue(publish_job(HourRef("hrrr", chain.run_id, 0)))
        Ticker(chain.store, 60.0, chain.settings.model_dump(mode="json")).tick(1, ["publish"])
        return reached(request, messages)

    monkeypatch.setattr(RequestedHour, "reached_by", published_meanwhile)
    ran = chain.look("hrrr")
    assert all(isinstance(one.outcome, Succeeded) for one in ran), chain.troubles()
    assert chain.latest("hrrr")["texas"]["complete"] == chain.run_id
    assert not chain.spooled()


def test_messages_that_a_superfluous_download_held_back_are_removed(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr", 0)
    chain.look_only("hrrr", "scan_source", "ingest_grib", "build_tile")
    chain.store.jobs.enqueue(ingest_job(HourRef("hrrr", chain.run_id, 0), live=True))
    Ticker(chain.store, 60.0, chain.settings.model_dump(mode="json")).tick(10, ["publish"])
    assert chain.spooled()
    chain.work()
    assert not chain.spooled()


def test_hour_fetched_again_for_one_region_keeps_the_others(new_chain: NewChain) -> None:
    chain = new_chain(chain={"regions": ["ne"]})
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    chain.store.jobs.enqueue(ingest_job(HourRef("hrrr", chain.run_id, 0), live=False, regions=("texas",)))
    chain.work()
    assert chain.hours("hrrr")[0].regions == ("ne", "texas")
    assert chain.hours("hrrr")[0].state == "built"


def test_region_removed_from_the_settings_does_not_delay_the_hour(new_chain: NewChain) -> None:
    own = {"lake": {"box": [-80.0, 41.0, -76.0, 44.0]}}
    chain = new_chain(chain={"regions": ["ne", "lake"]}, changes={"regions": own})
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    chain.chain, chain.changes = {"regions": ["ne"]}, {}
    ran = chain.work()
    errors = [one.outcome.error for one in ran if isinstance(one.outcome, Failed)]
    assert errors == ["there is no region 'lake' in these settings"] * 3
    assert chain.complete("hrrr")
    assert not chain.spooled()


def test_model_removed_from_the_settings_fails_clearly(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr", 0)
    chain.changes = {"models": {"mine": {"like": "hrrr"}}}
    chain.store.jobs.enqueue(scan_job("mine"))
    chain.changes = {}
    (ran,) = chain.work()
    assert isinstance(ran.outcome, Failed)
    assert ran.outcome.permanent
    assert "there is no model 'mine' in these settings" in ran.outcome.error


def test_model_beyond_all_regions_is_not_fetched(new_chain: NewChain) -> None:
    chain = new_chain(chain={"regions": ["europe"]})
    chain.publish("hrrr")
    (scan,) = chain.look("hrrr")
    assert isinstance(scan.outcome, Succeeded)
    assert "reaches none of the regions" in (scan.outcome.skipped or "")
    assert not chain.server.seen


def test_file_outside_all_regions_is_complete_without_tiles(new_chain: NewChain) -> None:
    """A model's grid that is not known in advance is read from the first file."""
    chain = new_chain(chain={"regions": ["europe"]})
    models = chain.settings.model_dump()["models"]
    models["hrrr"]["like"], models["hrrr"]["title"] = "hrrr", "without a grid"
    models["nogrid"] = {**models["hrrr"], "grid": None}
    chain.changes = {"models": models}
    chain.publish("hrrr")
    chain.look("nogrid")
    assert chain.complete("nogrid"), chain.troubles()
    assert not chain.tiles()
    assert not chain.spooled()
    before = len(chain.jobs())
    chain.look("nogrid")
    assert len(chain.jobs()) == before + 1


def _move_grid(chain: ChainDriver, hour: int, mirror: str) -> None:
    """That file of a mirror, on a grid 110 degrees further east."""
    place = chain.folder / f"{mirror}{chain.forecasts.hours['hrrr', hour].key[3:]}"
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
    place.unlink()  # a hard link: the original stays
    place.write_bytes(data)


def test_a_file_on_a_wrong_grid_is_fetched_from_the_next_mirror(
    new_chain: NewChain, reference: dict[str, bytes]
) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    _move_grid(chain, 1, "aws")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    assert set(chain.tiles()) == set(of_model(reference, "hrrr"))
    assert "/gcs-hrrr/" in source_of(chain.tile("hrrr", "ne", 1).read_bytes())["url"]


def test_hour_on_a_wrong_grid_is_never_complete(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    for mirror in MIRRORS:
        _move_grid(chain, 1, mirror)
    chain.look("hrrr")
    assert not chain.complete("hrrr")
    assert chain.hours("hrrr")[1].state == "published"
    said = "the file's grid does not reach ne, texas, which the grid of hrrr (hrrr) does"
    assert [one for one in chain.troubles() if said in one]
    chain.assert_sound()


def test_region_added_later_is_not_cut_from_a_file_that_misses_it(new_chain: NewChain) -> None:
    chain = new_chain(chain={"keep_grib": True})
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    (kept,) = [path for path in chain.spooled() if path.name == "000.g1.grib2"]
    _move_grid(chain, 0, "aws")
    kept.write_bytes((chain.folder / f"aws{chain.forecasts.hours['hrrr', 0].key[3:]}").read_bytes())
    with contextlib.closing(sqlite3.connect(chain.data / "jobs.db")) as rows, rows:
        rows.execute("UPDATE hours SET bytes = ?", (kept.stat().st_size,))
    os.utime(kept, (0, 0))  # as if it had been downloaded so
    chain.chain = {"keep_grib": True, "regions": ["ne", "texas", "california"]}
    chain.look("hrrr")
    assert [one for one in chain.troubles() if "does not reach california, ne, texas" in one]
    while chain.hurry("ingest_grib"):
        chain.work()
    assert chain.tile("hrrr", "california", 0).is_file(), chain.troubles()


def test_kept_file_that_differs_from_its_record_is_fetched_again(new_chain: NewChain) -> None:
    chain = new_chain(chain={"keep_grib": True})
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    (kept,) = [path for path in chain.spooled() if path.name == "000.g1.grib2"]
    before = kept.read_bytes()
    kept.write_bytes(before[::-1])
    chain.chain = {"keep_grib": True, "regions": ["ne", "texas", "california"]}
    chain.look("hrrr")
    assert kept.read_bytes() == before
    assert chain.tile("hrrr", "california", 0).is_file(), chain.troubles()
    assert chain.hours("hrrr")[0].generation == 1, "the content is the same"


def test_a_worker_without_regions_does_not_complete_the_hour(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr", 0)
    chain.look_only("hrrr", "scan_source")
    chain.chain = {"regions": []}
    (ran,) = chain.work()
    assert isinstance(ran.outcome, Failed)
    assert not ran.outcome.permanent
    assert "no region is named" in ran.outcome.error
    assert chain.hours("hrrr")[0].state == "published"
