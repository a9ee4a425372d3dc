"""`gribmill models`: what can be ingested, and from where."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.settings.schema import Settings
from gribmill.views.model import ModelCheckView, ModelDetailView, ModelView

if TYPE_CHECKING:
    from gribmill.ingest.index.entry import Inventory
    from gribmill.ingest.models.model import Model

LONGEST_INDEX = 32_000_000


@click.group()
def models() -> None:
    """Models that can be ingested: list, show, check."""


@models.command("list")
@click.option("--members", is_flag=True, help="Every member of the ensembles.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_models(settings: Settings, members: bool, as_json: bool) -> None:
    """List the models.

    Ensembles are shown once; `--members` lists what their members are called, such as gefs.p01.
    """
    from gribmill.pipeline.models import configured_models

    now = datetime.now(UTC)
    every = list(configured_models(settings).values())
    views = [ModelView.of(name, group, now) for name, group in _groups(every, members).items()]
    if as_json:
        print_json(views)
        return
    shown = [[_cell(cell) for cell in view.model_dump().values()] for view in views]
    print_table(list(ModelView.model_fields), shown, right=["members", "variables"], cut="mirrors")


@models.command()
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def show(settings: Settings, model: str, as_json: bool) -> None:
    """Show one MODEL: mirrors, cycles, hours, latency, variables, licence, example addresses.

    \b
    gribmill models show hrrr
    gribmill models show gefs.p01
    """
    from gribmill.ingest.models.registry import models_named
    from gribmill.pipeline.models import configured_models

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


@models.command()
@click.argument("model", required=False)
@click.option("--index", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Try it on this index.")
@click.option("--hour", type=click.IntRange(0, 8784), help="The forecast hour of that index.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def check(settings: Settings, model: str | None, index: Path | None, hour: int | None, as_json: bool) -> None:
    """Check MODEL, or all: every key reads back, every variable is found in an index.

    Without --index, a small made-up index is used. Exit code 1 when something is wrong.

    \b
    gribmill models check
    gribmill models check hrrr --index hrrr.t00z.wrfsfcf08.grib2.idx --hour 8
    """
    from gribmill.ingest.models.registry import models_named
    from gribmill.pipeline.model_check import check_model
    from gribmill.pipeline.models import configured_models

    every = configured_models(settings)
    chosen = models_named(every, model) if model is not None else list(every.values())
    if index is not None and (model is None or len(chosen) > 1):
        raise click.UsageError("--index needs one model, such as hrrr or gefs.p01")
    inventory = _read_index(chosen[0], index) if index is not None else None
    if inventory is not None and hour is None:
        hour = _usual_hour(inventory, chosen[0])
    now = datetime.now(UTC)
    findings = [check_model(one, now, inventory, hour) for one in _representatives(chosen)]
    views = [ModelCheckView.of(one) for one in findings]
    if as_json:
        print_json(views)
    else:
        shown = [[one.model, one.keys, one.variables, "; ".join(one.problems) or "none"] for one in views]
        print_table(["model", "keys", "variables", "problems"], shown, right=["keys", "variables"])
    if any(one.problems for one in findings):
        raise SystemExit(1)


def _groups(every: list[Model], members: bool) -> dict[str, list[Model]]:
    groups: dict[str, list[Model]] = {}
    for model in every:
        groups.setdefault(model.id if members else model.family, []).append(model)
    return groups


def _representatives(chosen: list[Model]) -> list[Model]:
    """Members that differ in nothing but the words that end their lines are checked once."""
    return list({(model.family, model.layouts, model.offset_minutes, model.ends): model for model in chosen}.values())


def _read_index(model: Model, path: Path) -> Inventory:
    from gribmill.ingest.index.parse import guess_kind, parse_index

    with path.open("rb") as file:
        data = file.read(LONGEST_INDEX + 1)
    return parse_index(guess_kind(data), data, str(path))


def _usual_hour(inventory: Inventory, model: Model) -> int:
    """The hour at which most lines of an index end."""
    from collections import Counter

    from gribmill.grib.names.wgrib2_time import parse_time_range

    if inventory.kind == "ecmwf_index":
        steps = Counter(int(entry.window) for entry in inventory if entry.window.isdigit())
        return steps.most_common(1)[0][0] if steps else 0
    windows = (parse_time_range(entry.window) for entry in inventory)
    ends = Counter(window.end - model.offset_minutes for window in windows if window)
    whole = [minutes for minutes, _ in ends.most_common() if minutes % 60 == 0]
    return whole[0] // 60 if whole else 0


def _cell(value: Any) -> Any:
    return (" ".join(str(part) for part in value) or "none") if isinstance(value, tuple) else value
