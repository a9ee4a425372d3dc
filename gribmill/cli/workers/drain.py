"""`gribmill workers drain`."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.worker import WorkerDrainedView


@click.command()
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
