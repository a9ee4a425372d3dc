"""`gribmill status`: which models are up to date, and what is missing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import click

from gribmill.cli.format_duration import format_duration
from gribmill.cli.format_size import format_size
from gribmill.cli.output import console, print_json, styled
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import make_context
from gribmill.pipeline.status import status_of
from gribmill.settings.schema import Settings
from gribmill.views.status import ModelStatusView

if TYPE_CHECKING:
    from rich.text import Text

    from gribmill.pipeline.status import MissingHour, ModelStatus, RunStatus

COLOURS = {"whole": "green", "arriving": "yellow", "well": "green", "sick": "red", "trial": "yellow"}


@click.command()
@click.argument("models", nargs=-1)
@click.option("--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="Number of runs per model.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")
@click.option("--watch", is_flag=True, help="Repeat every two seconds until Ctrl-C.")
@click.pass_obj
def status(settings: Settings, models: tuple[str, ...], runs: int, as_json: bool, watch: bool) -> None:
    """Show how up to date each model is: newest runs, missing hours and why, tiles, mirrors, disk.

    Without MODELS, those of [chain] and those with runs in the data root. Only the data root
    is read: no network. A run is whole when every region of [chain], and every other region
    that was requested, has all hours. Exit code 1 if a model is behind, late, or has no runs.
    """
    statuses = _read(settings, models, runs)
    while True:
        if as_json:
            print_json([ModelStatusView.of(one) for one in statuses])
        else:
            _print(settings, statuses, clear=watch)
        if not watch:
            break
        try:
            time.sleep(2)
        except KeyboardInterrupt:
            break
        statuses = _read(settings, models, runs)
    if not statuses or any(one.verdict not in ("whole", "arriving") for one in statuses):
        raise SystemExit(1)


def _read(settings: Settings, names: tuple[str, ...], runs: int) -> list[ModelStatus]:
    context = make_context(settings)
    known = {record.model_id for record in context.catalogue.runs()}
    wanted = names or (*settings.chain.models, *sorted(known & context.models.keys()))
    chosen = {model.id: model for name in wanted for model in models_named(context.models, name)}
    return status_of(context, chosen.values(), runs=runs)


def _print(settings: Settings, statuses: list[ModelStatus], *, clear: bool) -> None:
    out = console()
    if clear:
        out.clear()
    if not statuses:
        out.print("no models are followed yet; start with: gribmill run --model hrrr --region ne")
    for one in statuses:
        for line in _lines(one):
            out.print(line)
    usage = shutil.disk_usage(settings.data_root)
    free, total = format_size(usage.free), format_size(usage.total)
    out.print(f"disk: {free} free of {total} at {settings.data_root}", soft_wrap=True)


def _lines(one: ModelStatus) -> Iterator[Text]:
    now = datetime.now(UTC)
    colour = COLOURS.get(one.verdict, "red")
    yield styled((one.model_id, "bold"), f"  {one.title}  ", (one.verdict, colour))
    for run in one.runs:
        yield styled(f"  {_run_line(run, now)}")
        if run.missing:
            yield styled(f"    missing: {'; '.join(_groups(run))}")
        if run.variables_missing:
            yield styled(f"    missing in some files: {', '.join(run.variables_missing)}")
    if one.complete:
        yield styled(
            "  complete: " + ", ".join(f"{region} {run or 'none yet'}" for region, run in one.complete.items())
        )
    if one.next_due_at:
        yield styled(f"  next run is due in {format_duration((one.next_due_at - now).total_seconds())}")
    for mirror in one.mirrors:
        trouble = f": {mirror.last_reason}" if mirror.state in ("sick", "trial") else ""
        colour = COLOURS.get(mirror.state, "")
        yield styled(f"  mirror {mirror.name} ", (mirror.state, colour), trouble)


def _run_line(run: RunStatus, now: datetime) -> str:
    age = f", last tile {format_duration((now - run.last_built_at).total_seconds())} ago" if run.last_built_at else ""
    return (
        f"{run.run_id}  {run.hours_built}/{run.hours_expected} hours  {run.tiles}/{run.tiles_expected} tiles"
        f"  {format_size(run.bytes)}  {run.state.replace('_', ' ')}{age}"
    )


def _groups(run: RunStatus) -> Iterator[str]:
    """`1-5, 7-11 late`, `12-18 not due yet`: a range ends at an hour that is not missing."""
    missing = {one.hour: _why(one, run) for one in run.missing}
    spans: dict[str, list[str]] = {}
    for words, several in groupby(run.hours, key=missing.get):
        if words is not None:
            hours = [*several]
            spans.setdefault(words, []).append(f"{hours[0]}-{hours[-1]}" if len(hours) > 1 else f"{hours[0]}")
    for words, several_spans in spans.items():
        yield f"{', '.join(several_spans)} {words}"


def _why(one: MissingHour, run: RunStatus) -> str:
    """The reason, and the regions unless it is all of them."""
    some = {*one.regions} != {*run.regions}
    return f"{one.reason} ({', '.join(one.regions)})" if some else one.reason
