"""`gribmill groups list`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.format_duration import age_seconds, format_duration
from gribmill.cli.text.status_text import status_text
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_group import JobGroupView

PAGE_LIMIT = 1000


@click.command("list")
@click.option("--tenant", metavar="TENANT", help="Only groups of this tenant.")
@click.option("--limit", type=click.IntRange(1, PAGE_LIMIT), default=50, show_default=True, help="Rows per page.")
@click.option("--before", type=click.IntRange(1), metavar="ID", help="The next page: groups with lower ids than this.")
@click.option("--json", "as_json", is_flag=True, help="The groups as JSON.")
@click.pass_obj
def list_groups(settings: Settings, tenant: str | None, limit: int, before: int | None, as_json: bool) -> None:
    """List groups, newest first, with their status and progress."""
    found = [
        JobGroupView.of(one) for one in open_queue_for_reading(settings).groups.list(tenant, limit=limit, before=before)
    ]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no groups", err=True)
        return
    columns = ["id", "group", "status", "done", "jobs", "failed", "mode", "on failure", "age"]
    numbers = ["id", "done", "jobs", "failed", "age"]
    print_table(columns, [_row(view) for view in found], right=numbers, drop=["on failure", "mode", "age"])
    if len(found) == limit:
        click.echo(f"more: --before {found[-1].id}", err=True)


def _row(view: JobGroupView) -> list[Any]:
    return [
        view.id,
        view.name,
        status_text(view.status),
        f"{view.percent:g} %",
        view.total,
        view.failed or "",
        view.mode,
        view.on_failure,
        format_duration(age_seconds(view.created_at)),
    ]
