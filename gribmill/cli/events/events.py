"""`gribmill events`: list, follow and report events."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.options.duration import parse_duration
from gribmill.cli.options.moment import Moment
from gribmill.cli.output import AS_JSON, print_json, print_json_line, print_table
from gribmill.cli.patience import patiently
from gribmill.cli.triggers.fire import emit
from gribmill.errors import printable
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.queue.redact import redact_json
from gribmill.settings.schema import Settings
from gribmill.views.queue.event import EventNameView, EventView

if TYPE_CHECKING:
    from gribmill.queue.model import PublishedEvent

FOLLOW_SECONDS = 0.5
NAME = click.option("--name", "pattern", metavar="NAME", help="Only events of this name, such as 'run.*'.")
TENANT = click.option("--tenant", help="Only events of this tenant.")


@click.group()
def events() -> None:
    """List, follow and report events: what happened to runs, models, mirrors, jobs and workers.

    gribmill records its own events in the transaction that causes them; `events emit` reports
    your own. Triggers respond to both. Events are kept for 31 days.
    """


class _Since(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A time, or a duration before now."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        seconds = parse_duration(str(value))
        if seconds is not None and not str(value).isdigit():
            return datetime.now(UTC) - timedelta(seconds=seconds)
        return Moment().convert(value, param, ctx)


@events.command("list")
@NAME
@click.option("--since", type=_Since(), help="Only events since this time (2026-11-01T06), or within this period (2h).")
@TENANT
@click.option("--before", "before_id", type=int, metavar="ID", help="Only events before this one: the next page.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Maximum number.")
@AS_JSON
@click.pass_obj
def list_(
    settings: Settings,
    pattern: str | None,
    since: datetime | None,
    tenant: str | None,
    before_id: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """List events, newest first."""
    store = open_queue_for_reading(settings)
    if tenant is not None:
        store.tenants.get(tenant)
    found = store.events.list(pattern=pattern, since=since, tenant_id=tenant, before_id=before_id, limit=limit)
    if as_json:
        print_json([EventView.of(one) for one in found])
    elif found:
        rows = [[one.id, _time(one), one.name, one.tenant_id, one.job_id, _payload(one)] for one in found]
        columns = ["id", "time", "event", "tenant", "job", "payload"]
        print_table(columns, rows, right=["id", "job"], cut="payload", drop=["tenant", "job"])
    else:
        click.echo("no events were found", err=True)


@events.command()
@NAME
@TENANT
@click.option("-n", "count", type=click.IntRange(0, 10_000), default=10, show_default=True, help="Number of events.")
@click.option("--follow", "-f", is_flag=True, help="Keep printing new events until interrupted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@click.pass_obj
def tail(settings: Settings, pattern: str | None, tenant: str | None, count: int, follow: bool, as_json: bool) -> None:
    """Show the latest events, oldest first, one per line."""
    store = open_queue_for_reading(settings)
    if tenant is not None:
        store.tenants.get(tenant)
    last = store.events.newest_id()
    latest = store.events.list(pattern=pattern, tenant_id=tenant, limit=count) if count else []
    for one in reversed(latest):
        _print_line(one, as_json=as_json)
    # Events committed between the two queries are returned by both.
    shown = {one.id for one in latest}
    while follow:
        newest = patiently(store.events.newest_id)
        found = patiently(partial(store.events.after, last, pattern=pattern, tenant_id=tenant))
        for one in found:
            if one.id not in shown:
                _print_line(one, as_json=as_json)
        # If nothing matched, skip to the newest event; otherwise continue after the last match.
        last = found[-1].id if found else newest or last
        time.sleep(FOLLOW_SECONDS)


@events.command(short_help="List the events that gribmill publishes.")
@AS_JSON
@click.pass_obj
def names(settings: Settings, as_json: bool) -> None:
    """List the events that gribmill publishes; with --json also the JSON Schema of each payload."""
    found = EventNameView.all(open_queue_for_reading(settings).events.recorded())
    if as_json:
        print_json(found)
    else:
        rows = [[one.name, "yes" if one.recorded else "if wanted", one.description] for one in found]
        print_table(["event", "recorded", "meaning"], rows, wrap="meaning")


@events.command()
@click.argument("name")
@click.option("--off", is_flag=True, help="Return to the default: record it only while a trigger responds to it.")
@click.pass_obj
def record(settings: Settings, name: str, off: bool) -> None:
    """Always record an optional event (attempt.metered, tile.built).

    These events occur with every attempt or tile, so by default they are recorded only while a
    trigger responds to them.
    """
    open_queue(settings).events.record(name, wanted=not off)
    click.echo(f"{name} is recorded {'while a trigger responds to it' if off else 'at all times'}")


events.add_command(emit)


def _print_line(one: PublishedEvent, *, as_json: bool) -> None:
    if as_json:
        print_json_line(EventView.of(one))
    else:
        click.echo(printable(f"{one.id} {_time(one)} {one.name} {_payload(one)}"))


def _time(one: PublishedEvent) -> str:
    return f"{one.created_at:%Y-%m-%d %H:%M:%S}Z" if one.created_at else ""


def _payload(one: PublishedEvent) -> str:
    return json.dumps(redact_json(one.payload), ensure_ascii=False)
