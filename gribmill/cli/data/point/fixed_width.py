"""Fixed-width tables with two lines of headings. Without rich, which takes longer to load than everything else."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from gribmill.errors import printable

GAP = "  "


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column with a heading of two lines: a name, and usually a unit below it."""

    heading: tuple[str, str]
    cells: tuple[str, ...]
    left: bool = False

    @property
    def width(self) -> int:
        return max(map(len, (*self.heading, *self.cells)))

    def lines(self) -> list[str]:
        """The headings and the cells, padded to the same width."""
        texts = [printable(text) for text in (*self.heading, *self.cells)]
        return [text.ljust(self.width) if self.left else text.rjust(self.width) for text in texts]


def terminal_width() -> int | None:
    """The width of the terminal on stdout; None in a pipe, where nothing has to fit."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fitting(fixed: Sequence[TableColumn], ranked: Sequence[TableColumn], width: int | None) -> list[TableColumn]:
    """As many of the ranked columns as fit beside the fixed ones; always at least one."""
    if width is None:
        return list(ranked)
    left = width - _width(fixed)
    found: list[TableColumn] = []
    for column in ranked:
        need = len(GAP) + column.width
        if found and need > left:
            break
        found.append(column)
        left -= need
    return found


def blocks(
    fixed: Sequence[TableColumn], columns: Sequence[TableColumn], width: int | None
) -> Iterator[list[TableColumn]]:
    """All columns, in as many tables as needed, one below the other; each begins with the fixed columns."""
    rest = list(columns)
    while rest:
        part = fitting(fixed, rest, width)
        rest = rest[len(part) :]
        yield [*fixed, *part]


def print_columns(columns: Sequence[TableColumn]) -> None:
    """Print one table."""
    for row in zip(*(column.lines() for column in columns), strict=True):
        click.echo(GAP.join(row).rstrip())


def print_heading(*sentences: str) -> None:
    """Print lines above a table: wrapped on a terminal; in a pipe, each begins with # as a comment."""
    in_pipe = terminal_width() is None
    for sentence in sentences:
        click.echo(wrapped(f"# {sentence}" if in_pipe else sentence))


def wrapped(sentence: str) -> str:
    """The sentence wrapped to the terminal; on one line in a pipe."""
    width = terminal_width()
    return "\n".join(textwrap.wrap(printable(sentence), width)) if width else printable(sentence)


def _width(columns: Sequence[TableColumn]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)
