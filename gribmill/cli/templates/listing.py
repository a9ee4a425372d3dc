"""`gribmill templates list`."""

from __future__ import annotations

import json
from typing import Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import JobTemplate
from gribmill.queue.redact import redact_json
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_template import TemplateView


@click.command("list")
@click.option("--tenant", metavar="TENANT", help="Only templates of this tenant.")
@click.option("--json", "as_json", is_flag=True, help="The templates as JSON.")
@click.pass_obj
def list_templates(settings: Settings, tenant: str | None, as_json: bool) -> None:
    """List templates with their arguments."""
    store = open_queue_for_reading(settings)
    found = store.templates.list(None if tenant is None else store.tenants.get(tenant).name)
    if as_json:
        print_json([TemplateView.of(one) for one in found])
    elif found:
        columns = ["template", "type", "tenant", "priority", "arguments", "description"]
        drop = ["description", "tenant"]
        print_table(columns, [_row(one) for one in found], right=["priority"], cut="arguments", drop=drop)
    else:
        click.echo("there are no templates; `gribmill templates add --help` shows how to add one", err=True)


def _row(one: JobTemplate) -> list[Any]:
    args = json.dumps(redact_json(one.args), ensure_ascii=False, sort_keys=True)
    return [one.name, one.type, one.tenant_id, one.priority, args, one.description]
