"""The results of a scan at times chosen by the test."""

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
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain


def scanned(chain: ChainDriver, model_id: str, hours_after: float, *, record: bool = True) -> Outcome:
    """Scan at this time after the start of the run, and apply its effects."""
    context = chain.context
    scan = Scan(context, context.models[model_id], chain.forecasts.run + timedelta(hours=hours_after))
    for run in scan.runs(None):
        scan.look_at(run)
    outcome = scan.outcome()
    if record:
        assert isinstance(outcome, Succeeded | Snoozed | Failed)
        context.catalogue.record(parse_event(effect.kind, effect.payload) for effect in outcome.also)
    return outcome


def discovering(chain: ChainDriver) -> dict[str, Any]:
    """The National Blend, whose hours can appear until an hour after the start of the run."""
    models = chain.settings.model_dump()["models"]
    models["nbm_co"]["latency"] = [{"points": [[0, 0, 60]]}]
    return {"models": models}


def test_run_of_unknown_hours_without_any_file_is_not_complete(new_chain: NewChain) -> None:
    chain = new_chain()
    (chain.folder / "aws-nbm").mkdir()
    (chain.folder / "gcs-nbm").mkdir()
    assert isinstance(scanned(chain, "nbm_co", 3), Snoozed)
    record = chain.run_record("nbm_co")
    assert record is not None
    assert (record.state, record.final) == ("arriving", False)


