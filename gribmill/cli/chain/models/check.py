"""`gribmill models check`."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import click

from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.grib.names.time_range import parse_time_range
from gribmill.ingest.index.entry import INDEX_LIMIT_BYTES, Inventory
from gribmill.ingest.index.parse import guess_kind, parse_index
from gribmill.ingest.models.model import Model
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.model_check import check_model
from gribmill.pipeline.models import configured_models
from gribmill.regular_file import open_regular
from gribmill.settings.schema import Settings
from gribmill.views.chain.model import ModelCheckView


@click.command()
@click.argument("model", required=False)
@click.option(
    "--index",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Look for the variables in this index.",
)
@click.option("--hour", type=click.IntRange(0, 8784), help="The forecast hour of that index.")
@AS_JSON
@click.pass_obj
def check(settings: Settings, model: str | None, index: Path | None, hour: int | None, as_json: bool) -> None:
    """Check MODEL, or all models: every key can be parsed back, every variable is found in an index.

    Without --index, a small sample index is used. `source` says where its lines come from: `real` (copied from an
    index of that model), `reported` (by others), or `made up`. --json has the details. Exit code 1 if there is a
    problem.

    \b
    gribmill models check
    gribmill models check hrrr --index hrrr.t00z.wrfsfcf08.grib2.idx --hour 8
    """
    every = configured_models(settings)
    chosen = models_named(every, model) if model is not None else list(every.values())
    if index is not None and (model is None or len(chosen) > 1):
        raise click.UsageError("--index needs one model, such as hrrr or gefs.p01")
    inventory = _read_index(index) if index is not None else None
    if inventory is not None and hour is None:
        hour = _most_common_hour(inventory, chosen[0])
    now = datetime.now(UTC)
    views = [ModelCheckView.of(check_model(one, now, inventory, hour)) for one in _representatives(chosen)]
    if as_json:
        print_json(views)
    else:
        rows = [[one.model, one.keys, one.variables, one.source or "none", _remarks(one)] for one in views]
        columns = ["model", "keys", "variables", "source", "problems"]
        print_table(columns, rows, right=["keys", "variables"], wrap="problems")
    if any(one.problems for one in views):
        raise SystemExit(1)


def _remarks(view: ModelCheckView) -> str:
    problems = "; ".join(view.problems) or "none"
    return f"{problems}; not checked: {view.unchecked}" if view.unchecked else problems


def _representatives(chosen: list[Model]) -> list[Model]:
    """One model for each set of members that differ only in the last words of their index lines."""
    return list({(model.family, model.layouts, model.offset_minutes, model.ends): model for model in chosen}.values())


def _read_index(path: Path) -> Inventory:
    with open_regular(path) as file:
        data = file.read(INDEX_LIMIT_BYTES + 1)
    return parse_index(guess_kind(data), data, str(path))


def _most_common_hour(inventory: Inventory, model: Model) -> int:
    """The hour at which most lines of an index end."""
    if inventory.kind == "ecmwf_index":
        steps = Counter(int(entry.window) for entry in inventory.entries if entry.window.isdigit())
        return steps.most_common(1)[0][0] if steps else 0
    windows = (parse_time_range(entry.window) for entry in inventory.entries)
    ends = Counter(window.end - model.offset_minutes for window in windows if window)
    whole = [minutes for minutes, _ in ends.most_common() if minutes % 60 == 0]
    return whole[0] // 60 if whole else 0
