"""`gribmill definitions show`."""

from __future__ import annotations

import json
from typing import Any

import click

from gribmill.cli.definitions.values import shown
from gribmill.cli.output import print_json, print_table
from gribmill.errors import printable
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import TUNABLE, Definition
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionHistoryView


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
        click.echo(f"  command  {printable(json.dumps(one.command.get('argv'), ensure_ascii=False))}\n")
    declared, changed = _object(one.declared), _object(one.overrides)
    rows = [_row(one, name, declared, changed) for name in TUNABLE]
    print_table(["value", "declared", "changed", "in force"], rows)
    if found.versions:
        click.echo("")
        versions = [[v.version, to_rfc3339(v.changed_at), v.changed_by or "", v.change] for v in found.versions]
        print_table(["version", "when", "who", "change"], versions, right=["version"])


def _row(one: Definition, name: str, declared: dict[str, Any], changed: dict[str, Any]) -> list[str]:
    override = shown(changed[name]) if name in changed else ""
    return [name, shown(declared.get(name)), override, shown(getattr(one, name))]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
