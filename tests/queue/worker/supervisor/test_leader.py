"""One worker fires the schedules until another replaces it, whatever the clock of its host says."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable

import pytest

from gribmill.queue.model import NewTrigger
from gribmill.queue.store import Store
from gribmill.queue.times import to_text
from gribmill.queue.worker.supervisor import trigger_poller
from gribmill.queue.worker.supervisor.trigger_poller import TriggerPoller
from tests.queue.backends import BOTH, by_hand
from tests.queue.worker.worker_driver import SteppedWorker, enqueue

pytestmark = pytest.mark.process

NewWorker = Callable[..., SteppedWorker]
# More than any pause of a busy machine, and far less than the hours by which a clock is wrong.
SLOWNESS_SECONDS = 600


@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_first_worker_leads_and_the_next_one_follows_when_it_ends(store: Store, new_worker: NewWorker) -> None:
    first, second = new_worker(), new_worker()
    assert store.workers.leader() == first.supervisor.worker_id
    assert not second.supervisor._triggers.leads
    first.supervisor.draining = True
    first.supervisor._beat()
    second.supervisor._beat()
    assert store.workers.leader() == second.supervisor.worker_id
    assert second.supervisor._triggers.leads and not first.supervisor._triggers.leads


@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_leader_that_is_silent_for_a_lease_is_replaced(store: Store, address: str) -> None:
    assert store.workers.lead("one", 60.0)
    assert not store.workers.lead("other", 60.0)
    by_hand(address, "UPDATE queue_leases SET expires_at = '2026-01-01 00:00:00.000'")
    assert store.workers.leader() is None
    assert store.workers.lead("other", 60.0)
    assert not store.workers.lead("one", 60.0)


@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_slot_missed_by_the_leader_is_fired_once_by_another_worker(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = store.triggers.add(NewTrigger("often", "sleep", {}, cron="* * * * *"))
    assert made.next_fire_at is not None
    due = to_text(made.next_fire_at.timestamp() - 60)
    by_hand(address, f"UPDATE job_triggers SET next_trigger_at = '{due}' WHERE id = {made.id}")
    follower, other = TriggerPoller(store), TriggerPoller(store)
    for one in (follower, other):
        one.leads = False
    assert not follower.fire_if_due(), "it is the leader's"
    monkeypatch.setattr(trigger_poller, "LEADER_SECONDS", 0.0)
    for one in (follower, other):
        one.next_look = 0.0
    assert follower.fire_if_due()
    assert not other.fire_if_due()
    assert sum(kind.counts.get("pending", 0) for kind in store.types.stats()) == 1


@pytest.mark.postgres
@pytest.mark.parametrize("address", ["postgres"], indirect=True)
@pytest.mark.parametrize("hours", [-3, 3])
def test_worker_whose_clock_is_hours_off_warns_and_works(
    store: Store, new_worker: NewWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, hours: int
) -> None:
    true = time.time
    monkeypatch.setattr(time, "time", lambda: true() + hours * 3600)
    caplog.set_level(logging.WARNING)
    worker = new_worker(lease_seconds=20.0)
    worker.supervisor._beat()
    side = "ahead of" if hours > 0 else "behind"
    said = [found[1] for text in caplog.messages if (found := re.search(rf"(\d+) s {side} the database's", text))]
    assert len(said) == 1, "said once"
    # The time that reading the database's clock takes counts too.
    assert int(said[0]) == pytest.approx(10_800, abs=SLOWNESS_SECONDS)
    (known,) = store.workers.list()
    assert known.metadata["clock_offset_seconds"] == pytest.approx(hours * 3600, abs=SLOWNESS_SECONDS)
    assert known.last_heartbeat is not None
    assert abs(known.last_heartbeat.timestamp() - true()) < SLOWNESS_SECONDS, "times are the database's"
    assert [one.id for one in store.workers.alive(20.0)] == [known.id]
    (job,) = worker.finish(enqueue(store, "note", path="/dev/null"))
    assert job.status == "completed"
    assert not store.maintenance.recover()
