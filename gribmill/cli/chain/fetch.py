"""`gribmill fetch`: download the wanted messages of one file, without the queue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gribmill.cli.format_size import format_size
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.cli.progress import progress_bars
from gribmill.errors import GribmillError
from gribmill.identity import HOUR_LIMIT, run_id, run_time
from gribmill.ingest.download.download import download
from gribmill.ingest.http.errors import SourceError
from gribmill.ingest.index.select import wanted
from gribmill.ingest.listing.available_hours import published
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import open_session
from gribmill.pipeline.models import configured_models
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.views.download import DownloadView

if TYPE_CHECKING:
    from gribmill.ingest.http.client import SourceSession
    from gribmill.ingest.listing.available_hours import Published
    from gribmill.ingest.models.model import Model

LATEST = "latest"
# The slowest publishers need hours, and an outage may last a day; `latest` does not mean anything older.
LATEST_BACK = timedelta(days=3)
# A model that runs every hour has dozens of runs in that time, and each costs a request or more.
LATEST_RUNS = 6


@click.command()
@click.argument("model")
@click.argument("run")
@click.argument("hour", type=click.IntRange(0, HOUR_LIMIT))
@click.option(
    "--vars", "variables", callback=parse_names,
    help="Only these variables, such as t2m,u10,v10. [default: those of the model]",
)  # fmt: skip
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, or a folder. [default: MODEL.RUN.fHHH.grib2 here]",
)
@click.option("--json", "as_json", is_flag=True, help="The result, as JSON.")
@click.pass_obj
def fetch(
    settings: Settings, model: str, run: str, hour: int, variables: tuple[str, ...], out: Path | None, as_json: bool
) -> None:
    """Download the wanted messages of one file of MODEL: forecast hour HOUR of the run RUN.

    RUN is YYYYMMDD_HH, or `latest` for the newest run that has this hour. Only the bytes that
    are needed are downloaded, and the file appears when all of them are verified. An interrupted
    download is resumed by the next call. The queue and the tiles are not touched.

    \b
    gribmill fetch hrrr latest 6
    gribmill fetch gfs 20261116_00 24 --vars t2m,u10,v10 --out gfs.grib2
    """
    chosen = _model(configured_models(settings), model)
    words = wanted(variables or chosen.variables)
    with open_session(DataRoot(settings.data_root)) as session:
        if run == LATEST:
            moment, known = _latest(chosen, hour, session)
        else:
            moment, known = run_time(run), None
        target = _target(out, chosen.id, run_id(moment), hour)
        with progress_bars("bytes", quiet=as_json) as add_bar:
            progress = add_bar(f"{chosen.id} {run_id(moment)} +{hour} h")
            got = download(chosen, moment, hour, words, target, session=session, known=known, progress=progress)
    view = DownloadView.of(chosen.id, run_id(moment), hour, got)
    if as_json:
        print_json(view)
        return
    for line in _sentences(view):
        click.echo(line)


def _model(models: dict[str, Model], name: str) -> Model:
    found = models_named(models, name)
    if len(found) > 1:
        some = ", ".join(one.id for one in found[:4])
        raise GribmillError(f"{name} has {len(found)} members; name one of them: {some}, …")
    return found[0]


def _latest(model: Model, hour: int, session: SourceSession) -> tuple[datetime, Published]:
    """The newest run of which any mirror has this hour."""
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
                break  # it is not published yet, on other mirrors neither
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
