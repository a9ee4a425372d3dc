"""The `--lanes` option of commands that run jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gribmill.pipeline.job_types import TYPES
from gribmill.queue.errors import UnknownLane
from gribmill.queue.worker.lane import make_lanes

MAX_EXECUTORS = 256


def parse_lanes(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, int] | None:
    """`fetch=4,build=2` as counts by name."""
    if value is None:
        return None
    lanes: dict[str, int] = {}
    for part in value.split(","):
        name, _, count = (word.strip() for word in part.partition("="))
        if not name or not count.isdecimal():
            raise click.BadParameter(f"{part!r} is not NAME=COUNT, such as fetch=4 or build=2")
        if not 0 < int(count) <= MAX_EXECUTORS:
            raise click.BadParameter(f"{part!r} is out of range: a lane has 1 to {MAX_EXECUTORS} executors")
        lanes[name] = int(count)
    try:
        make_lanes(TYPES, lanes)
    except UnknownLane as error:
        raise click.BadParameter(str(error)) from None
    return lanes


def lanes_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--lanes` to a command."""
    return click.option("--lanes", callback=parse_lanes, help="Executors per lane, such as fetch=4,build=2.")(command)
