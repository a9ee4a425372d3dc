"""Runs arrive hour by hour, and tiles are built as they do."""

from __future__ import annotations

from gribmill.queue.model import Snoozed, Succeeded
from gribmill.sandbox.publisher.fault import Fault
from gribmill.sandbox.publisher.faults import Faults
from tests.chain.conftest import NewChain, of_model
from tests.chain.sample_forecasts import IDS

REGIONS = ("ne", "texas")


def test_every_kind_of_model_becomes_complete(reference: dict[str, bytes]) -> None:
    assert {place.split("/")[1] for place in reference} == set(IDS)
    for region in REGIONS:
        for model_id in IDS:
            assert any(place.startswith(f"tiles/{model_id}/") and f"/{region}/" in place for place in reference)


def test_each_hour_is_finished_before_the_next_is_fetched(new_chain: NewChain) -> None:
    """A built hour is published and its spool file removed, however many downloads are waiting."""
    chain = new_chain()
    chain.publish("hrrr")
    ran = chain.look("hrrr")
    one_hour = ["ingest_grib", "build_tile", "build_tile", "publish"]
    assert [one.job.type for one in ran] == ["scan_source", *one_hour * 3]


def test_metadata_seen_by_the_scan_is_not_requested_again(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    assert not [one.key for one in chain.server.seen if one.method == "HEAD"]
    assert chain.tiles() == of_model(reference, "hrrr")


def test_file_replaced_after_the_scan_is_used_in_its_new_version(
    new_chain: NewChain, reference: dict[str, bytes]
) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source")
    files = [path for path in chain.folder.rglob("*.grib2") if path.is_file()]
    assert files
    for place in files:
        content = place.read_bytes() + b"\0" * 64
        place.unlink()  # the original file stays
        place.write_bytes(content)
    chain.work()
    assert [one.status for one in chain.server.seen if one.status == 412]
    assert chain.tiles().keys() == of_model(reference, "hrrr").keys()
    chain.assert_sound()


def test_complete_run_is_not_scanned_again(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look("hrrr")
    chain.server.seen.clear()
    (scan,) = chain.look("hrrr")
    assert scan.outcome == Succeeded()
    assert not chain.server.seen, "a whole run is not even listed"


def test_missing_messages_are_fetched_again_for_all_waiting_tiles(
    new_chain: NewChain, reference: dict[str, bytes]
) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    for path in chain.spooled():
        path.unlink()
    chain.work()
    for _ in range(3):
        chain.hurry("build_tile", "ingest_grib")
        chain.work()
    assert chain.tiles() == of_model(reference, "hrrr")
    ingests = [job for job in chain.jobs() if job.type == "ingest_grib"]
    assert len(ingests) == 6, "once more for each hour, not for each tile"
    assert not chain.spooled()
    chain.assert_sound()


def test_hours_are_processed_as_they_are_published(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    chain = new_chain()
    chain.folder.joinpath("aws-hrrr").mkdir(parents=True)
    (scan,) = chain.look("hrrr")
    assert isinstance(scan.outcome, Snoozed)
    assert "0 of 3 hours" in scan.outcome.reason
    for hour in (0, 1):
        chain.publish("hrrr", hour)
        scan, *rest = chain.look("hrrr")
        assert isinstance(scan.outcome, Snoozed)
        assert [job.args["hour"] for job in scan.outcome.then] == [hour]
        assert len(rest) == 4  # ingest, two tiles, publish
        assert chain.tile("hrrr", "ne", hour).is_file()
        assert chain.latest("hrrr") == {name: {"newest": chain.run_id, "complete": None} for name in REGIONS}
        assert not chain.spooled()
    chain.publish("hrrr", 2)
    scan, *_ = chain.look("hrrr")
    assert isinstance(scan.outcome, Succeeded)
    assert chain.complete("hrrr")
    assert chain.latest("hrrr") == {name: {"newest": chain.run_id, "complete": chain.run_id} for name in REGIONS}
    assert chain.tiles() == of_model(reference, "hrrr")
    chain.assert_sound()


def test_attempts_are_metered_with_bytes_downloaded_and_written(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.store.events.record("attempt.metered", wanted=True)
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    metered = [event.values for event in chain.store.events.list(pattern="attempt.metered", limit=100)]
    received = sum(one["downloaded_bytes"] or 0 for one in metered)
    (ingest,) = (one for one in metered if one["type"] == "ingest_grib")
    hour = chain.hours("hrrr")[0]
    assert received == ingest["downloaded_bytes"] == hour.requested_bytes
    assert ingest["written_bytes"] == hour.bytes
    tiles = [one["written_bytes"] for one in metered if one["type"] == "build_tile"]
    written = [len(data) for place, data in chain.tiles("hrrr").items() if not place.endswith("grid.npz")]
    assert sorted(tiles) == sorted(written)
    shown = chain.command("jobs", "show", str(ingest["job_id"])).stdout
    assert "bytes downloaded" in shown and ", wrote" in shown


def test_failed_download_is_metered_with_the_bytes_received(new_chain: NewChain) -> None:
    chain = new_chain(faults=Faults([Fault("truncate", keys="*hrrr*.grib2")], seed=3))
    chain.publish("hrrr", 0)
    chain.look("hrrr")
    (job,) = (job for job in chain.jobs() if job.type == "ingest_grib")
    attempt = chain.store.jobs.history(job.id).attempts[0]
    assert attempt.status in ("failed", "snoozed")
    assert (attempt.downloaded_bytes or 0) > 0
    assert attempt.written_bytes == 0
