"""`gribmill templates remove`."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.cli.templates.fields import TENANT
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_template import TemplateView


@click.command()
@click.argument("name")
@TENANT
@click.option("--json", "as_json", is_flag=True, help="The removed template as JSON.")
@click.pass_obj
def remove(settings: Settings, name: str, tenant: str, as_json: bool) -> None:
    """Remove the template NAME, unless a trigger uses it. Its jobs stay."""
    store = open_queue(settings)
    template = store.templates.get(name, tenant)
    store.templates.remove(name, tenant)
    if as_json:
        print_json(TemplateView.of(template))
    else:
        click.echo(f"template {name} is removed")
