"""Each region of a followed model is ok, late or stale, with the cause; changes are reported once."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from gribmill.catalogue.events import Event, FreshnessSeen, HourSeen, MirrorObserved, RunSeen
from gribmill.cli.chain.status_check import check_line
from gribmill.identity import HourRef, RunRef, run_id
from gribmill.pipeline.context import Context
from gribmill.pipeline.job_types import ingest_job, tile_jobs
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.status.freshness import RegionFreshness, freshness_of
from gribmill.pipeline.status.health import Health, health_of
from gribmill.pipeline.status.status import status_of
from gribmill.pipeline.status.watch import ChainWatch
from gribmill.queue.model import ClaimRequest, Failed, NewJob, Report
from gribmill.queue.store import Store
from gribmill.queue.store.jobs.listing import JobFilter
from tests.pipeline.conftest import Scribe
from tests.pipeline.status.conftest import CHAIN, RUN, RUN_ID, set_free

NEXT_ID = "20261101_14"


@pytest.fixture
def followed(context: Context) -> Context:
    """hrrr for two regions."""
    chain = context.settings.chain.model_copy(update={"models": ("hrrr",), "regions": ("ne", "texas")})
    return dataclasses.replace(context, settings=context.settings.model_copy(update={"chain": chain}))


class Clock:
    """The time of the database and of freshness checks."""

    def __init__(self) -> None:
        self.now = RUN

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def clock(followed: Context, scribe: Scribe, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(followed.catalogue.database, "clock", clock)
    return clock


@pytest.fixture
def store(followed: Context, clock: Clock) -> Iterator[Store]:
    """A live worker, and the run of 13 UTC complete for both regions."""
    store = open_queue(followed.settings)
    store.database.clock = clock  # type: ignore[attr-defined]
    yield store
    store.close()


@pytest.fixture
def complete(scribe: Scribe, followed: Context, store: Store) -> None:
    hours = followed.models["hrrr"].hours(RUN)
    scribe.run(RUN_ID, hours)
    for hour in hours:
        scribe.hour(RUN_ID, hour, ["ne", "texas"])
        for region in ("ne", "texas"):
            scribe.tile(RUN_ID, hour, region)
    publish(followed, ne=RUN_ID, texas=RUN_ID)


def publish(context: Context, **complete: str) -> None:
    place = context.root.path / "tiles" / "hrrr" / "latest.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    regions = {region: {"newest": run, "complete": run} for region, run in complete.items()}
    place.write_text(json.dumps({"regions": regions}))


def look(context: Context, store: Store, clock: Clock, now: datetime) -> dict[str, RegionFreshness]:
    clock.now = now
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    return without_worker(context, now)


def without_worker(context: Context, now: datetime) -> dict[str, RegionFreshness]:
    statuses = status_of(context, [context.models["hrrr"]], now=now)
    health = health_of(context, statuses, now=now)
    return {one.region: one for one in freshness_of(context.models, statuses, lambda: health, now)}


def late_at(context: Context, run: datetime = RUN) -> datetime:
    """Just after the run's last hour is late."""
    model = context.models["hrrr"]
    return model.expected_at(run, model.hours(run)[-1]).late + timedelta(minutes=1)


NEXT = RUN + timedelta(hours=1)


def fail(store: Store, clock: Clock, *jobs: NewJob) -> None:
    """Fail each of these jobs once, so that it waits for its next attempt."""
    for job in jobs:
        store.jobs.enqueue(job)
        (claimed,) = store.claim(ClaimRequest("host-1-ab", (job.type,), 60))
        store.exchange("host-1-ab", [Report(claimed.ref, Failed("it went wrong"))])


def test_region_with_the_newest_run_that_is_due_is_ok(
    followed: Context, store: Store, clock: Clock, complete: None
) -> None:
    found = look(followed, store, clock, RUN + timedelta(minutes=100))
    assert [(one.state, one.cause, one.complete) for one in found.values()] == [("ok", None, RUN_ID)] * 2
    assert found["ne"].age_seconds == 6000


def test_health_is_not_checked_while_every_region_is_ok(
    followed: Context, store: Store, clock: Clock, complete: None
) -> None:
    now = clock.now = RUN + timedelta(minutes=100)
    asked: list[datetime] = []

    def health() -> Health:
        asked.append(now)
        return Health((), workers=1, disk_free=1, disk_total=1)

    def states(moment: datetime) -> set[str]:
        statuses = status_of(followed, [followed.models["hrrr"]], now=moment)
        return {one.state for one in freshness_of(followed.models, statuses, health, moment)}

    assert (states(now), asked) == ({"ok"}, [])
    assert (states(late_at(followed, NEXT)), bool(asked)) == ({"late"}, True)


