"""`gribmill groups show`."""

from __future__ import annotations

import click

from gribmill.cli.named_group import named_group, tenant_option
from gribmill.cli.output import print_json
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_group import JobGroupView

COUNTED = ("pending", "running", "succeeded", "failed", "skipped", "cancelled")


@click.command()
@click.argument("name")
@tenant_option
@click.option("--json", "as_json", is_flag=True, help="The group as JSON.")
@click.pass_obj
def show(settings: Settings, name: str, tenant: str, as_json: bool) -> None:
    """Show the status and progress of a group. NAME is its name or id.

    `gribmill jobs list --group-name NAME` lists its jobs.
    """
    store = open_queue_for_reading(settings)
    view = JobGroupView.of(store.groups.progress(named_group(store, name, tenant).id))
    if as_json:
        print_json(view)
        return
    counts = ", ".join(f"{getattr(view, word)} {word}" for word in COUNTED if getattr(view, word))
    click.echo(
        f"{view.name}: {view.status}, {view.percent:g} % of {view.total} jobs" + (f": {counts}" if counts else "")
    )
    by = f", made by {view.created_by}" if view.created_by else ""
    click.echo(f"{view.mode}; on failure: {view.on_failure}{by}")
    if view.stopped_at is not None:
        click.echo(f"stopped: `gribmill groups retry {view.name}` resumes it")
