"""Views: every one has a JSON Schema, and every `--json` has a view."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import click
import jsonschema
import pytest

import gribmill.views
from gribmill.cli.main import COMMANDS, cli
from gribmill.queue.model import Attempt, Job, Reservation, Trigger, Worker
from gribmill.tiles.format.meta import Meta
from gribmill.views.data.tile import TileView
from gribmill.views.queue.attempt import AttemptView
from gribmill.views.queue.job import JobView
from gribmill.views.queue.reservation import ReservationView
from gribmill.views.queue.trigger import TriggerView
from gribmill.views.queue.worker import WorkerView
from gribmill.views.view import View
from tests.cli.json_outputs import OUTPUTS

MODULES = [
    importlib.import_module(one.name) for one in pkgutil.walk_packages(gribmill.views.__path__, "gribmill.views.")
]
VIEWS = {
    name: one
    for module in MODULES
    for name, one in vars(module).items()
    if isinstance(one, type) and issubclass(one, View) and one is not View
}


@cache
def schema_of(name: str) -> dict[str, Any]:
    return VIEWS[name].model_json_schema(mode="serialization")


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_has_a_json_schema(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["description"], "its docstring"


def test_no_key_of_a_view_is_ever_left_out() -> None:
    for name in VIEWS:
        schema = schema_of(name)
        assert schema.get("required", []) == list(schema["properties"]), name


@pytest.mark.parametrize(
    ("view", "record", "left_out"),
    [
        (JobView, Job, {"claimant"}),  # follows from requested_by and tenant_id
        (AttemptView, Attempt, set()),
        (ReservationView, Reservation, set()),
        (TriggerView, Trigger, set()),
        (WorkerView, Worker, {"running_count"}),  # `running` has the jobs themselves
    ],
)
def test_no_column_is_forgotten(view: type[View], record: Any, left_out: set[str]) -> None:
    assert {field.name for field in fields(record)} - set(view.model_fields) == left_out


def test_nothing_that_a_tile_holds_is_forgotten() -> None:
    assert {field.name for field in fields(Meta)} <= set(TileView.model_fields)


def _with_json(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _with_json(child, (*path, name))
    if any(param.name == "as_json" for param in command.params):
        yield " ".join(path)


def test_every_command_that_prints_json_prints_a_view() -> None:
    context = click.Context(cli)
    found = {(name, cli.get_command(context, name)) for name in COMMANDS}
    assert {path for name, command in found if command for path in _with_json(command, (name,))} == set(OUTPUTS)


def test_times_are_read_back_as_they_were_written() -> None:
    schema = ReservationView.model_json_schema(mode="serialization")
    assert schema["properties"]["expires_at"]["anyOf"][0] == {"type": "string", "format": "date-time"}
