"""`gribmill point`: the forecast at a place, from the tiles on disk."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.options.png_path import PNG
from gribmill.cli.output import console, print_json, print_table
from gribmill.grib.names.window_name import window_text
from gribmill.settings.schema import Settings
from gribmill.tiles.read.point.point import point as forecast
from gribmill.tiles.read.point.series import digits
from gribmill.views.point import PointView

if TYPE_CHECKING:
    from gribmill.tiles.read.point.series import Column, Series

DECIMALS = {
    "°C": 1,
    "°F": 0,
    "m/s": 1,
    "mph": 0,
    "hPa": 1,
    "inHg": 2,
    "mm": 1,
    "in": 2,
    "°": 0,
    "%": 0,
    "km": 1,
    "mi": 1,
}
# Smaller numbers are shown with four significant digits.
WHOLE_FROM = 1000


# A longitude such as -71.06 must not be parsed as an option.
@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@click.argument("lat", type=float)
@click.argument("lon", type=float)
@click.option("--model", help="Only this model. [default: the finest grid that contains the place]")
@click.option("--region", help="Only this region.")
@click.option("--run", help="This run, as YYYYMMDD_HH. [default: the newest]")
@click.option("--vars", "variables", callback=parse_names, help="Only these variables, such as t2m,ws10,wdir10,tp.")
@click.option(
    "--method",
    type=click.Choice(["nearest", "bilinear"]),
    default="nearest",
    show_default=True,
    help="The nearest grid point, or bilinear between the four around the place.",
)
@click.option(
    "--units",
    type=click.Choice(["metric", "us", "si"]),
    default="metric",
    show_default=True,
    help="metric: °C, m/s; us: °F, mph; si: those of the GRIB.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="As CSV, with units in the header.")
@click.option("--plot", is_flag=True, help="Draw a meteogram in the terminal.")
@click.option("--png", type=PNG, help="Draw a meteogram to this PNG file.")
@click.pass_obj
def point(
    settings: Settings,
    lat: float,
    lon: float,
    model: str | None,
    region: str | None,
    run: str | None,
    variables: tuple[str, ...],
    method: Any,
    units: Any,
    as_json: bool,
    as_csv: bool,
    plot: bool,
    png: Path | None,
) -> None:
    """Show the forecast at a place, from the tiles on disk.

    One row per hour. Wind speed and direction are computed from the components. Sums such as precipitation, and means,
    are those since the row before; a value over another time shows its length, as 10.5/6h does. Names may say the
    length: tp_6h, tp_24h, t2m_max_12h. The finest grid that contains the place is used.

    \b
    gribmill point 42.36 -71.06
    gribmill point 42.36 -71.06 --units us --vars t2m,ws10,tp
    gribmill point 42.36 -71.06 --model gfs --csv > boston.csv
    gribmill point 42.36 -71.06 --plot
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    series = forecast(
        lat,
        lon,
        data=settings.data_root,
        model=model,
        run=run,
        region=region,
        variables=variables or None,
        method=method,
        units=units,
    )
    if png is not None:
        _draw_png(series, png)
    if as_json:
        print_json(PointView.of(series))
    elif as_csv:
        click.echo(_csv(series), nl=False)
    elif plot:
        from gribmill.draw.meteogram.curves import curves_of
        from gribmill.draw.meteogram.text import draw_meteogram_terminal

        draw_meteogram_terminal(curves_of(series), console())
    elif png is None:
        _print_series(series)
    for note in series.notes:
        click.echo(f"note: {note}", err=True)


def _draw_png(series: Series, path: Path) -> None:
    from gribmill.draw.meteogram.curves import curves_of
    from gribmill.draw.meteogram.png import draw_meteogram

    draw_meteogram(curves_of(series), path)
    click.echo(path, err=True)


def _print_series(series: Series) -> None:
    click.echo(
        f"{series.model} run {series.run}, region {series.region}: grid point {series.point_lat:.3f}, "
        f"{series.point_lon:.3f}, {series.distance_km:.1f} km away ({series.method})",
        err=True,
    )
    headings = [f"{column.name} {column.units}".strip() for column in series.columns.values()]
    rows = [
        (
            f"{moment:%a %Y-%m-%d %H:%M}",
            f"+{step / 60:g}",
            *(_cell(series, each, row) for each in series.columns.values()),
        )
        for row, (moment, step) in enumerate(zip(series.times, series.steps, strict=True))
    ]
    print_table(("time UTC", "hour", *headings), rows, right=("hour", *headings))
    if series.attribution:
        click.echo(series.attribution, err=True)


def _cell(series: Series, column: Column, row: int) -> str:
    value = column.values[row]
    if math.isnan(value):
        return ""
    if value in column.flags:
        return f"{value:.0f} {column.flags[int(value)]}"
    if column.units in DECIMALS:
        text = f"{value:.{DECIMALS[column.units]}f}"
    else:
        text = f"{value:.0f}" if abs(value) >= WHOLE_FROM else f"{value:.4g}"
    text = text.removeprefix("-") if text.strip("-0.") == "" else text
    length = series.odd_minutes(column, row)
    return text if length is None else f"{text}/{window_text(length)}"


def _csv(series: Series) -> str:
    """RFC 4180. Sums, means and extremes have another column with the length of each time range in hours."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = list(series.columns.values())
    heading = ["time", "hour"]
    for column in columns:
        heading.append(f"{column.name} [{column.units}]")
        if column.minutes is not None:
            heading.append(f"{column.name} interval [h]")
    writer.writerow(heading)
    for row, (moment, step) in enumerate(zip(series.times, series.steps, strict=True)):
        cells: list[Any] = [moment.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{step / 60:g}"]
        for column in columns:
            value = column.values[row]
            cells.append("" if math.isnan(value) else digits(value))
            if column.minutes is not None:
                cells.append(f"{column.minutes[row] / 60:g}")
        writer.writerow(cells)
    return buffer.getvalue()
