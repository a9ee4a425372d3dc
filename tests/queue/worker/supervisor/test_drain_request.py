"""An operator asks a worker to drain, or dismisses a silent one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gribmill.queue.errors import NotAllowed, WorkerNotFound
from gribmill.queue.store import Store
from tests.queue.backends import BOTH
from tests.queue.worker.worker_driver import SteppedWorker, enqueue

NewWorker = Callable[..., SteppedWorker]


@pytest.mark.process
@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_a_worker_that_is_asked_to_drain_starts_nothing_more_and_ends(store: Store, new_worker: NewWorker) -> None:
    worker = new_worker()
    worker_id = worker.supervisor.worker_id
    store.workers.drain(worker_id)
    assert [one.state for one in store.workers.list()] == ["draining"]
    with pytest.raises(NotAllowed, match="is draining already"):
        store.workers.drain(worker_id)
    job_id = enqueue(store, "nothing")
    worker.supervisor._heartbeat.hurry()
    worker.until(lambda: worker.supervisor.finished, "the worker to end")
    assert [one.state for one in store.workers.list()] == ["draining"], "its own heartbeat does not undo the request"
    assert store.jobs.get(job_id).status == "pending"
    worker.supervisor._beat("stopped")
    with pytest.raises(NotAllowed, match="has stopped"):
        store.workers.drain(worker_id)


@pytest.mark.parametrize("address", BOTH, indirect=True)
def test_only_a_silent_worker_is_dismissed_and_its_heartbeat_brings_it_back(store: Store) -> None:
    store.workers.heartbeat("one", 60.0)
    with pytest.raises(NotAllowed, match="is alive"):
        store.workers.dismiss("one", 60.0)
    store.workers.dismiss("one", -1.0)
    assert [one.state for one in store.workers.list()] == ["stopped"]
    store.workers.heartbeat("one", 60.0)
    assert [one.state for one in store.workers.list()] == ["active"]
    with pytest.raises(WorkerNotFound):
        store.workers.dismiss("none", 60.0)
