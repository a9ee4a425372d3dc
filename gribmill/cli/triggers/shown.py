"""Formats the times and firings of triggers."""

from __future__ import annotations

from datetime import datetime

from gribmill.queue.model import Fired


def time_text(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z" if moment else ""


def firing_sentence(one: Fired) -> str:
    if one.error:
        return f"error: trigger {one.trigger_id} could not enqueue a job: {one.error}"
    if one.job is None:
        return f"trigger {one.trigger_id} has seen this event already"
    if not one.job.created:
        return f"trigger {one.trigger_id}: an equal job, {one.job.id}, is active already"
    return f"trigger {one.trigger_id} enqueued job {one.job.id}"
