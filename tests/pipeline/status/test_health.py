"""Problems of a data root, the worst first."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from gribmill.catalogue.events import MirrorObserved, MirrorsSilent
from gribmill.identity import HourRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.status.health import Health, health_of
from gribmill.pipeline.status.status import status_of
from gribmill.queue.model import ClaimRequest, Failed, NewJob, Report
from gribmill.queue.store import Store
from tests.pipeline.conftest import Scribe
from tests.pipeline.status.conftest import CHAIN, RUN, RUN_ID, set_free

NOW = RUN + timedelta(minutes=55)


@pytest.fixture
def store(context: Context, scribe: Scribe) -> Store:
    """A complete run of hrrr, and a live worker."""
    scribe.run(RUN_ID, [0, 1])
    for hour in (0, 1):
        scribe.hour(RUN_ID, hour, ["ne"])
        scribe.tile(RUN_ID, hour, "ne")
    store = open_queue(context.settings)
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    return store


def health(context: Context, now: datetime = NOW) -> Health:
    statuses = status_of(context, [context.models["hrrr"]], now=now)
    return health_of(context, statuses)


def texts(found: Health) -> list[str]:
    return [one.text for one in found.problems]


def test_no_problem_with_a_worker_free_disk_and_a_complete_run(context: Context, store: Store) -> None:
    found = health(context)
    assert (found.well, found.problems, found.workers) == (True, (), 1)


def test_missing_workers_are_the_worst_problem(context: Context, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN, state="stopped")
    store.types.pause("publish")
    set_free(monkeypatch, 100_000_000)
    found = health(context)
    assert not found.well
    assert [one.kind for one in found.problems] == ["no worker", "disk", "paused"]
    assert texts(found)[0].startswith("no worker is running; the last heartbeat was at ")


def test_full_disk_is_named_before_the_workers_that_it_ended(
    context: Context, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN, state="stopped")
    set_free(monkeypatch, 0)
    assert [one.kind for one in health(context).problems] == ["disk", "no worker"]


def test_silent_worker_does_not_count(context: Context, store: Store) -> None:
    statuses = status_of(context, [context.models["hrrr"]], now=NOW)
    later = datetime.now(UTC) + timedelta(seconds=61)
    assert "no worker" in [one.kind for one in health_of(context, statuses, now=later).problems]


def test_a_worker_that_does_not_run_the_chain_is_not_enough(context: Context, store: Store) -> None:
    store.workers.heartbeat("host-1-ab", 60, types=["sleep", "scan_source"])
    assert texts(health(context)) == ["no worker runs ingest_grib, build_tile, publish jobs"]


@pytest.mark.parametrize(("free", "words"), [(0, "is full: 0 MB free"), (100_000_000, "is nearly full: 100 MB free")])
def test_a_full_disk_is_named(
    context: Context, store: Store, monkeypatch: pytest.MonkeyPatch, free: int, words: str
) -> None:
    set_free(monkeypatch, free)
    (text,) = texts(health(context))
    assert words in text


def test_a_reservation_is_named(context: Context, store: Store) -> None:
    store.reservations.reserve("ann", 600)
    (text,) = texts(health(context))
    assert text.startswith("no job starts: reserved by ann until ")


def observe(context: Context, mirror: str, *, well: bool, at: datetime | None = None) -> None:
    reason = "" if well else "https://x.example/y: the host name cannot be resolved (DNS)"
    context.catalogue.record([MirrorObserved(mirror, at or datetime.now(UTC), well, reason)])


def test_mirrors_that_never_answered_are_a_problem_after_one_failure(context: Context, store: Store) -> None:
    for mirror in context.models["hrrr"].mirrors:
        observe(context, mirror.name, well=False)
    context.catalogue.record([MirrorsSilent("hrrr")])
    found = health(context)
    assert not found.well
    assert texts(found) == [
        "hrrr: no mirror has ever answered (aws-hrrr, gcs-hrrr, nomads-hrrr: the host name cannot be resolved (DNS))"
    ]


def test_an_outage_that_downloads_noticed_has_its_time(context: Context, store: Store) -> None:
    """Only scans record MirrorsSilent."""
    for mirror in context.models["hrrr"].mirrors:
        observe(context, mirror.name, well=True, at=RUN)
        observe(context, mirror.name, well=False, at=NOW)
    (problem,) = [one for one in health(context).problems if one.kind == "mirrors"]
    assert problem.text.startswith("hrrr: no mirror has answered since 2026-11-01 13:00 UTC (aws-hrrr, ")


def test_one_failing_mirror_of_several_is_only_a_note(context: Context, store: Store) -> None:
    observe(context, "aws-hrrr", well=True)
    observe(context, "gcs-hrrr", well=False)
    found = health(context)
    assert found.well
    assert texts(found) == ["mirror gcs-hrrr: never answered, failed once: the host name cannot be resolved (DNS)"]


def test_a_late_model_is_a_problem(context: Context, store: Store) -> None:
    assert [one.kind for one in health(context, NOW + timedelta(hours=8)).problems] == ["model"]


def test_runs_from_a_fast_clock_do_not_mark_the_model_as_arriving(
    context: Context, store: Store, scribe: Scribe
) -> None:
    scribe.run("20261101_19", [0, 1])
    (status,) = status_of(context, [context.models["hrrr"]], now=NOW)
    assert (status.verdict, status.future_runs) == ("whole", ("20261101_19",))
    found = health_of(context, [status])
    assert found.well
    assert "20261101_19 begins in the future" in texts(found)[0]


def fail_for_good(store: Store, job_type: str, error: str) -> None:
    (claimed,) = store.claim(ClaimRequest("host-1-ab", (job_type,), 60))
    store.exchange("host-1-ab", [Report(claimed.ref, Failed(error))])


def test_jobs_that_were_given_up_count_until_their_hour_is_built(
    context: Context, store: Store, scribe: Scribe
) -> None:
    job = ingest_job(HourRef("hrrr", RUN_ID, 1), live=True)
    store.jobs.enqueue_many([dataclasses.replace(job, max_attempts=1)])
    fail_for_good(store, "ingest_grib", "no such host")
    assert health(context).well, "its hour is built"
    scribe.run(RUN_ID, [0, 1, 2])
    store.jobs.enqueue_many([dataclasses.replace(ingest_job(HourRef("hrrr", RUN_ID, 2), live=True), max_attempts=1)])
    fail_for_good(store, "ingest_grib", "no such host")
    (text,) = texts(health(context))
    assert text.startswith("1 job was given up (ingest_grib 1): ")


def test_jobs_that_were_given_up_are_counted_by_type(context: Context, store: Store, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0, 1, 2, 3])
    hours = [ingest_job(HourRef("hrrr", RUN_ID, hour), live=True) for hour in (2, 3)]
    scans = [NewJob("scan_source", {"model_id": model}) for model in ("hrrr", "gfs")]
    store.jobs.enqueue_many([dataclasses.replace(job, max_attempts=1) for job in (*hours, *scans)])
    for kind in ("ingest_grib", "ingest_grib", "scan_source", "scan_source"):
        fail_for_good(store, kind, "no such host")
    context.catalogue.record([MirrorObserved("aws-hrrr", datetime.now(UTC) + timedelta(minutes=1), well=True)])
    (text,) = texts(health(context))
    assert text.startswith("3 jobs were given up (ingest_grib 2, scan_source 1): "), (
        "a mirror of hrrr has answered since"
    )


def missing(context: Context, hour: int) -> tuple[str, int, str | None]:
    run = status_of(context, [context.models["hrrr"]], now=NOW + timedelta(hours=4))[0].runs[0]
    one = next(one for one in run.missing if one.hour == hour)
    assert one.job is not None
    return one.reason, one.job.tries, one.job.error


def test_missing_hours_show_the_failures_of_their_jobs(context: Context, store: Store, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0, 1, 2, 3])
    for hour in (2, 3):
        store.jobs.enqueue_many(
            [dataclasses.replace(ingest_job(HourRef("hrrr", RUN_ID, hour), live=True), max_attempts=4 - hour)]
        )
        fail_for_good(store, "ingest_grib", f"checksum wrong {hour}")
    assert missing(context, 2) == ("late", 1, "checksum wrong 2")
    assert missing(context, 3) == ("download failed", 1, "checksum wrong 3")


def test_missing_tiles_show_the_failures_of_their_jobs(context: Context, store: Store, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [0, 1, 2])
    scribe.hour(RUN_ID, 2, ["ne", "texas"])
    store.jobs.enqueue_many(tile_jobs(HourRef("hrrr", RUN_ID, 2), ["ne", "texas"], live=True))
    batch = store.claim(ClaimRequest("host-1-ab", ("build_tile",), 60))
    store.exchange("host-1-ab", [Report(batch[0].ref, Failed("no space"))])
    assert missing(context, 2) == ("downloaded, tiles missing", 1, "no space")
