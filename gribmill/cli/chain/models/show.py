"""`gribmill models show`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.models import configured_models
from gribmill.settings.schema import Settings
from gribmill.views.chain.model import ModelDetailView


@click.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
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
