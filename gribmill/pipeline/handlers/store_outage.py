"""What an object store that does not answer means for jobs: they wait and come back, and it costs no attempt."""

from __future__ import annotations

from collections.abc import Callable

from gribmill.queue.model import Outcome, Snoozed
from gribmill.queue.worker.task import Batch, Task
from gribmill.storage.errors import ObjectStoreUnreachable

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 60.0


def wait_for_store(error: ObjectStoreUnreachable, attempt_no: int) -> Snoozed:
    """The outcome of a job that the store did not answer."""
    pause = min(FIRST_PAUSE_SECONDS * 2.0 ** min(attempt_no - 1, 20), LONGEST_PAUSE_SECONDS)
    return Snoozed(pause, str(error))


def or_wait(task: Task, work: Callable[[], Outcome]) -> Outcome:
    """The outcome of a job's work, or that it waits for the store."""
    try:
        return work()
    except ObjectStoreUnreachable as error:
        return wait_for_store(error, task.attempt_no)


def or_all_wait(batch: Batch, work: Callable[[], None]) -> None:
    """The work of a batch; what it has not reported when the store does not answer waits."""
    try:
        work()
    except ObjectStoreUnreachable as error:
        for task in batch.unreported:
            batch.done(task, wait_for_store(error, task.attempt_no))
