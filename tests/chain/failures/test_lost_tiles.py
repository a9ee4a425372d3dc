"""A lost or damaged tile is never shown as complete, and is restored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gribmill.catalogue.events import parse_event
from gribmill.queue.model import Succeeded
from gribmill.queue.worker.in_process import TickedJob
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model

HOUR = 1


@pytest.fixture
def chain(new_chain: NewChain) -> ChainDriver:
    """A complete run."""
    chain = new_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    return chain


def lose(chain: ChainDriver, how: str, hour: int = HOUR) -> Path:
    tile = chain.tile("hrrr", "ne", hour)
    if how == "removed":
        tile.unlink()
    else:
        tile.write_bytes(b"" if how == "emptied" else tile.read_bytes()[:-7])
    return tile


def run_of(chain: ChainDriver) -> dict[str, Any]:
    (model,) = json.loads(chain.command("status", "hrrr", "--json").stdout)
    found: dict[str, Any] = next(run for run in model["runs"] if run["run_id"] == chain.run_id)
    return {**found, "complete_of": model["complete"]}


def ran(outcomes: list[TickedJob], kind: str) -> list[TickedJob]:
    return [one for one in outcomes if one.job.type == kind]


@pytest.mark.parametrize("how", ["removed", "emptied", "truncated"])
def test_status_shows_a_lost_tile_at_once(chain: ChainDriver, how: str) -> None:
    assert run_of(chain)["state"] == "complete"
    lose(chain, how)
    run = run_of(chain)
    assert run["state"] == "incomplete"
    (missing,) = run["missing"]
    assert (missing["hour"], missing["reason"], missing["regions"]) == (HOUR, "tile lost or damaged", ["ne"])
    assert run["tiles"] == run["tiles_expected"] - 1
    assert run["complete_of"] == {"ne": None, "texas": chain.run_id}


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_scan_brings_a_lost_tile_back(chain: ChainDriver, reference: dict[str, bytes], how: str) -> None:
    lose(chain, how)
    chain.look("hrrr", chain.run_id)
    assert chain.tiles() == of_model(reference, "hrrr")
    assert run_of(chain)["state"] == "complete"
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled()
    chain.assert_sound()


def test_latest_json_omits_a_run_until_its_lost_tile_is_restored(
    chain: ChainDriver,
) -> None:
    lose(chain, "removed")
    chain.look_only("hrrr", "scan_source", "publish")
    assert chain.latest("hrrr")["ne"] == {"newest": chain.run_id, "complete": None}
    assert chain.latest("hrrr")["texas"]["complete"] == chain.run_id
    assert chain.hours("hrrr")[HOUR].state == "ingested"
    chain.work()
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id


def test_retry_of_a_tile_without_messages_ends(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    tile = lose(chain, "removed")
    job = next(
        job for job in chain.jobs(type_key="build_tile") if (job.args["region"], job.args["hour"]) == ("ne", HOUR)
    )
    chain.store.jobs.retry(job.id)
    outcomes = chain.work()
    assert tile.read_bytes() == of_model(reference, "hrrr")[str(tile.relative_to(chain.data))]
    assert len(ran(outcomes, "ingest_grib")) == 1
    assert not chain.jobs("pending")


def test_ingest_does_not_accept_an_empty_file_as_a_tile(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    lose(chain, "emptied")
    args = json.dumps({"model_id": "hrrr", "run_id": chain.run_id, "hour": HOUR})
    assert chain.command("jobs", "enqueue", "ingest_grib", args).returncode == 0
    (ingest,) = ran(chain.work(), "ingest_grib")
    assert isinstance(ingest.outcome, Succeeded) and ingest.outcome.skipped is None
    assert chain.tiles() == of_model(reference, "hrrr")


def test_backfill_fetches_what_is_lost(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    words = ("backfill", "hrrr", "--from", chain.run_id, "--to", chain.run_id)
    assert "nothing to fetch" in chain.command(*words).stdout
    lose(chain, "removed")
    assert chain.command(*words).returncode == 0
    chain.work()
    assert chain.tiles() == of_model(reference, "hrrr")


def test_tile_built_since_the_scan_is_not_lost(chain: ChainDriver) -> None:
    """A scan reads the catalogue, then the tile is built again, then the scan's result is recorded."""
    lose(chain, "removed")
    outcomes = chain.look("hrrr", chain.run_id)
    (scan,) = ran(outcomes, "scan_source")
    assert isinstance(scan.outcome, Succeeded)
    (late,) = [effect for effect in scan.outcome.also if effect.kind == "tiles_lost"]
    chain.context.catalogue.record([parse_event(late.kind, late.payload)])
    assert run_of(chain)["state"] == "complete"
