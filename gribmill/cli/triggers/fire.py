"""`gribmill triggers fire` and `emit`: enqueue jobs of triggers now."""

from __future__ import annotations

import click

from gribmill.cli.jobs.json_input import parse_object
from gribmill.cli.output import AS_JSON, print_json
from gribmill.errors import sentence
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import Fired
from gribmill.settings.schema import Settings
from gribmill.views.queue.trigger import FiredView


@click.command()
@click.argument("trigger_id", metavar="ID", type=int)
@click.argument("values_text", metavar="[JSON]", default="{}")
@AS_JSON
@click.pass_obj
def fire(settings: Settings, trigger_id: int, values_text: str, as_json: bool) -> None:
    """Enqueue the job of a trigger now, even if it is disabled. A schedule continues as before.

    For a trigger on an event, give the event's values in JSON. If an equal job is already delayed,
    it runs now. Exit code 1 if no job could be enqueued.
    """
    values = parse_object(values_text, "the values of the event")
    fired = open_queue(settings).triggers.fire_now(trigger_id, values)
    if as_json:
        print_json([FiredView.of(fired)])
    else:
        click.echo(_sentence(fired), err=fired.error is not None)
    if fired.error:
        raise SystemExit(1)


@click.command()
@click.argument("name")
@click.argument("values_text", metavar="[JSON]", default="{}")
@click.option("--id", "event_id", metavar="ID", help="The event's own id; an event with the same id is ignored.")
@click.option("--tenant", default="global", show_default=True, help="The tenant of the event.")
@AS_JSON
@click.pass_obj
def emit(settings: Settings, name: str, values_text: str, event_id: str | None, tenant: str, as_json: bool) -> None:
    """Report an event NAME, with values in JSON. Exit code 1 if a trigger could not enqueue its job."""
    values = parse_object(values_text, "the values of the event")
    store = open_queue(settings)
    store.tenants.get(tenant)
    fired = store.events.emit(name, values, tenant_id=tenant, event_id=event_id)
    if as_json:
        print_json([FiredView.of(one) for one in fired])
    elif not fired:
        click.echo(sentence(f"no trigger responds to {name}"), err=True)
    else:
        for one in fired:
            click.echo(_sentence(one), err=one.error is not None)
    if any(one.error for one in fired):
        raise SystemExit(1)


def _sentence(one: Fired) -> str:
    if one.error:
        return f"error: trigger {one.trigger_id} could not enqueue a job: {one.error}"
    if one.job is None:
        return f"trigger {one.trigger_id} has seen this event already"
    if not one.job.created:
        return f"trigger {one.trigger_id}: an equal job, {one.job.id}, is active already"
    return f"trigger {one.trigger_id} enqueued job {one.job.id}"
