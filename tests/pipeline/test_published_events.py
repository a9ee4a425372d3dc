"""Weather events are published in the transaction that causes them, and only by a real change of state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import jsonschema
import pytest

from gribmill.catalogue.events import (
    DiskFreed,
    DiskLow,
    FreshnessSeen,
    MirrorCleared,
    MirrorObserved,
    RunGivenUp,
    RunSeen,
)
from gribmill.identity import RunRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import ClaimRequest, Effect, NewJob, Report, Succeeded
from gribmill.queue.store import Store
from gribmill.views.queue.event import PAYLOADS
from tests.pipeline.conftest import Scribe

RUN = RunRef("hrrr", "20261101_12")
MOMENT = datetime(2026, 11, 1, 13, 5, tzinfo=UTC)


@pytest.fixture
def store(context: Context) -> Store:
    return open_queue(context.settings)


def names(store: Store) -> list[str]:
    found = [*reversed(store.events.list(limit=1000))]
    for event in found:
        jsonschema.validate(event.payload, PAYLOADS[event.name][0].model_json_schema())
    return [event.name for event in found]


def test_run_is_published_as_seen_once_and_as_completed_once(scribe: Scribe, store: Store) -> None:
    for _ in range(2):
        scribe.run("20261101_12", [0, 1])
    assert names(store) == ["run.seen"]
    for hour in (0, 1):
        scribe.hour("20261101_12", hour, ["ne"])
        scribe.tile("20261101_12", hour, "ne")
    scribe.tile("20261101_12", 1, "ne")
    scribe.run("20261101_12", [0, 1])
    assert names(store) == ["run.seen", "hour.ingested", "hour.ingested", "run.completed"]


def test_run_that_gets_more_hours_is_completed_again(scribe: Scribe, store: Store) -> None:
    for hours in ([0], [0, 1]):
        scribe.run("20261101_12", hours)
        scribe.hour("20261101_12", hours[-1], ["ne"])
        scribe.tile("20261101_12", hours[-1], "ne")
    assert names(store).count("run.completed") == 2
    assert names(store).count("run.seen") == 1


def test_run_is_given_up_once(context: Context, scribe: Scribe, store: Store) -> None:
    scribe.run("20261101_12", [0])
    for _ in range(2):
        context.catalogue.record([RunGivenUp(RUN)])
    assert names(store) == ["run.seen", "run.given_up"]


def test_tile_events_are_published_only_if_enabled(scribe: Scribe, store: Store) -> None:
    scribe.hour("20261101_12", 0, ["ne"])
    scribe.tile("20261101_12", 0, "ne")
    assert "tile.built" not in names(store)
    store.events.record("tile.built", wanted=True)
    scribe.tile("20261101_12", 0, "ne")
    assert names(store)[-1] == "tile.built"


def test_mirror_fails_when_its_breaker_opens_and_recovers_when_it_closes(context: Context, store: Store) -> None:
    for n in range(5):
        at = MOMENT + timedelta(seconds=n)
        context.catalogue.record([MirrorObserved("aws-hrrr", at, well=False, reason="503")])
        assert names(store) == (["mirror.sick"] if n >= 2 else [])
    for n in range(2):
        context.catalogue.record([MirrorObserved("aws-hrrr", MOMENT + timedelta(hours=1 + n), well=True)])
    assert names(store) == ["mirror.sick", "mirror.well"]
    pause = MirrorObserved("aws-hrrr", MOMENT + timedelta(hours=4), well=False, reason="429", retry_after_seconds=60)
    context.catalogue.record([pause])
    for _ in range(2):
        context.catalogue.record([MirrorCleared("aws-hrrr")])
    assert names(store) == ["mirror.sick", "mirror.well"] * 2


def test_disk_is_low_once_until_it_is_freed(context: Context, store: Store) -> None:
    low = DiskLow("/data", 5, 10)
    context.catalogue.record([low, low])
    assert names(store) == ["disk.low"]
    context.catalogue.record([DiskFreed("/data"), DiskFreed("/data"), low])
    assert names(store) == ["disk.low", "disk.freed", "disk.low"]


def test_model_is_late_stale_and_recovered_once_each(context: Context, store: Store) -> None:
    def see(state: Literal["ok", "late", "stale"]) -> None:
        for _ in range(2):
            context.catalogue.record([FreshnessSeen("hrrr", "ne", state, "publisher late")])

    see("ok")
    assert names(store) == []
    see("late")
    see("stale")
    assert names(store) == ["model.late", "model.stale"]
    see("late")
    see("stale")
    assert names(store) == ["model.late", "model.stale"], "it was not up to date meanwhile"
    see("ok")
    assert names(store) == ["model.late", "model.stale", "model.recovered"]


def test_event_of_a_job_is_published_in_the_transaction_that_ends_it(store: Store) -> None:
    job_id = store.jobs.enqueue(NewJob("sleep")).id
    (job,) = store.claim(ClaimRequest("w1", ("sleep",), 60.0))
    seen = RunSeen(RUN, (0, 1))
    report = Report(job.ref, Succeeded(also=(Effect(seen.kind, seen.to_json()),)))
    assert store.exchange("w2", [report]).fenced
    assert names(store) == []
    store.exchange("w1", [report])
    assert [(event.name, event.job_id) for event in store.events.list()] == [("run.seen", job_id)]
