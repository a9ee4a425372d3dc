"""`gribmill models list` and `show`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.models import configured_models
from gribmill.settings.schema import Settings
from gribmill.views.chain.model import ModelDetailView, ModelView


@click.command("list")
@click.option("--members", is_flag=True, help="List every member of the ensembles.")
@AS_JSON
@click.pass_obj
def list_models(settings: Settings, members: bool, as_json: bool) -> None:
    """List the models.

    An ensemble is one row; `--members` lists its members, such as gefs.p01.
    """
    now = datetime.now(UTC)
    every = list(configured_models(settings).values())
    views = [ModelView.of(name, group, now) for name, group in _groups(every, members).items()]
    if as_json:
        print_json(views)
        return
    rows = [
        [", ".join(cell) if isinstance(cell, tuple) else cell for cell in view.model_dump().values()] for view in views
    ]
    print_table(
        list(ModelView.model_fields),
        rows,
        right=["members", "variables"],
        cut="title",
        drop=["mirrors", "variables", "members"],
    )


def _groups(every: list[Model], members: bool) -> dict[str, list[Model]]:
    groups: dict[str, list[Model]] = {}
    for model in every:
        groups.setdefault(model.id if members else model.family, []).append(model)
    return groups


@click.command()
@click.argument("model")
@AS_JSON
@click.pass_obj
def show(settings: Settings, model: str, as_json: bool) -> None:
    """Show one MODEL: mirrors, cycles, hours, latency, variables, licence, example addresses.

    \b
    gribmill models show hrrr
    gribmill models show gefs.p01
    """
    group = models_named(configured_models(settings), model)
    view = ModelDetailView.of(group, datetime.now(UTC))
    if as_json:
        print_json(view)
        return
    for key, value in view.model_dump(by_alias=True).items():
        if isinstance(value, tuple) and value and isinstance(value[0], dict):
            click.echo(f"\n{key}")
            columns = list(value[0])
            print_table(columns, [[_cell(row[column]) for column in columns] for row in value])
        elif value is not None:
            click.echo(f"{key}: {_cell(value)}")


def _cell(value: Any) -> Any:
    return (" ".join(str(part) for part in value) or "none") if isinstance(value, tuple) else value
