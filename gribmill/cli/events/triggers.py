"""`gribmill triggers`: rules that enqueue jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.ids import parse_ids
from gribmill.cli.output import print_json, print_table
from gribmill.errors import sentence
from gribmill.pipeline.open_queue import look_queue, open_queue
from gribmill.queue.cron import CronSchedule
from gribmill.queue.model import NewTrigger
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import DoneView
from gribmill.views.queue.trigger import FiredView, SwitchedTriggerView, TriggerView

if TYPE_CHECKING:
    from gribmill.queue.model import Fired, Misfire, Trigger

IDS = click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.group()
def triggers() -> None:
    """Rules that enqueue jobs on a schedule or in response to an event.

    Running workers fire the schedules. Each slot of a schedule enqueues one job, no matter how
    many workers run. The scans of `gribmill run` are listed as well: it adapts their times to the
    publishing times of each model. Disable one to pause the scans of a model, fire it to scan now.
    """


@triggers.command("list")
@click.option("--tenant", metavar="TENANT", help="Only triggers of this tenant.")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, tenant: str | None, as_json: bool) -> None:
    """List triggers, and when each fired last and fires next."""
    store = look_queue(settings)
    found = store.triggers.list(None if tenant is None else store.tenants.get(tenant).name)
    if as_json:
        print_json([TriggerView.of(one) for one in found])
    elif found:
        columns = ["id", "label", "when", "job", "state", "last", "next"]
        print_table(columns, [_row(one) for one in found], right=["id"], cut="job", drop=["last", "state"])
    else:
        click.echo("there are no triggers; `gribmill triggers add --help` shows how to add one", err=True)


@triggers.command()
@click.argument("label")
@click.argument("type_key", metavar="[TYPE]", required=False)
@click.argument("args_text", metavar="[JSON]", default="{}")
@click.option("--template", "template_name", metavar="NAME", help="Make jobs of this template; TYPE is left out.")
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
    help="Make no further job within this time: of the same event (default 5m), or of the schedule (default 0).",
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
        click.echo(f"trigger {made.id} is on" + (f"; next firing at {_time(made.next_fire_at)}" if cron else ""))


@triggers.command()
@click.argument("trigger_id", metavar="ID", type=int)
@click.option("--label", metavar="TEXT", help="The new label.")
@click.option("--args", "args_text", metavar="JSON", help="The arguments of the jobs, in place of all earlier ones.")
@click.option("--cron", metavar="FIELDS", help="Minute, hour, day of month, month, day of week.")
@click.option("--timezone", metavar="ZONE", help="Time zone of the schedule.")
@click.option(
    "--misfire", type=click.Choice(["skip", "latest", "all"]), help="What is done about slots that were missed."
)
@click.option("--event", metavar="NAME", help="Fire on this event.")
@click.option("--window", "dedupe_window_seconds", type=DURATION, help="Make no further job within this time.")
@click.option("--priority", type=int, help="Priority of the jobs; higher runs first.")
@click.option("--template", "template_name", metavar="NAME", help="Make jobs of this template.")
@click.option("--no-template", is_flag=True, help="Use no template any more; --args then hold all arguments.")
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
    """Change a trigger. Its id, its history and what is not named stay.

    --cron makes it a schedule, --event a trigger for that event. A schedule goes on at its next
    slot from now.
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
        ahead = f"; next firing at {_time(made.next_fire_at)}" if made.next_fire_at else ""
        click.echo(f"trigger {made.id} is changed{ahead}")


@triggers.command()
@click.argument("trigger_id", metavar="ID", type=int)
@click.argument("values_text", metavar="[JSON]", default="{}")
@AS_JSON
@click.pass_obj
def fire(settings: Settings, trigger_id: int, values_text: str, as_json: bool) -> None:
    """Enqueue the job of a trigger now, even if it is disabled. A schedule goes on as before.

    A trigger for an event takes the values of the event in JSON. If an equal job waits for its
    time, it runs now. Exit code 1 if no job could be enqueued.
    """
    values = parse_object(values_text, "the values of the event")
    fired = open_queue(settings).triggers.fire_now(trigger_id, values)
    if as_json:
        print_json([FiredView.of(fired)])
    else:
        click.echo(_sentence(fired), err=fired.error is not None)
    if fired.error:
        raise SystemExit(1)


@triggers.command()
@IDS
@AS_JSON
@click.pass_obj
def enable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Enable triggers. Slots missed while they were disabled are not made up."""
    _switch(settings, ids, enabled=True, as_json=as_json)


@triggers.command()
@IDS
@AS_JSON
@click.pass_obj
def disable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Disable triggers."""
    _switch(settings, ids, enabled=False, as_json=as_json)


@triggers.command()
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


@triggers.command()
@click.argument("name")
@click.argument("values_text", metavar="[JSON]", default="{}")
@click.option("--id", "event_id", metavar="ID", help="The event's own id; an event with the same id is ignored.")
@click.option("--tenant", default="global", show_default=True, help="The tenant of the event.")
@AS_JSON
@click.pass_obj
def emit(settings: Settings, name: str, values_text: str, event_id: str | None, tenant: str, as_json: bool) -> None:
    """Report an event NAME, with values in JSON. Exit code 1 if a trigger could not enqueue its job."""
    values = parse_object(values_text, "the values of the event")
    fired = open_queue(settings).events.emit(name, values, tenant_id=tenant, event_id=event_id)
    if as_json:
        print_json([FiredView.of(one) for one in fired])
    elif not fired:
        click.echo(sentence(f"no trigger responds to {name}"), err=True)
    else:
        for one in fired:
            click.echo(_sentence(one), err=one.error is not None)
    if any(one.error for one in fired):
        raise SystemExit(1)


@triggers.command()
@click.argument("cron")
@click.option("--timezone", default="UTC", show_default=True, metavar="ZONE", help="Time zone of the schedule.")
@click.option("-n", "count", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of slots.")
@AS_JSON
def preview(cron: str, timezone: str, count: int, as_json: bool) -> None:
    """Show the next slots of a schedule, without adding a trigger."""

    slots = [str(to_rfc3339(slot)) for slot in islice(CronSchedule(cron, timezone).since(datetime.now(UTC)), count)]
    if as_json:
        print_json(slots)
    else:
        click.echo("\n".join(slots))


def _switch(settings: Settings, ids: tuple[int, ...], *, enabled: bool, as_json: bool) -> None:
    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, SwitchedTriggerView]:
        trigger = store.triggers.set_enabled(trigger_id, enabled=enabled)
        ahead = f"; next firing at {_time(trigger.next_fire_at)}" if trigger.next_fire_at else ""
        return f"trigger {trigger_id} is {'on' if enabled else 'off'}{ahead}", SwitchedTriggerView.of(trigger)

    for_each(ids, act, as_json=as_json)


def _row(one: Trigger) -> list[Any]:
    when = {"schedule": f"{one.cron} {one.timezone}", "event": f"on {one.event}", "adaptive": "adaptive"}[one.kind]
    state = "on" if one.is_enabled else "off"
    ahead = _time(one.next_fire_at) if one.is_enabled else ""
    return [one.id, one.label, when, one.type, state, _time(one.last_fired_at), ahead]


def _time(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z" if moment else ""


def _sentence(one: Fired) -> str:
    if one.error:
        return f"error: trigger {one.trigger_id} could not enqueue a job: {one.error}"
    if one.job is None:
        return f"trigger {one.trigger_id} has seen this event already"
    if not one.job.created:
        return f"trigger {one.trigger_id}: an equal job, {one.job.id}, is active already"
    return f"trigger {one.trigger_id} enqueued job {one.job.id}"
