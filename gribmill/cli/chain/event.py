"""`gribmill event`: scan now because of notifications of new files."""

from __future__ import annotations

from typing import IO

import click

from gribmill.cli.output import AS_JSON, print_json
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.s3_events import SIZE_LIMIT, scans_for
from gribmill.pipeline.scan_schedule import scan_now
from gribmill.settings.schema import Settings
from gribmill.views.chain.scan import NotifiedScanView


@click.group()
def event() -> None:
    """Scan the models for which a notification announces new files."""


@event.command(short_help="Read an S3 object-created notification from a file.")
@click.argument("file", type=click.File("rb"))
@AS_JSON
@click.pass_obj
def s3(settings: Settings, file: IO[bytes], as_json: bool) -> None:
    """Read an S3 object-created notification from FILE (- for standard input).

    Accepts plain S3 events, and those wrapped in SNS envelopes or SQS messages. NOAA publishes
    such notifications for each of its buckets. Each run that they mention is scanned now;
    files that do not belong to a known model are ignored.
    """
    models = configured_models(settings)
    followed = settings.chain.models
    if followed:
        models = {key: model for key, model in models.items() if key in followed or model.family in followed}
    jobs = scans_for(file.read(SIZE_LIMIT + 1), models)
    made = scan_now(open_queue(settings), jobs)
    rows = [NotifiedScanView.of(job, one) for job, one in zip(jobs, made, strict=True)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        note = "" if row.new else " (one was active already)"
        click.echo(f"{row.model_id} {row.run_id}: scan is job {row.job_id}{note}")
    if not rows:
        click.echo("no file of a followed model is mentioned")
