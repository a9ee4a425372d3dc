"""The first page: freshness of the models, activity of the queue, and what needs attention."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gribmill.console.chart import lines, round_up, stacked_bars
from gribmill.console.frame import AnyStore, Visitor
from gribmill.console.weather_look import WeatherLook
from gribmill.console.wording import duration
from gribmill.pipeline.status.freshness import RegionFreshness
from gribmill.pipeline.status.status import ModelStatus
from gribmill.queue.model import Worker
from gribmill.queue.store.types.activity import MinuteOfJobs

ORDER = {"stale": 0, "late": 1, "ok": 2, "not followed": 3}
DEAD_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model: the state of its worst region, and the newest run that is complete in all of them."""

    model_id: str
    title: str
    state: str
    regions: int
    complete: str | None
    age_seconds: float | None
    expected: str | None
    next_due_at: datetime | None
    newest: str | None
    arriving: str
    """Progress of the newest run."""
    why: tuple[str, ...]


def model_rows(look: WeatherLook, regions: Collection[str] | None) -> list[ModelRow]:
    """Worst first. `regions` are those that a tenant may see; None for all."""
    found = []
    for status in look.statuses:
        fresh = [
            one for one in look.fresh if one.model_id == status.model_id and (regions is None or one.region in regions)
        ]
        if fresh or regions is None:
            found.append(_row(status, fresh))
    return sorted(found, key=lambda row: (ORDER[row.state], row.model_id))


def _row(status: ModelStatus, fresh: Sequence[RegionFreshness]) -> ModelRow:
    worst = min(fresh, key=lambda one: (ORDER[one.state], one.complete or ""), default=None)
    newest = status.newest
    return ModelRow(
        status.model_id,
        status.title,
        worst.state if worst else "not followed",
        len(fresh),
        worst.complete if worst else next(iter(status.complete.values()), None),
        worst.age_seconds if worst else None,
        worst.expected if worst else None,
        status.next_due_at if worst else None,
        newest.run_id if newest else None,
        f"{newest.hours_built} of {newest.hours_expected} hours" if newest else "",
        tuple(_reasons(fresh)),
    )


def _reasons(fresh: Sequence[RegionFreshness]) -> list[str]:
    """`late: build failing (ne, texas)`."""
    by_text: dict[str, list[str]] = {}
    for one in fresh:
        if one.cause is not None:
            by_text.setdefault(one.text, []).append(one.region)
    return [f"{text} ({', '.join(names[:4])}{'…' if len(names) > 4 else ''})" for text, names in by_text.items()]


def queue_values(handle: AnyStore, workers: Sequence[Worker], lease: timedelta, now: datetime) -> dict[str, Any]:
    """Cards and charts."""
    counts = handle.activity.counts()
    hour = handle.activity.last_hour()
    ended = sum(one.succeeded + one.failed for one in hour)
    failed = sum(one.failed for one in hour)
    dead = handle.activity.dead_letters(DEAD_COUNTED)
    running = [one for one in workers if one.state != "stopped"]
    silent = [one for one in running if one.last_heartbeat is None or one.last_heartbeat < now - lease]

    def total(status: str) -> int:
        return sum(n for (_, its), n in counts.items() if its == status)

    return {
        "queued": total("pending"),
        "running": total("processing"),
        "failed": total("failed"),
        "dead": f"{dead:,}+" if dead == DEAD_COUNTED else f"{dead:,}",
        "dead_count": dead,
        "workers_online": len(running) - len(silent),
        "failure_rate": failed / ended if ended else None,
        "ended": ended,
        "failures": failed,
        "charts": chart_values(hour),
    }


def chart_values(hour: Sequence[MinuteOfJobs]) -> dict[str, Any]:
    """Throughput and latency of the last hour, minute by minute."""
    labels = [f"{one.begins:%H:%M} UTC: {one.succeeded} succeeded, {one.failed} failed" for one in hour]
    bars, top = stacked_bars([(one.succeeded, one.failed, label) for one, label in zip(hour, labels, strict=True)])
    seconds = [value for one in hour for value in (one.wait_seconds, one.run_seconds) if value is not None]
    slowest = round_up(max(seconds, default=0.0))
    return {
        "bars": bars,
        "top": top,
        "wait": lines([one.wait_seconds for one in hour], slowest),
        "run": lines([one.run_seconds for one in hour], slowest),
        "slowest": slowest,
        "latencies": [_latency(one) for one in hour],
        "begins": hour[0].begins if hour else None,
        "empty": not any(one.succeeded or one.failed for one in hour),
    }


def _latency(one: MinuteOfJobs) -> str:
    return f"{one.begins:%H:%M} UTC: waited {duration(one.wait_seconds)}, ran {duration(one.run_seconds)}"


def overview_values(
    handle: AnyStore,
    look: WeatherLook,
    workers: Sequence[Worker],
    lease_seconds: float,
    regions: Collection[str] | None,
    visitor: Visitor,
) -> dict[str, Any]:
    """Everything on the page except what needs attention."""
    queue = queue_values(handle, workers, timedelta(seconds=lease_seconds), look.taken_at)
    return {"models": model_rows(look, regions), "queue": queue, "shows_workers": visitor.sees_all}
