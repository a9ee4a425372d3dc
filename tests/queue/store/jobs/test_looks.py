"""Reads of the queue never wait for locks."""

from __future__ import annotations

from gribmill.queue.model import Job
from gribmill.queue.store import Store
from tests.queue.store.sample_types import ALL
from tests.queue.store.store_driver import add, take
from tests.queue.store.tested_backend import BackendUnderTest


def test_reads_do_not_wait_for_an_uncommitted_change(backend: BackendUnderTest, store: Store) -> None:
    """Claims and recovery lock rows; a read needs no lock and sees the state before the uncommitted change."""
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
