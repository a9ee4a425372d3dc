"""`gribmill groups cancel`."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.named_group import named_group, tenant_option
from gribmill.cli.output import print_json
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_group import GroupCancelledView


@click.command()
@click.argument("name")
@click.option("--reason", metavar="TEXT", help="The reason, for the error message of the jobs.")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="How many jobs were cancelled, as JSON.")
@click.pass_obj
def cancel(settings: Settings, name: str, reason: str | None, tenant: str, as_json: bool) -> None:
    """Cancel all jobs of a group. NAME is its name or id.

    Jobs that have not started end at once; running jobs are stopped by their workers. No further
    job of the group starts until `gribmill groups retry NAME --cancelled` resumes it.
    """
    store = open_queue(settings)
    group = named_group(store, name, tenant)
    text = f"group cancelled by {current_user()}" + (f": {reason[:1000]}" if reason else "")
    done = store.groups.cancel(group.id, text)
    if as_json:
        print_json(GroupCancelledView(id=group.id, name=group.name, **done._asdict()))
        return
    asked = f"; workers have been asked to stop {done.requested}" if done.requested else ""
    click.echo(f"{group.name}: cancelled {counted(done.cancelled, 'job')}{asked}")
