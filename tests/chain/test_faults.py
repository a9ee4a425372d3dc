"""A sick publisher: the right tiles or a clear failure, never a wrong or a partial one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gribmill.queue.model import Failed, Snoozed
from gribmill.sandbox.publisher.fault import Fault, Kind
from gribmill.sandbox.publisher.faults import Faults
from tests.chain.chain_driver import World
from tests.chain.compare_tiles import same_weather, source_of
from tests.chain.conftest import NewWorld, of_model

PASSING: tuple[Kind, ...] = ("500", "cut", "flip", "vanish")
KINDS: tuple[Kind, ...] = ("truncate", "stale-idx", "500", "flip", "vanish", "replace", "cut")


def faulty(kind: Kind, keys: str, times: int | None = None) -> Faults:
    return Faults([Fault(kind, keys=keys, times=times)], seed=3)


def at_hour(tiles: dict[str, bytes], hour: int) -> dict[str, bytes]:
    return {place: data for place, data in tiles.items() if place.endswith((f"/{hour:03d}.npz", "/grid.npz"))}


def settle(world: World) -> None:
    """As time goes by: what waits for its next try gets it, a few times."""
    for _ in range(6):
        if not world.hurry("ingest_grib", "build_tile"):
            return
        world.work()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_fault_of_one_mirror_leaves_the_other(new_world: NewWorld, reference: dict[str, bytes], kind: Kind) -> None:
    world = new_world(faults=faulty(kind, "aws-hrrr/*"))
    world.publish("hrrr")
    world.look("hrrr")
    settle(world)
    assert world.complete("hrrr")
    assert same_weather(world.tiles(), of_model(reference, "hrrr"))
    world.assert_sound()
    assert not world.spooled()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_fault_of_all_mirrors_makes_no_wrong_tile(new_world: NewWorld, reference: dict[str, bytes], kind: Kind) -> None:
    world = new_world(faults=faulty(kind, "*-gfs/*"))
    world.publish("gfs", 0)
    ran = world.look("gfs")
    ingests = [one for one in ran if one.job.type == "ingest_grib"]
    if world.tiles():
        assert same_weather(world.tiles(), at_hour(of_model(reference, "gfs"), 0))
    else:
        assert len(ingests) == 1
        outcome = ingests[0].outcome
        assert isinstance(outcome, Failed | Snoozed)
        reason = outcome.error if isinstance(outcome, Failed) else outcome.reason
        assert "aws-gfs" in reason
        assert "gcs-gfs" in reason
        assert world.hours("gfs")[0].state == "published"
        assert not [path for path in world.spooled() if not path.name.startswith(".")]


@pytest.mark.parametrize("kind", PASSING)
def test_passing_fault_is_overcome_byte_by_byte(new_world: NewWorld, reference: dict[str, bytes], kind: Kind) -> None:
    """The only mirror fails at first; the tiles are those of an undisturbed run once it is well."""
    world = new_world(faults=faulty(kind, "*-hrrr/*grib2*", times=1))
    world.publish("hrrr", 0, mirrors=("aws",))
    world.look("hrrr")
    settle(world)
    assert world.tiles() == at_hour(of_model(reference, "hrrr"), 0)
    world.assert_sound()


@pytest.mark.slow
def test_slow_mirror_gives_the_same_tiles(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world(faults=faulty("slow", "aws-ecmwf/*-3h-*"))
    world.publish("ifs")
    world.look("ifs")
    assert world.complete("ifs")
    assert world.tiles() == of_model(reference, "ifs")


def test_flipped_bit_without_checksums_never_breaks_the_queue_or_leaves_half_a_tile(
    new_world: NewWorld, reference: dict[str, bytes]
) -> None:
    """A bit among packed values cannot be found without a checksum, so the values are not compared here."""
    world = new_world(faults=faulty("flip", "aws-gfs/*"), digests=False)
    world.publish("gfs", 0)
    world.look("gfs")
    settle(world)
    assert set(world.tiles()) <= set(of_model(reference, "gfs"))
    world.assert_sound()


def test_a_failing_mirror_is_remembered_and_not_asked(new_world: NewWorld, reference: dict[str, bytes]) -> None:
    world = new_world(faults=faulty("500", "aws-hrrr/*"))
    world.publish("hrrr")
    world.look("hrrr")
    assert all(source_of(data)["url"].split("/")[3] == "gcs-hrrr" for place, data in tiles_only(world).items())
    said = world.command("status", "hrrr", "--json")
    mirrors = {one["name"]: one for one in json.loads(said.stdout)[0]["mirrors"]}
    assert mirrors["aws-hrrr"]["state"] == "sick"
    assert mirrors["aws-hrrr"]["failures"] >= 3
    assert "500" in mirrors["aws-hrrr"]["last_reason"]
    assert mirrors["gcs-hrrr"]["state"] == "well"
    assert "mirror aws-hrrr sick" in world.command("status", "hrrr").stdout
    world.server.seen.clear()
    world.publish("hrrr_subh.m15")
    world.look("hrrr_subh.m15")
    assert world.complete("hrrr_subh.m15")
    assert not [one for one in world.server.seen if one.key.startswith("aws-hrrr")]
    assert same_weather(world.tiles(), of_model(reference, "hrrr", "hrrr_subh.m15"))


def tiles_only(world: World) -> dict[str, bytes]:
    return {place: data for place, data in world.tiles().items() if not place.endswith("grid.npz")}


def test_file_that_failed_for_good_is_not_fetched_again_and_again(new_world: NewWorld) -> None:
    world = new_world(changes={})
    world.publish("hrrr", 0)
    for mirror in ("aws", "gcs"):
        made = world.stock.hours["hrrr", 1]
        other = world.stock.hours["hrrr", 0]
        place = world.folder / f"{mirror}{made.key[3:]}"
        # The file of another hour under this hour's name: sound, and nothing of it is wanted.
        place.write_bytes((world.stock.folder / other.key).read_bytes())
        place.with_name(f"{place.name}.idx").write_bytes((world.stock.folder / f"{other.key}.idx").read_bytes())
    world.look("hrrr")
    settle(world)
    failed = [job for job in world.jobs("failed") if job.type == "ingest_grib"]
    world.look("hrrr")
    settle(world)
    assert [job for job in world.jobs("failed") if job.type == "ingest_grib"] == failed
    assert world.hours("hrrr")[1].error
    assert not world.tile("hrrr", "ne", 1).exists()
    reasons = {one["hour"]: one["reason"] for one in status(world)["runs"][0]["missing"]}
    assert reasons[1] == "download failed"
    world.look("hrrr", world.run_id)
    assert len([job for job in world.jobs() if job.type == "ingest_grib" and job.args.count('"hour":1')]) == 2


def status(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.command("status", "hrrr", "--json").stdout)[0]
    return found


def test_an_unlisted_file_is_requested_less_often(new_world: NewWorld) -> None:
    world = new_world(faults=faulty("vanish", "*-hrrr/*"))
    world.publish("hrrr", 0)
    hour = (world.run_id, "--to", world.run_id, "--hours", "0")
    assert world.command("backfill", "hrrr", "--from", *hour).returncode == 0
    (unseen,) = [one.outcome for one in world.work()]
    world.look_only("hrrr", "scan_source")
    world.hurry("ingest_grib")
    (listed,) = [one.outcome for one in world.work() if one.job.type == "ingest_grib"]
    assert isinstance(unseen, Snoozed) and isinstance(listed, Snoozed)
    assert (unseen.seconds, listed.seconds) == (600.0, 60.0)
