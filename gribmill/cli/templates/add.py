"""`gribmill templates add`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.argument_values import parse_argument_values
from gribmill.cli.output import print_json
from gribmill.cli.templates.fields import TENANT, given_fields, option_fields
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import NewTemplate
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_template import TemplateDetailView


@click.command()
@click.argument("name")
@click.argument("type_key", metavar="TYPE")
@click.argument("args_text", metavar="[JSON]", default="{}")
@click.option(
    "--set", "values", multiple=True, callback=parse_argument_values, metavar="NAME=VALUE", help="Set one argument."
)
@option_fields
@TENANT
@click.option("--json", "as_json", is_flag=True, help="The template as JSON.")
@click.pass_obj
def add(
    settings: Settings,
    /,
    name: str,
    type_key: str,
    args_text: str,
    values: dict[str, Any],
    tenant: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Add the template NAME for jobs of TYPE. JSON holds their arguments.

    Arguments that are missing from the template must be given with each job. Options that are not
    given here (priority, timeout, attempts) come from the job type.

    \b
    gribmill templates add nap sleep '{"seconds": 2}' --priority 5 --timeout 1m
    gribmill templates add hrrr_hour ingest_grib --set model_id=hrrr --max-attempts 8
    gribmill templates run hrrr_hour --set run_id=20261118_00 --set hour=6
    """
    args = {**parse_object(args_text), **values}
    store = open_queue(settings)
    new = NewTemplate(name, type_key, args, tenant_id=tenant, created_by=current_user(), **given_fields(options))
    store.templates.add(new)
    made = store.templates.use(name, tenant)
    if as_json:
        print_json(TemplateDetailView.of_use(made))
        return
    needs = f"; each job has to give {', '.join(made.missing)}" if made.missing else ""
    click.echo(f"template {name} is added{needs}; `gribmill templates run {name}` enqueues a job")
