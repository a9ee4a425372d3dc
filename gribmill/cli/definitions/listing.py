"""`gribmill definitions list` and `show`."""

from __future__ import annotations

import json
from typing import Any

import click

from gribmill.cli.definitions.values import shown
from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.cli.text.figures import format_duration
from gribmill.errors import printable
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import TUNABLE, Definition
from gribmill.queue.redact import redact_json
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionHistoryView, DefinitionView


@click.command("list")
@AS_JSON
@click.pass_obj
def list_definitions(settings: Settings, as_json: bool) -> None:
    """List the job types, their current values, and what operators changed."""
    found = open_queue_for_reading(settings).definitions.list()
    if as_json:
        print_json([DefinitionView.of(one) for one in found])
        return
    columns = ["type", "from", "state", "lane", "timeout", "attempts", "changed"]
    print_table(columns, [_row(one) for one in found], right=["timeout", "attempts"], wrap="changed")


def _row(one: Definition) -> list[Any]:
    state = "inactive" if not one.is_active else "paused" if one.is_paused else "active"
    changes = one.overrides if isinstance(one.overrides, dict) else {}
    return [
        one.key,
        "operator" if one.command else "code",
        state,
        one.lane,
        format_duration(one.timeout_seconds),
        one.max_attempts,
        ", ".join(f"{name}={shown(value)}" for name, value in changes.items()),
    ]


@click.command()
@click.argument("key", metavar="TYPE")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON, with the JSON Schema of the arguments.")
@click.pass_obj
def show(settings: Settings, key: str, as_json: bool) -> None:
    """Show one job type: its declared and current values, what operators changed, and all versions."""
    found = open_queue_for_reading(settings).definitions.get(key)
    if as_json:
        print_json(DefinitionHistoryView.of(found))
        return
    one = found.definition
    state = "" if one.is_active else " (inactive)"
    click.echo(f"{one.key}{state}: {printable(one.description)}\n")
    if isinstance(one.command, dict):
        click.echo(f"  command  {printable(json.dumps(redact_json(one.command.get('argv')), ensure_ascii=False))}\n")
    declared, changed = _object(one.declared), _object(one.overrides)
    rows = [_value_row(one, name, declared, changed) for name in TUNABLE]
    print_table(["value", "declared", "changed", "effective"], rows)
    if found.versions:
        click.echo("")
        versions = [[v.version, to_rfc3339(v.changed_at), v.changed_by or "", v.change] for v in found.versions]
        print_table(["version", "when", "who", "change"], versions, right=["version"])


def _value_row(one: Definition, name: str, declared: dict[str, Any], changed: dict[str, Any]) -> list[str]:
    override = shown(changed[name]) if name in changed else ""
    return [name, shown(declared.get(name)), override, shown(getattr(one, name))]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
