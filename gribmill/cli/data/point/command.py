"""`gribmill point`: the forecast at places, from the tiles on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.data.point.csv_text import days_csv, hours_csv
from gribmill.cli.data.point.tables import more_line, print_days, print_hours, selection, wrapped
from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.options.png_path import PNG
from gribmill.cli.output import console, print_json
from gribmill.errors import GribmillError
from gribmill.settings.schema import Settings
from gribmill.storage.open_root import root_of
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.point.place import place_at, read_places
from gribmill.tiles.read.point.point import PointRequest, forecasts
from gribmill.tiles.read.run_choice import check_run
from gribmill.tiles.read.time_zone import time_zone

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Series


# A longitude such as -71.06 must not be parsed as an option.
@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@click.argument("lat", type=float, required=False)
@click.argument("lon", type=float, required=False)
@click.option(
    "--places",
    "places_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Read places from this CSV file (NAME,LAT,LON per line) instead of LAT LON.",
)
@click.option("--model", help="Only this model. [default: the finest grid that contains the place]")
@click.option("--region", help="Only this region.")
@click.option(
    "--run",
    metavar="RUN",
    callback=accepted_by(check_run),
    help="complete: the newest complete run; newest: even if hours are missing; seamless: each hour from the newest "
    "run that has it; or YYYYMMDD_HH. [default: complete]",
)
@click.option("--vars", "variables", callback=parse_names, help="Only these variables, such as t2m,ws10,wdir10,tp.")
@click.option("--all", "everything", is_flag=True, help="All variables in the table.")
@click.option("--daily", is_flag=True, help="Minimum, maximum and sum of each day of the time zone.")
@click.option(
    "--tz",
    metavar="ZONE",
    callback=accepted_by(time_zone),
    help="Times and days of this zone, such as America/New_York, or local. [default: UTC]",
)
@click.option(
    "--method",
    type=click.Choice(["nearest", "bilinear"]),
    default="nearest",
    show_default=True,
    help="The nearest grid point, or bilinear between the four around the place.",
)
@click.option(
    "--units",
    type=click.Choice(["metric", "us", "si", "common"]),
    default="metric",
    show_default=True,
    help="metric: °C, m/s; us: °F, mph; si: those of the GRIB; common: K, m/s, mm, %, W m-2, equal for all models.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, with all variables; a list with --places.")
@click.option("--csv", "as_csv", is_flag=True, help="As CSV, with all variables and their units in the header.")
@click.option("--plot", is_flag=True, help="Draw a meteogram in the terminal.")
@click.option("--png", type=PNG, help="Draw a meteogram to this PNG file.")
@click.pass_obj
def point(
    settings: Settings,
    lat: float | None,
    lon: float | None,
    places_file: Path | None,
    model: str | None,
    region: str | None,
    run: str | None,
    variables: tuple[str, ...],
    everything: bool,
    daily: bool,
    tz: str | None,
    method: Any,
    units: Any,
    as_json: bool,
    as_csv: bool,
    plot: bool,
    png: Path | None,
) -> None:
    """Show the forecast at a place, from existing tiles.

    One row per hour, from the finest grid that contains the place. Wind speed and direction are computed from the
    components. Sums such as precipitation, and means, cover the time since the previous row; for other periods the
    length is shown, as in 10.5/6h. Names may include the length: tp_6h, tp_24h, t2m_max_12h. The table shows the most
    common variables, as many as fit the terminal; --vars and --all show others.

    \b
    gribmill point 42.36 -71.06
    gribmill point 42.36 -71.06 --units us --vars t2m,ws10,tp
    gribmill point 42.36 -71.06 --tz America/New_York --daily
    gribmill point 42.36 -71.06 --run seamless --csv > boston.csv
    gribmill point --places stations.csv --json
    gribmill point 42.36 -71.06 --plot
    """
    _check_options(lat, lon, places_file, as_json=as_json, as_csv=as_csv, daily=daily, picture=plot or png is not None)
    root = root_of(settings)
    request = PointRequest(root, model, run, region, variables or None, method, units, tz)
    if places_file is not None:
        places = read_places(places_file)
    else:
        assert lat is not None and lon is not None
        try:
            places = [place_at(lat, lon)]
        except TileError as error:
            raise click.UsageError(str(error)) from None
    answers = forecasts(places, request)
    if places_file is None and isinstance(answers[0], GribmillError):
        raise answers[0]
    found = [answer for answer in answers if not isinstance(answer, GribmillError)]
    if png is not None:
        _draw_png(found[0], png)
    if as_json:
        _print_json(found, daily=daily, one=places_file is None)
    elif as_csv:
        click.echo((days_csv if daily else hours_csv)(found, named=places_file is not None), nl=False)
    elif plot:
        from gribmill.draw.meteogram.curves import curves_of
        from gribmill.draw.meteogram.text import draw_meteogram_terminal

        draw_meteogram_terminal(curves_of(found[0]), console())
    elif png is None:
        _print_tables(found, everything=everything or bool(variables), daily=daily)
    _print_notes(found, [answer for answer in answers if isinstance(answer, GribmillError)])


def _check_options(
    lat: float | None,
    lon: float | None,
    places: Path | None,
    *,
    as_json: bool,
    as_csv: bool,
    daily: bool,
    picture: bool,
) -> None:
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    if places is None and (lat is None or lon is None):
        raise click.UsageError("give LAT and LON, such as `gribmill point 42.36 -71.06`, or --places FILE")
    if places is not None and lat is not None:
        raise click.UsageError("give either LAT and LON or --places, not both")
    if picture and (places is not None or daily):
        raise click.UsageError("a meteogram is of one place, by hours: --plot and --png exclude --places and --daily")


def _print_json(found: list[Series], *, daily: bool, one: bool) -> None:
    from gribmill.views.data.point import PointView  # imported late: tables start faster without it

    views = [PointView.of(series, daily=daily) for series in found]
    print_json(views[0] if one else views)


def _print_tables(found: list[Series], *, everything: bool, daily: bool) -> None:
    for number, series in enumerate(found):
        if number:
            click.echo()
        left_out = (print_days if daily else print_hours)(series, everything=everything)
        if left_out > 0 and number == len(found) - 1:
            others = [name for name in series.columns if name not in selection(series)]
            click.echo(wrapped(more_line(left_out, others)), err=True)
    for text in dict.fromkeys(series.attribution for series in found if series.attribution):
        click.echo(text, err=True)


def _print_notes(found: list[Series], failed: list[GribmillError]) -> None:
    many = len(found) > 1
    for series in found:
        for note in series.notes:
            click.echo(f"note: {series.name + ': ' if many else ''}{note}", err=True)
    for error in failed:
        click.echo(f"error: {error}", err=True)
    if failed:
        raise SystemExit(1)


def _draw_png(series: Series, path: Path) -> None:
    from gribmill.draw.meteogram.curves import curves_of
    from gribmill.draw.meteogram.png import draw_meteogram

    draw_meteogram(curves_of(series), path)
    click.echo(path, err=True)