def test_late_then_stale_as_the_publisher_is_late(
    followed: Context, store: Store, clock: Clock, complete: None
) -> None:
    late = late_at(followed, NEXT)
    found = look(followed, store, clock, late)["ne"]
    assert (found.text, found.expected) == ("late: publisher late", NEXT_ID)
    hours = timedelta(hours=followed.models["hrrr"].stale_hours)
    assert look(followed, store, clock, late + hours - timedelta(minutes=2))["ne"].state == "late"
    assert look(followed, store, clock, late + hours)["ne"].text == "stale: publisher late"


def test_hours_until_stale_are_set_in_the_model(followed: Context, store: Store, clock: Clock, complete: None) -> None:
    patient = dataclasses.replace(followed.models["hrrr"], stale_hours=10)
    context = dataclasses.replace(followed, models={"hrrr": patient})
    assert look(context, store, clock, late_at(context, NEXT) + timedelta(hours=9))["ne"].state == "late"
    assert look(context, store, clock, late_at(context, NEXT) + timedelta(hours=10))["ne"].state == "stale"


def test_one_region_may_be_late_and_the_other_not(
    followed: Context, scribe: Scribe, store: Store, clock: Clock, complete: None
) -> None:
    hours = followed.models["hrrr"].hours(NEXT)
    scribe.run(NEXT_ID, hours)
    for hour in hours:
        scribe.hour(NEXT_ID, hour, ["ne", "texas"])
        scribe.tile(NEXT_ID, hour, "ne")
    publish(followed, ne=NEXT_ID, texas=RUN_ID)
    fail(store, clock, *tile_jobs(HourRef("hrrr", NEXT_ID, 3), ["texas"], live=True))
    found = look(followed, store, clock, late_at(followed, NEXT))
    assert (found["ne"].text, found["texas"].text) == ("ok", "late: build failing")


def test_waiting_tiles_without_failures_are_reported_as_waiting_work(
    followed: Context, scribe: Scribe, store: Store, clock: Clock, complete: None
) -> None:
    scribe.run(NEXT_ID, followed.models["hrrr"].hours(NEXT))
    scribe.hour(NEXT_ID, 0, ["ne", "texas"])
    assert look(followed, store, clock, late_at(followed, NEXT))["ne"].text == "late: work waiting"


def test_download_that_fails_is_the_cause(
    followed: Context, scribe: Scribe, store: Store, clock: Clock, complete: None
) -> None:
    hour = HourRef("hrrr", NEXT_ID, 0)
    scribe.run(NEXT_ID, followed.models["hrrr"].hours(NEXT))
    followed.catalogue.record([HourSeen(hour, "aws-hrrr", "http://x/y")])
    fail(store, clock, ingest_job(hour, live=True))
    assert look(followed, store, clock, late_at(followed, NEXT))["ne"].text == "late: download failing"


