"""Lines with a few coloured words, wrapped at words on a terminal. Without rich, which is slow to load."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import click

from gribmill.errors import printable


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with coloured parts."""

    parts: tuple[str | tuple[str, str], ...]

    @property
    def plain(self) -> str:
        return printable("".join(part if isinstance(part, str) else part[0] for part in self.parts))

    def rows(self, width: int | None) -> list[str]:
        """The line wrapped to `width`; one row if that is None. Words, such as paths, are never broken."""
        text = self.plain
        if width is None or len(text) <= width:
            rows = [text]
        else:
            indent = " " * (len(text) - len(text.lstrip()) + 4)
            rows = textwrap.wrap(
                text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
                drop_whitespace=True, replace_whitespace=False,
            )  # fmt: skip
        for part in self.parts:
            if isinstance(part, tuple) and part[1]:
                rows = _coloured(rows, *part)
        return rows


def line(*parts: str | tuple[str, str]) -> Line:
    """A line made of plain text and (text, style) pairs, with styles such as `red` and `bold green`."""
    return Line(parts)


def print_lines(lines: Sequence[Line], *, screen: bool = False) -> None:
    """Print the lines. With `screen`, clear the terminal first and print only as many lines as fit."""
    terminal = sys.stdout.isatty()
    size = shutil.get_terminal_size()
    rows = [row for one in lines for row in one.rows(size.columns if terminal else None)]
    if screen and terminal:
        click.clear()
        if len(rows) >= size.lines:
            hidden = len(rows) - size.lines + 2
            rows = [*rows[: size.lines - 2], f"… {hidden} more lines: a taller window, or `gribmill status MODEL`"]
    for row in rows:
        click.echo(row, color=False if os.environ.get("NO_COLOR") else None)


def _coloured(rows: list[str], text: str, style: str) -> list[str]:
    """Colour the first row that contains the text; text that was wrapped stays plain."""
    colour = next((word for word in style.split() if word not in ("bold", "dim")), None)
    shown = click.style(text, fg=colour, bold="bold" in style or None)
    for at, row in enumerate(rows):
        if text in row:
            return [*rows[:at], row.replace(text, shown, 1), *rows[at + 1 :]]
    return rows
