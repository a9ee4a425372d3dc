"""Looks at the queue wait for nobody, and claims leave alone what another transaction holds."""

from __future__ import annotations

from gribmill.queue.model import Job
from gribmill.queue.store import Store
from tests.queue.store.sample_types import ALL
from tests.queue.store.store_driver import add, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_looks_do_not_wait_for_a_change_that_is_under_way(backend: BackendUnderTest, store: Store) -> None:
    """Statements of claims and of recovery lock rows; a look must not need that, and sees what was there before."""
    waiting, running = add(store, delay_seconds=100), add(store)
    assert take(store).id == running
    with backend.open().database.write() as tx:
        for job in (waiting, running):
            assert tx.first(Job, "jobs/lock", {"job_id": job})
        assert tx.change("jobs/run_now", {"job_id": waiting})
        with store.database.read() as look:
            assert not look.any_lost(3600.0)
            assert not look.any_trigger_due(ALL)
            assert look.violations() == []
        assert store.jobs.get(waiting).next_run_at is not None
        assert {job.id for job in store.jobs.list().jobs} == {waiting, running}
    assert store.jobs.get(waiting).next_run_at is None
