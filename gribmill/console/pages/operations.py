"""The operators' pages: workers, mirrors and disk."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gribmill.console.mirror_strip import STRIP_DAYS, mirror_strips
from gribmill.pipeline.context import Context
from gribmill.pipeline.retention import RunDecision, decide, runs_on_disk
from gribmill.pipeline.status.mirror_status import MirrorStatus, mirror_status, mirror_users
from gribmill.queue.model import PublishedEvent
from gribmill.queue.store import Store
from gribmill.views.queue.worker import WorkerView, worker_views

JOBS_NAMED = 20
EVENTS_SHOWN = 500
EVENTS_NAMED = 20
RUNS_SHOWN = 300


@dataclass(frozen=True, slots=True)
class WorkerRow:
    view: WorkerView
    pid: int | None
    lanes: tuple[tuple[str, str], ...]
    """The job types that the worker runs, by lane."""

    @property
    def can_drain(self) -> bool:
        return self.view.state == "active" and not self.view.stale


def workers_values(store: Store, lease_seconds: float, *, every: bool) -> dict[str, Any]:
    """All workers that have not been stopped; with `every`, stopped ones too."""
    views = worker_views(store, lease_seconds)
    lanes = {one.key: one.lane for one in store.definitions.list()}
    shown = [one for one in views if every or one.state != "stopped"]
    return {
        "workers": [WorkerRow(one, _pid(one), _by_lane(one.types, lanes)) for one in shown],
        "jobs_named": JOBS_NAMED,
        "stopped": sum(one.state == "stopped" for one in views),
        "every": every,
        "lease_seconds": lease_seconds,
        "stale": sum(one.stale for one in views),
        "leader": store.workers.leader(),
    }


def _by_lane(types: Sequence[str], lanes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Job types by lane, such as `build`: `build_tile`; types without a known lane are under `other`."""
    found: dict[str, list[str]] = {}
    for key in types:
        found.setdefault(lanes.get(key, "other"), []).append(key)
    return tuple((lane, ", ".join(keys)) for lane, keys in sorted(found.items()))


def _pid(view: WorkerView) -> int | None:
    pid = view.metadata.get("pid") if isinstance(view.metadata, dict) else None
    return pid if isinstance(pid, int) else None


@dataclass(frozen=True, slots=True)
class MirrorRow:
    status: MirrorStatus
    models: tuple[str, ...]
    followed: bool


def sources_values(context: Context, store: Store) -> dict[str, Any]:
    """Mirrors that are followed or have been used, and when they were failing."""
    now = datetime.now(UTC)
    health = context.catalogue.mirrors()
    names = {*context.settings.chain.models}
    followed = {
        mirror.name for one in context.models.values() if {one.id, one.family} & names for mirror in one.mirrors
    }
    users = mirror_users(context.models.values())
    rows = [
        MirrorRow(mirror_status(name, health.get(name), now), tuple(users.get(name, ())), name in followed)
        for name in sorted({*followed, *health}, key=lambda name: (name not in followed, name))
    ]
    history = store.events.list(pattern="mirror.*", limit=EVENTS_SHOWN)
    return {
        "rows": rows,
        "strips": mirror_strips([row.status for row in rows if row.status.state != "not asked yet"], history, now),
        "history": [_mirror_event(one) for one in history[:EVENTS_NAMED]],
        "strip_days": STRIP_DAYS,
    }


def _mirror_event(event: PublishedEvent) -> tuple[datetime | None, str, str, str]:
    values = event.values
    what = "sick" if event.name == "mirror.sick" else "well"
    return event.created_at, str(values.get("mirror", "")), what, str(values.get("reason", ""))


def storage_values(context: Context) -> dict[str, Any]:
    """Disk usage by model, run and region, and what the next prune will remove."""
    runs = runs_on_disk(context.root, context.catalogue)
    decisions = decide(runs, context.settings)
    by_model: dict[str, tuple[int, int]] = {}
    for run in runs:
        count, total = by_model.get(run.ref.model_id, (0, 0))
        by_model[run.ref.model_id] = (count + 1, total + run.bytes)
    context.root.path.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(context.root.path)
    return {
        "used": sum(run.bytes for run in runs),
        "free": usage.free,
        "total": usage.total,
        "mark": context.settings.chain.free_space_mark(usage.total),
        "tiles_elsewhere": context.settings.tiles,
        "by_model": sorted(((name, *both) for name, both in by_model.items()), key=lambda one: -one[2]),
        "by_region": context.catalogue.bytes_by_region(),
        "removed": [_decided(one) for one in decisions if one.removed],
        "freed": sum(one.run.bytes for one in decisions if one.removed),
        "kept": [_decided(one) for one in reversed(decisions) if not one.removed][:RUNS_SHOWN],
        "waiting": context.catalogue.waiting(),
    }


def _decided(one: RunDecision) -> tuple[str, str, int, datetime, str]:
    return one.run.ref.model_id, one.run.ref.run_id, one.run.bytes, one.run.written_at, one.reason
