"""`gribmill tick`: run a few jobs in this process."""

from __future__ import annotations

import click

from gribmill.cli.options.config_variable import share_config_file
from gribmill.cli.options.job_types import check_types, types_option
from gribmill.cli.output import print_json, print_table
from gribmill.cli.workers.interruptible import interruptible
from gribmill.pipeline.open_queue import open_queue, output_logs
from gribmill.queue.model import Failed
from gribmill.queue.worker.in_process import Ticker
from gribmill.settings.schema import Settings
from gribmill.views.queue.attempt import TickView


@click.command()
@click.option(
    "-n", "limit", type=click.IntRange(1, 100_000), default=1, show_default=True, help="Maximum number of jobs."
)
@types_option
@click.option("--reservation", metavar="RESERVATION", help="Also run jobs that your reservation holds back.")
@click.option("--json", "as_json", is_flag=True, help="The attempts, as JSON.")
@click.pass_obj
def tick(settings: Settings, limit: int, only: tuple[str, ...], reservation: str | None, as_json: bool) -> None:
    """Claim at most N ready jobs, run them in this process, and exit.

    For cron, for debugging and for trying things out; use `gribmill work` in production.
    Exit code 1 if a job failed, 130 if this was interrupted; the job then waits for another worker.
    """
    share_config_file()
    store = open_queue(settings)
    ticker = Ticker(store, settings.queue.lease_seconds, settings.model_dump(mode="json"), logs=output_logs(settings))
    if reservation is not None:
        store.reservations.share(reservation, ticker.worker_id)
    types = check_types(store, only)
    with interruptible():
        ran = ticker.tick(limit, types)
    rows = [TickView.of(one) for one in ran]
    if as_json:
        print_json(rows)
    elif rows:
        columns = list(TickView.model_fields)
        cells = [list(row.model_dump().values()) for row in rows]
        print_table(columns, cells, right=["job_id", "attempt_no", "seconds"])
    else:
        click.echo("no job is ready")
    if any(isinstance(one.outcome, Failed) for one in ran):
        raise SystemExit(1)
