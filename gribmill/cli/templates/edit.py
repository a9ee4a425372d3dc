"""`gribmill templates edit`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.argument_values import parse_argument_values
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.cli.templates.fields import TENANT, given_fields, option_fields
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_template import TemplateDetailView

CLEARABLE = {"timeout": "timeout_seconds", "max-attempts": "max_attempts", "dedupe": "dedupe_key"}


@click.command()
@click.argument("name")
@click.option("--name", "new_name", metavar="NAME", help="The new name. Triggers follow it.")
@click.option("--args", "args_text", metavar="JSON", help="The arguments, in place of all earlier ones.")
@click.option(
    "--set", "values", multiple=True, callback=parse_argument_values, metavar="NAME=VALUE", help="Set one argument."
)
@click.option(
    "--unset", callback=parse_names, metavar="NAMES", help="Remove these arguments; each job must then give them."
)
@option_fields
@click.option(
    "--no", "cleared", multiple=True, type=click.Choice([*CLEARABLE]), help="Use the job type's own value again."
)
@TENANT
@click.option("--json", "as_json", is_flag=True, help="The template as JSON.")
@click.pass_obj
def edit(
    settings: Settings,
    /,
    name: str,
    new_name: str | None,
    args_text: str | None,
    values: dict[str, Any],
    unset: tuple[str, ...],
    cleared: tuple[str, ...],
    tenant: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Change the template NAME. Only the given options change; existing jobs are not affected.

    \b
    gribmill templates edit nap --set seconds=5 --priority 1
    gribmill templates edit nap --unset say --no timeout
    """
    changes = {**given_fields(options), **{CLEARABLE[one]: None for one in cleared}}
    if new_name is not None:
        changes["name"] = new_name
    store = open_queue(settings)
    if args_text is not None or values or unset:
        before = store.templates.get(name, tenant).args if args_text is None else parse_object(args_text)
        kept = {key: value for key, value in before.items() if key not in unset}
        if unknown := [key for key in unset if key not in before]:
            raise click.UsageError(f"--unset: the template has no argument {unknown[0]}")
        changes["args"] = {**kept, **values}
    if not changes:
        raise click.UsageError("name at least one option to change")
    made = store.templates.use(store.templates.edit(name, tenant, **changes).name, tenant)
    if as_json:
        print_json(TemplateDetailView.of_use(made))
        return
    needs = f"; each job has to give {', '.join(made.missing)}" if made.missing else ""
    click.echo(f"template {made.template.name} is changed{needs}")
