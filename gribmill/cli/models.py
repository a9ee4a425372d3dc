"""`gribmill models`: what can be ingested, and from where."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.output import print_json, print_table
from gribmill.settings import Settings

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
    rows = []
    for name, group in _groups(every, members).items():
        newest = next(iter(group[-1].runs(now)), None)
        rows.append(
            {
                "model": name,
                "title": _title(group[0], whole=members),
                "members": len(group) if group[0].id != group[0].family else None,
                "grid": group[0].grid,
                "variables": len(group[0].variables),
                "newest_run": _run_id(newest),
                "mirrors": [mirror.name for mirror in group[0].mirrors],
            }
        )
    if as_json:
        print_json(rows)
        return
    shown = [[", ".join(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in rows]
    print_table(list(rows[0]), shown, right=["members", "variables"], cut="mirrors")


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
    facts = _facts(group, datetime.now(UTC))
    if as_json:
        print_json(facts)
        return
    for key, value in facts.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
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
    rows = [
        {
            "model": one.model,
            "keys": one.keys,
            "variables": f"{len(one.found)}/{len(one.found) + len(one.missing)}",
            "problems": one.problems,
        }
        for one in findings
    ]
    if as_json:
        print_json(rows)
    else:
        shown = [
            [*list(row.values())[:-1], "; ".join(one.problems) or "none"]
            for row, one in zip(rows, findings, strict=True)
        ]
        print_table(list(rows[0]), shown, right=["keys", "variables"])
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


def _facts(group: list[Model], now: datetime) -> dict[str, Any]:
    """What `show` prints, of a family where one was named. Its first member that has a run is the example."""
    from gribmill.ingest.models.hour_ranges import write_steps
    from gribmill.pipeline.model_check import last_run

    model = next((one for one in group if one.runs(now)), group[-1])
    alone = len(group) == 1
    newest = next(iter(model.runs(now)), None)
    example = newest or last_run(model)
    hours = model.hours(example) if example else ()
    cycles = sorted({run.hour for run in model.runs(example.replace(hour=23))[:24]}) if example else []
    return {
        "model": model.id if alone else model.family,
        "title": _title(model, whole=alone),
        "members": None if alone else [one.id for one in group],
        "grid": model.grid,
        "cycles": write_steps(tuple(cycles)),
        "newest run": _run_id(newest) or f"none: the last was {_run_id(example)}",
        "hours": (write_steps(hours) + (" at most; the listing tells" if example and model.discovers(example) else "")),
        "index": model.layouts[0].index,
        "ends lines with": ([extra for extra in model.extras if extra] or None) if alone else None,
        "minutes within the hour": (model.offset_minutes or None) if alone else None,
        "variables": list(model.variables),
        "licence": model.licence,
        "attribution": model.attribution,
        "notifications": model.sns_topic,
        "mirrors": _mirror_rows(model),
        "latency": _latency_rows(model, example, hours),
        "schedule": [
            {
                "cycles": write_steps(row.cycles),
                "hours": write_steps(row.hours),
                "from": row.begins and f"{row.begins:%Y-%m-%d %H}",
                "until": row.ends and f"{row.ends:%Y-%m-%d %H}",
            }
            for row in model.schedules
        ],
        "addresses": [
            {"mirror": mirror.name, "file": url, "index": index_url}
            for mirror, url, index_url in (model.urls(example, hours[-1]) if example else [])
        ],
    }


def _mirror_rows(model: Model) -> list[dict[str, Any]]:
    return [
        {
            "mirror": mirror.name,
            "root": mirror.root,
            "listing": mirror.listing,
            "connections": mirror.host.connections,
            "requests a minute": mirror.host.requests_per_minute,
            "keeps hours": mirror.host.retention_hours,
        }
        for mirror in model.mirrors
    ]


def _latency_rows(model: Model, example: datetime | None, hours: tuple[int, ...]) -> list[dict[str, Any]]:
    if example is None:
        return []
    rows = []
    for hour in sorted({hours[0], hours[len(hours) // 2], hours[-1]}):
        arrival = model.expected_at(example, hour)
        rows.append(
            {
                "hour": hour,
                "usually after": _clock((arrival.usual - example).total_seconds()),
                "late after": _clock((arrival.late - example).total_seconds()),
            }
        )
    return rows


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


def _title(model: Model, *, whole: bool) -> str:
    """A member's title, or that of its family."""
    return model.title if whole else model.title.removesuffix(f", {model.id.removeprefix(f'{model.family}.')}")


def _run_id(run: datetime | None) -> str | None:
    from gribmill.identity import run_id

    return run_id(run) if run else None


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _cell(value: Any) -> Any:
    return (" ".join(str(part) for part in value) or "none") if isinstance(value, list) else value
