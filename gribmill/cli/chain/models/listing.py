"""`gribmill models list`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from gribmill.cli.output import print_json, print_table
from gribmill.ingest.models.model import Model
from gribmill.pipeline.models import configured_models
from gribmill.settings.schema import Settings
from gribmill.views.chain.model import ModelView


@click.command("list")
@click.option("--members", is_flag=True, help="List every member of the ensembles.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
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
