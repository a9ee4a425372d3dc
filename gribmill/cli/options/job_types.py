"""The `--types` option of commands that run jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gribmill.cli.options.parse_names import parse_names
from gribmill.pipeline.job_types import TYPES
from gribmill.queue.errors import UnknownJobType


def parse_types(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Job types that have a handler, separated by commas."""
    keys = parse_names(ctx, param, value)
    for key in keys:
        try:
            kind = TYPES[key]
        except UnknownJobType as error:
            raise click.BadParameter(str(error)) from None
        if kind.handler is None:
            raise click.BadParameter(f"{key} can be enqueued, but this gribmill has no handler to run it")
    return keys


def types_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--types` to a command."""
    return click.option("--types", "only", callback=parse_types, help="Only these job types, separated by commas.")(
        command
    )
