"""`gribmill triggers add`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.duration import DURATION
from gribmill.cli.output import print_json
from gribmill.cli.triggers.options import AS_JSON
from gribmill.cli.triggers.shown import time_text
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import NewTrigger
from gribmill.settings.schema import Settings
from gribmill.views.queue.trigger import TriggerView

if TYPE_CHECKING:
    from gribmill.queue.model import Misfire


@click.command()
@click.argument("label")
@click.argument("type_key", metavar="[TYPE]", required=False)
@click.argument("args_text", metavar="[JSON]", default="{}")
@click.option("--template", "template_name", metavar="NAME", help="Create jobs from this template; omit TYPE.")
@click.option("--cron", metavar="FIELDS", help="Minute, hour, day of month, month, day of week.")
@click.option("--timezone", metavar="ZONE", help="Time zone of the schedule (default: the tenant's).")
@click.option(
    "--misfire",
    type=click.Choice(["skip", "latest", "all"]),
    help="Slots missed while no worker was running: skip them, fire the latest (default), or fire all.",
)
@click.option("--event", metavar="NAME", help="Fire on this event (see `gribmill triggers emit`).")
@click.option(
    "--window",
    type=DURATION,
    help="Create no further job within this time, for the same event (default 5m) or the schedule (default 0).",
)
@click.option(
    "--priority", type=int, help="Priority of the jobs; higher runs first (default: 0, or that of the template)."
)
@click.option("--tenant", default="global", show_default=True, help="The tenant of the jobs and events.")
@AS_JSON
@click.pass_obj
def add(
    settings: Settings,
    label: str,
    type_key: str | None,
    args_text: str,
    template_name: str | None,
    cron: str | None,
    timezone: str | None,
    misfire: str | None,
    event: str | None,
    window: float | None,
    priority: int | None,
    tenant: str,
    as_json: bool,
) -> None:
    """Enqueue jobs of TYPE on a schedule (--cron) or in response to an event (--event).

    \b
    gribmill triggers add "hrrr every ten minutes" scan_source '{"model_id": "hrrr"}' --cron "*/10 * * * *"
    gribmill triggers add "new run" scan_source '{"model_id": "{{event.model}}"}' --event run.published
    gribmill triggers add "every night" --template nap '{"say": "good night"}' --cron "0 3 * * *"

    JSON holds the arguments of the jobs. {{event.NAME}} is replaced by a value of the event,
    {{schedule.slot}} by the time of the slot. With --template they override the arguments of
    the template, as it is when the trigger fires.
    """
    if event is not None and timezone is not None:
        raise click.UsageError("--timezone needs --cron: an event has no schedule")
    if event is not None and misfire is not None:
        raise click.UsageError("--misfire needs --cron: an event has no slots to miss")
    store = open_queue(settings)
    template = None
    if template_name is not None:
        if type_key is not None and args_text != "{}":
            raise click.UsageError("--template names the job type: leave TYPE out")
        template = store.templates.get(template_name, tenant)
        type_key, args_text = template.type, type_key or "{}"
    elif type_key is None:
        raise click.UsageError("name a job type, or a template with --template")
    made = store.triggers.add(
        NewTrigger(
            label,
            type_key,
            parse_object(args_text),
            template_id=None if template is None else template.id,
            cron=cron,
            timezone=timezone,
            event=event,
            priority=priority,
            tenant_id=tenant,
            dedupe_window_seconds=None if window is None else round(window),
            misfire=cast("Misfire | None", misfire),
            created_by=current_user(),
        )
    )
    if as_json:
        print_json(TriggerView.of(made))
    else:
        click.echo(f"trigger {made.id} is on" + (f"; next firing at {time_text(made.next_fire_at)}" if cron else ""))
