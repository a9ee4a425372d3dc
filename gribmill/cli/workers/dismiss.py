"""`gribmill workers dismiss`."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.worker import WorkerDismissedView


@click.command()
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
