"""`gribmill triggers`: jobs that schedules and events make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.options.duration import DURATION
from gribmill.cli.options.ids import parse_ids
from gribmill.cli.output import print_json, print_table
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.job_result import DoneView
from gribmill.views.trigger import FiredView, SwitchedTriggerView, TriggerView

if TYPE_CHECKING:
    from gribmill.queue.model import Fired, Misfire, Trigger

IDS = click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.group()
def triggers() -> None:
    """Rules that make jobs by themselves: at the slots of a schedule, or when an event is told of.

    Running workers fire the schedules. Each slot makes one job, however many workers there are.
    """


@triggers.command("list")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, as_json: bool) -> None:
    """Every trigger, when it last fired and when it fires next."""
    from gribmill.pipeline.open_queue import open_queue

    found = open_queue(settings).triggers.list()
    if as_json:
        print_json([TriggerView.of(one) for one in found])
    elif found:
        columns = ["id", "label", "when", "job", "state", "last", "next"]
        print_table(columns, [_row(one) for one in found], right=["id"], cut="job")
    else:
        click.echo("there are no triggers; `gribmill triggers add --help` tells how to make one", err=True)


@triggers.command()
@click.argument("label")
@click.argument("type_key", metavar="TYPE")
@click.argument("args_text", metavar="[JSON]", default="{}")
@click.option("--cron", metavar="FIELDS", help="Minute, hour, day of month, month, day of week.")
@click.option("--timezone", metavar="ZONE", help="Where the schedule's clock hangs (default: UTC).")
@click.option(
    "--misfire",
    type=click.Choice(["skip", "latest", "all"]),
    default="latest",
    show_default=True,
    help="Slots that passed while no worker ran: make up for none, for the last, for all.",
)
@click.option("--event", metavar="NAME", help="Fire when `gribmill triggers emit NAME` tells of it.")
@click.option(
    "--window",
    type=DURATION,
    default="5m",
    show_default=True,
    help="Told again within it, an event makes no job.",
)
@click.option("--priority", type=int, default=0, show_default=True, help="Of the jobs; higher runs first.")
@click.option("--tenant", default="global", show_default=True, help="Whose jobs and events.")
@AS_JSON
@click.pass_obj
def add(
    settings: Settings,
    label: str,
    type_key: str,
    args_text: str,
    cron: str | None,
    timezone: str | None,
    misfire: str,
    event: str | None,
    window: float,
    priority: int,
    tenant: str,
    as_json: bool,
) -> None:
    """Make jobs of TYPE at the slots of a schedule (--cron), or on an event (--event).

    \b
    gribmill triggers add "hrrr every ten minutes" scan_source '{"model_id": "hrrr"}' --cron "*/10 * * * *"
    gribmill triggers add "new run" scan_source '{"model_id": "{{event.model}}"}' --event run.published

    JSON holds the jobs' arguments. {{event.NAME}} stands for what the event tells, {{schedule.slot}}
    for the slot's time.
    """
    from gribmill.pipeline.open_queue import open_queue
    from gribmill.queue.model import NewTrigger

    if event is not None and timezone is not None:
        raise click.UsageError("--timezone goes with --cron: an event has no clock")
    made = open_queue(settings).triggers.add(
        NewTrigger(
            label,
            type_key,
            parse_object(args_text),
            cron=cron,
            timezone=timezone or "UTC",
            event=event,
            priority=priority,
            tenant_id=tenant,
            dedupe_window_seconds=round(window),
            misfire=cast("Misfire", misfire),
            created_by=current_user(),
        )
    )
    if as_json:
        print_json(TriggerView.of(made))
    else:
        click.echo(f"trigger {made.id} is on" + (f"; it fires next at {_time(made.next_fire_at)}" if cron else ""))


@triggers.command()
@IDS
@AS_JSON
@click.pass_obj
def enable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Switch triggers on. Slots that passed while they were off are not made up for."""
    _switch(settings, ids, enabled=True, as_json=as_json)


@triggers.command()
@IDS
@AS_JSON
@click.pass_obj
def disable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Switch triggers off."""
    _switch(settings, ids, enabled=False, as_json=as_json)


@triggers.command()
@IDS
@AS_JSON
@click.pass_obj
def remove(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Forget triggers. The jobs that they made stay."""
    from gribmill.pipeline.open_queue import open_queue

    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, DoneView]:
        store.triggers.remove(trigger_id)
        return f"trigger {trigger_id} is gone", DoneView(id=trigger_id)

    for_each(ids, act, as_json=as_json)


@triggers.command()
@click.argument("name")
@click.argument("told_text", metavar="[JSON]", default="{}")
@click.option("--id", "event_id", metavar="ID", help="The event's own id: told twice, it counts once.")
@click.option("--tenant", default="global", show_default=True, help="Whose event.")
@AS_JSON
@click.pass_obj
def emit(settings: Settings, name: str, told_text: str, event_id: str | None, tenant: str, as_json: bool) -> None:
    """Tell of an event NAME, and of what JSON says about it. Exit code 1 when a trigger could make no job of it."""
    from gribmill.pipeline.open_queue import open_queue

    told = parse_object(told_text, "what the event tells")
    fired = open_queue(settings).triggers.fire_event(name, told, tenant_id=tenant, event_id=event_id)
    if as_json:
        print_json([FiredView.of(one) for one in fired])
    elif not fired:
        click.echo(f"no trigger listens to {name}", err=True)
    else:
        for one in fired:
            click.echo(_sentence(one), err=one.error is not None)
    if any(one.error for one in fired):
        raise SystemExit(1)


@triggers.command()
@click.argument("cron")
@click.option("--timezone", default="UTC", show_default=True, metavar="ZONE", help="Where the schedule's clock hangs.")
@click.option("-n", "count", type=click.IntRange(1, 100), default=5, show_default=True, help="How many slots.")
@AS_JSON
def preview(cron: str, timezone: str, count: int, as_json: bool) -> None:
    """The next slots of a schedule, before anything is made of it."""
    from datetime import UTC, datetime
    from itertools import islice

    from gribmill.queue.cron import CronSchedule

    slots = [str(to_rfc3339(slot)) for slot in islice(CronSchedule(cron, timezone).since(datetime.now(UTC)), count)]
    if as_json:
        print_json(slots)
    else:
        click.echo("\n".join(slots))


def _switch(settings: Settings, ids: tuple[int, ...], *, enabled: bool, as_json: bool) -> None:
    from gribmill.pipeline.open_queue import open_queue

    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, SwitchedTriggerView]:
        trigger = store.triggers.set_enabled(trigger_id, enabled=enabled)
        ahead = f"; it fires next at {_time(trigger.next_fire_at)}" if trigger.next_fire_at else ""
        return f"trigger {trigger_id} is {'on' if enabled else 'off'}{ahead}", SwitchedTriggerView.of(trigger)

    for_each(ids, act, as_json=as_json)


def _row(one: Trigger) -> list[Any]:
    when = f"{one.cron} {one.timezone}" if one.cron else f"on {one.event}"
    state = "on" if one.is_enabled else "off"
    return [one.id, one.label, when, one.type, state, _time(one.last_fired_at), _time(one.next_fire_at)]


def _time(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z" if moment else ""


def _sentence(one: Fired) -> str:
    if one.error:
        return f"error: trigger {one.trigger_id} made no job: {one.error}"
    if one.job is None:
        return f"trigger {one.trigger_id} was told this already"
    return f"trigger {one.trigger_id} made job {one.job.id}" + ("" if one.job.created else ", which was there already")
