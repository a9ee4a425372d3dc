"""How jobs handle a full disk: they are retried later, and downloads leave room for tiles."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from gribmill.catalogue.events import DiskLow
from gribmill.pipeline.context import Context
from gribmill.pipeline.effects import effects_of
from gribmill.pipeline.retention.free_space import free_space_mark
from gribmill.queue.model import Effect, Snoozed

FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 300.0
# Tiles are normally built within seconds or minutes.
LONGEST_TILES_SECONDS = 60.0


def wait_for_space(reason: str, attempt_no: int, also: Iterable[Effect] = ()) -> Snoozed:
    """The outcome of a job that ran out of space: retried after growing delays."""
    return Snoozed(_pause(attempt_no, LONGEST_PAUSE_SECONDS), reason, also=tuple(also))


def wait_before_fetching(context: Context, attempt_no: int) -> Snoozed | None:
    """The outcome of a download that must not begin yet; None if it may.

    While downloaded hours wait for their tiles, as much space as they take is left for the tiles.
    """
    context.root.path.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(context.root.path)
    mark = free_space_mark(context.settings, usage.total)
    if usage.free < mark:
        reason = f"the disk has {_size(usage.free)} free, less than {_size(mark)} (chain.min_free_gigabytes)"
        low = effects_of([DiskLow(str(context.root.path), usage.free, round(mark))])
        pause = _pause(attempt_no, LONGEST_PAUSE_SECONDS)
        return Snoozed(pause, f"{reason}: nothing is downloaded until it has more", also=low)
    waiting = context.catalogue.waiting()
    if usage.free < mark + waiting.bytes:
        hours = "1 downloaded hour waits" if waiting.hours == 1 else f"{waiting.hours} downloaded hours wait"
        reason = f"{hours} for tiles ({_size(waiting.bytes)})"
        pause = _pause(attempt_no, LONGEST_TILES_SECONDS)
        return Snoozed(pause, f"{reason}, and the disk has only {_size(usage.free)} free: tiles are built first")
    return None


def _pause(attempt_no: int, longest: float) -> float:
    return min(FIRST_PAUSE_SECONDS * 2.0 ** min(attempt_no - 1, 20), longest)


def _size(count: float) -> str:
    return f"{count / 1e6:,.1f} MB" if count < 10e9 else f"{count / 1e9:,.0f} GB"
