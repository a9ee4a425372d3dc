"""`gribmill work`: run a worker."""

from __future__ import annotations

import dataclasses

import click

from gribmill.cli.check_chain import check_chain_models, check_chain_regions
from gribmill.cli.options.config_variable import share_config_file
from gribmill.cli.options.job_types import check_types, types_option
from gribmill.cli.options.lanes import check_lanes, lanes_option
from gribmill.cli.text.figures import counted
from gribmill.pipeline.open_queue import open_queue, open_remote_queue, worker_options
from gribmill.queue.store import Store
from gribmill.queue.worker.options import WorkerOptions
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from gribmill.settings.schema import Settings


@click.command()
@lanes_option
@types_option
@click.option("--drain", is_flag=True, help="Stop when no job is ready to run.")
@click.option("--once", is_flag=True, help="Run one batch, then stop.")
@click.option("--server", metavar="URL", help="Get jobs from this gribmill server instead of a database.")
@click.option("--token", envvar="GRIBMILL_TOKEN", help="Token of the role worker for --server [$GRIBMILL_TOKEN].")
@click.pass_obj
def work(
    settings: Settings,
    lanes: dict[str, int] | None,
    only: tuple[str, ...],
    drain: bool,
    once: bool,
    server: str | None,
    token: str | None,
) -> None:
    """Run jobs until stopped.

    TERM or Ctrl-C drains the worker: running jobs finish, and no new ones start. A second
    signal stops them at once and puts them back into the queue. Any number of workers may
    run on one host.

    \b
    gribmill work                          all lanes of the settings
    gribmill work --lanes fetch=8,build=2  other numbers of executors
    gribmill work --types sleep --drain    run all jobs of one type, then stop

    A host without access to the database can run jobs through a server (`gribmill serve`),
    with a token of the role worker. It runs the chain: scans, downloads and builds. Tiles
    and spool must be in an object store, or on a file system that the hosts share.

    \b
    GRIBMILL_TOKEN=gm_… gribmill work --server https://gribmill.example.org
    """
    share_config_file()
    if drain and once:
        raise click.UsageError("--drain and --once exclude each other")
    # With a misspelt region, every scan and download would fail.
    check_chain_models(settings)
    check_chain_regions(settings)
    store, options = _open(settings, server, token)
    check_lanes(store, lanes)
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


def _open(settings: Settings, server: str | None, token: str | None) -> tuple[Store, WorkerOptions]:
    if server is None:
        return open_queue(settings), worker_options(settings)
    if not token:
        raise click.UsageError(
            "--server needs --token or GRIBMILL_TOKEN: `gribmill tokens create --name HOST --role worker`"
        )
    return open_remote_queue(settings, server, token)
