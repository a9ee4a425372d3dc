"""`gribmill fetch`: download the messages you need from one file, without the queue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import print_json
from gribmill.cli.progress import progress_bars
from gribmill.cli.text.figures import format_size
from gribmill.identity import HOUR_LIMIT, run_id
from gribmill.ingest.index.search import compile_search
from gribmill.ingest.index.select import wanted
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.remote import check_run, fetch_messages, find_run, one_model, open_source, target_path
from gribmill.settings.schema import Settings
from gribmill.views.chain.download import DownloadView


@click.command()
@click.argument("model")
@click.argument("run", callback=accepted_by(check_run))
@click.argument("hour", type=click.IntRange(0, HOUR_LIMIT))
@click.option(
    "--vars", "variables", callback=parse_names,
    help="Only these variables, such as t2m,u10,v10. [default: those of the model]",
)  # fmt: skip
@click.option(
    "--search",
    metavar="RE",
    callback=accepted_by(compile_search),
    help="Only messages whose index line matches this regular expression, such as ':TMP:2 m'.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, or a folder. [default: MODEL.RUN.fHHH.grib2 here]",
)
@click.option("--json", "as_json", is_flag=True, help="The result, as JSON.")
@click.pass_obj
def fetch(
    settings: Settings,
    model: str,
    run: str,
    hour: int,
    variables: tuple[str, ...],
    search: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Download the messages you need from one file of MODEL: forecast hour HOUR of the run RUN.

    RUN is YYYYMMDD_HH, or `latest` for the newest run that has this hour. Only the needed bytes
    are downloaded, and the file appears once all of them are verified. If interrupted, run the
    command again to resume. The queue and the tiles are not touched.
    `gribmill inventory` lists what a file contains.

    \b
    gribmill fetch hrrr latest 6
    gribmill fetch gfs 20261116_00 24 --vars t2m,u10,v10 --out gfs.grib2
    gribmill fetch hrrr latest 6 --search ':TMP:(2 m above ground|850 mb):'
    """
    if variables and search:
        raise click.UsageError("--vars and --search exclude each other")
    chosen = one_model(configured_models(settings), model)
    wanted(variables)  # refuses wrong names before the first request
    with open_source(settings) as session:
        moment, known = find_run(chosen, run, hour, session)
        target = target_path(out, chosen.id, run_id(moment), hour, search)
        with progress_bars("bytes", quiet=as_json) as add_bar:
            progress = add_bar(f"{chosen.id} {run_id(moment)} +{hour} h")
            got = fetch_messages(
                chosen,
                moment,
                hour,
                target,
                session,
                names=variables or None,
                search=search,
                known=known,
                progress=progress,
            )
    view = DownloadView.of(chosen.id, run_id(moment), hour, got)
    if as_json:
        print_json(view)
        return
    for line in _sentences(view):
        click.echo(line)


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
