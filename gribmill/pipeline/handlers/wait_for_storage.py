"""How jobs wait for storage: for space on a full disk, or for an object store that does not respond.

They are snoozed with growing delays, which uses no attempt.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable

from gribmill.catalogue.events import DiskLow
from gribmill.pipeline.context import Context
from gribmill.pipeline.effects import effects_of
from gribmill.queue.model import Effect, Outcome, Snoozed
from gribmill.queue.worker.task import Batch, Task
from gribmill.storage.errors import ObjectStoreUnreachable

FIRST_PAUSE_SECONDS = 5.0
LONGEST_SPACE_SECONDS = 300.0
LONGEST_STORE_SECONDS = 60.0
# Tiles are normally built within seconds or minutes.
LONGEST_TILES_SECONDS = 60.0


def wait_for_space(reason: str, attempt_no: int, also: Iterable[Effect] = ()) -> Snoozed:
    """The outcome of a job that ran out of space: retried after growing delays."""
    return Snoozed(_pause(attempt_no, LONGEST_SPACE_SECONDS), reason, also=tuple(also))


def wait_before_fetching(context: Context, attempt_no: int) -> Snoozed | None:
    """The outcome of a download that must not begin yet; None if it may.

    While downloaded hours wait for their tiles, as much space as they occupy is reserved for the tiles.
    """
    context.root.path.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(context.root.path)
    mark = context.settings.chain.free_space_mark(usage.total)
    if usage.free < mark:
        reason = f"the disk has {_size(usage.free)} free, less than {_size(mark)} (chain.min_free_gigabytes)"
        low = effects_of([DiskLow(str(context.root.path), usage.free, round(mark))])
        pause = _pause(attempt_no, LONGEST_SPACE_SECONDS)
        return Snoozed(pause, f"{reason}: nothing is downloaded until it has more", also=low)
    waiting = context.catalogue.waiting()
    if usage.free < mark + waiting.bytes:
        hours = "1 downloaded hour waits" if waiting.hours == 1 else f"{waiting.hours} downloaded hours wait"
        reason = f"{hours} for tiles ({_size(waiting.bytes)})"
        pause = _pause(attempt_no, LONGEST_TILES_SECONDS)
        return Snoozed(pause, f"{reason}, and the disk has only {_size(usage.free)} free: tiles are built first")
    return None


def wait_for_store(error: ObjectStoreUnreachable, attempt_no: int) -> Snoozed:
    """The outcome of a job whose object store did not respond."""
    return Snoozed(_pause(attempt_no, LONGEST_STORE_SECONDS), str(error))


def or_wait(task: Task, work: Callable[[], Outcome]) -> Outcome:
    """Do the work of a job; if the object store does not respond, the job waits for it."""
    try:
        return work()
    except ObjectStoreUnreachable as error:
        return wait_for_store(error, task.attempt_no)


def or_all_wait(batch: Batch, work: Callable[[], None]) -> None:
    """Do the work of a batch; if the object store does not respond, tasks that are not reported yet wait for it."""
    try:
        work()
    except ObjectStoreUnreachable as error:
        for task in batch.unreported:
            batch.done(task, wait_for_store(error, task.attempt_no))


def _pause(attempt_no: int, longest: float) -> float:
    return min(FIRST_PAUSE_SECONDS * 2.0 ** min(attempt_no - 1, 20), longest)


def _size(count: float) -> str:
    return f"{count / 1e6:,.1f} MB" if count < 10e9 else f"{count / 1e9:,.0f} GB"
