"""`gribmill run`: scans, downloads and builds tiles, in one process tree."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack

import click

from gribmill.cli.live_line import live_line
from gribmill.cli.options.config_variable import share_config_file
from gribmill.cli.options.lanes import check_lanes, lanes_option
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.serve import PORT, server_settings
from gribmill.cli.text.figures import counted
from gribmill.pipeline.follow import Follow
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.settings.schema import Settings


@click.command()
@click.option(
    "--model",
    "models",
    multiple=True,
    callback=parse_names,
    help="Models to follow; repeated, or separated by commas.",
)
@click.option(
    "--region",
    "regions",
    multiple=True,
    callback=parse_names,
    help="Regions to cut; repeated, or separated by commas.",
)
@click.option(
    "--keep-grib", is_flag=True, default=None, help="Keep the downloaded messages after their tiles are built."
)
@lanes_option
@click.option(
    "--until-complete", is_flag=True, help="Stop when the newest run of every model is complete for these regions."
)
@click.option("--serve", is_flag=True, help="Serve the HTTP API and the console too, with the settings in [server].")
@click.option("--port", type=PORT, metavar="N", help="The port of --serve; 0 for any free one. [default: 8760]")
@click.pass_obj
def run(
    settings: Settings,
    models: tuple[str, ...],
    regions: tuple[str, ...],
    keep_grib: bool | None,
    lanes: dict[str, int] | None,
    until_complete: bool,
    serve: bool,
    port: int | None,
) -> None:
    """Keep the tiles of the chosen models and regions up to date, until stopped.

    Looks for new runs when each model is due, downloads only the needed messages, and cuts
    them for every region. All work goes through the queue, so you can stop and restart it at
    any time without losing work.

    \b
    gribmill run --model hrrr --region ne            the quickest start
    gribmill run --model hrrr --model gfs --region ne --region conus
    gribmill run                                     the models and regions of [chain] in gribmill.toml
    gribmill run --serve                             with the console at http://127.0.0.1:8760
    """
    share_config_file()
    if port is not None and not serve:
        raise click.UsageError("--port is the port of --serve")
    if lanes:
        check_lanes(open_queue_for_reading(settings), lanes)
    follow = Follow(chain_settings(settings, models, regions, keep_grib), lanes)
    for line in follow.plan():
        click.echo(line, err=True)
    with ExitStack() as beside:
        if serve:
            beside.enter_context(_server(settings, port))
        beside.enter_context(live_line(follow.progress))
        count = follow.run(until_complete=until_complete)
    click.echo(f"finished {counted(count, 'attempt')}", err=True)


def _server(settings: Settings, port: int | None) -> AbstractContextManager[None]:
    from gribmill.cli.chain.server_process import server_beside

    return server_beside(server_settings(settings, port=port), lambda url: click.echo(f"listening on {url}", err=True))


def chain_settings(
    settings: Settings, models: tuple[str, ...], regions: tuple[str, ...], keep_grib: bool | None
) -> Settings:
    """The settings, with [chain] overridden by command-line options."""
    given = {"models": models or None, "regions": regions or None, "keep_grib": keep_grib}
    changes = {name: value for name, value in given.items() if value is not None}
    return settings.model_copy(update={"chain": settings.chain.model_copy(update=changes)})
