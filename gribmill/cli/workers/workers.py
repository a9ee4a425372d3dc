"""`gribmill workers`: workers and their heartbeats, and making one stop."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import age_seconds, counted, format_duration, seconds_between
from gribmill.cli.text.status_text import status_text
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.queue.worker.supervisor.clock_skew import TOLERATED_SECONDS
from gribmill.settings.schema import Settings
from gribmill.views.queue.worker import WorkerDismissedView, WorkerDrainedView, WorkerView, worker_views

JOBS_SHOWN = 4


@click.group(invoke_without_command=True)
@click.option("--all", "everyone", is_flag=True, help="Include workers that have stopped.")
@click.option("--json", "as_json", is_flag=True, help="Every worker as JSON.")
@click.pass_context
def workers(ctx: click.Context, everyone: bool, as_json: bool) -> None:
    """List workers: state, last heartbeat, and running jobs.

    A worker is stale when its last heartbeat is older than the lease (queue.lease_seconds);
    its jobs go back into the queue. The leader is the worker that fires schedules; when it
    stops, another takes over. Hosts whose clock differs from the database's are listed.
    """
    if ctx.invoked_subcommand is not None:
        if everyone or as_json:
            raise click.UsageError(f"put options after {ctx.invoked_subcommand!r}")
        return
    settings: Settings = ctx.obj
    _list_workers(settings, everyone=everyone, as_json=as_json)


def _list_workers(settings: Settings, *, everyone: bool, as_json: bool) -> None:
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


@workers.command(short_help="Let a worker finish its running jobs, then stop it.")
@click.argument("worker")
@click.option("--json", "as_json", is_flag=True, help="The worker and its state as JSON.")
@click.pass_obj
def drain(settings: Settings, worker: str, as_json: bool) -> None:
    """Let a worker finish its running jobs, start no new ones, and stop.

    WORKER is its id, as `gribmill workers` lists it. The worker receives the request with its next
    heartbeat. If a service manager restarts it, a new worker starts under a new id.
    """
    open_queue(settings).workers.drain(worker)
    if as_json:
        print_json(WorkerDrainedView(id=worker))
    else:
        click.echo(f"worker {worker} will finish its running jobs and stop")


@workers.command(short_help="Count a silent worker as stopped, and requeue its jobs.")
@click.argument("worker")
@click.option("--json", "as_json", is_flag=True, help="The worker and the requeued jobs as JSON.")
@click.pass_obj
def dismiss(settings: Settings, worker: str, as_json: bool) -> None:
    """Count a silent worker as stopped, and put its jobs back into the queue.

    WORKER is its id, as `gribmill workers` lists it. A worker that has sent a heartbeat within the
    lease (queue.lease_seconds) is refused: drain it instead. If a dismissed worker is alive after
    all, its next heartbeat makes it active again.
    """
    store = open_queue(settings)
    store.workers.dismiss(worker, settings.queue.lease_seconds)
    requeued = store.maintenance.recover().requeued
    if as_json:
        print_json(WorkerDismissedView(id=worker, requeued=tuple(requeued)))
    else:
        click.echo(f"worker {worker} is dismissed; {counted(len(requeued), 'job')} went back into the queue")
