"""How commands speak: tables for people, JSON for scripts, messages on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """A rich console on stdout (or stderr): colours only on a terminal, none with NO_COLOR."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: Any) -> None:
    """One JSON document on stdout, keys in the order given, text as it is."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Iterable[str] = ()) -> None:
    """A plain table on stdout. `right` names the columns to align right (numbers)."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    numeric = set(right)
    for column in columns:
        table.add_column(column, justify="right" if column in numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(
            *(cell if isinstance(cell, Text) else Text("" if cell is None else str(cell)) for cell in row)
        )
    console().print(table)
