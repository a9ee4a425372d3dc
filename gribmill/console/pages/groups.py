"""Job groups and backfills: progress, rate and remaining time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gribmill.console.frame import AnyStore
from gribmill.console.pages.jobs import job_row
from gribmill.queue.model import GroupProgress
from gribmill.queue.store.jobs.listing import JobFilter

ROWS = 50
JOBS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class GroupRow:
    progress: GroupProgress
    per_minute: float | None
    """Jobs ended per minute since the group was created."""
    left_seconds: float | None


def group_row(progress: GroupProgress, now: datetime) -> GroupRow:
    began = progress.group.created_at
    minutes = (now - began).total_seconds() / 60 if began else 0.0
    rate = progress.ended / minutes if minutes > 0 and progress.ended else None
    open_jobs = progress.total - progress.ended
    return GroupRow(progress, rate, open_jobs / rate * 60 if rate and open_jobs else None)


def groups_values(handle: AnyStore, before: int | None) -> dict[str, Any]:
    now = datetime.now(UTC)
    found = [*handle.groups.list(limit=ROWS + 1, before=before)]
    return {
        "rows": [group_row(one, now) for one in found[:ROWS]],
        "next_before": found[ROWS - 1].group.id if len(found) > ROWS else None,
        "before": before,
    }


def group_values(handle: AnyStore, group_id: int) -> dict[str, Any]:
    """One group with its newest jobs; raises GroupNotFound if there is none."""
    now = datetime.now(UTC)
    progress = handle.groups.progress(group_id)
    jobs = handle.jobs.list(JobFilter(group_id=group_id), limit=JOBS_SHOWN).jobs
    return {
        "row": group_row(progress, now),
        "counts": _by_type(handle.groups.counts(group_id)),
        "jobs": [job_row(job, now) for job in jobs],
        "is_backfill": progress.group.name.startswith("backfill-"),
    }


def _by_type(counts: Mapping[tuple[str, str], int]) -> list[tuple[str, dict[str, int]]]:
    found: dict[str, dict[str, int]] = {}
    for (kind, status), n in counts.items():
        found.setdefault(kind, {})[status] = n
    return sorted(found.items())
