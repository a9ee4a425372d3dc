"""`gribmill triggers list`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import Trigger
from gribmill.settings.schema import Settings
from gribmill.views.queue.trigger import TriggerView


@click.command("list")
@click.option("--tenant", metavar="TENANT", help="Only triggers of this tenant.")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, tenant: str | None, as_json: bool) -> None:
    """List triggers, and when each fired last and fires next."""
    store = open_queue_for_reading(settings)
    found = store.triggers.list(None if tenant is None else store.tenants.get(tenant).name)
    broken = store.triggers.broken()
    if as_json:
        print_json([TriggerView.of(one) for one in found])
    elif found:
        columns = ["id", "label", "when", "job", "state", "last", "next"]
        print_table(columns, [_row(one) for one in found], right=["id"], cut="job", drop=["last", "state"])
    elif not broken:
        click.echo("there are no triggers; `gribmill triggers add --help` shows how to add one", err=True)
    for one in broken:
        click.echo(f"error: {one.reason}; `gribmill triggers remove {one.id}` removes it", err=True)
    if broken:
        raise SystemExit(1)


def _row(one: Trigger) -> list[Any]:
    when = {"schedule": f"{one.cron} {one.timezone}", "event": f"on {one.event}", "adaptive": "adaptive"}[one.kind]
    state = "on" if one.is_enabled else "off"
    ahead = time_text(one.next_fire_at) if one.is_enabled else ""
    return [one.id, one.label, when, one.type, state, time_text(one.last_fired_at), ahead]


def time_text(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z" if moment else ""
