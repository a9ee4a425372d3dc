"""Jobs enqueued by schedules and by events."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from gribmill.queue.errors import BadArguments, BadTrigger, TriggerNotFound, UnknownJobType
from gribmill.queue.job_type import Registry
from gribmill.queue.model import NewJob, NewTrigger
from gribmill.queue.store import Store
from tests.queue.store.fake_clock import FakeClock
from tests.queue.store.sample_types import UNIQUE
from tests.queue.store.store_driver import snooze, succeed, take
from tests.queue.store.tested_backend import ONLY_SQLITE, BackendUnderTest


def at(clock: FakeClock, text: str) -> None:
    """Set the clock forward."""
    clock.advance(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() - clock())


def every_ten(store: Store, **fields: Any) -> int:
    rule: dict[str, Any] = {"args": {"n": 1}, "cron": "*/10 * * * *", **fields}
    return store.triggers.add(NewTrigger("every ten minutes", "plain", **rule)).id


def occasions(store: Store) -> list[str]:
    return [one.occasion[11:16] for one in store.triggers.fire_due()]


@pytest.fixture(autouse=True)
def _noon(clock: FakeClock) -> None:
    at(clock, "2030-01-01 12:00:30")


def test_schedule_fires_at_its_slots_and_not_before(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store, priority=3, tenant_id="acme")
    assert store.triggers.fire_due() == []
    assert store.triggers.seconds_to_next_slot() == pytest.approx(570)
    at(clock, "2030-01-01 12:09:59")
    assert store.triggers.fire_due() == []
    at(clock, "2030-01-01 12:10:00")
    (fired,) = store.triggers.fire_due()
    assert fired.trigger_id == trigger
    assert fired.job is not None
    job = store.jobs.get(fired.job.id)
    assert (job.type, job.args, job.priority, job.tenant_id) == ("plain", {"n": 1}, 3, "acme")
    assert (job.source, job.source_ref) == ("schedule", f"trigger {trigger}: 2030-01-01T12:10:00.000Z")
    (kept,) = store.triggers.list()
    assert kept.last_fired_at == datetime(2030, 1, 1, 12, 10, tzinfo=UTC)
    assert kept.next_fire_at == datetime(2030, 1, 1, 12, 20, tzinfo=UTC)
    assert store.triggers.fire_due() == []


@pytest.mark.parametrize(
    ("misfire", "made"),
    [("latest", ["12:50"]), ("all", ["12:10", "12:20", "12:30", "12:40", "12:50"]), ("skip", [])],
)
def test_missed_slots_follow_the_triggers_misfire_policy(
    store: Store, clock: FakeClock, misfire: Any, made: list[str]
) -> None:
    every_ten(store, misfire=misfire)
    at(clock, "2030-01-01 12:55")
    assert occasions(store) == made
    at(clock, "2030-01-01 13:00:20")
    assert occasions(store) == ["13:00"], "late by less than a minute is not missed"
    assert store.verify() == []


def test_slots_missed_in_a_long_sleep_are_made_up_in_steps(store: Store, clock: FakeClock) -> None:
    every_ten(store, misfire="all")
    at(clock, "2030-01-02 12:00:30")
    rounds = []
    while found := store.triggers.fire_due():
        rounds.append(len(found))
        assert (store.triggers.seconds_to_next_slot() == 0) == (sum(rounds) < 144)
    assert rounds == [100, 44]


def test_active_equal_job_takes_the_place_of_a_new_one(store: Store, clock: FakeClock) -> None:
    store.triggers.add(NewTrigger("unique", "unique", {"n": 1}, cron="* * * * *"))
    at(clock, "2030-01-01 12:01")
    (first,) = store.triggers.fire_due()
    at(clock, "2030-01-01 12:02")
    (second,) = store.triggers.fire_due()
    assert first.job is not None
    assert second.job == (first.job.id, False)


def test_the_slot_can_be_passed_to_the_job(store: Store, clock: FakeClock) -> None:
    store.triggers.add(NewTrigger("arrived", "tile", {"region": "at {{schedule.slot}}"}, cron="* * * * *"))
    at(clock, "2030-01-01 12:01")
    store.triggers.fire_due()
    assert json.loads(take(store).args)["region"] == "at 2030-01-01T12:01:00.000Z"


def test_disabled_schedule_does_not_fire_and_makes_up_no_slots(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store, misfire="all")
    off = store.triggers.set_enabled(trigger, enabled=False)
    assert (off.is_enabled, off.next_fire_at) == (False, None)
    assert store.triggers.seconds_to_next_slot() is None
    at(clock, "2030-01-01 13:05")
    assert store.triggers.fire_due() == []
    store.triggers.set_enabled(trigger, enabled=True)
    at(clock, "2030-01-01 13:10")
    assert occasions(store) == ["13:10"]


def test_removed_trigger_leaves_its_jobs(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store)
    at(clock, "2030-01-01 12:10")
    store.triggers.fire_due()
    store.triggers.remove(trigger)
    assert store.triggers.list() == []
    assert len(store.jobs.list().jobs) == 1
    for act in (store.triggers.remove, lambda wanted: store.triggers.set_enabled(wanted, enabled=True)):
        with pytest.raises(TriggerNotFound, match=f"no trigger {trigger}"):
            act(trigger)


@pytest.mark.parametrize(
    ("fields", "error", "reason"),
    [
        ({"type": "nope"}, UnknownJobType, "no job type 'nope'"),
        ({"args": {"m": 1}}, BadArguments, "m: no such argument"),
        ({"args": {"n": "x"}}, BadArguments, "n: "),
        ({"args": {"n": "{{schedule.nope}}"}}, BadArguments, "which is not there"),
        ({"args": {"n": "{{event.n}}"}}, BadArguments, "never filled here"),
        ({"cron": "x"}, BadTrigger, "five fields"),
        ({"timezone": "Mars"}, BadTrigger, "no time zone"),
        ({"event": "x"}, BadTrigger, "either a schedule or an event"),
        ({"cron": None}, BadTrigger, "either a schedule or an event"),
        ({"cron": None, "event": "x", "args": {"n": "y"}}, BadArguments, "n: "),
        ({"label": ""}, BadTrigger, "label"),
        ({"cron": None, "event": ""}, BadTrigger, "event's name"),
        ({"cron": None, "event": "x" * 201}, BadTrigger, "event's name"),
        ({"cron": None, "event": "x", "args": {"n": "{{schedule.slot}}"}}, BadArguments, "never filled here"),
        ({"cron": None, "event": "x", "args": {"n": "{{event.n}}"}, "priority": 2**40}, BadArguments, "priority"),
        ({"cron": None, "event": "x", "args": {"n": "{{event.n}}" + "x" * 70_000}}, BadArguments, "larger than"),
        ({"dedupe_window_seconds": -1}, BadTrigger, "window"),
        ({"priority": 2**40}, BadArguments, "priority"),
    ],
)
def test_trigger_that_could_never_create_a_job_is_refused(
    store: Store, fields: dict[str, Any], error: type[Exception], reason: str
) -> None:
    rule: dict[str, Any] = {"label": "x", "type": "plain", "args": {"n": 1}, "cron": "* * * * *", **fields}
    with pytest.raises(error, match=reason):
        store.triggers.add(NewTrigger(**rule))
    assert store.triggers.list() == []


def test_a_manually_inserted_trigger_starts_now_and_an_invalid_one_is_disabled(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    insert = (
        "INSERT INTO job_triggers (label, trigger_type, cron_expr, timezone, definition_key, payload_template)"
        " VALUES (?, 'schedule', ?, 'UTC', 'plain', ?)"
    )
    backend.by_hand(insert, "good", "*/10 * * * *", '{"n": 1}')
    backend.by_hand(insert, "bad cron", "never", "{}")
    backend.by_hand(insert, "bad template", "*/10 * * * *", "[")
    assert store.triggers.seconds_to_next_slot() == 0
    (switched_off,) = store.triggers.fire_due()
    assert switched_off.error is not None
    assert "switched off: 'never' is not a schedule" in switched_off.error
    at(clock, "2030-01-01 12:10")
    good, bad = store.triggers.fire_due()
    assert good.job is not None
    assert bad.error == "the template of trigger 3 is not a JSON object"
    assert [one.is_enabled for one in store.triggers.list()] == [True, False, True]


@ONLY_SQLITE
@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("priority", "high", "the priority of trigger 1 is not a whole number"),
        ("cron_expr", b"x", "the cron_expr of trigger 1 is not a text"),
        ("timezone", b"x", "the timezone of trigger 1 is not a text"),
        ("next_trigger_at", "0001-01-01 00:00:00", "switched off"),
    ],
)
def test_an_invalid_trigger_row_is_disabled_and_does_not_stop_the_others(
    store: Store, backend: BackendUnderTest, clock: FakeClock, column: str, value: Any, reason: str
) -> None:
    spoilt, other = every_ten(store, misfire="all"), every_ten(store)
    backend.by_hand(f"UPDATE job_triggers SET {column} = ? WHERE id = ?", value, spoilt)
    at(clock, "2030-01-01 12:10")
    fired = {one.trigger_id: one for one in store.triggers.fire_due()}
    assert fired[other].job is not None
    assert reason in (fired[spoilt].error or "")
    assert backend.by_hand("SELECT is_enabled FROM job_triggers ORDER BY id") == [(0,), (1,)]
    store.triggers.remove(spoilt)


@ONLY_SQLITE
@pytest.mark.parametrize("word", ["soon", None])
def test_text_instead_of_a_time_restarts_the_schedule(
    store: Store, backend: BackendUnderTest, clock: FakeClock, word: str | None
) -> None:
    every_ten(store)
    backend.by_hand("UPDATE job_triggers SET next_trigger_at = ?", word)
    assert store.triggers.fire_due() == []
    at(clock, "2030-01-01 12:10")
    assert occasions(store) == ["12:10"]


def test_schedules_resume_after_the_clock_was_ahead(store: Store, clock: FakeClock) -> None:
    every_ten(store)
    on_ping(store)
    at(clock, "2036-01-01 00:00")
    store.triggers.fire_due()
    assert store.events.emit("ping", {"n": 1})[0].job
    at(clock, "2030-01-01 12:05")
    assert store.events.emit("ping", {"n": 1})[0].job, "that was six years from now"
    assert store.triggers.fire_due() == []
    at(clock, "2030-01-01 12:10")
    assert occasions(store) == ["12:10"]


def test_many_due_schedules_take_turns(store: Store, clock: FakeClock) -> None:
    for _ in range(30):
        every_ten(store, misfire="all")
    at(clock, "2030-01-01 13:00:00")
    rounds = []
    while found := store.triggers.fire_due():
        rounds.append(len(found))
    assert sum(rounds) == 30 * 6
    assert max(rounds) < 150, "no transaction makes all of them"


def test_a_slot_of_an_unknown_type_is_left_to_workers_that_know_it(
    store: Store, backend: BackendUnderTest, clock: FakeClock
) -> None:
    every_ten(store)
    older = backend.open(Registry(UNIQUE))
    at(clock, "2030-01-01 12:10")
    assert older.triggers.seconds_to_next_slot() is None
    assert older.triggers.fire_due() == []
    assert occasions(store) == ["12:10"]


def test_enabling_an_enabled_trigger_skips_no_slot(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store, misfire="all")
    at(clock, "2030-01-01 12:25")
    store.triggers.set_enabled(trigger, enabled=True)
    assert occasions(store) == ["12:10", "12:20"]


def on_ping(store: Store, **fields: Any) -> int:
    return store.triggers.add(NewTrigger("on ping", "plain", {"n": "{{event.n}}"}, event="ping", **fields)).id


def test_an_event_fires_every_trigger_that_listens_to_it(store: Store) -> None:
    one, two = on_ping(store), on_ping(store, priority=7)
    on_ping(store, tenant_id="acme")
    store.triggers.set_enabled(on_ping(store), enabled=False)
    assert store.events.emit("pong", {"n": 1}) == []
    fired = store.events.emit("ping", {"n": 4})
    assert [found.trigger_id for found in fired] == [one, two]
    jobs = [store.jobs.get(found.job.id) for found in fired if found.job]
    assert [(job.args["n"], job.priority, job.source) for job in jobs] == [(4, 0, "event"), (4, 7, "event")]
    assert len(store.events.emit("ping", {"n": 4}, tenant_id="acme")) == 1


def test_an_event_repeated_after_the_dedupe_window_fires_again(store: Store, clock: FakeClock) -> None:
    on_ping(store, dedupe_window_seconds=60)

    def made(n: int) -> bool:
        return store.events.emit("ping", {"n": n})[0].job is not None

    assert made(1)
    assert made(2), "another payload"
    clock.advance(59)
    assert not made(1)
    clock.advance(1)
    assert made(1)


def test_an_event_with_an_id_fires_once(store: Store, clock: FakeClock) -> None:
    on_ping(store, dedupe_window_seconds=0)
    assert store.events.emit("ping", {"n": 1}, event_id="a")[0].job
    clock.advance(86_400)
    assert store.events.emit("ping", {"n": 2}, event_id="a")[0].job is None
    assert store.events.emit("ping", {"n": 1}, event_id="b")[0].job
    with pytest.raises(BadArguments, match="id has 1 to 200"):
        store.events.emit("ping", {"n": 1}, event_id="")


def test_an_event_that_fails_for_one_trigger_fires_the_others_and_can_be_repeated(store: Store) -> None:
    on_ping(store)
    store.triggers.add(NewTrigger("any", "plain", {}, event="ping"))
    bad, good = store.events.emit("ping", {"m": 1}, event_id="e")
    assert bad.job is None
    assert bad.error == "the template asks for {{event.n}}, which is not there"
    assert good.job is not None
    better, known = store.events.emit("ping", {"n": 1}, event_id="e")
    assert better.job is not None
    assert known.job is None
    assert known.error is None


@pytest.mark.parametrize("event_id", [None, "e"])
@pytest.mark.parametrize("payload", [{"n": float("nan")}, {"n": "x" * 70_000}, {"n": 10**5000}])
def test_an_oversized_or_invalid_event_is_refused(store: Store, payload: dict[str, Any], event_id: str | None) -> None:
    on_ping(store)
    with pytest.raises(BadArguments, match=r"the event's payload is larger|the payload is not JSON"):
        store.events.emit("ping", payload, event_id=event_id)


def test_old_firings_are_forgotten(store: Store, backend: BackendUnderTest, clock: FakeClock) -> None:
    on_ping(store)
    store.events.emit("ping", {"n": 1}, event_id="old")
    succeed(store, take(store))
    clock.advance(32 * 86_400)
    store.events.emit("ping", {"n": 1}, event_id="new")
    store.maintenance.prune(365, 365)
    assert backend.by_hand("SELECT fire_key FROM trigger_firings") == [("id new",)]


def test_schedule_creates_no_job_within_its_window(store: Store, clock: FakeClock) -> None:
    every_ten(store, dedupe_window_seconds=1800)
    made = []
    for minute in (10, 20, 30, 40, 50):
        at(clock, f"2030-01-01 12:{minute}:00")
        clock.advance(0.005)
        made += occasions(store)
    assert made == ["12:10", "12:40"]


def test_missed_slots_within_the_window_are_skipped(store: Store, clock: FakeClock) -> None:
    every_ten(store, misfire="all", dedupe_window_seconds=1800)
    at(clock, "2030-01-01 13:05")
    assert occasions(store) == ["12:10", "12:40"]


def test_misfire_is_refused_for_an_event(store: Store) -> None:
    with pytest.raises(BadTrigger, match="misfire"):
        on_ping(store, misfire="all")


def test_edited_trigger_keeps_its_id_and_its_firings(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store)
    at(clock, "2030-01-01 12:10:00")
    assert len(store.triggers.fire_due()) == 1
    edited = store.triggers.edit(trigger, cron="30 * * * *", label="half past", args={"n": 7}, priority=4)
    assert (edited.id, edited.label, edited.priority, edited.template) == (trigger, "half past", 4, {"n": 7})
    assert edited.last_fired_at == datetime(2030, 1, 1, 12, 10, tzinfo=UTC)
    assert edited.next_fire_at == datetime(2030, 1, 1, 12, 30, tzinfo=UTC)
    at(clock, "2030-01-01 12:20:00")
    assert store.triggers.fire_due() == []
    at(clock, "2030-01-01 12:30:00")
    (fired,) = store.triggers.fire_due()
    assert fired.job is not None
    assert store.jobs.get(fired.job.id).args == {"n": 7}
    later = store.triggers.edit(trigger, timezone="Asia/Kolkata")
    assert later.next_fire_at == datetime(2030, 1, 1, 13, 0, tzinfo=UTC)


def test_edit_of_a_label_leaves_the_next_slot(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store)
    at(clock, "2030-01-01 12:15:00")
    store.triggers.edit(trigger, label="other")
    assert occasions(store) == ["12:10"], "a slot that is due is not lost"
    store.triggers.set_enabled(trigger, enabled=False)
    assert store.triggers.edit(trigger, cron="0 * * * *").next_fire_at is None


def test_schedule_can_become_an_event_trigger_and_back(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store)
    edited = store.triggers.edit(trigger, event="ping", args={"n": "{{event.n}}"})
    assert (edited.cron, edited.timezone, edited.next_fire_at) == (None, None, None)
    at(clock, "2030-01-01 12:10:00")
    assert store.triggers.fire_due() == []
    assert store.events.emit("ping", {"n": 3})[0].job
    assert store.triggers.edit(trigger, cron="0 * * * *", args={}).next_fire_at is not None
    assert store.events.emit("ping", {"n": 4}) == []


def test_edit_that_could_never_create_a_job_is_refused(store: Store) -> None:
    trigger = every_ten(store)
    before = store.triggers.list()
    wrong: list[dict[str, Any]] = [
        {"cron": "x"}, {"timezone": "Mars"}, {"args": {"m": 1}}, {"cron": "* * * * *", "event": "ping"},
        {"event": "ping", "timezone": "UTC"}, {"event": "ping", "misfire": "all"}, {"label": ""},
        {"dedupe_window_seconds": 10**9}, {"event": "ping", "args": {"n": "{{schedule.slot}}"}},
    ]  # fmt: skip
    for changes in wrong:
        with pytest.raises((BadTrigger, BadArguments)):
            store.triggers.edit(trigger, **changes)
    with pytest.raises(TriggerNotFound):
        store.triggers.edit(99, label="x")
    assert store.triggers.list() == before


def test_manual_firing_leaves_the_schedule_unchanged(store: Store, clock: FakeClock) -> None:
    trigger = every_ten(store)
    store.triggers.set_enabled(trigger, enabled=False)
    for _ in range(2):
        assert store.triggers.fire_now(trigger).job
    store.triggers.set_enabled(trigger, enabled=True)
    assert store.triggers.fire_now(trigger).job
    with pytest.raises(BadTrigger):
        store.triggers.fire_now(trigger, {"n": 1})
    at(clock, "2030-01-01 12:10:00")
    assert occasions(store) == ["12:10"]
    rule = store.triggers.add(NewTrigger("ping", "plain", {"n": "{{event.n}}"}, event="ping")).id
    assert store.triggers.fire_now(rule, {"n": 5}).job
    assert store.triggers.fire_now(rule).error


def test_manual_firing_wakes_an_equal_waiting_job(store: Store) -> None:
    trigger = store.triggers.add(NewTrigger("u", "unique", cron="0 0 * * *")).id
    job = store.triggers.fire_now(trigger).job
    assert job is not None
    snooze(store, take(store), 600)
    again = store.triggers.fire_now(trigger).job
    assert again is not None
    assert (again.id, again.created) == (job.id, False)
    assert take(store).id == job.id


def test_adaptive_schedules_are_rows_that_workers_do_not_fire(store: Store, clock: FakeClock) -> None:
    rules = [NewTrigger("scan a", "plain", {"n": 1}), NewTrigger("scan b", "plain", {"n": 2})]
    a, b = store.triggers.keep_adaptive(rules)
    assert (a.kind, b.kind, a.is_enabled) == ("adaptive", "adaptive", True)
    assert [one.id for one in store.triggers.keep_adaptive(rules)] == [a.id, b.id]
    soon = datetime(2030, 1, 1, 12, 1, tzinfo=UTC)
    store.triggers.plan({a.id: soon, b.id: soon}, [a.id])
    assert store.triggers.list()[0].last_fired_at is not None
    at(clock, "2030-01-01 12:05:00")
    assert store.triggers.fire_due() == []
    assert store.triggers.seconds_to_next_slot() is None
    assert [one.is_enabled for one in store.triggers.list()] == [True, True]
    store.triggers.set_enabled(a.id, enabled=False)
    assert store.triggers.set_enabled(a.id, enabled=True).next_fire_at == soon
    assert store.triggers.fire_now(a.id).job
    with pytest.raises(BadTrigger, match="gribmill run"):
        store.triggers.edit(a.id, cron="* * * * *")


def test_job_names_the_trigger_that_created_it(store: Store) -> None:
    trigger = store.triggers.add(NewTrigger("arrived", "plain", {}, event="arrived"))
    (fired,) = store.events.emit("arrived", {})
    assert fired.job is not None
    assert store.jobs.get(fired.job.id).trigger_id == trigger.id
    forged = store.jobs.enqueue(NewJob("plain", source_ref="trigger 9: x"))
    assert store.jobs.get(forged.id).trigger_id is None, "only schedules and events are triggers"
    odd = store.jobs.enqueue(NewJob("plain", source="event", source_ref="trigger x: y"))
    assert store.jobs.get(odd.id).trigger_id is None
