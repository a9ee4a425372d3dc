"""`gribmill inventory`: what a published file contains, without downloading it."""

from __future__ import annotations

import click

from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import format_size
from gribmill.ingest.index.search import compile_search
from gribmill.pipeline.remote import check_run, list_fields, open_source
from gribmill.settings.schema import Settings
from gribmill.views.chain.inventory import RemoteInventoryView


@click.command()
@click.argument("model")
@click.argument("run", callback=accepted_by(check_run))
@click.argument("hour", type=click.IntRange(0))
@click.option(
    "--search",
    metavar="RE",
    callback=accepted_by(compile_search),
    help="Only lines that match this regular expression, such as ':TMP:2 m'.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, with byte ranges.")
@click.pass_obj
def inventory(settings: Settings, model: str, run: str, hour: int, search: str | None, as_json: bool) -> None:
    """List the fields of one published file of MODEL, from its index: forecast hour HOUR of the run RUN.

    RUN is YYYYMMDD_HH, or `latest` for the newest run that has this hour. Pass `name` to --vars of
    `gribmill fetch`. --search, here and in `gribmill fetch`, matches the text of an index line, such
    as :TMP:2 m above ground:6 hour fcst:.

    \b
    gribmill inventory hrrr latest 6
    gribmill inventory gfs 20261116_00 24 --search ':(UGRD|VGRD):10 m above ground:'
    gribmill inventory ifs latest 12 --search ':t:850:' --json
    """
    with open_source(settings) as session:
        found = list_fields(settings, model, run, hour, session, search)
    if as_json:
        print_json(RemoteInventoryView.of(found))
    else:
        rows = [
            (one.number, one.name or "", one.line, "" if one.end is None else format_size(one.end - one.start))
            for one in found
        ]
        print_table(("number", "name", "line", "size"), rows, right=("number", "size"), wrap="line")
        click.echo(f"{len(found)} fields of {found.url} ({found.mirror})", err=True)
    if not len(found):
        raise SystemExit(1)
