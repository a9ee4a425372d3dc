"""`gribmill triggers edit`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.duration import DURATION
from gribmill.cli.output import print_json
from gribmill.cli.triggers.options import AS_JSON
from gribmill.cli.triggers.shown import time_text
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.trigger import TriggerView


@click.command()
@click.argument("trigger_id", metavar="ID", type=int)
@click.option("--label", metavar="TEXT", help="The new label.")
@click.option("--args", "args_text", metavar="JSON", help="The arguments of the jobs, in place of all earlier ones.")
@click.option("--cron", metavar="FIELDS", help="Minute, hour, day of month, month, day of week.")
@click.option("--timezone", metavar="ZONE", help="Time zone of the schedule.")
@click.option(
    "--misfire",
    type=click.Choice(["skip", "latest", "all"]),
    help="What to do about missed slots: skip them, fire the latest, or fire all.",
)
@click.option("--event", metavar="NAME", help="Fire on this event.")
@click.option("--window", "dedupe_window_seconds", type=DURATION, help="Create no further job within this time.")
@click.option("--priority", type=int, help="Priority of the jobs; higher runs first.")
@click.option("--template", "template_name", metavar="NAME", help="Create jobs from this template.")
@click.option("--no-template", is_flag=True, help="Stop using a template; give all arguments with --args.")
@AS_JSON
@click.pass_obj
def edit(
    settings: Settings,
    /,
    trigger_id: int,
    args_text: str | None,
    template_name: str | None,
    no_template: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Change a trigger. Only the options that are given change; its id and history stay.

    --cron turns it into a schedule, --event into a trigger for that event. A changed schedule
    continues with its next slot from now.
    """
    changes = {name: value for name, value in options.items() if value is not None}
    if args_text is not None:
        changes["args"] = parse_object(args_text)
    if "dedupe_window_seconds" in changes:
        changes["dedupe_window_seconds"] = round(changes["dedupe_window_seconds"])
    store = open_queue(settings)
    if template_name is not None:
        template = store.templates.get(template_name, store.triggers.get(trigger_id).tenant_id)
        changes |= {"template_id": template.id, "type": template.type}
    elif no_template:
        changes["template_id"] = None
    if not changes:
        raise click.UsageError("name at least one option to change")
    made = store.triggers.edit(trigger_id, **changes)
    if as_json:
        print_json(TriggerView.of(made))
    else:
        ahead = f"; next firing at {time_text(made.next_fire_at)}" if made.next_fire_at else ""
        click.echo(f"trigger {made.id} is changed{ahead}")
