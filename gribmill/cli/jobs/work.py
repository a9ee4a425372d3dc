"""`gribmill work` and `gribmill tick`: running jobs."""

from __future__ import annotations

import dataclasses

import click

from gribmill.cli.options.lanes import lanes_option
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json, print_table
from gribmill.settings.schema import Settings
from gribmill.views.attempt import TickView


def _parse_types(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    from gribmill.pipeline.job_types import TYPES
    from gribmill.queue.errors import UnknownJobType

    keys = parse_names(ctx, param, value)
    for key in keys:
        try:
            kind = TYPES[key]
        except UnknownJobType as error:
            raise click.BadParameter(str(error)) from None
        if kind.handler is None:
            raise click.BadParameter(f"{key} can be enqueued, but this gribmill has no handler to run it")
    return keys


@click.command()
@lanes_option
@click.option("--types", "only", callback=_parse_types, help="Only these job types, separated by commas.")
@click.option("--drain", is_flag=True, help="End when nothing is left that could run now.")
@click.option("--once", is_flag=True, help="Run one batch, then end.")
@click.pass_obj
def work(settings: Settings, lanes: dict[str, int] | None, only: tuple[str, ...], drain: bool, once: bool) -> None:
    """Run jobs until told to stop.

    TERM or Ctrl-C drains: running jobs end, no new ones start. A second one stops them at
    once and puts them back into the queue. Any number of workers may run on one host.

    \b
    gribmill work                          all lanes of the settings
    gribmill work --lanes fetch=8,build=2  other counts
    gribmill work --types sleep --drain    empty the queue of one type, then end
    """
    from gribmill.pipeline.open_queue import open_queue, worker_options
    from gribmill.queue.worker.supervisor import Supervisor

    if drain and once:
        raise click.UsageError("--drain and --once exclude each other")
    options = worker_options(settings)
    options = dataclasses.replace(
        options,
        lanes=lanes or options.lanes,
        only_types=only,
        until="drained" if drain else "once" if once else "stopped",
    )
    supervisor = Supervisor(open_queue(settings), options)
    if not supervisor.lanes:
        raise click.UsageError(f"no lane of {', '.join(options.lanes)} has a job type to run")
    count = supervisor.run()
    click.echo(f"attempts that ended here: {count}", err=True)


@click.command()
@click.option(
    "-n", "limit", type=click.IntRange(1, 100_000), default=1, show_default=True, help="At most so many jobs."
)
@click.option("--types", "only", callback=_parse_types, help="Only these job types, separated by commas.")
@click.option("--json", "as_json", is_flag=True, help="What ran, as JSON.")
@click.pass_obj
def tick(settings: Settings, limit: int, only: tuple[str, ...], as_json: bool) -> None:
    """Claim at most N ready jobs, run them in this process, and report.

    For cron, for debugging and for trying things out; `gribmill work` is the real worker.
    Exit code 1 when a job failed.
    """
    from gribmill.pipeline.open_queue import open_queue
    from gribmill.queue.model import Failed
    from gribmill.queue.worker.in_process import Ticker

    store = open_queue(settings)
    ticker = Ticker(store, settings.queue.lease_seconds, settings.model_dump(mode="json"))
    ran = ticker.tick(limit, only)
    rows = [TickView.of(one) for one in ran]
    if as_json:
        print_json(rows)
    elif rows:
        columns = list(TickView.model_fields)
        cells = [list(row.model_dump().values()) for row in rows]
        print_table(columns, cells, right=["job_id", "attempt_no", "seconds"])
    else:
        click.echo("nothing to run")
    if any(isinstance(one.outcome, Failed) for one in ran):
        raise SystemExit(1)
