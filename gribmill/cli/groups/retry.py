"""`gribmill groups retry`."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.named_group import named_group, tenant_option
from gribmill.cli.output import print_json
from gribmill.cli.text.counted import counted
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_group import GroupJobsView
from gribmill.views.queue.job_result import EnqueuedView


@click.command()
@click.argument("name")
@click.option("--cancelled", is_flag=True, help="Also the jobs that were cancelled.")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="The new jobs as JSON.")
@click.pass_obj
def retry(settings: Settings, name: str, cancelled: bool, tenant: str, as_json: bool) -> None:
    """Run the failed jobs of a group again, in order, each as a new job. NAME is its name or id.

    In a group that stops at a failure, the jobs that it cancelled are retried too. Jobs that
    were already retried are left alone.
    """
    store = open_queue(settings)
    group = named_group(store, name, tenant)
    made = store.groups.retry(group.id, cancelled=cancelled, created_by=current_user())
    if as_json:
        print_json(GroupJobsView(id=group.id, name=group.name, jobs=tuple(map(EnqueuedView.of, made))))
        return
    new = sum(one.created for one in made)
    active = f"; not needed for {len(made) - new}: equal jobs are active" if new < len(made) else ""
    click.echo(f"{group.name}: retried {counted(new, 'job')}{active}")
