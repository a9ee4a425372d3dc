"""The `--types` option of commands that run jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gribmill.cli.options.parse_names import parse_names
from gribmill.queue.errors import UnknownJobType
from gribmill.queue.store import Store


def check_types(store: Store, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse types that are unknown or have no handler. Types added by operators are in the database."""
    for key in keys:
        try:
            kind = store.registry.expect(key)
        except UnknownJobType as error:
            raise click.BadParameter(str(error), param_hint="--types") from None
        if kind.handler is None:
            message = f"{key} can be enqueued, but this gribmill has no handler to run it"
            raise click.BadParameter(message, param_hint="--types")
    return keys


def types_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--types` to a command, which must call `check_types`."""
    return click.option("--types", "only", callback=parse_names, help="Only these job types, separated by commas.")(
        command
    )
