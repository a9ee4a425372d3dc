"""What a scan concludes, at moments that the test chooses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gribmill.catalogue.events import HourSeen, MirrorObserved, parse_event
from gribmill.identity import RunRef
from gribmill.pipeline.handlers.scan_source import Scan
from gribmill.queue.model import Failed, Outcome, Snoozed, Succeeded
from gribmill.queue.worker.task import PermanentFailure
from gribmill.sandbox.publisher.fault import Fault
from gribmill.sandbox.publisher.faults import Faults
from tests.chain.chain_driver import World
from tests.chain.conftest import NewWorld


def scanned(world: World, model_id: str, hours_after: float, *, record: bool = True) -> Outcome:
    """A look so long after the run began; what it wants recorded is recorded."""
    context = world.context
    scan = Scan(context, context.models[model_id], world.stock.run + timedelta(hours=hours_after))
    for run in scan.runs(None):
        scan.look_at(run)
    outcome = scan.outcome()
    if record:
        assert isinstance(outcome, Succeeded | Snoozed | Failed)
        context.catalogue.record(parse_event(effect.kind, effect.payload) for effect in outcome.also)
    return outcome


def discovering(world: World) -> dict[str, Any]:
    """The National Blend, whose hours can come until an hour after the run began."""
    models = world.settings.model_dump()["models"]
    models["nbm_co"]["latency"] = [{"points": [[0, 0, 60]]}]
    return {"models": models}


def test_run_of_unknown_hours_without_any_file_is_not_complete(new_world: NewWorld) -> None:
    world = new_world()
    (world.folder / "aws-nbm").mkdir()
    (world.folder / "gcs-nbm").mkdir()
    assert isinstance(scanned(world, "nbm_co", 3), Snoozed)
    record = world.run_record("nbm_co")
    assert record is not None
    assert (record.state, record.final) == ("arriving", False)


def test_hours_are_not_settled_by_mirrors_that_do_not_answer(new_world: NewWorld) -> None:
    world = new_world()
    world.changes = discovering(world)
    world.publish("nbm_co", 1)
    assert isinstance(scanned(world, "nbm_co", 0.5), Snoozed)
    world.server.stop()
    outcome = scanned(world, "nbm_co", 2)
    record = world.run_record("nbm_co")
    assert record is not None
    assert not record.final
    assert isinstance(outcome, Snoozed)
    assert outcome.reason.startswith(f"{world.run_id}: no mirror answered; ")


def test_run_of_unknown_hours_is_published_as_complete_when_no_more_can_come(new_world: NewWorld) -> None:
    """Its last tile was built long before: no other job would move latest.json."""
    world = new_world()
    world.changes = discovering(world)
    world.publish("nbm_co")
    outcome = scanned(world, "nbm_co", 0.5)
    assert isinstance(outcome, Snoozed)
    world.store.jobs.enqueue_many(outcome.then)
    world.work()
    assert world.latest("nbm_co")["ne"] == {"newest": world.run_id, "complete": None}
    outcome = scanned(world, "nbm_co", 2)
    assert isinstance(outcome, Succeeded)
    assert [job.type for job in outcome.then] == ["publish"]
    world.store.jobs.enqueue_many(outcome.then)
    world.work()
    assert world.latest("nbm_co")["ne"]["complete"] == world.run_id


def test_a_scan_follows_its_pace_ends_when_complete_and_gives_up_late_hours(new_world: NewWorld) -> None:
    world = new_world(late_minutes=120)
    world.publish("hrrr", 0, 1)
    arriving = scanned(world, "hrrr", 1)
    assert isinstance(arriving, Snoozed)
    assert arriving.seconds == 5
    assert f"{world.run_id}: 2 of 3 hours are out" in arriving.reason
    run = RunRef("hrrr", world.run_id)
    world.context.catalogue.record(HourSeen(run.hour(hour), "x", "http://x/y", size=1) for hour in (0, 1))
    over = scanned(world, "hrrr", 22)
    assert isinstance(over, Succeeded)
    record = world.run_record("hrrr")
    assert record is not None
    assert record.state == "given_up"
    assert scanned(world, "hrrr", 23) == Succeeded()


def test_a_run_with_an_unavailable_file_is_given_up_in_the_end(new_world: NewWorld) -> None:
    """All its hours are out, and one will never be here: it is not looked at for ever."""
    world = new_world(late_minutes=120)
    world.publish("hrrr")
    assert isinstance(scanned(world, "hrrr", 3), Succeeded)
    scanned(world, "hrrr", 22)
    record = world.run_record("hrrr")
    assert record is not None
    assert record.state == "given_up"


def test_newest_run_and_short_hours_go_first(new_world: NewWorld) -> None:
    world = new_world(chain={"runs_back": 2})
    world.publish("hrrr")
    world.publish("gfs")
    outcomes = [scanned(world, name, 1) for name in ("hrrr", "gfs")]
    jobs = [job for outcome in outcomes if isinstance(outcome, Succeeded | Snoozed) for job in outcome.then]
    by_priority = sorted(jobs, key=lambda job: -job.priority)
    assert [job.args["hour"] for job in by_priority] == [0, 0, 1, 1, 2, 2]


def test_late_hours_are_looked_for_on_the_next_mirror(new_world: NewWorld) -> None:
    world = new_world(late_minutes=60)
    world.publish("hrrr", 0, mirrors=("aws",))
    world.publish("hrrr", mirrors=("gcs",))
    early = scanned(world, "hrrr", 0.5, record=False)
    assert isinstance(early, Snoozed)
    assert [job.args["hour"] for job in early.then] == [0]
    late = scanned(world, "hrrr", 2)
    assert isinstance(late, Succeeded)
    assert [job.args["hour"] for job in late.then] == [0, 1, 2]


def test_a_failing_mirror_is_not_asked_for_late_hours(new_world: NewWorld) -> None:
    world = new_world(late_minutes=60)
    world.publish("hrrr", 0)
    failed = MirrorObserved("aws-hrrr", world.stock.run, well=False, reason="429", retry_after_seconds=3 * 3600)
    world.context.catalogue.record([failed])
    outcome = scanned(world, "hrrr", 2)
    assert isinstance(outcome, Snoozed)
    assert outcome.reason.count("aws-hrrr is left alone") == 1, "however many runs were looked for"
    assert {one.key.partition("/")[0] for one in world.server.seen} == {"gcs-hrrr"}


def test_listings_are_one_request_for_a_run(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr")
    world.publish("hrrr_subh.m15")
    scanned(world, "hrrr", 1)
    assert len(world.server.seen) == 1


def test_run_that_the_model_does_not_have_is_refused(new_world: NewWorld) -> None:
    world = new_world()
    context = world.context
    scan = Scan(context, context.models["gfs"], world.stock.run)
    with pytest.raises(PermanentFailure, match="gfs has no run 20260101_05"):
        scan.runs("20260101_05")


def test_scan_of_a_run_that_has_nothing_yet_or_no_more_says_so(new_world: NewWorld) -> None:
    world = new_world()
    world.publish("hrrr")
    future, past = (f"{day}_{world.stock.run:%H}" for day in ("21000101", "20200101"))
    ahead = world.command("scan", "hrrr", "--run", future, "--here")
    assert f"0 new files; {future} is not out yet: its first hour usually comes at 2100-01-01" in ahead.stdout
    gone = world.command("scan", "hrrr", "--run", past, "--here")
    assert f"0 new files; no mirror has a file of {past}" in gone.stdout
    assert (ahead.returncode, gone.returncode) == (0, 0)


def test_disk_that_is_full_fails_the_download_clearly(new_world: NewWorld) -> None:
    """As far as a full disk can be played: the folder of the spool cannot be made."""
    world = new_world(faults=Faults([Fault("500", keys="none")]))
    world.publish("hrrr", 0)
    world.data.mkdir(parents=True)
    (world.data / "grib").write_text("in the way")
    ran = world.look("hrrr")
    (failed,) = [one.outcome for one in ran if one.job.type == "ingest_grib"]
    assert isinstance(failed, Failed)
    assert not failed.permanent
    assert "cannot be written" in failed.error
    (world.data / "grib").unlink()
    world.hurry("ingest_grib")
    world.work()
    assert world.tile("hrrr", "ne", 0).is_file()
