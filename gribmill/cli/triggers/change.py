"""`gribmill triggers add`, `edit`, `enable`, `disable` and `remove`."""

from __future__ import annotations

from typing import Any, cast

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.ids import IDS
from gribmill.cli.output import AS_JSON, print_json
from gribmill.cli.triggers.listing import time_text
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.cron import check_cron, check_zone
from gribmill.queue.model import Misfire, NewTrigger
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import DoneView
from gribmill.views.queue.trigger import SwitchedTriggerView, TriggerView


@click.command()
@click.argument("label")
@click.argument("type_key", metavar="[TYPE]", required=False)
@click.argument("args_text", metavar="[JSON]", default="{}")
@click.option("--template", "template_name", metavar="NAME", help="Create jobs from this template; omit TYPE.")
@click.option(
    "--cron", metavar="FIELDS", callback=accepted_by(check_cron), help="Minute, hour, day of month, month, day of week."
)
@click.option(
    "--timezone",
    metavar="ZONE",
    callback=accepted_by(check_zone),
    help="Time zone of the schedule. [default: the tenant's]",
)
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
    "--priority", type=int, help="Priority of the jobs; higher runs first. [default: 0, or that of the template]"
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
    gribmill triggers add "new file" scan_source '{"model_id": "{{event.model}}"}' --event file.arrived
    gribmill triggers add "every night" --template nap '{"say": "good night"}' --cron "0 3 * * *"

    JSON holds the arguments of the jobs. {{event.NAME}} is replaced by a value of the event,
    {{schedule.slot}} by the time of the slot. With --template they override the arguments of
    the template, as it is when the trigger fires.
    """
    if (cron is None) == (event is None):
        raise click.UsageError("give either a schedule (--cron) or an event (--event)")
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
            misfire=cast(Misfire | None, misfire),
            created_by=current_user(),
        )
    )
    if as_json:
        print_json(TriggerView.of(made))
    else:
        click.echo(f"trigger {made.id} is on" + (f"; next firing at {time_text(made.next_fire_at)}" if cron else ""))


@click.command()
@click.argument("trigger_id", metavar="ID", type=int)
@click.option("--label", metavar="TEXT", help="The new label.")
@click.option("--args", "args_text", metavar="JSON", help="The arguments of the jobs, in place of all earlier ones.")
@click.option(
    "--cron", metavar="FIELDS", callback=accepted_by(check_cron), help="Minute, hour, day of month, month, day of week."
)
@click.option("--timezone", metavar="ZONE", callback=accepted_by(check_zone), help="Time zone of the schedule.")
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


@click.command()
@IDS
@AS_JSON
@click.pass_obj
def enable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Enable triggers. Slots missed while they were disabled are not fired later."""
    _switch(settings, ids, enabled=True, as_json=as_json)


@click.command()
@IDS
@AS_JSON
@click.pass_obj
def disable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Disable triggers."""
    _switch(settings, ids, enabled=False, as_json=as_json)


@click.command()
@IDS
@AS_JSON
@click.pass_obj
def remove(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Remove triggers. Jobs that they enqueued stay."""
    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, DoneView]:
        store.triggers.remove(trigger_id)
        return f"trigger {trigger_id} is removed", DoneView(id=trigger_id)

    for_each(ids, act, as_json=as_json)


def _switch(settings: Settings, ids: tuple[int, ...], *, enabled: bool, as_json: bool) -> None:
    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, SwitchedTriggerView]:
        trigger = store.triggers.set_enabled(trigger_id, enabled=enabled)
        ahead = f"; next firing at {time_text(trigger.next_fire_at)}" if trigger.next_fire_at else ""
        return f"trigger {trigger_id} is {'on' if enabled else 'off'}{ahead}", SwitchedTriggerView.of(trigger)

    for_each(ids, act, as_json=as_json)
