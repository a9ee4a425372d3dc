"""`gribmill fetch`: the wanted messages of one file, now, without the queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gribmill.cli.format_size import format_size
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import console, print_json
from gribmill.errors import GribmillError
from gribmill.settings.schema import Settings
from gribmill.views.download import DownloadView

if TYPE_CHECKING:
    from gribmill.ingest.download.fetch import DownloadProgress
    from gribmill.ingest.http.client import SourceSession
    from gribmill.ingest.listing.available_hours import Published
    from gribmill.ingest.models.model import Model

LATEST = "latest"
# The slowest publishers need hours, and an outage may last a day: what is older is not what `latest` means.
LATEST_BACK = timedelta(days=3)
# A model that runs every hour has dozens in that time, and each costs a request or more.
LATEST_RUNS = 6


@click.command()
@click.argument("model")
@click.argument("run")
@click.argument("hour", type=click.IntRange(0))
@click.option(
    "--vars", "variables", callback=parse_names,
    help="Only these variables, with commas: t2m,u10,v10. [default: the model's]",
)  # fmt: skip
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, or a folder. [default: here, a name of its own]",
)
@click.option("--json", "as_json", is_flag=True, help="What was fetched, as JSON.")
@click.pass_obj
def fetch(
    settings: Settings, model: str, run: str, hour: int, variables: tuple[str, ...], out: Path | None, as_json: bool
) -> None:
    """Download the wanted messages of one file of MODEL: HOUR of the run RUN.

    RUN is YYYYMMDD_HH, or `latest` for the newest run that has this hour. Only the bytes that
    are needed come down, and the file appears when all of them are proven. When it is stopped,
    the next call goes on where it was. The queue and the tiles are not touched.

    \b
    gribmill fetch hrrr latest 6
    gribmill fetch gfs 20261116_00 24 --vars t2m,u10,v10 --out gfs.grib2
    """
    from gribmill.identity import run_id, run_time
    from gribmill.ingest.download.download import download
    from gribmill.ingest.index.select import wanted
    from gribmill.pipeline.context import open_session
    from gribmill.pipeline.models import configured_models
    from gribmill.storage.layout import DataRoot

    chosen = _model(configured_models(settings), model)
    words = wanted(variables or chosen.variables)
    with open_session(DataRoot(settings.data_root)) as session:
        if run == LATEST:
            moment, known = _latest(chosen, hour, session)
        else:
            moment, known = run_time(run), None
        target = _target(out, chosen.id, run_id(moment), hour)
        with _bar(f"{chosen.id} {run_id(moment)} +{hour} h", quiet=as_json) as progress:
            got = download(chosen, moment, hour, words, target, session=session, known=known, progress=progress)
    view = DownloadView.of(chosen.id, run_id(moment), hour, got)
    if as_json:
        print_json(view)
        return
    for line in _sentences(view):
        click.echo(line)


def _model(models: dict[str, Model], name: str) -> Model:
    from gribmill.ingest.models.registry import models_named

    found = models_named(models, name)
    if len(found) > 1:
        some = ", ".join(one.id for one in found[:4])
        raise GribmillError(f"{name} has {len(found)} members; name one of them: {some}, …")
    return found[0]


def _latest(model: Model, hour: int, session: SourceSession) -> tuple[datetime, Published]:
    """The newest run that some mirror has this hour of."""
    from gribmill.ingest.http.errors import SourceError
    from gribmill.ingest.listing.available_hours import published

    now = datetime.now(UTC)
    runs = [run for run in model.runs(now, back=LATEST_BACK) if hour in model.hours(run)][:LATEST_RUNS]
    trouble: dict[str, str] = {}
    for run in runs:
        for mirror in model.mirrors:
            try:
                found = published(model, run, mirror, session, hours={hour})
            except SourceError as error:
                trouble[mirror.name] = str(error)
                continue
            if hour in found:
                return run, found[hour]
            if now < model.expected_at(run, hour).late:
                break  # it is not out yet: the other mirrors would say the same
    if not runs:
        raise GribmillError(f"no run of {model.id} in the last {LATEST_BACK.days} days has an hour {hour}")
    why = "; ".join(f"{name}: {reason}" for name, reason in trouble.items()) or "no mirror lists it"
    raise GribmillError(f"hour {hour} of {model.id} was not found in any of the last {len(runs)} runs: {why}")


def _target(out: Path | None, model_id: str, run_id: str, hour: int) -> Path:
    name = f"{model_id}.{run_id}.f{hour:03d}.grib2"
    if out is None:
        return Path(name)
    target = out / name if out.is_dir() else out
    if not target.absolute().parent.is_dir():
        raise GribmillError(f"there is no folder {target.parent} for the file")
    return target


@contextmanager
def _bar(label: str, *, quiet: bool) -> Iterator[DownloadProgress]:
    """Bytes, speed and time left on a terminal; nothing in a pipe."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    screen = console(stderr=True)
    with Bars(*columns, console=screen, transient=True, disable=quiet or not screen.is_terminal) as bars:
        task = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _sentences(view: DownloadView) -> Iterator[str]:
    whole = f" of a file of {format_size(view.source_bytes)}" if view.source_bytes else ""
    yield f"{view.path}: {view.messages} messages of {view.model} {view.run} +{view.hour} h"
    yield f"from {view.mirror}: {view.url}"
    yield (
        f"needed {format_size(view.needed_bytes)}{whole}, requested {format_size(view.requested_bytes)}"
        f" in {view.requests} requests"
    )
    yield f"found: {', '.join(view.found)}"
    if view.missing:
        yield f"not in the file: {', '.join(view.missing)}"
