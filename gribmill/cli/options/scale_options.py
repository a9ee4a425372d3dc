"""The options shared by all commands that draw a field: units and the limits of the scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

SYSTEMS = ("metric", "us", "si")


def scale_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --units, --vmin and --vmax."""
    units = click.option(
        "--units",
        type=click.Choice(SYSTEMS),
        default="metric",
        show_default=True,
        help="metric: °C, m/s, mm; us: °F, mph, in; si: those of the GRIB.",
    )
    lowest = click.option("--vmin", type=float, help="First level of the colours, in the units shown.")
    highest = click.option("--vmax", type=float, help="Last level of the colours, in the units shown.")
    return units(lowest(highest(command)))
