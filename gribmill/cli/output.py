"""Output of commands: tables for people, JSON for scripts. Commands use rich only through here: it is slow to load."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gribmill.errors import printable

if TYPE_CHECKING:
    from rich.console import Console, Group, RenderableType
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from gribmill.views.view import View

# Wide enough that in a pipe each row stays on one line, so that grep and cut work.
PIPE_WIDTH = 100_000
AS_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")


def console(*, stderr: bool = False) -> Console:
    """A rich console on stdout (or stderr): colours only on a terminal, none with NO_COLOR."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: View | Sequence[View | str]) -> None:
    """Print a view, or a list of views, as one JSON document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def print_json_line(value: View | Sequence[View]) -> None:
    """Print JSON on one line, for commands that print repeatedly."""
    click.echo(json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    """Convert views to dictionaries, and bytes, which a manually edited row may contain, to text."""
    # Not isinstance: importing pydantic would take longer than most commands need to start.
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True, warnings=False)
    return str(value)


def one_line(text: str, limit: int = 80) -> str:
    """The first line of the text, printable, shortened to `limit` characters."""
    flat = printable(text.strip().partition("\n")[0])
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def styled(*parts: str | Text | tuple[str, str]) -> Text:
    """A line made of plain text, (text, style) pairs, and other lines."""
    from rich.text import Text

    return Text.assemble(*parts)


def stacked(*parts: RenderableType) -> Group:
    """Tables and lines, one below the other."""
    from rich.console import Group

    return Group(*parts)


def live(first: RenderableType) -> Live:
    """A display on the terminal that is updated in place."""
    from rich.live import Live

    return Live(first, console=console(), auto_refresh=False)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Iterable[str] = (),
    cut: str | None = None,
    wrap: str | None = None,
    drop: Sequence[str] = (),
    least: int | None = None,
) -> None:
    """Print a plain table on stdout, fitted to the terminal.

    `right` names the columns to right-align (numbers). If the terminal is too narrow, the column `cut` is shortened and
    the column `wrap` is wrapped at words, but not below `least` characters; then the columns of `drop` are left out, in
    order. Other columns, such as names and paths, are never shortened or wrapped, so that they can be copied. If the
    table still does not fit, each row is printed as a name with its values below it.
    """
    from gribmill.cli.fit_table import LEAST, fit, records

    cells = [[_cell(value) for value in row] for row in rows]
    out = console()
    if not out.is_terminal:
        print_rich(make_table(columns, cells, right=right))
        return
    fitted = fit(columns, cells, out.width, cut=cut, wrap=wrap, drop=drop, least=least or LEAST)
    if fitted.total > out.width:
        for line in records(columns, [[cell.plain for cell in row] for row in cells], out.width, numbers={*right}):
            out.print(line, soft_wrap=True, markup=False, style="bold" if not line.startswith(" ") else None)
        return
    table = make_table(fitted.columns, fitted.rows, right=right, widths=fitted.widths, cut=cut, wrap=wrap)
    out.print(table, crop=False, soft_wrap=False)
    if fitted.dropped:
        click.echo(f"not shown: {', '.join(fitted.dropped)}; a wider terminal or --json shows all", err=True)


def print_rich(renderable: RenderableType) -> None:
    """Print a rich object on stdout: fitted to a terminal, but neither wrapped nor padded in a pipe."""
    out = console()
    if out.is_terminal:
        out.print(renderable)
        return
    out.width = PIPE_WIDTH
    with out.capture() as captured:
        out.print(renderable)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Iterable[str] = (),
    widths: Sequence[int] | None = None,
    cut: str | None = None,
    wrap: str | None = None,
) -> Table:
    """The table that print_table prints; without `widths`, each column is as wide as its cells."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    numeric = set(right)
    for at, column in enumerate(columns):
        table.add_column(
            column,
            justify="right" if column in numeric else "left",
            width=widths[at] if widths else None,
            overflow="ellipsis" if column == cut else "fold",
            no_wrap=column != wrap,
        )
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(value: Any) -> Text:
    from rich.text import Text

    return value if isinstance(value, Text) else Text("" if value is None else printable(str(value)))