def test_general_problems_come_first(
    followed: Context, store: Store, clock: Clock, complete: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = late_at(followed, NEXT)
    mirrors = [mirror.name for mirror in followed.models["hrrr"].mirrors]
    followed.catalogue.record([MirrorObserved(name, now, False, "it is down") for name in mirrors])
    assert look(followed, store, clock, now)["ne"].cause == "mirror sick"
    set_free(monkeypatch, 1_000_000)
    assert look(followed, store, clock, now)["ne"].cause == "disk low"
    store.types.pause("build_tile")
    assert look(followed, store, clock, now)["ne"].cause == "paused"
    clock.now = now + timedelta(hours=1)
    assert without_worker(followed, clock.now)["ne"].cause == "no worker"


def test_paused_or_reserved_type_outside_the_chain_is_not_a_cause(
    followed: Context, store: Store, clock: Clock, complete: None
) -> None:
    now = late_at(followed, NEXT)
    store.types.pause("prune")
    store.reservations.reserve("upgrade", 60, scope="prune")
    assert look(followed, store, clock, now)["ne"].cause == "publisher late"
    store.types.pause("scan_source")
    assert look(followed, store, clock, now)["ne"].cause == "paused"
    store.types.resume("scan_source")
    store.reservations.reserve("upgrade", 60, scope="publish")
    assert look(followed, store, clock, now)["ne"].cause == "paused"


def test_model_that_was_just_begun_is_late_and_not_stale(followed: Context, store: Store, clock: Clock) -> None:
    assert look(followed, store, clock, RUN + timedelta(days=1))["ne"].state == "late"


class Looks:
    """A watch, and what it has logged."""

    def __init__(self, context: Context, store: Store, clock: Clock, logged: pytest.LogCaptureFixture) -> None:
        self.context, self.store, self.clock, self.logged = context, store, clock, logged
        self.restart()

    def restart(self) -> None:
        models = [self.context.models["hrrr"]]
        self.watch = ChainWatch(self.context, models, self.store, lambda: self.clock.now)

    def at(self, now: datetime) -> list[str]:
        """The lines logged by one check."""
        self.clock.now = now
        self.store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
        self.logged.clear()
        self.watch.run_once()
        return [record.getMessage() for record in self.logged.records]


@pytest.fixture
def looks(followed: Context, store: Store, clock: Clock, complete: None, caplog: pytest.LogCaptureFixture) -> Looks:
    caplog.set_level(logging.INFO, "gribmill")
    return Looks(followed, store, clock, caplog)


def test_late_stale_and_recovered_are_reported_once_even_over_a_restart(looks: Looks) -> None:
    late = late_at(looks.context, NEXT)
    stale = late + timedelta(hours=looks.context.models["hrrr"].stale_hours)
    assert looks.at(RUN + timedelta(minutes=90)) == []
    assert looks.at(late) == ["hrrr ne is late: publisher late", "hrrr texas is late: publisher late"]
    assert looks.at(late + timedelta(minutes=1)) == []
    assert looks.at(stale) == ["hrrr ne is stale: publisher late", "hrrr texas is stale: publisher late"]
    looks.restart()
    assert looks.at(stale + timedelta(minutes=1)) == []
    newest = run_id(stale.replace(minute=0))
    publish(looks.context, ne=newest, texas=newest)
    looks.context.catalogue.record([RunSeen(RunRef("hrrr", newest), (0, 1))])
    assert looks.at(stale + timedelta(minutes=2)) == ["hrrr ne is up to date again", "hrrr texas is up to date again"]
    looks.restart()
    assert looks.at(stale + timedelta(minutes=3)) == []


def test_stale_is_not_repeated_until_it_was_ok_again(followed: Context, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gribmill")

    def seen(*states: str) -> list[str]:
        caplog.clear()
        events: list[Event] = [FreshnessSeen("hrrr", "ne", state) for state in states]  # type: ignore[arg-type]
        followed.catalogue.record(events)
        return [record.getMessage().split()[3].rstrip(":") for record in caplog.records]

    assert seen("late", "stale", "late", "stale") == ["late", "stale"]
    assert seen("ok", "stale") == ["up", "stale"]


def test_low_disk_is_logged_once_and_prunes_early(looks: Looks, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def prunes() -> int:
        return len(store.jobs.list(JobFilter(type="prune"), limit=10).jobs)

    now = RUN + timedelta(minutes=90)
    assert looks.at(now) == [] and prunes() == 0
    set_free(monkeypatch, 350_000_000)
    assert looks.at(now) == [] and prunes() == 1, "before downloads have to wait"
    set_free(monkeypatch, 100_000_000)
    (line,) = looks.at(now)
    assert line == "the disk is nearly full: downloads wait until 200.0 MB are free, now it is 100.0 MB"
    assert looks.at(now) == []
    set_free(monkeypatch, 205_000_000)
    assert looks.at(now) == [], "a little more may be gone in a moment"
    set_free(monkeypatch, 500_000_000)
    assert looks.at(now) == ["the disk has space again: downloads continue"]


def check(context: Context, now: datetime) -> tuple[int, str]:
    statuses = status_of(context, [context.models["hrrr"]], now=now)
    health = health_of(context, statuses, now=now)
    return check_line(freshness_of(context.models, statuses, lambda: health, now), health)


def test_check_exits_as_monitoring_plugins_do(followed: Context, store: Store, clock: Clock, complete: None) -> None:
    clock.now = now = RUN + timedelta(minutes=100)
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    assert check(followed, now) == (
        0,
        "GRIBMILL OK - 1 model, 2 regions up to date | 'hrrr ne age'=6000s 'hrrr texas age'=6000s late=0 stale=0"
        " workers=1;;1: disk_free=50000000000B;;;0;1000000000000",
    )
    clock.now = now = late_at(followed, NEXT)
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    code, text = check(followed, now)
    assert (code, text.partition(" | ")[0]) == (1, "GRIBMILL WARNING - hrrr ne, texas late: publisher late")
    clock.now = now = now + timedelta(hours=3)
    store.workers.heartbeat("host-1-ab", 60, types=CHAIN)
    code, text = check(followed, now)
    assert (code, text.partition(" | ")[0]) == (2, "GRIBMILL CRITICAL - hrrr ne, texas stale: publisher late")
    assert check(followed, now + timedelta(hours=1))[0] == 2, "no worker"
    assert check_line([], health_of(followed, [], now=now))[0] == 3


def test_check_names_a_full_disk_before_what_it_causes(
    followed: Context, store: Store, clock: Clock, complete: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.now = now = late_at(followed, NEXT) + timedelta(hours=3)
    set_free(monkeypatch, 0)
    _, text = check(followed, now)
    assert [re.split(r"[:.]", part)[0] for part in text.partition(" | ")[0].split("; ")[:2]] == [
        "GRIBMILL CRITICAL - the disk is full",
        "no worker is running",
    ]
    assert "; hrrr ne, texas stale: " in text
