"""`gribmill workers`: a list of workers, and one file per verb."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup
from gribmill.settings.schema import Settings

VERBS = {
    "dismiss": ("gribmill.cli.workers.dismiss:dismiss", "Count a silent worker as stopped, and requeue its jobs."),
    "drain": ("gribmill.cli.workers.drain:drain", "Let a worker finish its running jobs, then stop it."),
}


@click.group(cls=LazyGroup, table=VERBS, invoke_without_command=True)
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
    from gribmill.cli.workers.listing import list_workers

    settings: Settings = ctx.obj
    list_workers(settings, everyone=everyone, as_json=as_json)
