"""`gribmill event`: notifications of others as hints to look now."""

from __future__ import annotations

from typing import IO

import click

from gribmill.cli.output import print_json
from gribmill.settings.schema import Settings
from gribmill.views.scan import NotifiedScanView


@click.group()
def event() -> None:
    """Take notifications of new files as hints to scan now."""


@event.command()
@click.argument("file", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def s3(settings: Settings, file: IO[bytes], as_json: bool) -> None:
    """Read an S3 object-created notification from FILE (- for standard input).

    Plain S3 events, SNS envelopes and SQS messages around them are understood. NOAA publishes
    such notifications for each of its buckets. Each run that is spoken of is scanned now;
    what is not a file of a known model is ignored.
    """
    from gribmill.pipeline.models import configured_models
    from gribmill.pipeline.open_queue import open_queue
    from gribmill.pipeline.s3_events import SIZE_LIMIT, scans_for
    from gribmill.pipeline.scan_schedule import scan_now

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
        click.echo("no file of a followed model is spoken of")
