"""`gribmill run`: scans, downloads, tiles, all in one process tree. `gribmill scan`: one look, now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gribmill.cli.options.lanes import lanes_option
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.settings.schema import Settings
from gribmill.views.scan import ScanResultView, ScanView

if TYPE_CHECKING:
    from gribmill.queue.model import Outcome
    from gribmill.queue.store import Store


@click.command()
@click.option(
    "--model",
    "models",
    multiple=True,
    callback=parse_names,
    help="Models to follow: repeated, or with commas as hrrr,gfs.",
)
@click.option(
    "--region",
    "regions",
    multiple=True,
    callback=parse_names,
    help="Regions to cut: repeated, or with commas as ne,conus.",
)
@click.option("--keep-grib", is_flag=True, default=None, help="Keep the downloaded messages.")
@lanes_option
@click.option(
    "--until-complete", is_flag=True, help="End when the newest run of every model is whole for these regions."
)
@click.pass_obj
def run(
    settings: Settings,
    models: tuple[str, ...],
    regions: tuple[str, ...],
    keep_grib: bool | None,
    lanes: dict[str, int] | None,
    until_complete: bool,
) -> None:
    """Keep the tiles of some models and regions fresh, until told to stop.

    Looks for new runs at the pace at which each model is published, downloads just the
    messages that are needed, and cuts them for every region. Everything goes through the
    queue in the data root: stop it and start it again as you like, nothing is lost.

    \b
    gribmill run --model hrrr --region ne            the quickest start
    gribmill run --model hrrr --model gfs --region ne --region conus
    gribmill run                                     what [chain] of gribmill.toml names
    """
    from gribmill.pipeline.follow import Follow

    follow = Follow(chain_settings(settings, models, regions, keep_grib), lanes)
    for line in follow.plan():
        click.echo(line, err=True)
    ended = follow.run(until_complete=until_complete)
    click.echo(f"attempts that ended here: {ended}", err=True)


@click.command()
@click.argument("model")
@click.option("--run", "run_id", help="Only this run, as YYYYMMDD_HH.")
@click.option("--here", is_flag=True, help="Look in this process, now, instead of leaving it to a worker.")
@click.option("--json", "as_json", is_flag=True, help="What was enqueued or found, as JSON.")
@click.pass_obj
def scan(settings: Settings, model: str, run_id: str | None, here: bool, as_json: bool) -> None:
    """Look for new runs of MODEL and enqueue what is published and not here yet.

    MODEL is a model such as hrrr, or a family such as gefs for all of its members. Exit code 1
    when a look failed here.
    """
    from gribmill.ingest.models.registry import models_named
    from gribmill.pipeline.job_types import scan_job
    from gribmill.pipeline.models import configured_models
    from gribmill.pipeline.open_queue import open_queue
    from gribmill.pipeline.scan_schedule import scan_now
    from gribmill.queue.model import Failed

    chosen = models_named(configured_models(settings), model)
    store = open_queue(settings)
    made = scan_now(store, [scan_job(one.id, run_id) for one in chosen])
    found = _look(settings, store, {job.id for job in made}) if here else {}
    views = [
        ScanResultView.with_outcome(one.id, job, found.get(job.id)) if here else ScanView.of(one.id, job)
        for one, job in zip(chosen, made, strict=True)
    ]
    if as_json:
        print_json(views)
    else:
        for view in views:
            click.echo(f"{view.model}: scan is job {view.job_id}{_words(view)}")
    if any(isinstance(outcome, Failed) for outcome in found.values()):
        raise SystemExit(1)


def _look(settings: Settings, store: Store, job_ids: set[int]) -> dict[int, Outcome]:
    """Scan in this process until these jobs had their turn, and others that are ready before them; how they ended."""
    from gribmill.queue.worker.in_process import Ticker

    ticker = Ticker(store, settings.queue.lease_seconds, settings.model_dump(mode="json"))
    found: dict[int, Outcome] = {}
    while left := job_ids - found.keys():
        ran = ticker.tick(len(left), ["scan_source"])
        if not ran:
            break  # a worker was quicker, or scans are held back
        found |= {one.job.id: one.outcome for one in ran if one.job.id in job_ids}
    return found


def _words(view: ScanView) -> str:
    if not isinstance(view, ScanResultView):
        return "" if view.new else " (one was active already)"
    if view.outcome is None:
        return ", and was not run here: a worker has it, or scans are paused or reserved"
    return f": {view.files} new files" + (f"; {view.note}" if view.note else "")


def chain_settings(
    settings: Settings, models: tuple[str, ...], regions: tuple[str, ...], keep_grib: bool | None
) -> Settings:
    """The settings with what the command line says of the chain."""
    given = {"models": models or None, "regions": regions or None, "keep_grib": keep_grib}
    changes = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"chain": settings.chain.model_copy(update=changes)})
