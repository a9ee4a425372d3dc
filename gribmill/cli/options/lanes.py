"""The `--lanes` option of commands that run jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from gribmill.queue.errors import UnknownLane
from gribmill.queue.store import Store
from gribmill.queue.worker.executor.lane import check_lanes as refuse_unknown

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
    return lanes


def check_lanes(store: Store, lanes: Mapping[str, int] | None) -> None:
    """Refuse lanes in which no type runs. Operators can define lanes, so the names are in the database."""
    try:
        refuse_unknown(store.registry, lanes or {})
    except UnknownLane as error:
        raise click.BadParameter(str(error), param_hint="--lanes") from None


def lanes_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--lanes` to a command, which must call `check_lanes`."""
    return click.option("--lanes", callback=parse_lanes, help="Executors per lane, such as fetch=4,build=2.")(command)
