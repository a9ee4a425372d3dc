"""A backfill requests what is missing, once, and refuses invalid requests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gribmill.catalogue.events import HourFailed
from gribmill.identity import HourRef
from gribmill.pipeline.backfill.backfill import BackfillError, BackfillRequest, enqueue_backfill, plan_backfill
from gribmill.pipeline.backfill.progress import BackfillProgress, BackfillState
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.scan_source import Scan
from gribmill.pipeline.job_types import tile_jobs
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.retention import decide, runs_on_disk
from gribmill.pipeline.status.status import RunStatus, status_of
from gribmill.queue.model import ClaimRequest, Failed, Outcome, Report, Succeeded
from tests.pipeline.conftest import Scribe

HOUR = HourRef("hrrr", "20261101_00", 0)
BEGIN, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 1, 23, tzinfo=UTC)


def request(context: Context, **changes: object) -> BackfillRequest:
    wanted = {"cycles": (0, 12), "hours": (0, 1, 2), "regions": ("ne", "europe"), **changes}
    return BackfillRequest(context.models["hrrr"], BEGIN, END, **wanted)  # type: ignore[arg-type]


def test_plan_counts_files_of_the_regions_that_the_model_reaches(context: Context) -> None:
    plan = plan_backfill(context, request(context))
    assert (plan.runs, len(plan.files), plan.regions, plan.tiles) == (2, 6, ("ne",), 6)


def test_files_with_existing_tiles_are_not_fetched(context: Context, scribe: Scribe) -> None:
    scribe.run("20261101_12", [0, 1, 2])
    scribe.hour("20261101_12", 1, ["ne"])
    scribe.tile("20261101_12", 1, "ne")
    plan = plan_backfill(context, request(context, variables=("t2m",)))
    assert (len(plan.files), plan.done, plan.lacking) == (5, 1, 0)
    assert (datetime(2026, 11, 1, 12, tzinfo=UTC), 1) not in [(file.run, file.hour) for file in plan.files]


@pytest.mark.parametrize("variables", [("u10", "v10"), ()])
def test_files_with_other_variables_are_fetched_with_both(
    context: Context, scribe: Scribe, variables: tuple[str, ...]
) -> None:
    scribe.run("20261101_12", [0])
    scribe.hour("20261101_12", 0, ["ne"])
    scribe.tile("20261101_12", 0, "ne")
    plan = plan_backfill(context, request(context, cycles=(12,), hours=(0,), variables=variables))
    assert (len(plan.files), plan.done, plan.lacking) == (1, 0, 1)
    assert {*plan.files[0].variables} == {*(variables or context.models["hrrr"].variables), "t2m"}


def test_backfill_can_be_followed_and_is_not_duplicated(context: Context) -> None:
    store = open_queue(context.settings)
    plan = plan_backfill(context, request(context))
    first = enqueue_backfill(store, context.catalogue, plan)
    assert BackfillProgress(store, {first: 1}).read() == BackfillState(done=0, total=12, failed=0, active=6)
    second = enqueue_backfill(store, context.catalogue, plan)
    assert second == first, "who asks again waits for the same jobs"
    other = enqueue_backfill(store, context.catalogue, plan_backfill(context, request(context, hours=(0,))))
    assert BackfillProgress(store, {other: 1}).read().active == 0
    assert len(store.jobs.list(limit=100).jobs) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"regions": ("europe",)}, "reaches none of the regions europe"),
        ({"regions": ()}, "at least one region"),
        ({"cycles": (3,), "hours": (), "regions": ("ne",)}, None),
    ],
)
def test_invalid_backfill_is_refused_with_the_reason(
    context: Context, changes: dict[str, object], words: str | None
) -> None:
    if words is None:
        assert plan_backfill(context, request(context, **changes)).runs == 1
        return
    with pytest.raises(BackfillError, match=words):
        plan_backfill(context, request(context, **changes))


def test_backfill_that_ends_before_it_begins_is_refused(context: Context) -> None:
    backwards = BackfillRequest(context.models["hrrr"], END, BEGIN, regions=("ne",))
    with pytest.raises(BackfillError, match="before it begins"):
        plan_backfill(context, backwards)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cycles": (7, 25)}, "no run of hrrr begins at 25 UTC; its cycles are 0-23"),
        ({"hours": (900,)}, "has any of these hours"),
    ],
)
def test_cycles_and_hours_that_do_not_exist_are_refused(
    context: Context, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(BackfillError, match=words):
        plan_backfill(context, request(context, regions=("ne",), **changes))


def test_a_backfill_of_the_future_is_refused(context: Context) -> None:
    soon = datetime.now(UTC) + timedelta(days=300)
    with pytest.raises(BackfillError, match=r"--from 2.* UTC is in the future"):
        plan_backfill(context, BackfillRequest(context.models["hrrr"], soon, soon, regions=("ne",)))


def test_the_total_is_fixed_and_jobs_of_an_earlier_request_do_not_count(context: Context) -> None:
    store = open_queue(context.settings)
    plan = plan_backfill(context, request(context, cycles=(0,)))
    chain = enqueue_backfill(store, context.catalogue, plan)
    progress = BackfillProgress(store, {chain: 1})
    seen = [progress.read()]
    claim = ClaimRequest("w", ("ingest_grib", "build_tile"), 60.0)
    tile = tile_jobs(HOUR, ["ne"], live=False)
    ends: list[Outcome] = [Failed("no such file", permanent=True), Succeeded(then=tile), Succeeded()]
    for outcome in ends:
        (job,) = store.claim(claim)
        store.exchange("w", [Report(job.ref, outcome)])
        seen.append(progress.read())
    assert {state.total for state in seen} == {6}
    assert [state.done for state in seen] == [0, 2, 3, 4]
    assert [state.failed for state in seen] == [0, 1, 1, 1]
    again = BackfillProgress(store, {chain: 1}).read()
    assert again.failed == 0, "it failed before"


def test_only_requested_hours_are_missing(context: Context, scribe: Scribe) -> None:
    model = context.models["hrrr"]
    plan = plan_backfill(context, request(context, cycles=(0,)))
    enqueue_backfill(open_queue(context.settings), context.catalogue, plan)

    def run() -> RunStatus:
        return status_of(context, [model])[0].runs[0]

    assert (run().hours, run().hours_in_run, run().state) == ((0, 1, 2), 49, "arriving")
    assert {one.reason for one in run().missing} == {"requested, not downloaded"}
    for hour in (0, 1, 2):
        scribe.hour("20261101_00", hour, ["ne"])
        scribe.tile("20261101_00", hour, "ne")
    assert (run().missing, run().state, run().hours_built) == ((), "complete", 3)
    assert status_of(context, [model])[0].verdict == "whole", "what was not asked for is not behind"
    assert context.catalogue.newest_complete_run("hrrr", "ne") is None, "but it is not a complete forecast"


def test_hours_requested_later_are_added(context: Context) -> None:
    store = open_queue(context.settings)
    for hours in [(3, 4), (0, 3)]:
        enqueue_backfill(store, context.catalogue, plan_backfill(context, request(context, cycles=(0,), hours=hours)))
    (record,) = context.catalogue.runs("hrrr")
    assert (record.hours, record.final) == ((0, 3, 4), False)
    enqueue_backfill(store, context.catalogue, plan_backfill(context, request(context, cycles=(0,), hours=())))
    (record,) = context.catalogue.runs("hrrr")
    assert (len(record.hours), record.final) == (49, True), "the whole run was asked for"


def test_followed_run_still_needs_all_its_hours(context: Context, scribe: Scribe) -> None:
    scribe.run("20261101_00", range(49))
    plan = plan_backfill(context, request(context, cycles=(0,)))
    enqueue_backfill(open_queue(context.settings), context.catalogue, plan)
    (record,) = context.catalogue.runs("hrrr")
    assert (len(record.hours), record.final) == (49, True)


def test_scans_ignore_hours_that_were_not_requested(context: Context) -> None:
    plan = plan_backfill(context, request(context, cycles=(0,)))
    enqueue_backfill(open_queue(context.settings), context.catalogue, plan)
    scan = Scan(context, context.models["hrrr"], datetime.now(UTC))
    assert datetime(2026, 11, 1, tzinfo=UTC) not in scan.runs(None)


def test_waiting_backfill_is_not_pruned(context: Context) -> None:
    plan = plan_backfill(context, request(context, cycles=(0,)))
    enqueue_backfill(open_queue(context.settings), context.catalogue, plan)
    decisions = decide(runs_on_disk(context.root, context.catalogue), context.settings)
    assert not [one for one in decisions if one.removed]


def test_an_hour_that_cannot_be_downloaded_is_shown_as_failed(context: Context) -> None:
    model = context.models["hrrr"]
    plan = plan_backfill(context, request(context, cycles=(0,)))
    enqueue_backfill(open_queue(context.settings), context.catalogue, plan)
    context.catalogue.record([HourFailed(HOUR, "404 everywhere")])
    status = status_of(context, [model])[0]
    assert [(one.hour, one.reason) for one in status.runs[0].missing if one.late] == [(0, "download failed")]
    assert status.verdict == "1 forecast hour is late"


@pytest.mark.slow
def test_backfill_from_the_first_day_of_the_calendar_is_too_large_not_a_crash(context: Context) -> None:
    ever = BackfillRequest(context.models["hrrr"], datetime(1, 1, 1, tzinfo=UTC), END, regions=("ne",))
    with pytest.raises(BackfillError, match="more than 200000 files"):
        plan_backfill(context, ever)
