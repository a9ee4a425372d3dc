"""Moves a database: copies each table in batches, in the order of their references, then compares all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gribmill.database.move.rows import Checksum, common_row
from gribmill.database.move.side import NOT_COPIED, MoveRefused, Progress, Row, Side, Table

BATCH_ROWS = 2000


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A copied table: its number of rows, and how many of them this run copied."""

    name: str
    rows: int
    copied: int


def move(
    source: Side, target: Side, tables: Sequence[Table], tell: Callable[[str, int], None] = lambda name, rows: None
) -> list[MovedTable]:
    """Copy everything, then compare all rows of both. Calls `tell` with each table and its number of rows so far.

    An interrupted move resumes where it stopped. The source is not changed.
    """
    with source.held():
        known = target.begin(source.label)
        if known is None:
            raise MoveRefused(
                f"{target.label} has a part of another database from a move that was not finished:"
                " move that one again, or use an empty database"
            )
        if not known:
            _check_new(source, target, tables)
            target.clear(tables, source.label)
        moved = [_copy(source, target, table, known.get(table.name), tell) for table in tables]
        for table in tables:
            _compare(source, target, table)
        target.finish(source.next_ids(tables))
    return moved


def _check_new(source: Side, target: Side, tables: Sequence[Table]) -> None:
    if target.in_use():
        raise MoveRefused(f"{target.label} has jobs or runs already: give an empty database")
    wanted = {table.name for table in tables}
    for side in (source, target):
        if other := side.table_names() - NOT_COPIED ^ wanted:
            raise MoveRefused(
                f"{side.label} does not have the tables of this gribmill ({', '.join(sorted(other))}):"
                " upgrade it with `gribmill db migrate` first"
            )


def _copy(
    source: Side, target: Side, table: Table, known: Progress | None, tell: Callable[[str, int], None]
) -> MovedTable:
    done = known or Progress("", 0)
    copied = 0
    for rows in _pages(source, table, done.last_key or None):
        copied += len(rows)
        done = Progress(table.key_of(rows[-1]), done.rows + len(rows))
        target.add(table, rows, done)
        tell(table.name, done.rows)
    return MovedTable(table.name, done.rows, copied)


def _compare(source: Side, target: Side, table: Table) -> None:
    sums = (Checksum(), Checksum())
    for side, checksum in zip((source, target), sums, strict=True):
        for rows in _pages(side, table, None):
            checksum.add(rows)
    if sums[0] != sums[1]:
        raise MoveRefused(
            f"{table.name} differs: {sums[0].rows} rows in {source.label}, {sums[1].rows} in {target.label}, or other"
            " contents. The source is unchanged; empty the target and move again"
        )


def _pages(side: Side, table: Table, after: str | None) -> Iterator[list[Row]]:
    while rows := side.page(table, after, BATCH_ROWS):
        after = table.key_of(rows[-1])
        yield [common_row(table, row) for row in rows]
