"""The outbox: events are written in the transaction that causes them, and dispatched exactly once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from gribmill.queue.errors import BadArguments, EventNotFound
from gribmill.queue.model import Failed, NewEvent, NewTrigger, PublishedEvent, Snoozed, Succeeded, Transfer
from gribmill.queue.store import Store
from gribmill.queue.store.events import trigger_firing, triggers
from gribmill.queue.store.events.trigger_firing import Occasion
from gribmill.views.queue.event import PAYLOADS
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.store_driver import LEASE, add, claim, fail, report, snooze, stop, succeed, take
from tests.queue.store.tested_backend import REFUSED, BackendUnderTest
from tests.waiting import wait_until


def published(store: Store, pattern: str | None = None) -> list[PublishedEvent]:
    """The published events in order, after checking each payload against its documented schema."""
    found = [*reversed(store.events.list(pattern=pattern, limit=1000))]
    for event in found:
        if event.name in PAYLOADS:
            jsonschema.validate(event.payload, PAYLOADS[event.name][0].model_json_schema())
    return found


def names(store: Store) -> list[str]:
    return [event.name for event in published(store)]


def publish(store: Store, *events: NewEvent) -> None:
    with store.database.write() as tx:
        for event in events:
            tx.publish(event)


@pytest.mark.parametrize("name", [*PAYLOADS, "run.complete", "model.", "Job.failed", " worker.gone", "gribmill.x"])
def test_names_of_the_systems_events_are_refused_to_others(store: Store, name: str) -> None:
    for emit in (store.events.emit, store.for_tenant("acme").events.emit):
        with pytest.raises(BadArguments, match=r"only gribmill reports events whose names begin with [a-z]+\."):
            emit(name, {"model_id": "hrrr"})
    assert published(store) == []


@pytest.mark.parametrize("name", ["run", "runs.done", "job_failed", "my.run.completed", "file.arrived"])
def test_other_names_are_free(store: Store, name: str) -> None:
    store.events.emit(name, {})
    assert names(store) == [name]


def test_ordinary_jobs_publish_nothing(store: Store) -> None:
    for end in (succeed, stop):
        add(store)
        end(store, take(store))
    add(store)
    snooze(store, take(store), 10)
    assert names(store) == []


def test_permanent_failure_is_published_once(store: Store, clock: FakeClock) -> None:
    job_id = add(store, tenant_id="acme", correlation_id="c1")
    fail(store, take(store), permanent=True, error="no such file")
    (event,) = published(store)
    assert (event.name, event.tenant_id, event.job_id) == ("job.failed", "acme", job_id)
    assert event.created_at == datetime.fromtimestamp(clock(), UTC)
    assert event.payload == {
        "job_id": job_id,
        "type": "plain",
        "attempt_no": 1,
        "error": "no such file",
        "dead_lettered": False,
        "correlation_id": "c1",
    }


def test_dead_letter_is_published_after_the_last_attempt_only(store: Store, clock: FakeClock) -> None:
    add(store, max_attempts=2)
    fail(store, take(store))
    assert names(store) == []
    clock.advance(100)
    fail(store, take(store))
    assert names(store) == ["job.failed", "job.dead_lettered"]
    assert published(store)[0].values["dead_lettered"] is True
    assert published(store)[1].values["attempts"] == 2


def test_fenced_report_publishes_nothing(store: Store, clock: FakeClock) -> None:
    add(store, max_attempts=1)
    job = take(store)
    fail(store, job, worker="another", permanent=True)
    assert names(store) == []


def test_lost_worker_and_its_recovered_jobs_are_published_once(store: Store, clock: FakeClock) -> None:
    for _ in range(2):
        add(store)
        take(store)
    store.workers.heartbeat("w1", LEASE, types=("plain",))
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    assert sorted(names(store)) == ["job.recovered", "job.recovered", "worker.lost"]
    assert {event.values["status"] for event in published(store, "job.recovered")} == {"pending"}
    clock.advance(100)
    claim(store)
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    assert names(store).count("worker.lost") == 1, "it has not been back since"
    store.workers.heartbeat("w1", LEASE, types=("plain",))
    clock.advance(600)
    take(store)
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    assert names(store).count("worker.lost") == 2


def test_lost_job_without_attempts_left_is_a_dead_letter(store: Store, clock: FakeClock) -> None:
    add(store, "fragile")
    take(store)
    clock.advance(LEASE + 1)
    store.maintenance.recover()
    assert names(store) == ["job.failed", "job.dead_lettered", "job.recovered"]
    assert published(store)[2].values["status"] == "failed"


def test_manual_statements_publish_as_well(backend: BackendUnderTest, store: Store) -> None:
    add(store)
    take(store)
    backend.by_hand(
        "UPDATE jobs SET status = 'failed', error_message = 'by hand', completed_at = CURRENT_TIMESTAMP WHERE id = 1"
    )
    assert names(store) == ["job.failed"]


def test_attempts_are_metered_only_if_enabled(store: Store, clock: FakeClock) -> None:
    add(store)
    succeed(store, take(store))
    assert names(store) == []
    store.events.record("attempt.metered", wanted=True)
    add(store, tenant_id="acme")
    clock.advance(4)
    job = take(store)
    clock.advance(2.5)
    succeed(store, job)
    (event,) = published(store)
    facts = {name: event.values[name] for name in ("type", "tenant_id", "status", "wait_seconds", "run_seconds")}
    assert facts == {
        "type": "plain", "tenant_id": "acme", "status": "succeeded", "wait_seconds": 4.0, "run_seconds": 2.5,
    }  # fmt: skip
    store.events.record("attempt.metered", wanted=False)
    add(store)
    succeed(store, take(store))
    assert len(names(store)) == 1
    trigger = store.triggers.add(NewTrigger("meter", "plain", event="attempt.metered"))
    add(store)
    succeed(store, take(store))
    assert len(names(store)) == 2
    store.triggers.set_enabled(trigger.id, enabled=False)
    add(store)
    succeed(store, take(store))
    assert len(names(store)) == 2


@pytest.mark.parametrize(
    ("outcome", "status", "total"),
    [
        (Succeeded(transfer=Transfer(700, 300)), "succeeded", 1000),
        (Succeeded(skipped="there", transfer=Transfer(written=300)), "skipped", 300),
        (Failed("cut off", transfer=Transfer(700)), "failed", 700),
        (Snoozed(5, transfer=Transfer(0)), "snoozed", 0),
        (Succeeded(), "succeeded", None),
    ],
)
def test_metered_attempt_has_the_bytes_that_its_handler_reports(
    backend: BackendUnderTest, store: Store, outcome: Succeeded | Failed | Snoozed, status: str, total: int | None
) -> None:
    store.events.record("attempt.metered", wanted=True)
    job_id = add(store)
    report(store, take(store), outcome)
    values = next(event.values for event in published(store) if event.name == "attempt.metered")
    transfer = outcome.transfer
    reported = (transfer.downloaded, transfer.written) if transfer else (None, None)
    assert (values["status"], values["bytes"]) == (status, total)
    assert (values["downloaded_bytes"], values["written_bytes"]) == reported
    (attempt,) = store.jobs.history(job_id).attempts
    assert (attempt.downloaded_bytes, attempt.written_bytes) == reported
    with pytest.raises(REFUSED, match="cannot be changed"):
        backend.by_hand("UPDATE job_attempts SET downloaded_bytes = 1")


def test_only_optional_events_can_be_recorded_or_not(store: Store) -> None:
    with pytest.raises(BadArguments, match=r"attempt\.metered, tile\.built"):
        store.events.record("job.failed", wanted=False)


def test_event_of_a_transaction_that_fails_is_not_published(store: Store) -> None:
    with pytest.raises(RuntimeError), store.database.write() as tx:
        tx.publish(NewEvent("run.seen"))
        raise RuntimeError
    assert names(store) == []


def test_published_event_fires_its_triggers_exactly_once(backend: BackendUnderTest, store: Store) -> None:
    store.triggers.add(NewTrigger("again", "plain", {"n": "{{event.n}}"}, event="ping"))
    store.triggers.add(NewTrigger("acme's", "plain", event="ping", tenant_id="acme"))
    publish(store, NewEvent("ping", {"n": 1}), NewEvent("ping", {"n": 1}), NewEvent("pong"))
    other = backend.open()
    fired = store.events.dispatch()
    assert [one.occasion for one in fired] == ["event 1", "event 2"], "equal events are two events"
    assert other.events.dispatch() == []
    assert [(job.args, job.source) for job in store.jobs.list().jobs] == [({"n": 1}, "event")] * 2


@pytest.mark.parametrize("backend", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
def test_dispatch_leaves_events_to_the_worker_that_has_taken_them(
    backend: BackendUnderTest, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.triggers.add(NewTrigger("again", "plain", event="ping"))
    publish(store, NewEvent("ping"))
    other = backend.open()
    looks = iter(range(3))
    any_undispatched = other.events._any_undispatched
    monkeypatch.setattr(other.events, "_any_undispatched", lambda: next(looks) < 3 and any_undispatched())
    with store.database.write() as tx:
        assert len(tx.take_events(10)) == 1
        assert other.events.dispatch() == []


def test_failed_dispatch_leaves_the_events_for_the_next(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.triggers.add(NewTrigger("again", "plain", event="ping"))
    publish(store, NewEvent("ping"), NewEvent("ping"))
    real = trigger_firing.fire_event

    def broken(*args: object, **fields: object) -> object:
        if any(isinstance(one, Occasion) and one.key == "event 2" for one in args):
            raise RuntimeError("the power failed")
        return real(*args, **fields)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(triggers, "fire_event", broken)
        with pytest.raises(RuntimeError):
            store.events.dispatch()
    assert store.jobs.list().jobs == ()
    assert len(store.events.dispatch()) == 2


def test_event_that_creates_no_job_reports_why_and_is_dispatched(store: Store) -> None:
    store.triggers.add(NewTrigger("again", "plain", {"n": "{{event.n}}"}, event="ping"))
    publish(store, NewEvent("ping"))
    (fired,) = store.events.dispatch()
    assert fired.error is not None and "event.n" in fired.error
    assert store.events.dispatch() == []


def test_emitted_event_with_an_id_is_recorded_once(store: Store) -> None:
    store.triggers.add(NewTrigger("again", "plain", event="ping"))
    assert store.events.emit("ping", {"n": 1}, event_id="a")[0].job
    assert store.events.emit("ping", {"n": 2}, event_id="a")[0].job is None
    store.events.emit("ping", {"n": 1}, event_id="a", tenant_id="acme")
    assert [(event.tenant_id, event.event_key) for event in published(store)] == [("global", "a"), ("acme", "a")]
    assert store.events.dispatch() == [], "it was dispatched when it was emitted"


def test_events_are_listed_by_name_time_and_tenant(store: Store, clock: FakeClock) -> None:
    publish(store, NewEvent("run.seen"), NewEvent("run.completed", tenant_id="acme"))
    clock.advance(60)
    noon = datetime.fromtimestamp(clock(), UTC)
    publish(store, NewEvent("model.late"))
    assert [one.name for one in store.events.list(pattern="run.*")] == ["run.completed", "run.seen"]
    assert [one.name for one in store.events.list(since=noon)] == ["model.late"]
    assert [one.name for one in store.events.list(tenant_id="acme")] == ["run.completed"]
    assert [one.id for one in store.events.list(before_id=3, limit=1)] == [2]
    # A transaction in another database on the server may hold events back for a moment.
    wait_until(lambda: store.events.newest_id() == 3)
    assert [one.id for one in store.events.after(1)] == [2, 3]
    with pytest.raises(BadArguments, match=r"run\.\*"):
        store.events.list(pattern="[a")
    with pytest.raises(EventNotFound):
        store.events.get(99)


def test_old_events_are_pruned_once_they_are_dispatched(store: Store, clock: FakeClock) -> None:
    publish(store, NewEvent("ping"))
    store.events.dispatch()
    publish(store, NewEvent("pong"))
    clock.advance(timedelta(days=32).total_seconds())
    store.maintenance.prune(3, 90)
    assert names(store) == ["pong"]


def test_conditions_begin_and_end_once(store: Store) -> None:
    with store.database.write() as tx:
        assert tx.begin_condition("disk.low", "/")
        assert not tx.begin_condition("disk.low", "/")
    with store.database.write() as tx:
        assert tx.end_condition("disk.low", "/")
        assert not tx.end_condition("disk.low", "/")


def test_events_of_an_attempt_name_its_job(store: Store) -> None:
    """Effects are attributed to the job that caused them."""
    with store.database.write() as tx:
        assert tx.source_job is None
        tx.source_job = 7
        tx.publish(NewEvent("ping"))
    assert published(store)[0].job_id == 7
