"""`gribmill scan`: look for new runs now."""

from __future__ import annotations

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.output import print_json
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.job_types import scan_job
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.scan_schedule import scan_now
from gribmill.queue.model import Failed, Outcome
from gribmill.queue.store import Store
from gribmill.queue.worker.in_process import Ticker
from gribmill.settings.schema import Settings
from gribmill.views.scan import ScanResultView, ScanView


@click.command()
@click.argument("model")
@click.option("--run", "run_id", help="Only this run, as YYYYMMDD_HH.")
@click.option("--here", is_flag=True, help="Scan in this process now, instead of leaving it to a worker.")
@click.option("--json", "as_json", is_flag=True, help="The scans and what they found, as JSON.")
@click.pass_obj
def scan(settings: Settings, model: str, run_id: str | None, here: bool, as_json: bool) -> None:
    """Look for new runs of MODEL, and enqueue the files that are published and not here yet.

    MODEL is a model such as hrrr, or a family such as gefs for all of its members. Exit code 1
    if a scan failed in this process.
    """

    chosen = models_named(configured_models(settings), model)
    store = open_queue(settings)
    made = scan_now(store, [scan_job(one.id, run_id, source="manual", created_by=current_user()) for one in chosen])
    found = _run_here(settings, store, {job.id for job in made}) if here else {}
    views = [
        ScanResultView.with_outcome(one.id, job, found.get(job.id)) if here else ScanView.of(one.id, job)
        for one, job in zip(chosen, made, strict=True)
    ]
    if as_json:
        print_json(views)
    else:
        for view in views:
            click.echo(f"{view.model}: scan is job {view.job_id}{_result(view)}")
    if any(isinstance(outcome, Failed) for outcome in found.values()):
        raise SystemExit(1)


def _run_here(settings: Settings, store: Store, job_ids: set[int]) -> dict[int, Outcome]:
    """Run these jobs in this process, and others that are ready before them; the outcomes of these."""

    ticker = Ticker(store, settings.queue.lease_seconds, settings.model_dump(mode="json"))
    found: dict[int, Outcome] = {}
    while left := job_ids - found.keys():
        ran = ticker.tick(len(left), ["scan_source"])
        if not ran:
            break  # a worker took them, or scans are paused or reserved
        found |= {one.job.id: one.outcome for one in ran if one.job.id in job_ids}
    return found


def _result(view: ScanView) -> str:
    if not isinstance(view, ScanResultView):
        return "" if view.new else " (one was active already)"
    if view.outcome is None:
        return ", and was not run here: a worker took it, or scans are paused or reserved"
    return f": {view.files} new files" + (f"; {view.note}" if view.note else "")
