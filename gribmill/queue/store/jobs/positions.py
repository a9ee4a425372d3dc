"""Explicit order among pending jobs of one priority.

Position 0 is natural order; negative is pinned ahead, positive parked behind. Other positions belong to jobs that were
moved, and to jobs that were enqueued behind a parked job of their priority.
"""

from __future__ import annotations

from collections.abc import Sequence

from gribmill.queue.model import PlacedJob

GAP = 100


def ahead_of(other_id: int, job_id: int, queue: Sequence[PlacedJob]) -> dict[int, int]:
    """New positions that put a job directly ahead of another; empty if the other is not pending."""
    others = [one for one in queue if one.id != job_id]
    at = next((index for index, one in enumerate(others) if one.id == other_id), None)
    if at is None:
        return {}
    position = _between(others, at)
    return {job_id: position} if position is not None else _pinned_up_to(others, at, job_id)


def behind(other_id: int, job_id: int, queue: Sequence[PlacedJob]) -> dict[int, int]:
    """New positions that put a job directly behind another; empty if the other is not pending."""
    others = [one for one in queue if one.id != job_id]
    at = next((index for index, one in enumerate(others) if one.id == other_id), None)
    if at is None:
        return {}
    if at + 1 < len(others):
        return ahead_of(others[at + 1].id, job_id, queue)
    # The other job is the last. If it is pinned, natural order (0) is behind it.
    return {job_id: 0 if others[at].position < 0 else others[at].position + GAP}


def renumbered(queue: Sequence[PlacedJob]) -> dict[int, int]:
    """The moved jobs with even gaps, order unchanged."""
    pinned = [one.id for one in queue if one.position < 0]
    parked = [one.id for one in queue if one.position > 0]
    places = {job_id: -GAP * (len(pinned) - n) for n, job_id in enumerate(pinned)}
    return places | {job_id: GAP * (n + 1) for n, job_id in enumerate(parked)}


def _between(queue: Sequence[PlacedJob], at: int) -> int | None:
    """A free position between the job at `at` and the one before it, if there is one."""
    here = queue[at].position
    before = queue[at - 1].position if at else min(here, 0) - 2 * GAP
    middle = (before + here) // 2
    return middle if before < middle < here else None


def _pinned_up_to(queue: Sequence[PlacedJob], at: int, job_id: int) -> dict[int, int]:
    """Number the queue up to the job at `at` as …, -200, -100, with `job_id` directly ahead of that job.

    The numbers end below the next job's position, which preserves the order.
    """
    ceiling = min(0, queue[at + 1].position) if at + 1 < len(queue) else 0
    places = {queue[at].id: ceiling - GAP, job_id: ceiling - 2 * GAP}
    return places | {one.id: ceiling - GAP * n for n, one in enumerate(reversed(queue[:at]), start=3)}
