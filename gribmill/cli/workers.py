"""`gribmill workers`: who runs jobs, and who has gone silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.duration import readable
from gribmill.cli.jobs.record import age_seconds, status_text
from gribmill.cli.output import print_json, print_table
from gribmill.queue.times import to_rfc3339
from gribmill.settings import Settings

if TYPE_CHECKING:
    from gribmill.queue.model import Worker

JOBS_SHOWN = 4


@click.command()
@click.option("--all", "everyone", is_flag=True, help="Also those that have stopped.")
@click.option("--json", "as_json", is_flag=True, help="Every worker as JSON.")
@click.pass_obj
def workers(settings: Settings, everyone: bool, as_json: bool) -> None:
    """The workers: last heartbeat, what each runs, and whether it has gone silent.

    A worker is stale when its last heartbeat is older than the lease (queue.lease_seconds):
    its jobs go back into the queue.
    """
    from gribmill.pipeline.open_queue import open_queue

    lease = settings.queue.lease_seconds
    store = open_queue(settings)
    found, running = store.workers.list(), store.attempts.running()
    if as_json:
        print_json([_record(worker, lease, running.get(worker.id, [])) for worker in found])
        return
    shown = [worker for worker in found if everyone or worker.state != "stopped"]
    if not shown:
        click.echo("no workers run; `gribmill work` starts one", err=True)
        return
    columns = ["worker", "state", "heartbeat", "runs", "jobs", "up", "version", "types"]
    rows = [_row(worker, lease, running.get(worker.id, [])) for worker in shown]
    print_table(columns, rows, right=["heartbeat", "runs", "up"], cut="types")


def shown_state(worker: Worker, lease_seconds: float) -> str:
    """Its own word, unless its silence says otherwise."""
    silent = age_seconds(worker.last_heartbeat)
    if worker.state != "stopped" and (silent is None or silent > lease_seconds):
        return "stale"
    return worker.state


def _row(worker: Worker, lease_seconds: float, jobs: list[int]) -> list[Any]:
    silent = age_seconds(worker.last_heartbeat)
    return [
        worker.id,
        status_text(shown_state(worker, lease_seconds)),
        "" if silent is None else f"{readable(max(0.0, silent))} ago",
        len(jobs),
        ", ".join(map(str, jobs[:JOBS_SHOWN])) + (" …" if len(jobs) > JOBS_SHOWN else ""),
        readable(age_seconds(worker.started_at)),
        worker.version,
        ", ".join(worker.types),
    ]


def _record(worker: Worker, lease_seconds: float, jobs: list[int]) -> dict[str, Any]:
    silent = age_seconds(worker.last_heartbeat)
    return {
        "id": worker.id,
        "state": worker.state,
        "stale": shown_state(worker, lease_seconds) == "stale",
        "last_heartbeat": to_rfc3339(worker.last_heartbeat),
        "heartbeat_age_seconds": None if silent is None else round(silent, 3),
        "current_job_id": min(jobs, default=None),
        "running": jobs,
        "hostname": worker.hostname,
        "version": worker.version,
        "types": list(worker.types),
        "started_at": to_rfc3339(worker.started_at),
    }
