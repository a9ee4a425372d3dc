"""`gribmill work`: a worker."""

from __future__ import annotations

import dataclasses

import click

from gribmill.cli.options.config_variable import share_config_file
from gribmill.cli.options.job_types import check_types, types_option
from gribmill.cli.options.lanes import check_lanes, lanes_option
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue, worker_options
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from gribmill.settings.schema import Settings


@click.command()
@lanes_option
@types_option
@click.option("--drain", is_flag=True, help="Stop when no job is ready to run.")
@click.option("--once", is_flag=True, help="Run one batch, then stop.")
@click.pass_obj
def work(settings: Settings, lanes: dict[str, int] | None, only: tuple[str, ...], drain: bool, once: bool) -> None:
    """Run jobs until stopped.

    TERM or Ctrl-C drains the worker: running jobs finish, and no new ones start. A second
    signal stops them at once and puts them back into the queue. Any number of workers may
    run on one host.

    \b
    gribmill work                          all lanes of the settings
    gribmill work --lanes fetch=8,build=2  other numbers of executors
    gribmill work --types sleep --drain    run all jobs of one type, then stop
    """
    share_config_file()
    if drain and once:
        raise click.UsageError("--drain and --once exclude each other")
    store = open_queue(settings)
    check_lanes(store, lanes)
    options = worker_options(settings)
    options = dataclasses.replace(
        options,
        lanes=lanes or options.lanes,
        only_types=check_types(store, only),
        until="drained" if drain else "once" if once else "stopped",
    )
    supervisor = Supervisor(store, options)
    if not supervisor.lanes:
        raise click.UsageError(f"none of the lanes {', '.join(options.lanes)} has a job type to run")
    count = supervisor.run()
    click.echo(f"finished {counted(count, 'attempt')}", err=True)
