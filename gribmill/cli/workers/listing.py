"""`gribmill workers`: workers and their heartbeats."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.format_duration import age_seconds, format_duration, seconds_between
from gribmill.cli.text.status_text import status_text
from gribmill.pipeline.open_queue import look_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.worker import WorkerView

JOBS_SHOWN = 4


@click.command()
@click.option("--all", "everyone", is_flag=True, help="Include workers that have stopped.")
@click.option("--json", "as_json", is_flag=True, help="Every worker as JSON.")
@click.pass_obj
def workers(settings: Settings, everyone: bool, as_json: bool) -> None:
    """List workers: state, last heartbeat, and running jobs.

    A worker is stale when its last heartbeat is older than the lease (queue.lease_seconds):
    its jobs go back into the queue.
    """
    store = look_queue(settings)
    running = store.attempts.running()
    lease = settings.queue.lease_seconds
    found = [WorkerView.of(worker, lease, running.get(worker.id, ())) for worker in store.workers.list()]
    if as_json:
        print_json(found)
        return
    shown = [worker for worker in found if everyone or worker.state != "stopped"]
    if not shown:
        click.echo("no workers are running; `gribmill work` starts one", err=True)
        return
    columns = ["worker", "state", "heartbeat", "runs", "jobs", "up", "version", "types"]
    rows = [_row(worker) for worker in shown]
    print_table(columns, rows, right=["heartbeat", "runs", "up"], drop=["types", "version", "jobs", "up"])


def _row(worker: WorkerView) -> list[Any]:
    age, jobs = worker.heartbeat_age_seconds, worker.running
    return [
        worker.id,
        status_text(worker.shown_state),
        "" if age is None else f"{format_duration(max(0.0, age))} ago",
        len(jobs),
        ", ".join(map(str, jobs[:JOBS_SHOWN])) + (" …" if len(jobs) > JOBS_SHOWN else ""),
        format_duration(_up_seconds(worker)),
        worker.version,
        ", ".join(worker.types),
    ]


def _up_seconds(worker: WorkerView) -> float | None:
    """How long it has run; for one that stopped, how long it ran."""
    if worker.state == "stopped":
        return seconds_between(worker.started_at, worker.last_heartbeat)
    return age_seconds(worker.started_at)