def test_hours_are_not_settled_by_mirrors_that_do_not_answer(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.changes = discovering(chain)
    chain.publish("nbm_co", 1)
    assert isinstance(scanned(chain, "nbm_co", 0.5), Snoozed)
    chain.server.stop()
    outcome = scanned(chain, "nbm_co", 2)
    record = chain.run_record("nbm_co")
    assert record is not None
    assert not record.final
    assert isinstance(outcome, Snoozed)
    assert outcome.reason.startswith(f"{chain.run_id}: no mirror answered; ")


def test_run_of_unknown_hours_is_complete_when_no_more_can_appear(new_chain: NewChain) -> None:
    """Its last tile was built long before, so no other job would update latest.json."""
    chain = new_chain()
    chain.changes = discovering(chain)
    chain.publish("nbm_co")
    outcome = scanned(chain, "nbm_co", 0.5)
    assert isinstance(outcome, Snoozed)
    chain.store.jobs.enqueue_many(outcome.then)
    chain.work()
    assert chain.latest("nbm_co")["ne"] == {"newest": chain.run_id, "complete": None}
    outcome = scanned(chain, "nbm_co", 2)
    assert isinstance(outcome, Succeeded)
    assert [job.type for job in outcome.then] == ["publish"]
    chain.store.jobs.enqueue_many(outcome.then)
    chain.work()
    assert chain.latest("nbm_co")["ne"]["complete"] == chain.run_id


def test_a_scan_follows_its_pace_ends_when_complete_and_gives_up_late_hours(new_chain: NewChain) -> None:
    chain = new_chain(late_minutes=120)
    chain.publish("hrrr", 0, 1)
    arriving = scanned(chain, "hrrr", 1)
    assert isinstance(arriving, Snoozed)
    assert arriving.seconds == 5
    assert f"{chain.run_id}: 2 of 3 hours are out" in arriving.reason
    run = RunRef("hrrr", chain.run_id)
    chain.context.catalogue.record(HourSeen(run.hour(hour), "x", "http://x/y", size=1) for hour in (0, 1))
    over = scanned(chain, "hrrr", 22)
    assert isinstance(over, Succeeded)
    record = chain.run_record("hrrr")
    assert record is not None
    assert record.state == "given_up"
    assert scanned(chain, "hrrr", 23) == Succeeded()


def test_run_with_an_unavailable_file_is_eventually_given_up(new_chain: NewChain) -> None:
    """All its hours are published and one is unavailable: scans stop eventually."""
    chain = new_chain(late_minutes=120)
    chain.publish("hrrr")
    assert isinstance(scanned(chain, "hrrr", 3), Succeeded)
    scanned(chain, "hrrr", 22)
    record = chain.run_record("hrrr")
    assert record is not None
    assert record.state == "given_up"


def test_newest_run_and_short_hours_come_first(new_chain: NewChain) -> None:
    chain = new_chain(chain={"runs_back": 2})
    chain.publish("hrrr")
    chain.publish("gfs")
    outcomes = [scanned(chain, name, 1) for name in ("hrrr", "gfs")]
    jobs = [job for outcome in outcomes if isinstance(outcome, Succeeded | Snoozed) for job in outcome.then]
    by_priority = sorted(jobs, key=lambda job: -job.priority)
    assert [job.args["hour"] for job in by_priority] == [0, 0, 1, 1, 2, 2]


def test_late_hours_are_sought_on_the_next_mirror(new_chain: NewChain) -> None:
    chain = new_chain(late_minutes=60)
    chain.publish("hrrr", 0, mirrors=("aws",))
    chain.publish("hrrr", mirrors=("gcs",))
    early = scanned(chain, "hrrr", 0.5, record=False)
    assert isinstance(early, Snoozed)
    assert [job.args["hour"] for job in early.then] == [0]
    late = scanned(chain, "hrrr", 2)
    assert isinstance(late, Succeeded)
    assert [job.args["hour"] for job in late.then] == [0, 1, 2]


def test_late_hours_are_not_sought_on_a_failing_mirror(new_chain: NewChain) -> None:
    chain = new_chain(late_minutes=60)
    chain.publish("hrrr", 0)
    failed = MirrorObserved("aws-hrrr", chain.forecasts.run, well=False, reason="429", retry_after_seconds=3 * 3600)
    chain.context.catalogue.record([failed])
    outcome = scanned(chain, "hrrr", 2)
    assert isinstance(outcome, Snoozed)
    assert outcome.reason.count("aws-hrrr: left alone") == 1, "however many runs were looked for"
    assert {one.key.partition("/")[0] for one in chain.server.seen} == {"gcs-hrrr"}


def test_listings_are_one_request_for_a_run(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.publish("hrrr_subh.m15")
    scanned(chain, "hrrr", 1)
    assert len(chain.server.seen) == 1


def test_run_that_the_model_does_not_have_is_refused(new_chain: NewChain) -> None:
    chain = new_chain()
    context = chain.context
    scan = Scan(context, context.models["gfs"], chain.forecasts.run)
    with pytest.raises(PermanentFailure, match="gfs has no run 20260101_05"):
        scan.runs("20260101_05")


def test_scan_of_an_unpublished_or_expired_run_says_so(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    future, past = (f"{day}_{chain.forecasts.run:%H}" for day in ("21000101", "20200101"))
    ahead = chain.command("scan", "hrrr", "--run", future, "--here")
    assert f"0 new files; {future} is not out yet: its first hour usually comes at 2100-01-01" in ahead.stdout
    gone = chain.command("scan", "hrrr", "--run", past, "--here")
    assert f"0 new files; no mirror has a file of {past}" in gone.stdout
    assert (ahead.returncode, gone.returncode) == (0, 0)


def test_full_disk_fails_the_download_clearly(new_chain: NewChain) -> None:
    """Simulates a full disk: the spool folder cannot be created."""
    chain = new_chain(faults=Faults([Fault("500", keys="none")]))
    chain.publish("hrrr", 0)
    chain.data.mkdir(parents=True)
    (chain.data / "grib").write_text("in the way")
    ran = chain.look("hrrr")
    (failed,) = [one.outcome for one in ran if one.job.type == "ingest_grib"]
    assert isinstance(failed, Failed)
    assert not failed.permanent
    assert "cannot be written" in failed.error
    (chain.data / "grib").unlink()
    chain.hurry("ingest_grib")
    chain.work()
    assert chain.tile("hrrr", "ne", 0).is_file()
