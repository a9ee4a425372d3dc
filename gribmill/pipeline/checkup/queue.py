"""Checks of the queue: the database file, its invariants, workers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from gribmill.pipeline.checkup.finding import Examination, Finding


def invariants(about: Examination) -> Iterator[Finding]:
    violations = about.store.verify()
    if not violations:
        yield Finding("queue", True, "the database file is sound, and all invariants hold")
        return
    first = violations[0]
    detail = f"{len(violations)} rows violate an invariant, the first one {first.invariant}: {first.detail}"
    yield Finding("queue", False, detail, "`gribmill jobs verify` shows all; restore a backup if the file is damaged")


def workers(about: Examination) -> Iterator[Finding]:
    since = datetime.now(UTC) - timedelta(seconds=about.context.settings.queue.lease_seconds)
    known = about.store.workers.list()
    alive = [one for one in known if one.state != "stopped" and one.last_heartbeat and one.last_heartbeat >= since]
    if alive:
        yield Finding("workers", True, f"{len(alive)} running")
    else:
        yield Finding("workers", None, "none is running", "`gribmill run` or `gribmill work` starts one")
