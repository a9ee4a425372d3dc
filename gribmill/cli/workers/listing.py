"""`gribmill workers` without a verb: list workers and their heartbeats."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.format_duration import age_seconds, format_duration, seconds_between
from gribmill.cli.text.status_text import status_text
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.worker.supervisor.clock_skew import TOLERATED_SECONDS
from gribmill.settings.schema import Settings
from gribmill.views.queue.worker import WorkerView, worker_views

JOBS_SHOWN = 4


def list_workers(settings: Settings, *, everyone: bool, as_json: bool) -> None:
    """Print a table of the workers, or all of them as JSON."""
    found = worker_views(open_queue_for_reading(settings), settings.queue.lease_seconds)
    if as_json:
        print_json(found)
        return
    shown = [worker for worker in found if everyone or worker.state != "stopped"]
    if not shown:
        click.echo("no workers are running; `gribmill work` starts one", err=True)
        return
    columns = ["worker", "state", "leader", "heartbeat", "runs", "jobs", "up", "version", "types"]
    rows = [_row(worker) for worker in shown]
    print_table(columns, rows, right=["heartbeat", "runs", "up"], drop=["types", "version", "jobs", "up"])
    for worker in shown:
        if abs(ahead := worker.clock_offset_seconds or 0.0) > TOLERATED_SECONDS and not worker.stale:
            side = "ahead of" if ahead > 0 else "behind"
            click.echo(f"{worker.id}: its clock is {abs(ahead):.0f} s {side} the database's; run NTP there", err=True)


def _row(worker: WorkerView) -> list[Any]:
    age, jobs = worker.heartbeat_age_seconds, worker.running
    return [
        worker.id,
        status_text(worker.shown_state),
        "yes" if worker.leader else "",
        "" if age is None else f"{format_duration(max(0.0, age))} ago",
        len(jobs),
        ", ".join(map(str, jobs[:JOBS_SHOWN])) + (" …" if len(jobs) > JOBS_SHOWN else ""),
        format_duration(_up_seconds(worker)),
        worker.version,
        ", ".join(worker.types),
    ]


def _up_seconds(worker: WorkerView) -> float | None:
    """How long the worker has been running, or had been running when it stopped."""
    if worker.state == "stopped":
        return seconds_between(worker.started_at, worker.last_heartbeat)
    return age_seconds(worker.started_at)
