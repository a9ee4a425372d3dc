"""`gribmill templates`: arguments and options under a name, from which jobs are enqueued."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.enqueue import enqueue, job_options
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.jobs.move import PRIORITY
from gribmill.cli.options.argument_values import parse_argument_values
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import format_duration
from gribmill.errors import printable
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.queue.model import JobTemplate, NewTemplate
from gribmill.queue.redact import redact_json
from gribmill.queue.store.types.templates import TemplateUse
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_template import TemplateDetailView, TemplateView

TENANT = click.option(
    "--tenant", default="global", show_default=True, help="The tenant that the template and its jobs belong to."
)
OPTION_FIELDS = ("description", "priority", "timeout_seconds", "max_attempts", "dedupe_key")
CLEARABLE = {"timeout": "timeout_seconds", "max-attempts": "max_attempts", "dedupe": "dedupe_key"}


@click.group()
def templates() -> None:
    """Save arguments and options under a name, and enqueue jobs from them.

    A template has a job type, some or all of its arguments, and options such as priority and timeout.
    `gribmill jobs enqueue --template NAME` and `gribmill triggers add --template NAME` create jobs
    from it; both can override arguments. Changing a template does not affect existing jobs.

    \b
    gribmill templates add nap sleep '{"seconds": 2}' --priority 5
    gribmill templates run nap --set say=hello
    gribmill triggers add "every night" --template nap --cron "0 3 * * *"
    """


def _option_fields(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a template's jobs."""
    options = [
        click.option("--description", metavar="TEXT", help="One sentence for listings."),
        click.option("--priority", type=PRIORITY, help="Priority of the jobs; higher runs first."),
        click.option("--timeout", "timeout_seconds", type=DURATION, help="Stop an attempt that takes longer."),
        click.option("--max-attempts", type=click.IntRange(1, 1000), help="Maximum number of attempts."),
        click.option("--dedupe", "dedupe_key", metavar="KEY", help="Allow only one active job with this key."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _given_fields(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, as fields of a template."""
    given = {name: values[name] for name in OPTION_FIELDS if values.get(name) is not None}
    if "timeout_seconds" in given:
        given["timeout_seconds"] = max(1, round(given["timeout_seconds"]))
    return given


@templates.command(short_help="Name a set of arguments and options.")
@click.argument("name")
@click.argument("type_key", metavar="TYPE")
@click.argument("args_text", metavar="[JSON]", default="{}")
@click.option(
    "--set", "values", multiple=True, callback=parse_argument_values, metavar="NAME=VALUE", help="Set one argument."
)
@_option_fields
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
    new = NewTemplate(name, type_key, args, tenant_id=tenant, created_by=current_user(), **_given_fields(options))
    store.templates.add(new)
    made = store.templates.use(name, tenant)
    if as_json:
        print_json(TemplateDetailView.of_use(made))
        return
    needs = f"; each job has to give {', '.join(made.missing)}" if made.missing else ""
    click.echo(f"template {name} is added{needs}; `gribmill templates run {name}` enqueues a job")


@templates.command(short_help="Change a template for future jobs.")
@click.argument("name")
@click.option("--name", "new_name", metavar="NAME", help="The new name. Triggers follow it.")
@click.option("--args", "args_text", metavar="JSON", help="The arguments, in place of all earlier ones.")
@click.option(
    "--set", "values", multiple=True, callback=parse_argument_values, metavar="NAME=VALUE", help="Set one argument."
)
@click.option(
    "--unset", callback=parse_names, metavar="NAMES", help="Remove these arguments; each job must then give them."
)
@_option_fields
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
    changes = {**_given_fields(options), **{CLEARABLE[one]: None for one in cleared}}
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


@templates.command(short_help="Remove a template that no trigger uses.")
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


@templates.command(short_help="Enqueue a job of a template.")
@click.argument("name")
@click.argument("args", default="{}", metavar="[JSON|-]")
@job_options
@click.pass_context
def run(ctx: click.Context, /, name: str, args: str, **options: Any) -> None:
    """Enqueue a job of the template NAME. JSON or --set override its arguments.

    The same as `gribmill jobs enqueue --template NAME`.

    \b
    gribmill templates run nap
    gribmill templates run nap '{"seconds": 3}' --set say=hello --priority 9
    """
    ctx.invoke(enqueue, type_key=None, args=args, template_name=name, **options)


@templates.command("list", short_help="List templates.")
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


@templates.command(short_help="Show one template, and what uses it.")
@click.argument("name")
@TENANT
@click.option("--json", "as_json", is_flag=True, help="The template as JSON.")
@click.pass_obj
def show(settings: Settings, name: str, tenant: str, as_json: bool) -> None:
    """Show one template: its arguments and options, what each job must give, and the triggers that use it."""
    found = open_queue_for_reading(settings).templates.use(name, tenant)
    if as_json:
        print_json(TemplateDetailView.of_use(found))
        return
    for title, text in _facts(found).items():
        if text:
            click.echo(f"{title:<13}{printable(text)}")


def _facts(found: TemplateUse) -> dict[str, str]:
    one = found.template
    by = f" by {one.created_by}" if one.created_by else ""
    return {
        "template": one.name,
        "description": one.description,
        "type": one.type,
        "tenant": one.tenant_id,
        "arguments": json.dumps(redact_json(one.args), ensure_ascii=False, sort_keys=True),
        "still needed": ", ".join(found.missing),
        "priority": str(one.priority),
        "timeout": "" if one.timeout_seconds is None else format_duration(one.timeout_seconds),
        "attempts": "" if one.max_attempts is None else str(one.max_attempts),
        "dedupe key": one.dedupe_key or "",
        "triggers": ", ".join(f"{trigger.id} ({trigger.label})" for trigger in found.triggers),
        "added": f"{to_rfc3339(one.created_at)}{by}",
        "changed": to_rfc3339(one.updated_at) or "" if one.updated_at != one.created_at else "",
    }
