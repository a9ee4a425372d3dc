"""`gribmill definitions list`."""

from __future__ import annotations

from typing import Any

import click

from gribmill.cli.definitions.values import shown
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.format_duration import format_duration
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import Definition
from gribmill.settings.schema import Settings
from gribmill.views.queue.definition import DefinitionView


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
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
