"""Failing publishers: correct tiles or a clear failure, never wrong or partial tiles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gribmill.queue.model import Failed, Snoozed
from gribmill.sandbox.publisher.fault import Fault, FaultKind
from gribmill.sandbox.publisher.faults import Faults
from tests.chain.chain_driver import ChainDriver
from tests.chain.compare_tiles import same_weather, source_of
from tests.chain.conftest import NewChain, of_model

PASSING: tuple[FaultKind, ...] = ("500", "cut", "flip", "vanish")
KINDS: tuple[FaultKind, ...] = ("truncate", "stale-idx", "500", "flip", "vanish", "replace", "cut")


def faulty(kind: FaultKind, keys: str, times: int | None = None) -> Faults:
    return Faults([Fault(kind, keys=keys, times=times)], seed=3)


def at_hour(tiles: dict[str, bytes], hour: int) -> dict[str, bytes]:
    return {place: data for place, data in tiles.items() if place.endswith((f"/{hour:03d}.npz", "/grid.npz"))}


def settle(chain: ChainDriver) -> None:
    """Let time pass: run delayed retries a few times."""
    for _ in range(6):
        if not chain.hurry("ingest_grib", "build_tile"):
            return
        chain.work()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_other_mirror_is_used_when_one_fails(new_chain: NewChain, reference: dict[str, bytes], kind: FaultKind) -> None:
    chain = new_chain(faults=faulty(kind, "aws-hrrr/*"))
    chain.publish("hrrr")
    chain.look("hrrr")
    settle(chain)
    assert chain.complete("hrrr")
    assert same_weather(chain.tiles(), of_model(reference, "hrrr"))
    chain.assert_sound()
    assert not chain.spooled()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_faults_of_all_mirrors_produce_no_wrong_tile(
    new_chain: NewChain, reference: dict[str, bytes], kind: FaultKind
) -> None:
    chain = new_chain(faults=faulty(kind, "*-gfs/*"))
    chain.publish("gfs", 0)
    ran = chain.look("gfs")
    ingests = [one for one in ran if one.job.type == "ingest_grib"]
    if chain.tiles():
        assert same_weather(chain.tiles(), at_hour(of_model(reference, "gfs"), 0))
    else:
        assert len(ingests) == 1
        outcome = ingests[0].outcome
        assert isinstance(outcome, Failed | Snoozed)
        reason = outcome.error if isinstance(outcome, Failed) else outcome.reason
        assert "aws-gfs" in reason
        assert "gcs-gfs" in reason
        assert chain.hours("gfs")[0].state == "published"
        assert not [path for path in chain.spooled() if not path.name.startswith(".")]


@pytest.mark.parametrize("kind", PASSING)
def test_temporary_fault_leaves_identical_tiles(
    new_chain: NewChain, reference: dict[str, bytes], kind: FaultKind
) -> None:
    """The only mirror fails at first; once it recovers, the tiles equal those of an undisturbed run."""
    chain = new_chain(faults=faulty(kind, "*-hrrr/*grib2*", times=1))
    chain.publish("hrrr", 0, mirrors=("aws",))
    chain.look("hrrr")
    settle(chain)
    assert chain.tiles() == at_hour(of_model(reference, "hrrr"), 0)
    chain.assert_sound()


@pytest.mark.slow
def test_slow_mirror_gives_the_same_tiles(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain(faults=faulty("slow", "aws-ecmwf/*-3h-*"))
    chain.publish("ifs")
    chain.look("ifs")
    assert chain.complete("ifs")
    assert chain.tiles() == of_model(reference, "ifs")


def test_flipped_bit_without_checksums_never_breaks_the_queue_or_leaves_half_a_tile(
    new_chain: NewChain, reference: dict[str, bytes]
) -> None:
    """A bit among packed values cannot be found without a checksum, so the values are not compared here."""
    chain = new_chain(faults=faulty("flip", "aws-gfs/*"), digests=False)
    chain.publish("gfs", 0)
    chain.look("gfs")
    settle(chain)
    assert set(chain.tiles()) <= set(of_model(reference, "gfs"))
    chain.assert_sound()


def test_failing_mirror_is_remembered_and_skipped(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain(faults=faulty("500", "aws-hrrr/*"))
    chain.publish("hrrr")
    chain.look("hrrr")
    assert all(source_of(data)["url"].split("/")[3] == "gcs-hrrr" for place, data in tiles_only(chain).items())
    said = chain.command("status", "hrrr", "--json")
    mirrors = {one["name"]: one for one in json.loads(said.stdout)[0]["mirrors"]}
    assert mirrors["aws-hrrr"]["state"] == "sick"
    assert mirrors["aws-hrrr"]["failures"] >= 3
    assert "500" in mirrors["aws-hrrr"]["last_reason"]
    assert mirrors["gcs-hrrr"]["state"] == "well"
    assert "mirror aws-hrrr sick" in chain.command("status", "hrrr").stdout
    chain.server.seen.clear()
    chain.publish("hrrr_subh.m15")
    chain.look("hrrr_subh.m15")
    assert chain.complete("hrrr_subh.m15")
    assert not [one for one in chain.server.seen if one.key.startswith("aws-hrrr")]
    assert same_weather(chain.tiles(), of_model(reference, "hrrr", "hrrr_subh.m15"))


def tiles_only(chain: ChainDriver) -> dict[str, bytes]:
    return {place: data for place, data in chain.tiles().items() if not place.endswith("grid.npz")}


def test_permanently_failed_file_is_not_fetched_repeatedly(new_chain: NewChain) -> None:
    chain = new_chain(changes={})
    chain.publish("hrrr", 0)
    for mirror in ("aws", "gcs"):
        made = chain.forecasts.hours["hrrr", 1]
        other = chain.forecasts.hours["hrrr", 0]
        place = chain.folder / f"{mirror}{made.key[3:]}"
        # Another hour's file under this hour's name: valid, but without wanted messages.
        place.write_bytes((chain.forecasts.folder / other.key).read_bytes())
        place.with_name(f"{place.name}.idx").write_bytes((chain.forecasts.folder / f"{other.key}.idx").read_bytes())
    chain.look("hrrr")
    settle(chain)
    failed = [job for job in chain.jobs("failed") if job.type == "ingest_grib"]
    chain.look("hrrr")
    settle(chain)
    assert [job for job in chain.jobs("failed") if job.type == "ingest_grib"] == failed
    assert chain.hours("hrrr")[1].error
    assert not chain.tile("hrrr", "ne", 1).exists()
    reasons = {one["hour"]: one["reason"] for one in status(chain)["runs"][0]["missing"]}
    assert reasons[1] == "download failed"
    chain.look("hrrr", chain.run_id)
    assert len([job for job in chain.jobs() if job.type == "ingest_grib" and job.args["hour"] == 1]) == 2


def status(chain: ChainDriver) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(chain.command("status", "hrrr", "--json").stdout)[0]
    return found


def test_an_unlisted_file_is_requested_less_often(new_chain: NewChain) -> None:
    chain = new_chain(faults=faulty("vanish", "*-hrrr/*"))
    chain.publish("hrrr", 0)
    hour = (chain.run_id, "--to", chain.run_id, "--hours", "0")
    assert chain.command("backfill", "hrrr", "--from", *hour).returncode == 0
    (unseen,) = [one.outcome for one in chain.work()]
    chain.look_only("hrrr", "scan_source")
    chain.hurry("ingest_grib")
    (listed,) = [one.outcome for one in chain.work() if one.job.type == "ingest_grib"]
    assert isinstance(unseen, Snoozed) and isinstance(listed, Snoozed)
    assert (unseen.seconds, listed.seconds) == (600.0, 60.0)
