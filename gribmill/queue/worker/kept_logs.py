"""Keeping log files and attempts consistent: recording logs of lost attempts, removing orphaned logs."""

from __future__ import annotations

from pathlib import Path

from gribmill.queue.model import Recovered
from gribmill.queue.store import Store
from gribmill.queue.worker.output_log import OutputLogs


def note_logs(store: Store, logs: OutputLogs | None, recovered: Recovered) -> None:
    """Record the logs of attempts whose worker died before it could report them."""
    if logs is None:
        return
    for job_id in (*recovered.requeued, *recovered.ended):
        for lost in store.attempts.lost_without_log(job_id):
            shared = logs.link(lost.head, lost.ref) if lost.head != lost.ref else None
            if name := logs.find(lost.ref) or shared:
                store.attempts.set_log(lost.ref, name)


def orphaned_logs(store: Store, logs: OutputLogs) -> list[Path]:
    """Logs whose attempts were removed, or were never in this database."""
    orphans: list[Path] = []
    for ids, found in logs.buckets():
        known = store.attempts.within(ids)
        orphans += [path for ref, path in found.items() if ref not in known]
    return orphans


def remove_orphans(store: Store, logs: OutputLogs | None) -> int:
    """Remove orphaned logs; returns how many."""
    orphans = orphaned_logs(store, logs) if logs else []
    for path in orphans:
        path.unlink(missing_ok=True)
    if logs:
        logs.remove_empty_folders()
    return len(orphans)
