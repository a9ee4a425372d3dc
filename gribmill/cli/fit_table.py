"""Fits a table into the width of a terminal, without changing the columns that people copy from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap as wrap_text
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

# Spaces between two columns.
GAP = 2
# The minimum width of a shortened or wrapped column.
LEAST = 28


@dataclass(frozen=True, slots=True)
class FittedTable:
    """The remaining columns, with their widths."""

    columns: list[str]
    rows: list[list[Text]]
    widths: list[int]
    dropped: list[str]

    @property
    def total(self) -> int:
        """The width of the whole table."""
        return sum(self.widths) + GAP * (len(self.widths) - 1)


def fit(
    columns: Sequence[str],
    rows: Sequence[Sequence[Text]],
    width: int,
    *,
    cut: str | None = None,
    wrap: str | None = None,
    drop: Sequence[str] = (),
    least: int = LEAST,
) -> FittedTable:
    """Fit the table into `width`, if possible, by narrowing `cut` or `wrap` and leaving out columns of `drop`."""
    natural = [max([len(column), *(row[at].cell_len for row in rows)]) for at, column in enumerate(columns)]
    shown = list(range(len(columns)))
    gone: list[str] = []
    elastic = cut or wrap

    def excess() -> int:
        return sum(natural[at] for at in shown) + GAP * (len(shown) - 1) - width

    def slack() -> int:
        at = columns.index(elastic) if elastic in columns else -1
        return max(0, natural[at] - least) if at in shown else 0

    for name in drop:
        if excess() <= slack():
            break
        shown.remove(columns.index(name))
        gone.append(name)
    widths = dict(enumerate(natural))
    if elastic in columns and columns.index(elastic) in shown:
        widths[columns.index(elastic)] -= min(max(0, excess()), slack())
    return FittedTable(
        [columns[at] for at in shown],
        [[row[at] for at in shown] for row in rows],
        [widths[at] for at in shown],
        gone,
    )


def records(
    columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, numbers: Collection[str] = ()
) -> Iterator[str]:
    """A table that is too wide, as lines: the name of each row (with preceding numbers), and its values below.

    Lines are broken only between words: a name or path that is longer than a line stays in one piece.
    """
    named = next((at for at, column in enumerate(columns) if column not in numbers), 0) + 1
    for row in rows:
        yield "  ".join(row[:named])
        pairs = zip(columns[named:], row[named:], strict=True)
        text = ";  ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)
        yield from wrap_text(
            text, width, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
